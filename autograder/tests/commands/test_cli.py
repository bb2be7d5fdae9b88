"""The command line: errors for invalid input, protection of files, exit statuses and help."""

import io
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import Result

from autograder import doctor, workspace
from autograder.commands import cli
from autograder.commands import console as screen
from autograder.commands import progress as watch
from autograder.commands.cli import app
from autograder.course_folder import CONFIG_FILE, EXCHANGE, CourseFolder, CourseFolderError
from autograder.doctor import Finding
from autograder.grading.records.ledger import Graded
from autograder.grading.run.batch import GradingError
from autograder.release import assignments, demo, derive
from autograder.release.assignments import GenerationError
from autograder.release.notebooks import NotebookError
from autograder.reporting.gradebook import open_gradebook, students_of
from autograder.reporting.pages.feedback import Feedback
from autograder.tests.support.commands import autograder, is_one_sentence
from autograder.workspace.strip import SolutionRegionError
from common import command_lines
from course.checks import StudyTableError, UnknownCheck, load_study, studies

pytestmark = pytest.mark.xdist_group("cli")  # the release is made once, in a single process

STUDY = load_study("study2")
NOTEBOOK = "02_alpha_beta.ipynb"
MODULE = [sys.executable, "-m", "autograder"]
PROGRAM = [str(Path(sys.executable).parent / "autograder")]


@pytest.fixture(scope="module", autouse=True)
def plain_terminal():
    """In any terminal, output is text without colours, a hundred columns wide."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("FORCE_COLOR", "PY_COLORS", "GITHUB_ACTIONS", "TTY_COMPATIBLE"):
            patch.delenv(name, raising=False)
        patch.setenv("COLUMNS", "100")
        for console in (cli.console, cli.errors):  # they read FORCE_COLOR when they were created
            patch.setattr(console, "_force_terminal", None)
            patch.setattr(console, "_color_system", None)
            patch.setattr(console, "is_interactive", False)
        yield


@pytest.fixture(scope="module", autouse=True)
def usual_speed():
    """Output does not mention this machine's speed, which depends on what else it does."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(watch, "speed_factor", lambda: 1.0)
        yield


def text(output: str) -> str:
    """The output without colours, frames and line breaks."""
    plain = re.sub(r"\x1b\[[0-9;]*m", "", output)
    return " ".join(re.sub(r"[─-╿]", " ", plain).split())


