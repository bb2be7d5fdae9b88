"""Boards in JupyterLab: clicks during a search, games by keyboard alone, a restart, dark, zoom."""

import json
import re
import shutil
from collections import Counter

import pytest

from autograder.tests.browser.axe import GRAVE, findings
from autograder.tests.browser.widgets import NOTEBOOK, Widget, open_notebook, wait_for_notebook
from autograder.workspace import answer_path, load_answer
from course.probes import load_study
from tictactoe import Board

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]
# A game of Sequence at the person's last turn, and what is to be clicked to win it.
ALMOST = """game = play(Random(1), seed=2, values=Greedy().values)
while True:
    action = Greedy().choose(game.state.observation())
    parts = [f"card {action.play_card}", "cell {},{}".format(*action.coords or (0, 0)),
             f"take {action.draft_card}"]
    if game.state.after(action).is_over:
        break
    for part in parts if action.coords else [
            f"trade {action.play_card}" if action.play_card else "forgo", parts[-1]]:
        game.click(part)
print("|".join(parts))
game"""
CELLS = {
    "imports": """import threading
from alphabeta import AlphaBeta
from sequence import Greedy, Random
from sequence.widget import play
from tictactoe import Board, Qubic
from tictactoe.show.play_board import play_against
from tictactoe.show.watch_board import watch
class First:
    def choose(self, state):
        return state.legal_moves()[0]
class Held(AlphaBeta):
    may = threading.Event()
    def choose(self, state):
        self.may.wait()
        return super().choose(state)""",
    "board": "Held.may.clear(); play_against(Held(), values=AlphaBeta())",
    "go": "Held.may.set()",
    "easy": "play_against(First())",
    "qubic": "play_against(First(), start=Qubic(), values=lambda state, player: 0.25)",
    "sequence": ALMOST,
    "watch": "watch({'x': First(), 'o': First()})",
    "picture": "Board()",
    "another's": "from IPython.display import HTML\n"
                 "HTML('<img alt=\"dot\" src=\"data:image/svg+xml;base64,PHN2Zy8+\">')",
}
BOARDS = ["board", "qubic", "sequence", "watch"]
WAYS = {"ArrowRight": (1, 0), "ArrowLeft": (-1, 0), "ArrowDown": (0, 1), "ArrowUp": (0, -1)}
MIDDLE = """place => { const { left, top, width, height } = place.getBoundingClientRect();
  return [left + width / 2, top + height / 2] }"""
DISPLAYED = """cell => [...cell.querySelectorAll(".jp-OutputArea-child")]
  .filter(output => getComputedStyle(output).display !== "none").map(output => output.innerText)"""


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    """A browser with the notebook of boards, and its server."""
    root, private = tmp_path_factory.mktemp("boards"), tmp_path_factory.mktemp("private")
    shutil.copy(answer_path(load_study("study2")), root)
    with open_notebook(root, private, list(CELLS.values())) as (browser, server):
        yield browser, server


@pytest.fixture
def lab(opened):
    """The browser, in the light theme, with a kernel that knows the agents."""
    browser, _ = opened
    browser.command("apputils:change-theme", theme="JupyterLab Light")
    browser.run_cell(0)
    return browser


def shown(browser, name: str) -> Widget:
    return Widget(browser, list(CELLS).index(name))


def test_clicks_during_a_search(lab):
    """They are answered at once; no late move is played, and counts are those of their search."""
    game = shown(lab, "board")
    nodes = {cell: load_answer("study2").AlphaBeta().search(Board().after(cell)).nodes
             for cell in (0, 8)}
    game.part("0").click()
    game.wait_for("thinking")
    assert game.root.get_attribute("class") == "click-board thinking"
    game.part("undo").click()
    game.wait_for("Your turn, x.")
    game.part("8").click()
    game.wait_for("thinking")
    lab.run_cell(list(CELLS).index("go"))
    lab.show_cell(list(CELLS).index("board"))
    game.wait_for(f"(nodes: {nodes[8]:,})")
    game.root.locator("summary", has_text="Moves: 2").wait_for()
    game.part("new game").click()
    game.part("values").click()  # the search of the first move's value takes a while
    game.part("0").click()
    game.wait_for(f"(nodes: {nodes[0]:,})")
    game.root.locator("summary", has_text="Moves: 2").wait_for()


def go_to(game: Widget, target) -> None:
    """Press arrow keys until the focus is on a part of the picture."""
    target.wait_for()
    tried = Counter()  # how often a key was pressed on the way from here to there
    for _ in range(100):
        x, y = game.browser.page.locator(":focus").evaluate(MIDDLE)
        to_x, to_y = target.evaluate(MIDDLE)  # it scrolls
        across, down = to_x - x, to_y - y
        if abs(across) + abs(down) < 2:
            return
        keys = sorted(WAYS, key=lambda key: -across * WAYS[key][0] - down * WAYS[key][1])
        key = min(keys, key=lambda key: tried[round(across), round(down), key])
        tried[round(across), round(down), key] += 1
        game.press(key)
    raise AssertionError("the arrow keys do not come to it")


def test_tic_tac_toe_by_keyboard(lab):
    """Arrow keys, Enter, and Ctrl with Z and Y play a whole game, undo and redo; Enter on a taken
    cell does nothing."""
    game = shown(lab, "easy")
    game.part("4").focus()
    game.press("Enter")
    game.wait_for("First plays cell 0")
    game.press("Enter", "ArrowUp", "Enter")
    game.wait_for("First plays cell 2")
    game.press("Control+z")
    game.root.locator("summary", has_text="Moves: 2").wait_for()
    game.press("Control+y")
    game.root.locator("summary", has_text="Moves: 4").wait_for()
    game.press("End", "ArrowLeft", "Enter")
    game.wait_for("You have won.")


