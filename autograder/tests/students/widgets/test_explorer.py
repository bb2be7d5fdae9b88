"""The tree explorer: pictures and text at each step, clicks, and the output without widgets."""

import base64
import re
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.tests.support.modules.games import Twigs
from autograder.tests.support.modules.searches import (
    FORK,
    SMALL,
    Backwards,
    Broken,
    Full,
    NoRoot,
    Pruning,
)
from tictactoe import Board, counted
from tictactoe.explorables.explorer import explore
from tictactoe.tests.support.boards import status

WIDE = Board("x___o____")  # its tree does not fit


class Limited(Full):
    """Minimax that stops at a depth and values every state there as a draw."""

    def __init__(self, limit):
        self.limit = limit

    def order(self, state):
        return state.legal_moves()


def elements(explorer) -> list[ET.Element]:
    return list(ET.fromstring(explorer.board.content["svg"]).iter())


def texts(explorer) -> list[str]:
    return [element.text for element in elements(explorer) if element.text]


def clicks(explorer, word: str) -> dict[str, str]:
    """The labels of the clickable parts of one kind, by click."""
    return {
        e.get("data-move"): e.get("data-label")
        for e in elements(explorer)
        if (e.get("data-move") or "").startswith(f"{word} ")
    }


def buttons(explorer) -> dict[str, str]:
    return dict(explorer.board.content["buttons"])


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(SMALL), st.sampled_from([Full(), Backwards(), Pruning()]), st.data())
def test_every_step_is_a_picture(state, agent, data):
    """Each step's picture is well-formed, has the current node, and shows no later one."""
    explorer = explore(agent, state)
    walk = explorer.walks[0]
    step = data.draw(st.integers(0, explorer.last))
    explorer.click(f"step {step}")
    node, _ = walk.steps[step]
    (here,) = [e for e in elements(explorer) if e.get("data-here")]
    assert here.get("data-move") == f"go a{node.number}"
    shown = {int(move.removeprefix("go a")) for move in clicks(explorer, "go")}
    assert {above.number for above in node.line} <= shown
    assert all(walk.nodes[number - 1].entered <= step for number in shown)
    for number in shown:
        seen = walk.nodes[number - 1]
        label = clicks(explorer, "go")[f"go a{number}"]
        assert ("no value yet" in label) == (seen.left > step)
    assert f"Step {step} of {explorer.last}." in status(explorer)
    assert f"Node {node.number}" in status(explorer).replace("Back at node", "Node")


def test_going_through_by_buttons():
    """First, Back, Next and Last stay within the range; the slider shows the step."""
    explorer = explore(Full(), FORK)
    seen = [explorer.step]
    for move in ("back", "next", "next", "back", "last", "next", "step 5", "step 999", "first"):
        explorer.click(move)
        seen.append(explorer.step)
        assert (explorer.board.content["step"], explorer.board.content["last"]) == (
            explorer.step,
            explorer.last,
        )
    end = explorer.last
    assert seen == [3, 2, 3, 4, 3, end, end, 5, end, 0]
    assert end == 14 + 8 - 1  # fourteen nodes, and eight steps that leave a node


@pytest.mark.parametrize("against", [None, Pruning()])
def test_it_opens_where_there_is_something_to_see(against):
    """The explorer opens at the search's first leaf: a line from the root, with a value at its end."""
    explorer = explore(Full(), FORK, against=against)
    node, _ = explorer.walks[0].steps[explorer.at[0]]
    assert (node.children, node.depth) == ([], 3)
    assert status(explorer).startswith("Step 3 of")
    assert [label for label in clicks(explorer, "go").values() if "no value yet" not in label]


def test_arrow_keys_follow_the_search_and_the_tree():
    """Left and right select steps, and up and down select nodes on the line."""
    explorer = explore(Full(), FORK)
    keys = explorer.board.content["arrows"]
    numbers = []
    for key in (
        "ArrowUp",
        "ArrowUp",
        "ArrowUp",
        "ArrowUp",
        "ArrowDown",
        "ArrowRight",
        "ArrowLeft",
        "ArrowDown",
        "ArrowDown",
        "ArrowDown",
    ):
        explorer.click(keys[key])
        numbers.append(explorer.walks[0].steps[explorer.step].node.number)
    assert numbers == [3, 2, 1, 1, 2, 3, 2, 3, 4, 4]


def test_the_search_goes_on_by_itself():
    """Play sends a tick after each step until the end; a tick from an older picture is ignored."""
    explorer = explore(Full(), FORK)
    explorer.click("play")
    explorer.click("tick 0")
    assert explorer.step == 3
    for step in range(3, explorer.last):
        assert explorer.board.content["auto"][0] == f"tick {step}"
        explorer.click(f"tick {step}")
    assert explorer.step == explorer.last
    assert "auto" not in explorer.board.content
    explorer.click("play")
    assert explorer.step == 0


