# %% [markdown]
# # 4. Where to stop
#
# The heuristic of notebook 3 judges a position by its marks. Now a search will use it: it will
# examine all moves to a fixed depth and evaluate the positions there. This notebook shows why a
# fixed depth is not good enough, what Shannon (1950) proposed to do about it, and what that costs.
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
from course.published import node_counts
from tictactoe import Board, Qubic, Random, Trace, play
from tictactoe.explorables.explorer import explore
from common.progress import track
from tictactoe.solver import value, values

from heuristic import TypeA, heuristic, is_quiescent

# %% [markdown]
# ## Counting depth
#
# A depth limit means nothing until we agree how to count. Here the position from which the agent
# searches, the root, is at depth 0, and every single move by either player adds 1. With a limit
# of 2 the agent sees its own move and one reply.

# %%
line = [Board("x___o____")]
for move in (8, 1, 7):
    line.append(line[-1].after(move))
boards(line, [f"depth {depth}: {state.to_move} to move" for depth, state in enumerate(line)])

# %% [markdown]
# Books count in different ways ("ply", "move", "half-move"). An agent that is off by one still
# plays, but it does not do what its limit says. When in doubt, read the docstring of
# `tictactoe.nodes`.
#
# ## A trap
#
# Let us stop as early as possible, at depth 1, and see how good the heuristic's choice is. It is
# o's turn:

# %%
trap = Board("x___o___x")
trap

# %% [markdown]
# o has two kinds of move, corner and edge. Evaluate both by hand, from o's view.
#
# * **Corner 2.** Pair: the diagonal 2-4-6. Single marks: row 3-4-5 and column 1-4-7. x has column
#   0-3-6 and row 6-7-8 left, with a single mark each. H = (3 + 2) - 2 = 3.
# * **Edge 1.** Pair: column 1-4-7. Single marks: row 3-4-5 and the diagonal 2-4-6. x has column
#   0-3-6, row 6-7-8 and column 2-5-8. H = (3 + 2) - 3 = 2.
#
# Your heuristic should give the same numbers. The exact value of the move is also shown below each board.

# %%
replies = [trap.after(cell) for cell in trap.legal_moves()]
boards(replies, [f"cell {cell}: {heuristic(reply, 'o'):+.1f}\nexact: {value(reply, 'o')}"
                 for cell, reply in zip(trap.legal_moves(), replies, strict=True)], columns=6)

# %% [markdown]
# The estimate prefers the corners, and the corners are the only moves that lose! Follow the game.

# %%
line = [trap]
for move in (2, 6, 7, 3):
    line.append(line[-1].after(move))
boards(line, ["depth 0\no to move", "depth 1\nlooks good: +0.3", "depth 2\nx has to block",
              "depth 3\no stops one pair", "depth 4\nx takes the other"], columns=5)

# %% [markdown]
# After o's corner x has no choice: it must block in cell 6. But the block creates two pairs, and o
# can stop only one of them. At depth 1 none of this is visible. Most of the +0.3 comes from the
# pair 2-4, which counts 3, and that pair is about to be blocked. The search stopped in the middle
# of a fight and counted the marks.
#
# A search one level deeper would see through this trap, but it would fall into another one.
# Wherever the limit is, some fights are not over there. What lies beyond this horizon does not
# exist for the search. The best-known consequence is the **horizon effect**: a search plays moves
# that only delay a loss, until the loss lies beyond the limit (Russell and Norvig 2021, section
# 5.3). Quiescence, below, does not cure that.
#
# ## Quiescent states
#
# Shannon's remedy is not to evaluate *during* a fight. When the search reaches the limit, it checks
# whether the position is quiet. If it is not, the search continues until it is. Quiet states are
# called **quiescent**, and a search of this kind is a **quiescence search**.
#
# What is a fight in tic-tac-toe? The only threat is three in a lane. So:
#
# > A state is quiescent if no lane has two marks of the same player and an empty third cell,
# > regardless of who is to move.
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
# * C: yes. There are four marks on the board, but no two equal marks share an open lane: every such
#   pair is blocked or has no common lane.
# * D: no. o has 2 and 4, and 6 is empty. This is the position in which the search should not have
#   stopped.
#
# </details>
#
# ## Write `is_quiescent`
#
# `is_quiescent(state)` returns True or False. It takes no player as an argument, because a threat
# by either side counts. You already have a function that finds pairs in open lanes.

# %%
[is_quiescent(sample) for sample in samples]

