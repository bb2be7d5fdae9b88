"""Explorables in JupyterLab: keyboard only, both themes, a narrow screen, no kernel."""

import shutil

import pytest

from autograder.benchmarks.support.browser.examples import EXPLORABLE_IMPORTS, EXPLORABLES
from autograder.benchmarks.support.browser.widgets import Widget, open_notebook
from autograder.tests.support.pages.widget_faults import faults
from autograder.workspace import answer_path
from course.checks import load_study

pytestmark = [pytest.mark.slow, pytest.mark.content, pytest.mark.xdist_group("browser")]
STUDIES = ("study5", "study6", "study7", "study8", "study9")
PAPER = "svg => getComputedStyle(svg.querySelector('rect')).fill"
TO_THE_MIDDLE = """slider => { slider.value = Math.floor(slider.max / 2);
  slider.dispatchEvent(new Event("input", { bubbles: true })) }"""
DARK_PAPER = "rgb(27, 27, 27)"


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    """A browser with a notebook of all explorables and the reference's modules, and its server."""
    root, private = tmp_path_factory.mktemp("explorables"), tmp_path_factory.mktemp("private")
    for study in STUDIES:
        shutil.copy(answer_path(load_study(study)), root)
    with open_notebook(root, private, [EXPLORABLE_IMPORTS, *EXPLORABLES.values()]) as (
        browser,
        server,
    ):
        browser.run_cell(0)
        yield browser, server


@pytest.fixture
def lab(opened):
    """The browser, in the light theme."""
    browser, _ = opened
    browser.use_theme("Light")
    return browser


def shown(browser, name: str) -> Widget:
    return Widget(browser, 1 + list(EXPLORABLES).index(name))


def words(widget: Widget) -> str:
    """The alternative text of the picture."""
    return widget.root.locator("svg").first.get_attribute("aria-label")


def test_steps_by_keyboard(lab):
    """Arrow keys on the slider and on the picture change the picture; End shows the last one."""
    for name, (first, second, last) in {
        "weights": ("After 0 games", "After 50 games", "After 400 games"),
        "replies": ("1 of 9", "2 of 9", "9 of 9"),
        "hidden hand": ("0 of 55", "1 of 55", "55 of 55"),
        "ray": ("right, 0 of 8", "right, 1 of 8", "right, 8 of 8"),
        "growing tree": ("6 of 60", "7 of 60", "60 of 60"),
    }.items():
        widget = shown(lab, name)
        widget.wait_for(first)
        before = words(widget)
        widget.root.locator("input[data-slider='step']").focus()
        widget.press("ArrowRight")
        widget.wait_for(second)
        assert words(widget) != before, name
        widget.press("ArrowLeft")
        widget.wait_for(first)
        widget.root.locator(".picture").focus()
        widget.press("ArrowRight")
        widget.wait_for(second)
        widget.press("End")
        widget.wait_for(last)


def test_sliders_by_keyboard(lab):
    """Tab moves between sliders, and the arrow keys change their values, which are displayed."""
    widget = shown(lab, "scores")
    widget.wait_for("blocking = 0, line = 1, line_exponent = 2. The best cells: 5,5 with 71")
    knob = widget.root.locator(".options input").first
    assert (knob.get_attribute("aria-label"), knob.get_attribute("aria-valuetext")) == (
        "blocking",
        "0",
    )
    knob.focus()
    widget.press("ArrowRight", "ArrowRight")
    widget.wait_for("blocking = 1, line = 1, line_exponent = 2. The best cells: 4,6 with 136")
    assert knob.get_attribute("aria-valuetext") == "1"
    before = words(widget)
    widget.press("Tab", "ArrowRight")
    widget.wait_for("blocking = 1, line = 2, line_exponent = 2. The best cells: ")
    assert words(widget) != before
    ray = shown(lab, "ray")
    ray.part("last").focus()
    ray.press("Enter")
    ray.wait_for("right, 8 of 8")
    ray.root.locator(".options input").focus()
    ray.press("ArrowRight")
    ray.wait_for("down, 5 of 5 cells")
    single = shown(lab, "knob")
    single.wait_for("board = x")
    single.root.locator(".picture").focus()
    single.press("ArrowRight")
    single.wait_for("board = o")
    assert "for o" in words(single)


def test_a_tree_grows_by_itself(lab):
    """Play and Pause work by keyboard."""
    widget = shown(lab, "growing tree")
    widget.part("play").focus()
    widget.press("Enter")
    widget.wait_for("8 of 60: ")
    widget.part("pause").focus()
    widget.press("Enter")
    widget.part("play").wait_for()


def test_in_every_window(lab):
    """On a laptop, a phone and at 200 % zoom, in both themes, the whole picture is visible and
    legible, at the beginning and later on, and axe finds nothing serious.
    """
    numbers = {name: 1 + number for number, name in enumerate(EXPLORABLES)}
    for widget in (shown(lab, name) for name in EXPLORABLES):
        assert widget.root.locator("svg").first.is_visible()
    assert faults(lab, {"growing tree": numbers["growing tree"]}, "explore-begun") == {}
    for name in EXPLORABLES:
        if name not in ("scores", "knob"):
            widget = Widget(lab, numbers[name], run=False)
            widget.root.locator("input[data-slider='step']").evaluate(TO_THE_MIDDLE)
    assert faults(lab, numbers, "explore") == {}
    lab.use_theme("Dark")
    paper = Widget(lab, numbers["weights"], run=False).root.locator("svg").first.evaluate(PAPER)
    assert paper == DARK_PAPER


def test_without_its_kernel_it_is_a_picture(lab, opened):
    """After a restart the picture stays, without buttons or sliders, and explains what to do."""
    _, server = opened
    ray = shown(lab, "ray")
    ray.part("last").focus()
    ray.press("Enter")
    ray.wait_for("right, 8 of 8")
    lab.evaluate(
        "() => jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart().then(() => 0)"
    )
    lab.wait_until(lambda: server.kernel_is_idle("widgets.ipynb"), "the kernel is not idle")
    ray.wait_for("Run this cell to continue")
    assert ray.root.locator("button, input").count() == 0
    assert "mm_m____#" in words(ray)
    lab.run_cell(0)
    shown(lab, "ray").wait_for("right, 0 of 8")
    assert lab.elsewhere == []
