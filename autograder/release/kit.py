"""Builds the student kit: a self-contained archive of all files that students receive.

It contains the public packages, the allowlist of each study, the guides for students with linked
files, and an environment derived from the imports in all these files. No file is listed by hand.
"""

import ast
import contextlib
import gzip
import hashlib
import io
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import time
import tomllib
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from itertools import chain
from pathlib import Path, PurePosixPath
from stat import S_IFREG
from string import Template

from packaging.requirements import Requirement
from packaging.utils import NormalizedName, canonicalize_name

from autograder import workspace
from autograder.release.assignments import GenerationError, assignment_files
from autograder.release.derive import COURSE
from autograder.release.leaks import (
    MIN_LEAK,
    PUBLIC_PACKAGES,
    find_leaks,
    shipped,
    strip_separators,
)
from autograder.release.notebooks import build_notebook, notebook_texts
from autograder.workspace.strip import stub
from common.command_lines import advice
from common.messages import KIT_FILE
from common.syntax import SHELL_LINES, parse_python
from course.checks import Study, load_study, studies
from course.checks.running.newer_python import RUNNING, version_text
from course.checks.study_paths import study_roots, use_studies

NAME = "adversarial-search"  # name of the archive and of its top folder
STAFF = Path(__file__).parents[1]
TEMPLATES = Path(__file__).parent / "kit_templates"
COURSE_PACKAGES = ("jupyterlab", "numpy", "matplotlib", "ipywidgets", "nbgrader", "pytest")
PAGES = ("student.md", "league.md")  # pages of docs/; linked files are included
LINK = re.compile(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)")  # a link to a file in Markdown
CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)  # code in Markdown, where links are examples
JUNK = re.compile(r"^\.|~$|\.(?:pyc|orig|rej|bak|swp|tmp)$")  # temporary files of tools
SEARCH_CODE = re.compile(rb"def (?:search|minimax|negamax)\(|alpha, beta")
RUN_PARTS = re.compile(
    r"^# from run\.py: (.+)$", re.MULTILINE
)  # a marker in the template of the kit's run.py
TRANSLATIONS = KIT_FILE.relative_to(COURSE.parent).as_posix()  # of a course in another language
GRADING = "course/grading.json"  # copied if the checkout has such a file
MARKS = '"\\'  # characters that a notebook file adds to lines
EXTRA = re.compile(r"""extra == ["']([^"']+)["']""")
ZIP_EPOCH = (1980, 1, 1, 0, 0, 0)  # the first date that a zip file can hold
EXECUTABLE = {"run.py"}
Contents = Mapping[str, bytes]  # by path in the kit, sorted


@dataclass(frozen=True)
class Member:
    """A file in an archive, with the methods of Path that the search for leaks uses."""

    name: str
    data: bytes

    def read_bytes(self) -> bytes:
        """Return the contents of the file."""
        return self.data


@dataclass(frozen=True)
class Kit:
    """A finished archive: its path, its number of files and its SHA-256."""

    path: Path
    files: int
    digest: str


def make_kit(wanted: Sequence[Study], path: Path, translations: bytes | None = None) -> Kit:
    """Make the archive `path`, a .zip or a .tar.gz, for the studies in `wanted`.

    Builds are reproducible: the same commit gives the same bytes (with the same zlib), and all
    files have the date of `archive_date`. An existing archive is replaced only if every byte of
    the new one passes the search for leaks. Raises `GenerationError`.
    """
    return make_archive(path, NAME, lambda: contents(wanted, translations))


def make_archive(
    path: Path, name: str, contents: Callable[[], Contents], staff: Sequence[str] = ()
) -> Kit:
    """Make the archive `path` with these contents in a folder `name`, in the same way as
    `make_kit`.

    `staff` are prefixes of the staff's files that the archive may contain.
    """
    pack = next(
        (
            pack
            for ending, pack in ((".zip", _zip), (".tar.gz", _tar), (".tgz", _tar))
            if path.name.endswith(ending)
        ),
        None,
    )
    if pack is None:
        raise GenerationError(f"the kit cannot be named {path.name}: use .zip or .tar.gz")
    if path.is_dir() or not path.parent.is_dir():
        raise GenerationError(
            f"{path} is a folder: name a file"
            if path.is_dir()
            else f"there is no folder {path.parent}"
        )
    data = pack(contents(), name, archive_date(COURSE.parent))
    files = read(data)
    if leaks := find_all_leaks(files, staff):
        raise GenerationError("the kit was not made: " + "; ".join(leaks))
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".kit-", delete=False) as file:
        file.write(data)
    Path(file.name).chmod(0o644)
    Path(file.name).replace(path)
    return Kit(path, len(files), hashlib.sha256(data).hexdigest())


# ---- Contents