# %%
check("study3.is_quiescent")

# %% [markdown]
# ## Where positions are quiescent
#
# How often may a search stop at all? Count the quiescent states by the number of marks on the board.

# %%
positions = [state for state in values() if not state.is_terminal()]
marks = {state: 9 - state.text.count("_") for state in positions}

# %% tags=["hide-input"]
def plot_quiet(everywhere, quietly):
    """Plot the numbers of all and of quiescent positions for each number of marks."""
    axes = figure(7.5, 3.6)
    axes.bar(range(9), [everywhere[n] for n in range(9)], color="#dddddd", edgecolor="#666666",
             label="all")
    axes.bar(range(9), [quietly[n] for n in range(9)], color="#0072B2", edgecolor="white",
             hatch="//", label="quiescent")
    for n in range(9):
        axes.annotate(f"{quietly[n] / everywhere[n]:.0%}", (n, everywhere[n]), ha="center",
                      va="bottom")
    axes.set(xlabel="marks on the board", ylabel="unfinished positions",
             title="Quiescent positions (per cent: their share of all positions)")
    axes.set_xticks(range(9))
    axes.figure.legend(loc="outside right upper")
    return picture(axes, "Bars: unfinished and quiescent positions by number of marks. "
                   + ", ".join(f"{n} marks: {quietly[n]} of {everywhere[n]}" for n in range(9)))

# %%
quiet = [state for state in positions if is_quiescent(state)]
print(f"{len(quiet):,} of {len(positions):,} unfinished positions are quiescent")
plot_quiet(Counter(marks.values()), Counter(marks[state] for state in quiet))

# %% [markdown]
# With up to two marks every position is quiet. After that quiet positions become rare, and in the
# middle of the game a search may have to continue for a long time to find one. Remember this
# picture.
#
# ## The order of the tests
#
# When a search enters a node, what does it test, and in which order?
#
# 1. The terminal test: is the game over? Then the value is the utility.
# 2. The **cut-off test**: is the state at the limit or beyond it *and* quiescent? Then the value is
#    the heuristic's.
# 3. Otherwise *expand* it: search all legal moves, also beyond the limit, and not only blocks and
#    wins.
#
# The first two tests must not be swapped. Here is why:

# %%
over = Board("xo_xo_xxo")
print("utility for x:", over.utility("x"))
print("quiescent:", is_quiescent(over), " heuristic for x:", heuristic(over, "x"))
over

# %% [markdown]
# x has won. But three in a lane is not a *pair*, so the definition calls the state quiescent, and
# the heuristic does not see the win at all. Both apply their definitions whether the game is over
# or not. If the terminal test comes first, your search never uses them on a finished game.
#
# ## Write `TypeA`
#
# `TypeA(limit).search(state)` returns `Search(move, value, nodes)`; `choose(state)` returns the
# move. The work is done in `value(state, player, depth)`. It is minimax with one additional test.
#
# * `player` is MAX, the player to move at the *root*. Pass it down unchanged. All values, utilities
#   and estimates alike, are from that player's view at every depth.
# * `value` returns a pair: the value, and the move that leads to it. A state that is not expanded
#   has no move.
# * Among equal moves the first one is kept: replace the best move so far only by a strictly better
#   one.
# * `@counted` on `value` counts the nodes; open a `NodeCounter` around the search and read
#   `visited`.
#
# The empty board with limit 2 has 82 nodes: the root, 9 moves and 72 replies, all quiet. So it is a
# poor test: an agent that ignores quiescence altogether gets the same result. The other two boards
# are better.

# %%
for text in ("_________", "___x_o_x_", "__x_o____"):
    print(text, TypeA(limit=2).search(Board(text)))

# %%
check("study3.type_a")

# %% [markdown]
# ## Play
#
# Let it play, first against itself, then as x and as o against an opponent that moves at random.

# %%
game = play({"x": TypeA(), "o": TypeA()})
for seed in range(3):
    print("x is Type A:", play({"x": TypeA(), "o": Random(seed)}))
    print("o is Type A:", play({"x": Random(seed), "o": TypeA()}))
print("against itself:", game)
boards(game.states, ["start"] + [f"move {n + 1}" for n in range(len(game.moves))], columns=5)

# %% [markdown]
# And the trap? To see the effect of quiescence, we disable it. `patch` replaces `is_quiescent` in
# your module for the duration of the `with` block. If every state counts as quiet, the limit is a
# hard limit.
#
# Is the trap a rare accident? Let the agent with a hard limit of 2 choose in *every* unfinished
# position, and count the mistakes: moves that lower the exact value of the position for the player
# who makes them.

