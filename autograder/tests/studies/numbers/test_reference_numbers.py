"""Every published number of the search conventions, recomputed from the reference answers."""

from collections import Counter
from dataclasses import dataclass
from functools import cache
from math import inf, log
from pathlib import Path
from random import Random

import pytest

import course
from autograder.workspace import load_answer
from tictactoe import EMPTY, Board, NodeCounter, Trace, counted, opponent, solver

pytestmark = pytest.mark.content
COURSE = Path(course.__file__).parent

MINIMAX = load_answer("study1")
ALPHA_BETA = load_answer("study2")
TYPE_A = load_answer("study3")

EMPTY_BOARD = Board()
X_AT_0 = Board("x________")
POSITIONS = [board for board in solver.values() if not board.is_terminal()]


def in_board_order(state):
    """The legal moves in the board's order, as an option for `TypeAPlus`."""
    return state.legal_moves()


AGENTS = {
    "minimax": MINIMAX.Minimax(),
    "alpha-beta": ALPHA_BETA.AlphaBeta(),
    "alpha-beta, heap order": TYPE_A.TypeAPlus(limit=inf),
    "TypeA 1": TYPE_A.TypeA(limit=1),
    "TypeA": TYPE_A.TypeA(limit=2),
    "TypeA 3": TYPE_A.TypeA(limit=3),
    "TypeA 4": TYPE_A.TypeA(limit=4),
    "TypeA + alpha-beta": TYPE_A.TypeAPlus(limit=2, order=in_board_order),
    "TypeAPlus": TYPE_A.TypeAPlus(limit=2),
}


AGENTS_COMPARED = ("alpha-beta", "minimax")


@cache
def everywhere(name):
    """The result of the agent with this name on each of the 4,520 unfinished positions."""
    return {board: AGENTS[name].search(board) for board in POSITIONS}


@cache
def best_moves(board):
    """The moves that keep the value of the position, according to the solver."""
    return {
        move
        for move in board.legal_moves()
        if solver.value(board.after(move)) == solver.value(board)
    }


def errors(name):
    """The positions where the agent's move loses value."""
    return {
        board for board, found in everywhere(name).items() if found.move not in best_moves(board)
    }


def total(searches):
    """Nodes over all positions, excluding the roots."""
    return sum(found.nodes - 1 for found in searches.values())


def big_h(board, player):
    """H, the heuristic as an integer."""
    return round(10 * TYPE_A.heuristic(board, player))


# One search at a time


@pytest.mark.parametrize(("name", "nodes", "move", "value"), [
    ("minimax", 549_946, 0, 0),
    ("alpha-beta", 18_297, 0, 0),
    ("alpha-beta, heap order", 6_435, 0, 0),
    ("TypeA 1", 10, 4, 0.4),
    ("TypeA", 82, 4, 0.1),
    ("TypeA 3", 227_322, 4, 0.3),
    ("TypeA 4", 336_378, 0, 0.1),
    ("TypeAPlus", 36, 4, 0.1),
])  # fmt: skip
def test_searches_of_the_empty_board(name, nodes, move, value):
    """Nodes, move and value for x on the empty board are the published ones."""
    assert AGENTS[name].search(EMPTY_BOARD) == (move, value, nodes)


@pytest.mark.parametrize(("name", "nodes", "move", "value"), [
    ("minimax", 59_705, 4, 0),
    ("alpha-beta", 2_338, 4, 0),
    ("TypeA", 28_339, 4, -0.2),
    ("TypeA + alpha-beta", 1_720, 4, -0.2),
    ("TypeAPlus", 331, 4, -0.2),
])  # fmt: skip
def test_searches_after_x_at_0(name, nodes, move, value):
    """Nodes, move and value for o after x took the corner are the published ones."""
    assert AGENTS[name].search(X_AT_0) == (move, value, nodes)


def test_minimax_visits_255168_games_and_5478_states():
    """The tree of the empty board has 255,168 leaves, and the table has 5,478 states."""
    leaves, states = 0, set()
    waiting = [EMPTY_BOARD]
    while waiting:
        board = waiting.pop()
        leaves += board.is_terminal()
        states.add(board)
        waiting.extend(board.after(move) for move in board.legal_moves())
    assert (leaves, len(states)) == (255_168, 5_478)
    assert MINIMAX.Tabular().search(EMPTY_BOARD) == (0, 0, 5_478)


