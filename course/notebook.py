"""The extension that `%load_ext course.notebook` loads for a notebook and the modules in its folder.

It reloads saved modules before the next cell runs. If a function is not implemented yet, or belongs
to a module that cannot be loaded, the error is one line instead of a traceback, and *Run All*
continues with the next cell. When nbgrader runs the notebook, the extension does nothing, so a cell
that cannot run raises an error.
"""

import os
import sys
import traceback
from pathlib import Path
from types import TracebackType
from typing import Any, TypeGuard

from course.checks import load_study, studies
from course.lab.imported_names import ImportedNames
from course.lab.live_modules import BrokenModule, LiveModules, MissingModule
from course.lab.progress import STUB_PREFIX

STUB_MESSAGE = ": write this "  # in every stub's error, after the name of the missing function
HANDLED_ERRORS = (NotImplementedError, ImportError, NameError, MissingModule)


def load_ipython_extension(shell: Any) -> None:
    """Called by `%load_ext`."""
    if "NBGRADER_EXECUTION" in os.environ or shell.custom_exceptions:
        return
    if "autoreload" in shell.magics_manager.magics["line"]:  # in older notebooks
        shell.run_line_magic("autoreload", "0")
    support = NotebookSupport(shell)
    shell.set_custom_exc(HANDLED_ERRORS, support.show_error)
    shell.events.register("pre_run_cell", support.before_cell)
    shell.events.register("post_run_cell", support.after_cell)
    if sys.platform == "emscripten":
        _handle_missing_packages(shell, support)
        _suppress_empty_outputs(shell.displayhook)


class NotebookSupport:
    """Keeps the modules of a notebook's folder, and the names imported from them, up to date."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self._explained: BaseException | None = None  # the last explained error
        self._modules = LiveModules(Path.cwd())
        self._names = ImportedNames(
            shell.user_ns,
            self._modules,
            frozenset(load_study(name).module.removesuffix(".py") for name in studies()),
        )
        sys.meta_path.insert(0, self._modules)

    def before_cell(self, info: Any) -> None:
        """Reload saved modules, and clear the notebook's caches, whose results may be outdated."""
        if self._modules.refresh():
            self._names.update()
            for value in list(self._shell.user_ns.values()):
                if getattr(value, "__module__", None) == "__main__" and hasattr(
                    value, "cache_clear"
                ):
                    value.cache_clear()

    def after_cell(self, result: Any) -> None:
        """Record the cell's imports. If its error was explained, mark the cell as successful,
        because the frontend cancels queued cells after an error."""
        self._shell.extension_manager.loaded.discard(__name__)  # for a second run of the first cell
        self._names.record_imports(_python_code(result.info.raw_cell, self._shell))
        if result.error_in_exec is self._explained:
            result.error_in_exec = None
        self._explained = None

    def message(self, error: BaseException | None) -> str | None:
        """The message to show instead of a traceback, or None to show the traceback."""
        if isinstance(error, (BrokenModule, MissingModule)):
            return str(error)
        if isinstance(error, (ImportError, NameError)):
            return self._names.explain(error)
        if _is_stub_error(error) and self._modules.have_changed():
            return "A module was saved while this cell ran. Run the cell again."
        return stub_message(error)

    def show_error(
        self,
        shell: Any,
        kind: type,
        error: BaseException,
        trace: TracebackType,
        tb_offset: int | None = None,
    ) -> None:
        """Show an error of a cell: IPython calls this for `HANDLED_ERRORS`."""
        message = self.message(error)
        if message:
            print(message)
            self._explained = error
        else:
            shell.showtraceback((kind, error, trace), tb_offset)


def stub_message(error: BaseException | None) -> str | None:
    """The function to write and its location, or None if the error is not a stub's."""
    if not _is_stub_error(error):
        return None
    frame = traceback.extract_tb(error.__traceback__)[-1]
    if not (frame.line or "").startswith(STUB_PREFIX):
        return None
    name = str(error).partition(STUB_MESSAGE)[0]
    return (
        f"Not written yet: {name}, in {Path(frame.filename).name}, line {frame.lineno}. "
        "Write it, save the module, and run this cell again."
    )


def _is_stub_error(error: BaseException | None) -> TypeGuard[NotImplementedError]:
    return isinstance(error, NotImplementedError) and STUB_MESSAGE in str(error)


def _python_code(cell: str, shell: Any) -> str:
    """The Python code of a cell; for a cell magic such as `%%time`, the code below the first line."""
    if cell.lstrip().startswith("%%"):
        cell = cell.lstrip().partition("\n")[2]
    return str(shell.transform_cell(cell))


def _suppress_empty_outputs(hook: Any) -> None:
    """In a browser, show no output number for a result that has nothing to display.

    The browser's kernel sends a result for every cell, even an empty one.
    """
    send_result = hook.finish_displayhook

    def finish() -> None:
        if getattr(hook, "data", None) != {}:
            send_result()

    hook.finish_displayhook = finish


def _handle_missing_packages(shell: Any, support: NotebookSupport) -> None:
    """In a browser, cells that need numpy show stored outputs, and a check whose games need
    processes states where it can run."""
    from course.checks.running.in_process import NeedsProcesses
    from course.lab.numpy_fallback import MissingPackages, install_fallback
    from course.lab.prerendered import running_cell

    missing = MissingPackages()

    def show(
        shell: Any,
        kind: type,
        error: BaseException,
        trace: TracebackType,
        tb_offset: int | None = None,
    ) -> None:
        stored = None if support.message(error) else missing.outputs(error, running_cell())
        if isinstance(error, NeedsProcesses):
            print(f"This check cannot run here: {error}.")
        elif stored is None:
            support.show_error(shell, kind, error, trace, tb_offset)
        else:
            from IPython.display import HTML, display

            for page in (f"<p><em>{stored[0]}</em></p>", *stored[1]):
                display(HTML(page))

    install_fallback(shell)
    shell.set_custom_exc((*HANDLED_ERRORS, NeedsProcesses), show)
