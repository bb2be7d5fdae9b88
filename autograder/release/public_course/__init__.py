"""Makes or updates a public git repository that contains only what students may have.

The branch that is checked out has the student kit, the workflows for GitHub and the record
`published.json`. The branch `site` has the finished live site or book: it is made here, because
running the notebooks needs the reference answers, and students' copies of a template repository do
not get this branch. Its downloads do not change between versions, so git stores them once.

New commits are made in a temporary copy of the repository. Only after every object in its history
has passed the search for leaks are they fetched into the folder; otherwise, the folder is unchanged.
May import the rest of `release` and the layers below it.
"""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from autograder.release.book import MARK
from autograder.release.kit import GRADING, Contents, checkout
from autograder.release.public_course.files import (
    RECORD,
    Changes,
    Record,
    changes,
    first_names,
    public_files,
)
from autograder.release.public_course.git import PublishError, Repository
from autograder.release.public_course.proof import Search, refuse_leaks
from course.checks import Study

__all__ = ["Publication", "PublishError", "Search", "Site", "publish"]

MAIN, SITE = "main", "site"  # branches
SITE_MESSAGE = "Publish the site"
GENERATED_FOLDERS = ("build", "dist")  # folders of the checkout that are not part of it
Report = Callable[[str], object]


@dataclass(frozen=True)
class Site:
    """A finished site, and what it was made from; `make` is called only if that is new."""

    made_from: str
    make: Callable[[], Mapping[str, bytes]]


@dataclass(frozen=True)
class Publication:
    """What `publish` did. Without a new commit, `branches` is empty."""

    folder: Path
    branches: list[str] = field(default_factory=list)  # with new commits
    changes: Changes = field(default_factory=Changes)
    objects: int = 0  # number of objects that were searched
    remote: str = ""

    def push_command(self) -> list[str]:
        """Return the words of the command that pushes all branches."""
        branch = Repository(self.folder).git("symbolic-ref", "--short", "HEAD")
        site = [SITE] if Repository(self.folder).read(f"refs/heads/{SITE}") else []
        return ["git", "-C", str(self.folder), "push", "-u", self.remote or "origin", branch, *site]


def publish(
    folder: Path,
    kit: Contents,
    wanted: Sequence[Study],
    version: str,
    site: Site | None = None,
    *,
    search: Search | None = None,
    report: Report = lambda step: None,
) -> Publication:
    """Make or update the public repository in `folder` with the kit of these studies.

    `version` is the kit's version for the commit message, and `search` has additional leaks to look
    for. Without `site`, a site that was published before is kept. Raises `PublishError`; the folder
    is then unchanged.
    """
    folder = folder.resolve()
    target = _existing(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".publish-", dir=folder.parent) as temporary:
        copy = _copy_of(target, Path(temporary, "copy"))
        branch = copy.git("symbolic-ref", "--short", "HEAD")
        former = Record.read(copy) or Record()
        record = Record(version.split(maxsplit=1)[0], {}, former.site)
        if site is not None:
            record = replace(record, site=_publish_site(copy, site, former, version, report))
        report("comparing with the repository")
        files = public_files(kit, wanted, copy, branch, bool(record.site))
        difference = changes(copy, files, former)
        if difference.conflicts:
            raise PublishError(_conflict_message(folder, difference.conflicts))
        ids = {path: copy.blob_id(data) for path, data in files.items()}
        record = replace(record, files=ids, merged=difference.merged)
        if record != former:
            difference.written[RECORD] = record.to_json()
        if difference.written or difference.deleted:
            message = f"Publish version {version} of the student kit\n"
            copy.commit(branch, copy.author(), message, difference.written, difference.deleted)
        report("searching every object of the history for leaks")
        objects = refuse_leaks(copy, search or Search())
        branches = [
            name
            for name in (SITE, branch)
            if copy.read(f"refs/heads/{name}")
            != (target.read(f"refs/heads/{name}") if target else "")
        ]
        if branches:
            target = target or Repository.create(folder, "-b", branch)
            _fetch(target, copy, branches, branch)
    return Publication(folder, branches, difference, objects, _remote(Repository(folder)))


# ---- The folder


def refuse_unusable(folder: Path) -> None:
    """Raise `PublishError` if the folder cannot become or is not a public repository."""
    _existing(folder.resolve())


def _existing(folder: Path) -> Repository | None:
    """Return the repository in the folder; None if the folder is new or empty.

    Raises `PublishError` for any other folder, and if work could be lost.
    """
    root = checkout().resolve()
    inside = folder.relative_to(root).parts if folder.is_relative_to(root) else ("build",)
    if not inside or inside[0] not in GENERATED_FOLDERS:
        raise PublishError(f"{folder} is in the folder of the kit: name a folder outside")
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return None
    if not folder.is_dir() or not (folder / ".git").exists():
        raise PublishError(
            f"{folder} is not empty and not a git repository: name a new folder, or the one of an "
            "earlier publish"
        )
    repository = Repository(folder)
    if repository.read("HEAD") and Record.read(repository) is None:
        raise PublishError(
            f"{folder} is a git repository without {RECORD}, so publish did not make it: name a "
            "new folder or a repository without commits"
        )
    changed = repository.git("status", "--porcelain", "--untracked-files=all").splitlines()
    if changed:
        names = first_names([line.split(maxsplit=1)[-1] for line in changed])
        raise PublishError(
            f"{folder} has changes that are not committed ({names}): commit them first"
        )
    _require_branch(repository)
    return repository