def test_qubic_by_keyboard(lab):
    """Page Up leads to the same cell of the layer above: a line through all layers."""
    game = shown(lab, "qubic")
    game.part("0").focus()
    game.press("End", "Enter")
    for moves in (2, 4, 6):
        game.root.locator("summary", has_text=f"Moves: {moves}").wait_for()
        game.press("PageUp", "Enter")
    game.wait_for("You have won.")


def test_sequence_by_keyboard(lab):
    """Card, cell and card of the row are chosen by keys, and the game is won."""
    game = shown(lab, "sequence")
    cell = lab.cells()[list(CELLS).index("sequence")]
    card, place, take = "".join(cell["outputs"][0]["text"]).strip().split("|")
    game.root.locator("svg [tabindex='0']").focus()
    for part in (card, place, take):
        if game.part(part).count():  # what leaves no choice is played before
            go_to(game, game.part(part).first)
            game.press("Enter")
    game.wait_for("You have won")


def test_a_game_is_watched(lab):
    """It goes on by itself when Play was pressed, and comes to its end."""
    game = shown(lab, "watch")
    game.part("play").focus()
    game.press("Enter")
    for _ in range(2):
        game.part("faster").click()
    game.wait_for("x has won.")
    game.root.locator(".picture").focus()
    game.press("ArrowLeft")
    game.wait_for("Move 6.")


def test_dark_and_zoomed(lab):
    """In both themes axe finds nothing grave; twice as large, nothing is cut off."""
    for theme in ("JupyterLab Light", "JupyterLab Dark"):
        lab.command("apputils:change-theme", theme=theme)
        for name in BOARDS:
            game = shown(lab, name)
            if name != "watch":
                game.part("values").click()
                game.root.locator(".value").first.wait_for()
            game.root.evaluate("root => { root.id = 'looked-at' }")
            found = findings(lab.page, "#looked-at")
            game.root.evaluate("root => { root.removeAttribute('id') }")
            assert not [finding for finding in found if finding.impact in GRAVE], (theme, name)
            lab.screenshot(f"board-{name}-{theme.split()[-1].lower()}")
    for name, turned in (("picture", True), ("another's", False)):
        lab.run_cell(list(CELLS).index(name))
        picture = lab.page.locator(".jp-OutputArea-output > img[src^='data:image/svg']").last
        assert ("invert" in picture.evaluate("image => getComputedStyle(image).filter")) is turned
    paper = "svg => getComputedStyle(svg.querySelector('rect')).fill"
    assert shown(lab, "board").root.locator("svg").first.evaluate(paper) == "rgb(27, 27, 27)"
    size = lab.page.viewport_size
    lab.page.set_viewport_size({side: length // 2 for side, length in size.items()})
    lab.command("application:toggle-left-area")
    try:
        for name in BOARDS:
            game = shown(lab, name)
            wide = game.root.locator(".picture").evaluate(
                "picture => [picture.scrollWidth, picture.clientWidth]")
            assert wide[0] <= wide[1] + 1, name
            right = game.root.evaluate("root => root.getBoundingClientRect().right")
            ends = game.root.locator("button").evaluate_all(
                "all => all.map(one => one.getBoundingClientRect().right)")
            assert max(ends) <= right + 1, name
            lab.screenshot(f"board-{name}-zoomed")
    finally:
        lab.page.set_viewport_size(size)
        lab.command("application:toggle-left-area")


def test_boards_survive(lab, opened):
    """After a restart the board says what to do; reopened, it is a picture of the last position
    with the same words; nowhere is an error, a dead button, or a card that was hidden."""
    _, server = opened
    easy, sequence = list(CELLS).index("easy"), list(CELLS).index("sequence")
    shown(lab, "sequence")
    game = shown(lab, "easy")
    game.part("4").click()
    game.wait_for("First plays cell 0")
    lab.show_cell(easy).locator(".board-still img[alt^='o - -; - x -']").wait_for(
        state="attached")
    lab.command("docmanager:save")
    lab.page.reload()
    wait_for_notebook(lab, server)
    alive = lab.show_cell(easy).locator(".click-board")  # the kernel knows the game still
    alive.locator("[data-move='8']").click()
    alive.locator(".status", has_text="First plays cell 1").wait_for()
    lab.evaluate("() => jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart()"
                 ".then(() => 0)")
    alive.locator(".status", has_text="Run this cell to go on").wait_for()
    assert alive.locator("button, [data-move]").count() == 0
    lab.screenshot("board-restarted")
    lab.command("docmanager:save")
    saved = json.loads((server.root / NOTEBOOK).read_text("utf-8"))
    lab.page.reload()
    wait_for_notebook(lab, server)
    for number in (easy, sequence):
        cell = lab.show_cell(number)
        cell.locator("img").wait_for()
        told = cell.evaluate(DISPLAYED)
        assert "run this cell to go on" in told[-1]
        assert "model not found" not in "".join(told)
    lab.screenshot("board-reopened")
    alt = re.search('alt="([^"]*)"', str(saved["cells"][easy]["outputs"])).group(1)
    assert alt.startswith("o - -; - x -; - - -")
    assert "Hand of player 1" not in json.dumps(saved["cells"][sequence]["outputs"])
    lab.run_cell(0)
    assert shown(lab, "easy").moves() == list("012345678")
