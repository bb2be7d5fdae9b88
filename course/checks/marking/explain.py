"""Describes an outcome, as text for terminals and screen readers, and as HTML for notebooks."""

import html
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from common.messages import english, joined, translate, translate_name
from course.checks import load_check
from course.checks.marking.comparison import equal, same
from course.checks.marking.items import Item, differing, is_long, items_of
from course.checks.marking.outcome import NO_ANSWER, Outcome, describe_question
from course.checks.positions import read_position
from course.checks.question import texts_of
from course.checks.questions import QUESTIONS

MAX_LENGTH = 500  # characters of one value
MAX_ITEMS = 3  # items of a list that differ
INDENT = 10 * " "  # before each line of a board in text
ALL_HIDDEN = english(
    "The positions at which your code went wrong in grading are hidden. Look at the aspects that "
    "lost points, and test your code on positions of your own."
)
SAME_LIMIT = "All positions of this check together have this limit, at home and in grading. "
CELL = "text-align:left;padding:0 1em 0.2em 0"


def as_text(outcome: Outcome) -> str:
    """The outcome as plain text: the marks, the case that explains them and the likely cause."""
    lines = [_headline(outcome)]
    if not outcome.full:
        lines += _aspect_lines(outcome)
    if outcome.problem:
        lines += ["", capitalized(translate(outcome.problem))]
    if outcome.match_notes and not outcome.not_implemented:
        lines += ["", *map(capitalized, map(translate, outcome.match_notes))]
    if _has_case(outcome):
        lines += _case_lines(outcome)
    for title, sentence in causes(outcome):
        lines += ["", f"{title}: {sentence}"]
    if outcome.divergence:
        sentence = translate(outcome.divergence["sentence"])
        lines += ["", f"{divergence_title(outcome)}: {sentence}"]
        if outcome.divergence["board"] is not None:
            lines += ["", *_board_lines(_divergence_board(outcome))]
    return _encodable("\n".join(lines))


def _aspect_lines(outcome: Outcome) -> list[str]:
    width = _column_width(translate_name(a.name) for a in outcome.aspects)
    return [
        f"  {translate_name(a.name):<{width}}"
        + translate(f"{_number(a.earned)} of {_number(a.points)} points")
        + (
            ""
            if outcome.is_match
            else f"   ({translate(f'{_number(a.right)} of {a.cases} positions correct')})"
        )
        for a in outcome.aspects
    ]


def _case_lines(outcome: Outcome) -> list[str]:
    """The question, its boards, and the expected and the actual values."""
    question = describe_question(_case(outcome)["question"], _ask(outcome))
    lines = ["", f"{translate('Question')}: {question}"]
    for board in _boards(outcome):
        lines += ["", *_board_lines(board)]
    lines.append("")
    rows = list(_rows(outcome))
    width = _column_width(row.name for row in rows)
    for row in rows:
        line = f"  {row.name:<{width}}"
        line += translate("expected {expected}, got {got}", expected=row.expected, got=row.got)
        line += f"   <- {row.differs}" if row.differs else ""
        lines.append(line + (f"   ({row.reading})" if row.reading else ""))
    return lines


def _board_lines(board: Any) -> list[str]:
    return [INDENT + line for line in str(board).splitlines()]


def as_html(outcome: Outcome) -> str:
    """The same as HTML, with tables and pictures of the boards; works in untrusted notebooks."""
    parts = [f"<p><strong>{html.escape(_headline(outcome))}</strong></p>"]
    if not outcome.full:
        parts.append(_points_html(outcome))
    if outcome.problem:
        parts.append(f"<p>{html.escape(capitalized(translate(outcome.problem)))}</p>")
    if outcome.match_notes and not outcome.not_implemented:
        notes = "".join(
            f"<li>{html.escape(capitalized(translate(n)))}</li>" for n in outcome.match_notes
        )
        parts.append(f"<ul>{notes}</ul>")
    if _has_case(outcome):
        parts.append(_case_html(outcome))
    parts += [
        f"<p><strong>{html.escape(title)}:</strong> {html.escape(sentence)}</p>"
        for title, sentence in causes(outcome)
    ]
    if outcome.divergence:
        parts.append(
            f"<p><strong>{html.escape(divergence_title(outcome))}:</strong> "
            f"{html.escape(translate(outcome.divergence['sentence']))}</p>"
        )
        if outcome.divergence["board"] is not None:
            parts.append(f"<p>{_picture(_divergence_board(outcome))}</p>")
    return _encodable("".join(parts))


def _column_width(names: Iterable[str]) -> int:
    """The width of a column that contains these names."""
    return max([9, *(len(name) + 2 for name in names)])


def causes(outcome: Outcome) -> Iterator[tuple[str, str]]:
    """The possible causes of wrong replies, each with a title, in the language of the course."""
    for title, sentence in _english_causes(outcome):
        yield translate(title), translate(sentence)


