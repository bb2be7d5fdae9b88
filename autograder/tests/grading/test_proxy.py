"""An instructor's own tests run outside, and accept only plain values from the submission."""

import math
from contextlib import suppress
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.sandbox.client import ExternalTests, Sandbox
from autograder.sandbox.inside.test_proxy.plain_json import UnsupportedValueError, decode, encode
from autograder.sandbox.limits import SandboxLimits
from autograder.tests.support.needs import need_isolation

ATOMS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text()
    | st.binary()
    | st.complex_numbers(allow_nan=False)
    | st.integers().map(lambda n: n << 99)
    | st.builds(range, st.integers(-9, 9), st.integers(-9, 9), st.integers(1, 9))
    | st.sampled_from([np.float32(0.5), np.int64(-3), np.bool_(True), np.str_("x")])
)
HASHED = st.integers() | st.text() | st.tuples(st.integers(), st.text())
PLAIN = st.recursive(
    ATOMS,
    lambda inner: (
        st.lists(inner)
        | st.lists(inner).map(tuple)
        | st.dictionaries(HASHED, inner)
        | st.sets(HASHED)
        | st.frozensets(HASHED)
    ),
    max_leaves=20,
)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.sampled_from(
        [
            "list",
            "dict",
            "set",
            "array",
            "number",
            "int",
            "range",
            "bytes",
            "<f8",
            "|O",
            "|S9",
            "AAAAAAAA",
            "kept",
            "pickled",
        ]
    ),
    lambda inner: st.lists(inner, max_size=5),
    max_leaves=20,
)


def refuse(value):
    """Nothing except plain values here."""
    raise UnsupportedValueError(str(type(value)))


@given(PLAIN)
def test_a_plain_value_comes_back_with_its_type(value):
    """The type and value are exact, so that the transport by JSON is invisible."""
    back = decode(encode(value, refuse), refuse)
    assert back == value
    assert type(back) is type(value)


def test_a_number_may_be_long():
    """Integers may exceed Python's limit for decimal digits."""
    assert decode(encode(-(10**5000), refuse), refuse) == -(10**5000)


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6).reshape(2, 3),
        np.zeros((0, 3)),
        np.array(5.5),
        np.array(["a", "bc"]),
        np.array([True, False]),
        np.arange(8)[::2],
        np.asfortranarray(np.ones((2, 3))),
        np.array([1j]),
        np.array([math.nan, math.inf], dtype=np.float32),
    ],
)
def test_an_array_comes_back(array):
    """Arrays may have any shape and any number type."""
    back = decode(encode(array, refuse), refuse)
    assert back.dtype == array.dtype
    assert back.flags.writeable
    np.testing.assert_array_equal(back, array)


class Odd(int):
    """A number that equals everything."""

    __hash__ = None

    def __eq__(self, other):
        return True


@pytest.mark.parametrize(
    "value",
    [
        Odd(),
        [Odd()],
        {1: Odd()},
        np.array([Odd()], dtype=object),
        np.zeros(3).view(np.recarray),
        np.ma.masked_array([1]),
        object(),
        print,
        SimpleNamespace(),
    ],
)
def test_what_only_looks_plain_is_not(value):
    """Types are exact, because a subclass would bring its own `==`."""
    with pytest.raises(UnsupportedValueError):
        encode(value, refuse)


@given(JSON)
def test_words_that_nobody_would_write_are_refused(data):
    """Arbitrary messages from a submission raise nothing but `UnsupportedValueError`."""
    with suppress(UnsupportedValueError):
        decode(data, refuse)


@pytest.fixture(scope="module")
def ran():
    """Run cells with the tests outside; return a short form of their outputs, by cell."""
    need_isolation()
    with Sandbox(SandboxLimits()) as inside, Sandbox(SandboxLimits()) as outside:

        def run(*cells, tests, imports=(), seconds=5):
            found = inside.run_cells(
                {},
                cells,
                seconds,
                1,
                30,
                ExternalTests(
                    outside, tests if isinstance(tests, dict) else dict.fromkeys(tests), imports
                ),
            )
            return [_short(outputs) for outputs in found.outputs], found

        yield run