def contents(folder: Path) -> dict[Path, bytes | None]:
    """The contents of a folder: bytes of files, None for folders."""
    return {path: path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


# ---- Locations


@pytest.fixture(scope="module")
def release_run(tmp_path_factory) -> tuple[Path, Result]:
    """A new course folder with study 2 released by the command, and the command's output."""
    root = tmp_path_factory.mktemp("released").resolve() / "new" / "course"
    return root, autograder("generate", ALPHA_BETA, "-c", str(root))


@pytest.fixture(scope="module")
def course_template(release_run) -> Path:
    """A course folder with study 2 released, shared and never modified."""
    return release_run[0]


@pytest.fixture
def places(course_template, tmp_path, monkeypatch) -> dict[str, Path]:
    """Possible targets of a command, all in the current folder and all to be preserved."""
    root = (tmp_path / "places").resolve()
    found = {
        name: root / name
        for name in ("course", "unreleased", "foreign", "empty", "file", "missing")
    }
    shutil.copytree(course_template, found["course"])
    CourseFolder.create(found["unreleased"])
    for name in ("foreign", "empty"):
        found[name].mkdir()
    (found["foreign"] / "thesis.txt").write_text("years of work", "utf-8")
    found["file"].write_text("more of it", "utf-8")
    found["link"] = root / "link"
    found["link"].symlink_to(found["empty"])
    found["kit"] = root / "kit"
    found["kit"].mkdir()
    (found["kit"] / "pyproject.toml").touch()
    monkeypatch.setattr(command_lines, "KIT", found["kit"])
    monkeypatch.chdir(root)
    return found


NO_COURSE = (
    "{%s} is not a course folder (no nbgrader_config.py); "
    "`autograder generate --course %s` creates one"
)
NO_STUDY = "there is no study 'study99'; the studies are " + ", ".join(studies())
ALPHA_BETA = STUDY.assignment
NOT_GENERATED = (
    f"{ALPHA_BETA} has not been generated in {{unreleased}}: "
    "run `autograder generate study2 --course unreleased` first"
)
BAD_INPUT = [
    *((f"{command} study99{course}", NO_STUDY) for command, course in [
        ("build", ""), ("build --check", ""), ("doctor", ""), ("generate", " -c {missing}"),
        ("generate study2", " -c {missing}"), ("grade", " -c {course}"),
        ("feedback", " -c {course}"), ("report", " -c {course}"), ("grade-all", " -c {course}"),
        ("slides", ""), ("solutions", ""), ("solutions", " -c {course}")]),
    ("doctor study2_alphabeta", "there is no study 'study2_alphabeta'"),
    *((f"{command} study2 -c {{{place}}}", NO_COURSE % (place, place))
      for command in ("grade", "feedback", "report", "grade-all", "solutions")
      for place in ("foreign", "empty", "file", "missing")),
    ("plan 8 --first-day 2027-01-11 -c {missing}", "there is no plan for 8 weeks"),
    ("plan 6 --first-day 0001-01-01 -c {missing}", "the year 1 is too early"),
    ("plan 6 --first-day 9999-12-30 -c {missing}", "a course cannot begin on 9999-12-30"),
    ("plan 6 --first-day 2027-01-11 -c {foreign}", "{foreign} is not empty"),
    ("plan 6 --first-day 2027-01-11 -c {missing} --percent-a-day 200", "200 is not a percentage"),
    ("plan 6 --first-day 2027-13-11 -c {missing}", "'2027-13-11' is not a date"),
    ("plan 6 --first-day 2027-01-11 -c {missing} --at-most 20", "--at-most needs --percent-a-day"),
    ("late-penalties study2 -c {course} --at-most 20", "--at-most needs --percent-a-day"),
    ("late-penalties study2 -c {course} --due=", "is not a valid time"),
    ("history study2 -c {course} --student nobody", "not in the gradebook: nobody"),
    ("plan 6 --first-day 2027-01-11 -c {missing} --roster {missing}", "there is no file"),
    *((f"export -c {{{place}}}", NO_COURSE % (place, place))
      for place in ("foreign", "empty", "file", "missing")),
    ("grade study2", "{kit}/build/course is not a course folder"),
    ("generate study2 -c {file}", "{file} is not a folder"),
    ("generate study2 -c {file}/below/it", "{file}/below"),
    ("generate study2 -c {foreign}", "{foreign} is not empty and has no nbgrader_config.py"),
    ("demo -c {file}", "{file}"),
    ("demo -c {file}/below", "{file}/below"),
    ("demo -c {foreign}", "{foreign} is not empty and was not made by the demo"),
    ("demo -c {course}", "{course} is not empty and was not made by the demo"),
    ("demo -c {unreleased}", "{unreleased} is not empty and was not made by the demo"),
    ("demo -c {link}", "{link} is a symbolic link: name a real folder"),
    ("report study2 -c {unreleased}",
     NOT_GENERATED),
    ("export -c {unreleased}", "there is no gradebook in {unreleased} yet"),
    ("export -c {course} --output {missing}/marks.csv", "there is no folder {missing}"),
    ("export -c {course} --output {foreign}", "{foreign}"),
    ("solutions study2 -c {unreleased}",
     NOT_GENERATED),
    ("solutions study2 --output {missing}/page.html", "there is no folder {missing}"),
    ("solutions study2 --output {foreign}", "{foreign} is a folder: name a file"),
    ("slides study2 --output {file}", "{file} is not a folder: name another one for the slides"),
    ("grade study2 -c {course} --json", "there are no submissions"),
    ("grade study2 -c {unreleased}",
     NOT_GENERATED),
    ("grade study2 -c {course}", f"there are no submissions to {ALPHA_BETA} in {{course}}"),
    ("grade study2 -c {course} --student zoe --student yan",
     f"there is no submission to {ALPHA_BETA} by yan, zoe"),
    ("feedback study2 -c {course}", "yet: all students; run `autograder grade study2 --c"),
    ("feedback study2 -c {course} --student zoe", "yet: zoe; run `autograder grade study2 --course"),
]  # fmt: skip


# ---- Invalid input


@pytest.mark.parametrize(("command", "sentence"), BAD_INPUT, ids=[bad[0] for bad in BAD_INPUT])
def test_invalid_input_is_reported_in_one_sentence_and_loses_nothing(places, command, sentence):
    """The error is explained, the exit status is 2, and every file is unchanged."""
    before = contents(places["file"].parent)
    done = autograder(*(word.format(**places) for word in command.split()))
    assert done.exit_code == 2, done.output
    assert done.stdout == ""
    assert is_one_sentence(done.stderr), done.stderr
    assert sentence.format(**places) in done.stderr
    assert contents(places["file"].parent) == before


@pytest.mark.parametrize(("program", "arguments", "sentence"), [
    (MODULE, ["demo", "-c", "{foreign}"], "{foreign} is not empty and was not made"),
    pytest.param(PROGRAM, ["grade", "study2", "-c", "{course}", "--student", "zoe"], "by zoe",
                 marks=pytest.mark.slow),
], ids=["module", "program"])  # fmt: skip
def test_invalid_input_is_reported_by_the_real_command(places, program, arguments, sentence):
    """A real process behaves the same, both as the installed program and as a module."""
    before = contents(places["file"].parent)
    done = subprocess.run(
        [*program, *(word.format(**places) for word in arguments)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert is_one_sentence(done.stderr), done.stderr
    assert sentence.format(**places) in done.stderr
    assert contents(places["file"].parent) == before


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ("grade", "Missing argument 'STUDY'"),
        ("grades study2", "No such command 'grades'"),
        ("grade study2 --everybody", "No such option: --everybody"),
        ("grade study2 --jobs 0", "Invalid value for '--jobs'"),
        ("demo --jobs many", "Invalid value for '--jobs'"),
    ],
)
def test_typo_is_reported(places, arguments, problem):
    """Unknown commands and options are named, with exit status 2."""
    before = contents(places["file"].parent)
    done = autograder(*arguments.split())
    assert (done.exit_code, done.stdout) == (2, "")
    assert problem in text(done.stderr)
    assert "--help" in text(done.stderr)
    assert contents(places["file"].parent) == before


@pytest.mark.parametrize(
    "kind",
    [
        UnknownCheck,
        CourseFolderError,
        GradingError,
        NotebookError,
        GenerationError,
        SolutionRegionError,
        StudyTableError,
        PermissionError,
        NotADirectoryError,
        IsADirectoryError,
        FileExistsError,
    ],
)
def test_every_known_problem_is_reported(places, monkeypatch, kind):
    """Each error with advice is printed unchanged, including brackets."""

    def fail(*arguments):
        raise kind("the table [points] is odd")

    monkeypatch.setattr(CourseFolder, "open", fail)
    done = autograder("report", "study2", "-c", str(places["course"]))
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == "autograder: the table [points] is odd\n"


def test_a_bug_is_not_hidden(places, monkeypatch):
    """Errors that no user can cause keep their traceback, including a missing file."""

    def fail(*arguments):
        try:
            (places["course"] / "missing").read_text("utf-8")
        except OSError:
            raise ZeroDivisionError  # noqa: B904 - as a mistake in a handler is

    monkeypatch.setattr(CourseFolder, "open", fail)
    done = autograder("report", "study2", "-c", str(places["course"]))
    assert isinstance(done.exception, ZeroDivisionError)


# ---- Release


def test_a_release_says_where_it_is(release_run):
    """The new course folder and the release are created, and the release's folder is printed."""
    root, done = release_run
    assert (done.exit_code, done.stderr) == (0, "")
    where = root / "release" / ALPHA_BETA
    assert done.stdout == f"generated {ALPHA_BETA}: {where}\n"
    assert {path.name for path in where.iterdir()} == {STUDY.module, NOTEBOOK}


def test_a_refused_release_is_reported_and_loses_nothing(places, monkeypatch):
    """A release that would disclose the answer is refused; the earlier one stays."""
    monkeypatch.setattr(
        assignments, "assignment_files", lambda study: [workspace.answer_path(study)]
    )
    before = contents(places["course"])
    done = autograder("generate", "study2", "-c", str(places["course"]))
    assert (done.exit_code, done.stdout) == (2, "")
    assert is_one_sentence(done.stderr), done.stderr
    assert f"{ALPHA_BETA} was not generated: " in done.stderr
    assert contents(places["course"]) == before


# ---- Grading


@pytest.fixture(scope="module")
def school(course_template, tmp_path_factory) -> tuple[Path, list[Result]]:
    """A course with ada's correct and bob's empty submission; first ada is graded, then both."""
    root = shutil.copytree(course_template, tmp_path_factory.mktemp("school").resolve() / "course")
    ada, bob = (root / "submitted" / student / ALPHA_BETA for student in ("ada", "bob"))
    bob.mkdir(parents=True)
    shutil.copytree(root / "release" / ALPHA_BETA, ada)
    shutil.copy(workspace.answer_path(STUDY), ada / STUDY.module)
    command = ["grade", "study2", "--course", str(root)]
    return root, [autograder(*command, "--student", "ada", "--jobs", "1"), autograder(*command)]


BOB = f"{ALPHA_BETA}/bob: the folder is empty: nothing was submitted\n"


def test_where_nothing_needs_a_look_the_exit_status_is_0(school):
    """Only ada is graded, the limits are printed, and stderr is empty."""
    done = school[1][0]
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout == (
        f"{ALPHA_BETA}: the CPU time limit is 2 s (20 times the time of the instructor's "
        f"own solution, at least 2 s; for checks, as at home)\n{ALPHA_BETA}: 1 graded\n"
    )


def test_where_a_submission_needs_a_look_the_exit_status_is_1(school):
    """Ada is not graded again, and the only line on stderr describes bob's problem."""
    done = school[1][1]
    assert done.exit_code == 1
    assert done.stdout == f"{ALPHA_BETA}: 1 unchanged, 1 nothing to grade\n"
    assert done.stderr == BOB


@pytest.mark.parametrize(("status", "is_said"), [("graded", True), ("unchanged", False)])
def test_a_slow_machine_is_mentioned_if_anything_was_graded(
    monkeypatch, capsys, tmp_path, status, is_said
):
    """Nothing was scaled for what was graded earlier."""
    monkeypatch.setattr(watch, "speed_factor", lambda: 1.4)
    for name in ("config_with_overrides", "describe_time_limits"):
        monkeypatch.setattr(watch, name, lambda *arguments: None)
    watch.print_grades(CourseFolder(tmp_path), STUDY, [Graded("ada", status)])
    assert ("needs 1.4 times the usual computing time" in capsys.readouterr().err) == is_said


@pytest.mark.parametrize(("student", "status"), [("ada", 0), ("bob", 1)])
def test_what_is_unchanged_still_needs_a_look(school, student, status):
    """Bob's problem is reported again in the next run, but not in ada's run."""
    done = autograder("grade", ALPHA_BETA, "-c", str(school[0]), "--student", student)
    assert (done.exit_code, done.stdout) == (status, f"{ALPHA_BETA}: 1 unchanged\n")
    assert done.stderr == (BOB if status else "")


def test_one_unknown_student_stops_the_others_too(school):
    """A misspelt name is reported before any student is graded again."""
    root, _ = school
    before = contents(root)
    done = autograder(
        "grade", "study2", "-c", str(root), "--student", "ada", "--student", "bo", "--force"
    )
    assert done.exit_code == 2
    assert done.stderr == f"autograder: there is no submission to {ALPHA_BETA} by bo\n"
    assert contents(root) == before


def test_a_submission_of_an_unknown_student_is_reported_and_not_graded(school, tmp_path):
    """The reason is printed; the student is not added to the gradebook and has no results."""
    root = shutil.copytree(school[0], tmp_path.resolve() / "course")
    shutil.copytree(
        root / "submitted" / "ada" / ALPHA_BETA, root / "submitted" / "zed" / ALPHA_BETA
    )
    roster = tmp_path / "roster.csv"
    roster.write_text("id,first_name\nada,Ada\nbob,Bob\n", "utf-8")
    assert autograder("roster", str(roster), "-c", str(root)).exit_code == 0
    done = autograder("grade", "study2", "-c", str(root))
    zed = (
        f"{ALPHA_BETA}/zed: the folder submitted/zed was skipped: zed is not on the roster; "
        "import the roster with this student, or remove the folder\n"
    )
    assert (done.exit_code, done.stderr) == (1, BOB + zed)
    assert done.stdout == f"{ALPHA_BETA}: 2 unchanged, 1 nothing to grade\n"
    with open_gradebook(CourseFolder.open(root)) as gradebook:
        names = {student.id: student.first_name for student in students_of(gradebook)}
    assert names == {"ada": "Ada", "bob": "Bob"}
    assert not (root / "results" / "zed").exists()


def test_grades_as_json(school):
    """With --json stdout is one array, and stderr is empty unless it is a terminal."""
    done = autograder("grade", "study2", "-c", str(school[0]), "--json")
    assert (done.exit_code, done.stderr) == (1, "")
    ada, bob = json.loads(done.stdout)
    assert (ada["student"], ada["status"], ada["problems"], ada["needs_a_look"]) == (
        "ada",
        "unchanged",
        [],
        False,
    )
    assert bob["problems"] == [BOB.partition(": ")[2].strip()]
    assert bob["needs_a_look"]


@pytest.mark.parametrize("isolation", [None, "process", "sandbox"])
def test_the_isolation_is_passed_on(school, monkeypatch, isolation):
    """An option on the command line overrides the configuration."""
    seen = []
    monkeypatch.setattr(watch, "grade", lambda *a, overrides, **k: seen.append(overrides) or [])
    options = ["--isolation", isolation] if isolation else []
    assert autograder("grade", "study2", "-c", str(school[0]), *options).exit_code == 0
    assert seen == [{"isolation": isolation, "scheduler": None}]


def test_an_unknown_isolation_is_reported(school):
    """The message lists the two kinds of isolation."""
    done = autograder("grade", "study2", "-c", str(school[0]), "--isolation", "none")
    assert done.exit_code == 2
    assert "'sandbox', 'process'" in text(done.stderr)


def test_progress_has_rate_time_and_failures(school, monkeypatch):
    """A terminal shows a bar with the rate, the time left and the failures so far."""
    said = io.StringIO()
    monkeypatch.setattr(screen, "errors", Console(file=said, force_terminal=True, width=140))
    watch.grade_study(CourseFolder.open(school[0]), STUDY)
    assert "0 failed, 1 need attention" in said.getvalue()
    assert re.search(r"2/2.*/s", said.getvalue())
    assert re.search(r"\d:\d\d:\d\d", said.getvalue())


def test_a_student_named_twice_counts_once(school):
    """One process writes one page."""
    done = autograder(
        "feedback", "study2", "-c", str(school[0]), "--student", "ada", "--student", "ada"
    )
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout.startswith("feedback for 1 students")


def test_one_failing_page_is_reported_and_the_others_are_written(school, tmp_path):
    """The page of a student whose graded notebook is broken is missing; all others are written."""
    root = shutil.copytree(school[0], tmp_path / "course")
    for stage in ("submitted", "autograded"):
        shutil.copytree(root / stage / "ada", root / stage / "cy")
    shutil.copytree(root / "results" / ALPHA_BETA / "ada", root / "results" / ALPHA_BETA / "cy")
    graded = root / "autograded" / "cy" / ALPHA_BETA / NOTEBOOK
    graded.unlink()  # nbgrader makes it writable for root only
    graded.write_text("{", "utf-8")
    done = autograder("feedback", "study2", "-c", str(root), "--jobs", "2")
    assert done.exit_code == 1
    assert done.stderr.startswith(f"{ALPHA_BETA}/cy: no feedback: ")
    assert done.stdout.startswith("feedback for 1 students")
    assert (root / "feedback" / "ada" / ALPHA_BETA / "02_alpha_beta.html").is_file()


def test_feedback_says_where_it_is(school):
    """One student's page is written and its folder printed; the next run leaves it unchanged."""
    root, _ = school
    shutil.rmtree(root / "feedback", ignore_errors=True)
    for again in ("", ", 1 unchanged"):
        done = autograder("feedback", "study2", "-c", str(root), "--student", "ada")
        assert (done.exit_code, done.stderr) == (0, "")
        assert done.stdout == (
            f"feedback for 1 students on {ALPHA_BETA}{again}: {root / 'feedback'}\n"
        )
    assert [path.name for path in root.glob("feedback/*/*/*.html")] == ["02_alpha_beta.html"]


def test_the_report_says_where_it_is(school):
    """Both files exist and are printed."""
    root, _ = school
    done = autograder("report", ALPHA_BETA, "--course", str(root))
    assert (done.exit_code, done.stderr) == (0, "")
    named = [Path(line.removeprefix("report: ")) for line in done.stdout.splitlines()]
    assert named == [root / "reports" / f"{ALPHA_BETA}.{kind}" for kind in ("html", "csv")]
    assert all(path.stat().st_size for path in named)


# ---- All steps in one command


def written(root: Path) -> dict[str, bytes]:
    """The feedback pages and the report, by path."""
    return {
        str(path.relative_to(root)): path.read_bytes()
        for stage in ("feedback", "reports")
        for path in (root / stage).rglob("*.*")
    }


def test_grade_all_is_grade_feedback_and_report(school, tmp_path):
    """The output and files equal those of the three commands; submissions to review are reported."""
    alone, together = (shutil.copytree(school[0], tmp_path / name) for name in ("a", "b"))
    for root in (alone, together):
        for stage in ("feedback", "reports"):
            shutil.rmtree(root / stage, ignore_errors=True)
    apart = [
        autograder(command, "study2", "-c", str(alone))
        for command in ("grade", "feedback", "report")
    ]
    done = autograder("grade-all", "study2", "-c", str(together))
    assert done.exit_code == max(each.exit_code for each in apart) == 1
    assert done.stderr == "".join(each.stderr for each in apart) == BOB
    assert done.stdout == "".join(each.stdout for each in apart).replace(str(alone), str(together))
    assert written(together) == written(alone)
    assert f"feedback/ada/{ALPHA_BETA}/02_alpha_beta.html" in written(together)


def test_grade_all_as_json(school):
    """With --json stdout is one object with results, pages and the report; stderr is empty."""
    done = autograder("grade-all", "study2", "-c", str(school[0]), "--json")
    assert (done.exit_code, done.stderr) == (1, "")
    found = json.loads(done.stdout)
    assert found["grades"] == json.loads(
        autograder("grade", "study2", "-c", str(school[0]), "--json").stdout
    )
    assert [(page["student"], page["problem"]) for page in found["feedback"]] == [("ada", None)]
    assert list(map(Path, found["report"])) == [
        school[0] / "reports" / f"{ALPHA_BETA}.{kind}" for kind in ("html", "csv")
    ]


def test_grade_all_with_nothing_to_grade_still_has_a_report(school):
    """Bob has no page, but the class report is written."""
    done = autograder("grade-all", "study2", "-c", str(school[0]), "--student", "bob")
    assert (done.exit_code, done.stderr) == (1, BOB)
    assert "feedback" not in done.stdout
    assert done.stdout.count("report: ") == 2


@pytest.mark.parametrize(("problem", "status"), [(None, 0), ("no room", 1)])
def test_a_page_that_fails_in_grade_all_needs_a_look(school, monkeypatch, problem, status):
    """A failed page is reported as with `feedback`; the report is still written."""
    page = Feedback("ada", school[0], problem)
    monkeypatch.setattr(watch, "write_feedback", lambda *arguments, **options: [page])
    done = autograder("grade-all", "study2", "-c", str(school[0]), "--student", "ada")
    assert done.exit_code == status
    assert done.stderr == (f"{ALPHA_BETA}/ada: no feedback: no room\n" if problem else "")
    assert done.stdout.count("report: ") == 2


# ---- The demo folder


def test_the_demo_deletes_only_what_it_made(tmp_path):
    """The second demo clears the first one's folder; without the marker nothing is deleted."""
    folder = tmp_path / "demo"
    demo.clear_target(folder)
    (folder / "submitted").mkdir()
    (folder / "link").symlink_to(tmp_path)
    demo.clear_target(folder)
    assert {path.name for path in folder.iterdir()} == {demo.MARK_FILE, CONFIG_FILE, EXCHANGE}
    (folder / demo.MARK_FILE).unlink()
    with pytest.raises(CourseFolderError, match="was not made by the demo"):
        demo.clear_target(folder)
    assert (folder / CONFIG_FILE).exists()


def test_the_demo_may_be_stopped_while_it_clears_its_folder(tmp_path, monkeypatch):
    """The marker is deleted last, so that an interrupted demo can be repeated."""
    demo.clear_target(tmp_path / "demo")
    (tmp_path / "demo" / "submitted").mkdir()
    with monkeypatch.context() as broken:
        broken.setattr(demo.shutil, "rmtree", lambda path: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            demo.clear_target(tmp_path / "demo")
    demo.clear_target(tmp_path / "demo")
    assert not (tmp_path / "demo" / "submitted").exists()


# ---- Start-up


def test_bad_input_costs_no_heavy_imports():
    """A command that refuses immediately has not imported nbgrader."""
    program = (
        "import sys\nfrom autograder.commands.cli import app\n"
        "try:\n    app(['grade', 'study2', '-c', 'nowhere'])\nexcept SystemExit as end:\n"
        "    print(end.code, [m for m in sys.modules if m in ('nbgrader', 'nbformat')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "2 []\n"


@pytest.mark.slow
def test_nothing_is_imported_from_the_current_folder(course_template, tmp_path):
    """A student's module in the current folder never runs outside the sandbox, even if it has the
    name of a standard library module.
    """
    course, here = tmp_path / "course", tmp_path / "here"
    shutil.copytree(course_template, course)
    submitted = course / "submitted" / "ada" / STUDY.assignment
    shutil.copytree(course / "release" / STUDY.assignment, submitted)
    here.mkdir()
    for name in sys.stdlib_module_names:
        (here / f"{name}.py").write_text(
            f"open({str(tmp_path / 'ran')!r}, 'a').write({name!r} + ' ')", "utf-8"
        )
    done = subprocess.run(
        [*PROGRAM, "grade", STUDY.name, "-c", str(course)],
        cwd=here,
        capture_output=True,
        text=True,
        check=False,
    )
    assert not (tmp_path / "ran").exists(), (tmp_path / "ran").read_text("utf-8")
    assert "1 graded" in done.stdout, done.stderr


@pytest.mark.slow
def test_notebooks_that_the_installed_command_runs_import_from_their_folder(tmp_path):
    """A notebook's own imports from its folder still work."""
    done = subprocess.run(
        [*PROGRAM, "book", str(tmp_path / "book"), "--notebook", "01_minimax"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "book" / "index.html").is_file()


# ---- Derived files and self-tests


@pytest.mark.slow
def test_the_committed_files_of_study2_are_fresh():
    """`build --check` reports nothing for them."""
    done = autograder("build", "study2", "--check")
    assert (done.exit_code, done.output) == (0, "")


@pytest.fixture
def derived(tmp_path, monkeypatch) -> list[Path]:
    """Three derived files: one up to date, one outdated, one never built."""
    paths = [tmp_path / name for name in ("fresh.py", "stale.py", "unbuilt.py")]
    for path, was in zip(paths, ["now", "before"], strict=False):
        path.write_text(was, "utf-8")
    monkeypatch.setattr(
        derive, "derived_files", lambda only, tick: [(path, "now") for path in paths]
    )
    return paths


def test_what_is_not_fresh_is_named(derived, tmp_path):
    """`build --check` lists the files, changes none and ends with 1."""
    before = contents(tmp_path)
    done = autograder("build", "--check")
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr == "".join(f"out of date: {path}\n" for path in derived[1:])
    assert contents(tmp_path) == before


def test_only_what_is_not_fresh_is_built(derived):
    """`build` writes and lists those files, and the next check succeeds."""
    fresh = derived[0].stat().st_mtime_ns
    done = autograder("build")
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout == "".join(f"written: {path}\n" for path in derived[1:])
    assert [path.read_text("utf-8") for path in derived] == ["now"] * 3
    assert derived[0].stat().st_mtime_ns == fresh
    assert autograder("build", "--check").exit_code == 0


def test_study2_is_ready_to_release():
    """The doctor's last line reports that the study is ready, with exit status 0."""
    done = autograder("doctor", "study2")
    assert (done.exit_code, done.stderr) == (0, "")
    last = done.stdout.splitlines()[-1]
    assert re.fullmatch(r"study2: \d+ mutants, 0 modules .* 0 other .*: ready to release", last)


WELL, SICK = (
    Finding(name, 15, 15, {}, should, True)
    for name, should in [("reference", {}), ("odd_mistake", {"alpha_beta": ("nodes",)})]
)


@pytest.mark.parametrize(("findings", "complaints", "said"), [
    ([WELL, WELL, SICK], [], "1 mutants, 1 modules not marked as expected, 0 other"),
    ([WELL, WELL], ["note.txt holds lines of the answer"],
     "0 mutants, 0 modules not marked as expected, 1 other"),
], ids=["mutant", "leak"])  # fmt: skip
def test_problems_of_a_study_are_reported(monkeypatch, findings, complaints, said):
    """A wrongly marked module or a leak is named, and the study is not ready."""
    monkeypatch.setattr(doctor, "examine", lambda study, done: findings)
    monkeypatch.setattr(doctor, "leaks", lambda study: complaints)
    monkeypatch.setattr(doctor, "environment", lambda: [])
    done = autograder("doctor", "study2")
    assert done.exit_code == 1
    assert done.stdout.endswith(f"study2: {said} problems: NOT ready to release\n")
    assert done.stderr == "".join(f"problem: {complaint}\n" for complaint in complaints)
    assert ("odd_mistake" in done.stdout) == (SICK in findings)
    assert ("WRONG: it should lose alpha_beta: nodes" in text(done.stdout)) == (SICK in findings)


def test_the_doctor_examines_a_course_folder_on_request(monkeypatch, tmp_path):
    """Without an exchange the folder is not ready; without the option it is not checked."""
    monkeypatch.setattr(doctor, "examine", lambda study, done: [WELL, WELL])
    monkeypatch.setattr(doctor, "leaks", lambda study: [])
    folder = CourseFolder.create(tmp_path / "course")
    (folder.root / EXCHANGE).rmdir()
    assert autograder("doctor", "study2").exit_code == 0
    done = autograder("doctor", "study2", "--course", str(folder.root))
    assert done.exit_code == 1
    assert "problem: the exchange folder" in done.stderr
    (folder.root / EXCHANGE).mkdir()
    assert autograder("doctor", "study2", "--course", str(folder.root)).exit_code == 0


@pytest.mark.parametrize("options", [[], ["-v"]], ids=["short", "verbose"])
def test_the_doctor_shows_healthy_mutants_on_request(monkeypatch, options):
    """Only `-v` prints a line for every module."""
    healthy = Finding("odd_mistake", 5, 15, {"a": ("nodes",)}, {"a": ("nodes",)}, True)
    monkeypatch.setattr(doctor, "examine", lambda study, done: [WELL, WELL, healthy])
    monkeypatch.setattr(doctor, "leaks", lambda study: [])
    monkeypatch.setattr(doctor, "environment", lambda: [])
    done = autograder("doctor", "study2", *options)
    assert done.exit_code == 0
    assert ("odd_mistake" in done.stdout) == bool(options)


# ---- Help

ARGUMENTS = {  # for every command: the end of its usage line, and its options
    "build": ("[STUDY]", {"--check", "--course", "--generated-mutants"}),
    "generate": ("[STUDY]...", {"--course", "--kit", "--output", "--replace", "--worker"}),
    "grade": (
        "STUDY",
        {
            "--course",
            "--force",
            "--isolation",
            "--jobs",
            "--json",
            "--scheduler",
            "--section",
            "--student",
        },
    ),
    "feedback": ("STUDY", {"--course", "--jobs", "--section", "--student"}),
    "report": ("STUDY", {"--course", "--section"}),
    "solutions": ("STUDY", {"--before-deadline", "--course", "--output"}),
    "grade-all": (
        "STUDY",
        {
            "--course",
            "--force",
            "--isolation",
            "--jobs",
            "--json",
            "--scheduler",
            "--section",
            "--student",
        },
    ),
    "plan": ("WEEKS", {"--at-most", "--course", "--first-day", "--percent-a-day", "--roster"}),
    "release": ("STUDY", {"--course"}),
    "collect": ("STUDY", {"--course", "--format", "--from", "--times"}),
    "release-feedback": ("STUDY", {"--course", "--section"}),
    "late-penalties": ("STUDY", {"--at-most", "--course", "--due", "--percent-a-day"}),
    "export": (
        "",
        {"--column", "--course", "--format", "--output", "--section", "--study", "--worksheet"},
    ),
    "doctor": ("STUDY", {"--all", "--costs", "--course", "--scheduler", "--seed", "--verbose"}),
    "draw-positions": ("STUDY", {"--course", "--keep", "--seed"}),
    "book": ("[FOLDER]", {"--notebook"}),
    "site": ("[FOLDER]", {"--study", "--with-numpy-from-cdn"}),
    "slides": ("[STUDY]...", {"--output"}),
    "demo": ("", {"--course", "--jobs"}),
    "adapt": ("", {"--course", "--messages", "--replace"}),
    "upgrade": ("", {"--course"}),
    "new-study": ("NAME", {"--course"}),
    "next-year": ("[STUDY]...", {"--course", "--seed", "--show"}),
    "extend": (
        "[STUDY]",
        {"--course", "--days", "--group", "--remove", "--section", "--student", "--until"},
    ),
    "history": ("STUDY", {"--course", "--json", "--student"}),
    "regrade": ("[STUDY]", {"--answer", "--course", "--request", "--student"}),
    "roster": (
        "[FILE]",
        {"--course", "--drop", "--drop-missing", "--dry-run", "--id", "--restore"},
    ),
    "publish": ("FOLDER", {"--course", "--finished-site", "--site", "--study"}),
    "similarity": ("STUDY", {"--course", "--previous"}),
}


def commands() -> dict[str, str]:
    """The first line of each command's help."""
    return {
        command.name or command.callback.__name__: command.callback.__doc__.splitlines()[0]
        for command in app.registered_commands
    }


def test_no_command_is_without_a_test_of_its_help():
    """The table above has all commands."""
    assert set(ARGUMENTS) == set(commands())


@pytest.mark.parametrize("command", ARGUMENTS)
def test_help_names_every_argument(command):
    """The help has the usage line, a summary, an example and a description of each option."""
    done = autograder(command, "--help")
    assert (done.exit_code, done.stderr) == (0, "")
    argument, options = ARGUMENTS[command]
    (usage,) = re.findall(rf"Usage: autograder {command} \[OPTIONS\](.*)", done.stdout)
    assert usage.strip(" {}") == argument  # some versions put braces around required arguments
    assert commands()[command] in text(done.stdout)
    assert re.search(rf"Examples?: .*autograder {command}", text(done.stdout))
    joined = re.sub(r" *│\n│ {12,}(?=[^- ])", " ", done.stdout)  # rows of several lines
    rows = dict(re.findall(r"^│[\s*]+(--[a-z-]+)(.+)│$", joined, re.MULTILINE))
    assert set(rows) == {*options, "--help"}
    assert all(re.search(r"[A-Z].*[.\]]\s*$", row) for row in rows.values()), rows
    if "STUDY" in argument:
        assert re.search(r"STUDY\S*\s.*(A study, for example|By default all studies)", done.stdout)


@pytest.mark.parametrize("arguments", [[], ["--help"]], ids=["none", "help"])
def test_no_arguments_print_help(arguments):
    """Both list every command with its summary, without an error."""
    done = autograder(*arguments)
    assert done.stderr == ""
    assert "Usage: autograder [OPTIONS] COMMAND" in text(done.stdout)
    for name, sentence in commands().items():
        assert f"{name} {sentence}" in text(done.stdout)


@pytest.mark.parametrize(
    "command", ["generate", "grade", "feedback", "report", "grade-all", "late-penalties", "export"]
)
def test_the_course_is_looked_for_in_the_same_place(command):
    """Every command that needs a course folder has the same default."""
    assert "[default: (the kit's build/course)]" in text(autograder(command, "--help").stdout)
