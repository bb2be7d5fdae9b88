"""The next cell uses the saved version of a module, for all kinds of edits and existing objects."""

import sys
from types import ModuleType

import pytest

from autograder.tests.support.pages.shells import LOAD

HEAD = "from functools import cache, partial\nfrom tictactoe import counted\n"
# The module before and after an edit, cells that run before the edit, and a cell with its output
# before and after, which must be that of a fresh kernel.
EDITS = {
    "a function": ("def f(): return 1", "def f(): return 2", "from mine import f", "f()"),
    "with another name": (
        "def f(): return 1",
        "def f(): return 2",
        "from mine import f as g",
        "g()",
    ),
    "of a module": ("def f(): return 1", "def f(): return 2", "import mine", "mine.f()"),
    "everything": ("def f(): return 1", "def f(): return 2", "from mine import *", "f()"),
    "defaults": (
        "def f(a=1, *, b=2): return a + b",
        "def f(a=3, *, b=4, c=5): return a + b + c",
        "from mine import f\ng = f",
        "f(), g()",
    ),
    "a counted function": (
        "@counted\ndef f(): return 1",
        "@counted\ndef f(): return 2",
        "from mine import f\ng = {'it': f}",
        "f(), g['it']()",
    ),
    "a counted method": (
        "class A:\n    @counted\n    def f(self): return 1",
        "class A:\n    @counted\n    def f(self): return 2",
        "from mine import A\na = A()\nf = a.f",
        "a.f(), A().f(), f()",
    ),
    "a decorator more": (
        "class A:\n    def f(self): return 1",
        "class A:\n    @counted\n    def f(self): return 2",
        "from mine import A\na = A()\ng = A.f",
        "a.f(), g(a)",
    ),
    "a decorator less": (
        "class A:\n    @counted\n    def f(self): return 1",
        "class A:\n    def f(self): return 2",
        "from mine import A\na = A()\ng = A.f",
        "a.f(), g(a)",
    ),
    "the decorator itself": (
        "def twice(f):\n    def g(): return 2 * f()\n    return g\n@twice\ndef f(): return 1",
        "def twice(f):\n    def g(): return 3 * f()\n    return g\n@twice\ndef f(): return 1",
        "from mine import f\nfs = [f]",
        "f(), fs[0]()",
    ),
    "a cached function": (
        "@cache\ndef f(n): return n",
        "@cache\ndef f(n): return n + 1",
        "from mine import f\ng = f\nkept = f(1)",
        "f(1), g(1)",
    ),
    "a cache in the notebook": (
        "def f(): return 1",
        "def f(): return 2",
        "from functools import cache\nfrom mine import f\n@cache\ndef g(): return f()\nkept = g()",
        "g()",
    ),
    "a partial": (
        "def f(n): return n",
        "def f(n): return n + 1",
        "from functools import partial\nfrom mine import f\ng = partial(f, 1)",
        "g()",
    ),
    "a constant": ("X = 1", "X = 2", "from mine import X", "X"),
    "a constant of a class": (
        "class A:\n    x = 1",
        "class A:\n    x = 2",
        "from mine import A\na = A()",
        "a.x, A.x",
    ),
    "an import": (
        "from math import floor as f",
        "from math import ceil as f",
        "from mine import f",
        "f(1.5)",
    ),
    "a static method": (
        "class A:\n    @staticmethod\n    def f(): return 1",
        "class A:\n    @staticmethod\n    def f(): return 2",
        "from mine import A\ng = A.f",
        "A.f(), g(), A().f()",
    ),
    "a class method": (
        "class A:\n    @classmethod\n    def f(cls): return 1",
        "class A:\n    @classmethod\n    def f(cls): return cls.__name__",
        "from mine import A\ng = A.f",
        "A.f(), g()",
    ),
    "a property": (
        "class A:\n    @property\n    def f(self): return 1",
        "class A:\n    @property\n    def f(self): return 2",
        "from mine import A\na = A()",
        "a.f",
    ),
    "a property that was a method": (
        "class A:\n    def f(self): return 1",
        "class A:\n    @property\n    def f(self): return 2",
        "from mine import A\na = A()",
        "a.f if isinstance(a.f, int) else a.f()",
    ),
    "a new method": (
        "class A:\n    pass",
        "class A:\n    def f(self): return 2",
        "from mine import A\na = A()",
        "a.f()",
    ),
    "super": (
        "class A:\n    def f(self): return 1\nclass B(A):\n    def f(self): return super().f()",
        "class A:\n    def f(self): return 2\nclass B(A):\n    @counted\n"
        "    def f(self): return 10 * super().f()",
        "from mine import A, B\nb = B()",
        "b.f(), B().f(), isinstance(b, A)",
    ),
    "a subclass in the notebook": (
        "class A:\n    def f(self): return self.g()\n    def g(self): return 0",
        "class A:\n    def __init__(self, n=1): self.n = n\n    def f(self): return 2 * self.g()",
        "from mine import A\nclass B(A):\n    def g(self): return 5\nb = B()",
        "b.f(), B().f(), isinstance(b, A), issubclass(B, A)",
    ),
    "another base": (
        "class A:\n    def f(self): return 1\nclass B(A):\n    pass",
        "class A:\n    def f(self): return 1\nclass C(A):\n    def f(self): return 2\n"
        "class B(C):\n    pass",
        "from mine import B\nb = B()",
        "b.f()",
    ),
    "what an instance holds": (
        "class A:\n    def __init__(self): self.table = {}\n    def f(self): self.table['x'] = 1",
        "class A:\n    def f(self): return 2 * self.table['x']",
        "from mine import A\na = A(); a.f()",
        "a.f()",
    ),
    "slots": (
        "class A:\n    __slots__ = ('x',)\n    def f(self): return self.x",
        "class A:\n    __slots__ = ('x',)\n    def f(self): return 2 * self.x",
        "from mine import A\na = A(); a.x = 1",
        "a.f()",
    ),
    "a dataclass": (
        "from dataclasses import dataclass\n@dataclass(frozen=True)\nclass A:\n    x: int = 1\n"
        "    def f(self): return self.x",
        "from dataclasses import dataclass\n@dataclass(frozen=True)\nclass A:\n    x: int = 3\n"
        "    def f(self): return self.x + 1",
        "from mine import A\na = A(2)",
        "a.f(), A().f(), A(2) == a, isinstance(a, A), hash(a) == hash(A(2))",
    ),
    "a dataclass with slots": (
        "from dataclasses import dataclass\n@dataclass(slots=True)\nclass A:\n    x: int = 1\n"
        "    def f(self): return self.x",
        "from dataclasses import dataclass\n@dataclass(slots=True)\nclass A:\n    x: int = 3\n"
        "    def f(self): return self.x + 1",
        "from mine import A\na = A(2)",
        "a.f(), A().f()",
    ),
    "a named tuple": (
        "from typing import NamedTuple\nclass A(NamedTuple):\n    x: int\n"
        "    def f(self): return self.x",
        "from typing import NamedTuple\nclass A(NamedTuple):\n    x: int\n"
        "    def f(self): return 2 * self.x",
        "from mine import A\na = A(2)",
        "a.f(), A(2) == a, isinstance(a, A)",
    ),
    "a field more of a named tuple": (
        "from typing import NamedTuple\nclass A(NamedTuple):\n    x: int",
        "from typing import NamedTuple\nclass A(NamedTuple):\n    x: int\n    y: int = 5",
        "from mine import A",
        "A(2)",
    ),
    "an enumeration": (
        "from enum import Enum\nclass A(Enum):\n    X = 1",
        "from enum import Enum\nclass A(Enum):\n    X = 2\n    Y = 3",
        "from mine import A",
        "[a.value for a in A]",
    ),
    "an abstract class": (
        "from abc import ABC, abstractmethod\nclass A(ABC):\n    @abstractmethod\n"
        "    def f(self): ...\nclass B(A):\n    def f(self): return 1",
        "from abc import ABC, abstractmethod\nclass A(ABC):\n    @abstractmethod\n"
        "    def g(self): ...\nclass B(A):\n    def g(self): return 2",
        "from mine import A, B\nb = B()",
        "b.g(), B().g(), isinstance(b, A)",
    ),
    "a generator": (
        "def f():\n    yield 1",
        "def f():\n    yield 2\n    yield 3",
        "from mine import f\ng = f",
        "[*f()], [*g()]",
    ),
    "a generator becomes a list": (
        "def f():\n    yield 1",
        "def f():\n    return [2, 3]",
        "from mine import f\ng = f",
        "[*f()], [*g()]",
    ),
    "a list becomes a generator": (
        "def f():\n    return [1]",
        "def f():\n    yield 2",
        "from mine import f\ng = f",
        "[*f()], [*g()]",
    ),
    "a coroutine": (
        "async def f():\n    return 1",
        "async def f():\n    return 2",
        "import asyncio\nfrom mine import f\ng = f",
        "[asyncio.run(one()) for one in (f, g)]",
    ),
    "an asynchronous generator": (
        "async def f():\n    yield 1",
        "async def f():\n    yield 2",
        "import asyncio\nfrom mine import f\ng = f\nasync def all_of(one):\n"
        "    return [item async for item in one()]",
        "[asyncio.run(all_of(one)) for one in (f, g)]",
    ),
    "a closure": (
        "def add(n):\n    return lambda: n\nf = add(1)",
        "def add(n):\n    return lambda: n + 1\nf = add(1)",
        "from mine import f\ng = f",
        "f(), g()",
    ),
    "a class within a class": (
        "class A:\n    class B:\n        def f(self): return 1",
        "class A:\n    class B:\n        def f(self): return 2",
        "from mine import A\nb = A.B()",
        "b.f(), A.B().f()",
    ),
    "a class that a function makes": (
        "def make():\n    class A:\n        x = 1\n    return A",
        "def make():\n    class A:\n        x = 2\n    return A",
        "from mine import make\nA = make()",
        "A.x, make().x, make() is make()",
    ),
    "a pickle": (
        "class A:\n    def f(self): return 1",
        "class A:\n    def f(self): return 2",
        "import pickle\nfrom mine import A\na = A(); kept = pickle.dumps(a)",
        "pickle.loads(kept).f(), pickle.loads(pickle.dumps(a)).f()",
    ),
    "a conditional import": ("X = 1", "X = 2", "if True:\n    from mine import X", "X"),
    "in a timed cell": ("X = 1", "X = 2", "%%capture\nfrom mine import X", "X"),
    "the notebook's own name": ("X = 1", "X = 2", "from mine import X\nX = 1", "X"),
    "the notebook's own function": (
        "def f(): return 1",
        "def f(): return 2",
        "from mine import f\ndef f(): return 7",
        "f()",
    ),
    "by name": ("X = 1", "X = 2", "import importlib\nm = importlib.import_module('mine')", "m.X"),
}
NOT_THE_SAME = {  # objects made before the edit still exist, so these cells show something else
    "what an instance holds": ("None", "2"),
    "a class that a function makes": ("(1, 1, False)", "(1, 2, False)"),
}


