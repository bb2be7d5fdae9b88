# %% [markdown]
# # 4. Where to stop
#
# The heuristic of notebook 3 judges a position by its marks. Now we let a search use it: look at
# all moves to a fixed depth, and evaluate what is there. This notebook shows why a fixed depth is
# not good enough, what Shannon (1950) proposed to do about it, and what that costs.
#
# You will write `is_quiescent` and the class `TypeA` in `heuristic.py`. They use your `lane_counts`
# and `heuristic`, so finish notebook 3 first.

# %%
# %load_ext course.notebook
from collections import Counter
from functools import cache
from math import prod, sqrt
from unittest.mock import patch

from course.check import check
from course.plots import boards, figure, picture
from course.recorded import node_counts
from tictactoe import Board, Qubic, Random, Trace, play
from tictactoe.show.explorer import explore
from tictactoe.show.time_left import with_time_left
from tictactoe.solver import value, values

from heuristic import TypeA, heuristic, is_quiescent

# %% [markdown]
# ## Counting depth
#
# A limit means nothing until we agree how to count. Here the position that the agent is asked
# about, the **root**, is at depth 0, and every single move by either player adds 1. With a limit of
# 2 the agent sees its own move and one reply.

# %%
line = [Board("x___o____")]
for move in (8, 1, 7):
    line.append(line[-1].after(move))
boards(line, [f"depth {depth}: {state.to_move} to move" for depth, state in enumerate(line)])

# %% [markdown]
# Every book counts a little differently ("ply", "move", "half-move"), and an agent that is off by
# one still plays; it just does not do what its limit says. When in doubt, look into the docstring
# of `tictactoe.nodes`.
#
# ## A trap
#
# Let us stop at once, at depth 1, and see how far the heuristic takes us. It is o's turn:

# %%
trap = Board("x___o___x")
trap

# %% [markdown]
# o has two kinds of move, corner and edge. Do both by hand, from o's view.
#
# * **Corner 2.** Pair: the diagonal 2-4-6. Single marks: row 3-4-5 and column 1-4-7. x has column
#   0-3-6 and row 6-7-8 left, a single mark each. H = (3 + 2) - 2 = 3.
# * **Edge 1.** Pair: column 1-4-7. Single marks: row 3-4-5 and the diagonal 2-4-6. x has column
#   0-3-6, row 6-7-8 and column 2-5-8. H = (3 + 2) - 3 = 2.
#
# Your heuristic should say the same. Below each board is also what the move is really worth.

# %%
replies = [trap.after(cell) for cell in trap.legal_moves()]
boards(replies, [f"cell {cell}: {heuristic(reply, 'o'):+.1f}\nexact: {value(reply, 'o')}"
                 for cell, reply in zip(trap.legal_moves(), replies, strict=True)], columns=6)

# %% [markdown]
# The estimate likes the corners best, and the corners are the only moves that lose! Follow the
# game.

# %%
line = [trap]
for move in (2, 6, 7, 3):
    line.append(line[-1].after(move))
boards(line, ["depth 0\no to move", "depth 1\nlooks good: +0.3", "depth 2\nx has to block",
              "depth 3\no stops one pair", "depth 4\nx takes the other"], columns=5)

# %% [markdown]
# After o's corner x has no choice: it must block in cell 6. But the block makes two pairs, and o
# can stop only one of them. At depth 1 none of this is visible. The +0.3 is mostly the 3 for the
# pair 2-4, and that pair is about to be blocked. The search stopped in the middle of a fight and
# counted the marks.
#
# Searching one level deeper would see through this trap. It would fall into another one. Wherever
# the limit is, some fights are going on there.
#
# ## Quiescent states
#
# Shannon's remedy: do not evaluate *during* a fight. At the limit, ask whether the position is
# quiet. If it is not, search on until it is. Quiet states are called **quiescent**.
#
# What is a fight in tic-tac-toe? The only threat is three in a lane. So:
#
# > A state is **quiescent** if neither player has a lane with two own marks and an empty third
# > cell, whoever is to move.
#
# Decide for each of these four whether it is quiescent. Then open the answers.

# %%
samples = [Board("xx__o____"), Board("xxo______"), Board("x___o__xo"), trap.after(2)]
boards(samples, ["A", "B", "C", "D"])

# %% [markdown]
# <details><summary>Answers</summary>
#
# * A: no. x has 0 and 1, and 2 is empty. It does not matter that o is to move.
# * B: yes. The pair is blocked: its lane is dead.
# * C: yes. There are four marks on the board, but every pair of equal marks is blocked or lies in
#   no common lane.
# * D: no. o has 2 and 4, and 6 is empty. This is the position where we should not have stopped.
#
# </details>
#
# ## Write `is_quiescent`
#
# `is_quiescent(state)` returns True or False. It has no player among its arguments, because a
# threat by either side counts. You have a function that finds pairs in open lanes already.

