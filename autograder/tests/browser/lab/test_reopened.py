"""Reopened notebooks: each kind of widget keeps its last picture and explains what to do."""

import importlib
import inspect
import pkgutil
import time
from collections.abc import Iterator
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from ipywidgets import DOMWidget

import autograder.dashboard
import sequence.widget
import tictactoe.boards
import tictactoe.explorables
from autograder.benchmarks.support.browser.harness import TOKEN, lab_path
from autograder.benchmarks.support.browser.widgets import NOTEBOOK, open_notebook
from autograder.course_folder import CourseFolder
from autograder.dashboard import layout
from autograder.dashboard.background.message import Message
from autograder.release.assignments import generate_assignment
from course.checks import load_study
from tictactoe.boards.click_board import BoardDisplay, ClickBoard

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]
PACKAGES = (tictactoe.boards, tictactoe.explorables, sequence.widget, autograder.dashboard)
BY_COMMAND = {"autograder.dashboard.buttons.dashboard"}  # shows something and returns nothing
IMPORTS = """import sequence.widget
from autograder.dashboard.buttons import dashboard
from autograder.dashboard.marking.page import mark_answers
from autograder.workspace import load_answer
from course.plots import boards
from sequence import Greedy, example, play
from sequence.widget.hidden_hand import hidden_hand
from sequence.widget.rays import read_along
from sequence.widget.replies import reply_board
from sequence.widget.scores import score_board
from tictactoe import Board, ConnectFour, Qubic, WinOrBlock
from tictactoe.explorables.counts import compare_counts
from tictactoe.explorables.explorer import explore
from tictactoe.explorables.growth import growing_tree
from tictactoe.explorables.select import option_slider
from tictactoe.boards.play_board import play_against
from tictactoe.boards.watch_board import watch
from tictactoe.explorables.weights import weights_on_board
blocker, alphabeta = WinOrBlock(1), load_answer("study2").AlphaBeta()
seen, game = example("1/18"), play([Greedy(), Greedy()], seed=1)"""
CELLS = {  # function that shows a widget -> cells that call it
    "tictactoe.boards.play_board.play_against": (
        "play_against(blocker)",
        "play_against(blocker, start=Qubic())",
        "play_against(blocker, start=ConnectFour())",
    ),
    "tictactoe.boards.watch_board.watch": ("watch({'x': blocker, 'o': blocker}, ConnectFour())",),
    "tictactoe.explorables.explorer.explore": ("explore(alphabeta, Board('x__ox__xo'))",),
    "tictactoe.explorables.counts.compare_counts": (
        "compare_counts({'AlphaBeta': alphabeta}, Board('x___o____'))",
    ),
    "tictactoe.explorables.growth.growing_tree": (
        "growing_tree(load_answer('study9').UCT(9, seed=1), Board('x___o___x'))",
    ),
    "tictactoe.explorables.select.option_slider": (
        "option_slider('board', 'xo', lambda who: boards([Board().after('xo'.index(who))], [who]))",
    ),
    "tictactoe.explorables.weights.weights_on_board": (
        "weights_on_board([('first', {'a': 1}), ('last', {'a': 2})], Board('x___o____'),"
        " lambda weights: {3: weights['a']})",
    ),
    "sequence.widget.play": ("sequence.widget.play()",),
    "sequence.widget.replay": ("sequence.widget.replay(game)",),
    "sequence.widget.watch": ("sequence.widget.watch([Greedy(), Greedy()])",),
    "sequence.widget.hidden_hand.hidden_hand": ("hidden_hand(game.states)",),
    "sequence.widget.rays.read_along": (
        "read_along('m' * 100, (4, 1), {'right': (0, 1)}, lambda text: [len(text)], ['cells'])",
    ),
    "sequence.widget.replies.reply_board": (
        "reply_board(seen, seen.legal_actions()[:2], lambda action: {action: 1})",
    ),
    "sequence.widget.scores.score_board": (
        "score_board(seen, [(4, 4)], lambda cell, line: line, {'line': (1, 2)})",
    ),
    "autograder.dashboard.marking.page.mark_answers": ("mark_answers('study2')",),
    "autograder.dashboard.buttons.dashboard": ("dashboard()",),
}
SOURCES = [source for sources in CELLS.values() for source in sources]
WHOLE = "explore("  # keeps the whole tree, not the current step
PARTS = "button, input, select, [data-move]"
CHANGES = {  # element that changes or stops a board; the first one counts -> key
    "button[data-move='pause']": "Enter",
    "button[data-move='next']": "Enter",
    ".options input": "ArrowRight",
    "svg [data-move]": "Enter",
}
SAYS = """cell => [...cell.querySelectorAll(".jp-OutputArea-child")]
  .filter(output => getComputedStyle(output).display !== "none")
  .map(output => output.innerText).join(" ")"""