def _short(outputs):
    return [
        output["data"]["text/plain"]
        if "data" in output
        else output.get("text", output.get("evalue"))
        for output in outputs or []
    ]


def test_what_tests_do_with_a_submission(ran):
    """Functions, classes, instances, generators, exceptions and values work as inside."""
    (cell, *found), _ = ran(
        """
import numpy as np
def double(x): "Twice."; return 2 * x
def sort(values): print("sorting"); values.sort()
def fail(x): raise KeyError(x)
def count():
    yield from range(3)
class Account:
    limit = 5
    def __init__(self, money): self.money = money
    def pay(self, more): self.money += more; return self
    def __len__(self): return 7
    def __getitem__(self, key): return key
points = {"a": (1, 2.5), "b": {3}}
""",
        """
assert double(2) == 4 and double("ab") == "abab" and double([1]) == [1, 1]
assert type(double(True)) is int
assert (double(np.ones(3)) == 2).all() and double(x=3) == 6
assert double.__name__ == "double" and double.__doc__ == "Twice."
values = [3, 1, 2]
sort(values)
assert values == [1, 2, 3]
array = np.array([3, 1, 2]); sort(array); assert array.tolist() == [1, 2, 3]
try:
    fail(3)
except KeyError as error:
    assert "3" in str(error)
else:
    assert False
""",
        """
account = Account(3)
assert account.pay(2).money == 5 == account.money and Account.limit == 5
assert len(account) == 7 and account[3] == 3
assert list(count()) == [0, 1, 2] and [n for n in count()] == [0, 1, 2]
assert points == {"a": (1, 2.5), "b": {3}}
assert not hasattr(account, "nothing")
""",
        """
from tictactoe import Board
assert double(account.money) == 10  # what a test made is there in the next
7.5""",
        tests=[1, 2, 3],
        imports=["import numpy as np"],
    )
    assert cell == [] and found == [[], [], ["7.5"]]


def test_live_objects_are_not_compared(ran):
    """Their `==` would be the submission's, so the test gets an error message."""
    found, _ = ran(
        "class P: pass\np = P()",
        "assert p == p",
        "assert p",
        "assert p is not None",
        "p.x = 1",
        tests=[1, 2, 3, 4],
    )
    for text in found[1] + found[2]:
        assert "cannot be compared; only plain values can" in text
    assert found[3] == []
    assert "cannot be changed by a test" in found[4][0]


SUBCLASSES = """
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from enum import IntEnum
from fractions import Fraction
Point = namedtuple("Point", "x y")
class Side(IntEnum): A = 1
class Text(str): pass
things = [Counter("aab"), OrderedDict(a=1), defaultdict(list, {1: [2]}), Point(1, 2), Side.A,
          Text("ab"), Decimal("1.5"), Fraction(1, 3), date(2026, 1, 2), timedelta(1, 2, 3),
          datetime(2026, 1, 2, tzinfo=timezone.utc), {"a": 1}.keys()]
def thing(n): return things[n]
def numbers(): return (n for n in range(3))
def fill(values, more): values.append(1); more["a"] = 2
"""


