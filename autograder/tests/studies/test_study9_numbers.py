"""The figures of study 9: what random games and trees find, and what its notebooks say of it."""

from math import comb, log, sqrt
from statistics import mean
from types import SimpleNamespace

import pytest

from autograder.workspace import load_answer
from course.probes.made_up import NumberTree
from course.recorded import mcts_strength
from sequence import sketch
from sequence.agents.beliefs import unseen_cards
from tictactoe import Board
from tictactoe.solver import value, values

pytestmark = pytest.mark.content("study9")
MCTS = load_answer("study9")
TRAP = Board("x___o___x")
CORNERS, EDGES = (2, 6), (1, 3, 5, 7)


def fooled(game, iterations, searches=10):
    """The share of searches that walk into move 1."""
    return mean(MCTS.UCT(iterations, seed=seed).choose(game) == 1 for seed in range(searches))


def refuted(width):
    """A draw, or a move with one refutation among so many replies."""
    return NumberTree((0, (*(width - 1) * (1,), -1)))


def test_the_trap_is_one():
    """Corners lose and edges draw, by the exact values."""
    assert {cell: value(TRAP.after(cell), "o") for cell in TRAP.legal_moves()} == {
        **dict.fromkeys(CORNERS, -1),
        **dict.fromkeys(EDGES, 0),
    }


def test_the_tree_that_is_watched_changes_its_mind():
    """After 100 iterations of the notebook's seed a corner leads, after 300 an edge."""
    for iterations, leading in ((100, CORNERS), (300, EDGES)):
        root = MCTS.UCT(iterations, seed=1).search(TRAP)
        assert max(root.rows(), key=lambda row: row.visits).move in leading


def at_random(state):
    """What a random game from here is worth to o on average, exactly."""
    if state.is_terminal():
        return MCTS.reward(state, "o")
    return mean(at_random(state.after(move)) for move in state.legal_moves())


def test_flat_monte_carlo_never_sees_the_trap():
    """If both sides go on at random, the losing corners are worth more than the edges."""
    worth = {cell: at_random(TRAP.after(cell)) for cell in TRAP.legal_moves()}
    assert min(worth[cell] for cell in CORNERS) > max(worth[cell] for cell in EDGES)
    for row in MCTS.FlatMonteCarlo(1000, seed=1).search(TRAP).rows():
        assert row.mean == pytest.approx(worth[row.move], abs=0.05)


def test_one_reply_of_five_refutes_a_corner():
    """As the notebook says: x wins by one reply, and only by that."""
    after = TRAP.after(2)
    assert [reply for reply in after.legal_moves() if value(after.after(reply), "x") == 1] == [6]
    assert len(after.legal_moves()) == 5


def test_uct_sees_the_trap():
    """With 500 iterations it plays an edge, whatever the seed."""
    assert all(MCTS.UCT(500, seed=seed).choose(TRAP) in EDGES for seed in range(10))


def test_the_price_of_not_knowing():
    """Of the knob's values 0.5 is wrong least often, and 2 no less often than 10."""
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
    """The trap is not among them; with more than ten games the tree makes fewer mistakes, and with
    300 neither agent makes any."""
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
    """The example by hand: 1.16, 1.06 and 1.74, with ln 22 = 3.09."""
    assert round(log(22), 2) == 3.09
    assert [
        round(MCTS.ucb(average, visits, 22, 1.0), 2)
        for average, visits in ((0.6, 10), (0.5, 10), (0.5, 2))
    ] == [1.16, 1.06, 1.74]


def test_the_original_constant():
    """With c = sqrt(2) it is the UCB1 of Auer, Cesa-Bianchi and Fischer."""
    assert MCTS.ucb(0.5, 4, 20, sqrt(2)) == pytest.approx(0.5 + sqrt(2 * log(20) / 4))


def test_every_iteration_adds_a_node():
    """One more than the iterations, the root, as long as no end of a game is met."""

    def size(node):
        return 1 + sum(map(size, node.children.values()))

    assert size(MCTS.UCT(40, seed=1).search(Board())) == 41


def test_visits_and_totals_fit_together():
    """A node has the visits of its children and one of its own; totals lie between 0 and visits."""

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
    """The table of the model answer to `how-fooled`."""
    assert fooled(refuted(width), few, 20) >= 0.9
    assert fooled(refuted(width), enough, 20) <= 0.1


def test_the_rules_differ_now_and_then():
    """The model answer to `visits-or-mean`: in 20 of 100 searches with 20 iterations."""
    board = Board("x________")
    tables = [MCTS.UCT(20, 1.0, seed).search(board).rows() for seed in range(100)]
    assert sum(MCTS.best_mean(rows) != MCTS.most_visited(rows) for rows in tables) == 20
    assert [
        sum(rule(rows) == 4 for rows in tables) for rule in (MCTS.most_visited, MCTS.best_mean)
    ] == [25, 23]


def test_hidden_cards_of_the_notebooks_position():
    """Of 104 cards six are seen; "some ninety" are left to be dealt in any order."""
    position = sketch("x 4,2 4,3 4,4 / o 6,3 6,4 6,5 / hand 4h qs 9c / row ah 9s qh")
    assert len(unseen_cards(position)) == 98
    assert comb(98, 6) > 10**9


class Coin:
    """The coin under a cup of notebook 18, with the sure move worth `sure`."""

    to_move = "x"

    def __init__(self, face, sure, told=()):
        self.face, self.sure, self.told = face, sure, told

    def legal_moves(self):
        """Play on or take the sure part; then guess."""
        if self.is_terminal():
            return ()
        return ("heads", "tails") if self.told else ("play on", "take half")

    def after(self, move):
        """One move more."""
        return Coin(self.face, self.sure, (*self.told, move))

    def is_terminal(self):
        """After the sure move, and after a guess."""
        return self.told[:1] == ("take half",) or len(self.told) == 2

    def utility(self, player):
        """So that a reward is 1, -0.1 or the sure part."""
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
    """Trees that know the coin play on up to a sure 0.8; one tree for both worlds up to 0.45."""
    assert under_the_cup(MCTS.EnsembleUCT(20, 50, seed=1), sure) == ensemble
    assert under_the_cup(MCTS.ISUCT(1000, seed=1), sure) == one_tree


def test_availability_of_the_notebooks_table():
    """Worlds {A, B}, {A, B}, {B, C}, {B, C}: A has been available 2 times, B 3 and C 2."""

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
    """The ranking matters more than the leaf, and without a search it does better than all six with
    ten iterations: as the notebook and the model answer say."""
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
