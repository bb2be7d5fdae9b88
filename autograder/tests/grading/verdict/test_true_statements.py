"""Statements on pages that readers who knew the mistake have found to be untrue."""

from autograder import workspace
from autograder.grading.verdict.reply_collection import SubmissionContext, TimeLimits
from autograder.grading.verdict.verdict import decide
from autograder.tests.support.modules.graded import key_of
from autograder.tests.support.modules.held_out import held_out
from autograder.tests.support.needs import need_isolation
from course.checks.marking.common_cause import in_common
from course.checks.marking.explain import as_text
from course.checks.marking.outcome import describe_case


def page(study: str, name: str, check: str) -> str:
    """The text for one check on the page of a held-out module."""
    need_isolation()
    (module,) = (each for each in held_out(study) if each.name == name)
    key = key_of(study)
    outcome = decide(
        SubmissionContext(key),
        key.study.checks[check],
        lambda asked, one, seconds: workspace.run_check(asked, module.text, one, seconds),
        TimeLimits(None, 20, 20),
    )
    assert not outcome.full
    return as_text(outcome)


def test_a_window_is_a_reason_only_if_the_values_before_it_are_right():
    """An estimated value of a finished game did not cause the cut; the pruning test is right."""
    text = page("study3", "cut_off_test_before_terminal_test", "type_a_plus")
    assert "your search explored cell 6, which is one move too many" in text
    assert "although" not in text


def test_a_view_that_the_final_values_contradict_is_not_assumed():
    """Without their sign, the values are from no player's view, so no sign is called reversed."""
    assert "is reversed" not in page("study2", "sign_lost_at_min", "alpha_beta")


def test_an_expected_reply_is_never_an_error_of_the_student():
    """Given the wrong `promoted`, the reference raises an error as well; the right reply remains."""
    text = page("study4", "promoted_includes_illegal", "killers")
    assert "expected no answer" not in text
    assert "IllegalMove" in text


def test_errors_are_carried_forward_where_calls_are_counted():
    """A right `quick_replies` gets full marks, given a wrong `line_links`."""
    need_isolation()
    (module,) = (each for each in held_out("study7") if each.name == "cache_without_direction")
    key = key_of("study7")
    context = SubmissionContext(key)
    for name in ("line_links", "best_reply", "quick_replies"):
        outcome = decide(
            context,
            key.study.checks[name],
            lambda asked, one, seconds: workspace.run_check(asked, module.text, one, seconds),
            TimeLimits(None, 20, 20),
        )
    assert outcome.full and "line_links" in outcome.carried_from


def test_a_question_is_described_as_it_is_called():
    """In the world of an observation, not on the observation itself."""
    check = key_of("study9").study.checks["simulate"]
    texts = [describe_case(check, case) for case in check.cases]
    for case, text in zip(check.cases, texts, strict=True):
        assert ("sample(sketch" in text) == case["on"].startswith("sketch")
    assert any("sample(sketch" in text for text in texts)


def test_a_side_is_no_common_property_if_other_cases_have_no_sides():
    """What the cases of Sequence have in common is the game."""
    sequence = {"on": "sketch x 5,7 6,5 2,4 / o 4,4 / hand 9c"}
    common = in_common([sequence] * 4 + [{"on": "_________"}] * 4, range(4))
    assert common is not None
    assert "Sequence is played" in common and "side" not in common
