"""Numbers in the texts of the variants of studies 2 and 9."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import log
from random import Random
from types import ModuleType

import pytest

from autograder.release.own_course.variants import _kit_file, answer_to, read_variants
from course.checks import load_study
from course.checks.toy_games import NumberTree
from tictactoe import Board, Trace
from tictactoe.nodes import Visit
from tictactoe.solver import value, values

BEYOND, LAST = {"cut": "beyond the bound"}, {"tie": "last"}
EMPTY = Board()
MIRRORED = Board("oox__x_xo")
TRAP = Board("x___o___x")
UNFINISHED = [board for board in values() if not board.is_terminal()]
LAST_OF_EQUALS = ("if value > best:", "if value >= best:")


def variant_of(name: str, file: str, values: Mapping[str, str]) -> str:
    """The text of a file of a study in a variant, without line breaks."""
    study = load_study(name)
    table = read_variants(study)
    text = table.apply(file, _kit_file(study, table, file).read_text("utf-8"), values)
    return " ".join(re.sub(r"(?m)^#( |$)", "", text).split())


def module_of(name: str, values: Mapping[str, str], edits=()) -> ModuleType:
    """The reference answer to a variant, as a module, after these edits."""
    study = load_study(name)
    text = answer_to(study, read_variants(study), values)
    for old, new in edits:
        assert text.count(old) == 1
        text = text.replace(old, new)
    module = ModuleType(name)
    exec(compile(text, name, "exec"), module.__dict__)
    return module


def beyond(*edits: tuple[str, str]):
    """A search that cuts only beyond alpha and beta."""
    return module_of("study2", BEYOND, edits).AlphaBeta()


def mistake(name: str) -> list[tuple[str, str]]:
    """The edits of a mutant of the variant of study 2."""
    study = load_study("study2")
    table = read_variants(study)
    text = table.apply("mutants.toml", _kit_file(study, table, "mutants.toml").read_text(), BEYOND)
    (entry,) = (each for each in tomllib.loads(text)["mutant"] if each["name"] == name)
    return [(edit["old"].lstrip("\n"), edit["new"].lstrip("\n")) for edit in entry["edit"]]


def wrong_moves(agent) -> int:
    """The number of unfinished boards in which an agent plays a move that is not among the best."""
    return sum(
        value(board.after(agent.search(board).move), board.to_move) < value(board, board.to_move)
        for board in UNFINISHED
    )


@pytest.fixture(scope="module")
def notebook() -> str:
    """Notebook 2 in the variant."""
    return variant_of("study2", "02_alpha_beta.py", BEYOND)


def test_counts_beyond_the_bound(notebook):
    """The counts of correct searches are those in notebook 2."""
    search = beyond().search
    for board, text in (
        (EMPTY, "but visits only {:,}."),
        (EMPTY, "The first should be {:,}, the second"),
        (Board("x________"), "the second {:,}."),
        (Board("___xxoo__"), "A correct search visits {} nodes here."),
    ):
        assert text.format(search(board).nodes) in notebook
    assert search(MIRRORED).nodes == 14
    assert "visits fourteen nodes instead of ten." in notebook
    assert search(Board("xoox__ox_")).nodes == 10
    assert search(NumberTree(((5, 9, 6), (3, 8, 7), (12, 4, 1)))).nodes == 10
    tree = NumberTree(((3, 8, 7), (5, 9, 6), (12, 4, 1)))
    assert beyond().value(tree, "x", -1, 1) == (3, 0)
    whole, inside = ("-inf, inf)", "-1, 1)")
    assert beyond((f"state.to_move, {whole}", f"state.to_move, {inside}")).search(EMPTY).nodes == (
        search(EMPTY).nodes
    )


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("root_not_counted", "The root was not counted."),
        ("no_cut", "Nothing was cut at all."),
        ("fail_hard", "A node returned alpha or beta instead of the best value"),
        ("fresh_window_for_root_children", "Every move at the root was searched with a fresh"),
        ("cut_at_equality", "The search also cuts when the value equals alpha or beta."),
    ],
)
def test_wrong_counts_beyond_the_bound(notebook, name, sentence):
    """The table in notebook 2 lists the counts of the variant's known mistakes."""
    nodes = beyond(*mistake(name)).search(EMPTY).nodes
    assert f"| {nodes:,} | {sentence}" in notebook


def cuts(node: Visit, *path: int) -> Iterator[tuple[tuple[int, ...], Visit]]:
    """The nodes of a search in which a move was cut, with the moves that lead to them."""
    if not node.state.is_terminal() and len(node.children) < len(node.state.legal_moves()):
        yield path, node
    for child in node.children:
        yield from cuts(child, *path, child.move)


def test_a_max_node_is_cut_in_the_larger_position(notebook):
    """Notebook 2 asks for a cut at a MAX node, and for the MIN node that has set beta."""
    assert 'larger = Board("_o_xo_x_x")' in notebook
    with Trace() as trace:
        assert beyond().search(Board("_o_xo_x_x")).nodes == 23
    (root,) = trace.roots
    ((path, node),) = cuts(root)  # with cuts at the bound, there are three, at other nodes
    assert (path, node.state.to_move) == ((2, 5), root.state.to_move)
    assert node.value == 1 > node.bounds["beta"] == -1
    parent = next(child for child in root.children if child.move == 2)
    assert (parent.children[0].value, parent.children[1]) == (-1, node)


