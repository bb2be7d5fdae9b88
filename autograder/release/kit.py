"""Makes the student kit: one self-contained archive of everything that students are given.

Nothing in it is listed by hand: the public packages, the allowlist of each study, the students'
pages with what they link to, and an environment derived from what all of these import.
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
from autograder.release.assignments import ReleaseError, released_files
from autograder.release.derive import COURSE
from autograder.release.leaks import MIN_LEAK, PUBLIC_PACKAGES, find_leaks, shipped, squeezed
from autograder.release.notebooks import build_notebook, notebook_texts
from autograder.workspace.strip import stub
from course.probes import Study, load_study, studies
from course.probes.newer_python import RUNNING, written
from course.probes.syntax import FOR_THE_SHELL, parsed

NAME = "adversarial-search"  # of the archive, and of the one folder in it
STAFF = Path(__file__).parents[1]
TEMPLATES = Path(__file__).parent / "kit_templates"
COURSE_PACKAGES = ("jupyterlab", "numpy", "matplotlib", "ipywidgets", "nbgrader", "pytest")
PAGES = ("student.md", "league.md")  # of docs/; what they link to comes with them
LINK = re.compile(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)")  # to a file, in Markdown
CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)  # in Markdown: a link in it is an example
JUNK = re.compile(r"^\.|~$|\.(?:pyc|orig|rej|bak|swp|tmp)$")  # what tools leave beside their files
A_SEARCH = re.compile(rb"def (?:search|minimax|negamax)\(|alpha, beta")
FROM_RUN = re.compile(r"^# from run\.py: (.+)$", re.MULTILINE)  # in the template of the kit's own
GRADING = "course/grading.json"  # a file of this name in the checkout is taken as it is
MARKS = '"\\'  # that a notebook puts into its lines
EXTRA = re.compile(r"""extra == ["']([^"']+)["']""")
LONG_AGO = (1980, 1, 1, 0, 0, 0)  # the first date that a zip file can hold
EXECUTABLE = {"run.py"}
Contents = Mapping[str, bytes]  # by path in the kit, in the order of the paths


@dataclass(frozen=True)
class Member:
    """A file in an archive, with the part of Path's interface that the search for leaks uses."""

    name: str
    data: bytes

    def read_bytes(self) -> bytes:
        """The contents of the file."""
        return self.data


@dataclass(frozen=True)
class Kit:
    """An archive that was made: where it is, how many files it holds, and its SHA-256."""

    path: Path
    files: int
    digest: str


def make_kit(wanted: Sequence[Study], path: Path) -> Kit:
    """Make the archive `path`, a .zip or a .tar.gz, of all that students of `wanted` are given.

    The same commit gives the same bytes, wherever and whenever it is made (with the same zlib);
    all files in it have the date of `made_at`. An existing archive is replaced only when every byte
    of the new one has passed the search for leaks. Raises `ReleaseError`.
    """
    return make_archive(path, NAME, lambda: contents(wanted))


