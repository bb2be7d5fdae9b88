"""The command `publish`, which makes the public repository of a course.

May import the rest of `commands` and the layers below it.
"""

from collections.abc import Collection, Mapping, Sequence
from enum import StrEnum
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer
from rich.status import Status

from autograder.commands.console import errors, print_error, print_line, progress
from autograder.commands.course_commands import adapt_studies, public_translations
from autograder.commands.options import expand_home, report_errors
from autograder.course_folder import SECRET, CourseFolder
from common.command_lines import default_folder, join
from course.checks import Study, load_study, studies

if TYPE_CHECKING:
    from autograder.release.kit import Contents
    from autograder.release.public_course import Publication, Site


class SiteKind(StrEnum):
    """The site of a public repository."""

    LIVE = "live"
    BOOK = "book"
    NONE = "none"


def add_to(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command()(publish)


def publish(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="FOLDER",
            callback=expand_home,
            help="The public repository, which is created if necessary.",
            show_default=False,
        ),
    ],
    course: Annotated[
        Path | None,
        typer.Option(
            "--course",
            "-c",
            metavar="FOLDER",
            callback=expand_home,
            help="Use this course's own studies and versions of studies.",
            show_default=False,
        ),
    ] = None,
    names: Annotated[
        list[str] | None,
        typer.Option(
            "--study",
            metavar="STUDY",
            help="Only this study (may be repeated).",
            show_default=False,
        ),
    ] = None,
    kind: Annotated[
        SiteKind,
        typer.Option(
            "--site",
            metavar="KIND",
            help="live, book, or none, which keeps an earlier site.",
        ),
    ] = SiteKind.LIVE,
    finished: Annotated[
        Path | None,
        typer.Option(
            "--finished-site",
            metavar="FOLDER",
            callback=expand_home,
            help="Publish this site, made by `site` or `book`, instead of making one.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Make or update a git repository that contains only what students may have.

    Example: autograder publish ../public_course --course my_course. It contains the student kit, a
    workflow that runs `check` in students' repositories, and a site with a workflow for GitHub
    Pages. Your own files there are kept. Every object of its history is searched for leaks before
    anything is committed. Nothing is pushed: the command to do so is printed.
    """
    with report_errors():
        opened = CourseFolder.open(course) if course else None
        if opened:
            adapt_studies(opened)
        wanted = [load_study(name) for name in dict.fromkeys(names or studies())]
        from autograder.release import kit as packing
        from autograder.release import public_course

        public_course.refuse_unusable(folder)  # before the slow steps
        files = public_course.site_files(finished) if finished else None
        with errors.status("Collecting the files of the kit"):
            kit = packing.contents(wanted, public_translations(opened, wanted) if opened else None)
            public_course.refuse_untracked(kit)
        with TemporaryDirectory() as temporary, errors.status("") as status:
            site = (
                public_course.Site(_digest(files), lambda: files)
                if files
                else _site(kind, wanted, kit, Path(temporary, "site"), status)
            )
            done = public_course.publish(
                folder,
                kit,
                wanted,
                public_course.kit_version(packing.version()),
                site,
                search=public_course.Search(_secrets(opened), _downloads()),
                report=lambda step: status.update(step[0].upper() + step[1:]),
            )
        _print_result(done)


def _site(
    kind: SiteKind, wanted: Sequence[Study], kit: "Contents", folder: Path, status: Status
) -> "Site | None":
    """Return the site to be published, which is made in `folder` if it is out of date."""
    from autograder.release.kit import TRANSLATIONS
    from autograder.release.public_course import Site, site_files

    def make() -> Mapping[str, bytes]:
        status.stop()  # for a progress bar
        _make_site(kind, wanted, folder, kit.get(TRANSLATIONS))
        status.start()
        return site_files(folder)

    if kind is SiteKind.NONE:
        return None
    return Site(_digest({"kind": kind.encode(), **kit, **_sources_of_sites()}), make)


def _make_site(
    kind: SiteKind, wanted: Sequence[Study], folder: Path, translations: bytes | None
) -> None:
    """Make the site in a new folder."""
    from autograder.release import book, site

    chapters = site.chapters(wanted)
    with progress() as bar:
        task = bar.add_task("Running", total=book.count_cells(chapters), note="")

        def tick(name: str) -> None:
            bar.update(task, advance=1, note=name)

        if kind is SiteKind.BOOK:
            book.write_book(folder, chapters, tick, print_error)
        else:
            site.write_site(
                folder,
                wanted,
                default_folder("site-cache"),
                lambda what: bar.update(task, note=what),
                tick,
                print_error,
                options=site.Options(translations=translations),
            )


def _sources_of_sites() -> dict[str, bytes]:
    """Return what a site depends on besides the kit: the answers and the code that makes it."""
    from autograder.release import book, site
    from autograder.workspace import answer_path  # slow to import

    paths = [answer_path(load_study(name)) for name in studies()]
    for module in (book, site):
        paths += [path for path in Path(module.__path__[0]).rglob("*") if path.suffix != ".pyc"]
    return {
        f"{path.parent.name}/{path.name}": path.read_bytes() for path in paths if path.is_file()
    }


def _digest(files: Mapping[str, bytes]) -> str:
    lines = [f"{sha256(files[name]).hexdigest()} {name}\n" for name in sorted(files)]
    return sha256("".join(lines).encode()).hexdigest()


def _downloads() -> Collection[bytes]:
    """Return the digests of the live site's downloads; empty if nothing was downloaded."""
    from autograder.release.site.fetch import fetched_before

    fetched = fetched_before(default_folder("site-cache"))
    return fetched.digests() if fetched else ()


def _secrets(course: CourseFolder | None) -> list[bytes]:
    if course is None or not (course.root / SECRET).is_file():
        return []
    return [course.secret().encode()]


def _print_result(done: "Publication") -> None:
    if done.changes.kept:
        print_line(f"your changes are kept in: {', '.join(done.changes.kept)}")
    if not done.branches:
        print_line(f"{done.folder} is up to date; {done.objects} objects searched, no leaks")
    else:
        print_line(
            f"committed to {' and '.join(done.branches)} in {done.folder}: "
            f"{len(done.changes.written)} files written, {len(done.changes.deleted)} deleted; "
            f"{done.objects} objects searched, no leaks"
        )
    if not done.remote:
        print_line(
            f"first: {join(['git', '-C', str(done.folder), 'remote', 'add', 'origin', 'URL'])}"
        )
    print_line(f"to push: {join(done.push_command())}")
