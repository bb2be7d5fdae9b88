# %% [markdown]
# # 5. The best move first
#
# Type A examines every move to its limit, which is expensive. Alpha-beta skips moves that cannot
# matter, but how many it can skip depends on luck: on the order in which the moves come. This
# notebook replaces luck by a guess. We estimate which move is best, try it first, and combine the
# two ideas in one agent.
#
# You will write `priority`, `by_priority` and the class `TypeAPlus` (extra credit) in
# `heuristic.py`. At the end, one picture compares all the searches written so far.

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
from course.checks.toy_games import Row
from course.published import node_counts
from tictactoe import Board, Trace
from tictactoe.explorables.explorer import explore
from tictactoe.solver import value, values
from tictactoe.explorables.tree import draw_tree
from tictactoe.explorables.counts import compare_counts

from heuristic import TypeA, TypeAPlus, by_priority, lane_counts, priority

# %% [markdown]
# ## Why the order matters
#
# You know from notebook 2 that alpha-beta skips the other replies to a move as soon as one reply
# shows that the move is no better than an alternative its player already has. So a good alternative
# has to come first. **The order changes what a search costs, never what it finds** (except among
# equal moves). With a branching factor of 30, as in chess, there are 30^8 = 656 billion leaves at
# depth 8. If the best move always came first, alpha-beta would visit 2 x 30^4 - 1 = 1.62 million of
# them (Knuth and Moore 1975). But if we knew the best move, we would not search. What we need is a
# cheap *guess* at the good moves. Trying these first is called **move ordering**.
#
# ## Five priorities
#
# The guess is a number for each move, from 1 (try it first) to 5 (try it last). It is always from
# the view of the player who makes the move, MAX or MIN. The first row that applies decides.
#
# | priority | the move ... |
# |---|---|
# | 1 | wins |
# | 2 | leaves fewer lanes than before with two marks of the opponent and nothing else |
# | 3 | raises the mover's heuristic value |
# | 4 | leaves it unchanged |
# | 5 | lowers it |
#
# First determine some priorities by hand. In both positions it is x's turn, and three cells are open.

# %%
first, second = Board("xoxoo___x"), Board("xo__oxox_")
boards([first, second], ["first", "second"])

# %% [markdown]
# In the **first** position:
#
# * **Cell 5** fills column 2-5-8: x wins, priority 1. It also blocks row 3-4-5, but the first row
#   that applies decides.
# * **Cell 7** takes the last cell of o's column 1-4-7: priority 2.
# * **Cell 6** does not win and blocks no pair, because the diagonal 2-4-6 contains an x and is
#   dead. Row 6-7-8 had one x and now has two, so H increases by 2: priority 3.
#
# In the **second** position cell 2 blocks the diagonal 2-4-6: priority 2. Cell 3 belongs to a row
# and a column that already contain both marks, so another x there changes nothing: priority 4. Cell
# 8 opens a pair in column 2-5-8: priority 3.
#
# ## Write `priority`
#
# `priority(state, move, player)` returns the number. `player` is the one to move in `state`.
#
# * For 1 you need the state after the move.
# * For 2 compare before and after: a block makes one of the opponent's pairs disappear.
# * For 3 to 5 compare two heuristic values, both from the view of `player`. Take care not to
#   evaluate the state after the move from the view of the player who is to move *then*.
#
# The states that are created here are only used to rank moves. They are not nodes (rule 2 in
# `tictactoe.nodes`).

# %%
print({move: priority(first, move, "x") for move in first.legal_moves()})
print({move: priority(second, move, "x") for move in second.legal_moves()})

# %% [markdown]
# ## A priority queue
#
# Now return the moves in this order. We could sort them. But after a cut the remaining moves are
# not needed, so they need not be sorted. A **heap** does exactly this: it is quick to build, always
# has the smallest item at the front, and sorts the others only as they are removed.
#
# In Python a heap is a plain list. The children of item i are the items 2i+1 and 2i+2, and no item
# is larger than its children. `heapify` rearranges a list to satisfy this condition. `heappop`
# removes the first item and restores the condition. The items are pairs `(priority, move)`. The
# picture shows the list `[(3, 2), (4, 0), (3, 7), (2, 5), (1, 6), (3, 1)]` after `heapify(pairs)`.

