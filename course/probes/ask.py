"""The questions that a check can ask: each calls the student's code and replies with plain data.

This runs in the student's process. A question is split into parts, so that what fails in one part
costs only the aspects of that part. Nothing here knows a right answer.
"""

from collections.abc import Mapping
from numbers import Integral, Real
from types import ModuleType
from typing import Any

from course.probes.question import MAX_ITEMS, NOT_WRITTEN, BadReply
from course.probes.questions import EXPLANATIONS, QUESTIONS
from tictactoe.errors import describe, text

MAX_LENGTH = 1000  # characters of a string; a whole number may have ten times as many bits
MAX_DEPTH = 10  # of lists in lists


def reply(module: ModuleType, ask: str, case: Mapping[str, Any]) -> dict[str, Any]:
    """Ask one case: `{aspect: plain value}`, and `"errors": {aspect: message}` for what failed."""
    observation: dict[str, Any] = {}
    errors: dict[str, str] = {}
    for aspects, compute in (QUESTIONS | EXPLANATIONS)[ask].ask(module, **case):
        try:
            values = zip(aspects, compute(), strict=True)
            for aspect, value in values:
                try:
                    observation[aspect] = plain(value)
                except BaseException as error:  # costs its own aspect, and not the others
                    errors[aspect] = describe_error(error)
        except BaseException as error:  # sys.exit() too costs only its own case
            errors |= dict.fromkeys(aspects, describe_error(error))
    return observation | ({"errors": errors} if errors else {})


def plain(value: Any) -> Any:
    """`value` as JSON can hold it: numbers (numpy's too), strings, None and lists of them.

    Raises `BadReply` for anything else, and for what is too large to be an answer.
    """
    return _plain(value, [MAX_ITEMS], 0)


def _plain(value: Any, left: list[int], depth: int) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str) and len(value) <= MAX_LENGTH:
        return str(value)
    if isinstance(value, Integral) and int(value).bit_length() <= 10 * MAX_LENGTH:
        return int(value)
    if isinstance(value, (str, Integral)):
        raise BadReply(f"a value of type {type(value).__name__} is too long for an answer")
    if isinstance(value, Real):
        return float(value)
    if type(value).__name__ == "bool_" or type(value).__name__ == "bool":  # numpy's
        return bool(value)
    if isinstance(value, (list, tuple)) and len(value) <= left[0] and depth < MAX_DEPTH:
        left[0] -= len(value)
        return [_plain(item, left, depth + 1) for item in value]
    raise BadReply(f"a value of type {type(value).__name__} is not a plain answer")


def describe_error(error: BaseException) -> str:
    """The error in one line, as `tictactoe.errors.describe`; a stub's says that it is one."""
    if isinstance(error, BadReply):
        return str(error)
    if isinstance(error, NotImplementedError):
        return f"{NOT_WRITTEN}: {text(error)}"
    return describe(error)
