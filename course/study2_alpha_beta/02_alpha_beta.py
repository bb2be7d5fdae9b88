# %% [markdown]
# # 2. Alpha-beta
#
# Minimax visits 549,946 nodes before the first move of tic-tac-toe. Most of them cannot affect the result.
# **Alpha-beta pruning** finds the same move and the same value, but visits only 18,297. It does not guess or take risks: it skips a node only after it has proved that the node does not matter.
#
# You will write one class, `AlphaBeta`, in `alphabeta.py` next to this notebook. It does not use your module from study 1, so you can start here even if that one is unfinished.
# The algorithm is described in *Artificial Intelligence: A Modern Approach*, 4th edition, section 5.2.3 (Russell and Norvig 2021).

# %%
# %load_ext course.notebook
from dataclasses import dataclass
from functools import cache
from math import inf, log
from random import Random

from course.check import check
from course.plots import figure, picture
from course.published import reference_search
from tictactoe import Board, Trace
from tictactoe.explorables.explorer import explore
from tictactoe.solver import value, values
from tictactoe.explorables.tree import build_tree, draw_tree

from alphabeta import AlphaBeta  # your module

# %% [markdown]
# ## A node that cannot matter
#
# Here x is to move, and cells 4, 5 and 8 are open. As always, the player to move at the root is MAX, and all values are from MAX's view.
# The size of the whole tree is easy to count: one node for the state, plus the sizes of its successors' trees.

# %%
@cache
def tree_size(board):
    """The number of nodes that minimax visits from here."""
    return 1 + sum(tree_size(board.after(move)) for move in board.legal_moves())


board = Board("xoox__ox_")
print(tree_size(board), "nodes")
board

# %% [markdown]
# Suppose x has looked at cell 4 and everything below it. It stops o's diagonal and threatens to win at 5 and at 8. So x is guaranteed +1.
#
# Now x looks at cell 5. One possible reply is o at 4, and that wins for o: -1. There is another reply, o at 8. **Does x have to look at it?**
#
# No. If the reply at 8 is worse for o, then o plays 4 instead. If it is even better for o, move 5 is even worse for x. In either case move 5 is worth -1 or less, and x already has +1.
# The same happens below cell 8: after o's reply at 4 nothing can save the move.
#
# The picture shows what is left of the tree. A dashed line with a double bar is a move that was *cut*, so the search never examined it. The sign ≤ means that only a bound is known. Move 5 is worth *at most* -1, and that is all x needs to know. (Ignore the pairs in parentheses for now. They are explained below.)

# %%
draw_tree(build_tree(board, (1, {
    4: (1, {5: (1, {8: (1, {}, -inf, inf)}, -inf, inf), 8: (1, {5: (1, {}, -inf, 1)}, -inf, 1)},
        -inf, inf),
    5: (-1, {4: (-1, {}, 1, inf)}, 1, inf),
    8: (-1, {4: (-1, {}, 1, inf)}, 1, inf),
}, -inf, inf)))  # fmt: skip

# %% [markdown]
# Two moves were cut, and 10 nodes are left of 14. That is not much, but the tree is tiny. A cut near the root of a large tree throws away everything below it.
#
# ## A game that consists only of its tree
#
# Wins and draws make dull examples, because there are only three values. For practice we want arbitrary numbers.
# A search only needs to know whose turn it is, which moves are legal, what they lead to, whether the game is over and what the result is worth. *Any object* that answers these five questions is a game:

# %%
@dataclass(frozen=True)
class NumberTree:
    """A number is a terminal state with that utility for x; a tuple has a move for each item."""

    tree: tuple | float
    path: tuple[int, ...] = ()  # the moves made so far

    @property
    def to_move(self):
        return "x" if len(self.path) % 2 == 0 else "o"

    def legal_moves(self):
        return () if self.is_terminal() else tuple(range(len(self.tree)))

    def after(self, move):
        return NumberTree(self.tree[move], (*self.path, move))

    def is_terminal(self):
        return not isinstance(self.tree, tuple)

    def utility(self, player):
        return self.tree if player == "x" else -self.tree