def test_a_tree_that_is_too_large_says_so():
    """A message gives the number of nodes and of those shown."""
    explorer = explore(Full(), WIDE)
    said = f"too large to draw in full ({len(explorer.walks[0].nodes):,} nodes)"
    assert said in status(explorer)
    assert "too large" not in status(explore(Full(), FORK))


def test_the_steps_in_words():
    """The text covers entering a node, a final state, going back, and the reason for a cut."""
    explorer = explore(Pruning(), FORK)
    told = []
    for step in range(explorer.last + 1):
        explorer.go_to(step)
        told.append(status(explorer).partition(". ")[2])
    minus = "\N{MINUS SIGN}"
    assert told[0] == f"Node 1 of 10, depth 0, the root: MAX, x to move, window ({minus}∞, +∞)."
    assert told[3] == "Node 4 of 10, depth 3, after 4, 5, 8: the game is over, +1."
    assert told[11] == (
        f"Back at node 7 of 10, depth 1, after 5: MIN, o to move, returns ≤ {minus}1 (from move "
        f"4). Cut: 8; {minus}1 is at most alpha +1."
    )
    assert told[-1].startswith("Back at node 1 of 10, depth 0, the root: MAX, x to move, returns")


def test_a_cut_without_a_reason_is_reported():
    """A search that skips moves although its value is inside the window is reported."""

    class Hasty(Pruning):
        @counted
        def value(self, state, player, alpha, beta):
            if state.is_terminal():
                return state.utility(player)
            return self.value(state.after(state.legal_moves()[0]), player, alpha, beta)

    explorer = explore(Hasty(), FORK)
    explorer.click("last")
    assert "Cut: 5, 8; +1 is not at least beta +∞." in status(explorer)


def test_a_cut_is_marked_by_dashes_and_a_sign():
    """Each unvisited move has a dashed line and a double bar after the search leaves its node."""
    explorer = explore(Pruning(), FORK)
    svg = [
        explorer.go_to(step) or explorer.board.content["svg"] for step in (10, 11, explorer.last)
    ]
    assert [picture.count("h12m0 4.5h-12") for picture in svg] == [0, 1, 2]
    assert [picture.count('stroke-dasharray="5 4"') for picture in svg] == [0, 1, 2]


def test_a_click_on_a_node_goes_there():
    """Each node in the picture leads to the step at which it was entered."""
    explorer = explore(Full(), FORK)
    explorer.click("last")
    for move in clicks(explorer, "go"):
        explorer.click(move)
        node, back = explorer.walks[0].steps[explorer.step]
        assert (f"go a{node.number}", back) == (move, False)
        explorer.click("last")


def test_subtrees_close_and_open():
    """A closed subtree is not drawn, and its marker counts the hidden nodes."""
    explorer = explore(Full(), FORK)
    explorer.click("last")
    everything = set(clicks(explorer, "go"))
    explorer.click("fold a2")
    hidden = everything - set(clicks(explorer, "go"))
    assert clicks(explorer, "fold")["fold a2"] == f"open the {len(hidden)} nodes below node 2"
    assert f"+{len(hidden)}" in texts(explorer)
    explorer.click("fold a2")
    assert set(clicks(explorer, "go")) == everything


def test_a_large_tree_shows_the_way_only():
    """If the tree does not fit, only nodes attached to the path to the current one are drawn, and
    the picture is not much wider than a page.
    """
    explorer = explore(Full(), WIDE)
    walk = explorer.walks[0]
    assert len(walk.nodes) > 1000
    for step in range(0, explorer.last, 97):
        explorer.go_to(step)
        way = set(walk.steps[step].node.line)
        for move in clicks(explorer, "go"):
            node = walk.nodes[int(move.removeprefix("go a")) - 1]
            assert node in way or node.parent in way
        assert float(elements(explorer)[0].get("width")) < 1500
    explorer.click("last")
    before = set(clicks(explorer, "go"))
    explorer.click(next(iter(clicks(explorer, "fold"))))
    assert before < set(clicks(explorer, "go"))


def test_many_moves_are_folded():
    """For a node with very many moves, only those near the current one are drawn and the rest
    counted.
    """

    class Fan(Twigs):
        def legal_moves(self):
            return () if self.path else tuple(range(60))

        def after(self, move):
            return Fan(f"{move},")

        def is_terminal(self):
            return bool(self.path)

    explorer = explore(Full(), Fan())
    explorer.click("step 30")
    assert "go a31" in clicks(explorer, "go")
    assert [text for text in texts(explorer) if re.fullmatch(r"…\d+", text)] == ["…23"]
    explorer.click("last")
    explorer.click("go a31")
    explorer.click("last")
    assert [text for text in texts(explorer) if re.fullmatch(r"…\d+", text)] == ["…47"]


