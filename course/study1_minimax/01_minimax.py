# %% [markdown]
# # 1. Minimax
#
# You will write three agents that play tic-tac-toe without ever losing:
#
# * `Minimax` examines every possible continuation and plays the move that is best against the best replies.
# * `Tabular` computes the same values, but each position only once.
# * `MixedTabular` draws one of the best moves at random, so that its choice cannot be predicted.
#
# The ideas are from *Artificial Intelligence: A Modern Approach*, 4th edition, sections 5.1 and 5.2 (Russell and Norvig 2021).
# You write your code in `minimax.py`, the file next to this notebook. The notebook explains what the code should do, tries it out and checks it.
# A cell that needs code you have not written yet prints a one-line message. That is fine: continue with the cells below it.

# %%
# %load_ext course.notebook
from collections import Counter
from time import perf_counter

from course.check import check
from course.plots import COLOURS, MARKERS, figure, picture
from tictactoe import Board, Random, Trace, match, play
from tictactoe.explorables.explorer import explore
from tictactoe.games.play import wilson_interval
from tictactoe.solver import value, values
from tictactoe.explorables.tree import build_tree, draw_tree
from tictactoe.boards.play_board import play_against

from minimax import Minimax, MixedTabular, Tabular  # your module

# %% [markdown]
# The first line of the cell above reloads your module whenever you save it, so you do not need to restart the kernel after an edit. Remember to save first.
# The last line imports your module. If Python cannot load it, the cells that need it show the line with the error, and all other cells still run.
#
# ## The game from the point of view of a search
#
# Two agents, x and o, take turns, and x begins. Both see the whole board (a game of **perfect information**), chance plays no part, and one player's gain is the other's loss.
# Chess and Go are such games too, and a carefully written search does not know which of them it is playing. It needs the answers to five questions about a **state**:
#
# | question | in the code | in the textbook |
# |---|---|---|
# | Whose turn is it? | `state.to_move` | TO-MOVE |
# | Which moves are legal? | `state.legal_moves()` | ACTIONS |
# | What does a move lead to? | `state.after(move)` | RESULT |
# | Is the game over? (the **terminal test**) | `state.is_terminal()` | IS-TERMINAL |
# | If so, what is the result worth to a player? (the **utility**) | `state.utility(player)` | UTILITY |
#
# The initial state, the moves and their results define the **state space**, the set of all states that can be reached (section 5.1 of the textbook).
# Our states are boards. A board is written as nine cells, row by row, and a move is the number of a cell, 0 to 8:

# %%
board = Board("x_oo_xox_")
print(board.to_move, "to move, open cells", board.legal_moves())
board

# %% [markdown]
# Boards are immutable. `after` leaves the old board unchanged and returns a new one.
# That takes some getting used to, but it makes a search simple: it can try a move, look ahead, and never has to undo anything.
# It also means that a board can be the key of a dictionary, which we will need.

# %%
print(board.after(4), board, sep="\n\n")

# %% [markdown]
# The utility is +1 for a win, 0 for a draw and -1 for a loss. It always belongs *to a player*: a game that x has won is worth +1 to x and -1 to o.
# Such a game is called a **zero-sum game**, and this is why one number per position is enough. Only a **terminal state**, in which the game is over, has a utility. Requesting the utility of an unfinished board is an error, because its value is not known yet.

# %%
end = Board("x_ooxxox_").after(8).after(1)
print(end)
end.is_terminal(), end.utility("x"), end.utility("o")

# %% [markdown]
# ## One position by hand
#
# Go back to the position `x_oo_xox_`. It is x's turn and three cells are open. The picture below shows its complete **game tree**, in which each board is a **node**.
# The board at the top is the **root**, at **depth** 0. Each line is a **ply**, one move by one player, and adds 1 to the depth. A board with a thick frame is terminal.
#
# The player to move at the root is called **MAX**, the opponent **MIN**. MAX wants the final number to be large, MIN wants it to be small.
# Each terminal state shows its utility for MAX. All other values are still unknown, hence the question marks.