game = NumberTree(((5, 9, 6), (3, 8, 7), (12, 4, 1)))
draw_tree(build_tree(game, (None, {
    0: (None, {0: 5, 1: 9, 2: 6}), 1: (None, {0: 3, 1: 8, 2: 7}), 2: (None, {0: 12, 1: 4, 2: 1}),
})))  # fmt: skip

# %% [markdown]
# A triangle that points upwards is MAX, one that points downwards is MIN, and a square is a terminal state. Find the minimax value with a pencil before you read on. Which numbers did you actually need?
#
# ## Alpha and beta
#
# To do this in a program, every node has to know what has already been established elsewhere. Two numbers are enough. They are passed down from node to node:
#
# * **alpha** is the value that MAX can already guarantee by another choice on the path from the root to this node. If this node turns out to be worth alpha or less, MAX will not come here.
# * **beta** is the same for MIN: by another choice on this path, MIN can already limit MAX to beta. If this node turns out to be worth beta or more, MIN will not come here.
#
# Only values strictly between alpha and beta are of interest. The pair is called the **window**. At the root nothing is known yet, and the window is (-∞, +∞).
#
# Follow the window while the search works through the tree from left to right:
#
# | where | what the search sees | what follows |
# |---|---|---|
# | root | window (-∞, +∞) | continue with move 0 |
# | after move 0 | 5, then 9, then 6 | MIN can get 5, and immediately lowers its beta to 5. The node is worth 5. |
# | root | a successor worth 5 | MAX is guaranteed 5: **alpha becomes 5** |
# | after move 1 | window (5, +∞); the first number is 3 | MIN can get 3 here, which is not more than alpha. **Cut**: 8 and 7 do not matter. |
# | after move 2 | window (5, +∞); the first number is 12 | The node is worth at most 12, which might still be better than 5. Beta becomes 12, and the search continues. |
# | after move 2 | window (5, 12); the next number is 4 | Not more than alpha. **Cut**: 1 does not matter. |
# | root | no move is left | The value is 5, by move 0. |
#
# Alpha never passes *sideways* from one node to the next: it always comes down from the root. That is how each of the last two MIN nodes knows the result of the branches before it.

# %%
draw_tree(build_tree(game, (5, {
    0: (5, {0: (5, {}, -inf, inf), 1: (9, {}, -inf, 5), 2: (6, {}, -inf, 5)}, -inf, inf),
    1: (3, {0: (3, {}, 5, inf)}, 5, inf),
    2: (4, {0: (12, {}, 5, inf), 1: (4, {}, 5, 12)}, 5, inf),
}, -inf, inf)))  # fmt: skip

# %% [markdown]
# Each node is labelled with the window with which it was *entered*. Ten nodes were visited, and three moves were cut.
#
# The values of the two MIN nodes with a cut deserve a second look. The true value of the node after move 2 is 1. The search returns 4, which only means *at most* 4, because it stopped as soon as that was enough.
# Never mistake such a bound for a value. The difference becomes important when two moves look equally good, as you will see below.
#
# ## Your turn: `AlphaBeta`
#
# Open `alphabeta.py`. The two methods are the same as in minimax, but `value` takes two more arguments, alpha and beta. In words:
#
# * A terminal state has its utility, whatever the window.
# * MAX examines its moves in order and remembers the best value so far. If that is at least beta, it returns immediately, because MIN will never come here. Otherwise it raises alpha to the best value if alpha was lower, and the next successor gets the new window.
# * MIN is the mirror image. It returns immediately if its best value is at most alpha; otherwise it lowers beta.
# * `search` starts at the root with the window (-∞, +∞). The root is a MAX node like any other and narrows its alpha from one move to the next.
#
# All students should count the same nodes, so the details matter. They are rules 7 and 8 in the docstring of `tictactoe/nodes.py`. In short: cut at *at least* beta and *at most* alpha, equality included; use no further tricks; and among equal moves the first one is kept.
#
# What should a node return after a cut? Ours returns the best value that it has found, which may lie outside the window. This is called **fail-soft** alpha-beta. A **fail-hard** search returns alpha or beta instead, so its result never leaves the window. Both find the same move and the same value at the root, but a fail-soft bound is at least as tight, which will be useful in study 4.
#
# Other courses count differently. The textbook cuts on equality, as we do. The multi-agent search project of Berkeley's CS188 forbids it: its autograder expects the set of states visited by a search that cuts only *beyond* alpha and beta.
# Both versions find the same value. If you have written that project, change `>` to `>=` and `<` to `<=` here. You will see below how much difference this makes.
#
# Try it on the tree of numbers. You know the answer: move 0, value 5, 10 nodes.

