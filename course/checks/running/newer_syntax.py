"""Recognises the syntax of newer Python versions, even when it runs on an older one.

Each newer form is replaced with an older one of the same structure. If the result is valid, the
newer forms explain why an older Python cannot parse the text; otherwise, nothing is reported.
"""

import io
import re
import token
import tokenize
import warnings
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from common.messages import english
from common.syntax import parse_python

Version = tuple[int, int]
STRING = re.compile(r"""#[^\n]*|(\w*)('''|\"\"\"|'|")""")
PREFIXES = {"", "r", "u", "b", "br", "rb", "f", "fr", "rf", "t", "tr", "rt"}
OPENING, CLOSING = "([{", ")]}"
MAX_DEPTH = 20  # depth of nested strings
SKIPPED = (token.COMMENT, token.NL, token.INDENT, token.DEDENT)


class Need(NamedTuple):
    """A feature that needs at least this version of Python: its description and its line, from 1."""

    version: Version
    what: str
    line: int


class _Invalid(ValueError):
    """Raised if the text is invalid in every version."""


def newer_forms(text: str) -> list[Need]:
    """The forms in a module's text that Python 3.11 cannot parse.

    Empty if the text is invalid in every version.
    """
    try:
        older, needs = _older(text, 0)
        _parse(older)
    except (_Invalid, SyntaxError, ValueError, RecursionError, MemoryError, IndexError):
        return []
    return needs


def _parse(text: str) -> None:
    with warnings.catch_warnings(action="ignore"):  # for example about invalid escape sequences
        parse_python(text)


def _older(text: str, depth: int) -> tuple[str, list[Need]]:
    if depth > MAX_DEPTH:
        raise _Invalid
    text, needs = _without_newer_strings(text, depth)
    edits, more = [], []
    for need, changed in _newer_statements(text):
        more.append(need)
        edits += changed
    lines = text.splitlines(keepends=True)
    for (row, start), (_, end), new in sorted(edits, reverse=True):
        lines[row - 1] = lines[row - 1][:start] + new + lines[row - 1][end:]
    return "".join(lines), needs + more


# ---- Strings


def _without_newer_strings(text: str, depth: int) -> tuple[str, list[Need]]:
    """The text with each formatted string that needs a newer Python replaced by an empty string."""
    parts, needs, kept, place = [], [], 0, 0
    while match := STRING.search(text, place):
        if match[2] is None:  # a comment
            place = match.end()
            continue
        prefix = match[1].lower() if match[1].lower() in PREFIXES else ""
        start = match.end() - len(match[2]) - len(prefix)
        if not set(prefix) & set("ft"):
            place = _end_of_string(text, match.end(), match[2])
            continue
        place, reason = _format_string(text, match.end(), match[2], "r" in prefix, depth)
        line = text.count("\n", 0, start) + 1
        if "t" in prefix:
            needs.append(Need((3, 14), english('a template string (t"...")'), line))
        elif reason:
            needs.append(Need((3, 12), english(f"an f-string with {reason} between braces"), line))
        else:
            continue
        newlines = text.count("\n", start, place)
        parts += [text[kept:start], '""' if not newlines else '"""' + "\n" * newlines + '"""']
        kept = place
    return "".join([*parts, text[kept:]]), needs


def _end_of_string(text: str, place: int, quote: str) -> int:
    while not text.startswith(quote, place):
        if place >= len(text) or (text[place] == "\n" and len(quote) == 1):
            raise _Invalid
        place += 2 if text[place] == "\\" else 1
    return place + len(quote)


def _format_string(text: str, place: int, quote: str, raw: bool, depth: int) -> tuple[int, str]:
    """The end of a formatted string whose content starts at `place`, and the part that needs 3.12."""
    reason = ""
    while not text.startswith(quote, place):
        if place >= len(text) or (text[place] == "\n" and len(quote) == 1):
            raise _Invalid
        if text.startswith("\\N{", place) and not raw:
            place = text.index("}", place) + 1
        elif text[place] == "\\":
            place += 1 if text.startswith("{", place + 1) else 2
        elif text.startswith(("{{", "}}"), place):
            place += 2
        elif text[place] == "}":
            raise _Invalid
        elif text[place] == "{":
            place, field_reason = _replacement_field(text, place + 1, quote, depth)
            reason = reason or field_reason
        else:
            place += 1
    return place + len(quote), reason


def _replacement_field(text: str, start: int, quote: str, depth: int) -> tuple[int, str]:
    """The end of a replacement field that starts at `start`, and the part that needs 3.12."""
    if depth > MAX_DEPTH:
        raise _Invalid
    end, has_comment = _end_of_expression(text, start, depth)
    reason = _newer_in_expression(text[start:end], quote, has_comment, depth)
    place = _end_of_conversion(text, end)
    if text.startswith(":", place):
        place, spec_reason = _format_specification(text, place + 1, quote, depth)
        reason = reason or spec_reason
    if not text.startswith("}", place):
        raise _Invalid
    return place + 1, reason


