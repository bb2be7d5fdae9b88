"""A function that is not written yet says so in one line, and *Run All* goes on below the cell.

`%load_ext course.unwritten` in a notebook does that for the stubs' `NotImplementedError` and for
nothing else. Where nbgrader runs the notebook it does nothing: a cell that could not run is an
error there, as everywhere else.
"""

import os
import sys
import traceback
from pathlib import Path
from types import TracebackType

from course.progress import TO_WRITE

SAID = ": write this "  # what every stub's error says after the name of what is missing


def load_ipython_extension(shell) -> None:
    """Called by `%load_ext`."""
    if "NBGRADER_EXECUTION" in os.environ or shell.custom_exceptions:
        return
    shell.set_custom_exc((NotImplementedError,), _show)
    shell.events.register("post_run_cell", _go_on)
    if sys.platform == "emscripten":
        _explain_what_is_missing(shell)
        _leave_no_empty_output(shell.displayhook)


def _leave_no_empty_output(hook) -> None:
    """In a browser: what displays itself, or nothing, leaves no number in brackets below the cell.

    The browser's kernel puts out the result of every cell, also one that has nothing to show.
    """
    put_out = hook.finish_displayhook

    def finish() -> None:
        if getattr(hook, "data", None) != {}:
            put_out()

    hook.finish_displayhook = finish


def _explain_what_is_missing(shell) -> None:
    """In a browser: cells that need numpy show what they showed before, and a check whose games
    need processes says where they can be played."""
    from course.drawn_before import running
    from course.probes.in_process import NeedsProcesses
    from course.without_numpy import Explained, stand_in

    explained = Explained()

    def show(shell, kind: type, error: BaseException, trace: TracebackType,
             tb_offset: int | None = None) -> None:
        found = explained.outputs(error, running())
        if isinstance(error, NeedsProcesses):
            print(f"Not here: {error}.")
        elif found is None:
            _show(shell, kind, error, trace, tb_offset)
        else:
            from IPython.display import HTML, display

            for page in (f"<p><em>{found[0]}</em></p>", *found[1]):
                display(HTML(page))

    stand_in(shell)
    shell.set_custom_exc(
        (NotImplementedError, ModuleNotFoundError, NameError, NeedsProcesses), show)


def in_words(error: BaseException | None) -> str | None:
    """What to write, and where; None if the error is not a stub's."""
    if not isinstance(error, NotImplementedError) or SAID not in str(error):
        return None
    frame = traceback.extract_tb(error.__traceback__)[-1]
    if not (frame.line or "").startswith(TO_WRITE):
        return None
    name = str(error).partition(SAID)[0]
    return (f"Not written yet: {name}, in {Path(frame.filename).name}, line {frame.lineno}. "
            "Write it, save the module, and run this cell again.")


def _show(shell, kind: type, error: BaseException, trace: TracebackType,
          tb_offset: int | None = None) -> None:
    words = in_words(error)
    if words:
        print(words)
    else:
        shell.showtraceback((kind, error, trace), tb_offset)


def _go_on(result) -> None:
    """Let the cell count as run: the frontend stops what is queued after one that does not."""
    if in_words(result.error_in_exec):
        result.error_in_exec = None
