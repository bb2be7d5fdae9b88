"""The source of a notebook decides where an instructor's test runs."""

import pytest
from nbformat.v4 import new_code_cell

from autograder.grading.intake.hidden_state import place_tests

DRAWS = "import random\ndef dart():\n    return random.random()"
PLAIN = "data = [1, 2]\ndef double(x):\n    return 2 * x\ndef total():\n    return sum(data)"


def inside(folder, *cells, test):
    """Why the test, which follows the cells, runs inside; None if it runs outside."""
    sources = [*cells, test]
    found = place_tests(
        [
            new_code_cell(source, metadata={"nbgrader": {"grade_id": f"cell{n}"}})
            for n, source in enumerate(sources)
        ],
        [f"cell{len(cells)}"],
        folder,
    )
    return found.inside.get(f"cell{len(cells)}")


@pytest.mark.parametrize(
    ("cells", "test"),
    [
        ([DRAWS], "random.seed(5)\nassert dart() < 1"),
        ([DRAWS], "assert dart() < 1"),
        ([DRAWS, "def twice():\n    return dart() + dart()"], "assert twice() < 2"),
        ([DRAWS, "def reset():\n    random.seed(1)"], "reset()\nassert double(2) == 4"),
        ([DRAWS, "random.seed(3)\ndraws = [dart() for _ in range(3)]"], "assert draws[0] < 1"),
        (["import random as r\ndef dart():\n    return r.random()"], "assert dart() < 1"),
        (
            ["from random import random as draw\ndef dart():\n    return draw()"],
            "assert dart() < 1",
        ),
        (["from random import *\ndef dart():\n    return random()"], "assert dart() < 1"),
        (["from numpy import *\ndef dart():\n    return random.rand()"], "assert dart() < 1"),
        (["import numpy as np\ndef dart():\n    return np.random.rand()"], "assert dart() < 1"),
        ([PLAIN, "import numpy as np"], "np.random.seed(0)\nassert double(2) == 4"),
        ([PLAIN], "import numpy as np\nrng = np.random.default_rng(3)\nassert double(2) == 4"),
        (["from numpy.random import default_rng\nrng = default_rng(3)"], "assert rng is not None"),
        ([PLAIN], "from random import Random\nassert double(Random(1).randint(1, 9)) < 99"),
        (
            ["import secrets\ndef token():\n    return secrets.token_hex()"],
            "assert len(token()) > 9",
        ),
        (["import uuid\ndef name():\n    return uuid.uuid4()"], "assert name()"),
        (["import time\ndef now_ms():\n    return time.time()"], "assert now_ms() > 0"),
        (["import threading\ndef run():\n    threading.Thread().start()"], "assert run() is None"),
        ([PLAIN, "import os"], "os.environ['MODE'] = 'test'\nassert double(2) == 4"),
        ([PLAIN], "open('numbers.txt', 'w').close()\nassert double(2) == 4"),
        ([PLAIN], "assert hash('a') == hash('a') and double(2) == 4"),
        ([PLAIN, "import matplotlib.pyplot as plt"], "assert plt.gcf() is not None"),
        ([PLAIN], "data = [5]\nassert total() == 5"),
        ([PLAIN], "data.append(5)\nassert total() == 8"),
        ([PLAIN], "data[0] = 5\nassert total() == 7"),
        (["import torch\ndef weight():\n    return torch.ones(1)"], "assert weight() == 1"),
        (["%run dice.py"], "assert dart() < 1"),
        (["def broken(:"], "assert True"),
        (["import helper\ndef dart():\n    return helper.draw()"], "assert dart() < 1"),
    ],
)
def test_a_test_that_could_share_state_runs_inside(tmp_path, cells, test):
    """Examples are generators, clocks, files, threads, notebook variables and unknown names."""
    (tmp_path / "helper.py").write_text("from random import random as draw\n", "utf-8")
    assert inside(tmp_path, *cells, test=test)


@pytest.mark.parametrize(
    ("cells", "test"),
    [
        ([PLAIN], "result = double(2)\nassert result == 4\nfor _ in range(3): assert total() == 3"),
        ([PLAIN, "import numpy as np"], "assert (double(np.ones(3)) == 2).all()"),
        ([PLAIN, DRAWS, "%matplotlib inline"], "assert double(2) == 4"),
        (
            ["class Stack:\n    def push(self, time):\n        self.top = time"],
            "stack = Stack()\nstack.push(3)\nassert stack.top == 3",
        ),
        ([PLAIN, "import os\nprint(os.environ)"], "from math import pi\nassert double(pi) > 6"),
        (["from helper import cube"], "values = [3]\nvalues.append(4)\nassert cube(3) == 27"),
    ],
)
def test_a_test_of_plain_values_may_run_outside(tmp_path, cells, test):
    """Even if other cells of the notebook use a generator."""
    (tmp_path / "helper.py").write_text("def cube(x):\n    return x ** 3\n", "utf-8")
    assert inside(tmp_path, *cells, test=test) is None


def test_tests_that_share_a_variable_run_in_the_same_place(tmp_path):
    """A test that runs inside forces tests that read or set its variables inside."""
    cells = [
        new_code_cell(source, metadata={"nbgrader": {"grade_id": name}})
        for name, source in {
            "code": DRAWS,
            "seeded": "random.seed(1)\nfirst = dart()",
            "same": "assert first < 1",
            "other": "assert 1 + 1 == 2",
        }.items()
    ]
    found = place_tests(cells, ["seeded", "same", "other"], tmp_path)
    assert found.inside.keys() == {"seeded", "same"}
    assert found.unsteady == {"seeded", "same"}


def test_names_of_a_module_are_not_variables_of_the_notebook(tmp_path):
    """A module next to the notebook has a local `dice`; the notebook's own `dice` is random."""
    (tmp_path / "plain.py").write_text("def double(dice):\n    return 2 * dice\n", "utf-8")
    cells = ["from random import Random\nfrom plain import double", "dice = Random(3)"]
    assert inside(tmp_path, *cells, test="assert double(2) == 4") is None
    assert inside(tmp_path, *cells, test="assert double(dice.random()) < 2")
