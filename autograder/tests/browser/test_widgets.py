"""The widgets in JupyterLab, by mouse and keyboard: play, explore a search, compare counts."""

import shutil

import pytest

from autograder.benchmarks.support.browser.examples import WIDGET_IMPORTS, WIDGETS
from autograder.benchmarks.support.browser.widgets import Widget as AnyWidget
from autograder.benchmarks.support.browser.widgets import open_notebook
from autograder.tests.support.pages.widget_faults import faults, grave, window
from autograder.workspace import answer_path
from course.checks import load_study

pytestmark = [pytest.mark.slow, pytest.mark.content, pytest.mark.xdist_group("browser")]
SIZED = {"counts", "explorer", "two searches", "replay"}  # checked in windows of all sizes


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """A browser with a notebook of all widgets and the reference agents. The imports have run; each
    test runs the cells that it needs.
    """
    root, private = tmp_path_factory.mktemp("widgets"), tmp_path_factory.mktemp("private")
    for study in ("study1", "study2", "study3"):
        shutil.copy(answer_path(load_study(study)), root)
    with open_notebook(root, private, [WIDGET_IMPORTS, *WIDGETS.values()]) as (browser, _):
        browser.run_cell(0)
        yield browser
        assert browser.elsewhere == []  # the widgets need no network


class Widget(AnyWidget):
    """A widget in its cell, which has just been run."""

    def __init__(self, browser, name: str) -> None:
        super().__init__(browser, 1 + list(WIDGETS).index(name))


def test_play_by_mouse_and_by_keyboard(lab):
    """Clicks and keys both play, the agent replies, and the focus stays on the board."""
    game = Widget(lab, "play")
    game.wait_for("AlphaBeta plays cell 0: row 1, column 1 (nodes: 18,297). Your turn, o.")
    game.part("4").click()
    game.wait_for("AlphaBeta plays cell 1")
    assert game.moves() == ["2", "3", "5", "6", "7", "8"]
    assert game.part("2").get_attribute("aria-label") == "cell 2: row 1, column 3"
    game.part("5").focus()
    game.press("ArrowLeft", "ArrowLeft")  # over the occupied cell
    assert game.focused() == "3"
    game.press("ArrowRight", "ArrowRight", "ArrowUp", "Enter")
    game.wait_for("AlphaBeta plays cell 6")
    assert game.focused() is None  # the focus stays on the cell, which is no longer active
    lab.screenshot("widget-play")
    for button, offered in (("undo", 6), ("undo", 8), ("change sides", 7), ("new game", 9)):
        game.part(button).click()
        lab.wait_until(lambda n=offered: len(game.moves()) == n, f"{button} has no effect")
    assert game.status() == "Your turn, x."


def test_step_through_a_search(lab):
    """Next keeps the focus, arrow keys move the slider, nodes are links and subtrees fold."""
    tree = Widget(lab, "explorer")
    tree.wait_for("Step 4 of 30")
    tree.part("first").click()
    tree.wait_for("Step 0 of 30")
    tree.part("next").focus()
    for step in range(1, 12):
        tree.press("Enter")
        tree.wait_for(f"Step {step} of 30")
    assert tree.focused() == "next"
    tree.root.locator("input").focus()
    tree.press("ArrowRight", "ArrowRight")
    tree.wait_for("Step 13 of 30")
    tree.part("last").click()
    tree.wait_for("returns 0 (from move 1)")
    lab.screenshot("widget-explorer")
    nodes = len(tree.moves())
    tree.part("fold a2").click()
    tree.part("fold a2").locator("text=+").wait_for()
    assert len(tree.moves()) < nodes
    tree.part("go a17").focus()
    tree.press("Enter")
    tree.wait_for("Node 17 of 19")
    tree.press("ArrowUp")
    tree.wait_for("Step 24 of 30")
    for key, step in (("ArrowRight", 25), ("ArrowRight", 26), ("ArrowLeft", 25)):
        tree.press(key)
        tree.wait_for(f"Step {step} of 30")


def test_two_searches_side_by_side(lab):
    """Two searches step together or alone, and a button jumps to where they diverge."""
    trees = Widget(lab, "two searches")
    trees.part("difference").click()
    trees.wait_for("Difference: Minimax continues with 8, AlphaBeta skips it.")
    lab.screenshot("widget-two-searches")
    trees.part("only 1").click()
    trees.wait_for("of 15.")
    trees.part("next").click()
    trees.wait_for("AlphaBeta: Back at node 7 of 10")
    trees.part("both").click()
    trees.wait_for("Minimax: ")