# %%
with Trace() as trace:
    print(AlphaBeta().search(game))
draw_tree(trace)

# %% [markdown]
# Then try it on the board from the beginning: move 4, value 1, 10 nodes.

# %%
with Trace() as trace:
    print(AlphaBeta().search(board))
draw_tree(trace)

# %% [markdown]
# Now try a larger position, with o to move. This time o is MAX, and every value is from o's view.
# Look for a cut at a MAX node. It is caused by a *beta*. Which node has set that beta, and to what value?

# %%
larger = Board("x__ox__xo")
with Trace() as trace:
    print(AlphaBeta().search(larger), "of", tree_size(larger), "nodes")
draw_tree(trace)

# %% [markdown]
# A cut is easier to understand at the moment when it happens. Step through the same search. When a move is cut, the line below the picture gives the reason: the value, and the alpha or beta that it has reached.

# %%
explore(AlphaBeta(), larger)

# %% [markdown]
# Trees with more than about twenty leaves do not fit on a page. `draw_tree(trace, most_leaves=12)` closes subtrees until the rest fits, and "… n more" is the number of nodes visited inside.
#
# Alpha-beta must find the same value as minimax in every state. Test it on all 4,520 states in which the game is not over:

# %%
unfinished = [b for b in values() if not b.is_terminal()]
wrong = [b for b in unfinished if AlphaBeta().search(b).value != value(b, b.to_move)]
print(f"{len(unfinished):,} states, {len(wrong)} wrong values")
wrong[0] if wrong else None

# %% [markdown]
# ## What your node count shows
#
# Correct values are the easy half. A search that cuts too little also finds correct values, but it is slow. The node count reveals this.

# %%
print(AlphaBeta().search(Board()))
print(AlphaBeta().search(Board("x________")))

# %% [markdown]
# The first should be 18,297, the second 2,338. If your first count is a different number, it is probably in this table:
#
# | nodes from the empty board | what happened |
# |---|---|
# | 18,296 | The root was not counted. |
# | 549,946 | Nothing was cut at all. |
# | 146,120 | The search cuts only when the value is strictly beyond alpha or beta. With only three values, most cuts come from *equality*: if MAX has a draw, and MIN can force a draw here too, this node is of no use to MAX. |
# | 30,710 | Every move at the root was searched with a fresh window (-∞, +∞). So the root never passed the values of earlier moves on to the search of later ones. |
# | 16,811 | The search began with the window (-1, +1). That is valid in a game whose utilities stay within these limits, and it is clever, because a forced win ends the search immediately. However, it is not what we count. |
#
# The last row shows something important: two correct programs can have two different counts. A count means nothing until its rules are written down.
#
# The check also uses trees of numbers. They have no draws and no largest utility.

# %%
check("study2.alpha_beta")

# %% [markdown]
# If a count is wrong and nothing in the table fits, look for the first node at which your search differs from a correct one. For a few small positions the course includes the record of a correct search: which nodes it visits, in which order, with which values.
# Here your search and the correct one run side by side. *First difference* jumps to the step at which they diverge. If they never do, a message reports that they agree.

# %%
public = Board("___xxoo__")
explore(AlphaBeta(), public, against=reference_search("AlphaBeta", public))

# %% [markdown]
# ## Why the order matters
#
# Take the board from the beginning and look at it in a mirror, left for right. A player sees the same position, but alpha-beta does not:

# %%
mirrored = Board("oox__x_xo")
with Trace() as trace:
    print(AlphaBeta().search(mirrored))
draw_tree(trace)

# %% [markdown]
# The search visits thirteen nodes instead of ten. The good move, 4, used to come first. Now it comes second, and the search had nothing to compare move 3 with.
# **A cut requires that a good move has already been searched.** So the earlier the good moves come, the more is cut.
#
# How much can the order save? The search gets its moves from the state, so a state can change the order without the search noticing.
# `Reordered` is a board that offers its moves sorted by any key we like. We compare four orders: the board's own, a shuffled one, the best move first, and the worst move first. A single shuffle may be lucky, so we use twelve.
# The last two orders cheat. They get the values from the solver, and these values are what the search is supposed to find. But they show what is possible.

