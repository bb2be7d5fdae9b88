"""A notebook's Python in this process, in a separate folder with a module that is edited."""

import builtins
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

LOAD = "%load_ext course.notebook"
NAMES = ("mine", "helper", "minimax")  # of the modules that tests save


class Notebook:
    """Runs cells, and saves files in the same folder."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder, self._capsys = folder, capsys
        config = Config()
        config.HistoryManager.enabled = False
        config.InteractiveShell.colors = "nocolor"
        self.shell = InteractiveShell(config=config)

    def save(self, text: str | bytes, name: str = "mine.py") -> None:
        """Save a file of the folder."""
        (self.folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())

    def run(self, cell: str) -> str:
        """The printed output of a cell."""
        self.result = self.shell.run_cell(cell)
        printed = self._capsys.readouterr()
        return (printed.out + printed.err).rstrip("\n")


@contextmanager
def notebook_in(folder: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[Notebook]:
    """A notebook in a folder; its changes to this process are undone."""
    modules, build = dict(sys.modules), builtins.__build_class__
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.delenv("NBGRADER_EXECUTION", raising=False)
        # Another test may have left a module with such a name, or a folder that contains one.
        patch.setattr(
            sys,
            "path",
            [
                str(folder),
                *(
                    place
                    for place in sys.path
                    if not any(Path(place, f"{name}.py").exists() for name in NAMES)
                ),
            ],
        )
        patch.setattr(sys, "meta_path", list(sys.meta_path))
        for name in NAMES:
            patch.delitem(sys.modules, name, raising=False)
        notebook = Notebook(folder, capsys)
        try:
            yield notebook
        finally:
            assert builtins.__build_class__ is build
            for name in set(sys.modules) - set(modules):
                if str(folder) in str(getattr(sys.modules[name], "__file__", "")):
                    del sys.modules[name]