def _require_branch(repository: Repository) -> None:
    """Raise `PublishError` if no branch is checked out, or a branch has unexpected commits."""
    folder = repository.folder
    try:
        branch = repository.git("symbolic-ref", "--short", "HEAD")
    except PublishError:
        raise PublishError(
            f"{folder} has no branch checked out: `git switch main` does so"
        ) from None
    upstream = repository.read("@{upstream}") if repository.read("HEAD") else ""
    if upstream and repository.git("rev-list", "--max-count=1", "@{upstream}", "--not", "HEAD"):
        raise PublishError(
            f"{folder} lacks commits of its remote repository: run `git pull` there first"
        )
    tip = repository.read(f"refs/heads/{SITE}")
    if branch == SITE:
        raise PublishError(f"{folder} has the branch {SITE} checked out: switch to the main branch")
    if tip and not repository.git("log", "-1", "--format=%s", tip).startswith(SITE_MESSAGE):
        raise PublishError(
            f"the branch {SITE} of {folder} has a commit that publish did not make: move its "
            f"changes to another branch, and reset {SITE}"
        )


def _copy_of(target: Repository | None, folder: Path) -> Repository:
    """Return a temporary copy with all branches and tags, which shares the stored objects."""
    if target is None:
        return Repository.create(folder, "--bare", "-b", MAIN)
    Repository(target.folder.parent).git(
        "clone", "-q", "--mirror", "--shared", str(target.folder), str(folder)
    )
    copy = Repository(folder)
    copy.git("symbolic-ref", "HEAD", target.git("symbolic-ref", "HEAD"))
    for name in ("user.name", "user.email"):
        if value := _setting(target, name):
            copy.git("config", name, value)
    return copy


def _setting(repository: Repository, name: str) -> str:
    try:
        return repository.git("config", "--get", name)
    except PublishError:
        return ""


def _fetch(target: Repository, copy: Repository, branches: Sequence[str], branch: str) -> None:
    """Fetch the new commits into the folder, and check them out."""
    if SITE in branches:
        target.git(
            "fetch", "-q", "--no-tags", str(copy.folder), f"refs/heads/{SITE}:refs/heads/{SITE}"
        )
    if branch in branches:
        target.git("fetch", "-q", "--no-tags", str(copy.folder), f"refs/heads/{branch}")
        target.git("merge", "-q", "--ff-only", "--no-overwrite-ignore", "FETCH_HEAD")


def _remote(repository: Repository) -> str:
    """Return the name of the repository's first remote; empty if there is none."""
    names = repository.git("remote").splitlines()
    return "origin" if "origin" in names else (names or [""])[0]


def _conflict_message(folder: Path, conflicts: Mapping[str, str]) -> str:
    first = next(iter(conflicts))
    return (
        f"{first_names(list(conflicts))} in {folder} cannot be updated: {conflicts[first]}; rename "
        "your file or undo your change, commit that, and publish again"
    )


# ---- The site


def _publish_site(
    copy: Repository, site: Site, former: Record, version: str, report: Report
) -> dict[str, str]:
    """Commit the site to its branch unless it is there; return its entry in the record."""
    tip = f"refs/heads/{SITE}"
    tree = copy.read(f"{tip}^{{tree}}")
    if tree and former.site == {"made_from": site.made_from, "tree": tree}:
        return former.site
    files = site.make()
    if MARK not in files:
        raise PublishError(f"the site has no file {MARK}: only `site` and `book` make one")
    before = copy.read(tip)
    message = f"{SITE_MESSAGE} of version {version}\n"
    copy.commit(SITE, copy.author(), message, files, None)
    if copy.read(f"{tip}^{{tree}}") == tree:
        copy.git("update-ref", tip, before)
    return {"made_from": site.made_from, "tree": copy.read(f"{tip}^{{tree}}")}


def site_files(folder: Path) -> dict[str, bytes]:
    """Return the files of a finished site by path; raises `PublishError` if it is none."""
    if not (folder / MARK).is_file():
        raise PublishError(f"{folder} is not a site that `site` or `book` made")
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


# ---- The version of the kit


def kit_version(number: str) -> str:
    """Return the version `number` with the commit of the checkout, if it is one of git's."""
    try:
        commit = Repository(checkout()).git("describe", "--always", "--dirty", "--exclude=*")
    except PublishError:
        return number
    return f"{number} ({commit})"


def refuse_untracked(kit: Contents) -> None:
    """Raise `PublishError` if the kit contains a file of the checkout that git does not track."""
    root = checkout()
    if not (root / ".git").exists():
        return
    untracked = Repository(root).git("ls-files", "--others", "-z").split("\0")
    if names := sorted(kit.keys() & set(untracked) - {GRADING}):
        raise PublishError(
            f"{first_names(names)} in {root} is not tracked by git, so it may be private: add it to "
            "git or move it"
        )
