"""Study 9: results of random games and trees, and the numbers in its notebooks."""

from math import comb, log, sqrt
from statistics import mean
from types import SimpleNamespace

import pytest

from autograder.workspace import load_answer
from course.checks.toy_games import NumberTree
from course.published import mcts_strength
from sequence import sketch
from sequence.agents.beliefs import unseen_cards
from tictactoe import Board
from tictactoe.solver import value, values

pytestmark = pytest.mark.content("study9")
MCTS = load_answer("study9")
TRAP = Board("x___o___x")
CORNERS, EDGES = (2, 6), (1, 3, 5, 7)


def fooled(game, iterations, searches=10):
    """The share of searches that choose the losing move 1."""
    return mean(MCTS.UCT(iterations, seed=seed).choose(game) == 1 for seed in range(searches))


def refuted(width):
    """A draw, or a move with one refutation among this many replies."""
    return NumberTree((0, (*(width - 1) * (1,), -1)))


def test_the_trap_is_one():
    """According to the exact values, corners lose and edges draw."""
    assert {cell: value(TRAP.after(cell), "o") for cell in TRAP.legal_moves()} == {
        **dict.fromkeys(CORNERS, -1),
        **dict.fromkeys(EDGES, 0),
    }


def test_the_tree_that_is_watched_changes_its_mind():
    """With the notebook's seed, a corner leads after 100 iterations and an edge after 300."""
    for iterations, leading in ((100, CORNERS), (300, EDGES)):
        root = MCTS.UCT(iterations, seed=1).search(TRAP)
        assert max(root.rows(), key=lambda row: row.visits).move in leading


def at_random(state):
    """The exact expected value of a random game from here for o."""
    if state.is_terminal():
        return MCTS.reward(state, "o")
    return mean(at_random(state.after(move)) for move in state.legal_moves())


def test_flat_monte_carlo_never_sees_the_trap():
    """In random games, the losing corners have a higher mean than the edges."""
    worth = {cell: at_random(TRAP.after(cell)) for cell in TRAP.legal_moves()}
    assert min(worth[cell] for cell in CORNERS) > max(worth[cell] for cell in EDGES)
    for row in MCTS.FlatMonteCarlo(1000, seed=1).search(TRAP).rows():
        assert row.mean == pytest.approx(worth[row.move], abs=0.05)


def test_one_reply_of_five_refutes_a_corner():
    """As the notebook states, x wins with exactly one reply."""
    after = TRAP.after(2)
    assert [reply for reply in after.legal_moves() if value(after.after(reply), "x") == 1] == [6]
    assert len(after.legal_moves()) == 5


def test_uct_sees_the_trap():
    """With 500 iterations it plays an edge for any seed."""
    assert all(MCTS.UCT(500, seed=seed).choose(TRAP) in EDGES for seed in range(10))


def test_the_price_of_not_knowing():
    """Of the slider's values, 0.5 is wrong least often, and 2 no less often than 10."""
    wrong = {
        c: sum(
            MCTS.most_visited(MCTS.UCT(150, c, seed).search(TRAP).rows()) in CORNERS
            for seed in range(30)
        )
        for c in (0.0, 0.1, 0.5, 1.0, 2.0, 10.0)
    }
    assert wrong[0.5] == min(wrong.values()) < wrong[0.1]
    assert wrong[2.0] >= wrong[10.0] > wrong[1.0] > wrong[0.5]


