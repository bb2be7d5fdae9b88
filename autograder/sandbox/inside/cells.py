"""Runs a notebook's code cells in an IPython shell of this process, and sends their outputs.

Output that a Jupyter kernel would send as messages is collected as notebook outputs: streams,
displayed data, results and errors.
"""

import builtins
import contextlib
import getpass
import io
import os
import signal
import sys
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path
from typing import Any

from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.error import StdinNotImplementedError
from IPython.core.interactiveshell import InteractiveShell
from traitlets import Type
from traitlets.config import Config

from .isolate import FOLDER
from .test_proxy.server import ProxyServer

OVERHEAD = 100  # characters of an output in a notebook, in addition to its content
WARM = """
%matplotlib inline
import numpy as np
import numpy.random
import matplotlib.pyplot as plt
plt.figure(); plt.plot([0, 1], label="x"); plt.title("x"); plt.legend(); plt.show()
np.random.default_rng(0).normal()
"""

WARM_ERROR = """
import numpy as np
def smooth(values, width=3, *, mode="valid"):
    '''A docstring, "a string".'''
    if not (width > 0 and len(values) >= width):  # a comment
        raise ValueError(f"width {width!r} is not right: {1.5e-3}")
    return [np.convolve(value, [None] * 2) for value in values]
class Smooth:
    def __init__(self): self.answer = {"a": 1, 'b': lambda x: x ** 2 % 3 or None}
try:
    smooth([], 1)
except ValueError as error:
    assert smooth([1, 2]) == Smooth().answer, "it fails: %s" % error
"""


class Outputs:
    """The outputs of the cell that is running."""

    def __init__(self, characters: int) -> None:
        self.characters = characters  # the remaining number of characters
        self.begin()

    def begin(self) -> None:
        """Start a new cell."""
        self.collected: list[dict[str, Any]] = []
        self.displayed: dict[str, dict[str, Any]] = {}
        self.clear_before_next = False

    def add(self, output: dict[str, Any], size: int) -> None:
        """Keep an output, unless the limit has been reached."""
        if self.clear_before_next:
            self.collected.clear()
            self.clear_before_next = False
        if size > self.characters:
            output = {
                "output_type": "stream",
                "name": "stderr",
                "text": "\n[output beyond the limit was dropped]\n",
            }
            size = self.characters
            if self.collected and self.collected[-1] == output:
                return
        self.characters -= size
        self.collected.append(output)

    def write(self, name: str, text: str) -> None:
        """Add to a stream; consecutive writes to the same stream become one output."""
        last = self.collected[-1] if self.collected else {}
        if last.get("name") == name and len(text) <= self.characters and not self.clear_before_next:
            self.characters -= len(text)
            last["text"] += text
        elif text:
            self.add({"output_type": "stream", "name": name, "text": text}, len(text))


class _Stream(io.TextIOBase):
    """`sys.stdout` or `sys.stderr`."""

    encoding, errors = "utf-8", "replace"

    def __init__(self, name: str, outputs: Outputs, descriptor: int) -> None:
        self.name, self._outputs, self._descriptor = name, outputs, descriptor

    def write(self, text: str) -> int:
        """Keep the text."""
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        self._outputs.write(self.name.strip("<>"), text)
        return len(text)

    def writable(self) -> bool:
        """Return True."""
        return True

    def fileno(self) -> int:
        """Return the descriptor to which programs that the cell starts can write."""
        return self._descriptor


class _Publisher(DisplayPublisher):
    """Collects the output of `display`."""

    outputs: Outputs

    def publish(self, data, metadata=None, source=None, *, transient=None, update=False, **kwargs):
        """Keep displayed data, or replace the output with the same display id."""
        name = (transient or {}).get("display_id")
        output = {
            "output_type": "display_data",
            "data": _jsonable(data),
            "metadata": metadata or {},
        }
        if update and name in self.outputs.displayed:
            self.outputs.displayed[name].update(output)
        elif not update:
            self.outputs.add(output, _size(output["data"]))
            if name:
                self.outputs.displayed[name] = output

    def clear_output(self, wait=False):
        """Clear the outputs of the cell, immediately or before its next output."""
        if wait:
            self.outputs.clear_before_next = True
        else:
            self.outputs.collected.clear()


class _Hook(DisplayHook):
    """Collects the value of a cell's last expression."""

    outputs: Outputs

    def write_output_prompt(self):
        """Do nothing, because the number is sent with the data."""

    def write_format_data(self, format_dict, md_dict=None):
        """Keep the value in all its forms."""
        data = _jsonable(format_dict)
        self.outputs.add(
            {
                "output_type": "execute_result",
                "data": data,
                "metadata": md_dict or {},
                "execution_count": self.prompt_count,
            },
            _size(data),
        )

    def finish_displayhook(self):
        """Do nothing, because there is nothing to flush."""


