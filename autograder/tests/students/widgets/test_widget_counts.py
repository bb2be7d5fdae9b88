"""The node counts of several searches on a shared clickable position."""

import re
import xml.etree.ElementTree as ET

import pytest

from autograder.tests.support.modules.games import Twigs
from autograder.tests.support.modules.searches import FORK, Broken, Full, Pruning
from tictactoe import Board
from tictactoe.explorables.counts import compare_counts

AGENTS = {"full": Full(), "pruning": Pruning()}


def texts(counts) -> list[str]:
    return [e.text for e in ET.fromstring(counts.board.content["svg"]).iter() if e.text]


def bars(counts) -> list[float]:
    """The lengths of the bars."""
    return [
        float(e.get("width"))
        for e in ET.fromstring(counts.board.content["svg"]).iter()
        if (e.get("fill") or "").startswith("url(")
    ]


def offered(counts) -> list[str]:
    return [
        e.get("data-move")
        for e in ET.fromstring(counts.board.content["svg"]).iter()
        if e.get("data-move") is not None
    ]


def test_counts_in_numbers_bars_and_words():
    """Each search has its number, a bar, and its part of the alternative text."""
    counts = compare_counts(AGENTS, FORK)
    assert counts.counts == {"full": 14, "pruning": 10}
    assert {"14", "10"} <= set(texts(counts))
    assert bars(counts)[0] > bars(counts)[1] > 0
    assert "full 14; pruning 10" in counts.board.content["alt"]
    assert "full visits 1.4 times as many nodes as pruning" in counts.board.content["status"]


def test_the_scale_is_logarithmic():
    """Ten times as many nodes is one grid line further, starting at 1."""
    lengths = {}
    for name, agent in AGENTS.items():
        counts = compare_counts({name: agent}, Board("x___o____"))
        lengths[counts.counts[name]] = bars(counts)[0]
    (few, short), (many, long) = sorted(lengths.items())
    assert many > 2 * few
    assert long / short == pytest.approx(len(str(many)) / len(str(few)), rel=0.3)


def test_clicks_go_on_from_the_position():
    """A click on an empty cell plays it; one can undo, or return to the start."""
    counts = compare_counts(AGENTS, FORK)
    assert offered(counts) == ["4", "5", "8"]
    counts.click("4")
    assert (counts.state, counts.counts) == (FORK.after(4), {"full": 5, "pruning": 5})
    counts.click("5")
    counts.click("take back")
    assert counts.state == FORK.after(4)
    counts.click("from the start")
    counts.click("take back")
    assert counts.state == FORK


def test_the_end_of_a_game_is_not_searched():
    """After the end of the game there is nothing to count, which is stated."""
    counts = compare_counts(AGENTS, FORK)
    for move in "458":
        counts.click(move)
    assert counts.counts == {}
    assert "nothing to search" in counts.board.content["status"]


def test_agents_can_be_left_out():
    """An agent's button removes it from the picture and restores it."""
    counts = compare_counts(AGENTS, FORK)
    counts.click("agent full")
    assert list(counts.counts) == ["pruning"]
    assert ["agent full", "☐ full"] in counts.board.content["buttons"]
    counts.click("agent full")
    assert list(counts.counts) == ["full", "pruning"]


@pytest.mark.parametrize(
    ("error", "says"), [(NotImplementedError, "not written yet"), (ValueError, "ValueError: oh")]
)
def test_a_failing_agent_has_the_reason_in_its_row(error, says):
    """An agent that fails does not prevent the others from being counted."""
    counts = compare_counts({"broken": Broken(2, error), **AGENTS}, FORK)
    assert counts.counts.pop("broken").startswith(says)
    assert counts.counts == {"full": 14, "pruning": 10}
    assert any(text.startswith(says) for text in texts(counts))


def test_counts_are_cached_until_a_change():
    """A position is not searched again unless the module has been corrected."""
    agent = Broken(2)
    counts = compare_counts({"mine": agent}, FORK)
    agent.open_cells = None
    counts.click("4")
    counts.click("take back")
    assert counts.counts["mine"].startswith("ZeroDivisionError: oh (line ")
    counts.click("count again")
    assert counts.counts == {"mine": 14}


def test_a_game_without_a_picture_has_buttons():
    """Any game can be counted."""
    counts = compare_counts(AGENTS, Twigs(most=3))
    assert counts.counts["full"] == 15
    assert [move for move, _ in counts.board.content["buttons"]][:2] == ["a", "b"]
    counts.click("b")
    assert counts.counts["full"] == 7


def test_without_widgets_a_table_is_left():
    """An exported page has the picture and a table of the numbers."""
    data, _ = compare_counts(AGENTS, FORK)._repr_mimebundle_()
    assert re.search("<td>full</td><td>14</td>.*<td>pruning</td><td>10</td>", data["text/html"])
    assert data["text/html"].startswith('<img alt="Nodes visited')
