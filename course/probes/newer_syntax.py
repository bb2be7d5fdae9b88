"""Recognises syntax that only a newer Python can parse, with whatever Python runs.

Each newer form is replaced by an older one of the same structure. If the text is valid after that,
these forms are what an older Python could not parse; if it is not, nothing is claimed.
"""

import io
import re
import token
import tokenize
import warnings
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from course.probes.syntax import parsed

Version = tuple[int, int]
STRING = re.compile(r"""#[^\n]*|(\w*)('''|\"\"\"|'|")""")
PREFIXES = {"", "r", "u", "b", "br", "rb", "f", "fr", "rf", "t", "tr", "rt"}
OPENING, CLOSING = "([{", ")]}"
MAX_DEPTH = 20  # of strings in strings
SKIPPED = (token.COMMENT, token.NL, token.INDENT, token.DEDENT)


class Need(NamedTuple):
    """What needs at least this version of Python, in words, and its line, from 1."""

    version: Version
    what: str
    line: int


class _Invalid(ValueError):
    """The text is valid in no version."""


def newer_forms(text: str) -> list[Need]:
    """The forms in a module's text that Python 3.11 cannot parse; none if the text is invalid
    whatever the version."""
    try:
        older, needs = _older(text, 0)
        _parse(older)
    except (_Invalid, SyntaxError, ValueError, RecursionError, MemoryError, IndexError):
        return []
    return needs


def _parse(text: str) -> None:
    with warnings.catch_warnings(action="ignore"):  # such as of odd escapes
        parsed(text)


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
    """The text with an empty string for each formatted one that needs a newer Python."""
    parts, needs, kept, place = [], [], 0, 0
    while found := STRING.search(text, place):
        if found[2] is None:  # a comment
            place = found.end()
            continue
        prefix = found[1].lower() if found[1].lower() in PREFIXES else ""
        start = found.end() - len(found[2]) - len(prefix)
        if not set(prefix) & set("ft"):
            place = _end_of_string(text, found.end(), found[2])
            continue
        place, why = _format_string(text, found.end(), found[2], "r" in prefix, depth)
        line = text.count("\n", 0, start) + 1
        if "t" in prefix:
            needs.append(Need((3, 14), 'a template string (t"...")', line))
        elif why:
            needs.append(Need((3, 12), f"an f-string with {why} between braces", line))
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
    """The end of a formatted string whose contents begin at `place`, and what in it needs 3.12."""
    why = ""
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
            place, reason = _field(text, place + 1, quote, depth)
            why = why or reason
        else:
            place += 1
    return place + len(quote), why


def _field(text: str, start: int, quote: str, depth: int) -> tuple[int, str]:
    """The end of a replacement field that begins at `start`, and what in it needs 3.12."""
    if depth > MAX_DEPTH:
        raise _Invalid
    place, brackets, comment = start, 0, False
    while brackets or not _ends_expression(text, place):
        if place >= len(text):
            raise _Invalid
        found = STRING.match(text, place)
        if found and found[2] is None:
            comment, place = True, found.end()
        elif found:
            prefix = found[1].lower()
            place = (
                _format_string(text, found.end(), found[2], "r" in prefix, depth + 1)[0]
                if prefix in PREFIXES and set(prefix) & set("ft")
                else _end_of_string(text, found.end(), found[2])
            )
        else:
            word = re.compile(r"\w+").match(text, place)
            brackets += (text[place] in OPENING) - (text[place] in CLOSING)
            place = word.end() if word else place + 1
    expression = text[start:place]
    older, inner = _older(_without_equals(expression).strip(), depth + 1)
    _parse(f"({older}\n)")
    if not older:
        raise _Invalid
    why = (
        "the string's own quotes"
        if quote in expression
        else "a backslash"
        if "\\" in expression
        else "a comment"
        if comment
        else "a line break"
        if "\n" in expression and len(quote) == 1
        else "newer syntax"
        if inner
        else ""
    )
    if text.startswith("!", place):
        conversion = re.compile(r"!\s*[rsa]\s*").match(text, place)
        if not conversion:
            raise _Invalid
        place = conversion.end()
    if text.startswith(":", place):
        place += 1
        while not text.startswith("}", place):
            if place >= len(text) or text.startswith(quote, place):
                raise _Invalid
            if text[place] == "{":
                place, reason = _field(text, place + 1, quote, depth + 1)
                why = why or reason
            else:
                place += 1
    if not text.startswith("}", place):
        raise _Invalid
    return place + 1, why


