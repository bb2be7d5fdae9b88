"""Study 5: numbers of the homework, figures in its notebook, and invariants of all positions."""

import itertools
import random
import re
from collections import Counter
from math import comb
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.studies.hidden_cases import hidden_study
from autograder.workspace import load_answer
from course.checks import load_study
from course.checks.marking.comparison import is_right
from course.checks.running.queries import reply
from course.greedy_agent import GreedyAgent
from course.study5_qubic._check.questions import KINDS
from tictactoe import Board, Qubic, Random, WinOrBlock, match, opponent
from tictactoe.games.qubic import CELLS, LANES, mask_of

pytestmark = pytest.mark.content("study5")
ROOT = Path(__file__).parents[4]
STUDY = load_answer("study5")
TYPE_A = load_answer("study3")
WAYS = STUDY.symmetries()
WEIGHTS = st.lists(st.floats(-1, 1), min_size=len(KINDS), max_size=len(KINDS))


def position(plan):
    """The last unfinished state when the cells are played in the order of a permutation."""
    cells, most = plan
    state = Qubic()
    for cell in cells[:most]:
        if state.after(cell).is_terminal():
            break
        state = state.after(cell)
    return state


POSITIONS = st.tuples(st.permutations(range(CELLS)), st.integers(0, 50)).map(position)


def learner_with(weights, **options):
    """A lane learner with these weights, in the order of KINDS."""
    learner = STUDY.LaneLearner(seed=0, **options)
    learner.weights = dict(zip(KINDS, weights, strict=True))
    return learner


# The numbers of the homework


def test_the_constants_are_those_of_the_homework():
    """Rewards, initial value, epsilon, alpha and gamma."""
    assert (STUDY.WIN, STUDY.DRAW, STUDY.LOSS, STUDY.FILLED) == (1, 0.5, -1, -5)
    assert (STUDY.INITIAL, STUDY.EPSILON, STUDY.ALPHA, STUDY.GAMMA) == (1, 0.2, 0.3, 0.9)
    player = STUDY.QPlayer()
    assert (player.epsilon, player.alpha, player.gamma) == (0.2, 0.3, 0.9)
    assert STUDY.KINDS == KINDS


def test_the_updates_by_hand():
    """The notebook's two examples: 0.5 becomes 0.566, and 0.65 after a win."""
    player, state, following = STUDY.QPlayer(), Qubic(), Qubic.from_moves([0, 21])
    for move in following.legal_moves():
        player.table[following, move] = 0.8
    player.table[state, 0] = player.table[state, 1] = 0.5
    player.update(state, 0, 0, following)
    assert player.q(state, 0) == pytest.approx(0.566)
    player.update(state, 1, 1, Qubic.from_moves([0, 1, 21, 2, 42, 3, 63]))
    assert player.q(state, 1) == pytest.approx(0.65)


def test_the_penalty_for_a_filled_cell_is_never_met_in_training():
    """The agent chooses among empty cells, so no value falls below that of a loss."""
    players = {"x": STUDY.QPlayer(seed=1), "o": STUDY.QPlayer(seed=2)}
    STUDY.train(players, 30, Qubic())
    values = [value for player in players.values() for value in player.table.values()]
    assert -1 <= min(values) < max(values) <= 1


def test_training_on_the_small_board_reaches_what_the_formula_says():
    """On tic-tac-toe, 4,000 games teach x to win immediately if possible, in every state it has
    met.
    """
    players = {"x": STUDY.QPlayer(seed=1, epsilon=1), "o": STUDY.QPlayer(seed=2, epsilon=1)}
    STUDY.train(players, 4_000, Board())
    wins = [
        (state, move) for (state, move) in players["x"].table if state.after(move).winner == "x"
    ]
    assert len(wins) > 500
    assert all(players["x"].q(state, move) == 1 for state, move in wins)