# %%
draw_tree(build_tree(board, (None, {
    1: (None, {4: -1, 8: (None, {4: 1})}),
    4: (None, {1: (None, {8: 1}), 8: (None, {1: 1})}),
    8: (None, {1: (None, {4: 1}), 4: -1}),
})))  # fmt: skip

# %% [markdown]
# **Before you scroll on, take a pencil and replace the question marks.** Start at the bottom.
#
# Take the left branch, x at 1. Now o chooses between two replies. Cell 4 completes o's diagonal and ends the game with -1.
# After cell 8, x has only cell 4 left, which wins: +1. A sensible o does not let that happen. It picks the smaller number, so the board after move 1 is worth -1.
#
# The middle branch, x at 4, stops o's diagonal and threatens to win at 1 *and* at 8. Whichever cell o blocks, x takes the other. Both replies are worth +1, and the smaller of two equal numbers is still +1.
#
# The right branch is like the left one: o takes cell 4 and wins, -1.
#
# At the root it is x's choice, and x wants the largest of -1, +1 and -1. So the position is worth +1, and the move is 4.

# %%
draw_tree(build_tree(board, (1, {
    1: (-1, {4: -1, 8: (1, {4: 1})}),
    4: (1, {1: (1, {8: 1}), 8: (1, {1: 1})}),
    8: (-1, {1: (1, {4: 1}), 4: -1}),
})))  # fmt: skip

# %% [markdown]
# This is the complete algorithm. The **minimax value** of a state is its utility if the game is over, the largest value among its successors if MAX is to move, and the smallest if MIN is to move.
#
# Two remarks, because both points often go wrong:
#
# * **All numbers are from MAX's view, at every depth.** No sign changes on the way up. On MIN's turn, the only difference is which number is picked.
# * **The value is a guarantee, not a forecast.** +1 means that MAX can force a win whatever MIN does. Against a careless opponent MAX might also have won with another move.
#
# ## How large is the tree?
#
# The tree above has 14 nodes, and it starts close to the end of a game. How large is the tree that starts at the empty board?
# We can find out without any search, layer by layer. Each layer maps a board to the number of ways to reach it. Each way is a separate node of the tree.

# %%
layers = [Counter({Board(): 1})]
while layers[-1]:
    following = Counter()
    for position, ways in layers[-1].items():
        for move in position.legal_moves():
            following[position.after(move)] += ways
    layers.append(following)
layers.pop()  # the last one is empty

print("depth     nodes  states terminal")
for depth, layer in enumerate(layers):
    ends = sum(ways for position, ways in layer.items() if position.is_terminal())
    print(f"{depth:5} {sum(layer.values()):9,} {len(layer):7,} {ends:8,}")

nodes = sum(sum(layer.values()) for layer in layers)
leaves = sum(w for layer in layers for position, w in layer.items() if position.is_terminal())
states = sum(map(len, layers))
print(f"{nodes:,} nodes, {leaves:,} of them terminal; {states:,} different states")

# %% [markdown]
# The tree has 549,946 nodes, and 255,168 of them are terminal. But there are only 5,478 different states: the same board occurs again and again, because the same marks can be made in different orders.
# The number of successors of a node is its **branching factor** (section 3.3 of the textbook). Here it falls from nine to one as the board fills up. With a constant branching factor *b*, a tree of depth *m* has about *b* to the power of *m* leaves.
# The plot has a logarithmic axis, so the distance between the curves is a factor. (The code of plots is folded, here and in all notebooks: click the three dots to see it.)

# %% tags=["hide-input"]
axes = figure()
axes.semilogy([sum(layer.values()) for layer in layers], label="nodes of the tree")
axes.semilogy([len(layer) for layer in layers], label="different states", linestyle="--")
axes.set(xlabel="depth", ylabel="number (logarithmic)")
axes.legend()
picture(axes, "Nodes and different states by depth. Nodes rise to 200,448 at depth 8 and end at "
              "127,872. States rise to 1,520 at depth 6 and fall to 78 at depth 9.")

