"""Finds, from the source alone, the tests of a notebook that must run with the student's code.

A test may run in a separate process only if this makes no difference. A test must run in the
student's interpreter in three cases: it uses process state, such as a random generator, the clock,
files, the environment or threads; it calls functions that use such state, which makes its outcome
random; or it changes variables that other cells read. If there is any doubt, a test runs in the
student's interpreter.
"""

import ast
import re
import symtable
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from nbformat import NotebookNode

from common.syntax import SHELL_LINES, parse_python


def word_set(text: str) -> frozenset[str]:
    """Return the set of words in a text."""
    return frozenset(text.split())


# Modules that have no state which a test could observe, except in the functions of `STATEFUL`.
PURE = word_set("""
    __future__ abc array ast base64 binascii bisect calendar cmath collections contextlib copy
    csv dataclasses datetime decimal difflib enum fractions functools hashlib heapq itertools
    json math nose numbers numpy operator pytest re statistics string struct textwrap tictactoe
    types typing unicodedata unittest zlib""")
# Modules that do not depend on chance or time, for code that a test calls.
STEADY = PURE | word_set("""
    IPython argparse course glob io ipywidgets logging matplotlib networkx os pandas pathlib
    pickle pprint queue scipy seaborn sequence sqlite3 sys sympy traceback warnings xml
    zipfile""")
CHANCE = word_set("""
    Generator Random RandomState SystemRandom default_rng getpid getrandom getrandbits gmtime
    listdir localtime mkdtemp monotonic normal now perf_counter permutation process_time
    rand randbytes randint randn random random_sample random_state randrange rvs sample samples
    scandir secrets seed shuffle SeedSequence standard_normal time time_ns times today uniform
    urandom utcnow uuid1 uuid4""")
STATEFUL = CHANCE | word_set("""
    chdir environ errstate fromfile genfromtxt get_printoptions getcontext geterr getstate
    load loadtxt localcontext memmap mock monkeypatch patch printoptions read_csv read_text
    redirect_stderr redirect_stdout save savetxt savez set_printoptions setcontext seterr
    seterrcall setstate tofile MonkeyPatch write_text""")
UNSTEADY_BUILTINS = word_set("""
    __import__ eval exec get_ipython globals hash id input""")
STATEFUL_BUILTINS = UNSTEADY_BUILTINS | word_set("""
    In Out breakpoint compile delattr dir display locals open setattr vars""")
MUTATORS = word_set("""
    add append appendleft clear difference_update discard extend extendleft fill insert
    intersection_update pop popitem popleft put remove reverse rotate setdefault sort subtract
    symmetric_difference_update update""")
HARMLESS_MAGIC = re.compile(r"%(matplotlib|config|load_ext|reload_ext|autoreload|precision)\b")
UNREADABLE = "a cell is not plain Python or uses a magic command"
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
IMPORTS = (ast.Import, ast.ImportFrom)


@dataclass(frozen=True)
class Placement:
    """Where the tests of a notebook run.

    `inside` maps the grade id of each test that must run in the student's interpreter to the reason;
    `unsteady` are the tests whose outcome may be random.
    """

    inside: Mapping[str, str]
    unsteady: frozenset[str]


def place_tests(
    cells: Sequence[NotebookNode],
    tests: Iterable[str],
    folder: Path,
    required: Mapping[str, str] = MappingProxyType({}),
) -> Placement:
    """Decide where the tests (grade ids) of a solved notebook run.

    `folder` contains the notebook's other files. `required` maps tests that must run inside for
    another reason to that reason. The same input always gives the same placement.
    """
    wanted = frozenset(tests)
    read = [cell for cell in map(_read, _code(cells)) if cell.tree.body or not cell.readable]
    notebook = _Notebook(read, folder)
    own = [cell for cell in read if cell.name in wanted]
    unsteady = {cell.name: why for cell in own if (why := notebook.chance_in(cell))}
    if not all(cell.readable for cell in read):
        every = dict.fromkeys(sorted(wanted), UNREADABLE)
        return Placement(every, wanted)
    inside = {
        cell.name: why
        for cell in own
        if (
            why := notebook.state_in(cell)
            or unsteady.get(cell.name)
            or notebook.shared_by(cell, wanted)
        )
    }
    return Placement(_with_sharing({**required, **inside}, own), frozenset(unsteady))


