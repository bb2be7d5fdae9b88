"""Tests of the node counter and the trace: what they count, and that they are always closed."""

import asyncio
import contextvars
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tictactoe import Board, NodeCounter, Trace, counted
from tictactoe.nodes import _open

SMALL = Board("xoxoxo___")  # x to move; cells 6 and 8 win immediately, cell 7 does not


class Walker:
    """Visits the complete tree in depth-first order and returns its number of leaves."""

    @counted
    def value(self, state, player, depth=0, *, beta=None):
        """The number of leaves, and the first move."""
        if state.is_terminal():
            return 1, None
        moves = state.legal_moves()
        leaves = sum(self.value(state.after(m), player, depth + 1, beta=beta)[0] for m in moves)
        return leaves, moves[0]


@counted
def height(state):
    """The length of the longest game from here: a plain function with a plain result."""
    return max((1 + height(state.after(move)) for move in state.legal_moves()), default=0)


@counted
def stumble(state, moves):
    """Follows `moves` and raises KeyError at the end."""
    if not moves:
        raise KeyError("stumbled")
    return stumble(state.after(moves[0]), moves[1:])


def count_by_hand(state):
    """The number of nodes at and below `state`."""
    return 1 + sum(count_by_hand(state.after(move)) for move in state.legal_moves())


def flat(visit):
    """The visit and all visits below it, in visiting order."""
    yield visit
    for child in visit.children:
        yield from flat(child)


@given(st.permutations(range(9)), st.integers(5, 8))
def test_every_entry_counts_once(cells, marks):
    """The count is the size of the tree, including the root."""
    state = Board()
    for cell in cells[:marks]:
        if not state.is_terminal():
            state = state.after(cell)
    with NodeCounter() as nodes:
        Walker().value(state, "x")
    assert nodes.visited == count_by_hand(state)


def test_plain_functions_count_as_methods_do():
    """`counted` works for a function and keeps its result, name and docstring."""
    with NodeCounter() as nodes:
        assert height(SMALL) == 3
    assert nodes.visited == count_by_hand(SMALL) == 8
    assert height.__name__ == "height"
    assert height.__doc__.startswith("The length of the longest game")


def test_counters_nest():
    """An inner counter counts nodes while it is open, an outer one all nodes."""
    with NodeCounter() as outer:
        height(SMALL)
        with NodeCounter() as inner:
            height(SMALL.after(7))
        height(SMALL.after(6))
    assert (outer.visited, inner.visited) == (8 + 5 + 1, 5)


def test_closed_counters_stop():
    """Nodes visited after the `with` statement are not counted."""
    with NodeCounter() as nodes:
        height(SMALL)
    height(SMALL)
    assert nodes.visited == 8


def test_an_unopened_counter_counts_nothing():
    """A counter that was never opened stays at zero."""
    nodes = NodeCounter()
    height(SMALL)
    assert nodes.visited == 0


def test_exceptions_close_counters_and_traces():
    """After an error in a value function, everything is closed, and its nodes remain counted."""
    before = _open()
    with (
        pytest.raises(KeyError, match="stumbled"),
        NodeCounter() as outer,
        Trace() as trace,
        NodeCounter() as inner,
    ):
        stumble(SMALL, (7, 8))
    assert _open() == before
    assert (outer.visited, inner.visited, trace.visited) == (3, 3, 3)
    assert [visit.value for visit in flat(trace.roots[0])] == [None, None, None]


def test_a_trace_goes_on_after_an_exception():
    """The next call after one that raised an error is a root, not a child of the failed one."""
    with Trace() as trace:
        with pytest.raises(KeyError):
            stumble(SMALL, (7,))
        height(SMALL.after(6))
    assert [root.state for root in trace.roots] == [SMALL, SMALL.after(6)]


def test_a_trace_is_the_tree():
    """States, moves, depths and values of a small search are recorded in visiting order."""
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
    """Arguments other than the state are stored by name; a tuple's value is its first item."""
    with Trace() as trace:
        Walker().value(SMALL, "x", beta=5)
    [root] = trace.roots
    assert root.bounds == {"player": "x", "beta": 5}
    assert root.children[1].bounds == {"player": "x", "depth": 1, "beta": 5}
    assert root.value == 4
    assert root.state is SMALL


@pytest.mark.parametrize("turned", [False, True])
def test_of_a_pair_the_value_is_kept(turned):
    """`(value, move)` and `(move, value)` are distinguished by the first leaf, which has no move."""

    @counted
    def best(state):
        if state.is_terminal():
            return (None, -7) if turned else (-7, None)
        worth, move = max((best(state.after(move))[turned], move) for move in state.legal_moves())
        return (move, worth) if turned else (worth, move)

    with Trace() as trace:
        best(SMALL)
    assert {visit.value for visit in flat(trace.roots[0])} == {-7}


def test_each_outermost_call_is_a_root():
    """Two searches in one trace are two trees."""
    with Trace() as trace:
        height(SMALL.after(6))
        height(SMALL.after(7))
    assert [len(list(flat(root))) for root in trace.roots] == [1, 5]


def test_a_trace_does_not_change_the_count():
    """A counter and a trace record the same nodes, and neither changes the results."""
    with NodeCounter() as nodes, Trace() as trace:
        result = Walker().value(SMALL, "x")
    assert nodes.visited == trace.visited == count_by_hand(SMALL)
    assert result == Walker().value(SMALL, "x")


