# %% [markdown]
# # 5. The best move first
#
# Type A looks at every move to its limit, and it pays for that. Alpha-beta skips moves that cannot
# matter, but how many it can skip depends on luck: on the order in which the moves come. This
# notebook takes care of the luck. We guess which move is best, try it first, and put the two ideas
# into one agent.
#
# You will write `priority` and `by_priority` in `heuristic.py` and, for extra credit, the class
# `TypeAPlus`. At the end all the searches of this course meet in one picture.

# %%
# %load_ext course.notebook
from collections import Counter
from heapq import heapify, heappop
from itertools import islice
from math import log2
from random import Random
from time import perf_counter

from course.check import check
from course.plots import boards, figure, picture
from course.probes.made_up import Row
from course.recorded import node_counts
from tictactoe import Board, Trace
from tictactoe.show.explorer import explore
from tictactoe.solver import value, values
from tictactoe.show.tree import by_hand, draw_tree
from tictactoe.show.counts import compare_counts

from heuristic import TypeA, TypeAPlus, by_priority, lane_counts, priority

# %% [markdown]
# ## Why the order matters
#
# Alpha-beta keeps two numbers: what MAX is sure of already (alpha), and what MIN is sure of (beta).
# As soon as a reply shows that a move is no better than what its player has already, the other
# replies are skipped.
#
# So there must *be* something already. Here x is to move, and only cell 4 wins. Suppose x tries
# cell 4 first, and o always tries its best reply first. Read the tree from left to right.

# %%
board = Board("xoox__ox_")
best_first = by_hand(board, (1, {
    4: (1, {5: (1, {8: 1}), 8: (1, {5: 1})}),
    5: (-1, {4: -1}),
    8: (-1, {4: -1}),
}))  # fmt: skip
draw_tree(best_first)

# %% [markdown]
# With +1 in hand, one bad reply is enough to put cells 5 and 8 aside. Now the same position with
# the worst order: x tries its winning move last, and o tries its best reply last.

# %%
worst_first = by_hand(board, (1, {
    5: (-1, {8: (1, {4: 1}), 4: -1}),
    8: (-1, {5: (1, {4: 1}), 4: -1}),
    4: (1, {5: (1, {8: 1}), 8: (1, {5: 1})}),
}))  # fmt: skip
draw_tree(worst_first)

# %% [markdown]
# No cut at all: 14 nodes instead of 10. The move and the value are the same. **Order changes what a
# search costs, never what it finds** (except among equal moves).
#
# Four nodes are not much. In a large tree the difference grows with depth. With b moves everywhere
# and depth d, no cuts means b to the power d leaves. If the best move always comes first,
# alpha-beta visits about twice the square root of that (Knuth and Moore 1975). For chess-like
# numbers:

# %%
b = 30
for d in (2, 4, 6, 8):
    best = b ** (d // 2) + b ** ((d + 1) // 2) - 1
    print(f"depth {d}: {b**d:18,} leaves without cuts {best:12,} with perfect order")

# %% [markdown]
# For the same work one can look twice as deep. But if we knew the best move, we would not search.
# What we need is a *guess* that is cheap.
#
# ## Five priorities
#
# The guess is a number for each move, from 1 (try it first) to 5 (try it last). It is always from
# the view of the player who makes the move, MAX or MIN. The first line that applies decides.
#
# | priority | the move ... |
# |---|---|
# | 1 | wins |
# | 2 | leaves fewer lanes than before with two marks of the opponent and nothing else |
# | 3 | raises the mover's heuristic value |
# | 4 | leaves it as it is |
# | 5 | lowers it |
#
# By hand, then. In both positions it is x's turn, and three cells are open.

# %%
first, second = Board("xoxoo___x"), Board("xo__oxox_")
boards([first, second], ["first", "second"])

# %% [markdown]
# In the **first** position:
#
# * **Cell 5** fills column 2-5-8: x wins, priority 1. It also blocks row 3-4-5, but the first line
#   that applies decides.
# * **Cell 7** takes the last cell of o's column 1-4-7: priority 2.
# * **Cell 6** wins nothing and blocks no pair, for the diagonal 2-4-6 has an x in it and is dead.
#   Row 6-7-8 had one x and has two now, so H goes up by 2: priority 3.
#
# In the **second** one cell 2 blocks the diagonal 2-4-6: 2. Cell 3 lies in a row and a column that
# have both marks already, so another x there changes nothing: 4. Cell 8 opens a pair in column
# 2-5-8: 3.
#
# ## Write `priority`
#
# `priority(state, move, player)` returns the number. `player` is the one to move in `state`.
#
# * For 1 you need the state after the move.
# * For 2 compare before and after: a block makes one of the opponent's pairs disappear.
# * For 3 to 5 compare two heuristic values, both from the view of `player`. Take care that you do
#   not evaluate the state after the move from the view of the player who is to move *then*.
#
# The states that are made here only rank moves. They are not nodes (rule 2 in `tictactoe.nodes`).

# %%
print({move: priority(first, move, "x") for move in first.legal_moves()})
print({move: priority(second, move, "x") for move in second.legal_moves()})

# %% [markdown]
# ## A priority queue
#
# Now hand the moves out in this order. We could sort them. But after a cut nobody asks for the
# rest, so the rest need not be in order. A **heap** does just this: it is quick to build, always
# has the smallest item in front, and puts the others in order only as they are taken.
#
# In Python a heap is a plain list. The children of item i are the items 2i+1 and 2i+2, and no item
# is larger than its children. `heapify` rearranges a list so that this holds. `heappop` takes the
# first item out and repairs the rest. The items are pairs `(priority, move)`.

# %%
pairs = [(3, 2), (4, 0), (3, 7), (2, 5), (1, 6), (3, 1)]
heapify(pairs)
axes = figure(6.5, 2.7)
place = []
for i in range(len(pairs)):
    level = int(log2(i + 1))
    place.append(((i + 1.5) / 2**level - 1, -level))
    if i:
        parent = place[(i - 1) // 2]
        axes.plot(*zip(parent, place[i], strict=True), color="#666666", marker="", zorder=1)
for item, (across, down) in zip(pairs, place, strict=True):
    axes.text(across, down, str(item), ha="center", va="center",
              bbox={"boxstyle": "round,pad=0.4", "facecolor": "white", "edgecolor": "#0072B2"})
axes.set(xlim=(0, 1), ylim=(-2.4, 0.4), title="A heap: no pair is larger than those below it")
axes.set_axis_off()
picture(axes, f"A heap as a tree, level by level: {pairs[0]}; {pairs[1:3]}; {pairs[3:]}.")

# %%
print("the list:", pairs)
for _ in range(len(pairs)):
    print("popped", heappop(pairs), "  left:", pairs)

# %% [markdown]
# Look at two things.
#
# *The list is not sorted*, not even after `heapify`. Only its first item can be relied on.
#
# *Ties are settled.* There are three moves of priority 3, and they come as 1, 2, 7. Python compares
# pairs by the first part, and where that is equal by the second. So the lower cell comes first,
# every time. That matters: among equal moves the first one that is visited wins, so if the order
# were left to chance, the move and the node count would be, too.
#
# It also means that the second part must be something that *can* be compared. Boards cannot:

# %%
try:
    heapify([(3, Board().after(0)), (3, Board().after(1))])
except TypeError as error:
    print("TypeError:", error)

# %% [markdown]
# Does the heap save anything over `sorted`? Count how often two items are compared, if a cut comes
# after the first item, after the third, or never. **Guess** for nine moves, as here, and for the 64 of
# a cube.

# %%
class Noted:
    """A number that notes how often numbers like it are compared."""

    compared = 0

    def __init__(self, number):
        self.number = number

    def __lt__(self, other):
        Noted.compared += 1
        return self.number < other.number


def comparisons(order, taken, moves):
    """How many comparisons it takes to make the order and to take some items, on average."""
    Noted.compared = 0
    for seed in range(100):
        order([Noted(number) for number in Random(seed).sample(range(moves), moves)], taken)
    return Noted.compared / 100


def by_heap(items, taken):
    """Take items from a heap."""
    heapify(items)
    for _ in range(taken):
        heappop(items)


for moves in (9, 64):
    for taken in (1, 3, moves):
        print(f"{taken:2} of {moves:2}: heap {comparisons(by_heap, taken, moves):5.1f}, sorted "
              f"{comparisons(lambda items, _: sorted(items), taken, moves):5.1f} comparisons")

# %% [markdown]
# <details><summary>What you should have seen</summary>
#
# If one item is enough, the heap asks three quarters as often as `sorted` on nine cells, and a third as
# often on the cube. With three items of nine nothing is saved any more, and if all are taken the heap
# asks more often. So it pays where cuts come early, which is what a good order is for, and the more
# moves there are.
#
# </details>
#
# ## Write `by_priority`
#
# `by_priority(state)` yields the legal moves of `state`, the best priority first. It is a
# generator: use `yield`, so that each move is popped only when somebody asks for it. The mover is
# `state.to_move`, at every depth.

# %%
print(list(by_priority(first)), list(by_priority(second)))
print(list(by_priority(Board())), "first moves")

# %%
check("study3.priority")

# %% [markdown]
# ## How the priorities are spread
#
# An order is of use only if it tells moves apart. How many moves of each priority are there, in all
# unfinished positions taken together?

# %%
positions = [state for state in values() if not state.is_terminal()]
spread = Counter(priority(state, move, state.to_move)
                 for state in positions for move in state.legal_moves())
print(f"{sum(spread.values()):,} moves")
for number in range(1, 6):
    print(f"priority {number}: {spread[number]:6,}  {'#' * (spread[number] // 200)}")

# %% [markdown]
# Something is missing. Was it to be expected? On another board it does occur. `Row` is a made-up
# game for this very purpose: a row of cells, in which four neighbours make a lane.

# %%
row = Row("xx___")
for move in row.legal_moves():
    print(row, f"  x at {move}: priority", priority(row, move, "x"),
          "  counts before", lane_counts(row, "x"), "after", lane_counts(row.after(move), "x"))

# %% [markdown]
# **Think first.** Prove that a move in tic-tac-toe never has priority 5. (Go through what a new mark
# can do to a lane, and to H.) Where does your proof break on `Row("xx___")`, and what does that say
# about the heuristic there?
#
# <details><summary>An answer</summary>
#
# Look at one lane through the cell, before the move. Empty: H grows by 1. One own mark: the single
# becomes a pair, +2. One mark of the opponent's: the lane is dead now, +1. Two of the opponent's:
# +3 (and the move is a block). One of each: nothing changes. Two own marks: the move wins. Lanes
# that do not contain the cell stay as they are. So H never falls unless the move wins.
#
# On `Row("xx___")` a lane has four cells. A third mark turns a pair into a lane that no count
# knows: -3. The last case of the proof breaks. The heuristic would need a count for three of four.
#
# </details>

# %% [markdown]
# ## Write `TypeAPlus` (optional, extra credit)
#
# `TypeAPlus(limit, order)` is your Type A with two changes.
#
# 1. It takes its moves from `self.order(state)`. The default is `by_priority`.
# 2. `value` has two arguments more, `alpha` and `beta`, and skips what cannot matter. A MAX node
#    returns as soon as its value is at least beta; a MIN node as soon as it is at most alpha. The
#    root starts with (-infinity, +infinity) and narrows alpha from child to child like any other
#    MAX node.
#
# The terminal test and the cut-off test stay as they are. Both kinds of value go into the same
# window, utilities and estimates: one more reason to have them on one scale.
#
# Because the order is an argument, you can tell apart what pruning brings and what ordering brings.
# Pass `board_order` and you have Type A with pruning only. From the empty board with limit 2 the
# full agent visits 36 nodes; after x at cell 0 it visits 331, and 1,720 in board order.
#
# The tree is a trace of the position from the beginning. In parentheses is the window (alpha, beta)
# with which a node was entered. Which of the two trees above does it look like, and where does it
# differ?

# %%
def board_order(state):
    """The moves as the board lists them."""
    return state.legal_moves()


corner = Board("x________")
print(TypeAPlus().search(Board()))
print(TypeAPlus().search(corner))
print(TypeAPlus(order=board_order).search(corner))
with Trace() as trace:
    TypeAPlus().search(Board("xoox__ox_"))
draw_tree(trace)

# %% [markdown]
# Two of your agents side by side: above without pruning, below with it, both in board order. They
# go on together. While the upper one is in a part of the tree that the lower one cuts, the lower
# one waits.

# %%
explore(TypeA(), Board("x__ox__xo"), against=TypeAPlus(order=board_order))

# %%
check("study3.type_a_plus")

# %% [markdown]
# ## All searches in one picture
#
# Here are sixteen positions: the empty board, the three kinds of first move, and the twelve kinds
# of position with two marks. (All others with at most two marks are one of these, turned or
# mirrored.) The counts of minimax and alpha-beta come with the course. The counts of Type A are
# *yours*: what you have not written yet is left out.

# %%
def describe(state):
    """The marks on the board, like "x 0, o 4"."""
    marks = [f"{mark} {cell}" for mark in "xo" for cell in range(9) if state[cell] == mark]
    return ", ".join(marks) or "empty"


def count_nodes(agent, states):
    """The nodes that the agent visits from each state, or None if it is not written yet."""
    try:
        return [agent.search(state).nodes for state in states]
    except NotImplementedError:
        return None


sixteen = [Board(text) for text in (
    "_________", "x________", "_x_______", "____x____", "xo_______", "x_o______", "x____o___",
    "x_______o", "x___o____", "ox_______", "_x_o_____", "_x_____o_", "_x__o____", "o____x___",
    "o___x____", "_o__x____",
)]  # fmt: skip
published = node_counts()
counts = {
    "minimax": [published["minimax"][state.text] for state in sixteen],
    "alpha-beta": [published["alpha_beta"][state.text] for state in sixteen],
    "Type A": count_nodes(TypeA(), sixteen),
    "Type A, pruned": count_nodes(TypeAPlus(order=board_order), sixteen),
    "Type A+": count_nodes(TypeAPlus(), sixteen),
}
missing = [name for name, numbers in counts.items() if numbers is None]
print("not written yet:", "; ".join(missing) or "nothing")

# %%
print(f"{'':10}" + "".join(f"{name:>16}" for name in counts))
for row in (0, 1, 2, 3, 8):
    print(f"{describe(sixteen[row]):10}" + "".join(
        f"{numbers[row]:16,}" if numbers else f"{'-':>16}" for numbers in counts.values()))

axes = figure(8, 5.6)
for name, numbers in counts.items():
    line, = axes.plot([], [], linestyle="", markersize=8, label=name)  # keeps colour and marker
    if numbers:
        line.set_data(numbers, range(16))
axes.set_xscale("log")
axes.set(xlim=(20, 1_000_000), ylim=(15.6, -0.6),
         xlabel="nodes visited (each step: ten times more)")
axes.set_yticks(range(16), [describe(state) for state in sixteen])
axes.figure.legend(loc="outside upper center", ncols=5, frameon=False, handletextpad=0.1,
                   columnspacing=1.2)
picture(axes, "Nodes visited in sixteen positions on a logarithmic scale, a row for each. "
        + ". ".join(f"{name}: {min(numbers):,} to {max(numbers):,}"
                    for name, numbers in counts.items() if numbers) + ".")

# %% [markdown]
# Try other positions, too: click a cell, and every agent that you have written searches from there.
# (The scale is logarithmic again.)

# %%
compare_counts({"Type A": TypeA(), "Type A, pruned": TypeAPlus(order=board_order),
                "Type A+": TypeAPlus()}, corner)

# %% [markdown]
# Now go through the sixteen positions row by row.
#
# * On the **empty board** the depth limit does all the work. Everything at depth 2 is quiet.
# * In **every other row** Type A lies to the right of alpha-beta. There is always a fight somewhere
#   at depth 2, and Type A searches all of it. In these rows a limit alone saves nothing over
#   alpha-beta. (On the cube at the end of notebook 4 there is no move without one.)
# * **Pruned**, Type A comes to where alpha-beta is: in most rows to its left, in some to its right.
#   The limit ends the quiet lines. But a cut needs a value that is at least as good. Draws are all
#   equal; two estimates seldom are.
# * **Ordered**, it falls again, by a factor of about five after a corner opening. Fights are what
#   the priorities are made for: wins first, then blocks.
#
# Is this so all through the game? The next picture is about every unfinished position. It adds up
# the nodes over all positions with the same number of marks. All its counts come with the course.

# %%
totals = published["totals"]
for name, numbers in totals.items():
    print(f"{name:14}{sum(numbers):10,} nodes")

axes = figure(8, 4.4)
for (name, numbers), dashes in zip(totals.items(), ("-", "--", "-.", ":", "-"), strict=True):
    label = {"minimax": "minimax", "alpha_beta": "alpha-beta", "type_a": "Type A",
             "type_a_pruned": "Type A, pruned", "type_a_plus": "Type A+"}[name]
    axes.plot(range(9), numbers, linestyle=dashes, label=label, markersize=7)
axes.set_yscale("log")
axes.set(xlabel="marks on the board", ylabel="nodes, all positions together")
axes.set_xticks(range(9))
axes.figure.legend(loc="outside upper center", ncols=5, frameon=False, columnspacing=1.2)
picture(axes, "Total nodes over all positions by number of marks, logarithmic. " + ". ".join(
    f"{name.replace('_', ' ')}: {sum(numbers):,} in all" for name, numbers in totals.items()) + ".")

# %% [markdown]
# Towards the end of the game all the curves meet. With one or two open cells there is nothing to
# save. The savings are made early, where the tree is large.
#
# ## Nodes and seconds
#
# A node is a good unit: it is the same on every machine. But nobody waits for nodes. Measure the
# time that your agents need, too.

# %%
for name, agent in (("Type A", TypeA()), ("Type A, pruned", TypeAPlus(order=board_order)),
                    ("Type A+", TypeAPlus())):
    start = perf_counter()
    visited = sum(agent.search(state).nodes for state in sixteen)
    seconds = perf_counter() - start
    print(f"{name:16}{visited:9,} nodes {1000 * seconds:7.0f} ms "
          f"{1e6 * seconds / visited:6.1f} microseconds a node")

# %% [markdown]
# **Question.** Which agent visits the fewest nodes, and which one is the fastest? Explain the
# difference: what does Type A+ do that the node count does not show? Then think of chess, searched
# to a limit of 8. Which of the two would you take there, and why? Name one change that would make
# the ordering cheaper and leave the order as it is.

# %% [markdown] answer="nodes-or-seconds"
# *Write your answer here.*

# %% [markdown]
# ## Believing the order
#
# Everything so far is safe. Pruning drops only what cannot matter, and ordering drops nothing. One
# can go further: *believe* the order and look at the best few moves only. Shannon proposed that,
# too, with a function h(P, M) that says whether a move M is worth exploring in a position P. With
# an order as an argument, that takes one line. Let the agent see the first k moves of each node,
# and count the mistakes in the positions with at most two marks.

# %%
early = [state for state in positions if state.text.count("_") >= 7]


def first_few(k):
    """An order that has only the k most promising moves."""
    return lambda state: islice(by_priority(state), k)


for k in (1, 2, 3, 4, 9):
    found = [(state, TypeAPlus(order=first_few(k)).search(state)) for state in early]
    nodes = sum(search.nodes for _, search in found)
    mistakes = sum(value(state.after(search.move), state.to_move) < value(state, state.to_move)
                   for state, search in found)
    print(f"the first {k}: {nodes:6,} nodes, mistakes in {mistakes:2} of {len(early)} positions")

# %% [markdown]
# **Question.** (a) In Shannon's words (1950, sections 4 and 6), a strategy is *type A* if "all
# variations are considered out to a definite number of moves". It is *type B* with two
# improvements: it must "examine forceful variations out as far as possible and evaluate only at
# reasonable positions, where some quasi-stability has been established", and "select the variations
# to be explored by some process". By these words, which is type A, which is type B, and which lies
# between: the search with a hard limit in notebook 4, `TypeA`, `TypeAPlus`, and the first four
# moves above? Name the function of yours that makes each improvement. (b) Suppose that one of MAX's
# moves is left out somewhere in the tree. Can the value at the root become too high, too low, or
# both? And if it is one of MIN's? (c) Most moves have priority 3, and among these the lowest cell
# comes first. What would you change in the priorities before you trusted the first four?

# %% [markdown] answer="type-b"
# *Write your answer here.*

# %% [markdown]
# **Sources**, in full in `course/bibliography.md`: Knuth and Moore 1975 for what an order is worth;
# Russell and Norvig 2021, section 5.2.4, for move ordering; Shannon 1950, section 6, and Mayfield
# 2025 for the priorities.

# %% [markdown]
# ## Hand in
#
# Save the module and all notebooks, then run this cell. It packs them into one file, `study3_type_a.zip`, with the pictures that lie next to them, and lists what is still missing. Hand that file in as your course says.

# %% tags=["skip-execution"]
from course.hand_in import hand_in

hand_in("study3")