def _with_sharing(inside: dict[str, str], tests: Sequence["_Cell"]) -> dict[str, str]:
    """Return `inside` with the tests that share variables with the tests in it, directly or through
    others.
    """
    reasons = dict(inside)
    while True:
        more = {
            test.name: f"it shares the variable {min(shared)!r} with the test {other.name!r}"
            for test in tests
            if test.name not in reasons
            for other in tests
            if other.name in reasons
            if (shared := (test.bound & other.names) | (other.bound & test.names))
        }
        if not more:
            return reasons
        reasons |= more


@dataclass(frozen=True)
class _Cell:
    name: str  # the grade id; "" if it has none
    tree: ast.Module
    source: str
    readable: bool = True
    bound: frozenset[str] = frozenset()  # variables that it sets at top level
    names: frozenset[str] = frozenset()  # all names that it mentions


def _code(cells: Iterable[NotebookNode]) -> Iterator[NotebookNode]:
    return (cell for cell in cells if cell.cell_type == "code")


def _read(cell: NotebookNode) -> _Cell:
    name = cell.metadata.get("nbgrader", {}).get("grade_id", "")
    magics = SHELL_LINES.findall(cell.source)
    source = SHELL_LINES.sub("", cell.source)
    try:
        tree = parse_python(source)
        bound = _bound_globally(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return _Cell(name, ast.Module([], []), "", readable=False)
    names = frozenset(node.id for node in ast.walk(tree) if isinstance(node, ast.Name))
    return _Cell(name, tree, source, all(map(HARMLESS_MAGIC.match, magics)), bound, names)


class _Notebook:
    """What each global name of a notebook depends on."""

    def __init__(self, cells: Sequence[_Cell], folder: Path) -> None:
        self.cells, self.folder = cells, folder
        self.depends: dict[str, set[str]] = {}
        self.modules: dict[str, set[str]] = {}  # the module of each imported name
        statements = [node for cell in cells for node in cell.tree.body]
        for node in statements:
            if isinstance(node, IMPORTS):
                for name, words in _imported(node):
                    self.modules.setdefault(name, set()).update(words)
                    self.depends.setdefault(name, set()).update(words)
        variables = set().union(*map(set_by, statements)) - self.modules.keys()
        for node in statements:
            words = _words(node)
            sources = set_by(node)
            if not isinstance(node, FUNCTIONS):  # it can change any variable that it mentions
                sources = sources | words & variables
            for name in sources:
                self.depends.setdefault(name, set()).update(words)

    def chance_in(self, test: _Cell) -> str | None:
        """Return the reason why the outcome of a test may be random; None if it cannot be."""
        seen: set[str] = set()
        waiting = _words(test.tree) | self.modules.get("*", set())
        while waiting:
            seen |= waiting
            waiting = set().union(*(self._next(word) for word in waiting)) - seen
        for word in sorted(seen):
            if self._is_module(word) and not self._local(word):
                if word.split()[1].split(".")[0] not in STEADY:
                    return f"it depends on the module {word.split()[1]!r}"
                if CHANCE & {*word.split()[1].split(".")}:
                    return f"it depends on {word.split()[1]!r}"
            elif word.lstrip(".") in CHANCE and (
                word[0] == "." or ("*" in self.modules and word not in self.depends)
            ):
                return f"it depends on {word.lstrip('.')!r}, which can be random"
            elif word in UNSTEADY_BUILTINS and word not in self.depends:
                return f"it depends on {word!r}"
        return None

    def state_in(self, test: _Cell) -> str | None:
        """Return which process state a test itself uses, as a reason; None if it uses none."""
        words = _words(test.tree)
        words |= set().union(*(self.modules.get(word, ()) for word in words))
        words |= self.modules.get("*", set())
        known = self.depends.keys() | _stored(test.tree)
        for word in sorted(words):
            if self._is_module(word):
                if not self._local(word) and word.split()[1].split(".")[0] not in PURE:
                    return f"it uses the module {word.split()[1]!r}"
            elif word[0] == "." and word[1:] in STATEFUL:
                return f"it uses {word[1:]!r}"
            elif word not in known and (word in STATEFUL_BUILTINS or word[0] == "_"):
                return f"it uses {word!r}"
        if any(
            isinstance(node, (ast.Await, ast.AsyncFor, ast.AsyncWith, ast.Global))
            for node in ast.walk(test.tree)
        ):
            return "it is asynchronous or declares global variables"
        changed = sorted(_changed(test.tree) - test.bound - self.modules.keys())
        return f"it changes {changed[0]!r} of the notebook" if changed else None

    def shared_by(self, test: _Cell, tests: frozenset[str]) -> str | None:
        """Return how a test shares variables with cells that are not tests, as a reason; None if it
        does not.
        """
        place = next(n for n, cell in enumerate(self.cells) if cell is test)
        read: set[str] = set()
        for number, cell in enumerate(self.cells):
            if cell.name not in tests:
                read |= _globals_of_functions(cell.source)
                if number > place:
                    read |= cell.names | cell.bound
        shared = sorted(test.bound & read)
        return f"it sets {shared[0]!r}, which other cells use" if shared else None

    def _next(self, word: str) -> set[str]:
        if self._is_module(word) and (path := self._local(word)):
            try:
                words = _words(parse_python(path.read_text("utf-8", "replace")))
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                return {"exec"}  # it could do anything
            # Its global names are not the notebook's variables of the same name.
            return {
                each
                for each in words
                if each[0] == "." or self._is_module(each) or each in UNSTEADY_BUILTINS
            }
        return self.depends.get(word, set())

    @staticmethod
    def _is_module(word: str) -> bool:
        return word.startswith("import ")

    def _local(self, word: str) -> Path | None:
        """Return the file of a local module, which is next to the notebook."""
        return local_module(word.split()[1], self.folder)


def local_module(name: str, folder: Path) -> Path | None:
    """Return the file of a module such as "tools" or "tools.text", if it is in `folder`."""
    parts = name.split(".")
    places = (
        folder / f"{parts[0]}.py",
        folder.joinpath(*parts).with_suffix(".py"),
        folder / parts[0] / "__init__.py",
    )
    return next((place for place in places if place.is_file()), None)


def _imported(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, set[str]]]:
    """Yield the names that a statement imports ("*" for all), each with the object that it refers
    to.
    """
    for alias in node.names:
        if isinstance(node, ast.Import):
            yield alias.asname or alias.name.split(".")[0], {f"import {alias.name}"}
        else:
            yield alias.asname or alias.name, {f"import {node.module or '.'}", f".{alias.name}"}


