"""Reloads the modules in a notebook's folder when they have changed, and keeps existing objects.

A change is detected by a file's content, not by its modification time. A reload executes the code
in the same module object and keeps its classes (`course.lab.renewal`), so existing instances,
subclasses and references to functions use the new code. A module that cannot be loaded is broken:
every use of it raises `BrokenModule` with a message of one line.
"""

import hashlib
import importlib
import linecache
import re
import sys
import traceback
from contextlib import suppress
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from common.errors import error_message
from common.syntax import parse_python
from course.lab.renewal import classes_of, current, forward, updating_classes

KIT = frozenset({"autograder", "common", "course", "sequence", "tictactoe"})  # never reloaded
_owners: dict[str, "LiveModules"] = {}  # by module name
MISSING: Any = object()  # the value of an undefined name
BY_IMPORT = (
    "__name__",
    "__loader__",
    "__package__",
    "__spec__",
    "__path__",
    "__file__",
    "__cached__",
    "__builtins__",
)


class BrokenModule(ImportError):
    """Raised if a module cannot be used; the message states the place: "minimax.py, line 23: ..."."""


def successor(name: str, path: str) -> Any:
    """The current function at `path` ("Minimax.search") of a reloaded module.

    Raises `BrokenModule` if the module is broken, AttributeError if it has no such function.
    """
    return _owners[name].current(name, path)


class MissingModule(FileNotFoundError):
    """Raised if the module of a check is not in the notebook's folder."""


