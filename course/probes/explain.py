"""Put an outcome into words: as text for terminals and screen readers, as HTML for notebooks."""

import html
import json
from typing import Any

from course.probes import load_check
from course.probes.outcome import Outcome, describe_question, same
from course.probes.positions import read_position
from course.probes.question import texts_of
from course.probes.questions import QUESTIONS

MAX_SHOWN = 500  # characters of one value


def as_text(outcome: Outcome) -> str:
    """The outcome as lines of plain text: marks, the case that differs, the likeliest cause."""
    lines = [_headline(outcome)]
    if not outcome.full:
        lines += [f"  {a.name:<9}{_number(a.earned)} of {_number(a.points)} points"
                  + ("" if outcome.is_match else f"   ({_number(a.right)} of {a.asked} positions "
                     "right)") for a in outcome.aspects]
    if outcome.problem:
        lines += ["", _sentence(outcome.problem)]
    if outcome.said and not outcome.unwritten:
        lines += ["", *map(_sentence, outcome.said)]
    if _has_case(outcome):
        lines += ["", "Asked:    " + describe_question(outcome.case["asked"], _ask(outcome))]
        for board in _boards(outcome):
            lines += ["", *("          " + line for line in str(board).splitlines())]
        lines.append("")
        for name, expected in outcome.case["expected"].items():
            got = outcome.case["got"][name]
            answer = outcome.case["errors"].get(name) or _value(got)
            differs = "" if same(_ask(outcome), name, expected, got) else "   <- differs"
            lines.append(f"  {name:<9}expected {_value(expected)}, got {answer}{differs}"
                         + _reading(outcome, name))
    if outcome.cause:
        lines += ["", f"Likely cause: {outcome.cause}"]
    if outcome.divergence:
        lines += ["", "Where your search first differs: " + outcome.divergence["sentence"], "",
                  *("          " + line for line in str(_node(outcome)).splitlines())]
    return _writable("\n".join(lines))


def as_html(outcome: Outcome) -> str:
    """The same as HTML, with tables, and boards as pictures; untrusted pages show it too."""
    parts = [f"<p><strong>{html.escape(_headline(outcome))}</strong></p>"]
    if not outcome.full:
        parts.append(_points_html(outcome))
    if outcome.problem:
        parts.append(f"<p>{html.escape(_sentence(outcome.problem))}</p>")
    if outcome.said and not outcome.unwritten:
        items = "".join(f"<li>{html.escape(_sentence(said))}</li>" for said in outcome.said)
        parts.append(f"<ul>{items}</ul>")
    if _has_case(outcome):
        parts.append(_case_html(outcome))
    if outcome.cause:
        parts.append(f"<p><strong>Likely cause:</strong> {html.escape(outcome.cause)}</p>")
    if outcome.divergence:
        parts.append("<p><strong>Where your search first differs:</strong> "
                     f"{html.escape(outcome.divergence['sentence'])}</p>"
                     f"<p>{_picture(_node(outcome))}</p>")
    return _writable("".join(parts))


def _has_case(outcome: Outcome) -> bool:
    """Whether there is one question that explains the mark; of games all do, and are told."""
    return not (outcome.case is None or outcome.unwritten or outcome.is_match) and (
        bool(outcome.case["errors"]) or any(v is not None for v in outcome.case["got"].values()))


def _points_html(outcome: Outcome) -> str:
    heads, rows = ["Aspect", "Points"], ""
    if not outcome.is_match:
        heads.append("Positions right")
    for a in outcome.aspects:
        right = "" if outcome.is_match else f"<td>{_number(a.right)} of {a.asked}</td>"
        rows += (f"<tr><th scope='row' style='text-align:left'>{a.name}</th>"
                 f"<td>{_number(a.earned)} of {_number(a.points)}</td>{right}</tr>")
    first = " style='text-align:left'"
    head = "".join(f"<th scope='col'{first if name == 'Aspect' else ''}>{name}</th>"
                   for name in heads)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _node(outcome: Outcome):
    return read_position(outcome.divergence["board"])


def _picture(board) -> str:
    return (board._repr_html_() if hasattr(board, "_repr_html_")
            else f"<code>{html.escape(str(board))}</code>")


def _case_html(outcome: Outcome) -> str:
    asked = html.escape(describe_question(outcome.case["asked"], _ask(outcome)))
    boards = " ".join(map(_picture, _boards(outcome)))
    rows = ""
    for name, expected in outcome.case["expected"].items():
        got = outcome.case["got"][name]
        answer = outcome.case["errors"].get(name) or _value(got)
        differs = "" if same(_ask(outcome), name, expected, got) else "differs"
        rows += (f"<tr><th scope='row' style='text-align:left'>{name}</th>"
                 f"<td>{_value(expected)}</td><td>{html.escape(answer)}</td>"
                 f"<td>{differs}{_reading(outcome, name)}</td>"
                 "</tr>")
    return (f"<p>Asked: <code>{asked}</code></p><p>{boards}</p>"
            "<table><thead><tr><th scope='col'></th><th scope='col'>Expected</th>"
            "<th scope='col'>Your code</th><th scope='col'></th></tr></thead>"
            f"<tbody>{rows}</tbody></table>")


def _headline(outcome: Outcome) -> str:
    kind = " of extra credit" if outcome.extra_credit else ""
    if outcome.full:
        state = "all right"
    elif outcome.unwritten:
        state = "not written yet"
    else:
        state = "not all right"
    return (f"{outcome.check}: {_number(outcome.earned)} of {_number(outcome.points)} points{kind}"
            f" - {state}")


def _ask(outcome: Outcome) -> str:
    return load_check(outcome.check).ask


def _boards(outcome: Outcome) -> list:
    return list(map(read_position, texts_of(outcome.case["asked"])))


def _reading(outcome: Outcome, name: str) -> str:
    reading = QUESTIONS[_ask(outcome)].reading
    return f"   ({reading[name]})" if name in reading else ""


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _number(points: float) -> str:
    return f"{round(points, 2):g}"


def _value(value: Any) -> str:
    text = "no answer" if value is None else json.dumps(value)
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}..."


def _writable(text: str) -> str:
    """`text` without lone surrogates, which no file and no terminal takes."""
    return text.encode("utf-8", "replace").decode()