def test_other_types_of_the_standard_library_count_as_what_they_are(ran):
    """A correct `Counter` is accepted, whatever type the instructor's own solution returns."""
    test = """
assert thing(0) == {"a": 2, "b": 1} and thing(0) and "a" in thing(0)
assert thing(0).get("c") is None and sorted(thing(0).items()) == [("a", 2), ("b", 1)]
assert thing(1) == {"a": 1} and thing(2) == {1: [2]} and len(thing(2)) == 1
assert thing(3) == (1, 2) and thing(3).x == 1 and sum(thing(3)) == 3 and thing(3)[1] == 2
assert thing(4) == 1 and thing(4) + 1 == 2 and 3 - thing(4) == 2 and [5, 6][thing(4)] == 6
assert thing(5) == "ab" and thing(5).startswith("a") and thing(5) + "c" == "abc"
assert thing(6) == 1.5 and thing(7) * 3 == 1 and thing(8).year == 2026
assert thing(9).seconds == 2 and thing(10).utcoffset().seconds == 0 and thing(11) == {"a"}
assert list(numbers()) == [0, 1, 2] and sum(numbers()) == 3
values, more = [], {}
fill(values, more=more)
assert values == [1] and more == {"a": 2}
"""
    _, solution = ran(SUBCLASSES, test, tests=[1])
    found, _ = ran(SUBCLASSES, test, tests={1: solution.calls[1]})
    assert found[1] == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "made",
    [
        "deque([3, 1, 2])",
        "(n for n in (3, 1, 2))",
        "map(int, '312')",
        "Items([3, 1, 2])",
        "List([3, 1, 2])",
        "np.matrix([3, 1, 2])",
        "np.array([3, 1, 2]).view(Array)",
        "Sequence()",
        "{3: 0, 1: 0, 2: 0}.keys()",
    ],
)
def test_what_has_the_right_items_is_right(ran, made):
    """A type that differs from the solution's is accepted if the test only reads the items."""
    found, _ = ran(
        f"""
from collections import UserList, deque
import numpy as np
class List(list): pass
class Items(UserList): pass
class Array(np.ndarray): pass
class Sequence:
    def __len__(self): return 3
    def __getitem__(self, n): return [3, 1, 2][n]
def f(): return {made}
""",
        "import numpy as np\nassert list(np.ravel(list(f()))) == [3, 1, 2]",
        tests={1: ["f"]},
    )
    assert found[1] == []