class Shell(InteractiveShell):
    """IPython's shell, which collects its outputs."""

    display_pub_class = Type(_Publisher)
    displayhook_class = Type(_Hook)
    outputs: Outputs

    def collect_in(self, outputs: Outputs) -> None:
        """Send all output of cells to `outputs` from now on."""
        self.outputs = outputs
        self.display_pub.outputs = self.displayhook.outputs = outputs
        sys.stdout = _Stream("<stdout>", outputs, 1)
        sys.stderr = _Stream("<stderr>", outputs, 2)

    def _showtraceback(self, etype, evalue, stb):
        self.outputs.add(
            {
                "output_type": "error",
                "ename": etype.__name__,
                "evalue": _text(evalue),
                "traceback": list(stb),
            },
            sum(map(len, stb)),
        )

    system = InteractiveShell.system_raw  # there is no terminal; output to descriptors is collected

    def enable_gui(self, gui=None):
        """Do nothing, because there is no screen."""

    def ask_exit(self):
        """Ignore `exit`: the cells below are still run, as nbgrader runs them."""


def warm_up() -> None:
    """Create the shell and import what notebooks import."""
    config = Config()
    config.HistoryManager.enabled = False  # the history would write files and start a thread
    shell = Shell.instance(config=config)
    shell.collect_in(Outputs(1_000_000))
    try:
        result = shell.run_cell(WARM)
        shell.run_cell(WARM_ERROR)  # formatting the first traceback is slow
    finally:
        sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__
    result.raise_error()
    shell.reset(new_session=True)
    shell.execution_count = 1


def run(request: dict[str, Any], send: Callable[[dict], None], receive: Callable[[], dict]) -> None:
    """Run the cells in order; send `{"begin": i}` before each cell and its outputs afterwards.

    A cell that is None represents an external test, whose requests are answered.
    """
    # The folder is last, so that files of the submission do not shadow installed modules.
    sys.path.append(str(FOLDER))
    runner = Runner(request["characters"])
    server = ProxyServer(runner.shell.user_ns)
    for number, source in enumerate(request["cells"]):
        send({"begin": number})
        if source is None:
            runner.serve(server, send, receive)
            send({"end": number})
        else:
            send({"end": number} | runner.run(source))
    send({"done": True})


class Runner:
    """Runs cells in the shell that was warmed up."""

    def __init__(self, characters: int) -> None:
        os.environ["HOME"] = "/tmp"
        self.outputs = Outputs(characters)
        self.shell = Shell.instance()
        self.shell.collect_in(self.outputs)
        builtins.input = getpass.getpass = _no_input
        self._descriptor_output = _DescriptorOutput()
        signal.signal(signal.SIGINT, signal.default_int_handler)

    def run(self, source: str) -> dict[str, Any]:
        """Run a cell; return its outputs and its execution count."""
        self.outputs.begin()
        count = self.shell.execution_count
        try:
            self.shell.run_cell(source, store_history=True)
        except KeyboardInterrupt:  # raised outside the code of the cell
            self.shell.showtraceback()
        self._descriptor_output.collect(self.outputs)
        return {"execution_count": count, "outputs": self.outputs.collected}

    def serve(
        self, server: ProxyServer, send: Callable[[dict], None], receive: Callable[[], dict]
    ) -> None:
        """Answer the requests of a test. Text that the functions print is not shown."""
        self.outputs.begin()
        with contextlib.suppress(KeyboardInterrupt):
            server.serve(send, receive)
        self._descriptor_output.collect(self.outputs)


class _DescriptorOutput:
    """The output of programs that cells start, which write to the descriptors directly."""

    def __init__(self) -> None:
        self.files = {}
        for number, name in ((1, "stdout"), (2, "stderr")):
            path = Path(f"/tmp/.{name}")
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
            os.dup2(descriptor, number)
            os.close(descriptor)
            self.files[name] = path.open("r", encoding="utf-8", errors="replace")

    def collect(self, outputs: Outputs) -> None:
        """Add new output to the cell's outputs."""
        for name, file in self.files.items():
            outputs.write(name, file.read(outputs.characters + 1))


def _no_input(prompt: object = "", stream: object = None) -> str:
    raise StdinNotImplementedError(
        "raw_input was called, but this frontend does not support input requests."
    )


def _jsonable(data: dict[str, Any]) -> dict[str, Any]:
    """Return displayed data as it appears in a notebook file, with bytes, such as pictures, as
    base64.
    """
    return {
        kind: b64encode(value).decode() if isinstance(value, bytes) else value
        for kind, value in data.items()
    }


def _size(data: dict[str, Any]) -> int:
    return OVERHEAD + sum(
        len(value) if isinstance(value, str) else OVERHEAD for value in data.values()
    )


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except BaseException:
        return "(its message cannot be shown)"
