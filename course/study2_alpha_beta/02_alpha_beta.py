# %% [markdown]
# # 2. Alpha-beta
#
# Minimax visits 549,946 nodes before the first move of tic-tac-toe. Most of them cannot change anything.
# *Alpha-beta* finds the same move and the same value, and visits 18,297. It does not guess and it takes no risk: it skips a node only after it has proved that the node does not matter.
#
# You will write one class, `AlphaBeta`, in `alphabeta.py` beside this notebook. It does not need your module of study 1, so you can start here with a fresh mind.
# It is described in *Artificial Intelligence: A Modern Approach*, 4th edition, section 5.2.3 (Russell and Norvig 2021).

# %%
# %load_ext course.notebook
from dataclasses import dataclass
from functools import cache
from math import inf
from random import Random

from course.check import check
from course.plots import figure, picture
from course.recorded import reference_search
from tictactoe import Board, Trace
from tictactoe.show.explorer import explore
from tictactoe.solver import value, values
from tictactoe.show.tree import by_hand, draw_tree

from alphabeta import AlphaBeta  # your module

# %% [markdown]
# ## A node that cannot matter
#
# Here x is to move, and cells 4, 5 and 8 are open. As always, the player to move at the root is MAX, and all values are from MAX's view.
# The whole tree is easily counted: one node for the state, and the trees of its successors.

# %%
@cache
def tree_size(board):
    """How many nodes minimax visits from here."""
    return 1 + sum(tree_size(board.after(move)) for move in board.legal_moves())


board = Board("xoox__ox_")
print(tree_size(board), "nodes")
board

# %% [markdown]
# Suppose x has looked at cell 4 and everything below it. It stops o's diagonal and threatens to win at 5 and at 8. So x is sure of +1.
#
# Now x looks at cell 5. One possible reply is o at 4, and that wins for o: -1. There is another reply, o at 8. **Does x have to look at it?**
#
# No. The reply at 8 may be good for o or bad. If it is bad, o plays 4 instead. If it is even better, so much the worse for x. Whatever it is, move 5 is worth -1 or less, and x has +1 already.
# The same happens below cell 8: after o's reply at 4 nothing can save the move.
#
# The picture shows what is left of the tree. A dashed line with a double bar is a move that was *cut*: nobody looked at it. The sign ≤ says that only a bound is known. Move 5 is worth *at most* -1, and that is all x needs to know. (Ignore the pairs in parentheses for now. They are explained below.)

# %%
draw_tree(by_hand(board, (1, {
    4: (1, {5: (1, {8: (1, {}, -inf, inf)}, -inf, inf), 8: (1, {5: (1, {}, -inf, 1)}, -inf, 1)},
        -inf, inf),
    5: (-1, {4: (-1, {}, 1, inf)}, 1, inf),
    8: (-1, {4: (-1, {}, 1, inf)}, 1, inf),
}, -inf, inf)))  # fmt: skip

# %% [markdown]
# Two moves were cut, and 10 nodes are left of 14. That is not much, but the tree is tiny. A cut near the root of a large tree throws away everything below it.
#
# ## A game that is nothing but its tree
#
# Wins and draws make dull examples, as there are only three values. For practice we want any numbers we like.
# A search asks a state only whose turn it is, what the moves are, what they lead to, whether the game is over and what the end is worth. *Anything* that answers these five questions is a game:

# %%
@dataclass(frozen=True)
class NumberTree:
    """A number is an end, with that utility for x; a tuple has one move for each of its items."""

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
draw_tree(by_hand(game, (None, {
    0: (None, {0: 5, 1: 9, 2: 6}), 1: (None, {0: 3, 1: 8, 2: 7}), 2: (None, {0: 12, 1: 4, 2: 1}),
})))  # fmt: skip

