"""The numbers of notebook 6 and of study 4's model answers match the reference."""

from collections import Counter
from random import Random

import pytest

from autograder.workspace import load_answer
from course.checks.toy_games import NumberTree
from course.published import depth_strength
from tictactoe import ConnectFour
from tictactoe.games.connect_four import centre_first

pytestmark = pytest.mark.content("study4")
STUDY = load_answer("study4")
ORDERS = {"board": STUDY.board_order, "centre": centre_first}
KINDS = (STUDY.DepthLimited, STUDY.WithKillers, STUDY.WithTable, STUDY.WithBoth)
RIDDLE = ConnectFour.from_moves([1, 3, 3, 2, 3, 3, 2, 6, 2, 1, 1, 2])
LOST = ConnectFour.from_moves([0, 0, 1, 4, 3, 6, 4, 0, 1])
ALSO_LOST = ConnectFour.from_moves([2, 5, 5, 3, 6, 4, 4, 1, 1, 0, 4, 6, 3])


def winning(state):
    """The moves that win immediately."""
    return [move for move in state.legal_moves() if state.after(move).winner]


@pytest.mark.parametrize(
    ("state", "order", "nodes"),
    [
        (ConnectFour(), "board", [12648, 5063, 8868, 4348]),
        (ConnectFour(), "centre", [1407, 1430, 952, 973]),
        (RIDDLE, "board", [6254, 2264, 4260, 1752]),
        (RIDDLE, "centre", [4783, 2571, 3022, 1897]),
    ],
)
def test_nodes_to_limit_six(state, order, nodes):
    """In the model answer's table, four kinds of search all find the same value."""
    found = [kind(6, order=ORDERS[order]).search(state) for kind in KINDS]
    assert [search.nodes for search in found] == nodes
    assert len({search.value for search in found}) == 1


HARMED = {5: ([3], [0], [0, 6], [6], [3, 3, 2], [0, 0]), 6: ([3, 2], [2, 4], [0, 0])}


@pytest.mark.parametrize(
    ("limit", "moves"), [(limit, moves) for limit in HARMED for moves in HARMED[limit]]
)
def test_killers_harm_a_good_order(limit, moves):
    """In the model answer's positions, killers cost nodes if the centre is searched first."""
    state = ConnectFour.from_moves(moves)
    plain, killers = (kind(limit, order=centre_first).search(state).nodes for kind in KINDS[:2])
    assert plain < killers
    if (limit, moves) == (6, [0, 0]):
        assert (plain, killers) == (3266, 3894)


def test_the_limits_before_cost_less_than_nothing():
    """Limits 1 to 7 cost less than a third more without a table, about half of limit 7 alone with
    one, and an eighth with table and killers.
    """
    plain, table = (
        kind(7).search(ConnectFour()).nodes for kind in (STUDY.DepthLimited, STUDY.WithTable)
    )
    deep = {
        kind: kind(10**6, 7).search(ConnectFour()).nodes
        for kind in (STUDY.Deepening, STUDY.DeepeningTable, STUDY.DeepeningBoth)
    }
    assert (plain, table) == (58704, 29779)
    assert list(deep.values()) == [76283, 15740, 9373]


def test_the_ways_and_the_positions_of_five_moves():
    """In notebook 6, 16,807 sequences of five moves lead to 4,263 positions."""
    layers = [Counter({ConnectFour(): 1})]
    for _ in range(5):
        following = Counter()
        for state, ways in layers[-1].items():
            for move in state.legal_moves():
                following[state.after(move)] += ways
        layers.append(following)
    assert [(layer.total(), len(layer)) for layer in layers[1:]] == [
        (7, 7),
        (49, 49),
        (343, 238),
        (2_401, 1_120),
        (16_807, 4_263),
    ]


def test_the_tree_by_hand():
    """The search visits six of the seven nodes, and the value is 5."""
    assert STUDY.DepthLimited(2).search(NumberTree(((5, 9), (3, 8)))) == (0, 5, 6)


def test_the_riddle_has_one_answer():
    """Only column 4 wins, in five moves: o has to reply in column 1, and then x has two threats."""
    found = STUDY.DepthLimited(5).search(RIDDLE)
    assert (found.move, found.value) == (4, 1)
    first = RIDDLE.after(4)
    assert winning(first.after(0)) == [1]
    second = first.after(1).after(4)
    assert not winning(second)
    assert all(4 in winning(second.after(move)) for move in second.legal_moves())


@pytest.mark.parametrize("lost", [LOST, ALSO_LOST])
def test_a_lost_position_can_be_lost_later(lost):
    """Column 2 lasts five more moves and column 3 one; the agent with a table chooses the longer
    one.
    """
    chosen = [
        kind(3000, order=centre_first).search(lost)
        for kind in (STUDY.Deepening, STUDY.DeepeningTable)
    ]
    assert [(search.move, search.value) for search in chosen] == [(3, -1), (2, -1)]
    for move in lost.legal_moves():
        agent = STUDY.DeepeningTable(20_000, order=centre_first)
        assert agent.search(lost.after(move)).value == 1
        assert agent.log[-1].limit == (5 if move == 2 else 1)


def test_hardly_a_position_is_quiet():
    """About one position in a hundred is quiet after 12 random moves, by study 3's own function."""
    rng, quiet, seen = Random(1), 0, 0
    while seen < 300:
        state = ConnectFour()
        for _ in range(12):
            if not state.is_terminal():
                state = state.after(rng.choice(state.legal_moves()))
        if not state.is_terminal():
            seen += 1
            quiet += load_answer("study3").is_quiescent(state)
    assert quiet <= 0.02 * seen


def test_what_the_table_of_games_says():
    """Four times the nodes win two thirds of games, a quarter shows no clear difference, and depth
    grows.
    """
    games = {(entry.parts, entry.order, entry.budget): entry for entry in depth_strength()}
    plain, both = "alpha-beta only", "table and killers"
    assert games[plain, "centre", 400].score == 0.5  # it plays itself
    assert 0.63 < games[plain, "centre", 1600].score < 0.69
    assert round(games[plain, "centre", 100].score, 2) == 0.43
    assert games[plain, "centre", 100].high > 0.5
    assert games[both, "centre", 1600].depth > games[plain, "centre", 6400].depth - 0.5
    assert games[plain, "centre", 6400].high > games[both, "centre", 6400].low
