"""Boards in JupyterLab: clicks during a search, keyboard games, a restart, dark mode, zoom."""

import json
import re
import shutil
from collections import Counter

import pytest

from autograder.benchmarks.support.browser.examples import BOARD_IMPORTS, BOARDS
from autograder.benchmarks.support.browser.widgets import (
    NOTEBOOK,
    Widget,
    open_notebook,
    wait_for_notebook,
)  # fmt: skip
from autograder.tests.support.pages.widget_faults import faults
from autograder.workspace import answer_path, load_answer
from course.checks import load_study
from tictactoe import Board

pytestmark = [pytest.mark.slow, pytest.mark.content, pytest.mark.xdist_group("browser")]
# A game whose agent waits and then plays a move that depends only on the position.
WAITS = """class Late:
    may, asked = threading.Event(), set()
    def choose(self, state):
        self.asked.add(repr(state))
        self.may.wait()
        legal = (state.legal_moves if hasattr(state, "legal_moves") else state.legal_actions)()
        return legal[crc32(repr(state).encode()) % len(legal)]
late = MADE
late"""
# How many positions the agent was given, and whether its move fits the last of them.
ANSWERED = """_, before, now = late.states
seen = before.observation() if hasattr(before, "observation") else before
len(Late.asked), now == before.after(Late().choose(seen))"""
CELLS = {
    "imports": BOARD_IMPORTS,
    "board": "Held.may.clear(); play_against(Held(), values=AlphaBeta())",
    "go": "Held.may.set()",
    "hundreds": "Held.may.clear(); play_against(Hundreds())",
    "beside": "Held.may.set(); {AlphaBeta().search(Board()).nodes for _ in range(200)}",
    "easy": "play_against(First())",
    **BOARDS,
    **{
        f"late {name}": WAITS.replace("MADE", made)
        for name, made in {
            "board": "play_against(Late())",
            "qubic": "play_against(Late(), start=Qubic())",
            "four": "play_against(Late(), start=ConnectFour())",
            "sequence": "play(Late(), seed=2)",
        }.items()
    },
    "is asked": "while not Late.asked: sleep(0.01)",
    "let it answer": "Late.may.set()",
    "answered": ANSWERED,
    "picture": "Board()",
    "another's": "from IPython.display import HTML\n"
    'HTML(\'<img alt="dot" src="data:image/svg+xml;base64,PHN2Zy8+">\')',
}
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
    """The browser in the light theme, with a kernel that has the agents."""
    browser, _ = opened
    browser.use_theme("Light")
    browser.run_cell(0)
    return browser


def shown(browser, name: str) -> Widget:
    return Widget(browser, list(CELLS).index(name))


def shown_now(browser, name: str) -> Widget:
    return Widget(browser, list(CELLS).index(name), run=False)


def test_clicks_during_a_search(lab):
    """Clicks take effect immediately; no late move is played, and counts belong to their search."""
    game = shown(lab, "board")
    nodes = {
        cell: load_answer("study2").AlphaBeta().search(Board().after(cell)).nodes for cell in (0, 8)
    }
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
    game.part("values").click()  # searching the value of the first move takes a while
    game.part("0").click()
    game.wait_for(f"(nodes: {nodes[0]:,})")
    game.root.locator("summary", has_text="Moves: 2").wait_for()


@pytest.mark.parametrize("name", ["board", "qubic", "four", "sequence"])
def test_no_late_answer_is_played(lab, name):
    """In every game, the agent's move is the one for the current position."""
    game = shown(lab, f"late {name}")
    for which in (0, -1):
        for kind in ("card ", "cell ", "take ") if name == "sequence" else ("",):
            parts = f"svg [data-move^='{kind}']" if kind else "svg [data-move]"
            game.root.locator(parts).nth(which).click()
        game.wait_for("thinking")
        lab.run_cell(list(CELLS).index("let it answer" if which else "is asked"))
        lab.show_cell(list(CELLS).index(f"late {name}"))
        if which == 0:
            game.part("undo").click()
    game.root.locator("summary", has_text="Moves: 2").wait_for()
    answered = list(CELLS).index("answered")
    lab.run_cell(answered)
    assert lab.cells()[answered]["outputs"][0]["data"]["text/plain"] == "(2, True)"


