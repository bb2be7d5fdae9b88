"""An instructor's own tests give the same marks as in plain nbgrader, in every run."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from nbgrader.api import Gradebook
from nbgrader.converters import Autograde
from nbgrader.coursedir import CourseDirectory

from autograder.course_folder import CourseFolder, run_quietly
from autograder.grading.intake.locked_cells import read_locked_cells
from autograder.grading.run.batch import GradingError, grade
from autograder.sandbox.client import ExternalTests, Sandbox
from autograder.sandbox.limits import SandboxLimits
from autograder.tests.support.needs import need_isolation

DARTS = """def pi_by_darts(n):
    ### BEGIN SOLUTION
    hits = sum(random.random()**2 + random.random()**2 < 1 for _ in range(n))
    return 4 * hits / n
    ### END SOLUTION"""
NUMPY = DARTS.replace("random.random()", "np.random.rand()")
COIN = """def coin():
    ### BEGIN SOLUTION
    return random.random() < 0.5
    ### END SOLUTION"""
DOUBLE = """def double(x):
    ### BEGIN SOLUTION
    return 2 * x
    ### END SOLUTION"""
AUTOTESTS = """python3:
    setup: "from hashlib import sha1"
    hash: 'sha1({{snippet}}.encode("utf-8")+b"{{salt}}").hexdigest()'
    dispatch: "type({{snippet}})"
    normalize: "str({{snippet}})"
    check: 'assert {{snippet}} == \"\"\"{{value}}\"\"\", \"\"\"{{message}}\"\"\"'
    templates:
        default:
            - test: "{{snippet}}"
              fail: "the value of {{snippet}} is wrong"
"""


@pytest.fixture
def course(tmp_path) -> CourseFolder:
    """An empty course folder on a machine that supports isolation."""
    need_isolation()
    return CourseFolder.create(tmp_path / "course")


