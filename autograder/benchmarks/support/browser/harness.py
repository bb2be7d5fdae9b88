"""Opens a folder in JupyterLab, which is started with the kit's own command, and in a headless
Chromium.

The server has its own config, data and runtime folders and a fixed token. Requests to other hosts are
recorded and blocked. Screenshots are saved in `build/screenshots/`, which git ignores.
"""

import contextlib
import importlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.parse import quote
from urllib.request import Request, urlopen

from autograder.benchmarks.support.cluster import free_port
from autograder.release.derive import COURSE
from course.lab.progress import RESULTS_FILE
from course.lab.start_page import PAGE

KIT = Path(__file__).parents[4]
SCREENSHOTS = KIT / "build" / "screenshots"
TOKEN = "for-the-tests"
SECONDS = 120  # time limit of all waits
WINDOW = {"width": 1200, "height": 820}
RELOAD_ERRORS = ("context was destroyed", "garbage collected")  # while a page is reloaded
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
OFFLINE = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"

# run.py, with the environment of the tests instead of `.venv`.
RUN_SCRIPT = """
import os, runpy, sys
from types import SimpleNamespace
run = SimpleNamespace(**runpy.run_path(sys.argv[1]))
names = run.main.__globals__
names.update(VENV=sys.prefix, BIN=os.path.dirname(sys.executable), PYTHON=sys.executable,
             set_up=lambda *extras: None)
sys.exit(run.main(sys.argv[2:]))
"""


class Missing(Exception):
    """A program or package that drives the browser is not installed."""


@dataclass(frozen=True)
class Server:
    """A running JupyterLab server."""

    root: Path
    url: str
    log: Path
    started: float  # when its command was started, as `time.monotonic`

    def ask(self, path: str) -> Any:
        """Return the response of the server's API."""
        request = Request(f"{self.url}/api/{path}", headers={"Authorization": f"token {TOKEN}"})
        with urlopen(request, timeout=10) as answer:
            return json.load(answer)

    def kernel_is_idle(self, path: str) -> bool:
        """Whether the notebook at `path` has an idle kernel to which a page is connected."""
        kernels = [s["kernel"] for s in self.ask("sessions") if s["path"] == path]
        return any(k["execution_state"] == "idle" and k["connections"] for k in kernels)


def students_course(root: Path) -> Path:
    """Make a copy of the kit's public course, in the form that `python3 run.py lab` opens."""
    return shutil.copytree(
        COURSE,
        root / "kit" / "course",
        ignore=shutil.ignore_patterns("__pycache__", RESULTS_FILE, PAGE),
    )


@contextlib.contextmanager
def serve(root: Path, private: Path) -> Iterator[Server]:
    """Run `python3 run.py lab ROOT` with private folders in `private` until the end of the block."""
    places = {
        "JUPYTER_CONFIG_DIR": "config",
        "JUPYTER_DATA_DIR": "data",
        "JUPYTER_RUNTIME_DIR": "runtime",
        "IPYTHONDIR": "ipython",
        "MPLCONFIGDIR": "mpl",
    }
    environment = os.environ | {key: str(private / name) for key, name in places.items()}
    port = free_port()
    private.mkdir(parents=True, exist_ok=True)
    log = private / "server.log"
    with log.open("w") as file:
        started = time.monotonic()
        process = subprocess.Popen(
            [
                sys.executable,
                "-c",
                RUN_SCRIPT,
                KIT / "run.py",
                "lab",
                root,
                "--no-browser",
                "--allow-root",
                f"--ServerApp.port={port}",
                "--ServerApp.port_retries=0",
                f"--IdentityProvider.token={TOKEN}",
                "--expose-app-in-browser",
            ],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
            start_new_session=True,
        )
        server = Server(root, f"http://127.0.0.1:{port}", log, started)
        try:
            wait_until(lambda: _answers(server, process), "JupyterLab did not start")
            yield server
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(10)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _answers(server: Server, process: subprocess.Popen) -> bool:
    assert process.poll() is None, server.log.read_text("utf-8")
    try:
        return bool(server.ask("status"))
    except (URLError, OSError):
        return False


def wait_until(
    true: Callable[[], Any], problem: str, sleep: Callable[[float], Any] = time.sleep
) -> Any:
    """Wait until a function returns a true value, and return it; `problem` describes a failure."""
    end = time.monotonic() + SECONDS
    while not (value := true()):
        assert time.monotonic() < end, f"{problem} within {SECONDS} s"
        sleep(0.1)
    return value