# %% [markdown]
# ## Your turn: `Minimax`
#
# Open `minimax.py`. The class `Minimax` has two methods for you to fill in; read their docstrings first.
#
# * `value(state, player)` is the definition from above, as a recursive function. It returns a pair: the value of `state` for `player`, and the move that leads there. `player` is MAX, whether or not it is to move in `state`, and it stays the same all the way down.
# * `search(state)` starts it. The player to move in `state` becomes MAX. The result is a `Search`: the move, its value, and how many nodes were visited.
#
# How are nodes counted? The decorator `@counted` above `value` reports every call to the active counters, and `NodeCounter` is such a counter.
# So a node is one call of `value`, and the root counts as well. The rules for nodes, depths and ties apply to the whole course and are in the docstring of `tictactoe/nodes.py`. Rules 2, 3, 6 and 8 matter now.
#
# Rule 8 is about ties. Often several moves are equally good. In that case the *first* of them in the order of `legal_moves()` is chosen, for MAX and for MIN.
# This makes your answer comparable with those of other students.
#
# Try your code on the position that you already know. You should see move 4, value 1 and 14 nodes.
# Three numbers do not show what went wrong, so a `Trace` records what your `value` function visits and returns, and `draw_tree` draws it.
# Compare the picture with the one drawn by hand.
#
# A trace follows the calls: the nodes below a node are those visited after it was entered and before it returned.
# If `value` calls itself for each successor, this draws the game tree. If it works through the game layer by layer in a loop, the calls are not nested, and the trace shows every node directly below the root.
# That is no mistake, and its move, value and count may all be correct. But such a picture does not show which position follows from which.

# %%
with Trace() as trace:
    print(Minimax().search(board))
draw_tree(trace)

# %% [markdown]
# The picture shows the finished tree, but not the order in which the search built it. The next cell does, starting at the first leaf. Press *Next*, or the arrow keys on the tree, and follow your own search step by step.
# First a node is entered, then the nodes below it, and only when all their values are known does the node return its own. Predict that value before you press *Next*. Click a node to jump to the step in which it is entered.

# %%
explore(Minimax(), board)

# %% [markdown]
# Now search the empty board. This takes a moment.

# %%
started = perf_counter()
print(Minimax().search(Board()))
print(f"{perf_counter() - started:.2f} seconds")

# %% [markdown]
# You should see value 0: with best play on both sides, tic-tac-toe is a draw. The move is 0, the first of nine equally good ones, and the count is 549,946, as computed above.
# If you get 549,945, you started the search at the root's successors and forgot to count the root itself.
#
# The empty board is a poor test, though. A wrong agent can easily be right about a draw. The solver in `tictactoe` knows the exact value of every state. The next cell compares your values with the solver's on all states with at most five open cells:

# %%
small = [b for b in values() if b.text.count("_") <= 5 and not b.is_terminal()]
wrong = [b for b in small if Minimax().search(b).value != value(b, b.to_move)]
print(f"{len(small):,} states, {len(wrong)} wrong values")
wrong[0] if wrong else None

# %% [markdown]
# If a value is wrong, the first such board is shown. Draw its tree with a `Trace`, as above, and look for the lowest node whose value is not what you would have written.
#
# The next cell calls your module on several positions and shows where to look if a result is wrong. It reads the *saved* version of `minimax.py`. Marks are awarded for the same kind of test on other positions, and move, value and count are marked separately.
# The last test does not use boards. `NumberTree` is a game that consists only of its tree: a number is a terminal state with that utility for x, and a tuple has a move 0, 1, ... for each of its items. Your search should not notice the difference. (To try it out: `from course.checks.toy_games import NumberTree`.)

# %%
check("study1.minimax")