# %%
def is_mistake(state, move):
    """Whether the move lowers the exact value for the player who makes it."""
    return value(state.after(move), state.to_move) < value(state, state.to_move)


print("the trap, limit 1:     ", TypeA(limit=1).search(trap))
with patch("heuristic.is_quiescent", lambda state: True):
    print("the trap, hard limit 1:", TypeA(limit=1).search(trap))
    wrong = [state for state in positions if is_mistake(state, TypeA(limit=2).choose(state))]
print(f"hard limit 2: mistakes in {len(wrong)} of {len(positions):,} positions")

# %% [markdown]
# With the hard limit the agent plays the losing corner. The real agent plays an edge, at the price
# of more than a thousand nodes.
#
# Look at these nodes yourself. The dotted line is the limit. A diamond is a state that was
# estimated. Everything else below the line was searched because the position was not quiet. Only
# the path to the current node is open: a button such as +60 opens a subtree.

# %%
explore(TypeA(limit=1), trap)

# %% [markdown]
# Now let the real agent choose everywhere. That takes a few seconds, so we take the positions with
# x to move first, then those with o to move. `choice` caches its results. Run its cell again after
# you have changed `heuristic.py`.

# %%
@cache
def choice(state):
    """The move that Type A with limit 2 chooses."""
    return TypeA(limit=2).choose(state)


def mistakes(player):
    """The positions with this player to move in which Type A makes a mistake."""
    its_turn = [state for state in positions if state.to_move == player]
    return [state for state in track(its_turn, "positions")
            if is_mistake(state, choice(state))]

# %%
found = mistakes("x")
boards(found, [f"x plays {choice(state)}" for state in found])

# %%
found = mistakes("o")
boards(found, [f"o plays {choice(state)}" for state in found])

# %% [markdown]
# Mistakes remain in eight positions; up to rotation and reflection, there are only two. So Type A
# does not play perfectly. But does it ever reach one of these positions? Follow all games in which
# one side is Type A and the other side may play any move.

# %%
def reached(agent_plays):
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
    states = reached(side)
    print(f"as {side}: {len(states)} states, {len(states & set(mistakes(side)))} mistakes")

# %% [markdown]
# It reaches none of them. The agent's own earlier moves avoid all eight. (Over all
# positions, the hard limit made 113 mistakes.) You cannot beat it if it plays from the first move.
# You could if it took over a game that another player had begun.

# %% [markdown]
# **Question.** Take one of the eight positions and find the right move. (`value` returns the exact
# value of each.) Follow the line that Type A expects after its own move (call `TypeA().value(state,
# player, depth)` again for each next state; its second result is the expected move): where does it
# stop and evaluate, and is that state quiescent by our definition? Continue from there with the
# best moves. What does the definition miss? Would a stricter one help, and what would it cost?

# %% [markdown] answer="quiet-but-wrong"
# *Write your answer here.*

# %% [markdown]
# ## What it costs
#
# Stopping early should save work. Start at the empty board and raise the limit step by step.

# %%
for limit in (1, 2, 3):
    print("limit", limit, TypeA(limit).search(Board()))

# %%
print("limit", 4, TypeA(limit=4).search(Board()))
print("minimax visits", node_counts()["minimax"][Board().text],
      "and alpha-beta", node_counts()["alpha_beta"][Board().text])

# %% [markdown]
# The counts are 10, 82, and then 227,322! There are only 504 nodes at depth 3 of this tree (252
# distinct states). A full minimax search takes 549,946 nodes, alpha-beta 18,297.

# %% [markdown]
# **Think first.** Why is the step from limit 2 to limit 3 so large, and the step from 3 to 4 so
# small? Use the picture of the quiescent positions above. And how many nodes will there be with
# limit 9? Explain without running it.
#
# <details><summary>An answer</summary>
#
# Up to two marks every state is quiescent, so with limits 1 and 2 the search stops at the limit
# everywhere. At depth 3 x has two marks. In 288 of the 504 nodes they share an open lane, and the
# search continues. Further down quiet states are rare, so most of these trees are searched to the
# end of the game.
#
# With limit 4 the search visits those trees again, and also what is below the 216 quiet nodes.
#
# With limit 9 only finished games are ever at the limit, so the search is plain minimax: 549,946
# nodes.
#
# </details>

