"""The pages' explanations for students with only the student kit who wrote something wrong.

Each page names the cause (a known mistake, a generated mutant, the line of an error) or leads to
it: the first node that differs, a common property of the wrong cases, or the single differing item
of a reply. Only a person can detect a misleading explanation: `python -m pytest -s` prints the
findings for each module.
"""

from itertools import count

import pytest

from autograder import workspace
from autograder.tests.support.modules.graded import explanations, losses
from autograder.tests.support.modules.outsiders import WRONG
from autograder.tests.support.needs import need_isolation
from course.checks import load_study
from course.checks.marking.explain import capitalized, why_stopped
from course.checks.marking.outcome import DEPENDS_ON_HISTORY, NO_ANSWER
from course.checks.question import BadReply, items
from course.checks.running.queries import plain

ENOUGH = 0.95  # of the modules with lost marks


@pytest.mark.slow
@pytest.mark.content
@pytest.mark.usefixtures("cached_replies")
@pytest.mark.xdist_group("outsiders")
def test_pages_name_the_cause_or_lead_to_it():
    """At least 95 % of the wrong modules get a hint at the cause; the others are listed."""
    need_isolation()
    ways = {}
    for name, module in WRONG:
        second = workspace.answer_path(load_study(name)).with_name(workspace.INDEPENDENT_SOLUTION)
        lost = losses(name, module.apply(second.read_text("utf-8")))
        if lost:
            way = ways[name, module.name] = sorted(set(explanations(lost)))
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
        ("stopped after 60 s, nearly all of them spent waiting", "The limit of 60 s", "input()"),
        (
            "stopped: it used more than 1024 MB of memory",
            "1024 MB of memory",
            "grows without limit",
        ),
        ("its output exceeded the limit", "The output limit", "print()"),
        (
            "the process ended before it replied (Segmentation fault)",
            "Python ended (Segmentation fault)",
            "exit()",
        ),
        ("the process ended before it replied", "Python ended while", "exit()"),
        ("the process ended with exit status 3", "Python ended while", "exit()"),
    ],
)
def test_a_stopped_check_has_a_cause(reason, limit, hint):
    """The page gives the limit that was reached, the running query, and where to look."""
    why = why_stopped(f"{reason}{NO_ANSWER}lane_counts(Board('x'))")
    assert limit in why and hint in why
    assert "while your code computed the answer to lane_counts(Board('x'))" in why
    assert why_stopped(reason) == why_stopped("") == ""


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (count(), "a value of type count cannot be part of a reply"),
        (items(count()), "more than 1000 items, so it is too long, or comes from an iterator that"),
        ([[[[[[[[[[[0]]]]]]]]]]], "at most 10 levels of lists"),
        (object(), "a value of type object cannot be part of a reply"),
    ],
    ids=["iterator", "endless", "nested", "object"],
)
def test_a_value_that_is_no_reply_has_the_right_reason(value, reason):
    """An endless iterator is not called a value of the wrong type."""
    with pytest.raises(BadReply, match=reason):
        plain(value)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("stopped after 2 s", "Stopped after 2 s"),
        ("AttributeError: x", "AttributeError: x"),
        ("lane_counts must return a pair", "lane_counts must return a pair"),
        ("its output exceeded the limit", "Its output exceeded the limit"),
        ("", ""),
    ],
)
def test_names_in_code_keep_their_letters(text, shown):
    """A sentence begins with a capital letter, but the student's function keeps its name."""
    assert capitalized(text) == shown


def test_a_reply_that_is_right_alone_may_be_due_to_chance():
    """Whether the module keeps something or draws random numbers is not known."""
    assert "chance" in DEPENDS_ON_HISTORY and "earlier calls" in DEPENDS_ON_HISTORY