# %% [markdown]
# ## Never compute anything twice: `Tabular`
#
# The tree has a hundred times as many nodes as there are states. So minimax computes the value of an average state a hundred times and gets the same result every time.
# It is better to store the results in a table.
#
# What should the table look like? A dictionary is the obvious choice, because a `Board` can be a key. But a value belongs *to a player*.
# The board alone would be a sufficient key if MAX were always the same player. An agent that plays x in one game and o in the next would then find values with the wrong sign.
# So the key is the pair `(state, player)`. The table stores what `value` returns, the pair of value and move.
#
# The work is split between two methods:
#
# * `look_up(state, player)` finds the entry in the table. If it is missing, `value` has to compute it, once.
# * `value(state, player)` is minimax again, except that it calls `look_up` for the successors. `value` is `@counted`, but `look_up` is not. So the count is the number of states that were *computed*, and finding a state in the table does not count as a node.
#
# Which count do you expect for the empty board? And what do you expect if the same agent searches the same board again?

# %%
agent = Tabular()
started = perf_counter()
print(agent.search(Board()), "the first time")
print(agent.search(Board()), "the second time")
print(f"{perf_counter() - started:.3f} seconds, {len(agent.table):,} entries in the table")

# %% [markdown]
# The first search visits each state exactly once, and the second visits nothing. Move and value must be the same as those of `Minimax`, including ties.
# A table is not free. It takes memory, and in chess there are far more states than any memory can hold. For tic-tac-toe the table is small.

# %%
check("study1.tabular")

# %% [markdown]
# ## Being unpredictable: `MixedTabular`
#
# A function from states to moves is called a **policy** (section 17.1 of the textbook). The policy of `Tabular` is deterministic: it always plays the first of the best moves, so an opponent who has seen one of its games knows every game.
# A *mixed strategy* draws a move at random instead. `MixedTabular` draws only among moves that have the state's minimax value, each with the same probability. It is just as safe and less predictable.
#
# It builds on `Tabular`, so its table is there already. You write two methods:
#
# * `best_moves(state)` lists *all* the best moves, in the order of `legal_moves()`. Pay attention to whose view the values are from: a different player is to move in a successor, but you still want to know how good it is for the player who moves in `state`.
# * `choose(state)` draws one of them with `self.random`. That generator is seeded when the agent is created, so the same seed gives the same games. Do not use the `random` module directly, because then your experiment could not be repeated.
#
# Here is an example. x has opened in the middle, and o is to move:

# %%
opening = Board("____x____")
print(opening, end="\n\n")
mixed = MixedTabular(seed=1)
draws = Counter(mixed.choose(opening) for _ in range(1000))
print("best moves:", mixed.best_moves(opening))
print("drawn:", dict(sorted(draws.items())))

# %% [markdown]
# The corners keep the draw, and each of the other four cells loses. In 1,000 draws every corner should come up about 250 times.

# %%
check("study1.mixed_tabular")

# %% [markdown]
# ## Playing, and trusting the result
#
# Start by playing against it yourself. You are x: click a cell, or use the arrow keys and Enter. *Change sides* lets the agent begin. Can you beat it?
# *Show values* uses your own minimax to show the value of each of your moves. It takes a while on the first moves, but you can continue to play meanwhile.

# %%
play_against(Tabular(), values=Minimax())

# %% [markdown]
# `play` plays one game between two agents, and `match` plays many games, in which the agents alternate sides.
#
# The first experiment needs none of your code. If both sides play at random, how large is the advantage of moving first?

# %%
games = [play({"x": Random(2 * seed), "o": Random(2 * seed + 1)}) for seed in range(1600)]
points = [1 if game.winner == "x" else 0.5 if game.winner is None else 0 for game in games]
for sample in (25, 100, 400, 1600):
    score = sum(points[:sample]) / sample
    low, high = wilson_interval(score, sample)
    print(f"{sample:5} games: x scores {score:.3f}, 95 % interval {low:.3f} to {high:.3f}")

# %% [markdown]
# A win counts as 1 and a draw as 0.5, so a score of 0.5 means that moving first is no advantage. The **confidence interval** contains the true scores that are compatible with the result. Four times as many games make it about *half* as wide.
# As long as it contains 0.5, you cannot claim that x has an advantage, however good the score looks. A result without its number of games and its interval is an anecdote.
# `course/statistics.md` explains such intervals, the number of games that a result needs, and how to compare two results. It takes about 15 minutes to read, and all later notebooks build on it.
#
# Now let your agents play against `Random`:

