"""What `%load_ext course.notebook` does for a notebook and the modules in its folder.

It reloads saved modules before the next cell runs. What is not written yet, or belongs to a module
that cannot be loaded, is reported in one line instead of a traceback, and *Run All* continues below
the cell. Where nbgrader runs the notebook it does nothing: a cell that could not run is an
error there, as everywhere else.
"""

import os
import sys
import traceback
from pathlib import Path
from types import TracebackType
from typing import Any, TypeGuard

from course.imported_names import ImportedNames
from course.live_modules import BrokenModule, LiveModules, MissingModule
from course.probes import load_study, studies
from course.progress import TO_WRITE

STUB_MESSAGE = ": write this "  # what every stub's error says after the name of what is missing
EXPLAINED = (NotImplementedError, ImportError, NameError, MissingModule)  # most of them are not


def load_ipython_extension(shell: Any) -> None:
    """Called by `%load_ext`."""
    if "NBGRADER_EXECUTION" in os.environ or shell.custom_exceptions:
        return
    if "autoreload" in shell.magics_manager.magics["line"]:  # notebooks released before
        shell.run_line_magic("autoreload", "0")
    support = NotebookSupport(shell)
    shell.set_custom_exc(EXPLAINED, support.show_error)
    shell.events.register("pre_run_cell", support.before_cell)
    shell.events.register("post_run_cell", support.after_cell)
    if sys.platform == "emscripten":
        _explain_what_is_missing(shell, support)
        _leave_no_empty_output(shell.displayhook)


class NotebookSupport:
    """Keeps the modules of a notebook's folder and the names imported from them up to date."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self._explained: BaseException | None = None  # the error of the cell, if it is explained
        self._modules = LiveModules(Path.cwd())
        self._names = ImportedNames(
            shell.user_ns,
            self._modules,
            frozenset(load_study(name).module.removesuffix(".py") for name in studies()),
        )
        sys.meta_path.insert(0, self._modules)

    def before_cell(self, info: Any) -> None:
        """Reload what was saved. Caches in the notebook may hold results of the code before it."""
        if self._modules.refresh():
            self._names.update()
            for value in list(self._shell.user_ns.values()):
                if getattr(value, "__module__", None) == "__main__" and hasattr(
                    value, "cache_clear"
                ):
                    value.cache_clear()

    def after_cell(self, result: Any) -> None:
        """Note what the cell imported. If its error is explained, let it count as run: the frontend
        stops what is queued after an error."""
        self._shell.extension_manager.loaded.discard(__name__)  # the first cell may be run again
        self._names.note(_python_in(result.info.raw_cell, self._shell))
        if result.error_in_exec is self._explained:
            result.error_in_exec = None
        self._explained = None

    def message(self, error: BaseException | None) -> str | None:
        """What to show instead of a traceback; None if the traceback should be shown."""
        if isinstance(error, (BrokenModule, MissingModule)):
            return str(error)
        if isinstance(error, (ImportError, NameError)):
            return self._names.explain(error)
        if _is_of_a_stub(error) and self._modules.have_changed():
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
        """Show an error of a cell: IPython calls this for the kinds in `EXPLAINED`."""
        message = self.message(error)
        if message:
            print(message)
            self._explained = error
        else:
            shell.showtraceback((kind, error, trace), tb_offset)


def stub_message(error: BaseException | None) -> str | None:
    """What to write, and where; None if the error is not a stub's."""
    if not _is_of_a_stub(error):
        return None
    frame = traceback.extract_tb(error.__traceback__)[-1]
    if not (frame.line or "").startswith(TO_WRITE):
        return None
    name = str(error).partition(STUB_MESSAGE)[0]
    return (
        f"Not written yet: {name}, in {Path(frame.filename).name}, line {frame.lineno}. "
        "Write it, save the module, and run this cell again."
    )


def _is_of_a_stub(error: BaseException | None) -> TypeGuard[NotImplementedError]:
    return isinstance(error, NotImplementedError) and STUB_MESSAGE in str(error)


def _python_in(cell: str, shell: Any) -> str:
    """A cell without what is not Python; of a `%%time` cell, what follows the first line."""
    if cell.lstrip().startswith("%%"):
        cell = cell.lstrip().partition("\n")[2]
    return str(shell.transform_cell(cell))


def _leave_no_empty_output(hook: Any) -> None:
    """In a browser: what displays itself, or nothing, leaves no number in brackets below the cell.

    The browser's kernel puts out the result of every cell, also one that has nothing to show.
    """
    put_out = hook.finish_displayhook

    def finish() -> None:
        if getattr(hook, "data", None) != {}:
            put_out()

    hook.finish_displayhook = finish


def _explain_what_is_missing(shell: Any, support: NotebookSupport) -> None:
    """In a browser: cells that need numpy show what they showed before, and a check whose games
    need processes says where they can be played."""
    from course.drawn_before import running
    from course.probes.in_process import NeedsProcesses
    from course.without_numpy import Explained, stand_in

    explained = Explained()

    def show(
        shell: Any,
        kind: type,
        error: BaseException,
        trace: TracebackType,
        tb_offset: int | None = None,
    ) -> None:
        found = None if support.message(error) else explained.outputs(error, running())
        if isinstance(error, NeedsProcesses):
            print(f"Not here: {error}.")
        elif found is None:
            support.show_error(shell, kind, error, trace, tb_offset)
        else:
            from IPython.display import HTML, display

            for page in (f"<p><em>{found[0]}</em></p>", *found[1]):
                display(HTML(page))

    stand_in(shell)
    shell.set_custom_exc((*EXPLAINED, NeedsProcesses), show)
