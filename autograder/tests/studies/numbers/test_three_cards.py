"""The numbers of notebook 11: the output of its cells, and the results of a linear program."""

import contextlib
import io
import sys
from fractions import Fraction
from itertools import product

import jupytext
import pytest
from scipy.optimize import linprog

from autograder.release.derive import COURSE
from autograder.release.notebooks import check_id
from autograder.workspace import load_answer

pytestmark = pytest.mark.content("study7")
PATH = COURSE / "study7_lookahead" / "11_three_cards.py"
HANDS = [(mine, other) for mine, other in product((1, 2, 3), repeat=2) if mine != other]
NEXT = {
    (): ("pass", "bet"),
    ("pass",): ("pass", "bet"),
    ("bet",): ("fold", "call"),
    ("pass", "bet"): ("fold", "call"),
}
OF_X = [(card, *said) for card in (1, 2, 3) for said in ((), ("pass", "bet"))]
OF_O = [(card, said) for card in (1, 2, 3) for said in ("pass", "bet")]


@pytest.fixture(scope="module")
def notebook():
    """What each cell printed with the answer, and the names that the cells have set."""
    names, said = {}, io.StringIO()
    cells = jupytext.read(PATH, fmt="py:percent").cells
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(said):
        patch.setitem(sys.modules, "lookahead", load_answer("study7"))
        for cell in cells:
            if cell.cell_type == "code" and not check_id(cell):
                exec(cell.source.replace("%load_ext", "# %load_ext"), names)
    return names, said.getvalue().splitlines()


def played(cards, plan, said=()):
    """The final win of x: an independent implementation for plans with 0 or 1 for each card and
    word.
    """
    if said not in NEXT:
        if said[-1] == "fold":
            return 1 if len(said) == 2 else -1
        return (1 if cards[0] > cards[1] else -1) * (2 if said[-1] == "call" else 1)
    choice = plan[(cards[len(said) % 2], *said)]
    return played(cards, plan, (*said, NEXT[said][choice]))


def solved(barred=()):
    """The value for x of the best mixed plan of o that never says the second word at `barred`."""
    of_x, of_o = (
        [dict(zip(sets, choices, strict=True)) for choices in product((0, 1), repeat=6)]
        for sets in (OF_X, OF_O)
    )
    of_o = [plan for plan in of_o if not any(plan[place] for place in barred)]
    table = [[sum(played(cards, x | o) for cards in HANDS) / 6 for o in of_o] for x in of_x]
    least = linprog(
        [0] * len(of_o) + [1],
        A_ub=[[*row, -1] for row in table],
        b_ub=[0] * 64,
        A_eq=[[1] * len(of_o) + [0]],
        b_eq=[1],
        bounds=[(0, None)] * len(of_o) + [(None, None)],
    )
    return least.fun


def test_the_cells_print_what_the_text_says(notebook):
    """Every fraction in the text also appears in an output."""
    _, lines = notebook
    for line in (
        "x has 2: fold -1, call 0",
        "the whole game: 0",
        "x has 2: fold -1, call on average 0, at worst -2",
        "2/3",
        "27 strategies of x against 64 strategies of o",
        "x can guarantee -1/6",
        "o can limit x to 1/6",
        "x can guarantee -1/18",
        "o can limit x to -1/18",
        "probability of a bluff 0: x can win 1/18",
        "probability of a bluff 1/3: x can win -1/18",
        "probability of a bluff 1: x can win 1/6",
        "1 pass      pass -1, bet -2",
        "2 pass bet  fold -1, call 0",
        "x has 1: average -1, exact value -1",
        "x has 2: average 0, exact value -1/3",
        "x has 3: average 1, exact value 7/6",
        "as x it can guarantee -1/6 and perfect play -1/18",
        "as o it concedes 1/6 and perfect play -1/18",
    ):
        assert line in lines


def test_a_linear_program_finds_the_same_values():
    """The game's value is -1/18; with the best plan that never bluffs, o loses 1/18."""
    assert solved() == pytest.approx(-1 / 18)
    assert solved(barred=[(1, "pass")]) == pytest.approx(1 / 18)


def test_what_the_answers_say_of_plans(notebook):
    """x folds the 2 if o never bluffs and calls if o always does; exploiting the average means
    betting only the 3; breaking ties for "bet" is no safer.
    """
    names, _ = notebook
    start, value_of, mixed = names["Kuhn"](), names["strategy_value"], names["mixed_o"]
    for rate, calls, value in ((0, 0, Fraction(1, 18)), (1, 1, Fraction(1, 6))):
        other = mixed | {"1 pass": rate}
        best = max(names["strategies_of_x"], key=lambda x, o=other: value_of(start, x | o))
        assert best["2 pass bet"] == calls
        assert value_of(start, best | other) == value
    averaging = names["averaging"]
    worst = min(names["strategies_of_o"], key=lambda o: value_of(start, averaging | o))
    assert [worst[f"{card} pass"] for card in "123"] == [0, 0, 1]
    other = averaging | {"3": 1, "3 pass": 1}
    assert names["guaranteed"](other) == Fraction(-1, 6)
    assert names["conceded"](other) == Fraction(1, 6)


def test_the_line_of_means_ends_near_zero(notebook):
    """After a thousand samples every seed is closer to 0 than to the exact value."""
    names, _ = notebook
    assert all(abs(means[-1]) < 0.1 for means in names["runs"])