def defined_in(package) -> Iterator[object]:
    """The public classes and functions of a package's modules, each where it is defined."""
    for name in [
        package.__name__,
        *(found.name for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")),
    ]:
        for key, thing in vars(importlib.import_module(name)).items():
            if getattr(thing, "__module__", "") == name and not key.startswith("_"):
                yield thing


def is_kind(thing: object) -> bool:
    """Whether `kind` is a widget class or the class of something a widget shows."""
    return inspect.isclass(thing) and issubclass(thing, (BoardDisplay, DOMWidget))


def shown_by(function: object) -> object:
    """The annotated return type of a function."""
    return inspect.isfunction(function) and inspect.signature(function).return_annotation


def test_no_kind_of_widget_is_forgotten():
    """Each function that shows a widget has a cell here, and each kind of widget has a function."""
    things = [thing for package in PACKAGES for thing in defined_in(package)]
    makers = {
        f"{thing.__module__}.{thing.__name__}": shown_by(thing)
        for thing in things
        if is_kind(shown_by(thing)) and thing.__module__ != layout.__name__
    }
    assert set(CELLS) == makers.keys() | BY_COMMAND
    kinds = {thing for thing in things if is_kind(thing) and not thing.__subclasses__()}
    # ClickBoard is the base of all the others, and messages are parts of the overview.
    assert kinds <= {*makers.values(), ClickBoard, Message}


@pytest.fixture
def opened(tmp_path):
    """A course folder in JupyterLab, with a notebook that has every kind of widget."""
    course = CourseFolder.create(tmp_path / "course")
    generate_assignment(course, load_study("study2"))
    with open_notebook(course.root, tmp_path / "private", [IMPORTS, *SOURCES]) as (browser, server):
        yield browser, server


def change(lab, number: int) -> str:
    """Run a cell and play on in it; return the text of the picture that remains, if any."""
    lab.run_cell(number)
    cell = lab.show_cell(number).locator(".jp-Cell-outputArea")
    cell.locator(PARTS).locator("visible=true").first.wait_for()
    assert "un this cell" not in cell.evaluate(SAYS)
    if not cell.locator(".click-board").count():
        return ""
    status, picture = cell.locator(".status"), cell.locator(".picture svg").first
    before = status.inner_text(), picture.get_attribute("aria-label")
    part, key = next(item for item in CHANGES.items() if cell.locator(item[0]).count())
    cell.locator(part).first.focus()
    lab.page.keyboard.press(key)
    lab.wait_until(
        lambda: (
            before != (status.inner_text(), picture.get_attribute("aria-label"))
            and not cell.locator(".thinking").count()
        ),
        f"cell {number} does not answer",
    )
    left = cell.locator(".board-still img")
    if WHOLE not in SOURCES[number - 1]:
        lab.wait_until(
            lambda: left.get_attribute("alt") == picture.get_attribute("aria-label"),
            f"the picture that cell {number} leaves is an old one",
        )
    return left.get_attribute("alt")


def end_session(server, session: str) -> None:
    """End a session and its kernel; the server refuses to while the kernel is restarting."""
    request = Request(
        f"{server.url}/api/sessions/{session}",
        method="DELETE",
        headers={"Authorization": f"token {TOKEN}"},
    )
    for remaining in reversed(range(20)):
        try:
            urlopen(request, timeout=10).close()
            return
        except HTTPError as error:
            if error.code == 404:  # ended by an earlier attempt
                return
            if not remaining:
                raise
            time.sleep(1)


def reopen(lab, server) -> None:
    """Save the notebook, end its kernel, and reopen Lab."""
    lab.command("docmanager:save")
    for session in server.ask("sessions"):
        end_session(server, session["id"])
    lab.open(server, lab_path(NOTEBOOK))
    lab.wait_for_lab()
    lab.page.wait_for_function(
        "path => window.jupyterapp?.shell.currentWidget?.context?.path === path", arg=NOTEBOOK
    )


def stop(lab, server) -> None:
    """After a kernel restart, each widget that needs the kernel shows a notice or is replaced by
    one.
    """
    lab.restart_kernel()
    lab.wait_for_notebook(server, NOTEBOOK)
    for number, source in enumerate(SOURCES, 1):
        cell = lab.show_cell(number).locator(".jp-Cell-outputArea")
        lab.wait_until(lambda cell=cell: "un this cell to" in cell.evaluate(SAYS), source)
        broken = cell.locator(".leaves-words.jupyter-widgets-disconnected")
        assert not broken.locator("visible=true").count(), source


def look(lab, number: int, left: str) -> None:
    """A cell shows its last picture and explains what to do; it has no dead buttons."""
    cell = lab.show_cell(number).locator(".jp-Cell-outputArea")
    source = SOURCES[number - 1]
    if left:
        picture = cell.locator(".board-still img")
        picture.wait_for()
        assert picture.get_attribute("alt") == left, source
        assert picture.evaluate("image => image.naturalWidth"), source
    told = cell.evaluate(SAYS)
    assert "un this cell to" in told, (source, told)
    assert "model not found" not in told, source
    assert "Loading widget" not in told, source
    assert cell.locator(PARTS).count() == 0, source


def test_every_widget_leaves_its_last_picture(opened):
    """Without a kernel, and with a new one, there are no errors and no dead buttons."""
    lab, server = opened
    lab.run_cell(0)
    left = {number: change(lab, number) for number in range(1, len(SOURCES) + 1)}
    stop(lab, server)
    lab.page.route(
        "**/api/sessions*",
        lambda route: route.fallback() if route.request.method == "GET" else None,
    )  # the kernel that it tried to reach is gone
    reopen(lab, server)
    for number, words in left.items():
        look(lab, number, words)
    lab.screenshot("reopened")
    assert server.ask("sessions") == []
    lab.page.unroute("**/api/sessions*")
    reopen(lab, server)
    lab.wait_for_notebook(server, NOTEBOOK)
    for number, words in left.items():
        look(lab, number, words)
