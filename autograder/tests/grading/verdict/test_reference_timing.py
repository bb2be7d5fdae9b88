"""Time limits follow from the CPU time of the instructor's own solution, the same for all students."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from nbformat.v4 import new_notebook
from typer.testing import CliRunner

from autograder.commands.cli import app
from autograder.course_folder import CourseFolder
from autograder.grading.records.deciding import grader_state
from autograder.grading.records.reference_timing import (
    DEFAULT_FACTOR,
    FILE,
    MIN_SECONDS,
    describe_time_limits,
    keep_first_timings,
    load_timings,
    time_limit,
    time_limits,
)
from autograder.grading.run import submission as grading
from autograder.grading.run.nbgrader_steps import GradingStep
from autograder.tests.support.courses.classes import (
    CHECK,
    ENDLESS,
    MODULES,
    NOTEBOOK,
    STUDY,
    config,
    make_course,
    score,
    submit,
)
from autograder.tests.support.courses.own_assignments import OWN, own_assignment, own_scores, solve
from autograder.tests.support.needs import need_isolation
from common.clock import speed_factor
from course.checks import MAX_SECONDS

STATE = {"grader": "one", "isolation": "sandbox"}
BUSY = "\n".join(
    [
        "import time",
        "    end = time.process_time() + {seconds}",
        "    while time.process_time() < end:",
        "        pass",
        "    return 2 * x",
    ]
)
pytestmark = pytest.mark.xdist_group("reference_timing")


def busy(seconds: float) -> str:
    """Code that computes for `seconds`, or longer where all limits are scaled."""
    return BUSY.format(seconds=seconds * speed_factor())


@pytest.fixture
def course(tmp_path) -> CourseFolder:
    """A course folder without assignments."""
    return CourseFolder.create(tmp_path / "course")


@pytest.mark.parametrize(
    ("needed", "seconds"),
    [(0, 2), (0.01, 2), (0.1, 2), (0.101, 3), (0.2, 4), (0.49, 10), (0.51, 10), (60, 10)],
)
def test_a_limit_is_a_multiple_in_whole_seconds_with_floor_and_cap(needed, seconds):
    """Code ten times slower than the instructor's has enough time, up to the maximum."""
    found = time_limit(needed, DEFAULT_FACTOR, MIN_SECONDS, 10)
    assert found == seconds
    assert found >= min(10 * needed, 10)


def test_all_workers_have_what_one_of_them_measured(course):
    """The first measurement counts; later days and other workers keep it."""
    with ThreadPoolExecutor(8) as workers:
        found = list(
            workers.map(
                lambda number: keep_first_timings(
                    course, STUDY, STATE, {"study2.alpha_beta": number}
                ),
                range(1, 9),
            )
        )
    assert len({seconds["study2.alpha_beta"] for seconds in found}) == 1
    assert keep_first_timings(course, STUDY, STATE, {"study2.alpha_beta": 99}) == found[0]
    assert load_timings(course, STUDY, STATE) == found[0]


def test_what_decides_the_marks_decides_the_limits(course):
    """After another release they are measured again, because the class is regraded."""
    keep_first_timings(course, STUDY, STATE, {"study2.alpha_beta": 1})
    other = STATE | {"grader": "two"}
    assert load_timings(course, STUDY, other) == {}
    assert keep_first_timings(course, STUDY, other, {"study2.alpha_beta": 3}) == {
        "study2.alpha_beta": 3
    }


@pytest.mark.parametrize(
    ("settings", "seconds"),
    [
        ("", MAX_SECONDS),
        ("c.GradingStep.check_seconds = 1\n", 1),
        ("c.GradingStep.probe_seconds = 1.5\n", 1.5),
        ("c.GradingStep.check_seconds = 1\nc.GradingStep.probe_seconds = 1.5\n", 1),
    ],
)
def test_the_former_name_of_check_seconds_still_works(course, settings, seconds):
    """Configurations written before the option was renamed keep their limit."""
    config(course, settings)
    loaded = course.config()
    assert GradingStep(config=loaded).check_seconds == seconds
    keep_first_timings(course, STUDY, grader_state(course, STUDY, loaded), {CHECK.id: 60})
    assert time_limits(course, STUDY, loaded) == {CHECK.id: min(seconds, CHECK.time_limit)}