def checkout() -> Path:
    """Return the folder of this checkout.

    Raises `GenerationError` if the packages are installed without a checkout, because the guides, the
    licence and the locks are not in the packages.
    """
    root = COURSE.parent
    if not (root / "pyproject.toml").is_file():
        raise GenerationError(
            "this command needs a checkout, but the packages are installed without one"
        )
    return root


def version() -> str:
    """Return the version of the kit, for example 0.1.0."""
    table = tomllib.loads((checkout() / "pyproject.toml").read_text("utf-8"))
    return str(table["project"]["version"])


def contents(wanted: Sequence[Study], translations: bytes | None = None) -> Contents:
    """Return the files of the kit for these studies; raises `GenerationError` if a file is out of
    date.

    `translations` are the compiled messages of a course that is not in English.
    """
    root = checkout()
    if stale := [path.name for study in wanted for path in _stale(study)]:
        raise GenerationError(
            f"the kit was not made: {', '.join(stale)} is not up to date; run {advice('build')} "
            "or undo your changes"
        )
    top = (root / "LICENSE", root / "LICENSE-texts", root / "conftest.py")
    paths = [(root, path) for path in (*packages(root), *_pages(root), *top)]
    paths += [
        (study.home, path)
        for study in wanted
        for path in (*assignment_files(study), *_public_tables(study))
    ]
    files = {path.relative_to(home).as_posix(): path.read_bytes() for home, path in paths}
    files.setdefault(GRADING, (json.dumps({"python": version_text(RUNNING)}) + "\n").encode())
    if translations:
        files[TRANSLATIONS] = translations
    files |= {name: text.encode() for name, text in _own_files(root, files, wanted).items()}
    return dict(sorted(files.items()))


def _public_tables(study: Study) -> Iterator[Path]:
    """Yield the files of a study that `check` reads."""
    yield from sorted(path for path in study.table.parent.iterdir() if path.is_file())


def _stale(study: Study) -> Iterator[Path]:
    """Yield stubs and notebooks that are missing or differ from those that their sources generate."""
    answer = workspace.answer_path(study)
    fresh = {study.folder / study.module: stub(answer.read_text("utf-8"), answer.name)}
    fresh |= {
        text.with_suffix(".ipynb"): build_notebook(text.read_text("utf-8"), text.stem, study)
        for text in notebook_texts(study.folder)
    }
    for path, text in fresh.items():
        if not path.is_file() or path.read_text("utf-8") != text:
            yield path


def packages(root: Path) -> Iterator[Path]:
    """Yield the files of the public packages.

    The studies' folders are excluded, because the allowlist of the release applies to them, and so
    are tests that contain a search, because they would show students how to write one.
    """
    names = {Path(package.__path__[0]).name for package in PUBLIC_PACKAGES}
    for path in shipped(root):
        first, *rest = path.relative_to(root).parts
        in_study = first == COURSE.name and len(rest) > 1 and rest[0].startswith("study")
        if first not in names or in_study or any(map(JUNK.search, rest)):
            continue
        if "tests" not in rest or not SEARCH_CODE.search(path.read_bytes()):
            yield path


def _pages(root: Path) -> Iterator[Path]:
    """Yield the pages for students, and the pictures and examples to which they link."""
    docs = root / "docs"
    for name in PAGES:
        yield docs / name
        for link in links_in((docs / name).read_text("utf-8")):
            if (docs / link).is_file():
                yield docs / link


def links_in(text: str) -> list[str]:
    """Return the files to which a Markdown text links; links in code are ignored, because they are
    examples.
    """
    return LINK.findall(CODE.sub("", text))


def _own_files(root: Path, files: Contents, wanted: Sequence[Study]) -> dict[str, str]:
    """Return the files that only the kit has: README, run.py, pyproject.toml and the lock."""
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    names = requirements(project, files)
    build = project["optional-dependencies"]["build"]

    def filled(name: str, **values: str) -> str:
        return Template((TEMPLATES / f"{name}.in").read_text("utf-8")).substitute(values)

    return {
        "README.md": filled("README.md", studies="\n".join(map(_row, wanted))),
        "pyproject.toml": filled(
            "pyproject.toml",
            version=project["version"],
            python=project["requires-python"],
            dependencies=_toml_list(names),
            build=_toml_list(build),
            folders=_toml_list(f"course/{study.assignment}" for study in wanted),
        ),
        "requirements.lock": locked(
            (root / "requirements.lock").read_text("utf-8"),
            [*names, *build],
            all_requirements(project),
        ),
        "run.py": kit_run_script(
            (TEMPLATES / "run.py.in").read_text("utf-8"), (root / "run.py").read_text("utf-8")
        ),
    }


