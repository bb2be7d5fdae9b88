"""Explorables with the reference's functions and with stubs: a growing tree, a friendly message."""

import importlib.util
from itertools import pairwise
from xml.etree import ElementTree

import pytest

from autograder.workspace import load_answer
from course.checks import load_study
from course.checks.toy_games import NumberTree
from course.notebook import stub_message
from sequence import sketch
from sequence.board.layout import cells_of
from sequence.widget.rays import read_along
from sequence.widget.scores import score_board
from tictactoe import Board, Qubic
from tictactoe.explorables.growth import growing_tree, record_growth
from tictactoe.explorables.weights import weights_on_board

TRAP = Board("x___o___x")
UCT = load_answer("study9").UCT


@pytest.fixture(scope="module")
def growing():
    """A search of the trap position, iteration by iteration."""
    return growing_tree(UCT(60, seed=1), TRAP)


def texts(svg: str) -> list[str]:
    """All text in a picture, which must be well-formed XML."""
    return [part.text for part in ElementTree.fromstring(svg).iter() if part.text]


def test_every_iteration_is_noted():
    """Each adds one node until a final state is reached; the last tree is the one searched."""
    notes = record_growth(UCT(60, seed=1), TRAP, depth=9)
    assert [note.nodes[()].visits for note in notes] == list(range(1, 61))
    assert all(0 <= len(after.nodes) - len(before.nodes) <= 1 for before, after in pairwise(notes))
    assert all(note.path in note.nodes and note.end.is_terminal() for note in notes)
    root = UCT(60, seed=1).search(TRAP)
    assert {
        path[0]: (node.visits, node.total)
        for path, node in notes[-1].nodes.items()
        if len(path) == 1
    } == {move: (child.visits, child.total) for move, child in root.children.items()}


def test_deeper_nodes_are_counted():
    """The drawing depth does not change the number of nodes."""
    deep = record_growth(UCT(60, seed=1), TRAP, depth=9)[-1].nodes
    shallow = record_growth(UCT(60, seed=1), TRAP, depth=2)[-1].nodes
    assert max(map(len, shallow)) == 2
    assert shallow[()].below == len(deep) - 1
    assert all(
        node.below == sum(other[: len(path)] == path for other in deep) - 1
        for path, node in shallow.items()
    )


def test_the_tree_is_drawn_as_it_is(growing):
    """The picture and its description have the visits and means of all nodes."""
    for step in (0, 1, 7, 60):
        growing.go_to(step)
        notes = record_growth(UCT(step, seed=1), TRAP)[-1].nodes if step else {}
        shown = texts(growing.view.svg)
        for path, node in notes.items():
            assert str(node.visits) in shown
            mean = f"{node.total / node.visits:.2f}"
            assert not path or mean in shown
            words = f"{' '.join(map(str, path)) or 'Root'}: {node.visits} visits"
            assert words + f", mean {mean}" * bool(path) in growing.view.alt


def test_an_iteration_is_described(growing):
    """The text has its path, the final state, and the leading move."""
    growing.go_to(0)
    assert growing.view.status.startswith("0 of 60: the root alone.")
    growing.click("next")
    assert growing.view.status == (
        "1 of 60: 2; then a random game: x wins. Move 2 has the most visits so far: 1."
    )
    assert growing.view.svg.count('stroke-dasharray="4 2.5"') == 1  # the new node


def test_a_telephone_shows_the_first_moves(growing):
    """Each first move has a node with the count of its subtree; future ones are pale from the
    beginning.
    """
    growing.go_to(0)
    assert growing.view.compact.count('stroke-dasharray="2 3"') == len(TRAP.legal_moves())
    growing.click("last")
    root = record_growth(UCT(60, seed=1), TRAP)[-1].nodes
    first = {path: node for path, node in root.items() if len(path) == 1}
    shown = texts(growing.view.compact)
    assert growing.view.compact.count("<circle") >= 1 + len(first)
    assert {f"+{node.below}" for node in first.values()} <= set(shown)
    assert 'stroke-dasharray="2 3"' not in growing.view.compact


def test_nothing_is_left_on_the_agent():
    """The agent searches the same way afterwards, also after an error."""
    agent = UCT(9, seed=1)
    record_growth(agent, TRAP)
    assert "backup" not in vars(agent)
    agent.select = lambda *asked: 1 / 0
    with pytest.raises(ZeroDivisionError):
        record_growth(agent, TRAP)
    assert "backup" not in vars(agent)


def test_other_games_and_other_searches():
    """A game without a picture is drawn as text; a search that reports nothing is refused."""
    made = growing_tree(UCT(9, seed=1), NumberTree((0, (1, 1, -1))))
    made.click("last")
    assert texts(made.view.svg)

    class Silent(UCT):
        def search(self, position):
            return None

    with pytest.raises(ValueError, match="without calling self"):
        growing_tree(Silent(9), TRAP)


def stub(name: str):
    """A study's module as students receive it."""
    study = load_study(name)
    spec = importlib.util.spec_from_file_location(f"stub_of_{name}", study.folder / study.module)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def weights(module):
    learner = module.LaneLearner()
    state = Qubic()
    weights_on_board([("untrained", learner.weights)], state, lambda _: learner.move_values(state))


def scores(module):
    position = sketch("o 4,3 4,4")
    score_board(
        position,
        cells_of(position.empty_mask),
        lambda cell: module.play_score(position, "place", cell),
        {},
    )


UNWRITTEN = {
    "study5": (weights, "LaneLearner.move_values, in qlearning.py"),
    "study6": (scores, "play_score, in evaluator.py"),
    "study8": (
        lambda module: read_along(100 * "_", (4, 1), {"right": (0, 1)}, module.one_side, "abcd"),
        "one_side, in sarsa.py",
    ),
    "study9": (lambda module: growing_tree(module.UCT(9), TRAP), "UCT.search, in mcts.py"),
}


@pytest.mark.parametrize("name", UNWRITTEN)
def test_a_stub_gives_one_friendly_line(name):
    """The message names the unwritten function that the cell needs, with its file."""
    show, words = UNWRITTEN[name]
    with pytest.raises(NotImplementedError) as raised:
        show(stub(name))
    assert stub_message(raised.value).startswith(f"Not written yet: {words}")