def _end_of_expression(text: str, start: int, depth: int) -> tuple[int, bool]:
    """The end of a field's expression, and whether it contains a comment."""
    place, brackets, has_comment = start, 0, False
    while brackets or not _ends_expression(text, place):
        if place >= len(text):
            raise _Invalid
        match = STRING.match(text, place)
        if match and match[2] is None:
            has_comment, place = True, match.end()
        elif match:
            prefix = match[1].lower()
            if prefix in PREFIXES and set(prefix) & set("ft"):
                place, _ = _format_string(text, match.end(), match[2], "r" in prefix, depth + 1)
            else:
                place = _end_of_string(text, match.end(), match[2])
        else:
            word = re.compile(r"\w+").match(text, place)
            brackets += (text[place] in OPENING) - (text[place] in CLOSING)
            place = word.end() if word else place + 1
    return place, has_comment


def _newer_in_expression(expression: str, quote: str, has_comment: bool, depth: int) -> str:
    """The part of a field's expression that needs 3.12, or ""; the expression must be valid."""
    older, newer = _older(_without_equals(expression).strip(), depth + 1)
    _parse(f"({older}\n)")
    if not older:
        raise _Invalid
    reasons = {
        "the string's own quotes": quote in expression,
        "a backslash": "\\" in expression,
        "a comment": has_comment,
        "a line break": "\n" in expression and len(quote) == 1,
        "newer syntax": bool(newer),
    }
    return next((reason for reason, applies in reasons.items() if applies), "")


def _end_of_conversion(text: str, place: int) -> int:
    """The place after a conversion such as `!r`, if there is one at `place`."""
    if not text.startswith("!", place):
        return place
    conversion = re.compile(r"!\s*[rsa]\s*").match(text, place)
    if not conversion:
        raise _Invalid
    return conversion.end()


def _format_specification(text: str, start: int, quote: str, depth: int) -> tuple[int, str]:
    """The end of a format specification that starts at `start`, and the part that needs 3.12."""
    place, reason = start, ""
    while not text.startswith("}", place):
        if place >= len(text) or text.startswith(quote, place):
            raise _Invalid
        if text[place] == "{":
            place, field_reason = _replacement_field(text, place + 1, quote, depth + 1)
            reason = reason or field_reason
        else:
            place += 1
    return place, reason


def _ends_expression(text: str, place: int) -> bool:
    return text.startswith(("}", ":"), place) or (
        text.startswith("!", place) and not text.startswith("!=", place)
    )


def _without_equals(expression: str) -> str:
    """The expression without the equals sign of a self-documenting field such as `{x = }`."""
    stripped = expression.rstrip()
    if stripped.endswith("=") and not stripped.endswith(("==", "!=", "<=", ">=")):
        return stripped[:-1]
    return expression


# ---- Statements

LINE_END = 1 << 30  # a column after the end of any line, with its line break
Place = tuple[int, int]  # a line, from 1, and a column, from 0
Edit = tuple[Place, Place, str]  # start and end of the replaced text, on one line, and the new text


def _newer_statements(text: str) -> Iterator[tuple[Need, list[Edit]]]:
    """Each newer form, with the edits that turn it into an older one."""
    try:
        tokens = [
            each
            for each in tokenize.generate_tokens(io.StringIO(text).readline)
            if each.type not in SKIPPED
        ]
    except (tokenize.TokenError, SyntaxError):
        raise _Invalid from None
    starts_statement, depth = True, 0
    for number, each in enumerate(tokens):
        if each.type == token.NAME:
            yield from _newer_definitions(tokens, number, starts_statement)
            if starts_statement:
                yield from _newer_simple_statements(tokens, number)
        yield from _newer_comprehensions(tokens, number)
        depth += (each.string in OPENING) - (each.string in CLOSING) if each.type == token.OP else 0
        starts_statement = each.type == token.NEWLINE or (depth == 0 and each.string in (";", ":"))


def _next_words(tokens: Sequence[tokenize.TokenInfo], number: int) -> list[str]:
    """The texts of a token and of the next two; empty after the last one."""
    return [each.string for each in tokens[number : number + 3]] + ["", "", ""]


def _newer_definitions(
    tokens: Sequence[tokenize.TokenInfo], number: int, starts_statement: bool
) -> Iterator[tuple[Need, list[Edit]]]:
    """A `type` statement, or a function or class with type parameters, at this token."""
    first, second, third, *_ = _next_words(tokens, number)
    line = tokens[number].start[0]
    if (
        starts_statement
        and first == "type"
        and tokens[number + 1].type == token.NAME
        and third in "=["
    ):
        need = Need((3, 12), english("a `type` statement"), line)
        edits = [_first_word(tokens[number], tokens[number + 1])]
    elif first in ("def", "class") and third == "[":
        need = Need((3, 12), english(f"type parameters (`{first} {second}[...]`)"), line)
        edits = []
    else:
        return
    yield need, [*edits, *_parameters(tokens, number + 2, third)]
    if default := _defaults(tokens, number + 2, third):
        yield default, []