@pytest.mark.slow
@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_takes_effect_in_the_next_cell(notebook, edit):
    """The result equals that after a restart, also when the edit is undone."""
    before, after, cell, show = EDITS[edit]
    expected = NOT_THE_SAME.get(edit) or [
        fresh(HEAD + text, cell, show) for text in (before, after)
    ]
    notebook.save(HEAD + before)
    assert notebook.run(LOAD) == notebook.run(cell) == ""
    for text, shown in zip((before, after, before, after), [*expected] * 2, strict=True):
        notebook.save(HEAD + text)
        printed = notebook.run(f"print(({show}))")
        assert printed == shown or shown is None


def fresh(module: str, cell: str, show: str) -> str | None:
    """The output of a fresh kernel with a module; None if the object does not exist."""
    names: dict = {"__name__": "mine"}
    sys.modules["mine"] = ModuleType("mine")
    exec(module, vars(sys.modules["mine"]))
    try:
        exec(cell.replace("%%capture\n", ""), names)
        return str(eval(f"({show})", names))
    except (AttributeError, TypeError):
        return None
    finally:
        del sys.modules["mine"]


def test_a_module_and_everything_in_it(notebook):
    """A function with the module's name does not replace the notebook's name for the module, also
    after the module could not be loaded.
    """
    notebook.save("def mine(): return 1\n")
    assert notebook.run(f"{LOAD}\nfrom mine import *\nimport mine") == ""
    notebook.save("def mine() return\n")
    assert notebook.run("mine.mine()") == "mine.py, line 1: expected ':'"
    notebook.save("def mine(): return 2\n")
    assert notebook.run("print(mine.mine())") == "2"
