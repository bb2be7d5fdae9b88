"""The node counter and the trace: what they count, and that they close whatever happens."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tictactoe import Board, NodeCounter, Trace, counted
from tictactoe.nodes import _counters, _traces

SMALL = Board("xoxoxo___")  # x to move; cells 6 and 8 win at once, cell 7 does not


class Walker:
    """Visits the whole tree in depth-first order and returns how many games it ends in."""

    @counted
    def value(self, state, player, depth=0, *, beta=None):
        """The number of leaves and, second, the first move."""
        if state.is_terminal():
            return 1, None
        moves = state.legal_moves()
        leaves = sum(self.value(state.after(m), player, depth + 1, beta=beta)[0] for m in moves)
        return leaves, moves[0]


@counted
def height(state):
    """The longest game from here: a plain function with a plain result."""
    return max((1 + height(state.after(move)) for move in state.legal_moves()), default=0)


@counted
def stumble(state, moves):
    """Walks along `moves` and raises KeyError at their end."""
    if not moves:
        raise KeyError("stumbled")
    return stumble(state.after(moves[0]), moves[1:])


def count_by_hand(state):
    """The number of nodes under and at `state`."""
    return 1 + sum(count_by_hand(state.after(move)) for move in state.legal_moves())


def flat(visit):
    """The visit and everything below it, in the order of visiting."""
    yield visit
    for child in visit.children:
        yield from flat(child)


@given(st.permutations(range(9)), st.integers(5, 8))
def test_every_entry_counts_once(cells, marks):
    """The count is the size of the tree, the root included."""
    state = Board()
    for cell in cells[:marks]:
        if not state.is_terminal():
            state = state.after(cell)
    with NodeCounter() as nodes:
        Walker().value(state, "x")
    assert nodes.visited == count_by_hand(state)


def test_plain_functions_count_as_methods_do():
    """`counted` works on a function, keeps its result, and keeps its name and docstring."""
    with NodeCounter() as nodes:
        assert height(SMALL) == 3
    assert nodes.visited == count_by_hand(SMALL) == 8
    assert height.__name__ == "height"
    assert height.__doc__.startswith("The longest game")


def test_counters_nest():
    """An inner counter counts what happens while it is open, an outer one everything."""
    with NodeCounter() as outer:
        height(SMALL)
        with NodeCounter() as inner:
            height(SMALL.after(7))
        height(SMALL.after(6))
    assert (outer.visited, inner.visited) == (8 + 5 + 1, 5)


def test_closed_counters_stop():
    """What is visited after the `with` statement is not counted."""
    with NodeCounter() as nodes:
        height(SMALL)
    height(SMALL)
    assert nodes.visited == 8


def test_an_unopened_counter_counts_nothing():
    """A counter that nobody opened stays at zero."""
    nodes = NodeCounter()
    height(SMALL)
    assert nodes.visited == 0


def test_exceptions_close_counters_and_traces():
    """A value function that raises leaves nothing open, and what it visited stays counted."""
    counters, traces = list(_counters), list(_traces)
    with (pytest.raises(KeyError, match="stumbled"), NodeCounter() as outer, Trace() as trace,
          NodeCounter() as inner):
        stumble(SMALL, (7, 8))
    assert (_counters, _traces) == (counters, traces)
    assert (outer.visited, inner.visited, trace.visited) == (3, 3, 3)
    assert [visit.value for visit in flat(trace.roots[0])] == [None, None, None]


def test_a_trace_goes_on_after_an_exception():
    """The next call after one that raised is a root again, not a child of the fallen one."""
    with Trace() as trace:
        with pytest.raises(KeyError):
            stumble(SMALL, (7,))
        height(SMALL.after(6))
    assert [root.state for root in trace.roots] == [SMALL, SMALL.after(6)]


def test_a_trace_is_the_tree():
    """States, moves, depths and values of a small search are recorded in the order of visiting."""
    with Trace() as trace:
        height(SMALL)
    [root] = trace.roots
    assert [(v.state.text, v.move, v.depth, v.value) for v in flat(root)] == [
        ("xoxoxo___", None, 0, 3),
        ("xoxoxox__", 6, 1, 0),
        ("xoxoxo_x_", 7, 1, 2),
        ("xoxoxoox_", 6, 2, 1),
        ("xoxoxooxx", 8, 3, 0),
        ("xoxoxo_xo", 8, 2, 1),
        ("xoxoxoxxo", 6, 3, 0),
        ("xoxoxo__x", 8, 1, 0),
    ]
    assert trace.visited == 8
    assert [child.move for child in root.children] == [6, 7, 8]


def test_a_trace_keeps_bounds_by_name():
    """What was passed beside the state is kept by parameter name; of a tuple, the first item."""
    with Trace() as trace:
        Walker().value(SMALL, "x", beta=5)
    [root] = trace.roots
    assert root.bounds == {"player": "x", "beta": 5}
    assert root.children[1].bounds == {"player": "x", "depth": 1, "beta": 5}
    assert root.value == 4
    assert root.state is SMALL


def test_each_outermost_call_is_a_root():
    """Two searches inside one trace are two trees."""
    with Trace() as trace:
        height(SMALL.after(6))
        height(SMALL.after(7))
    assert [len(list(flat(root))) for root in trace.roots] == [1, 5]


def test_a_trace_does_not_change_the_count():
    """Counter and trace see the same nodes, and results are the same with and without them."""
    with NodeCounter() as nodes, Trace() as trace:
        result = Walker().value(SMALL, "x")
    assert nodes.visited == trace.visited == count_by_hand(SMALL)
    assert result == Walker().value(SMALL, "x")


def test_a_full_trace_raises():
    """One node more than `most` is a RuntimeError which says how many were allowed."""
    with Trace(most=8) as enough:
        height(SMALL)
    assert enough.visited == 8
    with pytest.raises(RuntimeError, match="more than 7 nodes"), Trace(most=7) as full:
        height(SMALL)
    assert full.visited == 7
    assert full not in _traces


def test_a_full_trace_leaves_another_one_intact():
    """When one of two traces is full, the other still starts its next tree at a root."""
    with Trace() as wide:
        with pytest.raises(RuntimeError), Trace(most=2):
            height(SMALL)
        height(SMALL.after(6))
    assert [root.state for root in wide.roots] == [SMALL, SMALL.after(6)]
