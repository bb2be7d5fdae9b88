"""The question that calls a module's own functions with given arguments.

It earns no points. If a function is wrong, the code that calls it is marked again, against the
replies of a correct answer that calls the student's function; for this, grading needs the
function's values.
"""

import io
import pickle
from base64 import b64decode
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from course.checks.question import Part, Question, get, items


def _values(module: ModuleType, names: list[str], arguments: str) -> Iterator[Part]:
    """The value of each function; `arguments` is a pickled list of `(args, kwargs)`, in base64."""
    calls = _Arguments(module, b64decode(arguments)).load()
    yield (
        tuple(map(str, range(len(names)))),
        lambda: [
            _listed(get(module, name)(*args, **kwargs))
            for name, (args, kwargs) in zip(names, calls, strict=True)
        ],
    )


class _Arguments(pickle.Unpickler):
    """Unpickles arguments in which the module's own classes and functions are stored by name."""

    def __init__(self, module: ModuleType, data: bytes) -> None:
        super().__init__(io.BytesIO(data))
        self._module = module

    def persistent_load(self, name: str) -> Any:
        """The class or function `name` of the module."""
        return get(self._module, name)


def _listed(value: Any) -> Any:
    return items(value) if hasattr(value, "__next__") else value


QUESTIONS: dict[str, Question] = {}
EXPLANATIONS = {"values": Question(_values, (), lambda case: ", ".join(sorted(set(case["names"]))))}
