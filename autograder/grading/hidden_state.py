"""Finds, from the source alone, the tests of a notebook that must run with the student's code.

A test may run in a separate process only if both processes cannot tell the difference. It must
run in the student's interpreter if it uses a random generator, the clock, files, the environment,
threads or other state of a process, if the functions that it calls do so and therefore make its
outcome random, or if it changes variables that other cells read. In doubt, it runs there.
"""

import ast
import re
import symtable
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from nbformat import NotebookNode

from course.probes.syntax import FOR_THE_SHELL, parsed


def word_set(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


# Modules that keep no state a test could see; functions that do are in `STATEFUL`.
PURE = word_set("""
    __future__ abc array ast base64 binascii bisect calendar cmath collections contextlib copy
    csv dataclasses datetime decimal difflib enum fractions functools hashlib heapq itertools
    json math nose numbers numpy operator pytest re statistics string struct textwrap tictactoe
    types typing unicodedata unittest zlib""")
# Modules that also do not depend on chance or time, for the code that a test calls.
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
    """Where the tests of a notebook run: `inside` has, by a test's grade id, why it must run in
    the student's interpreter; `unsteady` are the tests whose outcome could be random."""

    inside: Mapping[str, str]
    unsteady: frozenset[str]


def place_tests(
    cells: Sequence[NotebookNode],
    tests: Iterable[str],
    folder: Path,
    known: Mapping[str, str] = MappingProxyType({}),
) -> Placement:
    """Decide for the tests (grade ids) among a solved notebook's cells, with its other files in
    `folder`; the same input always gives the same placement. `known` has tests that must run inside
    for another reason."""
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
    return Placement(_with_sharing({**known, **inside}, own), frozenset(unsteady))


def _with_sharing(inside: dict[str, str], tests: Sequence["_Cell"]) -> dict[str, str]:
    """`inside` with the tests that share a variable with one of these, and so on."""
    found = dict(inside)
    while True:
        more = {
            test.name: f"it shares the variable {min(shared)!r} with the test {other.name!r}"
            for test in tests
            if test.name not in found
            for other in tests
            if other.name in found
            if (shared := (test.bound & other.names) | (other.bound & test.names))
        }
        if not more:
            return found
        found |= more


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
    magics = FOR_THE_SHELL.findall(cell.source)
    source = FOR_THE_SHELL.sub("", cell.source)
    try:
        tree = parsed(source)
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
        self.modules: dict[str, set[str]] = {}  # by an imported name, its module
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
        """Why the outcome of a test could be random."""
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
        """Why a test itself uses the state of the process in which it runs."""
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
        """Why the variables of a test are seen by cells that are no tests."""
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
                words = _words(parsed(path.read_text("utf-8", "replace")))
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                return {"exec"}  # nothing is known of it
            # Its names are its own, not variables of the notebook that are called the same.
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
        """The file of a module that lies next to the notebook."""
        return local_module(word.split()[1], self.folder)


def local_module(name: str, folder: Path) -> Path | None:
    """The file of the module "tools", or "tools.text", if it lies in `folder`."""
    parts = name.split(".")
    places = (
        folder / f"{parts[0]}.py",
        folder.joinpath(*parts).with_suffix(".py"),
        folder / parts[0] / "__init__.py",
    )
    return next((place for place in places if place.is_file()), None)


def _imported(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, set[str]]]:
    """The names that a statement imports, "*" for all, and what each stands for."""
    for alias in node.names:
        if isinstance(node, ast.Import):
            yield alias.asname or alias.name.split(".")[0], {f"import {alias.name}"}
        else:
            yield alias.asname or alias.name, {f"import {node.module or '.'}", f".{alias.name}"}


def _words(tree: ast.AST) -> set[str]:
    """What a piece of code mentions: names, ".attributes" and "import modules"."""
    found: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Name():
                found.add(node.id)
            case ast.Attribute():
                found.add(f".{node.attr}")
            case ast.Import() | ast.ImportFrom():
                found.update(*(words for _, words in _imported(node)))
    return found


def set_by(node: ast.stmt) -> set[str]:
    """The global names that a statement of a cell sets, or can set when it is called."""
    declared = {
        name for part in ast.walk(node) if isinstance(part, ast.Global) for name in part.names
    }
    return declared | ({node.name} if isinstance(node, FUNCTIONS) else _stored(node))


def read_by(node: ast.AST) -> set[str]:
    """The global names that a statement or a cell reads, also when it is called."""
    source = ast.unparse(node)
    top = symtable.symtable(source, "<cell>", "exec").get_symbols()
    return {symbol.get_name() for symbol in top if symbol.is_referenced()} | _globals_of_functions(
        source
    )


def _stored(node: ast.AST) -> set[str]:
    found: set[str] = set()
    for part in ast.walk(node):
        match part:
            case ast.Name(ctx=ast.Store()):
                found.add(part.id)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                found.add(part.name)
            case ast.Import() | ast.ImportFrom():
                found.update(name for name, _ in _imported(part))
    return found


def _changed(tree: ast.AST) -> set[str]:
    """Names of variables whose contents a piece of code changes: `x[0] = 1`, `x.append(1)`."""
    found: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case (
                ast.Attribute(ctx=ast.Store() | ast.Del())
                | ast.Subscript(ctx=ast.Store() | ast.Del())
            ):
                found |= _root(node)
            case ast.Name(ctx=ast.Del()):
                found.add(node.id)
            case ast.AugAssign():
                found |= _root(node.target)
            case ast.Call(func=ast.Attribute(attr=name) as method) if name in MUTATORS:
                found |= _root(method)
    return found


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
    found: set[str] = set()
    while waiting:
        table = waiting.pop()
        waiting += table.get_children()
        found |= {symbol.get_name() for symbol in table.get_symbols() if symbol.is_global()}
    return found