# %%
@dataclass(frozen=True)
class Reordered:
    """A board whose legal moves come sorted by `key(board, move)`."""

    board: Board
    key: object

    @property
    def to_move(self):
        return self.board.to_move

    def legal_moves(self):
        return tuple(sorted(self.board.legal_moves(), key=lambda move: self.key(self.board, move)))

    def after(self, move):
        return Reordered(self.board.after(move), self.key)

    def is_terminal(self):
        return self.board.is_terminal()

    def utility(self, player):
        return self.board.utility(player)


def worth(board, move):
    """The value of a move to the player who makes it."""
    return value(board.after(move), board.to_move)


Reordered(Board("xoox__ox_"), worth).legal_moves()  # the losing moves first

# %% tags=["hide-input"]
def plot_counts(counts):
    """Plot the number of nodes from the empty board for each order."""
    axes = figure(height=3)
    bars = axes.barh(list(counts), list(counts.values()), height=0.6)
    axes.bar_label(bars, fmt="{:,.0f}", padding=4)
    axes.axvline(549_946, color="black", linestyle="--")
    axes.annotate("minimax: 549,946", (549_946, 0), (-6, 0), textcoords="offset points",
                  ha="right", va="center")
    axes.set(xlabel="nodes from the empty board (logarithmic)", xscale="log",
             xlim=(1_000, 800_000))
    return picture(axes, "Nodes from the empty board by the order of moves: " + ", ".join(
        f"{name} {count:,}" for name, count in counts.items())
        + "; minimax 549,946 in any order.")

# %%
def count(key):
    """The number of nodes from the empty board, with moves in this order."""
    return AlphaBeta().search(Reordered(Board(), key)).nodes


def shuffled(seed):
    """A random order, unrelated to the moves."""
    dice = Random(seed)
    return lambda board, move: dice.random()


shuffles = sorted(count(shuffled(seed)) for seed in range(12))
print("twelve shuffles:", *(f"{nodes:,}" for nodes in shuffles))
counts = {
    "best first": count(lambda board, move: -worth(board, move)),
    "shuffled, luckiest": shuffles[0],
    "shuffled, unluckiest": shuffles[-1],
    "board order": count(lambda board, move: move),
    "worst first": count(worth),
}
plot_counts(counts)

# %% [markdown]
# The search and the value are the same, but the worst order needs more than eighty times as many nodes as the best. The board's own order is nothing special: the twelve shuffles take 10,610 to 17,456 nodes, all fewer than its own 18,297. A single shuffle would not have shown much: the unluckiest takes 1.6 times as many nodes as the luckiest.
#
# Theory shows what is possible. In a tree with branching factor *b* in which all leaves are at depth *d*, minimax examines *b*<sup>*d*</sup> leaves.
# With the best move always first, alpha-beta examines about twice *b*<sup>*d*/2</sup> (Knuth and Moore 1975): the exponent is halved, so in the same time it searches *twice as deep*.
# With a poor order it may save nothing at all. The perfect order is not available in practice, because knowing it would leave nothing to search. But a cheap guess at good moves is very useful. Study 3 makes such a guess.
#
# ## The larger the tree, the larger the gain
#
# Is the exponent halved on our board? Suppose that minimax visits *n* nodes and alpha-beta *n*<sup>*e*</sup>. Then *e* is the ratio of the two logarithms.
# The next cell computes it from the mean node counts over all states with the same number of open cells. For minimax that is the size of the whole tree, for alpha-beta your own count.

# %% tags=["hide-input"]
def plot_exponents(points):
    """Plot alpha-beta's nodes against minimax's, with a line for the exponents 1 and 1/2."""
    axes = figure()
    axes.loglog(*zip(*points.values(), strict=True), linestyle="", markersize=8,
                label="1 to 9 open cells")
    axes.plot([1, 10**6], [1, 10**6], color="black", marker="", linestyle="--",
              label="exponent 1: nothing saved")
    axes.plot([1, 10**6], [1, 10**3], color="black", marker="", linestyle=":",
              label="exponent 1/2: halved")
    axes.set(xlabel="mean nodes, minimax (logarithmic)",
             ylabel="mean nodes, alpha-beta (logarithmic)")
    axes.legend()
    return picture(axes, "Mean nodes of minimax and alpha-beta: " + "; ".join(
        f"{n} open cells, {m:,.0f} and {a:,.0f}" for n, (m, a) in points.items())
        + ". The points are close to the line of exponent 1 at first, then fall below it.")