def generate(
    folder: CourseFolder, assignment: str, imports: str, solution: str, tests: dict[str, str]
) -> str:
    """Generate the student version of a notebook; return nbgrader's log."""

    def cell(source, name, **settings):
        return new_code_cell(
            source,
            metadata={
                "nbgrader": {"grade_id": name, "schema_version": 3, "task": False, **settings}
            },
        )

    source = folder.root / "source" / assignment
    source.mkdir(parents=True, exist_ok=True)
    notebook = new_notebook(
        metadata={
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}
        }
    )
    notebook.cells = [
        cell(imports, "imports", grade=False, locked=True, solution=False),
        cell(solution, "solution", grade=False, locked=False, solution=True),
        *(
            cell(test, name, grade=True, locked=True, solution=False, points=5)
            for name, test in tests.items()
        ),
    ]
    nbformat.write(notebook, source / "book.ipynb")
    # nbgrader leaves sockets of its kernel open, which would make a later test of this process
    # fail.
    done = subprocess.run(
        [sys.executable, "-m", "nbgrader", "generate_assignment", assignment],
        cwd=folder.root,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stderr


def submit(folder: CourseFolder, assignment: str, student: str, solution: str) -> None:
    """Submit the released notebook with this solution."""
    target = folder.submission(assignment, student)
    shutil.copytree(folder.release(assignment), target)
    notebook = nbformat.read(target / "book.ipynb", as_version=4)
    notebook.cells[1].source = solution
    nbformat.write(notebook, target / "book.ipynb")


def scores(folder: CourseFolder, assignment: str) -> dict[str, float]:
    """The points of each student."""
    place = folder.config().CourseDirectory
    with Gradebook(place.db_url, place.course_id) as book:
        return {s.student_id: s.score for s in book.find_assignment(assignment).submissions}


def grade_with_nbgrader(folder: CourseFolder, assignment: str) -> None:
    """Grade with `nbgrader autograde`, as formgrader's button does."""
    config = folder.config()
    config.CourseDirectory.assignment_id = assignment
    converter = Autograde(coursedir=CourseDirectory(config=config), config=config)
    converter.force = True
    run_quietly(converter, folder.root / "autograde.log")


def plain_value(imports: str, solution: str, seed: str) -> float:
    """The solution's result after seeding, in an ordinary interpreter."""
    names: dict = {}
    exec(f"{imports}\n{solution}\n{seed}\nvalue = round(pi_by_darts(400), 2)", names)
    return names["value"]


@pytest.mark.slow
def test_seeded_tests_give_a_class_the_same_marks_in_every_run(course):
    """A test seeds the submission's generator, as in plain nbgrader; the order of grading and the
    number of processes do not matter.
    """
    imports = "import random\nimport numpy as np"
    tests = {
        f"test{n}": f"{seed}\nassert round(pi_by_darts(400), 2) == "
        f"{plain_value(imports, DARTS, seed)}"
        for n, seed in enumerate(("random.seed(5)", "random.seed('a word')"))
    }
    said = generate(course, "seeds", imports, DARTS, tests)
    assert "the test 'test0' is decided in the student's own interpreter" in said
    students = [f"right{n:02}" for n in range(12)]
    for student in students:
        submit(course, "seeds", student, DARTS)
    study = course.assignment("seeds")
    for run in range(9):
        assert {g.status for g in grade(course, study, force=True, jobs=1 + run % 3)} == {"graded"}
        assert scores(course, "seeds") == dict.fromkeys(students, 10)
        inside = {
            tuple(json.loads(path.read_text("utf-8"))["inside"])
            for path in (course.root / "results" / "seeds").glob("*/book.json")
        }
        assert inside == {("test0", "test1")}


@pytest.mark.slow
def test_numpy_s_generator_is_seeded_by_a_test(course):
    """This is the global generator, under another name."""
    imports = "import numpy as np"
    value = plain_value(imports, NUMPY, "np.random.seed(5)")
    generate(
        course,
        "seeds",
        imports,
        NUMPY,
        {
            "test": f"from numpy.random import seed\nseed(5)\n"
            f"assert round(pi_by_darts(400), 2) == {value}"
        },
    )
    submit(course, "seeds", "ann", NUMPY)
    submit(course, "seeds", "ben", NUMPY.replace("4 *", "2 *"))
    list(grade(course, course.assignment("seeds")))
    assert scores(course, "seeds") == {"ann": 5, "ben": 0}


@pytest.mark.slow
def test_each_submission_draws_its_own_numbers(course):
    """Without a seed, neither generator gives two students the same numbers."""
    generate(
        course,
        "draws",
        "import random\nimport numpy as np",
        DOUBLE,
        {"test": "assert double(2) == 4"},
    )
    for student in ("ann", "ben", "cyd"):
        submit(course, "draws", student, f"{DOUBLE}\nprint(random.random(), np.random.rand())")
    list(grade(course, course.assignment("draws"), jobs=1))
    drawn = [
        nbformat.read(path, as_version=4).cells[1].outputs[0].text.split()
        for path in (course.root / "autograded").glob("*/draws/book.ipynb")
    ]
    assert [len({*each}) for each in zip(*drawn, strict=True)] == [3, 3]


@pytest.mark.slow
def test_a_test_that_passes_by_luck_is_reported_and_refused(course):
    """The report appears when the assignment is generated and before a class is graded."""
    test = "assert all(coin() for _ in range(1)) or random.random() < 0.1"
    said = generate(
        course, "coins", "import random", COIN, {f"test{n}": test for n in range(8)}
    )  # all pass or fail 5 times: 1 in 10^9
    assert "of 5 runs of your own solution: set the seed of the random generator" in said
    submit(course, "coins", "ann", COIN)
    with pytest.raises(GradingError, match=r"book\.ipynb: the test 'test\d' passes in \d of 5"):
        list(grade(course, course.assignment("coins")))


HELPERS = """import math
TOLERANCE = 1e-6
def close(a, b, factor=1):
    return abs(a - b) < factor * TOLERANCE
def is_close_to_double(x):
    return close(double(x), 2 * x)
def swapped(pair):
    return pair[::-1]"""
OVERWRITES = """def double(x):
    return 0
def close(*_, **__):
    return True
is_close_to_double = close
TOLERANCE = math.inf"""


@pytest.mark.slow
def test_helpers_of_locked_cells_are_the_instructor_s(course):
    """A submission that redefines them changes no test, although it could if they were its own."""
    said = generate(
        course,
        "helpers",
        HELPERS,
        DOUBLE,
        {
            "calls": "assert close(double(2), 4)",
            "calls_double": "assert is_close_to_double(3)",
            "constant": "assert abs(double(1) - 2) < TOLERANCE",
        },
    )
    assert "decided in the student's own interpreter" not in said
    right = DOUBLE.replace("2 * x", "x + x")
    for student, solution in (
        ("ann", right),
        ("ben", OVERWRITES),
        ("cyd", f"{right}\ndef swapped(pair):\n    return pair"),
    ):
        submit(course, "helpers", student, solution)
    list(grade(course, course.assignment("helpers"), jobs=1))
    assert scores(course, "helpers") == {"ann": 15, "ben": 0, "cyd": 15}
    grade_with_nbgrader(course, "helpers")
    assert scores(course, "helpers")["ann"] == 15


@pytest.mark.slow
def test_without_the_instructor_s_helpers_a_submission_decides():
    """The same names, taken from the submission, make the tests pass."""
    need_isolation()
    with Sandbox(SandboxLimits()) as inside, Sandbox(SandboxLimits()) as outside:
        cells = [HELPERS, OVERWRITES, "assert close(double(2), 4)\nassert is_close_to_double(3)"]
        for imports, passes in (
            (["import math"], True),
            (
                HELPERS.split("\ndef ")[:1]
                + [f"def {each}" for each in HELPERS.split("\ndef ")[1:]],
                False,
            ),
        ):
            ran = inside.run_cells({}, cells, 5, 1, 30, ExternalTests(outside, {2: None}, imports))
            assert (not ran.outputs[2]) == passes


CLASSES = """from dataclasses import dataclass
import numpy as np
@dataclass
class Pair:
    first: float
    second: float = 0.0
    def is_close(self):
        return abs(self.first - self.second) < LIMIT
LIMIT: float = 10 ** -6
POINTS = np.array([1, 2])
equal = lambda one, other: Pair(one, other).is_close()
def doubled_pair(number):
    return Pair(number, double(number))"""
WITHIN_REACH = """import functools
class Checker:
    pass
@functools.cache
def cached(a, b):
    return a == b
for limit in (1, 2):
    pass
with open("/dev/null") as empty:
    size = len(empty.read())
Checker.close = staticmethod(lambda a, b: a == b)
def calls_it(a, b):
    return within(a, b)
within, unused = (lambda a, b: a == b), None"""


@pytest.mark.slow
def test_classes_of_locked_cells_are_the_instructor_s(course):
    """They are treated like functions; an instance can also be passed to a submission."""
    solution = f"{DOUBLE}\ndef total(pair):\n    return pair.first + pair.second"
    said = generate(
        course,
        "classes",
        CLASSES,
        solution,
        {
            "method": "assert Pair(double(2), 4).is_close()",
            "call": "assert equal(double(3), 6)",
            "passed": "assert total(Pair(2, 3)) == 5 and total(doubled_pair(1)) == 3",
            "array": "assert double(POINTS).tolist() == [2, 4] and LIMIT < 1",
        },
    )
    assert "decided in the student's own interpreter" not in said
    forged = """class Pair:
    def __init__(self, *_): self.first = self.second = 2.5
    def is_close(self): return True
equal = lambda *_: True
LIMIT, POINTS = 0, [2, 4]
def total(pair): return 5
def double(x): return x"""
    for student, text in (("ann", solution), ("ben", forged)):
        submit(course, "classes", student, text)
    list(grade(course, course.assignment("classes"), jobs=1))
    assert scores(course, "classes") == {"ann": 20, "ben": 0}


@pytest.mark.slow
def test_what_a_submission_could_define_again_is_reported_as_inside(course):
    """A test that would use a class or a value of a locked cell from the submission is decided
    inside, and the report gives the reason.
    """
    tests = {
        "loop": "assert double(1) == limit",
        "read": "assert double(0) == size",
        "two": "assert within(double(2), 4)",
        "through": "assert calls_it(double(2), 4)",
        "plain": "assert double(2) == 4",
        "cached": "assert cached(double(2), 4)",
        "changed": "assert Checker.close(double(2), 4)",
    }
    said = generate(course, "reach", WITHIN_REACH, DOUBLE, tests)
    submit(course, "reach", "ann", DOUBLE)
    list(grade(course, course.assignment("reach"), jobs=1))
    assert scores(course, "reach") == {"ann": 5 * len(tests)}
    path = course.results("reach", "ann") / "book.json"
    inside = {*json.loads(path.read_text("utf-8"))["inside"]}
    assert inside == {"loop", "read", "two", "through", "changed"}
    for name in inside:
        assert f"the test '{name}' is decided in the student's own interpreter" in said
    assert (
        "uses 'within', which a locked cell defines in a way that cannot be repeated outside"
        in said
    )


@pytest.mark.parametrize(
    ("cell", "helpers"),
    [
        ("def close(a, b): return a == b", ["def close(a, b):\n    return a == b"]),
        ("LIMITS = [1, 2]", ["LIMITS = [1, 2]"]),
        ("a = b = -1.5", ["a = b = -1.5"]),
        ("now = clock()", []),
        ("@cache\ndef f(x): return x", []),
        ("class Node: pass", ["class Node:\n    pass"]),
        ("class Node(Base): pass", []),
        ("many = 10 ** 6", ["many = 10 ** 6"]),
        ("four = double(2)", []),
        ("text = open('a').read()", []),
        ("def f(x): return double(x)\nfour = f(2)", ["def f(x):\n    return double(x)"]),
        ("n = 1\nn = 2", []),
        ("n = 1\ndef f():\n    global n\n    n = 2", ["def f():\n    global n\n    n = 2"][:0]),
        ("double = None", []),
        ("%timeit 5\nn = 1", ["n = 1"]),
        ("def f(:", []),
    ],
)
def test_which_statements_are_helpers(cell, helpers, tmp_path):
    """Helpers are functions, classes and values that one locked cell defines without students'
    code.
    """

    def made(source, *, locked):
        return new_code_cell(
            source,
            metadata={
                "nbgrader": {
                    "grade_id": "a",
                    "grade": False,
                    "locked": locked,
                    "solution": not locked,
                }
            },
        )

    cells = [made(cell, locked=True), made(DOUBLE, locked=False)]
    assert read_locked_cells(cells, tmp_path).helpers == helpers
    assert read_locked_cells([made(cell, locked=False)], tmp_path).helpers == []


def test_which_names_are_withheld(tmp_path):
    """These are the names that locked cells define, unless they depend on students' code."""

    def made(source, *, locked):
        return new_code_cell(
            source,
            metadata={
                "nbgrader": {
                    "grade_id": "a",
                    "grade": False,
                    "locked": locked,
                    "solution": not locked,
                }
            },
        )

    (tmp_path / "answer.py").write_text("", "utf-8")
    found = read_locked_cells(
        [
            made("import math\nfrom answer import solve\ntriple = None\nx = solve(2)", locked=True),
            made(
                "from math import pi\ndef triple(x): return 3 * x\nclass Base: pass", locked=False
            ),
            made(
                "nine = triple(3)\nclass Child(Base): pass\ntau = 2 * pi\nfor n in (1, 2): pass",
                locked=True,
            ),
        ],
        tmp_path,
    )
    assert found.withheld == {"Child", "tau", "n"}
    assert found.helpers == ["tau = 2 * pi"]


@pytest.mark.slow
def test_a_withheld_name_is_not_taken_from_a_submission():
    """This holds even if the instructor's definition fails outside; otherwise the submission's
    would be used.
    """
    need_isolation()
    child = "class Child(Base):\n    def same(self, a, b):\n        return a == b"
    cells = [
        "class Base: pass",
        child,
        "class Child:\n    def same(self, a, b): return True",
        "assert Child().same(1, 2)",
    ]
    with Sandbox(SandboxLimits()) as inside, Sandbox(SandboxLimits()) as outside:
        for withheld, said in ((["Child"], ["name 'Child' is not defined"]), ([], [])):
            ran = inside.run_cells(
                {}, cells, 5, 1, 30, ExternalTests(outside, {3: None}, [child], withheld)
            )
            assert [output["evalue"] for output in ran.outputs[3]] == said


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "place"),
    [("### AUTOTEST double(3); double(-1)", "source/auto"), ("### HASHED AUTOTEST double(3)", "")],
)
def test_autotests_are_graded_as_nbgrader_does(course, line, place):
    """The templates may be next to the notebook or in the course folder, for every command."""
    (course.root / place).mkdir(parents=True, exist_ok=True)
    (course.root / place / "autotests.yml").write_text(AUTOTESTS, "utf-8")
    generate(course, "auto", "import math", DOUBLE, {"test": line})
    released = nbformat.read(course.release("auto") / "book.ipynb", as_version=4)
    assert "AUTOTEST" not in released.cells[2].source
    submit(course, "auto", "ann", DOUBLE)
    submit(course, "auto", "ben", "def double(x):\n    return x + 1")
    assert {g.status for g in grade(course, course.assignment("auto"))} == {"graded"}
    assert scores(course, "auto") == {"ann": 5, "ben": 0}
    shown = nbformat.read(Path(course.root, "autograded", "ben", "auto", "book.ipynb"), 4)
    assert "the value of double(3) is wrong" in shown.cells[2].outputs[0].evalue
    grade_with_nbgrader(course, "auto")
    assert scores(course, "auto") == {"ann": 5, "ben": 0}