# %% [markdown]
# A triangle that points upwards is MAX, one that points downwards is MIN, a square is an end. Find the minimax value with a pencil before you read on. Which numbers did you really need?
#
# ## Alpha and beta
#
# To do this in a program, every node has to know what is already settled elsewhere. Two numbers are enough. They are handed down from node to node:
#
# * **alpha** is what MAX can already be sure of, by some other choice on the way from the root to here. If this node turns out to be worth alpha or less, MAX will not come here.
# * **beta** is the same for MIN: MIN can already hold MAX down to beta. If this node turns out to be worth beta or more, MIN will not come here.
#
# Only values strictly between alpha and beta are of interest. The pair is called the *window*. At the root nothing is settled yet, and the window is (-∞, +∞).
#
# Watch the window while the search goes through the tree, from left to right:
#
# | where | what is seen there | what follows |
# |---|---|---|
# | root | window (-∞, +∞) | on to move 0 |
# | after move 0 | 5, then 9, then 6 | MIN can have 5, and lowers its beta to 5 at once. The node is worth 5. |
# | root | a successor worth 5 | MAX is sure of 5: **alpha becomes 5** |
# | after move 1 | window (5, +∞); the first end is 3 | MIN can have 3 here, which is not more than alpha. **Cut**: 8 and 7 do not matter. |
# | after move 2 | window (5, +∞); the first end is 12 | Worth at most 12, which might still be better than 5. Beta becomes 12, go on. |
# | after move 2 | window (5, 12); the next end is 4 | Not more than alpha. **Cut**: 1 does not matter. |
# | root | no move is left | The value is 5, by move 0. |
#
# Alpha never reached a node from the *side*: it came down from the root. That is why each of the two MIN nodes knew what had happened in the branch before it.

# %%
draw_tree(by_hand(game, (5, {
    0: (5, {0: (5, {}, -inf, inf), 1: (9, {}, -inf, 5), 2: (6, {}, -inf, 5)}, -inf, inf),
    1: (3, {0: (3, {}, 5, inf)}, 5, inf),
    2: (4, {0: (12, {}, 5, inf), 1: (4, {}, 5, 12)}, 5, inf),
}, -inf, inf)))  # fmt: skip

# %% [markdown]
# Below each node stands the window it was *entered* with. Ten nodes were visited, and three moves were cut.
#
# The values of the two MIN nodes with a cut deserve a second look. The true value of the node after move 2 is 1. The search says 4, or rather *at most* 4. It stopped as soon as that was enough.
# Never mistake such a bound for a value. It becomes important when two moves look equally good, as we shall see.
#
# ## Your turn: `AlphaBeta`
#
# Open `alphabeta.py`. The two methods are those of minimax, but `value` gets two more arguments, alpha and beta. In words:
#
# * An end has its utility, whatever the window.
# * MAX looks at its moves in order and remembers the best value so far. If that is at least beta, it returns at once: MIN will never come here. Otherwise, alpha rises to the best value if it was lower, and the next successor gets the new window.
# * MIN is the mirror image. It returns at once if its best value is at most alpha, otherwise it lowers beta.
# * `search` starts at the root with the window (-∞, +∞). The root is a MAX node like any other and narrows its alpha from one move to the next.
#
# All of us should count the same nodes, so the details matter. They are rules 7 and 8 in the docstring of `tictactoe/nodes.py`. In short: *at least* beta and *at most* alpha, equality included; no further tricks; and among equal moves the first one stays.
#
# Other courses count by other rules. The textbook cuts on equality, as we do. The project on multi-agent search of Berkeley's CS188 forbids it: its autograder expects the states that a search visits which cuts only *beyond* alpha and beta.
# Both find the same value. If you have written that project, change `>` to `>=` and `<` to `<=` here. You will see below what the difference is worth.
#
# Try it on the tree of numbers. You know the answer: move 0, value 5, 10 nodes.

# %%
with Trace() as trace:
    print(AlphaBeta().search(game))
draw_tree(trace)

# %% [markdown]
# The same on the board from the beginning: move 4, value 1, 10 nodes.

# %%
with Trace() as trace:
    print(AlphaBeta().search(board))
draw_tree(trace)

# %% [markdown]
# And on a larger one, with o to move. So o is MAX this time, and every value is from o's view.
# Look for a cut at a MAX node. It happens because of a *beta*. Which node has set that beta, and to what?

# %%
larger = Board("x__ox__xo")
with Trace() as trace:
    print(AlphaBeta().search(larger), "of", tree_size(larger), "nodes")
draw_tree(trace)

# %% [markdown]
# A cut is easier to understand at the moment when it happens. Step through the same search. Where a move is cut, the line below the picture gives the reason: the value, and the alpha or beta that it has reached.