def make_archive(
    path: Path, name: str, contents: Callable[[], Contents], staff: Sequence[str] = ()
) -> Kit:
    """Make the archive `path` with these contents in a folder `name`, as `make_kit` does.

    `staff`: how the names of those of the staff's files begin that may be in it.
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
        raise ReleaseError(f"the kit cannot be named {path.name}: use .zip or .tar.gz")
    if path.is_dir() or not path.parent.is_dir():
        raise ReleaseError(
            f"{path} is a folder: name a file"
            if path.is_dir()
            else f"there is no folder {path.parent}"
        )
    data = pack(contents(), name, made_at(COURSE.parent))
    files = read(data)
    if leaks := find_all_leaks(files, staff):
        raise ReleaseError("the kit was not made: " + "; ".join(leaks))
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".kit-", delete=False) as file:
        file.write(data)
    Path(file.name).chmod(0o644)
    Path(file.name).replace(path)
    return Kit(path, len(files), hashlib.sha256(data).hexdigest())


# ---- What is in it


def checkout() -> Path:
    """The folder of this checkout; raises `ReleaseError` if the packages are installed without
    one, because the guides, the licence and the locks are not in the packages."""
    root = COURSE.parent
    if not (root / "pyproject.toml").is_file():
        raise ReleaseError(
            "this can be made from a checkout only, but here the packages are installed without one"
        )
    return root


def contents(wanted: Sequence[Study]) -> Contents:
    """Every file of the kit for these studies; raises `ReleaseError` if one is not as it must be."""
    root = checkout()
    if stale := [path.name for study in wanted for path in _stale(study)]:
        raise ReleaseError(
            f"the kit was not made: {', '.join(stale)} not as `autograder build` "
            "makes it; run it, or undo what was filled in by hand"
        )
    top = (root / "LICENSE", root / "LICENSE-texts", root / "conftest.py")
    paths = [(root, path) for path in (*packages(root), *_pages(root), *top)]
    paths += [
        (study.home, path)
        for study in wanted
        for path in (*released_files(study), *_public_tables(study))
    ]
    found = {path.relative_to(home).as_posix(): path.read_bytes() for home, path in paths}
    found.setdefault(GRADING, (json.dumps({"python": written(RUNNING)}) + "\n").encode())
    found |= {name: text.encode() for name, text in _own_files(root, found, wanted).items()}
    return dict(sorted(found.items()))


def _public_tables(study: Study) -> Iterator[Path]:
    """What `check` reads of a study, which may have a home of its own."""
    yield from (study.table, study.expected_file)
    yield from sorted((study.table.parent / "questions").glob(f"{study.name}_*.py"))


def _stale(study: Study) -> Iterator[Path]:
    """Stub and notebooks that are not what their sources make: edited, run, filled in, missing."""
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
    """The files of the public packages, except the studies' folders: for those the release's
    allowlist holds. Tests with a search in them stay here: they show how."""
    names = {Path(package.__path__[0]).name for package in PUBLIC_PACKAGES}
    for path in shipped(root):
        first, *rest = path.relative_to(root).parts
        in_study = first == COURSE.name and len(rest) > 1 and rest[0].startswith("study")
        if first not in names or in_study or any(map(JUNK.search, rest)):
            continue
        if "tests" not in rest or not A_SEARCH.search(path.read_bytes()):
            yield path


def _pages(root: Path) -> Iterator[Path]:
    """The pages for students, and the pictures and examples that they link to."""
    docs = root / "docs"
    for name in PAGES:
        yield docs / name
        for link in links_in((docs / name).read_text("utf-8")):
            if (docs / link).is_file():
                yield docs / link


def links_in(text: str) -> list[str]:
    """The files to which a Markdown text links; links in code are examples."""
    return LINK.findall(CODE.sub("", text))


def _own_files(root: Path, found: Contents, wanted: Sequence[Study]) -> dict[str, str]:
    """What only the kit has: README, run.py, pyproject.toml and the lock."""
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    names = requirements(project, found)
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
        "run.py": own_run(
            (TEMPLATES / "run.py.in").read_text("utf-8"), (root / "run.py").read_text("utf-8")
        ),
    }


def _row(study: Study) -> str:
    """A study's row in the README's table."""
    notebooks = ", ".join(path.stem for path in released_files(study) if path.suffix == ".ipynb")
    return f"| {study.title} | `course/{study.assignment}/` | {notebooks} | `{study.module}` |"


def _toml_list(items: Iterable[str]) -> str:
    return "[\n" + "".join(f"  {json.dumps(item)},\n" for item in items) + "]"


def own_run(template: str, run: str) -> str:
    """The kit's run.py: a template whose lines "# from run.py: NAMES" are replaced by what `run`,
    the text of our own run.py, defines under these names. Raises `ReleaseError` for a name that it
    does not define."""
    parts = {}
    for node in parsed(run).body:
        text = ast.get_source_segment(run, node) or ""
        if isinstance(node, ast.FunctionDef):
            parts[node.name] = "\n\n" + text
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            parts[node.targets[0].id] = text

    def named(line: re.Match) -> str:
        if missing := [name for name in line[1].split() if name not in parts]:
            raise ReleaseError(f"run.py has no {', '.join(missing)}, which the kit's run.py needs")
        return "\n".join(parts[name] for name in line[1].split()).lstrip("\n")

    return FROM_RUN.sub(named, template)


# ---- What it needs


def requirements(project: Mapping, found: Contents) -> list[str]:
    """The requirements of the kit's environment: the six packages of the course and what the kit's
    files import, with the versions in `project`, the table of our own pyproject.toml."""
    asked = {
        canonicalize_name(r.name): str(r)  # a dependency's line counts before an extra's
        for r in map(Requirement, reversed(all_requirements(project)))
    }
    wanted = {*map(canonicalize_name, COURSE_PACKAGES), *distributions(imports(found))}
    return [asked.get(name, name) for name in sorted(wanted)]


def all_requirements(project: Mapping) -> list[str]:
    """What our own pyproject.toml asks for, with every extra."""
    return [*project["dependencies"], *chain(*project["optional-dependencies"].values())]


def imports(found: Contents) -> set[str]:
    """The top-level modules that modules and notebooks in the kit import from outside of it."""
    stems = {PurePosixPath(name).stem for name in found if name.endswith(".py")}
    inside = stems | {name.split("/")[0] for name in found}
    names = {
        name.split(".")[0]
        for path, data in found.items()
        for tree in trees(path, data)
        for name in imported(tree)
    }
    return names - inside - sys.stdlib_module_names


def trees(path: str, data: str | bytes) -> Iterator[ast.AST]:
    """The module, or the code cells of the notebook; magic lines are no Python and left out."""
    if path.endswith(".py"):
        yield parsed(data)
    elif path.endswith(".ipynb"):
        for cell in json.loads(data)["cells"]:
            if cell["cell_type"] == "code":
                yield parsed(FOR_THE_SHELL.sub("", "".join(cell["source"])))


def imported(tree: ast.AST) -> Iterator[str]:
    """The names that a module imports, dotted; of "from a import b" both "a" and "a.b"."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def distributions(modules: Iterable[str]) -> set[NormalizedName]:
    """The packages that provide these modules; raises `ReleaseError` for a module that none does."""
    known = packages_distributions()
    if unknown := sorted(set(modules) - known.keys()):
        raise ReleaseError(
            f"the kit imports {', '.join(unknown)}, and no installed package provides it"
        )
    return {canonicalize_name(name) for module in modules for name in known[module]}