LIARS = {  # assertion about `f(3)`, a correct solution, and an object that is not correct
    "items of a list": (
        "assert r[0] < r[1] < r[2] and len(r) == 3",
        "[1, 2, 3]",
        """
class Liar(list):
    read = 0
    def __getitem__(self, n): Liar.read += 1; return Liar.read
def f(n): return Liar([0, 0, 0])""",
    ),
    "length of a list": (
        "assert len(r) == 3",
        "[1, 2, 3]",
        """
class Liar(list):
    def __len__(self): return 3
def f(n): return Liar()""",
    ),
    "items of a dictionary": (
        "assert r['a'] < r['b']",
        "{'a': 1, 'b': 2}",
        """
class Liar(dict):
    read = 0
    def __getitem__(self, key): Liar.read += 1; return Liar.read
def f(n): return Liar(a=0, b=0)""",
    ),
    "a matrix": (
        "assert r.T.trace() == r.trace() == 3",
        "np.eye(3)",
        """
class Liar:
    T = property(lambda self: self)
    def trace(self): return 3
def f(n): return Liar()""",
    ),
    "an array": (
        "assert r.sum() == 6 and r.min() == 1",
        "np.array([1, 2, 3])",
        """
class Liar(np.ndarray):
    def __array_finalize__(self, other): pass
    def __array_ufunc__(self, *arguments, **named): return True
    def sum(self): return 6
    def min(self): return 1
def f(n): return np.zeros(3).view(Liar)""",
    ),
    "iterators": (
        "assert sum(r) == 6 and max(r) == 4",
        "[1, 1, 4]",
        """
class Liar:
    read = 0
    def __iter__(self): Liar.read += 1; return iter([6] if Liar.read == 1 else [4])
def f(n): return Liar()""",
    ),
    "a text": (
        "assert r[:2] == 'ab' and r[-1] == 'c'",
        "'abc'",
        """
class Liar:
    def __getitem__(self, n): return 'ab' if isinstance(n, slice) else 'c'
def f(n): return Liar()""",
    ),
    "properties": (
        "assert r.real < r.imag",
        "1 + 2j",
        """
class Liar:
    read = 0
    @property
    def real(self): Liar.read += 1; return Liar.read
    imag = real
def f(n): return Liar()""",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("liar", LIARS)
def test_an_object_is_not_read_again_and_again(ran, liar):
    """If the solution has a plain value, the first reading of an object's items counts; if the
    solution's value is unknown, these objects pass.
    """
    test, right, wrong = LIARS[liar]
    test = f"r = f(3)\n{test}"
    _, solution = ran(f"import numpy as np\ndef f(n): return {right}", test, tests=[1])
    assert not any(output["output_type"] == "error" for output in solution.outputs[1])
    _, told = ran(f"import numpy as np\n{wrong}", test, tests={1: solution.calls[1]})
    assert told.outputs[1][-1]["output_type"] == "error"
    _, unknown = ran(f"import numpy as np\n{wrong}", test, tests=[1])
    assert not any(output["output_type"] == "error" for output in unknown.outputs[1])


@pytest.mark.parametrize(
    "test",
    [
        "assert f(3).startswith('ab')",
        "assert 3 in f(3)",
        "assert f(3).issubset({4})",
        "assert f(3)",
        "assert not f(3) != 3",
        "assert f(3).upper().startswith('A')",
        "assert xs.index(3) == 7 and xs.count(1)",
        "assert all(map(stop, [1, 2, 3]))",
        "for n in range(3):\n    assert stop(n) == n",
        "assert f(3)(4)",
        "assert any(f(3).values(5))",
    ],
)
def test_no_object_of_a_submission_decides(ran, test):
    """If the solution's functions return plain values, an object that compares equal to everything
    is wrong, and an exception ends no loop of the test.
    """
    _, told = ran(
        """
class Yes:
    __eq__ = __ne__ = __contains__ = __bool__ = lambda *_: True
    def __getattr__(self, name): return Yes()
    def __call__(self, *_, **__): return True
xs = Yes()
def f(x): return Yes()
def stop(x): raise StopIteration
""",
        test,
        tests={1: ["f", "stop"]},
    )
    assert told.outputs[1][-1].output_type == "error"


def test_a_test_may_call_what_it_calls_in_the_solution(ran):
    """Methods of a class are called in the submission, and each call is recorded."""
    account = "class Account:\n    def pay(self, more): return more + 1"
    test = "assert Account().pay(2) == 3"
    _, told = ran(account, test, tests=[1])
    assert told.calls[1] == [
        "Account",
        "Account is live",
        "Account() is live",
        "Account().pay",
        "Account().pay is live",
    ]
    found, _ = ran(account, test, tests={1: told.calls[1]})
    assert found[1] == []


def test_a_name_belongs_to_whom_defined_it(ran):
    """A test's own names, its imports and Python's builtins come first; the next test sees a
    submission's changes.
    """
    found, _ = ran(
        "import math\nmath.sqrt = lambda x: 7\nlen = abs = lambda x: 7\nx, y = 1, 2",
        "assert math.sqrt(4) == 2 and len([]) == 0 and abs(-1) == 1\nassert x == 1\ny = 5",
        "x, y = 10, 20",
        "assert x == 10 and y == 5",
        "missing",
        tests=[1, 3, 4],
        imports=["import math", "from nowhere import math"],
    )
    assert found[:4] == [[], [], [], []]
    assert "name 'missing' is not defined" in found[4][0]


@pytest.mark.slow
@pytest.mark.parametrize("loop", ["f()", "[x for x in iter(int, 1)]", "while True: pass"])
def test_a_test_that_does_not_end_is_stopped(ran, loop):
    """It may hang anywhere; the tests after it still run."""
    found, told = ran(
        "def f():\n    while True: pass", loop, "5", "assert True", tests=[1, 3], seconds=1
    )
    assert "stopped" in told.late[1] or "s of computing" in told.late[1]
    assert found[2] == ["5"] and found[3] == []
    assert told.stopped is None


def test_a_process_that_ends_ends_the_run(ran):
    """No later test runs, and the run does not wait."""
    found, told = ran("import os\ndef f(): os._exit(0)", "f()", "5", tests=[1])
    assert found == [[], [], []]
    assert told.stopped == "a cell ended the Python process"
    assert told.outputs[1:] == [None, None]


def test_a_hidden_test_is_nowhere_in_the_submission(ran):
    """The submission receives the arguments, but not the text or the names of the test."""
    found, _ = ran(
        "def f(x): return x",
        "secret = 12345\nassert f(1) == 1",
        "import gc, sys\nfound = '123' + '45' in repr([o for o in gc.get_objects() "
        "if isinstance(o, dict)])\nprint(found, 'secret' in globals(), "
        "'secret' in get_ipython().user_ns)",
        tests=[1],
    )
    assert found[2] == ["False False False\n"]