# %% [markdown]
# So a limit of 2 looks cheap: 82 nodes. But that is only the first move. Let x play cell 0 and
# search for o's reply. A `Trace` records every visited node, so we can see how deep the nodes are
# and how each of them was treated.

# %% tags=["hide-input"]
def plot_depths(expanded, evaluated, ended):
    """Plot how many nodes of each kind there are at each depth."""
    axes = figure(7.5, 4)
    bottom = [0] * 9
    for kind, name, colour, hatch in ((expanded, "expanded", "#0072B2", ""),
                                      (evaluated, "evaluated", "#E69F00", "//"),
                                      (ended, "game over", "#dddddd", "..")):
        axes.bar(range(9), [kind[depth] for depth in range(9)], bottom=bottom, label=name,
                 color=colour, hatch=hatch, edgecolor="#444444", linewidth=0.6)
        bottom = [low + kind[depth] for depth, low in enumerate(bottom)]
    axes.axvline(2.5, color="black", linestyle="--", linewidth=1)
    axes.annotate("beyond the limit", (2.6, max(bottom) * 0.9))
    axes.set(xlabel="depth", ylabel="nodes",
             title="Type A with limit 2, after x at cell 0: nodes by depth")
    axes.set_xticks(range(9))
    axes.figure.legend(loc="outside right upper")
    return picture(axes, "Stacked bars of nodes by depth: " + ", ".join(
        f"depth {depth}: {count:,}" for depth, count in enumerate(bottom))
        + ". Only the nodes at depths 0 to 2 are within the limit of 2.")

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
plot_depths(expanded, evaluated, ended)

# %% [markdown]
# The agent has a limit of 2 but searches to depth 8, the end of every game. Only 65 of its 28,339
# nodes are within the limit. At depth 2 it may stop in 20 of 56 states. In the other 36 there is a
# pair, so it continues, and below depth 2 quiet states are rare. Only a few states are ever
# evaluated.
#
# Compare the first three lines. Type A visits about half as many nodes as minimax, and twelve times
# as many as alpha-beta, which plays perfectly. **From the second move on, Type A alone saves
# nothing over alpha-beta on nine cells.** It never skips a move: even if it already knows that one
# reply refutes a move, it still examines all the other replies.
#
# That is a fact about a very small game, not about depth limits. Here alpha-beta can afford to
# search to the end, because the end is near. Take a game whose end is far away: tic-tac-toe on a
# cube of 4 x 4 x 4 cells, with four in a lane to win (notebook 7). Your functions take the lanes
# from the state, so the same agent can play it. A limit of 2 means 1 + 64 + 64 x 63 nodes, all of
# them quiet; that takes a second or two. How many leaves would alpha-beta need?
#
# The next cell computes an optimistic estimate. Suppose that every game ended after the same number of
# moves. Then the number of leaves of the full tree would be the product 64 x 63 x 62 ... with one
# factor per move. If, in addition, the best move always came first, alpha-beta would need about
# twice the square root of this number (notebook 2).

# %%
print("Type A on the cube:", TypeA(limit=2).search(Qubic()))
for moves in (7, 10, 20):  # the winner's fourth mark is move 7 at the earliest; the longest is 64
    ends = 2 * sqrt(prod(range(65 - moves, 65)))
    print(f"alpha-beta, if every game had {moves:2} moves: {ends:.0e} leaves")

# %% [markdown]
# So when the end is out of reach, the limit is what makes choosing a move possible at all. (To
# search deeper on the cube, you would first have to change `is_quiescent`: two marks in a lane are
# no threat if four are needed.)
#
# The two ideas can be combined: one shortens the lines of play, the other drops moves that do not
# matter. Notebook 5 does this.

# %% [markdown]
# **Question.** Beyond the limit our search examines *all* legal moves. Suppose it examined forcing
# moves only: the wins, or if there is none, the blocks. (a) Show that in tic-tac-toe this gives
# every state that is not quiescent the same value as before. (b) Would it save much after x at cell
# 0? Give reasons. (c) Many chess programs examine only captures beyond the limit. Why is your proof
# not valid there, and what must such a program allow a player besides capturing?

# %% [markdown] answer="forcing-moves-only"
# *Write your answer here.*

# %% [markdown]
# **Sources**, in full in `course/bibliography.md`: Shannon 1950, sections 4 and 6, for the limit
# and for quiescent positions; Russell and Norvig 2021, section 5.3, for the horizon effect;
# Mayfield 2025 for both in tic-tac-toe; Knuth and Moore 1975 for the square root.