def test_quiescence_drags_type_a_to_depth_8():
    """After x at 0, the search with limit 2 reaches the end of the game, eight moves deeper."""

    def deepest(visit):
        return max([visit.depth, *map(deepest, visit.children)])

    with Trace() as trace:
        AGENTS["TypeA"].search(X_AT_0)
    assert deepest(trace.roots[0]) == 8


def test_every_state_two_moves_from_the_empty_board_is_quiescent():
    """Therefore the empty board is a weak test of a Type A search: nothing exceeds the limit."""
    states = [
        EMPTY_BOARD.after(first).after(second)
        for first in range(9)
        for second in range(9)
        if first != second
    ]
    assert len(states) == 72
    assert all(TYPE_A.is_quiescent(state) for state in states)


# All positions


def test_there_are_4520_positions():
    """Of 5,478 reachable positions, 4,520 are unfinished."""
    assert (len(solver.values()), len(POSITIONS)) == (5_478, 4_520)


@pytest.mark.parametrize(("name", "nodes"), [
    ("minimax", 2_121_015),
    ("alpha-beta", 269_987),
    pytest.param("TypeA", 956_751, marks=pytest.mark.slow),
    ("TypeAPlus", 72_006),
])  # fmt: skip
def test_nodes_over_all_positions(name, nodes):
    """The sum over all 4,520 positions, excluding the roots, is the published one."""
    assert total(everywhere(name)) == nodes


@pytest.mark.parametrize("name", ["minimax", "alpha-beta"])
def test_full_searches_never_err(name):
    """Minimax and alpha-beta find the solver's value and a best move on every position."""
    assert errors(name) == set()
    assert all(
        found.value == solver.value(board, board.to_move)
        for board, found in everywhere(name).items()
    )


@pytest.mark.slow
def test_type_a_errs_in_8_positions():
    """Type A loses value in eight positions, half of them with two marks in opposite corners."""
    assert {board.text for board in errors("TypeA")} == {
        "x_______o", "__x___o__", "__o___x__", "o_______x",
        "ox______x", "__x___ox_", "o__x____x", "__o__xx__",
    }  # fmt: skip


@pytest.mark.slow
def test_type_a_alone_saves_nothing_over_alpha_beta():
    """The lesson of study 3: quiescence costs more than the limit saves, but both together save
    nodes.
    """
    type_a, alpha_beta, both = (
        total(everywhere(name)) for name in ("TypeA", "alpha-beta", "TypeAPlus")
    )
    assert type_a > 3 * alpha_beta > 9 * both


@pytest.mark.slow
@pytest.mark.parametrize("side", ["x", "o"])
def test_type_a_never_reaches_a_position_where_it_errs(side):
    """Whatever the opponent plays, Type A's own moves avoid all of its eight errors."""
    decided, waiting = set(), {EMPTY_BOARD}
    while waiting:
        board = waiting.pop()
        if board.is_terminal() or board in decided:
            continue
        decided.add(board)
        moves = [everywhere("TypeA")[board].move] if board.to_move == side else board.legal_moves()
        waiting.update(board.after(move) for move in moves)
    mine = {board for board in decided if board.to_move == side}
    assert len(mine) > 100
    assert not mine & errors("TypeA")


def images(text):
    """The eight rotations and reflections of a board."""
    grid = [text[0:3], text[3:6], text[6:9]]
    boards = set()
    for _ in range(4):
        grid = ["".join(column) for column in zip(*grid[::-1], strict=True)]
        boards |= {Board("".join(grid)), Board("".join(row[::-1] for row in grid))}
    return boards


# The heuristic


def test_h_is_at_most_10_and_reaches_it_four_times():
    """Exactly four unfinished positions have

    H

     = 10, where H/10 looks like a win.
    """
    sizes = {board: abs(big_h(board, "x")) for board in solver.values()}
    assert max(sizes.values()) == 10
    largest = {board for board, size in sizes.items() if size == 10}
    assert len(largest) == 4
    assert largest == images("___oxox_x")
    assert {abs(TYPE_A.heuristic(board, board.to_move)) for board in largest} == {1}


def test_678_quiescent_positions_have_h_at_most_4():
    """Type A evaluates only quiescent states: 678 unfinished ones, all with

    H

     of 4 or less.
    """
    quiescent = [board for board in POSITIONS if TYPE_A.is_quiescent(board)]
    assert len(quiescent) == 678
    assert max(abs(big_h(board, "x")) for board in quiescent) == 4


def test_h_has_two_views():
    """H of one player is minus H of the other, on every board."""
    assert all(big_h(board, "x") == -big_h(board, "o") for board in solver.values())