def _english_causes(outcome: Outcome) -> Iterator[tuple[str, str]]:
    if outcome.is_case_hidden and not outcome.not_implemented:
        yield english("No position is shown"), ALL_HIDDEN
    if outcome.cause:
        yield _known_cause(outcome, outcome.cause)
    if outcome.resembles:
        yield english("Perhaps"), outcome.resembles
    elif outcome.inherited_from and not outcome.cause and not outcome.divergence:
        yield (
            english("Look first"),
            english(
                f"at {outcome.inherited_from}, which is not all correct either. One mistake often "
                "causes wrong replies to both."
            ),
        )
    if outcome.common:
        yield english("What the wrong replies have in common"), outcome.common
    limit = load_check(outcome.check).time_limit
    is_first = outcome.case is not None and outcome.case["number"] == 0
    if outcome.stopped and (why := why_stopped(outcome.problem or "", limit, is_first)):
        yield english("Why it was stopped"), why


def _known_cause(outcome: Outcome, cause: str) -> tuple[str, str]:
    """The title and the sentence for a known mistake."""
    if outcome.inherited_from:
        return (
            english(f"Likely cause, found in {outcome.inherited_from}"),
            english(f"{cause} This mistake also affects this check, in which there may be others."),
        )
    if outcome.contradicted_by:
        return (
            english("Possible cause"),
            english(
                f"{cause} However, the replies to {outcome.contradicted_by} do not show this "
                "mistake, so the cause may be in code that the other check does not use."
            ),
        )
    if outcome.is_doubtful:
        return (
            english("Possible cause"),
            english(
                f"{cause} However, your module gives other wrong replies or errors that this mistake "
                "alone may not explain, so there may be another cause."
            ),
        )
    return english("Likely cause"), cause


def why_stopped(problem: str, time_limit: float | None = None, is_first: bool = False) -> str:
    """A text about the limit that a check reached, what was running and where to look, or "".

    `time_limit` is the check's own limit, and `is_first` whether no question was answered, so that
    the module may still have been loading.
    """
    reason, _, case = problem.partition(NO_ANSWER)
    if not case:
        return ""
    running = english(
        f"while your code {'was being loaded or ' if is_first else ''}computed the answer to {case}"
    )
    if match := re.match(r"stopped after (.+?), nearly all of them spent waiting", reason):
        return english(
            f"The limit of {match[1]} was reached {running}. Nearly all of this time was spent "
            "waiting: look for input(), sleep(), or another process that your code waits for."
        )
    if match := re.match(r"stopped after (.+)", reason):
        return english(
            f"The limit of {match[1]} was reached {running}. "
            f"{SAME_LIMIT if _is_same(match[1], time_limit) else ''}"
            "Look for a loop or recursion that does not end, or for work that is repeated "
            "unnecessarily."
        )
    if match := re.search(r"more than (\d+ MB of memory)", reason):
        return english(
            f"The limit of {match[1]} was exceeded {running}. Look for a list, a table or a "
            "recursion that grows without limit, or for an iterator that never ends."
        )
    if "output exceeded the limit" in reason:
        return english(
            f"The output limit was reached {running}. Look for a print() in a loop, or for a reply "
            "that is much larger than the question requires."
        )
    if match := re.match(r"the process ended[^(]*(\(.+\))?", reason):
        return english(
            f"Python ended{f' {match[1]}' if match[1] else ''} {running}. "
            "Look for exit(), quit() or sys.exit(), or for a recursion so deep that Python crashes."
        )
    return ""


def _is_same(limit: str, time_limit: float | None) -> bool:
    """Whether a limit is the check's own one, which is the same at home and in grading."""
    return time_limit is not None and limit == f"{time_limit:g} s of computing time"


def divergence_title(outcome: Outcome) -> str:
    """The title of the sentence about a node that differs."""
    return translate(
        "Your search, node by node"
        if _divergence(outcome)["board"] is None
        else "Where your search differs"
    )


def _has_case(outcome: Outcome) -> bool:
    """Whether a single question explains the mark; a match is explained by its notes instead."""
    return not (outcome.case is None or outcome.not_implemented or outcome.is_match) and (
        bool(_case(outcome)["errors"]) or any(v is not None for v in _case(outcome)["got"].values())
    )