class LiveModules(MetaPathFinder, Loader):
    """Imports the modules of a folder, and reloads them when their files have changed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self.broken: dict[str, str] = {}  # the message, by module name
        self._modules: dict[str, ModuleType] = {}
        self._files: dict[str, Path] = {}
        self._classes: dict[str, dict[str, type]] = {}  # all classes that a module has ever defined
        self._digests: dict[str, str] = {}  # of the file when last executed, by module name
        self._tried: set[str] = set()  # modules executed since the last `refresh`
        self._others = ""
        self._loading = 0  # number of nested imports in progress
        for name, module in list(sys.modules.items()):
            file = getattr(module, "__file__", None)
            if file and name != "__main__" and self._is_inside(name, file):
                self._keep(name, module, Path(file))
                self._digests[name] = _digest(Path(file))
                self._classes[name] = classes_of(vars(module))

    def _keep(self, name: str, module: ModuleType, path: Path) -> None:
        self._modules[name], self._files[name], _owners[name] = module, path, self

    def expect(self, name: str) -> None:
        """Import this module, which is missing, as soon as its file exists."""
        if name not in self._files:
            self._files[name], self._digests[name] = self.folder / f"{name}.py", ""
            self.broken[name] = f"{name}.py is missing"

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """The spec of a module in the folder; None for all other modules."""
        spec = PathFinder.find_spec(name, path)
        if spec is None or not spec.origin or not self._is_inside(name, spec.origin):
            return None
        return spec_from_file_location(
            name,
            spec.origin,
            loader=self,
            submodule_search_locations=spec.submodule_search_locations,
        )

    def _is_inside(self, name: str, file: str) -> bool:
        place = Path(file).parent.resolve()
        return (
            file.endswith(".py")
            and name.partition(".")[0] not in KIT
            and place.is_relative_to(self.folder)
            and not any(
                part == "site-packages" or part.startswith(".")
                for part in place.relative_to(self.folder).parts
            )
        )

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """The existing module object; None if the module is new."""
        return self._modules.get(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Execute the file; if it fails, it is not executed again before the next `refresh`.

        Raises `BrokenModule`, or the original error if another module is importing this one.
        """
        spec = module.__spec__
        if spec is None or spec.origin is None:
            raise ImportError(f"{module.__name__} has no file")
        name, path = module.__name__, Path(spec.origin)
        if name in self._tried and name in self.broken:
            raise BrokenModule(self.broken[name], name=name)
        self._tried.add(name)
        self._keep(name, module, path)
        self._loading += 1
        try:
            self._execute(module, path)
            self.broken.pop(name, None)
        except BaseException as error:  # even sys.exit() and interrupts
            self.broken[name], self._others = self.explain(error, path), _files_of(self.folder)
            _empty(module)
            if self._loading > 1:
                raise
            raise BrokenModule(self.broken[name], name=name) from error
        finally:
            self._loading -= 1

    def _execute(self, module: ModuleType, path: Path) -> None:
        namespace = vars(module)
        _empty(module)
        source = path.read_bytes()
        self._digests[module.__name__] = hashlib.sha256(source).hexdigest()
        linecache.cache.pop(str(path), None)
        code = compile(parse_python(source, str(path)), str(path), "exec", dont_inherit=True)
        classes = self._classes.setdefault(module.__name__, {})
        try:
            with updating_classes(classes, namespace):
                exec(code, namespace)
        finally:
            classes |= classes_of(namespace)

    def refresh(self) -> bool:
        """Reload all modules if the file of any of them has changed. Reload broken modules also if
        another file in the folder has changed. Return whether any module was reloaded.
        """
        self._tried.clear()
        changed = self.have_changed()
        others = _files_of(self.folder) if self.broken or changed else self._others
        stale = (
            list(self._files)
            if changed
            else [name for name in self.broken if others != self._others]
        )
        self._others = others
        importlib.invalidate_caches()
        for name in stale:
            sys.modules.pop(name, None)
        for name in stale:
            self._digests[name] = _digest(self._files[name])
            try:
                importlib.import_module(name)
            except BrokenModule:
                continue
            except ModuleNotFoundError:
                self.broken[name] = f"{self._files[name].name} is missing"
                if name in self._modules:
                    _empty(self._modules[name])
        return bool(stale)

    def have_changed(self) -> bool:
        """Whether the file of a module has changed since it was executed."""
        return any(_digest(path) != self._digests[name] for name, path in self._files.items())

    def is_live(self, name: str) -> bool:
        """Whether this module is or was in the folder, so that it is reloaded."""
        return name in self._files or (self.folder / f"{name}.py").is_file()

    def value(self, name: str, attribute: str | None) -> Any:
        """An attribute of a module, or the module; `MISSING` if it is broken or undefined."""
        module = MISSING if name in self.broken else sys.modules.get(name, MISSING)
        return (
            module
            if attribute is None or module is MISSING
            else vars(module).get(attribute, MISSING)
        )

    def current(self, name: str, path: str) -> Any:
        """See `successor`."""
        if name in self.broken:
            raise BrokenModule(self.broken[name], name=name)
        return current(self._modules[name], path)

    def _is_own(self, file: str) -> bool:
        """Whether a file is in the folder; compiled libraries name theirs by relative paths."""
        return Path(file).is_absolute() and self._is_inside("", file)

    def explain(self, error: BaseException, path: Path) -> str:
        """One line that explains why the module in the file `path` cannot be loaded."""
        message = error_message(error)
        if isinstance(error, BrokenModule):
            return message
        frames = [
            (frame.filename, frame.lineno) for frame in traceback.extract_tb(error.__traceback__)
        ]
        if isinstance(error, SyntaxError):
            message = error.msg
            frames.append((error.filename or "", error.lineno))
        own = [frame for frame in frames if self._is_own(frame[0])]
        file, line = own[-1] if own else (str(path), None)
        where = Path(file).name + (f", line {line}" if line else "")
        if isinstance(error, SystemExit):
            message = "the module exits when it is imported"
        elif isinstance(error, KeyboardInterrupt):
            message = "interrupted while the module was imported"
        elif "'utf-8' codec can't decode" in message:
            where, message = path.name, "the file is not saved in UTF-8"
        elif isinstance(error, ImportError):
            message = re.sub(r"( \([^()]*\))+$", "", message)  # without the other module's path
        elif own and not isinstance(error, (SyntaxError, NameError, OSError)):
            message = f"{type(error).__name__}: {message}".removesuffix(": ")
        return f"{where}: {' '.join(message.split())}"


def _empty(module: ModuleType) -> None:
    """Remove all contents of a module; existing references to its functions call the new ones."""
    namespace = vars(module)
    forward(namespace)
    for key in [key for key in namespace if key not in BY_IMPORT]:
        del namespace[key]


def _digest(path: Path) -> str:
    """The digest of a file's content; empty if it cannot be read."""
    with suppress(OSError):
        return hashlib.sha256(path.read_bytes()).hexdigest()
    return ""


def _files_of(folder: Path) -> str:
    """The names, times and sizes of a folder's files, except notebooks and hidden files."""
    files = []
    for path in sorted(folder.iterdir()):
        with suppress(OSError):
            if path.suffix != ".ipynb" and not path.name.startswith((".", "__")):
                files.append((path.name, path.stat().st_mtime_ns, path.stat().st_size))
    return repr(files)