def listed_episode(players, state):
    """A game by the homework's code: immediate updates, and a future value after the end."""
    last = {}
    while not state.is_terminal():
        name, rival = state.to_move, opponent(state.to_move)
        move = players[name].choose(state)
        following, own, other = STUDY.step(state, move)
        last[name] = (state, move)
        for learner, reward in ((name, own), *([(rival, other)] if other else [])):
            player, (before, made) = players[learner], last[learner]
            future = max(
                (
                    player.q(following, cell)
                    for cell in range(len(following))
                    if following[cell] == "_"
                ),
                default=0,
            )
            old = player.q(before, made)
            player.table[before, made] = old + player.alpha * (reward + player.gamma * future - old)
        state = following


@pytest.mark.slow
@pytest.mark.parametrize(
    ("episode", "least", "most", "largest"),
    [(STUDY.play_episode, 0.92, 0.98, 1), (listed_episode, 0.83, 0.90, 1.9)],
)
def test_the_formula_beats_the_listing_on_the_small_board(episode, least, most, largest):
    """After 20,000 games of tic-tac-toe the scores are about 0.95 and 0.87, and a win is worth 1,
    not 1.9.
    """
    players = {"x": STUDY.QPlayer(seed=1), "o": STUDY.QPlayer(seed=11)}
    for _ in range(20_000):
        episode(players, Board())
    agent = GreedyAgent(STUDY.greedy_moves, players)
    assert least < match(agent, Random(), 1_000, seed=1).score < most
    assert max(players["x"].table.values()) == pytest.approx(largest, abs=0.05)


def test_the_listing_makes_a_losing_move_worth_0_3():
    """As notebook 07 states, that move is updated twice in each game, and the winning one once."""

    class Scripted(STUDY.QPlayer):
        """Plays the first of its moves that is legal."""

        def choose(self, state):
            return next(move for move in self.moves if move in state.legal_moves())

    players = {"x": Scripted(), "o": Scripted()}
    players["x"].moves, players["o"].moves = (0, 1, 8), (3, 4, 5)
    for _ in range(200):
        listed_episode(players, Board())
    assert players["x"].q(Board("xx_oo____"), 8) == pytest.approx(0.31, abs=0.005)
    assert players["o"].q(Board("xx_oo___x"), 5) == pytest.approx(1.9)


# The table on the cube, with its control experiments


def test_an_untrained_table_beats_random_by_the_order_of_the_cells():
    """If ties go to the lowest cell, almost no game is lost, with or without training."""
    untrained = {"x": STUDY.QPlayer(), "o": STUDY.QPlayer()}
    agent = GreedyAgent(STUDY.greedy_moves, untrained, first=True)
    assert match(agent, Random(), 300, seed=1, start=Qubic()).score > 0.99
    assert 0.3 < match(agent, WinOrBlock(), 200, seed=1, start=Qubic()).score < 0.55


def test_with_random_ties_the_table_does_not_learn():
    """After 300 games the interval of the score contains 0.5, and almost no new state is known."""
    players = {"x": STUDY.QPlayer(seed=1), "o": STUDY.QPlayer(seed=2)}
    STUDY.train(players, 300, Qubic())
    agent = GreedyAgent(STUDY.greedy_moves, players)
    low, high = match(agent, Random(), 400, seed=1, start=Qubic()).interval
    assert low < 0.5 < high
    entries = sum(len(player.table) for player in players.values())
    assert 32 < entries / 300 < 37
    known = {state for player in players.values() for state, _ in player.table}
    chance, met = random.Random(3), 0
    for _ in range(200):
        state = Qubic()
        for _ in range(5):
            state = state.after(chance.choice(state.legal_moves()))
        met += state in known
    assert met == 0


def test_random_opponents_leave_nothing_of_a_random_player():
    """This is the baseline: a random player scores almost nothing against WinOrBlock."""
    assert match(Random(), WinOrBlock(), 200, seed=1, start=Qubic()).score < 0.02