@dataclass
class Browser:
    """One window of a headless Chromium."""

    page: Any
    elsewhere: list[str] = field(default_factory=list)  # requests to other hosts

    def record(self, url: str) -> None:
        """Record a request to another host."""
        if url.startswith("http") and not url.startswith("http://127.0.0.1:"):
            self.elsewhere.append(url)

    def open(self, server: Server, path: str) -> None:
        """Open a page of the server."""
        joint = "&" if "?" in path else "?"
        self.page.goto(f"{server.url}/{path}{joint}token={TOKEN}")

    def evaluate(self, script: str, argument: Any = None) -> Any:
        """Return the result of a JavaScript function; an error after the time limit lists open
        dialogs.
        """
        return self.page.evaluate(
            """([script, argument, limit]) => Promise.race([
                 Promise.resolve((0, eval)(script)(argument)),
                 new Promise((_, fail) => setTimeout(() => fail(Error("time limit, open dialogs: " +
                   [...document.querySelectorAll(".jp-Dialog")].map((one) => one.innerText))),
                   limit))])""",
            [script, argument, SECONDS * 1000],
        )

    def command(self, name: str, **arguments: Any) -> None:
        """Run one of Lab's commands and wait until it has finished."""
        self.evaluate(
            "([name, args]) => jupyterapp.commands.execute(name, args).then(() => 0)",
            [name, arguments],
        )

    def use_theme(self, name: str) -> None:
        """Switch Lab's theme to "Light" or "Dark", and wait for the change."""
        theme = f"JupyterLab {name}"
        self.command("apputils:change-theme", theme=theme)
        self.page.wait_for_function("name => document.body.dataset.jpThemeName === name", arg=theme)

    def wait_for_lab(self) -> None:
        """Wait until Lab has restored its window; it may reload its page in the process."""
        self.wait_until(self._is_restored, "Lab has not restored its window")

    def _is_restored(self) -> bool:
        from playwright.sync_api import Error

        try:
            return self.evaluate("() => window.jupyterapp?.restored.then(() => true)")
        except Error as error:
            if not any(words in str(error) for words in RELOAD_ERRORS):
                raise
            return False

    def wait_for_notebook(self, server: Server, path: str) -> None:
        """Wait until the notebook at `path` is the current tab and has an idle kernel."""
        self.page.wait_for_function(
            "path => window.jupyterapp?.shell.currentWidget?.context?.path === path", arg=path
        )
        self.evaluate("() => jupyterapp.shell.currentWidget.context.ready.then(() => 0)")
        self.wait_until(lambda: server.kernel_is_idle(path), f"the kernel of {path} is not idle")

    def wait_until(self, true: Callable[[], Any], problem: str) -> Any:
        """Like the function `wait_until`, but the browser continues while waiting."""
        return wait_until(true, problem, lambda s: self.page.wait_for_timeout(1000 * s))

    def restart_kernel(self) -> None:
        """Restart the current notebook's kernel from Lab's menu, and confirm it in Lab's dialog."""
        self.page.get_by_role("menuitem", name="Kernel").click()
        self.page.get_by_role("menuitem", name="Restart Kernel…").click()
        dialog = self.page.locator(".jp-Dialog")
        dialog.locator(".jp-mod-accept").click()
        dialog.wait_for(state="detached")

    def run_all(self) -> None:
        """Run every cell of the current notebook and wait until all have finished."""
        self.command("notebook:run-all-cells")

    def run_cell(self, number: int) -> None:
        """Run one cell of the current notebook and wait until it has finished."""
        self.show_cell(number)
        self.command("notebook:run-cell")

    def cells(self) -> list[dict]:
        """Return the cells of the current notebook in the page, with their outputs."""
        return self.evaluate(
            "() => jupyterapp.shell.currentWidget.content.model.sharedModel.toJSON().cells"
        )

    def write_cell(self, number: int, text: str) -> None:
        """Put a text into a cell of the current notebook."""
        self.evaluate(
            "([n, text]) => jupyterapp.shell.currentWidget.content.widgets[n].model"
            ".sharedModel.setSource(text)",
            [number, text],
        )

    def show_cell(self, number: int) -> Any:
        """Scroll to a cell of the current notebook; return it."""
        self.evaluate(
            "n => { const book = jupyterapp.shell.currentWidget.content;"
            " book.activeCellIndex = n; return book.scrollToItem(n, 'start')"
            ".then(() => 0) }",
            number,
        )
        cell = self.page.locator(
            f".jp-NotebookPanel:not(.lm-mod-hidden) .jp-Cell[data-windowed-list-index='{number}']"
        )
        cell.wait_for()
        return cell

    def screenshot(self, name: str, rest: int = 300) -> Path:
        """Save a picture of the window as `build/screenshots/NAME.png`, after transitions have
        ended (`rest` milliseconds).
        """
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        path = SCREENSHOTS / f"{name}.png"
        self.page.wait_for_timeout(rest)
        self.page.screenshot(path=path)
        return path


@contextlib.contextmanager
def browse() -> Iterator[Browser]:
    """Open a new window of the system's Chromium. Raises `Missing` if Chromium or Playwright is
    missing.
    """
    if find_spec("playwright") is None:
        raise Missing("playwright is not installed")
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        raise Missing(f"{BROWSERS[0]} is not installed")
    api = importlib.import_module("playwright.sync_api")
    with api.sync_playwright() as playwright:
        options = [OFFLINE] if os.name == "nt" or os.geteuid() else [OFFLINE, "--no-sandbox"]
        chromium = playwright.chromium.launch(executable_path=program, args=options)
        context = chromium.new_context(viewport=WINDOW, locale="en-GB", timezone_id="UTC")
        context.set_default_timeout(SECONDS * 1000)
        browser = Browser(context.new_page())
        context.on("request", lambda request: browser.record(request.url))
        try:
            yield browser
        finally:
            chromium.close()


def lab_path(path: str) -> str:
    """Return the server's address of a file in Lab's full window."""
    return f"lab/tree/{quote(path)}?reset"