def test_equal_values_are_exact_beyond_the_bound(notebook):
    """In the answer to `equal-or-at-most`, the last of equal moves is harmless only if no node is
    cut on equality.
    """
    classmate = beyond(*mistake("cut_at_equality"), LAST_OF_EQUALS)
    assert classmate.search(MIRRORED).move == 6
    assert value(MIRRORED.after(6).after(4), "o") == 1
    assert beyond(LAST_OF_EQUALS).search(MIRRORED).move == 4
    wrong = wrong_moves(classmate)
    assert f"a wrong move in {wrong} of the 4,520" in variant_of("study2", "written.md", BEYOND)
    assert wrong_moves(beyond(LAST_OF_EQUALS)) == 0


def test_a_result_at_the_edge_of_the_window_is_exact_beyond_the_bound(notebook):
    """Notebook 2 and the guide for teachers state what such a result proves."""
    assert "If the result lies inside or equals alpha or beta, it is exact." in notebook
    guide = variant_of("study2", "teaching.md", BEYOND)
    assert "Is the value 1? Would that be certain if the search pruned on equality?" in guide
    few = [board for board in UNFINISHED if len(board.legal_moves()) < 6]
    rules = {rule: module_of("study2", {"cut": f"{rule} the bound"}) for rule in ("at", "beyond")}
    wrong = {
        rule: sum(
            module.AlphaBeta().value(board, board.to_move, edge, edge + 1)[0] == edge
            and value(board, board.to_move) != edge
            for board in few
            for edge in (-1, 0)
        )
        for rule, module in rules.items()
    }
    assert wrong["at"] > 0 == wrong["beyond"]


@dataclass(frozen=True)
class Sorted:
    """A board whose moves come sorted by a key, as in notebook 2."""

    board: Board
    key: object

    def __getattr__(self, name):
        return getattr(self.board, name)

    def legal_moves(self):
        return tuple(sorted(self.board.legal_moves(), key=lambda move: self.key(self.board, move)))

    def after(self, move):
        return Sorted(self.board.after(move), self.key)


@pytest.mark.content("study2")
def test_orders_beyond_the_bound(notebook):
    """Notebook 2 compares the orders of moves and computes the exponent."""

    def nodes(key):
        return beyond().search(Sorted(EMPTY, key)).nodes

    def worth(board, move):
        return value(board.after(move), board.to_move)

    def shuffled(seed):
        dice = Random(seed)
        return lambda board, move: dice.random()

    own = nodes(lambda board, move: move)
    shuffles = [nodes(shuffled(seed)) for seed in range(12)]
    least, most = min(shuffles), max(shuffles)
    assert (
        f"take {least:,} to {most:,} nodes, eight of them fewer than its own {own:,}." in notebook
    )
    assert sum(count < own for count in shuffles) == 8
    assert f"the unluckiest takes {most / least:.1f} times" in notebook
    assert 14 < nodes(worth) / nodes(lambda board, move: -worth(board, move)) < 15
    assert "more than fourteen times" in notebook
    assert f"From the empty board it is {log(own) / log(549_946):.2f}:" in notebook


@pytest.mark.content("study9")
def test_visits_or_mean_with_the_last_of_equal_rows():
    """The model answer to `visits-or-mean` has the numbers of the variant."""
    mcts, edges, found = module_of("study9", LAST), (1, 3, 5, 7), []
    for c in (0.2, 1.0, 3.0):
        tables = [mcts.UCT(100, c, seed).search(TRAP).rows() for seed in range(100)]
        found.append(
            (
                sum(mcts.best_mean(rows) != mcts.most_visited(rows) for rows in tables),
                sum(mcts.most_visited(rows) in edges for rows in tables),
                sum(mcts.best_mean(rows) in edges for rows in tables),
            )
        )
    (one, two, three), visits, means = zip(*found, strict=True)
    answer = variant_of("study9", "written.md", LAST)
    assert f"the rules differ in {one}, {two} and {three} of 100 searches" in answer
    assert (
        "right in {}, {} and {}, the best mean in {}, {} and {}.".format(*visits, *means) in answer
    )
    assert {abs(v - m) for v, m in zip(visits, means, strict=True)} <= {1, 2, 3, 4}
    assert f"visits are right {visits[1]} times and means {means[1]} times" in answer
    assert f"Visits are right {visits[1]} times and means {means[1]} times" in answer


@pytest.mark.content("study9")
def test_notebook_17_stays_true_with_the_last_of_equal_rows():
    """What it observes about c, about sixty positions and about traps does not depend on the rule."""
    mcts = module_of("study9", LAST)
    wrong = {
        c: sum(
            mcts.most_visited(mcts.UCT(150, c, seed).search(TRAP).rows()) in (2, 6)
            for seed in range(30)
        )
        for c in (0.0, 0.1, 0.5, 1.0, 2.0, 10.0)
    }
    assert wrong[0.5] == min(wrong.values()) < wrong[0.1]
    assert wrong[2.0] >= wrong[10.0] > wrong[1.0] > wrong[0.5]
    every = sorted(UNFINISHED, key=lambda board: board.text)
    some = every[:: len(every) // 60][:60]

    def mistakes(choose):
        return sum(
            value(board.after(choose(board)), board.to_move) < value(board, board.to_move)
            for board in some
        )

    for games in (30, 100, 300):
        flat = mistakes(
            lambda board, games=games: mcts.FlatMonteCarlo(
                max(1, games // len(board.legal_moves())), seed=1
            ).choose(board)
        )
        tree = mistakes(lambda board, games=games: mcts.UCT(games, seed=1).choose(board))
        assert (tree < flat) if games < 300 else (tree == flat == 0)
    for width, few, enough in ((8, 50, 62), (16, 160, 190), (25, 360, 400)):
        game = NumberTree((0, (*(width - 1) * (1,), -1)))
        fooled = [
            sum(mcts.UCT(iterations, seed=seed).choose(game) == 1 for seed in range(20))
            for iterations in (few, enough)
        ]
        assert fooled[0] >= 18
        assert fooled[1] <= 2