def test_mistakes_in_sixty_positions():
    """The trap is not among them. With more than ten games the tree makes fewer mistakes, and with
    300 neither agent makes any.
    """
    every = sorted(
        (board for board in values() if not board.is_terminal()), key=lambda board: board.text
    )
    some = every[:: len(every) // 60][:60]
    assert TRAP not in some

    def mistakes(choose):
        return sum(
            value(board.after(choose(board)), board.to_move) < value(board, board.to_move)
            for board in some
        )

    found = {
        games: (
            mistakes(
                lambda board, games=games: MCTS.FlatMonteCarlo(
                    max(1, games // len(board.legal_moves())), seed=1
                ).choose(board)
            ),
            mistakes(lambda board, games=games: MCTS.UCT(games, seed=1).choose(board)),
        )
        for games in (30, 100, 300)
    }
    assert all(tree < flat for flat, tree in (found[30], found[100]))
    assert found[300] == (0, 0)


def test_the_machine_that_is_least_known_comes_next():
    """In the worked example the values are 1.16, 1.06 and 1.74, with ln 22 = 3.09."""
    assert round(log(22), 2) == 3.09
    assert [
        round(MCTS.ucb(average, visits, 22, 1.0), 2)
        for average, visits in ((0.6, 10), (0.5, 10), (0.5, 2))
    ] == [1.16, 1.06, 1.74]


def test_the_original_constant():
    """With c = sqrt(2) it is the UCB1 of Auer, Cesa-Bianchi and Fischer."""
    assert MCTS.ucb(0.5, 4, 20, sqrt(2)) == pytest.approx(0.5 + sqrt(2 * log(20) / 4))


def test_every_iteration_adds_a_node():
    """The tree has one node per iteration and the root, until a final state is reached."""

    def size(node):
        return 1 + sum(map(size, node.children.values()))

    assert size(MCTS.UCT(40, seed=1).search(Board())) == 41


def test_visits_and_totals_fit_together():
    """A node's visits are its children's plus one; totals are between 0 and the number of visits."""

    def look(node):
        if node.parent is not None and node.children:
            assert node.visits == 1 + sum(child.visits for child in node.children.values())
            assert 0 <= node.total <= node.visits
        for child in node.children.values():
            look(child)

    root = MCTS.UCT(300, seed=2).search(Board())
    assert root.visits == sum(child.visits for child in root.children.values()) == 300
    look(root)


@pytest.mark.parametrize(("width", "few", "enough"), [(8, 50, 60), (16, 160, 190), (25, 360, 400)])
def test_a_wider_trap_takes_longer(width, few, enough):
    """The table is in the model answer to `how-fooled`."""
    assert fooled(refuted(width), few, 20) >= 0.9
    assert fooled(refuted(width), enough, 20) <= 0.1


@pytest.mark.parametrize(
    ("c", "differ", "right"), [(0.2, 14, [85, 86]), (1.0, 11, [73, 71]), (3.0, 14, [63, 64])]
)
def test_the_rules_differ_now_and_then(c, differ, right):
    """According to the model answer to `visits-or-mean`, both rules are correct equally often in
    the trap.
    """
    tables = [MCTS.UCT(100, c, seed).search(TRAP).rows() for seed in range(100)]
    assert sum(MCTS.best_mean(rows) != MCTS.most_visited(rows) for rows in tables) == differ
    assert right == [
        sum(rule(rows) % 2 for rows in tables) for rule in (MCTS.most_visited, MCTS.best_mean)
    ]  # edges have odd numbers


def test_hidden_cards_of_the_notebooks_position():
    """Six of 104 cards are visible, so "some ninety" cards remain to be dealt in any order."""
    position = sketch("x 4,2 4,3 4,4 / o 6,3 6,4 6,5 / hand 4h qs 9c / row ah 9s qh")
    assert len(unseen_cards(position)) == 98
    assert comb(98, 6) > 10**9


class Coin:
    """The coin under a cup in notebook 18, with a safe move worth `sure`."""

    to_move = "x"

    def __init__(self, face, sure, told=()):
        self.face, self.sure, self.told = face, sure, told

    def legal_moves(self):
        """Play on or take the safe value; then guess."""
        if self.is_terminal():
            return ()
        return ("heads", "tails") if self.told else ("play on", "take half")

    def after(self, move):
        """The state after one more move."""
        return Coin(self.face, self.sure, (*self.told, move))

    def is_terminal(self):
        """Whether the safe move or a guess has been made."""
        return self.told[:1] == ("take half",) or len(self.told) == 2

    def utility(self, player):
        """The utility that gives the reward 1, -0.1 or the safe value."""
        if len(self.told) == 1:
            return 2 * self.sure - 1
        return 1 if self.told[1] == self.face else -1.2


def under_the_cup(agent, sure):
    """The agent, in worlds where the coin shows heads or tails."""
    agent.world = lambda position: Coin(agent.rng.choice(("heads", "tails")), sure)
    return agent.choose(None)


@pytest.mark.parametrize(
    ("sure", "ensemble", "one_tree"),
    [
        (0.4, "play on", "play on"),
        (0.5, "play on", "take half"),
        (0.8, "play on", "take half"),
        (0.9, "take half", "take half"),
    ],
)
def test_strategy_fusion(sure, ensemble, one_tree):
    """Trees that know the coin play on for a safe value up to 0.8; one tree for both worlds, up to
    0.45.
    """
    assert under_the_cup(MCTS.EnsembleUCT(20, 50, seed=1), sure) == ensemble
    assert under_the_cup(MCTS.ISUCT(1000, seed=1), sure) == one_tree


def test_availability_of_the_notebooks_table():
    """In the worlds {A, B}, {A, B}, {B, C}, {B, C}, A has been available 2 times, B 3 and C 2."""

    class World:
        def __init__(self, moves, told=()):
            self.moves, self.told, self.to_move = moves, told, "x"

        def legal_moves(self):
            return () if self.told else self.moves

        def after(self, move):
            return World(self.moves, (move,))

        def is_terminal(self):
            return bool(self.told)

        def utility(self, player):
            return 0

    class First(MCTS.ISUCT):
        """Tries the first untried move."""

        def reset(self, seed):
            self.rng = SimpleNamespace(choice=lambda moves: moves[0])
            self.worlds = iter(("AB", "AB", "BC", "BC"))

        def world(self, position):
            return World(next(self.worlds))

    root = First(4).search(None)
    assert {move: child.available for move, child in root.children.items()} == {
        "A": 2,
        "B": 3,
        "C": 2,
    }


def test_what_the_table_of_games_says():
    """As the notebook and the model answer state, the ranking matters more than the leaf value, and
    without a search it is better than all six with ten iterations.
    """
    table = mcts_strength()
    assert all(entry.low <= entry.score <= entry.high for entry in table)
    ten = {
        (entry.leaf, entry.width): entry for entry in table if entry.iterations == 10 and entry.leaf
    }
    assert len(ten) == 6
    assert max(entry.high for (_, width), entry in ten.items() if width is None) < min(
        entry.low for (_, width), entry in ten.items() if width == 5
    )
    alone = next(entry for entry in table if entry.agent == "quick player")
    given = next(entry for entry in table if entry.agent == "ISMCTS")
    assert alone.low > 0.5
    assert alone.score > max(entry.score for entry in ten.values())
    assert alone.low > ten["judged", 5].high - 0.05
    assert alone.low < given.score < alone.high
    assert ten["random", 5].high < ten["quick", 5].low