def test_a_large_tree_and_a_fast_hand(lab):
    """However fast the slider is dragged, the picture matches its final position."""
    tree = Widget(lab, "large tree")
    tree.wait_for("of 1977. Node")
    tree.wait_for("The tree is too large to draw in full (1,")
    slider = tree.root.locator("input")
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    mouse, y = lab.page.mouse, box["y"] + box["height"] / 2
    mouse.move(box["x"] + 8, y)
    mouse.down()
    for x in range(0, int(box["width"] * 0.6), 5):
        mouse.move(box["x"] + 8 + x, y)
    mouse.up()
    lab.wait_until(
        lambda: tree.status().startswith(f"Step {slider.input_value()} of"),
        "the picture is not at the slider's step",
    )
    assert int(slider.input_value()) > 500  # about as far as the mouse moved
    lab.screenshot("widget-large-tree")


def test_counts_follow_the_position(lab):
    """A click on a cell updates the counts, and an agent can be excluded."""
    counts = Widget(lab, "counts")
    counts.wait_for("Type A visits")
    before = counts.root.locator("svg").first.get_attribute("aria-label")
    counts.part("8").click()
    lab.wait_until(
        lambda: counts.root.locator("svg").first.get_attribute("aria-label") != before,
        "the counts did not change",
    )
    lab.screenshot("widget-counts")
    counts.part("agent Type A").click()
    counts.root.locator("button", has_text="☐ Type A").wait_for()


def test_qubic_is_played(lab):
    """A click on a cell of the cube plays there, and the agent replies."""
    game = Widget(lab, "qubic")
    assert len(game.moves()) == 64
    game.part("21").click()
    lab.wait_until(lambda: len(game.moves()) == 62, "the agent did not answer")
    lab.screenshot("widget-qubic")


def test_sequence_is_played_by_mouse_and_by_keyboard(lab):
    """A card, a cell and a row card make an action; the agent replies; undo takes the action back."""
    game = Widget(lab, "sequence")
    game.part("card 4d").first.click()
    game.wait_for("click a highlighted cell")
    game.part("cell 2,4").focus()
    game.press("Enter")
    game.wait_for("click a card in the draft row")
    game.part("take 6d").first.click()
    game.wait_for("Player 1: ")
    lab.screenshot("widget-sequence")
    assert game.part("cell 2,4").count() == 0
    game.part("undo").click()
    game.part("cell 2,4").first.wait_for()


def test_a_replay_is_stepped_through(lab):
    """Buttons and slider step through a game of Sequence."""
    game = Widget(lab, "replay")
    game.wait_for("of 40: the beginning.")
    game.part("next").click()
    game.wait_for("1 of 40: player 0: place")
    game.part("last").click()
    game.wait_for("40 of 40")
    game.root.locator("input").focus()
    game.press("ArrowLeft", "ArrowLeft")
    game.wait_for("38 of 40")


def test_the_widgets_can_be_used_by_everybody(lab):
    """axe-core reports nothing serious or critical for any widget, in either theme; `faults` checks
    those in `SIZED`.
    """
    found = {}
    for theme in ("Dark", "Light"):
        lab.use_theme(theme)
        for name in WIDGETS.keys() - SIZED:
            found[name, theme] = grave(Widget(lab, name))
    assert not any(found.values()), found


def test_in_every_window(lab):
    """On a laptop, a phone and at 200 % zoom, in both themes, text is legible and nothing scrolls
    sideways; two searches fit the height of a laptop window.
    """
    for name in SIZED:
        Widget(lab, name)
    numbers = {name: 1 + list(WIDGETS).index(name) for name in SIZED}
    assert faults(lab, numbers, "widget") == {}
    with window(lab, "laptop"):
        trees = AnyWidget(lab, numbers["two searches"], run=False).root.bounding_box()
        place = lab.page.locator(".jp-WindowedPanel-outer").first.bounding_box()
    assert trees["height"] <= place["height"]


def test_keys_stay_in_the_widget(lab):
    """Lab's shortcuts are inactive while a widget has the focus: "d d" deletes no cell."""
    tree = Widget(lab, "explorer")
    cells = len(lab.cells())
    tree.part("next").focus()
    tree.press("d", "d", "a", "b")
    assert len(lab.cells()) == cells
