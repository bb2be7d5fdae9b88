"""Put an outcome into words: as text for terminals and screen readers, as HTML for notebooks."""

import html
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from course.probes import load_check
from course.probes.items import Item, differing, is_long, items_of
from course.probes.outcome import NO_ANSWER, Outcome, describe_question, equal, same
from course.probes.positions import read_position
from course.probes.question import texts_of
from course.probes.questions import QUESTIONS

MAX_SHOWN = 500  # characters of one value
MAX_ITEMS = 3  # of a list that differ
UNSHOWN = (
    "All positions that went wrong are among those that feedback does not show. Look at the "
    "aspects that lose points, and try your code at positions of your own."
)
CELL = "text-align:left;padding:0 1em 0.2em 0"


def as_text(outcome: Outcome) -> str:
    """The outcome as lines of plain text: marks, the case that differs, the likeliest cause."""
    lines = [_headline(outcome)]
    if not outcome.full:
        width = _width(a.name for a in outcome.aspects)
        lines += [
            f"  {a.name:<{width}}{_number(a.earned)} of {_number(a.points)} points"
            + ("" if outcome.is_match else f"   ({_number(a.right)} of {a.asked} positions right)")
            for a in outcome.aspects
        ]
    if outcome.problem:
        lines += ["", sentence_of(outcome.problem)]
    if outcome.said and not outcome.unwritten:
        lines += ["", *map(sentence_of, outcome.said)]
    if _has_case(outcome):
        lines += ["", "Asked:    " + describe_question(_case(outcome)["asked"], _ask(outcome))]
        for board in _boards(outcome):
            lines += ["", *("          " + line for line in str(board).splitlines())]
        lines.append("")
        rows = list(_rows(outcome))
        width = _width(row.name for row in rows)
        lines += [
            f"  {row.name:<{width}}expected {row.expected}, got {row.got}"
            + (f"   <- {row.differs}" if row.differs else "")
            + (f"   ({row.reading})" if row.reading else "")
            for row in rows
        ]
    for title, sentence in causes(outcome):
        lines += ["", f"{title}: {sentence}"]
    if outcome.divergence:
        lines += ["", f"{of_search(outcome)}: {outcome.divergence['sentence']}"]
        if _divergence(outcome)["board"] is not None:
            lines += ["", *("          " + line for line in str(_node(outcome)).splitlines())]
    return _writable("\n".join(lines))


def as_html(outcome: Outcome) -> str:
    """The same as HTML, with tables, and boards as pictures; untrusted pages show it too."""
    parts = [f"<p><strong>{html.escape(_headline(outcome))}</strong></p>"]
    if not outcome.full:
        parts.append(_points_html(outcome))
    if outcome.problem:
        parts.append(f"<p>{html.escape(sentence_of(outcome.problem))}</p>")
    if outcome.said and not outcome.unwritten:
        items = "".join(f"<li>{html.escape(sentence_of(said))}</li>" for said in outcome.said)
        parts.append(f"<ul>{items}</ul>")
    if _has_case(outcome):
        parts.append(_case_html(outcome))
    parts += [
        f"<p><strong>{title}:</strong> {html.escape(sentence)}</p>"
        for title, sentence in causes(outcome)
    ]
    if outcome.divergence:
        parts.append(
            f"<p><strong>{of_search(outcome)}:</strong> "
            f"{html.escape(outcome.divergence['sentence'])}</p>"
        )
        if _divergence(outcome)["board"] is not None:
            parts.append(f"<p>{_picture(_node(outcome))}</p>")
    return _writable("".join(parts))


def _width(names: Iterable[str]) -> int:
    """Of a column that holds these names."""
    return max([9, *(len(name) + 2 for name in names)])