# %%
[is_quiescent(sample) for sample in samples]

# %%
check("study3.is_quiescent")

# %% [markdown]
# ## Where it is quiet
#
# How often may we stop at all? Count the quiescent states by the number of marks on the board.

# %%
positions = [state for state in values() if not state.is_terminal()]
marks = {state: 9 - state.text.count("_") for state in positions}

# %%
quiet = [state for state in positions if is_quiescent(state)]
print(f"{len(quiet):,} of {len(positions):,} unfinished positions are quiescent")
print("on them |H| is at most", max(abs(round(10 * heuristic(state, "x"))) for state in quiet))

everywhere, quietly = Counter(marks.values()), Counter(marks[state] for state in quiet)
axes = figure(7.5, 3.6)
axes.bar(range(9), [everywhere[n] for n in range(9)], color="#dddddd", edgecolor="#666666",
         label="all")
axes.bar(range(9), [quietly[n] for n in range(9)], color="#0072B2", edgecolor="white", hatch="//",
         label="quiescent")
for n in range(9):
    axes.annotate(f"{quietly[n] / everywhere[n]:.0%}", (n, everywhere[n]), ha="center", va="bottom")
axes.set(xlabel="marks on the board", ylabel="unfinished positions",
         title="Where it is quiet (per cent: share of quiescent positions)")
axes.set_xticks(range(9))
axes.figure.legend(loc="outside right upper")
picture(axes, "Bars: unfinished and quiescent positions by number of marks. " + ", ".join(
    f"{n} marks: {quietly[n]} of {everywhere[n]}" for n in range(9)))

# %% [markdown]
# With up to two marks everything is quiet. After that the quiet places get rare, and in the middle
# of the game a search will have to go a long way to find one. Remember this picture.
#
# The second number settles the divisor of notebook 3: on quiescent states |H| stays far below 10.
#
# ## The order of the tests
#
# A search enters a node. What does it ask, and in which order?
#
# 1. **Terminal?** Then the value is the utility.
# 2. **Cut-off?** At the limit or beyond it *and* quiescent: then the value is the heuristic's.
# 3. Otherwise **expand**: search all legal moves, beyond the limit too, not only blocks and wins.
#
# The first two must not change places. Here is why:

# %%
over = Board("xo_xo_xxo")
print("utility for x:", over.utility("x"))
print("quiescent:", is_quiescent(over), " heuristic for x:", heuristic(over, "x"))
over

# %% [markdown]
# x has won. But three in a lane is no *pair*, so the definition calls the state quiescent, and the
# heuristic does not see the win at all. Both go by their definitions, whether the game is over or
# not. Do the terminal test first, and your search never asks them about a finished game.
#
# ## Write `TypeA`
#
# `TypeA(limit).search(state)` returns `Search(move, value, nodes)`; `choose(state)` returns the
# move. The work is done in `value(state, player, depth)`. It is minimax with one test more.
#
# * `player` is MAX: whoever is to move at the *root*. Hand it down unchanged. All values, utilities
#   and estimates alike, are from that player's view at every depth.
# * `value` returns a pair: the value, and the move that leads to it. A state that is not expanded
#   has no move.
# * Among equal moves the first one stays: replace the best so far only by a strictly better one.
# * `@counted` on `value` counts the nodes; open a `NodeCounter` around the search and read
#   `visited`.
#
# The empty board with limit 2 has 82 nodes: the root, 9 moves, 72 replies, all quiet. So it is a
# poor test: an agent that forgets quiescence altogether gets the same answer. The other two boards
# are better.

# %%
for text in ("_________", "___x_o_x_", "__x_o____"):
    print(text, TypeA(limit=2).search(Board(text)))

# %%
check("study3.type_a")

# %% [markdown]
# ## Play
#
# Let it play. First against itself, then as x and as o against somebody who moves at random.

# %%
game = play({"x": TypeA(), "o": TypeA()})
for seed in range(3):
    print("x is Type A:", play({"x": TypeA(), "o": Random(seed)}))
    print("o is Type A:", play({"x": Random(seed), "o": TypeA()}))
print("against itself:", game)
boards(game.states, ["start"] + [f"move {n + 1}" for n in range(len(game.moves))], columns=5)

# %% [markdown]
# And the trap? To see what quiescence does, we take it away. `patch` replaces `is_quiescent` in
# your module for the length of the `with` block. If every state counts as quiet, the limit is hard.
#
# Is the trap a rare accident? Let the agent with a hard limit of 2 choose in *every* unfinished
# position, and count the mistakes: moves that give away part of what the position is worth.