# %% tags=["hide-input"]
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
# Notice two things.
#
# *The list is not sorted*, not even after `heapify`. You can only rely on its first item.
#
# *Ties are resolved.* There are three moves of priority 3, and they come in the order 1, 2, 7.
# Python compares pairs by the first part, and if that is equal, by the second. So the lower cell
# comes first, every time. This matters: among equal moves the first one visited is chosen, so if
# the order were random, the move and the node count would be random as well.
#
# It also means that the second part must support comparison. Boards do not:

# %%
try:
    heapify([(3, Board().after(0)), (3, Board().after(1))])
except TypeError as error:
    print("TypeError:", error)

# %% [markdown]
# Does the heap save anything over `sorted`? That depends on how many items are taken before a cut.
# The next cell counts how often two items are compared if one or three are taken, for nine moves, as
# here, and for the 64 moves of a cube.
#
# Your task: **find** the smallest number of items for which the heap makes more comparisons than
# `sorted`, for nine moves and for 64. Change the second line of the loop at the end.

# %%
class CountingNumber:
    """A number that counts the comparisons between such numbers."""

    compared = 0

    def __init__(self, number):
        self.number = number

    def __lt__(self, other):
        CountingNumber.compared += 1
        return self.number < other.number


def comparisons(order, taken, moves):
    """The mean number of comparisons to create the order and to take some items from it."""
    CountingNumber.compared = 0
    for seed in range(100):
        numbers = Random(seed).sample(range(moves), moves)
        order([CountingNumber(number) for number in numbers], taken)
    return CountingNumber.compared / 100


def by_heap(items, taken):
    """Take items from a heap."""
    heapify(items)
    for _ in range(taken):
        heappop(items)


for moves in (9, 64):
    for taken in (1, 3):
        print(f"{taken:2} of {moves:2}: heap {comparisons(by_heap, taken, moves):5.1f}, sorted "
              f"{comparisons(lambda items, _: sorted(items), taken, moves):5.1f} comparisons")

# %% [markdown]
# <details><summary>What you should have found</summary>
#
# Three or four items for nine moves (newer versions of Python sort differently), and about 37 for
# 64. If one item is enough, the heap makes three quarters as many comparisons as `sorted` for nine
# moves, and a third as many for 64. So a heap is useful if cuts come early, which is the purpose of
# a good order, and its advantage grows with the number of moves.
#
# </details>
#
# ## Write `by_priority`
#
# `by_priority(state)` yields the legal moves of `state`, best priority first. It is a generator:
# use `yield`, so that each move is popped only when the search requests it. The mover is
# `state.to_move`, at every depth.

# %%
print(list(by_priority(first)), list(by_priority(second)))
print(list(by_priority(Board())), "first moves")

# %%
check("study3.priority")

# %% [markdown]
# ## How the priorities are distributed
#
# An order is useful only if it distinguishes between moves. How many moves of each priority are
# there, over all unfinished positions?
#
# The cell also tests priority 2. After how many of these moves does the opponent still have an
# immediate win? **Guess** first.

# %%
positions = [state for state in values() if not state.is_terminal()]
spread = Counter(priority(state, move, state.to_move)
                 for state in positions for move in state.legal_moves())
print(f"{sum(spread.values()):,} moves")
for number in range(1, 6):
    print(f"priority {number}: {spread[number]:6,}  {'#' * (spread[number] // 200)}")


def can_win(state):
    """Whether the player to move has a winning move."""
    return any(priority(state, move, state.to_move) == 1 for move in state.legal_moves())


lost = sum(can_win(state.after(move)) for state in positions for move in state.legal_moves()
           if priority(state, move, state.to_move) == 2)
print(f"after {lost:,} of the {spread[2]:,} moves of priority 2 the opponent can win immediately")

# %% [markdown]
# Priority 2 is no guarantee: after about half of these moves the opponent still wins with the next
# one. The course that this study follows calls priority 2 a *block* (Mayfield 2025), a move that
# stops the opponent's win. Our definition is weaker. In which positions do the two definitions
# differ, and does the difference matter for move ordering? (Think about it before you open the
# answer below.)
#
# One priority does not occur at all. Could you have predicted that? On another board it does occur.
# `Row` is a game invented for this purpose: a row of cells, in which four neighbouring cells form a
# lane.