# %%
by_open_cells = {}
for b in unfinished:
    by_open_cells.setdefault(b.text.count("_"), []).append(b)
open_cells = sorted(by_open_cells)


def means(nodes_of):
    """The mean of `nodes_of(board)` for each number of open cells."""
    return [sum(map(nodes_of, by_open_cells[n])) / len(by_open_cells[n]) for n in open_cells]


minimax_means = means(tree_size)
alpha_beta_means = means(lambda b: AlphaBeta().search(b).nodes)
points = dict(zip(open_cells, zip(minimax_means, alpha_beta_means, strict=True), strict=True))
for n, (m, a) in points.items():
    print(f"{n} open cells: minimax {m:9,.0f} nodes, alpha-beta {a:8,.0f}, "
          f"exponent {log(a) / log(m):.2f}")
plot_exponents(points)

# %% [markdown]
# With one or two open cells there is no gain at all. A cut needs a branch to compare with and something left to skip. If alpha-beta only divided the number of nodes by a constant, the points would follow a line parallel to the upper one. Instead they fall further and further below it, so the exponent is smaller than 1.
# But it is not halved. From the empty board it is 0.74: our move order is far from perfect, and the branching factor falls with every move, so the formula for a constant *b* applies only roughly.
#
# ## Questions
#
# Answer in a few sentences each, in the cells below the questions. The reasons count more than the result.
#
# **1. How few nodes are enough?** Alpha-beta visits 10 nodes of the tree `((5, 9, 6), (3, 8, 7), (12, 4, 1))`. You may put the three branches in any order, and also the three numbers within each branch.
# Give an order with as few nodes as possible and state their number. Then show that no order needs fewer. You may add a cell to experiment.

# %% [markdown] answer="fewest-nodes"
# *Write your answer here.*

# %% [markdown]
# **2. Equal, or at most equal?** Look again at the mirrored board. Moves 4 and 6 return the same number to the root.
# A classmate replaces `>` by `>=` at MAX's nodes, so that the last of several best moves is chosen. In minimax this is harmless. Which move does the program play here, and what happens then? Use the signs in the picture to explain why the change is harmless in one search and not in the other.

# %% [markdown] answer="equal-or-at-most"
# *Write your answer here.*

# %% [markdown]
# **Think first: a narrower start.** Starting with the window (-1, +1) saves nodes and finds the correct value in tic-tac-toe. Why is that guaranteed? And what about the tree of numbers `((3, 8, 7), (5, 9, 6), (12, 4, 1))`? Its value is 5. Find out what `AlphaBeta().value(NumberTree(...), "x", -1, 1)` returns, explain the result, and describe what you may conclude from such a result if you do not know the value.
# Could it be useful to start with a window that might be too narrow?
#
# <details><summary>An answer</summary>
#
# No value of tic-tac-toe lies outside -1 to +1, so "at least +1" *is* +1, and "at most -1" is -1.
#
# On the tree of numbers the call returns 3 with move 0: the first MIN node is worth 3, which is not less than beta, so the root returns immediately (a fail-hard search would return 1). This only shows that the value is *at least* the number returned. It shows nothing about the move.
#
# And yes, it can be useful. With a good guess of the value, for example from a shallower search, a narrow window (an **aspiration window**) cuts more. If the result lies strictly inside, it is exact. If not, it shows on which side the window was too narrow, and the search is repeated with a wider one.
#
# </details>

# %% [markdown]
# **Sources**, in full in `course/bibliography.md`: Russell and Norvig 2021, section 5.2.3; Knuth
# and Moore 1975 for the best case; CS188 for the other way of counting.

# %% [markdown]
# ## Submit
#
# Save the module and all notebooks, then run this cell. It packs them into one file, `study2_alpha_beta.zip`, together with the pictures next to them, and lists what is still missing. Submit that file as your instructor asks.

# %% tags=["skip-execution"]
from course.submission import make_submission

make_submission("study2")
