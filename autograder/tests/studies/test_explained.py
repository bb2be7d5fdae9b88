"""What the pages say to those who had only the students' kit and wrote something wrong.

Each page names the cause (a known slip, a machine-made one, the line of an error), or leads to it:
to the first node that differs, to what the wrong questions have in common, or to the one item of a
function's reply that differs. What misleads can only be read: `python -m pytest -s` prints all that
was found for each module.
"""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from autograder import verdicts, workspace
from autograder.grading.verdict import Known, Seconds, decide, explain
from autograder.tests.support.needs import need_isolation
from autograder.tests.support.outsiders import WRONG
from course.probes import load_study
from course.probes.explain import as_text, why_stopped
from course.probes.outcome import NO_ANSWER, Outcome
from course.probes.questions import MATCHES

ENOUGH = 0.95  # of the modules that lose something
TITLES = {
    "Likely cause: ": "named",
    "Likely cause, found": "carried",
    "It is as if: ": "as if",
    "Perhaps: ": "machine-made",
    "Where your search": "first node",
    "Your search, node by node: ": "search",
    "What went wrong: ": "in common",
    "differs: ": "item",
    "among them ": "item",
    "stopped after": "error",
}


def outcomes(name: str, text: str) -> list[Outcome]:
    """The outcomes of a module that are not all right, as the grading step decides them."""
    study, known = verdicts.hidden_study(name), Known()

    def ask(_module, check, seconds):
        one = replace(study, checks={check.name: check})
        return workspace.ask_all(one, text, most=seconds)[check.name]

    asked = [check.id for check in study.checks.values() if check.ask not in MATCHES]
    for check in asked:
        decide(check, ask, Seconds(None, 10, 10), known)
    return [outcome for outcome in (explain(check, known) for check in asked) if not outcome.full]


def found(wrong: list[Outcome]) -> Iterator[str]:
    """In which ways the pages say something of the cause."""
    for outcome in wrong:
        text = as_text(outcome)
        yield from (way for title, way in TITLES.items() if title in text)
        if outcome.problem:
            yield "error"


@pytest.mark.slow
@pytest.mark.content
@pytest.mark.usefixtures("asked_once")
@pytest.mark.xdist_group("outsiders")
def test_pages_name_the_cause_or_lead_to_it():
    """At least 95 % of the wrong modules learn something of the cause; the others are listed."""
    need_isolation()
    ways = {}
    for name, module in WRONG:
        second = workspace.answer_path(load_study(name)).with_name(workspace.SECOND)
        lost = outcomes(name, module.apply(second.read_text("utf-8")))
        if lost:
            way = ways[name, module.name] = sorted(set(found(lost)))
            print(f"{name}, {module.name}: {', '.join(way) or 'NOTHING'}")
    silent = [module for module, way in ways.items() if not way]
    assert len(silent) <= (1 - ENOUGH) * len(ways), silent


@pytest.mark.parametrize(
    ("reason", "limit", "hint"),
    [
        (
            "stopped after 3 s of computing time",
            "The limit of 3 s of computing time",
            "does not end",
        ),
        ("stopped after 60 s, nearly all of them spent waiting", "It may take 60 s", "input()"),
        ("stopped: it used more than 1024 MB of memory", "1024 MB of memory", "grows without end"),
        ("its output exceeded the limit", "The limit of output", "print()"),
        (
            "the process ended before it had answered (Segmentation fault)",
            "Python ended (Segmentation fault)",
            "exit()",
        ),
        ("the process ended before it had answered", "Python ended while", "exit()"),
        ("the process ended with exit status 3", "Python ended while", "exit()"),
    ],
)
def test_a_stopped_check_has_a_cause(reason, limit, hint):
    """Which limit was reached, what was running then, and where to look."""
    why = why_stopped(f"{reason}{NO_ANSWER}lane_counts(Board('x'))")
    assert limit in why and hint in why
    assert "while your code computed the answer to lane_counts(Board('x'))" in why
    assert why_stopped(reason) == why_stopped("") == ""