def _points_html(outcome: Outcome) -> str:
    heads = [translate("Aspect"), translate("Points"), translate("Positions correct")]
    heads = heads[: 2 if outcome.is_match else 3]
    return _table(
        heads,
        (
            [
                translate_name(a.name),
                translate("{part} of {whole}", part=_number(a.earned), whole=_number(a.points)),
                translate("{part} of {whole}", part=_number(a.right), whole=a.cases),
            ][: len(heads)]
            for a in outcome.aspects
        ),
    )


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table whose first column contains row headers; inline styles override those of the page."""
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


def _divergence_board(outcome: Outcome) -> Any:
    return read_position(_divergence(outcome)["board"])


def _picture(board: Any) -> str:
    return (
        board._repr_html_()
        if hasattr(board, "_repr_html_")
        else f"<code>{html.escape(str(board))}</code>"
    )


def _case_html(outcome: Outcome) -> str:
    question = html.escape(describe_question(_case(outcome)["question"], _ask(outcome)))
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
    title, heads = (
        html.escape(translate("Question")),
        [translate("Expected"), translate("Your code")],
    )
    return f"<p>{title}: <code>{question}</code></p><p>{boards}</p>" + _table(
        ["", *heads, ""], rows
    )


def _headline(outcome: Outcome) -> str:
    if outcome.not_implemented:
        state = english("not written yet")
    elif outcome.carried_from and outcome.full:
        state = english(f"correct, given your {joined(outcome.carried_from)}")
    elif outcome.carried_from:
        functions = joined(outcome.carried_from)
        state = english(f"not all correct, compared with our solution using your {functions}")
    else:
        state = english("all correct") if outcome.full else english("not all correct")
    points = translate(
        f"{_number(outcome.earned)} of {_number(outcome.points)} points"
        f"{' of extra credit' if outcome.extra_credit else ''}"
    )
    return f"{outcome.check}: {points} - {translate(state)}"


def _case(outcome: Outcome) -> Mapping[str, Any]:
    """The case that explains the outcome. Raises ValueError if there is none."""
    if outcome.case is None:
        raise ValueError(f"no case explains the outcome of {outcome.check}")
    return outcome.case


def _divergence(outcome: Outcome) -> Mapping[str, Any]:
    """The first node that differs. Raises ValueError if there is none."""
    if outcome.divergence is None:
        raise ValueError(f"no node of {outcome.check} is known to differ")
    return outcome.divergence


def _ask(outcome: Outcome) -> str:
    return load_check(outcome.check).ask


def _boards(outcome: Outcome) -> list[Any]:
    return list(map(read_position, texts_of(_case(outcome)["question"])))


class _Row(NamedTuple):
    """A line of the comparison: an aspect or one item of it, with both values as text."""

    name: str
    expected: str
    got: str
    differs: str = ""  # "differs", followed by the label of the item
    reading: str = ""  # an explanation of how to read the values


def _rows(outcome: Outcome) -> Iterator[_Row]:
    """The aspects of the case; for a list, only the items that differ."""
    question = QUESTIONS[_ask(outcome)]
    for name, expected in _case(outcome)["expected"].items():
        got, error = _case(outcome)["got"][name], _case(outcome)["errors"].get(name)
        reading, title = translate(question.reading.get(name, "")), translate_name(name)
        if error or got is None or name in question.comparators:
            differs = "" if same(_ask(outcome), name, expected, got) else translate("differs")
            reply = translate(error) if error else _value(got)
            yield _Row(title, _value(expected), reply, differs, reading)
        elif same(_ask(outcome), name, expected, got):
            yield (
                _Row(title, items_of(expected), translate("the same"))
                if is_long(expected)
                else _Row(title, _value(expected), _value(got), "", reading)
            )
        else:
            levels = (
                question.labels[name](_case(outcome)["question"]) if name in question.labels else ()
            )
            yield from _item_rows(title, differing(expected, got, levels, equal), reading)


def _item_rows(name: str, items: Sequence[Item], reading: str) -> Iterator[_Row]:
    for number, item in enumerate(items[:MAX_ITEMS]):
        differs = english(f"differs: {item.label}") if item.label else english("differs")
        if number == MAX_ITEMS - 1 and len(items) > MAX_ITEMS:
            differs = english(f"{differs} (and {len(items) - MAX_ITEMS} more)")
        yield _Row(
            "" if number else name,
            _shortened(item.expected),
            _shortened(item.got),
            translate(differs),
            "" if item.label else reading,
        )


def capitalized(text: str) -> str:
    """The text with its first letter in upper case, unless it begins with a name in code."""
    word = text.partition(" ")[0].rstrip(":,")
    return text[:1].upper() + text[1:] if word.isalpha() or not word.isidentifier() else text


def _number(points: float) -> str:
    return f"{round(points, 2):g}"


def _value(value: Any) -> str:
    return _shortened(translate("no answer") if value is None else json.dumps(value))


def _shortened(text: str) -> str:
    return text if len(text) <= MAX_LENGTH else f"{text[:MAX_LENGTH]}..."


def _encodable(text: str) -> str:
    """`text` without lone surrogates, which cannot be encoded as UTF-8."""
    return text.encode("utf-8", "replace").decode()