@pytest.mark.parametrize("name", ["easy", "qubic", "four", "sequence begun"])
def test_a_hint_is_given_and_a_game_is_given_up(lab, name):
    """The hint is marked on the board and named below it; after resigning, only *New game* is
    active.
    """
    game = shown(lab, name)
    game.part("hint").click()
    game.wait_for("Hint: ")
    assert " would " in game.status()
    assert game.root.locator("svg .hint").first.is_visible()
    assert game.root.locator("svg [role=button][aria-label$=', hint']").count()
    lab.screenshot(f"board-hint-{name.replace(' ', '-')}")
    game.part("resign").click()
    game.wait_for("You have resigned.")
    assert game.moves() == []
    assert game.root.locator(".buttons button:enabled").all_inner_texts() == ["New game"]
    lab.screenshot(f"board-resigned-{name.replace(' ', '-')}")
    game.part("new" if name == "sequence begun" else "new game").click()
    game.root.locator(".buttons button:enabled", has_text="Hint").wait_for()


def test_sequence_fits_a_laptop(lab):
    """In a window of 1366 x 768, the board, the hand and the buttons are visible together."""
    before = lab.page.viewport_size
    lab.page.set_viewport_size({"width": 1366, "height": 768})
    try:
        game = shown(lab, "sequence begun")
        game.root.evaluate("root => root.scrollIntoView()")
        lab.screenshot("board-laptop-sequence")
        top, bottom, seen = game.root.evaluate("""root => {
          const panel = root.closest(".jp-WindowedPanel-outer").getBoundingClientRect();
          const picture = root.querySelector("svg").getBoundingClientRect();
          const buttons = root.querySelector(".buttons").getBoundingClientRect();
          return [picture.top - panel.top, buttons.bottom - panel.top, panel.height] }""")
        assert top >= 0 and bottom <= seen
    finally:
        lab.page.set_viewport_size(before)


def test_two_hundred_counts_are_exact(lab):
    """200 searches in a cell have exact counts, and so do 200 simultaneous ones by a board's agent."""
    search = load_answer("study2").AlphaBeta().search
    whole, last = search(Board()).nodes, search(Board().after(0)).nodes
    game, beside = shown(lab, "hundreds"), list(CELLS).index("beside")
    game.part("0").click()
    game.wait_for("thinking")
    lab.run_cell(beside)
    assert lab.cells()[beside]["outputs"][0]["data"]["text/plain"] == str({whole})
    lab.show_cell(list(CELLS).index("hundreds"))
    game.wait_for(f"(nodes: {200 * whole + last:,})")


def tab_to(game: Widget) -> None:
    """Press Tab from the cell onwards until the focus is in the picture."""
    for _ in range(5):
        game.press("Tab")
        if game.root.locator(".picture :focus").count():
            return
    raise AssertionError("the Tab key does not come to the board")


def go_to(game: Widget, target) -> None:
    """Press arrow keys until the focus is on a part of the picture."""
    target.wait_for()
    # How often a key was pressed between two points.
    tried: Counter[tuple[int, int, str]] = Counter()
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
    """Arrow keys, Enter, and Ctrl with Z and Y play a whole game, undo and redo; Enter on an
    occupied cell does nothing.
    """
    game = shown(lab, "easy")
    tab_to(game)
    game.press("ArrowRight", "ArrowDown", "Enter")
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
    """Page Up moves to the same cell of the layer above, which builds a line through all layers."""
    game = shown(lab, "qubic")
    tab_to(game)
    game.press("End", "Enter")
    for moves in (2, 4, 6):
        game.root.locator("summary", has_text=f"Moves: {moves}").wait_for()
        game.press("PageUp", "Enter")
    game.wait_for("You have won.")


def test_connect_four_by_keyboard(lab):
    """Arrow keys select a column and Enter drops marks into it; the fourth mark wins."""
    game = shown(lab, "four")
    tab_to(game)
    game.press("ArrowRight", "ArrowRight", "ArrowRight", "Enter")
    for moves in (2, 4, 6):
        game.root.locator("summary", has_text=f"Moves: {moves}").wait_for()
        game.press("Enter")
    game.wait_for("You have won.")
    assert game.moves() == []


