"""The pictures of search trees: counted nodes, omitted nodes and alternative text."""

import re
import xml.etree.ElementTree as ET
from fractions import Fraction

import pytest

from autograder.tests.support.modules.games import Twigs
from tictactoe import Board, Trace, counted
from tictactoe.contract import CHANCE
from tictactoe.explorables.tree import build_tree, count_cuts, count_nodes, cut_moves, draw_tree
from tictactoe.games.kuhn import Kuhn
from tictactoe.nodes import Visit

FORK = Board("xoox__ox_")  # x to move: 4 blocks and makes two threats, 5 and 8 lose immediately


class Picky:
    """Walks the tree with at most `most` moves per node; its return value is not a game value."""

    def __init__(self, most: int) -> None:
        self.most = most

    @counted
    def value(self, state, alpha, beta):
        for move in state.legal_moves()[: self.most]:
            self.value(state.after(move), alpha, beta)
        return 0


def traced(most: int, state=FORK, bound: float = 1) -> Trace:
    with Trace() as trace:
        Picky(most).value(state, -bound, bound)
    return trace


def texts(picture) -> list[str]:
    return [element.text for element in ET.fromstring(picture.svg).iter() if element.text]


def test_unvisited_moves_are_cut():
    """With two moves per node, only the third move of the root is cut."""
    root = traced(2).roots[0]
    assert cut_moves(root) == [8]
    assert (count_nodes(root), count_cuts(root)) == (10, 1)


def test_a_hand_made_visit_counts_its_cuts():
    """A cut deep in the tree is counted like one at the root."""
    after_4 = FORK.after(4)
    leaf = Visit(after_4.after(5), 5, 2, {}, 1)
    root = Visit(FORK, None, 0, {}, 1, [Visit(after_4, 4, 1, {}, 1, [leaf])])
    assert cut_moves(root) == [5, 8]
    assert cut_moves(root.children[0]) == [8]
    assert count_cuts(root) == 3


def test_a_node_that_was_not_expanded_cuts_nothing():
    """A depth limit stops at a node with legal moves left, and this is not a cut."""
    assert count_cuts(traced(0).roots[0]) == 0


def test_every_cut_is_written_down():
    """Each cut move has a dashed line, a double bar and the word, so that no information is in
    colour alone.
    """
    picture = draw_tree(traced(1))
    cuts = count_cuts(traced(1).roots[0])
    assert texts(picture).count("cut") == picture.svg.count("stroke-dasharray") == cuts == 3
    assert picture.svg.count("h12m0 5h-12") == cuts


def test_the_words_say_what_the_picture_shows():
    """The alternative text gives the nodes, the cuts, and the moves at the root."""
    assert draw_tree(traced(1)).alt == (
        "Search tree. Nodes visited: 4. Moves cut: 3. MAX is x. Root: 0; moves: 4 (0), 5 (cut), "
        "8 (cut)."
    )


@pytest.mark.parametrize("limits", [{"depth": 1}, {"max_leaves": 3}])
def test_what_is_not_drawn_is_counted(limits):
    """A limit closes subtrees, and the markers add up to the number of missing nodes."""
    picture = draw_tree(traced(3), **limits)
    markers = [int(n) for text in texts(picture) for n in re.findall(r"… (\d+) more", text)]
    drawn = 4  # the root and its three successors
    assert drawn + sum(markers) == count_nodes(traced(3).roots[0])
    assert f"({sum(markers)} not drawn)" in picture.alt


def test_a_wide_tree_fits_its_limit():
    """The tree of the empty board has at most nineteen leaves, including closed subtrees."""
    picture = draw_tree(traced(4, Board("x___o____")))
    assert float(ET.fromstring(picture.svg).get("width")) < 19 * 80 + 120


