"""The published searches are the reference's, small, and contain nothing hidden."""

import json

import pytest

from autograder.release.derive import MAX_PUBLISHED_NODES
from autograder.release.leaks import find_leaks
from autograder.workspace import load_answer
from course.checks import load_expected, load_study, studies
from course.checks.positions import read_position
from course.published import FOLDER, reference_positions, reference_search, search_text
from tictactoe import Board, Trace
from tictactoe.explorables.explorer.walk import align, record
from tictactoe.explorables.tree import count_nodes

PATH = FOLDER / "reference_searches.json"
CASES = json.loads(PATH.read_text("utf-8"))
IDS = [f"{case['agent']}-{case['on']}" for case in CASES]


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_a_published_search_can_be_read(case):
    """Each text can be parsed into a tree and written again, within the documented size."""
    tree = reference_search(case["agent"], read_position(case["on"]), **case["options"])
    assert search_text(tree) == case["search"]
    assert 1 < count_nodes(tree) <= MAX_PUBLISHED_NODES


def test_the_counts_are_those_that_the_checks_expect():
    """If a check expects a number of nodes, the published search has that many."""
    found = 0
    for study in map(load_study, studies()):
        expected, _ = load_expected(study.expected_file, study.checks.values())
        for name, check in study.checks.items():
            for case, reply in zip(check.cases, expected[name], strict=True):
                options = {k: v for k, v in case.items() if k != "on"}
                for known in CASES:
                    if (
                        check.ask == "search"
                        and known["on"] == case["on"]
                        and known["agent"] == check.settings["agent"]
                        and known["options"] == options
                    ):
                        assert known["search"].count(";") + 1 == reply["nodes"]
                        found += 1
    assert found == len(CASES)


def test_the_reference_has_no_difference_from_itself():
    """The reference answer agrees with the published search at every node."""
    state = Board("___xxoo__")
    walks = (
        record(load_answer("study2").AlphaBeta(), state),
        record(reference_search("AlphaBeta", state), state),
    )
    assert {pair.difference for pair in align(*walks)} == {""}


def test_what_is_not_published_is_refused_by_name():
    """The error lists the available positions."""
    with pytest.raises(ValueError, match="___xxoo__"):
        reference_search("AlphaBeta", Board())
    with pytest.raises(ValueError, match="there are: none"):
        reference_search("Oracle", Board())
    assert "___xxoo__" in reference_positions("AlphaBeta")


def test_options_choose_among_searches():
    """The same position may be published for several settings of an agent."""
    state = Board("x__o__x_o")
    assert reference_search("TypeA", state, limit=2).value is not None
    with pytest.raises(ValueError, match="limit 2"):
        reference_search("TypeA", state, limit=7)


def test_nothing_hidden_is_published():
    """The search for leaks finds no hidden position, reply or solution in the file."""
    assert [leak for name in studies() for leak in find_leaks(load_study(name), [PATH])] == []


def test_a_trace_becomes_its_text():
    """The text has the depth, move and value of each node in search order."""
    with Trace() as trace:
        load_answer("study1").Minimax().search(Board("xoxoxo___").after(7))
    depths_and_moves = [node.rsplit(",", 1)[0] for node in search_text(trace.roots[0]).split(";")]
    assert depths_and_moves == ["0,", "1,6", "2,8", "1,8", "2,6"]