def _newer_simple_statements(
    tokens: Sequence[tokenize.TokenInfo], number: int
) -> Iterator[tuple[Need, list[Edit]]]:
    """An `except` without parentheses or a lazy import that starts at this token."""
    first, second, *_ = _next_words(tokens, number)
    line = tokens[number].start[0]
    if first == "except" and (edits := _without_parentheses(tokens, number)):
        yield Need((3, 14), english("`except` with several types without parentheses"), line), edits
    elif first == "lazy" and second in ("import", "from"):
        edit = _first_word(tokens[number], tokens[number + 1])
        yield Need((3, 15), english(f"`lazy {second}`"), line), [edit]


def _newer_comprehensions(
    tokens: Sequence[tokenize.TokenInfo], number: int
) -> Iterator[tuple[Need, list[Edit]]]:
    """A comprehension that starts at this token and unpacks its items."""
    first, second, *_ = _next_words(tokens, number)
    if first in "[{" and second in ("*", "**") and _is_comprehension(tokens, number):
        line = tokens[number].start[0]
        need = Need((3, 15), english(f"unpacking in a comprehension (`{second}`)"), line)
        yield need, [_removed(tokens[number + 1])]


def _removed(each: tokenize.TokenInfo) -> Edit:
    return each.start, each.end, " " * (each.type == token.OP)


def _first_word(each: tokenize.TokenInfo, following: tokenize.TokenInfo) -> Edit:
    """The edit that removes a word and the spaces after it, which would change the indentation."""
    if each.end[0] != following.start[0]:
        raise _Invalid
    return each.start, following.start, ""


def _group(tokens: Sequence[tokenize.TokenInfo], start: int) -> list[tokenize.TokenInfo]:
    """The tokens of the bracket at `start`, including its contents."""
    depth = 0
    for number in range(start, len(tokens)):
        if tokens[number].type == token.OP:
            depth += (tokens[number].string in OPENING) - (tokens[number].string in CLOSING)
        if depth == 0:
            return list(tokens[start : number + 1])
    raise _Invalid


def _items(group: Sequence[tokenize.TokenInfo]) -> list[list[str]]:
    """The words of each item in a bracket."""
    items: list[list[str]] = [[]]
    depth = 0
    for each in group[1:-1]:
        depth += (each.string in OPENING) - (each.string in CLOSING) if each.type == token.OP else 0
        if each.string == "," and not depth:
            items.append([])
        else:
            items[-1].append(each.string)
    return (
        items if items[-1] or len(items) == 1 else items[:-1]
    )  # the last item may end with a comma


def _parameters(tokens: Sequence[tokenize.TokenInfo], start: int, opening: str) -> list[Edit]:
    """The edits that remove a list of type parameters, if there is one."""
    if opening != "[":
        return []
    group = _group(tokens, start)
    for item in _items(group):
        words = item[1:] if item[:1] in (["*"], ["**"]) else item
        if not words:
            raise _Invalid
        _parse(f"def _({' '.join(words).replace('= *', '= ')}): pass")
    (first, begin), (last, end) = group[0].start, group[-1].end
    if first == last:
        return [((first, begin), (last, end), "")]
    joined = [
        ((row, 0 if row > first else begin), (row, LINE_END), "\\\n") for row in range(first, last)
    ]
    return [*joined, ((last, 0), (last, end), "")]


def _defaults(tokens: Sequence[tokenize.TokenInfo], start: int, opening: str) -> Need | None:
    if opening == "[" and any("=" in item for item in _items(_group(tokens, start))):
        return Need((3, 13), english("a type parameter with a default"), tokens[start].start[0])
    return None


def _without_parentheses(tokens: Sequence[tokenize.TokenInfo], start: int) -> list[Edit]:
    """The edits that put parentheses around `A, B` after `except`; none if the clause has another
    form.

    A lower-case name is treated as part of Python 2's `except A, error:`, which Python 3 rejects.
    """
    first = start + 1 + (tokens[start + 1].string == "*")
    end = next(
        (
            number
            for number in range(first, len(tokens))
            if tokens[number].string in (":", "as") or tokens[number].type == token.NEWLINE
        ),
        None,
    )
    types = tokens[first:end]
    if end is None or tokens[end].string != ":" or not any(each.string == "," for each in types):
        return []
    if any(each.type != token.NAME and each.string not in (",", ".") for each in types):
        return []
    names = "".join(each.string for each in types).strip(",").split(",")
    if not all(name.rpartition(".")[2][:1].isupper() for name in names):
        return []
    return [(types[0].start, types[0].start, "("), (tokens[end].start, tokens[end].start, ")")]


def _is_comprehension(tokens: Sequence[tokenize.TokenInfo], start: int) -> bool:
    depth = 0
    for each in _group(tokens, start):
        if depth == 1 and each.string in (",", "for"):
            return each.string == "for"
        depth += (each.string in OPENING) - (each.string in CLOSING) if each.type == token.OP else 0
    return False