def cells(notebook, first, last):
    """The names that a notebook of study 3 defines between two lines of its text."""
    text = (COURSE / "study3_type_a" / notebook).read_text("utf-8")
    scope = dict(
        vars(TYPE_A), Counter=Counter, Random=Random, value=solver.value, positions=POSITIONS
    )
    exec(text[text.index(first) : text.index(last)], scope)
    return scope


def test_three_to_one_is_nearly_the_best_ratio():
    """Notebook 03 claims for other weights that 4 to 1 is best and that little changes from 3
    upwards.
    """
    agreement = cells("03_lane_heuristic.py", "kinds = Counter()", "for pair, single")["agreement"]
    by_ratio = {ratio: agreement(ratio, 1) for ratio in range(101)}
    assert by_ratio[0] < 0.5 < by_ratio[1] < by_ratio[2] < by_ratio[3] < 0.9
    assert max(by_ratio, key=by_ratio.get) == 4
    assert by_ratio[4] - min(by_ratio[ratio] for ratio in range(3, 101)) < 0.004


def test_a_heap_saves_comparisons_if_cuts_come_early():
    """The claims of notebook 05 about the heap and `sorted` hold on nine cells and on a cube."""
    scope = cells("05_move_ordering.py", "class CountingNumber", "for moves in (9, 64)")

    def share(taken, moves):
        return scope["comparisons"](scope["by_heap"], taken, moves) / scope["comparisons"](
            lambda items, _: sorted(items), taken, moves
        )

    assert 0.7 < share(1, 9) < 0.8
    assert 0.3 < share(1, 64) < 0.36
    assert 0.95 < share(3, 9) < 1.1  # 1.06 up to Python 3.12, 0.99 from 3.13
    assert share(2, 9) < 1 < share(4, 9)
    assert share(35, 64) < 1 < share(39, 64)  # "from about 37 on"
    assert min(share(9, 9), share(64, 64)) > 1.3


def test_the_leaves_of_a_chess_tree():
    """Notebook 05 claims for 30 moves and depth 8: 656 billion leaves, or 1.62 million."""
    assert f"{30**8 / 1e9:.0f}" == "656"
    assert f"{(2 * 30**4 - 1) / 1e6:.2f}" == "1.62"


def test_priority_5_never_occurs():
    """None of 16,167 moves lowers the mover's own H without winning or blocking."""
    seen = Counter(
        TYPE_A.priority(board, move, board.to_move)
        for board in POSITIONS
        for move in board.legal_moves()
    )
    assert seen == {1: 2_782, 2: 3_100, 3: 9_933, 4: 352}
    assert seen.total() == 16_167


@pytest.mark.parametrize(("after", "expected"), [("xx_", 3), ("x__", 4), ("___", 5)])
def test_priorities_3_to_5_on_a_made_up_game(after, expected):
    """In a one-lane game whose moves may remove marks, all three comparisons occur."""

    class OneLane:
        lanes = ((0, 1, 2),)

        def __init__(self, cells):
            self.cells = cells

        def __getitem__(self, cell):
            return self.cells[cell]

        def after(self, move):
            return OneLane(move)

        def is_terminal(self):
            return False

    assert TYPE_A.priority(OneLane("x__"), after, "x") == expected


@pytest.mark.slow
def test_adding_tenths_changes_counts_and_moves(monkeypatch):
    """Rounding in between changes the ordered search's count in 16 positions and the move in 4."""

    def in_tenths(state, player):
        (p2, p1), (o2, o1) = (
            TYPE_A.lane_counts(state, side) for side in (player, opponent(player))
        )
        return 0.3 * p2 + 0.1 * p1 - 0.3 * o2 - 0.1 * o1

    expected = everywhere("TypeAPlus")
    monkeypatch.setattr(TYPE_A, "heuristic", in_tenths)
    found = {board: AGENTS["TypeAPlus"].search(board) for board in POSITIONS}
    count = {board for board in POSITIONS if found[board].nodes != expected[board].nodes}
    move = {board for board in POSITIONS if found[board].move != expected[board].move}
    assert (len(count), len(move)) == (16, 4)
    midgame = {board for board in POSITIONS if 1 <= 9 - board.text.count(EMPTY) <= 5}
    assert (len(midgame), len(count & midgame), len(move & midgame)) == (2_229, 15, 4)


# Wrong answers