# %%
def is_mistake(state, move):
    """Whether the move makes the mover's exact value worse."""
    return value(state.after(move), state.to_move) < value(state, state.to_move)


print("the trap, limit 1:     ", TypeA(limit=1).search(trap))
with patch("heuristic.is_quiescent", lambda state: True):
    print("the trap, hard limit 1:", TypeA(limit=1).search(trap))
    wrong = [state for state in positions if is_mistake(state, TypeA(limit=2).choose(state))]
print(f"hard limit 2: mistakes in {len(wrong)} of {len(positions):,} positions")

# %% [markdown]
# The hard limit walks into the corner. The real agent plays an edge, and pays for that with more
# than a thousand nodes.
#
# See for yourself what it does with them. The dotted line is the limit. A diamond is a state that
# was estimated. Everything else below the line was searched because a fight was going on. Only the
# way to the current node is open: a button like +60 opens a subtree.

# %%
explore(TypeA(limit=1), trap)

# %% [markdown]
# Now let the real agent choose everywhere. That takes a few seconds, so we take the positions with
# x to move first, then those with o to move. `choice` remembers the answers. Run its cell again
# after you have changed `heuristic.py`.

# %%
@cache
def choice(state):
    """What Type A with limit 2 plays here."""
    return TypeA(limit=2).choose(state)


def mistakes(player):
    """The positions with this player to move in which Type A makes a mistake."""
    its_turn = [state for state in positions if state.to_move == player]
    return [state for state in with_time_left(its_turn, "positions")
            if is_mistake(state, choice(state))]

# %%
found = mistakes("x")
boards(found, [f"x plays {choice(state)}" for state in found])

# %%
found = mistakes("o")
boards(found, [f"o plays {choice(state)}" for state in found])

# %% [markdown]
# Eight are left, and turned or mirrored they are only two. So Type A does not play perfectly. Does
# it ever get there? Follow all games in which one side is Type A and the other does what it likes.

# %%
def met(agent_plays):
    """All states in which Type A has to choose when it plays this side, whatever the other does."""
    seen, to_do = set(), [Board()]
    while to_do:
        state = to_do.pop()
        if state in seen or state.is_terminal():
            continue
        seen.add(state)
        mine = state.to_move == agent_plays
        to_do += [state.after(move) for move in ([choice(state)] if mine else state.legal_moves())]
    return {state for state in seen if state.to_move == agent_plays}


for side in "xo":
    states = met(side)
    print(f"as {side}: {len(states)} states, {len(states & set(mistakes(side)))} mistakes")

# %% [markdown]
# None. By its own earlier moves the agent steers clear of all eight. (Over all positions, the hard
# limit made 113 mistakes.) You cannot beat it from the first move on. You could if it took over
# somebody else's game.

# %% [markdown]
# **Question.** Take one of the eight positions and find the right move. (`value` tells you what
# each is worth.) Follow the line that Type A expects after its own move: where does it stop and
# evaluate, and is that state quiescent by our definition? Play on from there with the best moves.
# What does the definition not see? Would a stricter one help, and what would it cost?

# %% [markdown] answer="quiet-but-wrong"
# *Write your answer here.*

# %% [markdown]
# ## What it costs
#
# Stopping early should save work. Raise the limit, one by one, from the empty board.

# %%
for limit in (1, 2, 3):
    print("limit", limit, TypeA(limit).search(Board()))

# %%
print("limit", 4, TypeA(limit=4).search(Board()))
print("minimax visits", node_counts()["minimax"][Board().text],
      "and alpha-beta", node_counts()["alpha_beta"][Board().text])

# %% [markdown]
# 10, 82, and then 227,322! There are only 504 nodes at depth 3 of this tree (252 distinct states).
# Minimax to the very end takes 549,946 nodes, alpha-beta 18,297.

# %% [markdown]
# **Think first.** Why is the step from limit 2 to limit 3 so large, and the step from 3 to 4 so small?
# Use the picture of the quiescent positions above. And how many nodes will it be with limit 9? Say
# why, without running it.
#
# <details><summary>An answer</summary>
#
# Up to two marks every state is quiescent, so with limits 1 and 2 the search stops at the limit
# everywhere. At depth 3 x has two marks. In 288 of the 504 nodes they share an open lane, and the
# search goes on; further down quiet states are rare, so most of these trees are searched to the end
# of the game.
#
# Limit 4 repeats those trees, and adds what lies below the quiet 216.
#
# With limit 9 nothing but a finished game is ever at the limit, so the search is plain minimax:
# 549,946 nodes.
#
# </details>