def test_two_searches_go_on_together_or_apart():
    """Both move until one is selected; the other stays, and later both meet again."""
    explorer = explore(Full(), FORK, against=Pruning())
    explorer.click("step 11")
    assert explorer.at == [11, 10]
    explorer.click("only 1")
    assert buttons(explorer)["only 1"].startswith("✓")
    explorer.click("next")
    explorer.click("next")
    assert explorer.at == [11, 12]
    assert "Full" not in status(explorer)
    explorer.click("go a3")
    assert (explorer.moving, explorer.at) == (0, [2, 12])
    explorer.click("both")
    assert explorer.at == [2, 2]
    assert status(explorer).count("Node 3 of") == 2
    explorer.click("last")
    assert explorer.at == [len(walk.steps) - 1 for walk in explorer.walks]
    assert any("Full: 14 of 14 nodes" in text for text in texts(explorer))
    assert any("Pruning: 10 of 10 nodes" in text for text in texts(explorer))


def test_jumping_to_the_first_difference():
    """In any mode, the button leads to the divergence of the searches, or reports that there is
    none.
    """
    explorer = explore(Full(), FORK, against=Pruning())
    explorer.click("only 0")
    explorer.click("difference")
    assert "Difference: Full continues with 8, Pruning skips it." in status(explorer)
    assert explorer.moving == "both"
    same = explore(Full(), FORK, against=Full())
    same.click("difference")
    assert status(same).startswith("No difference")


def test_one_search_has_nothing_to_compare():
    """The buttons for two searches exist only if there are two."""
    assert set(buttons(explore(Full(), FORK))) == {
        "first",
        "back",
        "next",
        "last",
        "play",
        "slower",
        "faster",
    }


def test_the_last_step_shows_what_stopped_the_search():
    """The last step of a failed search has the error."""
    explorer = explore(Broken(1), FORK)
    assert "ZeroDivisionError" not in status(explorer)
    explorer.click("last")
    assert "Here the search stopped. ZeroDivisionError: oh (line " in status(explorer)
    assert "ZeroDivisionError: oh" in explorer._repr_mimebundle_()[0]["text/plain"]


@pytest.mark.parametrize("agent", [Full(), Pruning(), NoRoot(), Broken(1)])
def test_without_widgets_the_whole_search_is_left(agent):
    """An exported page has the final tree, its alternative text, and a table of its nodes."""
    explorer = explore(agent, FORK)
    data, _ = explorer._repr_mimebundle_()
    explorer.click("last")
    html = data["text/html"]
    assert base64.b64encode(explorer.board.content["svg"].encode()).decode() in html
    assert f'alt="{explorer.alt()}"' in html
    page = ET.fromstring(f"<p>{html}</p>")
    assert len(page.findall(".//tbody/tr")) == len(explorer.walks[0].nodes)
    assert explorer.alt() in data["text/plain"]
    assert not re.search(r"<(script|svg)", html)


def test_a_long_table_is_cut_short():
    """For a large search the table has the first 200 nodes and the number of the others."""
    explorer = explore(Full(), WIDE)
    data, _ = explorer._repr_mimebundle_()
    assert data["text/html"].count("<tr>") == 201
    assert f"and {len(explorer.walks[0].nodes) - 200:,} more nodes" in data["text/html"]


def test_the_line_of_the_limit():
    """If the search went below an agent's depth limit, a line marks that depth."""
    assert "limit 1" in texts(explore(Limited(1), FORK))
    assert "limit 3" not in texts(explore(Limited(3), FORK))
    assert not any(text.startswith("limit") for text in texts(explore(Full(), FORK)))


def test_any_game_can_be_explored():
    """A game without a picture is shown as text next to the tree."""
    explorer = explore(Full(), Twigs("<&", 4))
    explorer.click("last")
    assert any("path='<&'" in text for text in texts(explorer))
    assert len(clicks(explorer, "go")) == 7


def test_the_way_to_the_current_node_is_written_down():
    """The moves on the current path appear next to the tree, with each node's best value so far."""
    explorer = explore(Pruning(), FORK)
    explorer.go_to(10)  # after 5, 4: o has won
    shown = texts(explorer)
    start = shown.index("The path here (best so far):")
    assert shown[start + 1 : start + 3] == [
        "▲ depth 0: move 5 (+1)",
        "▼ depth 1: move 4 (\N{MINUS SIGN}1)",
    ]