def _row(study: Study) -> str:
    """Return a study's row in the README's table."""
    notebooks = ", ".join(path.stem for path in assignment_files(study) if path.suffix == ".ipynb")
    return f"| {study.title} | `course/{study.assignment}/` | {notebooks} | `{study.module}` |"


def _toml_list(items: Iterable[str]) -> str:
    return "[\n" + "".join(f"  {json.dumps(item)},\n" for item in items) + "]"


def kit_run_script(template: str, run: str) -> str:
    """Return the kit's run.py, made from its template and the text `run` of our own run.py.

    Lines "# from run.py: NAMES" in the template are replaced with the definitions of these names.
    Raises `GenerationError` for an undefined name.
    """
    parts = {}
    for node in parse_python(run).body:
        text = ast.get_source_segment(run, node) or ""
        if isinstance(node, ast.FunctionDef):
            parts[node.name] = "\n\n" + text
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            parts[node.targets[0].id] = text

    def named(line: re.Match) -> str:
        if missing := [name for name in line[1].split() if name not in parts]:
            raise GenerationError(
                f"run.py has no {', '.join(missing)}, which the kit's run.py needs"
            )
        return "\n".join(parts[name] for name in line[1].split()).lstrip("\n")

    return RUN_PARTS.sub(named, template)


# ---- Requirements


def requirements(project: Mapping, files: Contents) -> list[str]:
    """Return the requirements of the kit: the course's packages and the packages that the kit's files
    import.

    The versions are those in `project`, the table of our own pyproject.toml.
    """
    versions = {
        canonicalize_name(r.name): str(r)  # dependencies override extras
        for r in map(Requirement, reversed(all_requirements(project)))
    }
    wanted = {*map(canonicalize_name, COURSE_PACKAGES), *distributions(imports(files))}
    return [versions.get(name, name) for name in sorted(wanted)]


def all_requirements(project: Mapping) -> list[str]:
    """Return all requirements in our own pyproject.toml, with every extra."""
    return [*project["dependencies"], *chain(*project["optional-dependencies"].values())]


def imports(files: Contents) -> set[str]:
    """Return the top-level modules outside the kit that the kit's modules and notebooks import."""
    stems = {PurePosixPath(name).stem for name in files if name.endswith(".py")}
    inside = stems | {name.split("/")[0] for name in files}
    names = {
        name.split(".")[0]
        for path, data in files.items()
        for tree in trees(path, data)
        for name in imported(tree)
    }
    return names - inside - sys.stdlib_module_names


def trees(path: str, data: str | bytes) -> Iterator[ast.AST]:
    """Yield the syntax trees of a module or of a notebook's code cells, without magic lines."""
    if path.endswith(".py"):
        yield parse_python(data)
    elif path.endswith(".ipynb"):
        for cell in json.loads(data)["cells"]:
            if cell["cell_type"] == "code":
                yield parse_python(SHELL_LINES.sub("", "".join(cell["source"])))