def test_values_outside_the_window_are_bounds():
    """A value at or beyond alpha or beta is only a bound; a final state has its exact value."""
    root = build_tree(FORK, (1, {4: (1, {5: 1}), 5: (-1, {4: (-1, {}, 1, 2)}, 1, 2)}, -9, 9))
    shown = texts(draw_tree(root))
    assert "≤ \N{MINUS SIGN}1" in shown
    assert "o wins \N{MINUS SIGN}1" in shown
    assert "(\N{MINUS SIGN}9, +9)" in shown


def test_levels_are_named_for_the_player_at_the_root():
    """MAX is the player to move at the root, whether o or x."""
    shown = texts(draw_tree(traced(1, FORK.after(4))))
    assert shown[shown.index("▲ MAX") + 1] == "o to move"
    assert shown[shown.index("▼ MIN") + 1] == "x to move"


def test_other_games_are_drawn_as_shapes():
    """A state that is not a board is a triangle or a square."""
    picture = draw_tree(traced(2, Twigs()))
    assert "Nodes visited: 7. Moves cut: 0." in picture.alt
    assert {"a", "b", "terminal"} <= set(texts(picture))


def test_an_empty_trace_says_so():
    """A trace without nodes is an error with a probable cause, not an empty picture."""
    with Trace() as trace:
        pass
    with pytest.raises(ValueError, match="trace is empty"):
        draw_tree(trace)


@counted
def expectimax(state):
    """The value of the state for x."""
    if state.is_terminal():
        return state.utility("x")
    values = [expectimax(state.after(move)) for move in state.legal_moves()]
    if state.to_move == CHANCE:
        return sum(values) * state.probability(state.legal_moves()[0])
    return max(values) if state.to_move == "x" else min(values)


def tree_of(state, **options):
    with Trace() as trace:
        expectimax(state)
    return draw_tree(trace, **options)


def test_chance_nodes_are_circles():
    """Their name is next to the level, which players may share, and no line to them is thick."""
    picture = tree_of(Kuhn.from_moves([2], late=True))
    shown = texts(picture)
    assert picture.svg.count("<circle") == 3
    at = shown.index("depth 2")
    assert shown[at : at + 4] == ["depth 2", "● chance", "▲ MAX", "x to move"]
    assert picture.svg.count('stroke-width="3.5"') == 4  # of the 14 lines, only for max and min


def test_max_is_the_first_player_where_chance_begins():
    """At a root where a card is dealt there is no player, so the picture names the next one."""
    picture = tree_of(Kuhn.from_moves([2]))
    assert "MAX is x. Root: 0; moves: 1 (+1), 3 (\N{MINUS SIGN}1)." in picture.alt
    shown = texts(picture)
    assert shown[shown.index("▲ MAX") + 1] == "x to move"


def test_fractions_are_written_as_such():
    """A mean need not be an integer."""
    assert "Root: \N{MINUS SIGN}1/3" in draw_tree(build_tree(Kuhn(), Fraction(-1, 3))).alt
    assert "+7/6" in texts(draw_tree(build_tree(Kuhn(), Fraction(7, 6))))


def test_information_sets_are_joined_by_dotted_lines():
    """Nodes with equal information on a level are joined, unless it is None, and only on request."""
    state, dotted = Kuhn.from_moves([2]), 'stroke-dasharray="0 6"'
    known = tree_of(state, information=lambda s: s.information if s.to_move == "x" else None)
    assert known.svg.count(dotted) == 2
    assert any(text.startswith("dotted: ") for text in texts(known))
    assert known.alt.endswith("Information sets of several nodes: 2.")
    for plain in (tree_of(state), tree_of(state, information=lambda s: s)):
        assert dotted not in plain.svg
        assert not any(text.startswith("dotted: ") for text in texts(plain))


def test_a_set_of_three_is_joined_from_node_to_node():
    """Two lines join three nodes."""
    picture = tree_of(Kuhn(), depth=1, information=lambda state: len(state.cards) == 1 or None)
    assert picture.svg.count('stroke-dasharray="0 6"') == 2