def locked(lock: str, wanted: Iterable[str], everything: Iterable[str]) -> str:
    """The part of a lock that `wanted` needs, where all of it is needed by `everything`.

    The needs are read from the installed packages. Those of a package for other systems only are
    unknown here, so that only what the left-out requirements need here is left out.
    """
    left_out = needed(everything) - needed(wanted)
    blocks = re.split(r"\n(?=\S)", lock.strip())
    return "".join(f"{block}\n" for block in blocks if block.split("==")[0] not in left_out)


def needed(wanted: Iterable[str]) -> set[str]:
    """The names of these requirements and of all that they need, on any system."""
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


def made_at(root: Path) -> int:
    """The date of the files in an archive, in seconds since 1970: `SOURCE_DATE_EPOCH` if that is
    set, else the date of the last commit, or of pyproject.toml without git."""
    given = os.environ.get("SOURCE_DATE_EPOCH", "")
    if not given.isdecimal():
        with contextlib.suppress(OSError):
            given = subprocess.run(
                ["git", "log", "-1", "--format=%ct"],
                cwd=root,
                check=False,
                text=True,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            ).stdout.strip()
    return int(given) if given.isdecimal() else int((root / "pyproject.toml").stat().st_mtime)


def _zip(found: Contents, folder: str, moment: int) -> bytes:
    # A zip file holds local times: a day earlier, they lie in the past in every time zone.
    date = max(time.gmtime(moment - 24 * 3600)[:6], LONG_AGO)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in found.items():
            entry = zipfile.ZipInfo(f"{folder}/{name}", date)
            entry.create_system = 3  # Unix, so that the rights mean the same wherever it is made
            entry.external_attr = (S_IFREG | _rights(name)) << 16
            archive.writestr(entry, data, zipfile.ZIP_DEFLATED, 9)
    return buffer.getvalue()


def _tar(found: Contents, folder: str, moment: int) -> bytes:
    buffer = io.BytesIO()
    with (
        gzip.GzipFile("", "wb", 9, buffer, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w") as archive,
    ):
        for name, data in found.items():
            entry = tarfile.TarInfo(f"{folder}/{name}")  # its owner is 0, a number and no name
            entry.mode, entry.size, entry.mtime = _rights(name), len(data), moment
            archive.addfile(entry, io.BytesIO(data))
    return buffer.getvalue()


def _rights(name: str) -> int:
    return 0o755 if name in EXECUTABLE else 0o644


def read(data: bytes) -> list[Member]:
    """The files in the bytes of a kit, as whoever unpacks it gets them."""
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
    """The leaks in these files: of any study, of the staff's files but those whose names begin as
    `allowed`, of this machine."""
    found = [leak for name in studies() for leak in find_leaks(load_study(name), files)]
    staff = {
        path.read_bytes(): path.relative_to(STAFF).as_posix()
        for path in STAFF.rglob("*")
        if path.is_file()
        and path.stat().st_size >= MIN_LEAK
        and not path.relative_to(STAFF).as_posix().startswith(tuple(allowed))
    }
    written = _written_answers()
    here = re.compile(rf"(?<![\w.~-]){re.escape(os.fspath(COURSE.parent))}(?![\w.-])".encode())
    for file in files:
        if file.data in staff:
            found.append(f"{file.name} is the staff's file {staff[file.data]}")
        if here.search(file.data):
            found.append(f"{file.name} holds the path of this checkout")
        text = squeezed(file.data.decode("utf-8", "replace").replace("\\n", "\n"), MARKS)
        if any(line in text for line in written):
            found.append(f"{file.name} holds a model answer to a written question")
    return list(dict.fromkeys(found))


def _written_answers() -> set[str]:
    """The lines of the model answers that are long enough to give them away."""
    folders = {workspace.answers_folder(load_study(name)) for name in studies()}
    lines = {
        squeezed(line, MARKS)
        for folder in folders
        for path in folder.rglob("*.md")
        for line in path.read_text("utf-8").splitlines()
    }
    return {line for line in lines if len(line) >= MIN_LEAK}