# %%
row = Row("xx___")
for move in row.legal_moves():
    print(row, f"  x at {move}: priority", priority(row, move, "x"),
          "  counts before", lane_counts(row, "x"), "after", lane_counts(row.after(move), "x"))

# %% [markdown]
# **Think first.** Prove that a move in tic-tac-toe never has priority 5. (Consider how a new mark
# can change a lane, and H.) Which step of your proof fails on `Row("xx___")`, and what does that
# show about the heuristic there?
#
# <details><summary>An answer</summary>
#
# Consider one lane through the cell, before the move. If it is empty, H increases by 1. If it has
# one mark of the mover, the single mark becomes a pair: +2. If it has one mark of the opponent, the
# lane is now dead: +1. If it has two marks of the opponent, the move is a block: +3. If it has one
# mark of each, nothing changes. If it has two marks of the mover, the move wins. Lanes that do not
# contain the cell do not change. So H never decreases unless the move wins.
#
# On `Row("xx___")` a lane has four cells. A third mark turns a pair into a lane that none of the
# counts includes: -3. The last case of the proof fails. The heuristic would need a count for three
# of four.
#
# And priority 2? A move that closes one of the opponent's *two* pairs leaves fewer of them, but the
# other pair still wins. No single mark stops both, unless the pairs share their empty cell, and
# then only that cell has priority 2. So for the order this makes no difference: in each position
# either the only move of priority 2 stops the win, or no move does.
#
# </details>

# %% [markdown]
# ## Write `TypeAPlus` (optional, extra credit)
#
# `TypeAPlus(limit, order)` is your Type A with two changes.
#
# 1. It takes its moves from `self.order(state)`. The default is `by_priority`.
# 2. `value` takes two more arguments, `alpha` and `beta`, and skips moves that cannot matter. A MAX
#    node returns as soon as its value is at least beta; a MIN node as soon as it is at most alpha.
#    The root starts with (-infinity, +infinity) and narrows alpha from child to child like any
#    other MAX node.
#
# The terminal test and the cut-off test do not change. Utilities and estimates are compared in the
# same window, which is another reason to have them on one scale.
#
# Because the order is an argument, you can separate the effect of pruning from the effect of
# ordering. Pass `board_order` and you have Type A with pruning only. From the empty board with
# limit 2 the full agent visits 36 nodes; after x at cell 0 it visits 331, and 1,720 in board order.
#
# The tree is a trace of the first position of notebook 2. The window (alpha, beta) with which a node
# was entered is shown in parentheses. In which order does x try its moves, and which of them wins?

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
# The next cell runs two of your agents side by side: above without pruning, below with it, both in
# board order. They advance together. While the upper one is in a part of the tree that the lower
# one cuts, the lower one waits.

# %%
explore(TypeA(), Board("x__ox__xo"), against=TypeAPlus(order=board_order))

# %%
check("study3.type_a_plus")

# %% [markdown]
# ## All searches in one picture
#
# The next picture shows sixteen positions: the empty board, the three kinds of first move, and the twelve kinds
# of position with two marks. (All others with at most two marks are rotations or reflections of
# these.) The counts of minimax and alpha-beta are part of the course. The counts of Type A are
# *yours*: agents that you have not written yet are omitted.

# %% tags=["hide-input"]
def plot_positions(counts):
    """Plot the nodes that each agent visits in each of the sixteen positions."""
    axes = figure(8, 5.6)
    for name, numbers in counts.items():
        line, = axes.plot([], [], linestyle="", markersize=8, label=name)  # keeps colour and marker
        if numbers:
            line.set_data(numbers, range(16))
    axes.set_xscale("log")
    axes.set(xlim=(20, 1_000_000), ylim=(15.6, -0.6),
             xlabel="nodes visited (logarithmic)")
    axes.set_yticks(range(16), [describe(state) for state in sixteen])
    axes.figure.legend(loc="outside upper center", ncols=5, frameon=False, handletextpad=0.1,
                       columnspacing=1.2)
    return picture(axes, "Nodes visited in sixteen positions on a logarithmic scale, a row for "
                   "each. " + ". ".join(f"{name}: {min(numbers):,} to {max(numbers):,}"
                                        for name, numbers in counts.items() if numbers) + ".")

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
plot_positions(counts)