def test_the_numbers_of_positions():
    """The rounded numbers in the model answers come from the notebook's formula."""
    about = {marks: comb(CELLS, marks) * comb(marks, marks // 2) for marks in (4, 8, 16)}
    assert (f"{about[4]:.1e}", f"{about[8]:.0e}", f"{about[16]:.0e}") == (
        "3.8e+06",
        "3e+11",
        "6e+18",
    )
    assert round(about[4] / 192, -3) == 20_000
    assert f"{about[8] / 192:.1e}" == "1.6e+09"


# Lanes


@given(POSITIONS)
def test_kinds_agree_with_the_lane_counts_of_study_3(state):
    """Study 3's function counts the same lanes with one and with two marks on the cube."""
    for player in "xo":
        kinds = Counter(STUDY.lane_kinds(state, player))
        assert TYPE_A.lane_counts(state, player) == (kinds[2, 0], kinds[1, 0])
        assert sum(kinds.values()) == len(LANES)
        assert kinds == Counter(
            (own, rival) for rival, own in STUDY.lane_kinds(state, opponent(player))
        )


@given(POSITIONS, WEIGHTS)
@settings(deadline=None, max_examples=30)
def test_the_short_cut_gives_the_value_of_every_afterstate(state, weights):
    """`move_values` agrees with `value` of the afterstate for every move."""
    learner = learner_with(weights)
    for move, value in learner.move_values(state).items():
        assert value == pytest.approx(learner.value(state.after(move), state.to_move), abs=1e-12)


@given(POSITIONS, WEIGHTS, st.integers(0, 63))
@settings(deadline=None, max_examples=50)
def test_an_update_moves_the_value_towards_its_target(state, weights, number):
    """A small step never increases the error of the afterstate being updated."""
    learner = learner_with(weights, alpha=1e-4)
    move = state.legal_moves()[number % len(state.legal_moves())]
    after, player = state.after(move), state.to_move
    target, before = learner.target(after, player), learner.value(after, player)
    learner.update(state, move)
    assert abs(target - learner.value(after, player)) <= abs(target - before) + 1e-12
    assert -1 <= target <= 1


def test_seven_hundred_games_are_enough_to_beat_the_yardstick():
    """With a fixed seed the learner beats WinOrBlock in most games, and has learned what wins."""
    learner = STUDY.LaneLearner(seed=1)
    STUDY.train_lanes(learner, 700, Qubic())
    agent = GreedyAgent(STUDY.greedy_moves, {"x": learner, "o": learner})
    assert match(agent, WinOrBlock(), 60, seed=1, start=Qubic()).score > 0.6
    heaviest = sorted(learner.weights, key=lambda kind: abs(learner.weights[kind]))[-3:]
    assert heaviest == [(3, 0), (0, 3), (4, 0)]
    assert learner.weights[0, 3] < 0 < learner.weights[3, 0]


def test_the_weights_that_are_followed_in_the_notebook():
    """The weight of four own marks grows steadily; from about 500 games on, cell 3 is best and
    stays so. After 500 games alpha has halved.
    """
    learner, snapshots, alphas = STUDY.LaneLearner(seed=1), [], []
    threatened = Qubic.from_moves([21, 0, 22, 1, 42, 2])

    def note(done):
        alphas.append(learner.alpha)
        if done % 20 == 0:
            values = learner.move_values(threatened)
            snapshots.append((done, learner.weights[4, 0], max(values, key=values.get)))

    STUDY.train_lanes(learner, 800, Qubic(), note)
    fours = [weight for _, weight, _ in snapshots]
    assert fours == sorted(fours)
    since = max(done for done, _, best in snapshots if best != 3)
    assert 400 < since < 600
    assert alphas[500] == pytest.approx(alphas[0] / 2)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_ten_thousand_games_reach_the_required_score(seed):
    """Each of three seeds scores at least 0.85 against WinOrBlock after 10,000 games."""
    learner = STUDY.LaneLearner(seed)
    STUDY.train_lanes(learner, 10_000, Qubic())
    agent = GreedyAgent(STUDY.greedy_moves, {"x": learner, "o": learner})
    assert match(agent, WinOrBlock(), 400, seed=1, start=Qubic()).score >= 0.85


# Symmetry


def test_the_symmetries_are_a_group_of_192():
    """They are distinct, preserve lanes, include the identity and are closed under composition."""
    ways, lanes = set(WAYS), set(map(frozenset, LANES))
    assert len(WAYS) == len(ways) == 192
    assert tuple(range(CELLS)) in ways
    for way in WAYS:
        assert {frozenset(way[cell] for cell in lane) for lane in LANES} == lanes
    for first, second in itertools.product(WAYS[::5], WAYS):
        assert tuple(second[cell] for cell in first) in ways


@given(POSITIONS, st.integers(0, 191))
@settings(deadline=None, max_examples=30)
def test_the_canonical_state_is_the_same_for_all_images(state, number):
    """An image has the same representative, value and lanes; the representative is its own."""
    way = WAYS[number]
    image = Qubic.from_masks(
        *(mask_of(way[cell] for cell in range(CELLS) if state[cell] == player) for player in "xo")
    )
    representative = STUDY.canonical(state, WAYS)
    assert STUDY.canonical(image, WAYS) == representative
    assert STUDY.canonical(representative, WAYS) == representative
    for player in "xo":
        assert Counter(STUDY.lane_kinds(image, player)) == Counter(STUDY.lane_kinds(state, player))


def test_there_are_two_kinds_of_first_move():
    """There are 16 cells with seven lanes, and 48 with four."""
    kinds = Counter(STUDY.canonical(Qubic().after(cell), WAYS) for cell in range(CELLS))
    assert sorted(kinds.values()) == [16, 48]


# The one statistical check


CASES = [
    case
    for study in (load_study("study5"), hidden_study("study5"))
    for case in study.checks["epsilon_greedy"].cases
]


def draws_in_another_order(values, epsilon, chance):
    """A correct solution that draws each random number from another list, in another order."""
    any_move, best = (
        chance.choice(sorted(moves, reverse=True)) for moves in (values, STUDY.greedy_moves(values))
    )
    return best if chance.random() < 1 - epsilon else any_move


@pytest.mark.parametrize("case", CASES)
def test_right_answers_pass_the_statistical_check(case):
    """Another correct answer draws other moves without losing points."""
    replies = [
        reply(
            SimpleNamespace(greedy_moves=STUDY.greedy_moves, epsilon_greedy=drawing),
            "epsilon_greedy",
            case,
        )
        for drawing in (STUDY.epsilon_greedy, draws_in_another_order)
    ]
    several = sum(map(bool, replies[0]["drawn"])) > 1
    assert (replies[0]["drawn"] != replies[1]["drawn"]) == several
    for aspect in ("greedy", "drawn", "share"):
        assert is_right("epsilon_greedy", *replies, aspect)


@pytest.mark.slow
def test_what_the_notebook_says_of_searching():
    """The scores of its three matches come from ten times as many games as its cell plays."""
    text = (ROOT / "course/study5_qubic/08_lane_weights.py").read_text("utf-8")
    cell = text[text.index("class TwoPlies:") :]
    trained, found = STUDY.LaneLearner(1), []
    STUDY.train_lanes(trained, 1000, Qubic())
    names = {
        **vars(STUDY),
        "trained": trained,
        "GreedyAgent": GreedyAgent,
        "print": lambda line: None,
        "Progress": lambda *_: SimpleNamespace(update=lambda: None),
        "match": lambda *agents, games, **how: found.append(
            match(*agents, games=10 * games, **how)
        ),
    }
    exec(cell[: cell.index("# %% [markdown]")], names)
    said = re.findall(
        r"(0\.\d\d) \((0\.\d\d) to (0\.\d\d)\)",
        text[text.index("Forty games leave") :].replace("\n#", ""),
    )
    assert said[:3] == [
        tuple(f"{share:.2f}" for share in (each.score, *each.interval)) for each in found
    ]
    assert {each.games for each in found} == {400}