# %% [markdown]
# The limit of 2 looks cheap, then: 82 nodes. But that is the first move only. Let x play cell 0 and
# ask for o's reply. A `Trace` records every node that is visited, so we can see how deep they lie
# and what became of them.

# %%
corner = Board("x________")
for name in ("minimax", "alpha_beta"):
    print(f"{name}: {node_counts()[name][corner.text]:,} nodes")
with Trace() as trace:
    print("Type A:", TypeA(limit=2).search(corner))

expanded, evaluated, ended = Counter(), Counter(), Counter()
to_do = list(trace.roots)
while to_do:
    visit = to_do.pop()
    to_do += visit.children
    kind = ended if visit.state.is_terminal() else expanded if visit.children else evaluated
    kind[visit.depth] += 1
for depth in range(9):
    print(f"depth {depth}: {expanded[depth]:5,} expanded {evaluated[depth]:4,} evaluated "
          f"{ended[depth]:5,} games over")

axes = figure(7.5, 4)
bottom = [0] * 9
for kind, name, colour, hatch in ((expanded, "expanded", "#0072B2", ""),
                                  (evaluated, "evaluated", "#E69F00", "//"),
                                  (ended, "game over", "#dddddd", "..")):
    axes.bar(range(9), [kind[depth] for depth in range(9)], bottom=bottom, label=name, color=colour,
             hatch=hatch, edgecolor="#444444", linewidth=0.6)
    bottom = [low + kind[depth] for depth, low in enumerate(bottom)]
axes.axvline(2.5, color="black", linestyle="--", linewidth=1)
axes.annotate("beyond the limit", (2.6, max(bottom) * 0.9))
axes.set(xlabel="depth", ylabel="nodes",
         title="Type A with limit 2, after x at cell 0: nodes by depth")
axes.set_xticks(range(9))
axes.figure.legend(loc="outside right upper")
picture(axes, "Stacked bars of nodes by depth: " + ", ".join(
    f"depth {depth}: {count:,}" for depth, count in enumerate(bottom))
    + ". Only the nodes at depths 0 to 2 are within the limit of 2.")

# %% [markdown]
# The agent has a limit of 2 and goes to depth 8, the end of every game. Only 65 of its 28,339 nodes
# lie within the limit. At depth 2 it may stop in 20 of 56 states. In the other 36 there is a pair,
# so it searches on, and below depth 2 quiet states are rare. Hardly anything is ever evaluated.
#
# Compare the first three lines. Type A visits about half as many nodes as minimax, and twelve times
# as many as alpha-beta. Alpha-beta plays perfectly, too. **From the second move on, Type A alone
# saves nothing over alpha-beta on nine cells.** It never throws a move away: when it knows that a
# reply refutes a move, it still looks at all the other replies.
#
# That is a fact about a very small game, not about depth limits. Alpha-beta can afford to go to the
# end here, since the end is near. Take a game whose end is far: tic-tac-toe on a cube of 4 x 4 x 4
# cells, four in a lane to win (notebook 7). Your functions ask the state for its lanes, so the same
# agent plays it. A limit of 2 means 1 + 64 + 64 x 63 nodes, all of them quiet; that is a second or
# two. And alpha-beta? Suppose that all games had the same length and the best move always came
# first. Then it would have to look at about twice the square root of the number of games.

# %%
print("Type A on the cube:", TypeA(limit=2).search(Qubic()))
for moves in (7, 10, 20):  # the winner's fourth mark is move 7 at the earliest; the longest is 64
    ends = 2 * sqrt(prod(range(65 - moves, 65)))
    print(f"alpha-beta, if every game had {moves:2} moves: {ends:.0e} ends")

# %% [markdown]
# So where the end is out of reach, the limit is what makes a move possible at all. (To look deeper
# on the cube, `is_quiescent` would have to be changed first: two marks in a lane threaten nothing
# where four are needed.)
#
# And the two ideas do not exclude each other: one shortens the lines, the other one drops lines
# that do not matter. Notebook 5 puts them together.

# %% [markdown]
# **Question.** Beyond the limit our search looks at *all* legal moves. Suppose it looked at forcing
# moves only: at the wins, and if there is none, at the blocks. (a) Show that in tic-tac-toe this
# gives every state that is not quiescent the same value as before. (b) Would it save much after x
# at cell 0? Give reasons. (c) Many chess programs look only at captures beyond the limit. Why does
# your proof not hold there, and what must such a program allow a player besides capturing?

# %% [markdown] answer="forcing-moves-only"
# *Write your answer here.*

# %% [markdown]
# **Sources**, in full in `course/bibliography.md`: Shannon 1950, sections 4 and 6, for the limit and
# for quiescent positions; Mayfield 2025 for both in tic-tac-toe; Knuth and Moore 1975 for the
# square root.