# %% [markdown]
# Try other positions as well: click a cell, and every agent that you have written searches from
# there. (The scale is logarithmic again.)

# %%
compare_counts({"Type A": TypeA(), "Type A, pruned": TypeAPlus(order=board_order),
                "Type A+": TypeAPlus()}, corner)

# %% [markdown]
# Now go through the sixteen positions row by row.
#
# * On the **empty board** the depth limit does all the work. Every position at depth 2 is quiet.
# * In **every other row** Type A is to the right of alpha-beta. In each of them, there are
#   positions at depth 2 that are not quiet, and Type A searches everything below them. In these
#   rows a limit alone saves nothing over alpha-beta. (On the cube at the end of notebook 4, by
#   contrast, no move is possible without a limit.)
# * **With pruning**, Type A comes close to alpha-beta: in most rows it is to the left, in some to
#   the right. The limit ends the quiet lines of play. But a cut needs a value that is at least as
#   good. All draws are equal, but two estimates seldom are.
# * **With ordering**, the count falls again, by a factor of about five after a corner opening. The
#   priorities are designed for such fights: wins first, then blocks.
#
# Is this true throughout the game? The next table covers every unfinished position: the total number
# of nodes over all positions with the same number of marks. All its counts are part of the course.

# %%
print(f"{'marks':14}" + "".join(f"{marks:10}" for marks in range(9)) + f"{'all':>11}")
for name, numbers in published["totals"].items():
    print(f"{name:14}" + "".join(f"{n:10,}" for n in numbers) + f"{sum(numbers):11,}")

# %% [markdown]
# Towards the end of the game the counts of all searches are close together, because there is little
# left to save. The savings come early, where the tree is large.
#
# ## Nodes and seconds
#
# A node is a good unit, because it is the same on every machine. But users wait for seconds, not
# for nodes. So measure the time that your agents need as well.

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
# to a limit of 8. Which of the two agents would you choose there, and why? Name one change that
# would make the ordering cheaper without changing the order. (If you have not written `TypeAPlus`,
# use the node counts in the table above, and time `priority` to estimate the cost of the ordering.)

# %% [markdown] answer="nodes-or-seconds"
# *Write your answer here.*

# %% [markdown]
# ## Trusting the order
#
# Everything so far is safe. Pruning drops only what cannot matter, and ordering drops nothing. We
# can go further, *trust* the order and examine only the best few moves. This is called **forward
# pruning** (Russell and Norvig 2021, section 5.3.3). Shannon also proposed it, with a function h(P,
# M) that decides whether a move M is worth exploring in a position P. Since the order is an
# argument, this takes one line. Let the agent see only the first k moves of each node, and count
# the mistakes in the positions with at most two marks.

# %%
early = [state for state in positions if state.text.count("_") >= 7]


def first_few(k):
    """An order of only the k most promising moves."""
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
# to be explored by some process". By these definitions, which of the following is type A, which is
# type B, and which is between the two: the search with a hard limit in notebook 4, `TypeA`,
# `TypeAPlus`, and the first four moves above? Name your function that implements each improvement.
# (b) Suppose that one of MAX's moves is left out somewhere in the tree. Can the value at the root
# become too high, too low, or both? What if it is one of MIN's? (c) Most moves have priority 3, and
# among these the lowest cell comes first. What would you change in the priorities before trusting
# the first four?

# %% [markdown] answer="type-b"
# *Write your answer here.*

# %% [markdown]
# **Sources**, in full in `course/bibliography.md`: Knuth and Moore 1975 for the effect of the
# order; Russell and Norvig 2021, sections 5.2.4 and 5.3.3, for move ordering and forward pruning;
# Shannon 1950, section 6, and Mayfield 2025 for the priorities.

# %% [markdown]
# ## Submit
#
# Save the module and all notebooks, then run this cell. It packs them into one file,
# `study3_type_a.zip`, together with the pictures next to them, and lists what is still missing.
# Submit that file as your instructor asks.

# %% tags=["skip-execution"]
from course.submission import make_submission

make_submission("study3")