def _words(tree: ast.AST) -> set[str]:
    """Return the words that a piece of code mentions: names, ".attributes" and "import modules"."""
    names: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Name():
                names.add(node.id)
            case ast.Attribute():
                names.add(f".{node.attr}")
            case ast.Import() | ast.ImportFrom():
                names.update(*(words for _, words in _imported(node)))
    return names


def set_by(node: ast.stmt) -> set[str]:
    """Return the global names that a statement of a cell sets, or can set when it is called."""
    declared = {
        name for part in ast.walk(node) if isinstance(part, ast.Global) for name in part.names
    }
    return declared | ({node.name} if isinstance(node, FUNCTIONS) else _stored(node))


def read_by(node: ast.AST) -> set[str]:
    """Return the global names that a statement or a cell reads, also when it is called."""
    source = ast.unparse(node)
    top = symtable.symtable(source, "<cell>", "exec").get_symbols()
    return {symbol.get_name() for symbol in top if symbol.is_referenced()} | _globals_of_functions(
        source
    )


def _stored(node: ast.AST) -> set[str]:
    names: set[str] = set()
    for part in ast.walk(node):
        match part:
            case ast.Name(ctx=ast.Store()):
                names.add(part.id)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                names.add(part.name)
            case ast.Import() | ast.ImportFrom():
                names.update(name for name, _ in _imported(part))
    return names


def _changed(tree: ast.AST) -> set[str]:
    """Return names of variables whose contents a piece of code changes: `x[0] = 1`, `x.append(1)`."""
    names: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case (
                ast.Attribute(ctx=ast.Store() | ast.Del())
                | ast.Subscript(ctx=ast.Store() | ast.Del())
            ):
                names |= _root(node)
            case ast.Name(ctx=ast.Del()):
                names.add(node.id)
            case ast.AugAssign():
                names |= _root(node.target)
            case ast.Call(func=ast.Attribute(attr=name) as method) if name in MUTATORS:
                names |= _root(method)
    return names


def _root(node: ast.AST) -> set[str]:
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Starred):
        node = node.value
    return {node.id} if isinstance(node, ast.Name) else set()


def _bound_globally(source: str) -> frozenset[str]:
    table = symtable.symtable(source, "<cell>", "exec")
    return frozenset(
        symbol.get_name()
        for symbol in table.get_symbols()
        if symbol.is_assigned() or symbol.is_imported()
    )


def _globals_of_functions(source: str) -> set[str]:
    """Global names that the functions and classes of a piece of code read."""
    waiting = list(symtable.symtable(source, "<cell>", "exec").get_children())
    names: set[str] = set()
    while waiting:
        table = waiting.pop()
        waiting += table.get_children()
        names |= {symbol.get_name() for symbol in table.get_symbols() if symbol.is_global()}
    return names