# %%
explore(AlphaBeta(), larger)

# %% [markdown]
# Trees with more than some twenty ends do not fit on a page. `draw_tree(trace, most_leaves=12)` closes subtrees until the rest fits, and "… n more" says how many nodes were visited inside.
#
# Alpha-beta must find the value that minimax finds, in every state. Let us try all 4,520 that are not over:

# %%
unfinished = [b for b in values() if not b.is_terminal()]
wrong = [b for b in unfinished if AlphaBeta().search(b).value != value(b, b.to_move)]
print(f"{len(unfinished):,} states, {len(wrong)} wrong values")
wrong[0] if wrong else None

# %% [markdown]
# ## What your count says
#
# Right values are the easy half. A search that cuts too little is right as well, only slow. The count of nodes tells.

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
# | 146,120 | A cut needs the value to be strictly beyond alpha or beta. With only three values, most cuts come from *equality*: if MAX has a draw, and MIN can force a draw here too, this node is of no use to MAX. |
# | 30,710 | Every move at the root was searched with a fresh window (-∞, +∞). So the root never told its later moves what the earlier ones were worth. |
# | 16,811 | The search began with the window (-1, +1). That is allowed in a game whose utilities go no further, and it is clever: a forced win ends the search at once. It is not what we count, however. |
#
# The last line is a lesson in itself: two correct programs, and two different counts. A count means nothing until its rules are written down.
#
# The check asks about trees of numbers, too. There are no draws in them, and no largest utility.

# %%
check("study2.alpha_beta")

# %% [markdown]
# If a count is wrong and nothing in the table fits, look for the first node at which your search differs from a correct one. For some small positions the kit holds the correct search: which nodes, in which order, with which values.
# Here your search and the correct one run side by side. *First difference* jumps to where they part. If they never do, it says so.

# %%
public = Board("___xxoo__")
explore(AlphaBeta(), public, against=reference_search("AlphaBeta", public))

# %% [markdown]
# ## Why the order matters
#
# Take the board from the beginning and look at it in a mirror, left for right. It is the same position for any player. It is not the same for alpha-beta:

# %%
mirrored = Board("oox__x_xo")
with Trace() as trace:
    print(AlphaBeta().search(mirrored))
draw_tree(trace)

# %% [markdown]
# Thirteen nodes instead of ten. The good move, 4, used to come first. Now it comes second, and while the search looked at move 3 it had nothing to compare it with.
# **A cut needs a good move that has been seen already.** So the sooner the good moves come, the more is cut.
#
# How much can the order save? The search asks the state for the order, so a state can change the order without the search knowing.
# `Reordered` is a board that offers its moves sorted by any key we like. We compare four orders: the board's own, a shuffled one, the best move first, and the worst move first. One shuffle may be lucky, so we take twelve.
# The last two cheat. They ask the solver for the values, which is what the search is meant to find. They show what is possible.

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
    """What a move is worth to the player who makes it."""
    return value(board.after(move), board.to_move)


Reordered(Board("xoox__ox_"), worth).legal_moves()  # the losing moves first

# %%
def count(key):
    """The nodes from the empty board, with moves in this order."""
    return AlphaBeta().search(Reordered(Board(), key)).nodes


def shuffled(seed):
    """An order that has nothing to do with the moves."""
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
print(counts)

axes = figure(height=3)
bars = axes.barh(list(counts), list(counts.values()), height=0.6)
axes.bar_label(bars, fmt="{:,.0f}", padding=4)
axes.axvline(549_946, color="black", linestyle="--")
axes.annotate("minimax: 549,946", (549_946, 0), (-6, 0), textcoords="offset points",
              ha="right", va="center")
axes.set(xlabel="nodes from the empty board (logarithmic)", xscale="log", xlim=(1_000, 800_000))
picture(axes, "Nodes from the empty board by the order of moves: " + ", ".join(
    f"{name} {count:,}" for name, count in counts.items()) + "; minimax 549,946 in any order.")

