"""The question for the values of a module's own functions, on the arguments that the marker names.

It decides nothing by itself. What builds on a wrong function is marked a second time, by what a
right answer would reply if it were built on that function: for that its values are needed.
"""

import io
import pickle
from base64 import b64decode
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from course.probes.question import Part, Question, get, items


def _values(module: ModuleType, names: list[str], arguments: str) -> Iterator[Part]:
    """The value of each function on its arguments, a list of `(args, kwargs)` in base64."""
    calls = _Arguments(module, b64decode(arguments)).load()
    yield (
        tuple(map(str, range(len(names)))),
        lambda: [
            _listed(get(module, name)(*args, **kwargs))
            for name, (args, kwargs) in zip(names, calls, strict=True)
        ],
    )


class _Arguments(pickle.Unpickler):
    """Reads arguments, in which the module's own classes stand by their names."""

    def __init__(self, module: ModuleType, data: bytes) -> None:
        super().__init__(io.BytesIO(data))
        self._module = module

    def persistent_load(self, name: str) -> Any:
        """The class or function of the module that is called `name`."""
        return get(self._module, name)


def _listed(value: Any) -> Any:
    return items(value) if hasattr(value, "__next__") else value


QUESTIONS: dict[str, Question] = {}
EXPLANATIONS = {"values": Question(_values, (), lambda case: ", ".join(sorted(set(case["names"]))))}