def test_a_full_trace_raises():
    """One node more than `most` raises a RuntimeError, which states how many are allowed."""
    with Trace(most=8) as enough:
        height(SMALL)
    assert enough.visited == 8
    with pytest.raises(RuntimeError, match="more than 7 nodes"), Trace(most=7) as full:
        height(SMALL)
    assert full.visited == 7
    assert _open() == ((), ())


def test_a_full_trace_leaves_another_one_intact():
    """If one of two traces is full, the other still starts its next tree at a root."""
    with Trace() as wide:
        with pytest.raises(RuntimeError), Trace(most=2):
            height(SMALL)
        height(SMALL.after(6))
    assert [root.state for root in wide.roots] == [SMALL, SMALL.after(6)]


# Only nodes of the thread or task that opened the counter are counted.


def elsewhere(call):
    """The result of a call in another thread, which has a separate context."""
    result = []
    thread = threading.Thread(
        target=contextvars.Context().run, args=(lambda: result.append(call()),)
    )
    thread.start()
    thread.join()
    return result[0]


def count(call):
    """The number of nodes that a call visits."""
    with NodeCounter() as nodes:
        call()
    return nodes.visited


def states(trace):
    """The states of each recorded tree, in visiting order."""
    return [[visit.state for visit in flat(root)] for root in trace.roots]


def test_another_thread_is_not_counted():
    """Nodes visited by another thread are neither counted nor recorded here, and vice versa."""
    with NodeCounter() as nodes, Trace() as trace:
        theirs = elsewhere(lambda: count(lambda: height(SMALL)))
        uncounted = elsewhere(lambda: height(SMALL))
        height(SMALL.after(7))
    assert (nodes.visited, trace.visited, theirs, uncounted) == (5, 5, 8, 3)
    assert [root.state for root in trace.roots] == [SMALL.after(7)]


@given(st.lists(st.sampled_from([6, 7, 8]), min_size=1, max_size=6), st.randoms())
def test_tasks_do_not_mix(moves, chance):
    """However tasks are interleaved, each counts and records only its own searches."""

    async def search(move):
        with NodeCounter() as nodes, Trace() as trace:
            for _ in range(3):
                await naps(chance.randrange(3))
                height(SMALL.after(move))
                await naps(chance.randrange(3))
        return nodes.visited, states(trace)

    async def naps(times):
        for _ in range(times):
            await asyncio.sleep(0)

    async def all_of_them():
        return await asyncio.gather(*map(search, moves))

    alone = [asyncio.run(search(move)) for move in moves]
    assert asyncio.run(all_of_them()) == alone
    assert [visited for visited, _ in alone] == [3 * count_by_hand(SMALL.after(m)) for m in moves]


def test_tasks_that_are_begun_inside_are_counted():
    """Nodes of tasks and threads that a task starts and waits for count as its own."""

    async def search():
        with NodeCounter() as nodes, Trace() as trace:
            await asyncio.gather(*(asyncio.to_thread(height, SMALL.after(m)) for m in (6, 7, 8)))
        return nodes.visited, sorted(map(len, states(trace)))

    assert asyncio.run(search()) == (7, [1, 1, 5])


def test_a_closed_counter_keeps_its_number():
    """A task that outlives the counter and trace open at its start changes neither of them."""

    async def search():
        with NodeCounter() as nodes, Trace() as trace:
            left_over = asyncio.create_task(later())
            height(SMALL.after(8))
        return await left_over, nodes.visited, trace.visited, states(trace)

    async def later():
        return height(SMALL)

    assert asyncio.run(search()) == (3, 1, 1, [[SMALL.after(8)]])


@given(st.permutations(range(4)), st.permutations(range(4)))
def test_any_order_of_closing(opened, closed):
    """Generators may close counters in any order, and each counts from opening to closing."""

    def counting(number):
        with NodeCounter() as nodes, Trace() as trace:
            yield
        counts[number] = nodes.visited, trace.visited

    counts, expected, now = {}, {}, 0
    walks = {}
    for number in opened:
        walks[number] = counting(number)
        next(walks[number])
        expected[number] = now
        height(SMALL.after(8))
        now += 1
    for number in closed:
        next(walks[number], None)
        expected[number] = (now - expected[number],) * 2
        height(SMALL.after(8))
        now += 1
    assert counts == expected
    assert _open() == ((), ())


@pytest.mark.parametrize("make", [NodeCounter, Trace])
def test_closing_in_another_thread_is_an_error(make):
    """Closing a counter or trace in another thread is an error, and its contents no longer change."""
    opened = make()

    def close():
        with pytest.raises(RuntimeError, match="the thread or task that opened it"):
            opened.__exit__(None, None, None)

    def work():
        opened.__enter__()
        height(SMALL)
        elsewhere(close)
        height(SMALL)
        return opened.visited

    assert elsewhere(work) == 8


def test_a_counter_counts_on_when_it_is_opened_again():
    """A counter that is opened again continues from its number."""
    nodes = NodeCounter()
    for _ in range(2):
        with nodes:
            height(SMALL)
    assert nodes.visited == 16