def causes(outcome: Outcome) -> Iterator[tuple[str, str]]:
    """What may be the cause, each with a title."""
    if outcome.unshown and not outcome.unwritten:
        yield "No position is shown", UNSHOWN
    if outcome.cause and outcome.found_in:
        yield (
            f"Likely cause, found in {outcome.found_in}",
            f"{outcome.cause} It spoils this check too, where something else may be wrong as well.",
        )
    elif outcome.not_in:
        yield (
            "It is as if",
            (
                f"{outcome.cause} But {outcome.not_in} does not bear this out, so "
                "look at what is used here alone."
            ),
        )
    elif outcome.cause:
        yield "Likely cause", outcome.cause
    if outcome.resembles:
        yield "Perhaps", outcome.resembles
    elif outcome.found_in and not outcome.cause and not outcome.divergence:
        yield (
            "Look first",
            (
                f"{outcome.found_in} is not all right either, and what is wrong there "
                "often shows here."
            ),
        )
    if outcome.common:
        yield "What went wrong", outcome.common
    if outcome.stopped and (why := why_stopped(outcome.problem or "")):
        yield "Why it was stopped", why


def why_stopped(problem: str) -> str:
    """Which limit a check reached, what was running, and where to look; "" if it is not known."""
    reason, _, case = problem.partition(NO_ANSWER)
    if not case:
        return ""
    running = f"while your code computed the answer to {case}"
    if found := re.match(r"stopped after (.+?), nearly all of them spent waiting", reason):
        return (
            f"It may take {found[1]}, and that was over {running}, which waited most of the "
            "time. Look for input(), sleep() or another process that it waits for."
        )
    if found := re.match(r"stopped after (.+)", reason):
        return (
            f"The limit of {found[1]} was reached {running}. Look for a loop or a recursion "
            "that does not end, or for work that is done more often than needed."
        )
    if found := re.search(r"more than (\d+ MB of memory)", reason):
        return (
            f"It may use {found[1]}, and needed more {running}. Look for a list, a table or a "
            "recursion that grows without end."
        )
    if "output exceeded the limit" in reason:
        return (
            f"The limit of output was reached {running}. Look for a print() in a loop, or for "
            "a reply that is much larger than the question asks for."
        )
    if found := re.match(r"the process ended[^(]*(\(.+\))?", reason):
        how = f" {found[1]}" if found[1] else ""
        return (
            f"Python ended{how} {running}. Look for exit(), quit() or sys.exit(), or for a "
            "recursion so deep that Python crashes."
        )
    return ""


def of_search(outcome: Outcome) -> str:
    """What the sentence on the first other node is called."""
    return (
        "Your search, node by node"
        if _divergence(outcome)["board"] is None
        else "Where your search first differs"
    )


def _has_case(outcome: Outcome) -> bool:
    """Whether there is one question that explains the mark; of games all do, and are told."""
    return not (outcome.case is None or outcome.unwritten or outcome.is_match) and (
        bool(_case(outcome)["errors"]) or any(v is not None for v in _case(outcome)["got"].values())
    )