def test_sequence_by_keyboard(lab):
    """Keys choose a card, a cell and a row card, and the game is won."""
    game = shown(lab, "sequence")
    cell = lab.cells()[list(CELLS).index("sequence")]
    card, place, take = "".join(cell["outputs"][0]["text"]).strip().split("|")
    tab_to(game)
    for part in (card, place, take):
        if game.part(part).count():  # forced choices are made automatically
            go_to(game, game.part(part).first)
            game.press("Enter")
    game.wait_for("You have won")


def test_turns_of_sequence_by_keyboard(lab):
    """Keys play turns in the middle of a game; Ctrl with Z and Y undoes and redoes the last one."""
    game = shown(lab, "sequence begun")
    moves = game.root.locator("summary", has_text="Moves: ")
    begun = int(moves.inner_text().split()[1])
    tab_to(game)
    for turn in (1, 2):
        for kind in ("card", "cell", "take"):
            go_to(game, game.root.locator(f"svg [data-move^='{kind} ']").first)
            game.press("Enter")
        moves.filter(has_text=f"Moves: {begun + 2 * turn}").wait_for()
    for key, count in (("z", begun + 2), ("y", begun + 4)):
        game.press(f"Control+{key}")
        moves.filter(has_text=f"Moves: {count}").wait_for()


def test_a_game_is_watched(lab):
    """Play starts the game, which then continues to its end without further input."""
    game = shown(lab, "watch")
    game.part("play").focus()
    game.press("Enter")
    for _ in range(2):
        game.part("faster").click()
    game.wait_for("x has won.")
    game.root.locator(".picture").focus()
    game.press("ArrowLeft")
    game.wait_for("Move 6.")


def test_in_every_window(lab):
    """On a laptop, a phone and at 200 % zoom, in both themes, the whole board with its values is
    visible and legible, and axe finds nothing serious.
    """
    for name in BOARDS:
        game = shown(lab, name)
        if name == "watch":
            game.part("next").click()
            game.wait_for("Move 1.")
        elif game.part("values").count():
            game.part("values").click()
            game.root.locator(".value").first.wait_for()
    lab.wait_until(
        lambda: shown_now(lab, "qubic").root.locator(".value").count() == 64,
        "some values are missing",
    )
    assert "in thousands" in shown_now(lab, "sequence").status()
    numbers = {name: list(CELLS).index(name) for name in BOARDS}
    assert faults(lab, numbers, "board") == {}


def test_boards_are_dark_on_a_dark_page(lab):
    """Pictures of boards are dark as well; other pictures are not."""
    lab.use_theme("Dark")
    for name, turned in (("picture", True), ("another's", False)):
        lab.run_cell(list(CELLS).index(name))
        picture = lab.page.locator(".jp-OutputArea-output > img[src^='data:image/svg']").last
        assert ("invert" in picture.evaluate("image => getComputedStyle(image).filter")) is turned
    paper = "svg => getComputedStyle(svg.querySelector('rect')).fill"
    assert shown(lab, "board").root.locator("svg").first.evaluate(paper) == "rgb(27, 27, 27)"


def test_boards_survive(lab, opened):
    """After a restart the board explains what to do; reopened, it is a picture of the last position
    with the same text. No error, dead button or hidden card is visible.
    """
    _, server = opened
    easy, sequence = list(CELLS).index("easy"), list(CELLS).index("sequence")
    shown(lab, "sequence")
    game = shown(lab, "easy")
    game.part("4").click()
    game.wait_for("First plays cell 0")
    lab.show_cell(easy).locator(".board-still img[alt^='o - -; - x -']").wait_for(state="attached")
    lab.command("docmanager:save")
    lab.page.reload()
    wait_for_notebook(lab, server)
    alive = lab.show_cell(easy).locator(".click-board")  # the kernel still has the game
    alive.locator("[data-move='8']").click()
    alive.locator(".status", has_text="First plays cell 1").wait_for()
    lab.evaluate(
        "() => jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart().then(() => 0)"
    )
    alive.locator(".status", has_text="Run this cell to continue").wait_for()
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
        assert "Run this cell to continue" in told[-1]
        assert "model not found" not in "".join(told)
    lab.screenshot("board-reopened")
    alt = re.search('alt="([^"]*)"', str(saved["cells"][easy]["outputs"])).group(1)
    assert alt.startswith("o - -; - x -; - - -")
    assert "Hand of player 1" not in json.dumps(saved["cells"][sequence]["outputs"])
    lab.run_cell(0)
    assert shown(lab, "easy").moves() == list("012345678")
