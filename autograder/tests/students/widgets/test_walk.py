"""Recorded searches as steps: their order, their numbers, and two of them together."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.tests.support.modules.searches import (
    FORK,
    SMALL,
    Backwards,
    Broken,
    Full,
    NoRoot,
    Pruning,
)
from tictactoe import Board, NodeCounter, Trace, counted
from tictactoe.explorables.explorer.walk import align, record


@settings(deadline=None)
@given(st.sampled_from(SMALL), st.sampled_from([Full(), Backwards(), Pruning()]))
def test_steps_are_the_search_in_its_order(state, agent):
    """Every node is entered once, in order, and left once, after all its descendants."""
    with NodeCounter() as nodes:
        agent.search(state)
    walk = record(agent, state)
    assert len(walk.nodes) == nodes.visited == walk.root.size
    assert [node.number for node in walk.nodes] == list(range(1, nodes.visited + 1))
    entered = [step.node for step in walk.steps if not step.is_leaving]
    assert entered == walk.nodes
    for number, (node, back) in enumerate(walk.steps):
        assert number in (node.entered, node.left)
        assert back == (number != node.entered)
        assert all(
            node.entered < child.entered <= child.left < node.left for child in node.children
        )
        assert len(node.children) + len(node.unvisited) in (0, len(node.state.legal_moves()))
    assert walk.root.ends == sum(not node.children for node in walk.nodes)
    assert walk.root.cuts == sum(len(node.unvisited) for node in walk.nodes)


@settings(deadline=None)
@given(st.sampled_from(SMALL), st.sampled_from([Full(), Backwards()]))
def test_two_searches_stay_together(state, second):
    """Neither search goes back or skips a step, and both are at the same node whenever possible."""
    first = Pruning()
    walks = record(first, state), record(second, state)
    pairs = align(*walks)
    for i, walk in enumerate(walks):
        steps = [pair[i] for pair in pairs]
        assert sorted({*steps}) == list(range(len(walk.steps)))
        assert steps == sorted(steps)
    if isinstance(second, Backwards):
        return
    for one, other, _ in pairs:  # alpha-beta waits at its last node, next to the cut subtree
        above = [node.move for node in walks[0].steps[one].node.line][:-1]
        assert above == [node.move for node in walks[1].steps[other].node.line][: len(above)]


def test_the_same_search_twice_has_no_difference():
    """A search compared with itself has no divergence."""
    pairs = align(record(Full(), FORK), record(Full(), FORK))
    assert {pair.difference for pair in pairs} == {""}


@pytest.mark.parametrize(("first", "second", "says"), [
    (Full(), Backwards(), "Full explores 4 next, Backwards 8"),
    (Full(), Pruning(), "Full continues with 8, Pruning skips it"),
    (Pruning(), Full(), "Full continues with 8, Pruning skips it"),
])  # fmt: skip
def test_the_first_difference_is_named(first, second, says):
    """Another order and a cut are distinguished, whichever search is first."""
    pairs = align(record(first, FORK), record(second, FORK))
    assert next(pair.difference for pair in pairs if pair.difference) == says


def test_a_wrong_value_is_a_difference():
    """Two searches that visit the same nodes differ where they return different values."""

    class Contrary(Full):
        @counted
        def value(self, state, player):
            return -1 if state.is_terminal() else super().value.__wrapped__(self, state, player)

    pairs = align(record(Full(), FORK), record(Contrary(), FORK))
    first = next(pair for pair in pairs if pair.difference)
    assert first.difference == "Full returns +1 here, Contrary \N{MINUS SIGN}1"


def test_a_search_that_breaks_off_is_shown_as_far_as_it_came():
    """The walk reports an error after the first node; nodes without a value have none."""
    walk = record(Broken(1), FORK)
    assert walk.error_text.startswith("ZeroDivisionError: oh (line ")
    assert [node.value() for node in walk.nodes] == ["?", "?", "?"]
    assert walk.steps[-1].is_leaving


def test_what_is_not_written_is_not_recorded():
    """A stub raises the same error as without the explorer."""
    with pytest.raises(NotImplementedError):
        record(Broken(1, NotImplementedError), FORK)


def test_a_search_without_counted_function_says_so():
    """If no node of an agent is counted, a probable cause is given."""

    class Plain:
        def choose(self, state):
            return state.legal_moves()[0]

    with pytest.raises(ValueError, match="@counted"):
        record(Plain(), FORK)
    with pytest.raises(ValueError, match="@counted"):
        record(Trace(), FORK)


@pytest.mark.parametrize("agent", [Full, "Full", None])
def test_what_is_no_agent_is_refused(agent):
    """A class instead of an agent, or any other object, is refused with a message."""
    with pytest.raises(ValueError, match="an agent needs a method"):
        record(agent, FORK)


def test_too_large_a_search_stops():
    """After `most` nodes the recording ends, with an explanation."""
    walk = record(Full(), Board(), most=100)
    assert len(walk.nodes) == 100
    assert "more than 100 nodes" in walk.error_text


def test_a_search_that_forgot_the_root_gets_one():
    """The trees of all moves are placed below a root without a value."""
    walk = record(NoRoot(), FORK)
    assert [child.move for child in walk.root.children] == [4, 5, 8]
    assert walk.root.value() == "?"
    assert len(walk.nodes) == 14


def test_a_trace_can_be_walked():
    """An existing trace is accepted, and so is one of its trees."""
    with Trace() as trace:
        Full().search(FORK)
    assert len(record(trace, FORK).nodes) == len(record(trace.roots[0], FORK).nodes) == 14


def test_the_limit_of_an_agent_is_known():
    """The walk knows the agent's depth limit, if there is one."""
    limited = Full()
    limited.limit = 2
    assert (record(limited, FORK).limit, record(Full(), FORK).limit) == (2, None)
