"""The first divergence: where a search that is no known slip leaves the reference's."""

import pytest

from autograder import workspace
from autograder.grading.divergence import first_divergence
from autograder.grading.nbgrader_steps import GradingStep
from course.probes import load_check, load_study
from course.probes.explain import as_html, as_text
from course.probes.outcome import Outcome
from course.probes.replies import Replies

STUDY = load_study("study3")
SMALL = Outcome("study3.type_a", False, (), None, {
    "asked": {"agent": "TypeA", "limit": 2, "on": "xox_o_x_o"}, "errors": {},
    "expected": {"move": 3, "value": 0, "nodes": 9}, "got": {"move": 5, "value": 0, "nodes": 9},
}, None, None, False, 0.1)
REFERENCE = workspace.module_texts(STUDY)["reference"]


def outcome_of(check: str, *edits: tuple[str, str], text: str = REFERENCE):
    """The outcome of one check for the reference with these edits, through the grading step."""
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    with workspace.workspace(STUDY, text) as module:
        return GradingStep(isolation="process").mark(f"study3.{check}", module.parent)


def sentence_of(check: str, *edits: tuple[str, str]) -> str:
    """The sentence of the divergence; the outcome must be no known slip."""
    outcome = outcome_of(check, *edits)
    assert outcome.slip is None
    assert outcome.divergence is not None
    return outcome.divergence["sentence"]


def test_a_late_cut_is_told_with_the_bound():
    """A child that the reference prunes is named with the comparison that prunes it."""
    sentence = sentence_of("type_a_plus", ("if best >= beta:", "if best > beta + 0.25:"))
    assert sentence == ("after 0, 6 (depth 2, alpha -inf, beta 1): "
                        "your search explored cell 7 although 1 >= beta 1")


def test_an_early_cut_is_told():
    """A child that the reference explores and the student does not is named."""
    sentence = sentence_of("type_a_plus", ("if best >= beta:", "if best >= beta - 0.2:"))
    assert "your search left out cell" in sentence
    assert "beta" in sentence


def test_a_wrong_estimate_is_told_where_it_is_made():
    """A leaf's value that differs is told at the leaf, and not at the root that it spoils."""
    sentence = sentence_of("type_a", ("return heuristic(state, player), None",
                                      "return heuristic(state, player) / 2, None"))
    assert "this node's value is" in sentence
    assert sentence.startswith("after ")


def test_a_search_that_stops_too_early_is_told():
    """A node that must be expanded, and is not, is told with its depth."""
    sentence = sentence_of("type_a", ("if depth >= self.limit and is_quiescent(state):",
                                      "if depth >= self.limit - 1 and len(state.text) == 9:"))
    assert sentence.endswith("your search stopped here, but this node must be expanded: "
                             "depth 0 is less than the limit 1")


def test_another_order_is_told():
    """The first move that is out of order is named beside the one that comes first."""
    mixed = "for move in sorted(state.legal_moves(), key=lambda m: 5 * m % 9):"
    sentence = sentence_of("type_a", ("for move in state.legal_moves():", mixed))
    assert "comes first" in sentence


def test_the_picture_and_the_text_show_the_node():
    """Both forms of the explanation have the sentence, and the board of the node."""
    outcome = outcome_of("type_a_plus", ("if best >= beta:", "if best > beta + 0.25:"))
    text, page = as_text(outcome), as_html(outcome)
    assert outcome.divergence["board"] == "o_oxoxx_x"
    assert "Where your search first differs: after 0, 6" in text
    assert "          o|_|o\n          x|o|x\n          x|_|x" in text
    assert "explored cell 7 although 1 &gt;= beta 1" in page


@pytest.mark.parametrize("check", ["type_a", "type_a_plus"])
def test_a_right_search_has_no_divergence(check):
    """The reference's own tree is the reference's tree."""
    assert outcome_of(check).divergence is None


def test_a_known_slip_has_its_sentence_instead():
    """Where the replies are those of a known slip, its sentence explains more."""
    known = workspace.module_texts(STUDY)["plus_strict_cut"]
    outcome = outcome_of("type_a_plus", text=known)
    assert outcome.slip == "plus_strict_cut"
    assert outcome.divergence is None


@pytest.mark.parametrize("trace", [
    None, 3, [], [None], ["x"], ["0,None"], ["0,None,1", ";;;"], ["-1,a,b"], ["9,0,1"], [[]],
    ["0,None,nan"], ["0,None,1;1,99,1"], ["0,None," + "9" * 900], ["0,a,1;0,b,1"],
])
def test_a_forged_tree_explains_nothing_or_something_and_never_fails(trace):
    """Whatever comes from the student's process, the explanation is a sentence or none."""
    check = load_check("study3.type_a")
    found = first_divergence(check, SMALL, Replies(({"trace": trace},)))
    assert found is None or isinstance(found["sentence"], str)


def test_a_root_that_is_no_node_is_told():
    """Several outermost calls are told as what they are."""
    check = load_check("study3.type_a")
    found = first_divergence(check, SMALL, Replies(({"trace": ["0,3,1;0,5,1"]},)))
    assert "called 2 times from outside" in found["sentence"]
