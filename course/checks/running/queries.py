"""Runs the questions of a check: each calls the student's code and replies with plain data.

This runs in the process of the student's module, which contains no correct answers. A question is
split into parts, so that a failure in one part costs only the aspects of that part.
"""

from collections.abc import Mapping
from numbers import Integral, Real
from types import ModuleType
from typing import Any

from common.errors import describe, error_message
from common.messages import english
from course.checks.question import MAX_ITEMS, NOT_WRITTEN, BadReply
from course.checks.questions import EXPLANATIONS, QUESTIONS

MAX_LENGTH = 1000  # characters of a string; an integer may have ten times as many bits
MAX_DEPTH = 10  # levels of nested lists
STUB_MESSAGES = english("write this function"), english("write this method")  # of stubs
TOO_MANY_ITEMS = english(
    f"the reply has more than {MAX_ITEMS} items, so it is too long, or comes from an iterator that "
    "never ends"
)


def reply(module: ModuleType, ask: str, case: Mapping[str, Any]) -> dict[str, Any]:
    """The reply to one case: `{aspect: value}`, and `"errors": {aspect: message}` for failures."""
    observation: dict[str, Any] = {}
    errors: dict[str, str] = {}
    for aspects, compute in (QUESTIONS | EXPLANATIONS)[ask].ask(module, **case):
        try:
            values = zip(aspects, compute(), strict=True)
            for aspect, value in values:
                try:
                    observation[aspect] = plain(value)
                except BaseException as error:  # fails only this aspect
                    errors[aspect] = describe_error(error)
        except BaseException as error:  # even sys.exit() fails only this case
            errors |= dict.fromkeys(aspects, describe_error(error))
    return observation | ({"errors": errors} if errors else {})


def plain(value: Any) -> Any:
    """`value` converted for JSON: a number (numpy's included), a string, None, or a list of these.

    Raises `BadReply` for anything else, and for values that are too large.
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
        raise BadReply(english(f"a value of type {type(value).__name__} is too long for a reply"))
    if isinstance(value, Real):
        return float(value)
    if type(value).__name__ == "bool_" or type(value).__name__ == "bool":  # numpy's booleans
        return bool(value)
    if isinstance(value, (list, tuple)):
        if len(value) > left[0]:
            raise BadReply(TOO_MANY_ITEMS)
        if depth == MAX_DEPTH:
            raise BadReply(english(f"a reply may have at most {MAX_DEPTH} levels of lists"))
        left[0] -= len(value)
        return [_plain(item, left, depth + 1) for item in value]
    raise BadReply(english(f"a value of type {type(value).__name__} cannot be part of a reply"))


def describe_error(error: BaseException) -> str:
    """The error in one line, as in `common.errors.describe`; errors of stubs are marked as such."""
    if isinstance(error, BadReply):
        return str(error)
    if isinstance(error, NotImplementedError):
        return english(f"{NOT_WRITTEN}: {error_message(error)}")
    return describe(error)