# %% tags=["hide-input"]
def plot_scores(results):
    """Plot the score of each match with its interval."""
    axes = figure(height=2.5)
    for row, result in enumerate(results.values()):
        low, high = result.interval
        axes.errorbar(result.score, row, xerr=[[result.score - low], [high - result.score]],
                      color=COLOURS[row], marker=MARKERS[row], markersize=8, capsize=5)
    axes.set(xlabel="score against Random in 400 games, with its 95 % interval", xlim=(0.4, 1),
             yticks=range(len(results)), yticklabels=list(results), ylim=(-0.5, 2.5))
    return picture(axes, "Scores against Random with 95 % intervals. " + "; ".join(
        f"{name} {result.score:.3f}, {result.interval[0]:.3f} to {result.interval[1]:.3f}"
        for name, result in results.items()))

# %%
results = {
    "Tabular": match(Tabular(), Random(), games=400, seed=1),
    "MixedTabular": match(MixedTabular(seed=1), Random(), games=400, seed=1),
    "Random": match(Random(), Random(), games=400, seed=1),
}
for name, result in results.items():
    print(f"{name:>12}: {result}")
plot_scores(results)

# %% [markdown]
# What to look for:
#
# * Neither of your agents should have lost a single game. One loss means a mistake in the code, because the value of the empty board is a guarantee.
# * They do not win every game either. A draw against `Random` is not an error. Minimax never considers how *likely* the opponent is to make a mistake.
# * Against each other they can only draw:

# %%
print(match(MixedTabular(seed=2), Tabular(), games=100))
play({"x": Tabular(), "o": Tabular()}).final

# %% [markdown]
# **Think first: when may a table be trusted?** `Tabular` uses a value that was computed after one order of moves for the same board reached by another order.
# Which property of the game makes that correct? Now change the rules: *a player may not mark a cell in the row of the opponent's last mark, and if the player to move has no legal move, the game is a draw*. Is `(state, player)`, with a `Board` as the state, still a good key? If not, what is the smallest thing that you would add to the state?
#
# <details><summary>An answer</summary>
#
# The value of a state depends only on how the game can *continue*: whose turn it is, the legal moves, their results, and the utilities of the terminal states. The board determines all of this, so the order of the moves makes no difference. (The game has the Markov property.)
#
# Under the changed rule the legal moves also depend on the position of the last mark, so one board can have two values, and the table would confuse them. The smallest addition is the *row* of the last mark. The exact cell does not matter, and whose turn it is follows from the number of marks.
#
# </details>

# %% [markdown]
# ## Questions
#
# Answer in a few sentences each, in the cells below the questions. The reasons count more than the result.
#
# **1. Whose view?** A classmate uses the utility of a terminal state from the view of the player to move there, `state.utility(state.to_move)`, and changes nothing else: MAX takes the largest value, MIN the smallest.
# Which numbers do the terminal states get in this way? Which value does the agent then compute for the empty board, and why? Describe a kind of position in which it plays badly, and one in which it still plays well.

# %% [markdown] answer="whose-view"
# *Write your answer here.*

# %% [markdown]
# **2. A weak opponent.** Look at the scores of `Tabular` and `MixedTabular` against `Random`. All the moves they choose from have the same minimax value.
# Can you conclude that one of the two agents is better against `Random`? If not, what would you
# need? How could one be better although the values are equal? Describe a rule for choosing among
# the best moves that would score higher against `Random`, and explain what it would cost against a
# perfect opponent.

# %% [markdown] answer="weak-opponent"
# *Write your answer here.*

# %% [markdown]
# **Sources**, in full in `course/bibliography.md`: Russell and Norvig 2021, sections 5.1 and 5.2 for games and minimax, 3.3 for the branching factor, 17.1 for policies; Wilson 1927 for the interval.

# %% [markdown]
# ## Submit
#
# Save the module and all notebooks, then run this cell. It packs them into one file, `study1_minimax.zip`, together with the pictures next to them, and lists what is still missing. Submit that file as your instructor asks.

# %% tags=["skip-execution"]
from course.submission import make_submission

make_submission("study1")
