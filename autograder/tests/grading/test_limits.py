"""Limits of time follow from what the instructor's own solution computes, the same for everybody."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from nbformat.v4 import new_notebook
from typer.testing import CliRunner

from autograder.commands.cli import app
from autograder.course_folder import CourseFolder
from autograder.grading import submission as grading
from autograder.grading.nbgrader_steps import GradingStep
from autograder.grading.needed import FILE, LEAST, TIMES, limit, recalled, remembered
from autograder.release.assignments import release
from autograder.tests.support.classes import (
    CHECK,
    ENDLESS,
    MODULES,
    NOTEBOOK,
    STUDY,
    config,
    hand_in,
    score,
)
from autograder.tests.support.needs import need_isolation
from autograder.tests.support.own_assignments import OWN, own_assignment, own_scores, solve

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
pytestmark = pytest.mark.xdist_group("limits")


@pytest.fixture
def course(tmp_path) -> CourseFolder:
    """A course folder without assignments."""
    return CourseFolder.create(tmp_path / "course")


@pytest.mark.parametrize(
    ("needed", "seconds"),
    [(0, 2), (0.01, 2), (0.1, 2), (0.101, 3), (0.2, 4), (0.49, 10), (0.51, 10), (60, 10)],
)
def test_a_limit_is_a_multiple_in_whole_seconds_with_floor_and_cap(needed, seconds):
    """And whoever is ten times slower than the instructor has enough, but for the cap."""
    found = limit(needed, TIMES, LEAST, 10)
    assert found == seconds
    assert found >= min(10 * needed, 10)


def test_all_workers_have_what_one_of_them_measured(course):
    """Whoever comes first; later days and other workers measure in vain."""
    with ThreadPoolExecutor(8) as workers:
        found = list(
            workers.map(
                lambda number: remembered(course, STUDY, STATE, {"study2.alpha_beta": number}),
                range(1, 9),
            )
        )
    assert len({seconds["study2.alpha_beta"] for seconds in found}) == 1
    assert remembered(course, STUDY, STATE, {"study2.alpha_beta": 99}) == found[0]
    assert recalled(course, STUDY, STATE) == found[0]


def test_what_decides_the_marks_decides_the_limits(course):
    """With another release they are measured anew, as the class is graded anew."""
    remembered(course, STUDY, STATE, {"study2.alpha_beta": 1})
    other = STATE | {"grader": "two"}
    assert recalled(course, STUDY, other) == {}
    assert remembered(course, STUDY, other, {"study2.alpha_beta": 3}) == {"study2.alpha_beta": 3}


@pytest.fixture(scope="module")
def graded(tmp_path_factory) -> CourseFolder:
    """A course with study 2 and an assignment whose solution computes for a tenth of a second."""
    need_isolation()
    folder = CourseFolder.create(tmp_path_factory.mktemp("limits") / "course")
    release(folder, STUDY)
    own_assignment(folder, "assert double(2) == 4")
    path = folder.root / "source" / OWN / "numbers.ipynb"
    path.write_text(
        path.read_text("utf-8").replace(
            "return 2 * x", json.dumps(BUSY.format(seconds=0.11))[1:-1]
        ),
        "utf-8",
    )
    config(folder, "c.GradingStep.times_needed = 25\n")
    return folder


@pytest.mark.slow
def test_cells_have_what_the_solution_needs_and_a_loop_holds_nobody(graded):
    """A loop ends after that time, ten times slower passes, and `grade` says how long it is.

    What a student adds has no counterpart in the solution, so it has the most.
    """
    solve(graded, "loop", "while True: pass")
    solve(graded, "slow", BUSY.format(seconds=1.1))
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
            "source": BUSY.format(seconds=5).rpartition("\n")[0].replace("\n    ", "\n"),
        },
    )
    path.write_text(json.dumps(notebook), "utf-8")
    done = CliRunner().invoke(app, ["grade", OWN, "--course", str(graded.root), "--jobs", "1"])
    needed = json.loads((graded.root / "results" / OWN / FILE).read_text("utf-8"))["seconds"]
    seconds = limit(needed["numbers.ipynb"], 25, LEAST, 10)
    assert 3 <= seconds < 5
    assert f"the limit of computing time is {seconds:g} s (25 times what" in done.stdout
    (problem,) = [
        line for line in done.stderr.strip().splitlines() if "this machine needs" not in line
    ]  # as it does while others keep it busy
    assert f"loop: numbers.ipynb: a cell did not finish within {seconds:g} s" in problem
    assert own_scores(graded) == {"adds": 10, "loop": 0, "slow": 10}


@pytest.mark.slow
def test_a_check_has_what_the_reference_needs_on_every_day(graded):
    """What is measured later changes nothing, and nbgrader's own door knows the same."""
    kept = graded.root / "results" / STUDY.assignment / FILE
    for student, module in (("ann", MODULES["reference"]), ("eve", ENDLESS)):
        hand_in(graded, student, module)
    with grading.grader(graded, STUDY, False) as grade:
        assert {grade(student).status for student in ("ann", "eve")} == {"graded"}
    known = json.loads(kept.read_text("utf-8"))
    assert 0 < known["seconds"][CHECK.id] < 1
    known["seconds"][CHECK.id] = 0.101  # as if another day's measurement had been the first
    kept.write_text(json.dumps(known), "utf-8")
    with grading.grader(graded, STUDY, True) as grade:
        (problem,) = grade("eve").problems
    assert "stopped after 3 s of computing time" in problem
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