class Variant:
    """Alpha-beta with the mistakes that feedback names, each enabled separately.

    `strict` cuts off only beyond the bound; `hard` returns the bound instead of a value outside the
    window; `window` is the root's; `fresh` gives every child of the root the same window; `last`
    prefers the last of equally good moves.
    """

    def __init__(self, strict=False, hard=False, window=(-inf, inf), fresh=False, last=False):
        self.strict, self.hard, self.window = strict, hard, window
        self.fresh, self.last = fresh, last

    def search(self, state):
        """Return the move, the value and the nodes."""
        with NodeCounter() as nodes:
            value, move = self.value(state, state.to_move, *self.window, root=True)
        return move, value, nodes.visited

    @counted
    def value(self, state, player, alpha, beta, root=False):
        """Value and move, with a sign instead of two branches."""
        if state.is_terminal():
            return state.utility(player), None
        sign = 1 if state.to_move == player else -1
        near, far = (alpha, beta) if sign > 0 else (-beta, -alpha)  # the mover maximizes sign*value
        best, best_move = near if self.hard else -inf, None
        for move in state.legal_moves():
            window = (near, far) if sign > 0 else (-far, -near)
            value = sign * self.value(state.after(move), player, *window)[0]
            if value > best or (self.last and value == best):
                best, best_move = value, move
            if best > far or (best == far and not self.strict):
                break
            if not (self.fresh and root):
                near = max(near, best)
        return sign * best, best_move


@pytest.mark.parametrize(("mistake", "nodes"), [
    ({}, 18_297),
    ({"hard": True}, 18_297),
    ({"strict": True}, 146_120),
    ({"strict": True, "hard": True}, 304_155),
    ({"window": (-1, 1)}, 16_811),
    ({"fresh": True}, 30_710),
])  # fmt: skip
def test_wrong_alpha_beta_has_known_counts(mistake, nodes):
    """Each mistake in alpha-beta gives a different count on the empty board; the value stays 0."""
    _, value, visited = Variant(**mistake).search(EMPTY_BOARD)
    assert (visited, value) == (nodes, 0)


@dataclass(frozen=True)
class Shuffled:
    """A board whose moves have an order drawn from `dice`, as in notebook 02."""

    board: Board
    dice: Random

    def __getattr__(self, name):
        return getattr(self.board, name)

    def legal_moves(self):
        return tuple(sorted(self.board.legal_moves(), key=lambda move: self.dice.random()))

    def after(self, move):
        return Shuffled(self.board.after(move), self.dice)


def test_twelve_shuffles_take_10610_to_17456_nodes():
    """As notebook 02 states, random move orders all visit fewer nodes than 18,297."""
    counts = [
        AGENTS["alpha-beta"].search(Shuffled(EMPTY_BOARD, Random(seed))).nodes for seed in range(12)
    ]
    assert (min(counts), max(counts)) == (10_610, 17_456)
    assert f"{max(counts) / min(counts):.1f}" == "1.6"


def test_the_exponent_is_not_halved():
    """As notebook 02 states, the logarithms of the two counts have the ratio 0.74, and with one or
    two empty cells nothing is saved.
    """
    alpha_beta, minimax = (AGENTS[name].search(EMPTY_BOARD).nodes for name in AGENTS_COMPARED)
    assert f"{log(alpha_beta) / log(minimax):.2f}" == "0.74"
    assert "it is 0.74" in (COURSE / "study2_alpha_beta" / "02_alpha_beta.py").read_text("utf-8")
    for board in POSITIONS:
        if board.text.count("_") <= 2:
            assert len({everywhere(name)[board].nodes for name in AGENTS_COMPARED}) == 1


def test_forgetting_the_root_shows_as_549945():
    """Counting only successors misses one node."""
    agent = AGENTS["minimax"]
    below = sum(agent.search(EMPTY_BOARD.after(move)).nodes for move in EMPTY_BOARD.legal_moves())
    assert below == 549_945


def test_soft_and_hard_bounds_visit_the_same_nodes_everywhere():
    """With `>=` and `<=` it does not matter whether values outside the window are clipped."""
    soft, hard = Variant(), Variant(hard=True)
    for board in POSITIONS:
        expected = everywhere("alpha-beta")[board]
        assert soft.search(board) == expected, board
        assert hard.search(board)[1:] == expected[1:], board


def test_preferring_the_last_best_move_errs_in_836_positions():
    """With a narrowed alpha a later "equally good" move may be worse, while the count is unchanged."""
    agent = Variant(last=True)
    found = {board: agent.search(board) for board in POSITIONS}
    assert sum(found[board][0] not in best_moves(board) for board in POSITIONS) == 836
    assert all(found[board][1:] == everywhere("alpha-beta")[board][1:] for board in POSITIONS)