def imported(tree: ast.AST) -> Iterator[str]:
    """Yield the dotted names that a module imports; "a" and "a.b" for "from a import b"."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def distributions(modules: Iterable[str]) -> set[NormalizedName]:
    """Return the packages that provide these modules; raises `GenerationError` for an unknown
    module.
    """
    known = packages_distributions()
    if unknown := sorted(set(modules) - known.keys()):
        raise GenerationError(
            f"the kit imports {', '.join(unknown)}, and no installed package provides it"
        )
    return {canonicalize_name(name) for module in modules for name in known[module]}


def locked(lock: str, wanted: Iterable[str], everything: Iterable[str]) -> str:
    """Return the part of a lock for `everything` that `wanted` needs.

    Dependencies are read from the installed packages. The dependencies of packages for other
    systems are unknown here, so a package is excluded only if it is a dependency of the excluded
    requirements on this system.
    """
    excluded = needed(everything) - needed(wanted)
    blocks = re.split(r"\n(?=\S)", lock.strip())
    return "".join(f"{block}\n" for block in blocks if block.split("==")[0] not in excluded)


def needed(wanted: Iterable[str]) -> set[str]:
    """Return the names of these requirements and of all their dependencies, on any system."""
    seen: set[tuple[str, str]] = set()  # name and extra; "" for the package itself
    waiting = list(map(Requirement, wanted))
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        for extra in {"", *requirement.extras} - {e for n, e in seen if n == name}:
            seen.add((name, extra))
            waiting += [
                r for r in _requires(name) if extra in (EXTRA.findall(str(r.marker or "")) or [""])
            ]
    return {name for name, _ in seen}


def _requires(name: str) -> list[Requirement]:
    try:
        return [Requirement(text) for text in requires(name) or ()]
    except PackageNotFoundError:  # for other systems
        return []


# ---- The archive


def archive_date(root: Path) -> int:
    """Return the date of the files in an archive as a Unix time.

    It is `SOURCE_DATE_EPOCH` if that is set, else the date of the last commit or, without git, the
    date of pyproject.toml.
    """
    seconds = os.environ.get("SOURCE_DATE_EPOCH", "")
    if not seconds.isdecimal():
        with contextlib.suppress(OSError):
            seconds = subprocess.run(
                ["git", "log", "-1", "--format=%ct"],
                cwd=root,
                check=False,
                text=True,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            ).stdout.strip()
    return int(seconds) if seconds.isdecimal() else int((root / "pyproject.toml").stat().st_mtime)


def _zip(files: Contents, folder: str, timestamp: int) -> bytes:
    # Zip files store local times, so the date is a day earlier, which is in the past in every time
    # zone.
    date = max(time.gmtime(timestamp - 24 * 3600)[:6], ZIP_EPOCH)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(f"{folder}/{name}", date)
            entry.create_system = 3  # Unix, so that permissions do not depend on the system
            entry.external_attr = (S_IFREG | _permissions(name)) << 16
            archive.writestr(entry, data, zipfile.ZIP_DEFLATED, 9)
    return buffer.getvalue()


def _tar(files: Contents, folder: str, timestamp: int) -> bytes:
    buffer = io.BytesIO()
    with (
        gzip.GzipFile("", "wb", 9, buffer, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w") as archive,
    ):
        for name, data in files.items():
            entry = tarfile.TarInfo(f"{folder}/{name}")  # the owner is 0, without a name
            entry.mode, entry.size, entry.mtime = _permissions(name), len(data), timestamp
            archive.addfile(entry, io.BytesIO(data))
    return buffer.getvalue()


def _permissions(name: str) -> int:
    return 0o755 if name in EXECUTABLE else 0o644


def read(data: bytes) -> list[Member]:
    """Return the files in the bytes of an archive."""
    file = io.BytesIO(data)
    if zipfile.is_zipfile(file):
        with zipfile.ZipFile(file) as archive:
            return [Member(name, archive.read(name)) for name in archive.namelist()]
    file.seek(0)
    with tarfile.open(fileobj=file) as archive:
        return [
            Member(entry.name, opened.read())
            for entry in archive
            if (opened := archive.extractfile(entry)) is not None
        ]


def find_all_leaks(files: Sequence[Member], allowed: Sequence[str] = ()) -> list[str]:
    """Return the leaks in these files: parts of any study or of the staff's files, and paths of
    this machine. The studies are those of the kit and of all other study locations.

    Staff files whose names start with one of `allowed` are not leaks.
    """
    leaks = _leaks_of_studies(files)
    staff = {
        path.read_bytes(): path.relative_to(folder).as_posix()
        for folder in (STAFF, *(home / STAFF.name for home in study_roots()[1:]))
        for path in folder.rglob("*")
        if path.is_file()
        and path.stat().st_size >= MIN_LEAK
        and not path.relative_to(folder).as_posix().startswith(tuple(allowed))
    }
    written = _written_answers()
    homes = "|".join(re.escape(os.fspath(home)) for home in (COURSE.parent, *study_roots()[1:]))
    here = re.compile(rf"(?<![\w.~-])(?:{homes})(?![\w.-])".encode())
    for file in files:
        if file.data in staff:
            leaks.append(f"{file.name} is the staff's file {staff[file.data]}")
        if here.search(file.data):
            leaks.append(f"{file.name} contains the path of this checkout")
        text = strip_separators(file.data.decode("utf-8", "replace").replace("\\n", "\n"), MARKS)
        if any(line in text for line in written):
            leaks.append(f"{file.name} contains a model answer to a written question")
    return list(dict.fromkeys(leaks))


def _leaks_of_studies(files: Sequence[Member]) -> list[str]:
    """Return the leaks of all studies, including the kit's own version of a study that a course
    replaces.
    """
    leaks = [leak for name in studies() for leak in find_leaks(load_study(name), files)]
    replaced = [name for name in studies() if load_study(name).home != COURSE.parent]
    with use_studies():
        for name in {*replaced} & {*studies()}:
            leaks += find_leaks(load_study(name), files)
    return leaks


def _written_answers() -> set[str]:
    """Return the lines of model answers that are long enough to give an answer away."""
    folders = {load_study(name).staff_folder for name in studies()}
    with use_studies():
        folders |= {load_study(name).staff_folder for name in studies()}
    pages = [folder / page for folder in folders for page in ("written.md", "oral.md")]
    lines = {
        strip_separators(line, MARKS)
        for path in pages
        if path.is_file()
        for line in path.read_text("utf-8").splitlines()
    }
    return {line for line in lines if len(line) >= MIN_LEAK}
