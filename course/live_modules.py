"""Reloads the modules in a notebook's folder when they have changed, without losing what was made.

Every module is compiled from the file as it is: by its content, not by its time. A reload executes
it in the same module object and keeps its classes (`course.renewal`), so instances, subclasses and
references to functions that were made before use the new code. What cannot be loaded is broken:
whatever needs it raises `BrokenModule`, whose message is one line.
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

from course.probes.syntax import parsed
from course.renewal import classes_of, classes_renewed, current, forward
from tictactoe.errors import text

KIT = frozenset({"autograder", "course", "sequence", "tictactoe"})  # never reloaded
_owners: dict[str, "LiveModules"] = {}  # by the module's name
MISSING: Any = object()  # what a name stands for that is not there
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
    """A module cannot be used; the message says where it is wrong: "minimax.py, line 23: ..."."""


def successor(name: str, path: str) -> Any:
    """The function at `path` ("Minimax.search") of a reloaded module as it is now.

    Raises `BrokenModule` if the module is broken, AttributeError if it has no such function.
    """
    return _owners[name].current(name, path)


class MissingModule(FileNotFoundError):
    """A check finds no module in the notebook's folder."""


class LiveModules(MetaPathFinder, Loader):
    """Imports the modules of a folder, and reloads them when their files have changed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self.broken: dict[str, str] = {}  # by the module's name: where it is wrong
        self._modules: dict[str, ModuleType] = {}
        self._files: dict[str, Path] = {}
        self._classes: dict[str, dict[str, type]] = {}  # by module, those that it had at any time
        self._digests: dict[str, str] = {}  # of the file as it was when it was last executed
        self._tried: set[str] = set()  # modules that were executed since the last `refresh`
        self._others = ""
        self._loading = 0  # how many modules are being executed, one for another
        for name, module in list(sys.modules.items()):
            file = getattr(module, "__file__", None)
            if file and name != "__main__" and self._is_inside(name, file):
                self._keep(name, module, Path(file))
                self._digests[name] = _digest(Path(file))
                self._classes[name] = classes_of(vars(module))

    def _keep(self, name: str, module: ModuleType, path: Path) -> None:
        self._modules[name], self._files[name], _owners[name] = module, path, self

    def expect(self, name: str) -> None:
        """Import the module of this name, which is missing, as soon as its file is there."""
        if name not in self._files:
            self._files[name], self._digests[name] = self.folder / f"{name}.py", ""
            self.broken[name] = f"{name}.py is missing"

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """How to import a module of the folder; None for all other modules."""
        found = PathFinder.find_spec(name, path)
        if found is None or not found.origin or not self._is_inside(name, found.origin):
            return None
        return spec_from_file_location(
            name,
            found.origin,
            loader=self,
            submodule_search_locations=found.submodule_search_locations,
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
        """The module as it was imported before; None if it is new."""
        return self._modules.get(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Execute the file, once between two calls of `refresh` if that fails.

        Raises `BrokenModule`; inside another module that is being imported, the error itself.
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
        except BaseException as error:  # sys.exit() and an interrupt break the module, not the cell
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
        code = compile(parsed(source, str(path)), str(path), "exec", dont_inherit=True)
        classes = self._classes.setdefault(module.__name__, {})
        try:
            with classes_renewed(classes, namespace):
                exec(code, namespace)
        finally:
            classes |= classes_of(namespace)

    def refresh(self) -> bool:
        """Reload all modules if the file of one has changed; broken ones also if another file of
        the folder has. Whether anything was done."""
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
        """Whether the file of a module is not as it was when it was executed."""
        return any(_digest(path) != self._digests[name] for name, path in self._files.items())

    def is_live(self, name: str) -> bool:
        """Whether the module of this name is reloaded: it is in the folder, or was."""
        return name in self._files or (self.folder / f"{name}.py").is_file()

    def value(self, name: str, attribute: str | None) -> Any:
        """What a module defines, or the module itself; `MISSING` if it is broken or does not."""
        module = MISSING if name in self.broken else sys.modules.get(name, MISSING)
        return (
            module
            if attribute is None or module is MISSING
            else vars(module).get(attribute, MISSING)
        )

    def current(self, name: str, path: str) -> Any:
        """As `successor`."""
        if name in self.broken:
            raise BrokenModule(self.broken[name], name=name)
        return current(self._modules[name], path)

    def explain(self, error: BaseException, path: Path) -> str:
        """Why the module in the file `path` cannot be loaded, in one line."""
        said = text(error)
        if isinstance(error, BrokenModule):
            return said
        frames = [
            (frame.filename, frame.lineno) for frame in traceback.extract_tb(error.__traceback__)
        ]
        if isinstance(error, SyntaxError):
            said = error.msg
            frames.append((error.filename or "", error.lineno))
        own = [frame for frame in frames if self._is_inside("", frame[0])]
        file, line = own[-1] if own else (str(path), None)
        where = Path(file).name + (f", line {line}" if line else "")
        if isinstance(error, SystemExit):
            said = "the module exits when it is imported"
        elif isinstance(error, KeyboardInterrupt):
            said = "interrupted while the module was imported"
        elif "'utf-8' codec can't decode" in said:
            where, said = path.name, "the file is not saved in UTF-8"
        elif isinstance(error, ImportError):
            said = re.sub(r"( \([^()]*\))+$", "", said)  # without the path of the other module
        elif own and not isinstance(error, (SyntaxError, NameError, OSError)):
            said = f"{type(error).__name__}: {said}".removesuffix(": ")
        return f"{where}: {' '.join(said.split())}"


def _empty(module: ModuleType) -> None:
    """Leave nothing in a module; functions taken from it call their successors."""
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
    """Which files a folder has, and when they were changed, notebooks and hidden files apart."""
    found = []
    for path in sorted(folder.iterdir()):
        with suppress(OSError):
            if path.suffix != ".ipynb" and not path.name.startswith((".", "__")):
                found.append((path.name, path.stat().st_mtime_ns, path.stat().st_size))
    return repr(found)