def _points_html(outcome: Outcome) -> str:
    heads = ["Aspect", "Points"] + ["Positions right"] * (not outcome.is_match)
    return _table(
        heads,
        (
            [
                a.name,
                f"{_number(a.earned)} of {_number(a.points)}",
                f"{_number(a.right)} of {a.asked}",
            ][: len(heads)]
            for a in outcome.aspects
        ),
    )


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table whose first column names the rows; with styles of its own, as pages have others."""
    head = "".join(
        f"<th scope='col' style='{CELL}'>{html.escape(name)}</th>" if name else "<td></td>"
        for name in heads
    )
    body = "".join(
        f"<tr><th scope='row' style='{CELL}'>{html.escape(name)}</th>"
        + "".join(f"<td style='{CELL}'>{html.escape(text)}</td>" for text in texts)
        + "</tr>"
        for name, *texts in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _node(outcome: Outcome) -> Any:
    return read_position(_divergence(outcome)["board"])


def _picture(board: Any) -> str:
    return (
        board._repr_html_()
        if hasattr(board, "_repr_html_")
        else f"<code>{html.escape(str(board))}</code>"
    )


def _case_html(outcome: Outcome) -> str:
    asked = html.escape(describe_question(_case(outcome)["asked"], _ask(outcome)))
    boards = " ".join(map(_picture, _boards(outcome)))
    rows = (
        [
            row.name,
            row.expected,
            row.got,
            f"{row.differs}   ({row.reading})" if row.reading else row.differs,
        ]
        for row in _rows(outcome)
    )
    return f"<p>Asked: <code>{asked}</code></p><p>{boards}</p>" + _table(
        ["", "Expected", "Your code", ""], rows
    )


def _headline(outcome: Outcome) -> str:
    kind = " of extra credit" if outcome.extra_credit else ""
    if outcome.full:
        state = "right" if outcome.given else "all right"
    elif outcome.unwritten:
        state = "not written yet"
    else:
        state = "not all right"
    if outcome.given:
        state += f", given your {' and '.join(outcome.given)}"
    return (
        f"{outcome.check}: {_number(outcome.earned)} of {_number(outcome.points)} points{kind}"
        f" - {state}"
    )


def _case(outcome: Outcome) -> Mapping[str, Any]:
    """The case that explains the outcome; raises ValueError if there is none."""
    if outcome.case is None:
        raise ValueError(f"no case explains the outcome of {outcome.check}")
    return outcome.case


def _divergence(outcome: Outcome) -> Mapping[str, Any]:
    """The first other node; raises ValueError if there is none."""
    if outcome.divergence is None:
        raise ValueError(f"no node of {outcome.check} is known to differ")
    return outcome.divergence


def _ask(outcome: Outcome) -> str:
    return load_check(outcome.check).ask


def _boards(outcome: Outcome) -> list[Any]:
    return list(map(read_position, texts_of(_case(outcome)["asked"])))


class _Row(NamedTuple):
    """A line of the comparison: an aspect, or an item of it, with both values in words."""

    name: str
    expected: str
    got: str
    differs: str = ""  # and what the item belongs to
    reading: str = ""  # how to read the values


def _rows(outcome: Outcome) -> Iterator[_Row]:
    """The aspects of the case; of a list that differs, only the items that do."""
    question = QUESTIONS[_ask(outcome)]
    for name, expected in _case(outcome)["expected"].items():
        got, error = _case(outcome)["got"][name], _case(outcome)["errors"].get(name)
        reading = question.reading.get(name, "")
        if error or got is None or name in question.judged:
            differs = "" if same(_ask(outcome), name, expected, got) else "differs"
            yield _Row(name, _value(expected), error or _value(got), differs, reading)
        elif same(_ask(outcome), name, expected, got):
            yield (
                _Row(name, items_of(expected), "the same")
                if is_long(expected)
                else _Row(name, _value(expected), _value(got), "", reading)
            )
        else:
            levels = (
                question.labels[name](_case(outcome)["asked"]) if name in question.labels else ()
            )
            yield from _items(name, differing(expected, got, levels, equal), reading)


def _items(name: str, items: Sequence[Item], reading: str) -> Iterator[_Row]:
    for number, item in enumerate(items[:MAX_ITEMS]):
        differs = f"differs: {item.label}" if item.label else "differs"
        if number == MAX_ITEMS - 1 and len(items) > MAX_ITEMS:
            differs += f" (and {len(items) - MAX_ITEMS} more)"
        yield _Row(
            "" if number else name,
            _cut(item.expected),
            _cut(item.got),
            differs,
            "" if item.label else reading,
        )


def sentence_of(text: str) -> str:
    """The text with a capital."""
    return text[:1].upper() + text[1:]


def _number(points: float) -> str:
    return f"{round(points, 2):g}"


def _value(value: Any) -> str:
    return _cut("no answer" if value is None else json.dumps(value))


def _cut(text: str) -> str:
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}..."


def _writable(text: str) -> str:
    """`text` without lone surrogates, which no file and no terminal takes."""
    return text.encode("utf-8", "replace").decode()