@pytest.mark.parametrize(
    ("settings", "exception"),
    [
        ("", ""),
        ("c.GradingStep.check_seconds = 1\n", f", except {CHECK.id}"),
        ("c.GradingStep.least_seconds = 3\n", f", except {CHECK.id}"),
    ],
)
def test_limits_that_differ_from_those_at_home_are_named(course, settings, exception):
    """An instructor may lower or raise them."""
    config(course, settings)
    loaded = course.config()
    keep_first_timings(course, STUDY, grader_state(course, STUDY, loaded), {CHECK.id: 0.1})
    assert describe_time_limits(course, STUDY, loaded).endswith(f"as at home{exception})")


@pytest.fixture(scope="module")
def graded(tmp_path_factory) -> CourseFolder:
    """A graded course with study 2 and an assignment whose solution computes for 0.1 s."""
    need_isolation()
    folder = make_course(tmp_path_factory.mktemp("limits") / "course", STUDY)
    own_assignment(folder, "assert double(2) == 4")
    path = folder.root / "source" / OWN / "numbers.ipynb"
    path.write_text(
        path.read_text("utf-8").replace("return 2 * x", json.dumps(busy(0.11))[1:-1]),
        "utf-8",
    )
    config(folder, "c.GradingStep.times_needed = 25\n")
    return folder


@pytest.mark.slow
def test_cells_have_what_the_solution_needs_and_a_loop_holds_nobody(graded):
    """A loop ends after the limit, code ten times slower passes, and `grade` prints the limit.

    A cell that a student adds has no counterpart in the solution, so it has the maximum.
    """
    solve(graded, "loop", "while True: pass")
    solve(graded, "slow", busy(1.1))
    solve(graded, "adds", "return 2 * x")
    path = graded.submission(OWN, "adds") / "numbers.ipynb"
    notebook = json.loads(path.read_text("utf-8"))
    notebook["cells"].insert(
        0,
        {
            "cell_type": "code",
            "id": "mine",
            "metadata": {},
            "outputs": [],
            "execution_count": None,
            "source": busy(5).rpartition("\n")[0].replace("\n    ", "\n"),
        },
    )
    path.write_text(json.dumps(notebook), "utf-8")
    done = CliRunner().invoke(app, ["grade", OWN, "--course", str(graded.root), "--jobs", "1"])
    needed = json.loads((graded.root / "results" / OWN / FILE).read_text("utf-8"))["seconds"]
    seconds = time_limit(needed["numbers.ipynb"], 25, MIN_SECONDS, 10)
    assert 3 <= seconds < 5
    assert f"the CPU time limit is {seconds:g} s (25 times the" in done.stdout
    (problem,) = [
        line for line in done.stderr.strip().splitlines() if "this machine needs" not in line
    ]  # as under load
    assert f"loop: numbers.ipynb: a cell did not finish within {seconds:g} s" in problem
    assert own_scores(graded) == {"adds": 10, "loop": 0, "slow": 10}


@pytest.mark.slow
def test_a_check_has_the_same_limit_on_every_day(graded):
    """Measurements change nothing, and nbgrader's own command uses the same limit."""
    kept = graded.root / "results" / STUDY.assignment / FILE
    for student, module in (("ann", MODULES["reference"]), ("eve", ENDLESS)):
        submit(graded, student, module)
    with grading.grader(graded, STUDY, False) as grade:
        assert {grade(student).status for student in ("ann", "eve")} == {"graded"}
    known = json.loads(kept.read_text("utf-8"))
    assert 0 < known["seconds"][CHECK.id] < 1
    known["seconds"][CHECK.id] = 0.25  # as if another day's measurement had been the first
    kept.write_text(json.dumps(known), "utf-8")
    with grading.grader(graded, STUDY, True) as grade:
        (problem,) = grade("eve").problems
    assert f"stopped after {CHECK.time_limit:g} s of computing time" in problem
    assert score(graded, "ann") == CHECK.max_points
    step = GradingStep(config=graded.config())
    step.preprocess(
        new_notebook(),
        {
            "metadata": {"path": str(graded.root)},
            "nbgrader": {"assignment": STUDY.assignment, "student": "eve", "notebook": NOTEBOOK},
        },
    )
    assert step.needed == known["seconds"]
