"""Put an outcome into words: as text for terminals and screen readers, as HTML for notebooks."""

import html
import json
from collections.abc import Iterator
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
    if outcome.full:
        return lines[0]
    lines += [f"  {a.name:<9}{_number(a.earned)} of {_number(a.points)} points"
              f"   ({a.right} of {a.asked} positions right)" for a in outcome.aspects]
    if outcome.problem:
        lines += ["", _sentence(outcome.problem)]
    if outcome.case and not outcome.unwritten and (outcome.case["errors"] or any(
            v is not None for v in outcome.case["got"].values())):
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
    for title, sentence in _causes(outcome):
        lines += ["", f"{title}: {sentence}"]
    if outcome.divergence:
        lines += ["", "Where your search first differs: " + outcome.divergence["sentence"]]
        if outcome.divergence["board"] is not None:
            lines += ["", *("          " + line for line in str(_node(outcome)).splitlines())]
    return _writable("\n".join(lines))


def as_html(outcome: Outcome) -> str:
    """The same as HTML, with tables, and boards as pictures; untrusted pages show it too."""
    parts = [f"<p><strong>{html.escape(_headline(outcome))}</strong></p>"]
    if outcome.full:
        return parts[0]
    rows = "".join(
        f"<tr><th scope='row' style='text-align:left'>{a.name}</th>"
        f"<td>{_number(a.earned)} of {_number(a.points)}</td>"
        f"<td>{a.right} of {a.asked}</td></tr>" for a in outcome.aspects)
    parts.append("<table><thead><tr><th scope='col' style='text-align:left'>Aspect</th>"
                 "<th scope='col'>Points</th><th scope='col'>Positions right</th></tr></thead>"
                 f"<tbody>{rows}</tbody></table>")
    if outcome.problem:
        parts.append(f"<p>{html.escape(_sentence(outcome.problem))}</p>")
    if outcome.case and not outcome.unwritten and (outcome.case["errors"] or any(
            v is not None for v in outcome.case["got"].values())):
        parts.append(_case_html(outcome))
    parts += [f"<p><strong>{title}:</strong> {html.escape(sentence)}</p>"
              for title, sentence in _causes(outcome)]
    if outcome.divergence:
        parts.append("<p><strong>Where your search first differs:</strong> "
                     f"{html.escape(outcome.divergence['sentence'])}</p>")
        if outcome.divergence["board"] is not None:
            parts.append(f"<p>{_picture(_node(outcome))}</p>")
    return _writable("".join(parts))


def _causes(outcome: Outcome) -> Iterator[tuple[str, str]]:
    """What may be the cause, each with a title."""
    if outcome.cause and outcome.found_in:
        yield (f"Likely cause, found in {outcome.found_in}",
               f"{outcome.cause} It spoils this check too, where something else may be wrong as "
               "well.")
    elif outcome.cause:
        yield "Likely cause", outcome.cause
    if outcome.resembles:
        yield "Perhaps", outcome.resembles
    elif outcome.found_in and not outcome.cause:
        yield "Look first", (f"{outcome.found_in} is not all right either, and what is wrong there "
                             "often shows here.")


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