def _ends_expression(text: str, place: int) -> bool:
    return text.startswith(("}", ":"), place) or (
        text.startswith("!", place) and not text.startswith("!=", place)
    )


def _without_equals(expression: str) -> str:
    """The expression of a field such as `{x = }`, which shows itself."""
    stripped = expression.rstrip()
    if stripped.endswith("=") and not stripped.endswith(("==", "!=", "<=", ">=")):
        return stripped[:-1]
    return expression


# ---- Statements

LINE_END = 1 << 30  # a column after the end of any line, with its line break
Place = tuple[int, int]  # a line, from 1, and a column, from 0
Edit = tuple[Place, Place, str]  # what is replaced, on one line, and by what


def _newer_statements(text: str) -> Iterator[tuple[Need, list[Edit]]]:
    """Each newer form with the edits that make it an older one."""
    try:
        tokens = [
            each
            for each in tokenize.generate_tokens(io.StringIO(text).readline)
            if each.type not in SKIPPED
        ]
    except (tokenize.TokenError, SyntaxError):
        raise _Invalid from None
    begins, depth = True, 0
    for number, each in enumerate(tokens):
        rest = tokens[number : number + 3]
        words = [other.string for other in rest] + ["", "", ""]
        line = each.start[0]
        if each.type == token.NAME:
            if begins and words[0] == "type" and rest[1].type == token.NAME and words[2] in "=[":
                yield (
                    Need((3, 12), "a `type` statement", line),
                    [_first_word(each, rest[1]), *_parameters(tokens, number + 2, words[2])],
                )
                if newer := _defaults(tokens, number + 2, words[2]):
                    yield newer, []
            elif words[0] in ("def", "class") and words[2] == "[":
                yield (
                    Need((3, 12), f"type parameters (`{words[0]} {words[1]}[...]`)", line),
                    _parameters(tokens, number + 2, "["),
                )
                if newer := _defaults(tokens, number + 2, "["):
                    yield newer, []
            elif (
                begins and words[0] == "except" and (edits := _without_parentheses(tokens, number))
            ):
                yield Need((3, 14), "`except` with several types without parentheses", line), edits
            elif begins and words[0] == "lazy" and words[1] in ("import", "from"):
                yield Need((3, 15), f"`lazy {words[1]}`", line), [_first_word(each, rest[1])]
        if words[0] in "[{" and words[1] in ("*", "**") and _is_comprehension(tokens, number):
            yield (
                Need((3, 15), f"unpacking in a comprehension (`{words[1]}`)", line),
                [_removed(rest[1])],
            )
        depth += (each.string in OPENING) - (each.string in CLOSING) if each.type == token.OP else 0
        begins = each.type == token.NEWLINE or (depth == 0 and each.string in (";", ":"))


def _removed(each: tokenize.TokenInfo) -> Edit:
    return each.start, each.end, " " * (each.type == token.OP)


def _first_word(each: tokenize.TokenInfo, following: tokenize.TokenInfo) -> Edit:
    """The edit that removes a word, with the blanks after it, which would be an indentation."""
    if each.end[0] != following.start[0]:
        raise _Invalid
    return each.start, following.start, ""


def _group(tokens: Sequence[tokenize.TokenInfo], start: int) -> list[tokenize.TokenInfo]:
    """The tokens of the bracket at `start`, with what is in it."""
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
    return items if items[-1] or len(items) == 1 else items[:-1]  # a comma may come last


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
        return Need((3, 13), "a type parameter with a default", tokens[start].start[0])
    return None


def _without_parentheses(tokens: Sequence[tokenize.TokenInfo], start: int) -> list[Edit]:
    """The edits that put parentheses around `A, B` after `except`; none if it is another form.

    Names in lower case are taken for Python 2's `except A, error:`, which is a mistake everywhere.
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