# %% [markdown]
# The same search and the same value, but the worst order costs more than eighty times as many nodes as the best. The board's own order is nothing special: the twelve shuffles take 10,610 to 17,456 nodes, and each of them is below its 18,297. A single shuffle would have told you little: the unluckiest takes 1.6 times as many nodes as the luckiest.
#
# Theory says how far it can go. In a tree where every node has *b* successors and all ends are at depth *d*, minimax looks at *b*<sup>*d*</sup> ends.
# With the best move always first, alpha-beta looks at about twice *b*<sup>*d*/2</sup> (Knuth and Moore 1975): the exponent is halved, so in the same time it looks *twice as deep*.
# With a poor order it may save nothing at all. Nobody has the perfect order, since with it there would be nothing left to search. But a cheap guess at good moves is worth a lot. Study 3 makes such a guess.
#
# ## The larger the tree, the larger the gain
#
# Each point in the next plot is a mean over all states with so many open cells. For minimax it is the size of the whole tree, for alpha-beta your own count.

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

axes = figure()
axes.semilogy(open_cells, minimax_means, label="minimax")
axes.semilogy(open_cells, alpha_beta_means, label="alpha-beta", linestyle="--")
axes.set(xlabel="open cells", ylabel="mean nodes (logarithmic)")
axes.legend()
picture(axes, "Mean nodes by open cells, minimax and alpha-beta: " + "; ".join(
    f"{n} open, {m:,.0f} and {a:,.0f}"
    for n, m, a in zip(open_cells, minimax_means, alpha_beta_means, strict=True)) + ".")

# %% [markdown]
# On this axis a constant factor would be a constant distance between the curves. The distance grows: alpha-beta does not divide the nodes by some constant, it lowers the exponent.
# With one or two open cells there is no gain at all. A cut needs a branch to compare with and something left to skip.
#
# ## Questions
#
# Answer in a few sentences each, in the cells below the questions. A reason counts more than a result.
#
# **1. How few nodes can it be?** Alpha-beta visits 10 nodes of the tree `((5, 9, 6), (3, 8, 7), (12, 4, 1))`. You may put the three branches in any order, and the three numbers within each branch, too.
# Give an order with as few nodes as possible and say how many they are. Then show that no order can do with fewer. (What must *anybody* have seen who wants to prove that the value is 5?) You may try it out in a cell of your own.

# %% [markdown] answer="fewest-nodes"
# *Write your answer here.*

# %% [markdown]
# **2. Equal, or at most equal?** Look again at the mirrored board. Moves 4 and 6 come back to the root with the same number.
# A classmate replaces `>` by `>=` at MAX's nodes, so that the last of several best moves wins. In minimax this is harmless. Which move does it play here, and what happens then? Explain with the signs in the picture why it is harmless in one search and not in the other.

# %% [markdown] answer="equal-or-at-most"
# *Write your answer here.*

# %% [markdown]
# **Think first: a narrower start.** Starting with the window (-1, +1) saves nodes and finds the right value in tic-tac-toe. Why can it not go wrong there? And what about the tree of numbers `((3, 8, 7), (5, 9, 6), (12, 4, 1))`? Its value is 5. Find out what `AlphaBeta().value(NumberTree(...), "x", -1, 1)` returns, explain it, and say what you may conclude from such an answer if you do not know the value.
# Could it be useful to start with a window that might be too narrow?
#
# <details><summary>An answer</summary>
#
# No value of tic-tac-toe lies outside -1 to +1, so "at least +1" *is* +1, and "at most -1" is -1.
#
# On the tree of numbers the call returns 3 with move 0: the first MIN node is worth 3, which is not less than beta, so the root returns at once (1 instead of 3 if your search returns the bound). All that follows is that the value is *at least* this. About the move nothing follows.
#
# And yes, it can be useful. With a good guess of the value, say from a search that was less deep, a narrow window cuts more. If the result lies strictly inside, it is exact. If not, it tells on which side the window was too narrow, and one searches again.
#
# </details>

# %% [markdown]
# **Sources**, in full in `course/bibliography.md`: Russell and Norvig 2021, section 5.2.3; Knuth and Moore 1975 for the best case; CS188 for the other rule of counting.

# %% [markdown]
# ## Hand in
#
# Save the module and all notebooks, then run this cell. It packs them into one file, `study2_alpha_beta.zip`, with the pictures that lie next to them, and lists what is still missing. Hand that file in as your course says.

# %% tags=["skip-execution"]
from course.hand_in import hand_in

hand_in("study2")
