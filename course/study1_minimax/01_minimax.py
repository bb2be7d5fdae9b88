# %% [markdown]
# # 1. Minimax
#
# You will write three agents that play tic-tac-toe without ever losing:
#
# * `Minimax` looks at every way the game can go on and plays the move that is best against the best replies.
# * `Tabular` computes the same values, but each position only once.
# * `MixedTabular` plays any of the best moves, so that nobody can foresee which.
#
# The ideas are those of *Artificial Intelligence: A Modern Approach*, 4th edition, sections 5.1 and 5.2 (Russell and Norvig 2021).
# You write into `minimax.py`, the file beside this notebook. The notebook shows what the code should do, tries it out and checks it.
# Cells that need code you have not written yet say so in one line. That is fine: carry on below them.

# %%
# %load_ext course.notebook
from collections import Counter
from time import perf_counter

from course.check import check
from course.plots import COLOURS, MARKERS, figure, picture
from tictactoe import Board, Random, Trace, match, play
from tictactoe.show.explorer import explore
from tictactoe.games.play import wilson_interval
from tictactoe.solver import value, values
from tictactoe.show.tree import by_hand, draw_tree
from tictactoe.show.play_board import play_against

from minimax import Minimax, MixedTabular, Tabular  # your module

# %% [markdown]
# The first line reloads your module whenever you have saved it, so you do not need to restart the kernel after an edit. Save first, though.
# The last line imports your module. If Python cannot load it, the cells that need it show the line of the mistake, and all other cells still run.
#
# ## The game, as a search sees it
#
# Two agents, x and o, move in turns. x begins. Both see the whole board, nothing is left to chance, and what one wins the other loses.
# Chess and Go are such games too, and a search that is written with care does not know which of them it is playing. It asks a *state* five questions:
#
# | question | in the code |
# |---|---|
# | Whose turn is it? | `state.to_move` |
# | Which moves are legal? | `state.legal_moves()` |
# | What does a move lead to? | `state.after(move)` |
# | Is the game over? (the *terminal test*) | `state.is_terminal()` |
# | If so, what is the end worth to a player? (the *utility*) | `state.utility(player)` |
#
# Our states are boards. A board is written as nine cells, row by row, and a move is the number of a cell, 0 to 8:

# %%
board = Board("x_oo_xox_")
print(board.to_move, "to move, open cells", board.legal_moves())
board

# %% [markdown]
# Boards do not change. `after` leaves the old board as it is and returns a new one.
# That takes some getting used to, but it makes a search simple: it can try a move, look around, and never has to take anything back.
# It also lets a board be the key of a dictionary, which we will need.

# %%
print(board.after(4), board, sep="\n\n")

# %% [markdown]
# The utility is +1 for a win, 0 for a draw and -1 for a loss. It is asked *for a player*: a game that x has won is worth +1 for x and -1 for o.
# Such a game is called *zero-sum*, and that is why one number per position is enough. Only an end has a utility. Asking an unfinished board for its utility is an error: nobody knows it yet.

# %%
end = Board("x_ooxxox_").after(8).after(1)
print(end)
end.is_terminal(), end.utility("x"), end.utility("o")

# %% [markdown]
# ## One position by hand
#
# Go back to the position `x_oo_xox_`. It is x's turn and three cells are open. Below is its whole *game tree*.
# The board at the top is the *root*, at depth 0. A line is a move, and every move, by either player, adds 1 to the depth. A board with a thick frame is terminal.
#
# The player to move at the root is called **MAX**, the opponent **MIN**. MAX wants a large number at the end, MIN a small one.
# The ends have their utility for MAX. All the other values are still open, hence the question marks.

# %%
draw_tree(by_hand(board, (None, {
    1: (None, {4: -1, 8: (None, {4: 1})}),
    4: (None, {1: (None, {8: 1}), 8: (None, {1: 1})}),
    8: (None, {1: (None, {4: 1}), 4: -1}),
})))  # fmt: skip

# %% [markdown]
# **Before you scroll on, take a pencil and replace the question marks.** Begin at the bottom.
#
# Take the left branch, x at 1. Now o chooses between two replies. Cell 4 completes o's diagonal and ends the game at -1.
# After cell 8, x has only cell 4 left, and that wins: +1. A sensible o does not let that happen. It takes the smaller number, so the board after move 1 is worth -1.
#
# The middle branch, x at 4, stops o's diagonal and threatens to win at 1 *and* at 8. Whichever o blocks, x takes the other. Both replies are worth +1, and even the smaller of two equal numbers is +1.
#
# The right branch is like the left one: o takes cell 4 and wins, -1.
#
# At the root x has the choice, and x wants the largest of -1, +1 and -1. So the position is worth +1, and the move is 4.

# %%
draw_tree(by_hand(board, (1, {
    1: (-1, {4: -1, 8: (1, {4: 1})}),
    4: (1, {1: (1, {8: 1}), 8: (1, {1: 1})}),
    8: (-1, {1: (1, {4: 1}), 4: -1}),
})))  # fmt: skip

# %% [markdown]
# That is all there is to it. The *minimax value* of a state is its utility if the game is over, the largest value among its successors where MAX moves, and the smallest where MIN moves.
#
# Two remarks, because both go wrong easily:
#
# * **All numbers are from MAX's view, at every depth.** Nothing changes its sign on the way up. MIN's turn differs only in which number is picked.
# * **The value is a promise, not a forecast.** +1 says: MAX can force a win whatever MIN does. Against somebody careless MAX might have won with another move as well.
#
# ## How large is the tree?
#
# The tree above has 14 nodes, and it starts close to the end. How large is the one that starts at the empty board?
# We can find out without any search, layer by layer. Each layer maps a board to the number of ways to reach it. Each way is a node of its own in the tree.

# %%
layers = [Counter({Board(): 1})]
while layers[-1]:
    following = Counter()
    for position, ways in layers[-1].items():
        for move in position.legal_moves():
            following[position.after(move)] += ways
    layers.append(following)
layers.pop()  # the last one is empty

print("depth     nodes  states    ends")
for depth, layer in enumerate(layers):
    ends = sum(ways for position, ways in layer.items() if position.is_terminal())
    print(f"{depth:5} {sum(layer.values()):9,} {len(layer):7,} {ends:7,}")

nodes = sum(sum(layer.values()) for layer in layers)
leaves = sum(w for layer in layers for position, w in layer.items() if position.is_terminal())
states = sum(map(len, layers))
print(f"{nodes:,} nodes, {leaves:,} of them ends; {states:,} different states")

# %% [markdown]
# 549,946 nodes, of which 255,168 are ends. But there are only 5,478 different states: the same board turns up again and again, because the same marks can be made in different orders.
# The plot has a logarithmic axis, so the gap between the curves is a factor.

# %%
axes = figure()
axes.semilogy([sum(layer.values()) for layer in layers], label="nodes of the tree")
axes.semilogy([len(layer) for layer in layers], label="different states", linestyle="--")
axes.set(xlabel="depth", ylabel="how many (logarithmic)")
axes.legend()
picture(axes, "Nodes and different states by depth. Nodes rise to 200,448 at depth 8 and end at "
              "127,872. States rise to 1,520 at depth 6 and fall to 78 at depth 9.")

# %% [markdown]
# ## Your turn: `Minimax`
#
# Open `minimax.py`. The class `Minimax` has two methods for you to fill in; read their docstrings first.
#
# * `value(state, player)` is the definition from above, turned into a function that calls itself. It returns a pair: the value of `state` for `player`, and the move that leads there. `player` is MAX, whether or not it is to move in `state`, and it stays the same all the way down.
# * `search(state)` starts it. The player to move in `state` becomes MAX. The result is a `Search`: the move, its value, and how many nodes were visited.
#
# How are nodes counted? The line `@counted` above `value` reports every entry to whoever is counting, and `NodeCounter` counts.
# So a node is one entry into `value`, and the root is one, too. The rules for nodes, depths and ties are written down once for the whole course, in the docstring of `tictactoe/nodes.py`. Rules 2, 3, 6 and 8 matter now.
#
# Rule 8 is about ties. Often several moves are equally good. The *first* of them counts, in the order of `legal_moves()`, for MAX and for MIN.
# This makes your answer comparable with everybody's.
#
# Try your code on the position that you know already. You should see move 4, value 1 and 14 nodes.
# Three numbers say little about what went wrong, so a `Trace` records what your `value` function visits and returns, and `draw_tree` draws it.
# Compare the picture with the one made by hand.
#
# A trace follows the calls: below a node stand the nodes that were visited after it was entered and before it returned.
# A `value` that calls itself for each successor draws the game tree in this way. One that goes through the game layer by layer, in a loop, does not nest: its trace shows every node directly below the root.
# That is no mistake, and its move, value and count may all be right. But such a picture does not show which position follows from which.

# %%
with Trace() as trace:
    print(Minimax().search(board))
draw_tree(trace)

# %% [markdown]
# The picture shows the finished tree. It does not show how the search went through it. The next cell does: it begins at the first leaf. Press *Next*, or the arrow keys on the tree, and follow your own search, step by step.
# A node is entered, then the nodes below it, and only when all of them are known does it return its value. Say what that value will be before you press *Next*. A click on a node takes you to the step at which it is entered.

# %%
explore(Minimax(), board)

# %% [markdown]
# Now the empty board. This takes a moment.

# %%
started = perf_counter()
print(Minimax().search(Board()))
print(f"{perf_counter() - started:.2f} seconds")

# %% [markdown]
# You should see value 0: with best play on both sides tic-tac-toe is a draw. The move is 0, the first of nine equally good ones, and the count is 549,946, as computed above.
# If you get 549,945, you started the search at the root's successors and forgot the root itself.
#
# The empty board is a poor test, though. A wrong agent can easily be right about a draw. The kit knows the exact value of every state. The next cell compares your values with it, on all states with at most five open cells:

# %%
small = [b for b in values() if b.text.count("_") <= 5 and not b.is_terminal()]
wrong = [b for b in small if Minimax().search(b).value != value(b, b.to_move)]
print(f"{len(small):,} states, {len(wrong)} wrong values")
wrong[0] if wrong else None

# %% [markdown]
# If there is a wrong one, the first of them is shown. Draw its tree with a `Trace`, as above, and look for the lowest node whose value is not what you would have written.
#
# The next cell asks your module some questions and tells you what to look at. It reads `minimax.py` as it is *saved*. Marks are given for the same questions about other positions. Move, value and count are marked separately.
# The last question is not about boards. `NumberTree` is a game that is nothing but its tree: a number is an end, with that utility for x, and a tuple has a move 0, 1, ... for each of its items. Your search should not notice the difference. (To try it out: `from course.probes.made_up import NumberTree`.)

# %%
check("study1.minimax")

# %% [markdown]
# ## Never compute anything twice: `Tabular`
#
# The tree has a hundred times as many nodes as there are states. So minimax computes the value of an average state a hundred times, and gets the same answer every time.
# It pays to keep a table.
#
# What should the table look like? A dictionary is the obvious choice, as a `Board` can be a key. But a value is *for a player*.
# The board alone as the key would do as long as MAX is the same player forever. An agent that plays x in one game and o in the next would then find values with the wrong sign.
# So the key is the pair `(state, player)`. What is kept is what `value` returns, the pair of value and move.
#
# The work is split between two methods:
#
# * `look_up(state, player)` finds the entry in the table. If it is missing, `value` has to compute it, once.
# * `value(state, player)` is minimax again, except that it asks `look_up` about the successors. It is `@counted`, `look_up` is not. So the count says how many states were *computed*, and a state that is found in the table costs no node.
#
# Which count do you expect for the empty board? And which if the same agent searches the same board again?

# %%
agent = Tabular()
started = perf_counter()
print(agent.search(Board()), "the first time")
print(agent.search(Board()), "the second time")
print(f"{perf_counter() - started:.3f} seconds, {len(agent.table):,} entries in the table")

# %% [markdown]
# The first search visits each state exactly once, the second visits nothing. Move and value must be the same as those of `Minimax`, ties included.
# A table is not free: it takes memory, and in chess there are far more states than any memory can hold. In tic-tac-toe it is a bargain.

# %%
check("study1.tabular")

# %% [markdown]
# ## Being unpredictable: `MixedTabular`
#
# `Tabular` always plays the first of the best moves. Whoever has seen one of its games knows all of them.
# A *mixed strategy* draws a move at random instead. `MixedTabular` draws only among moves that have the state's minimax value, each with the same probability. It is just as safe and less boring.
#
# It builds on `Tabular`, so its table is there already. You write two methods:
#
# * `best_moves(state)` lists *all* the best moves, in the order of `legal_moves()`. Take care whose view the values are from: a successor has another player to move, but the question is still how good it is for the player who moves in `state`.
# * `choose(state)` draws one of them with `self.random`. That generator gets its seed when the agent is made, so the same seed gives the same games. Do not use the `random` module itself: then nobody could repeat your experiment.
#
# An example. x has opened in the middle, and o is to move:

# %%
opening = Board("____x____")
print(opening, end="\n\n")
mixed = MixedTabular(seed=1)
draws = Counter(mixed.choose(opening) for _ in range(1000))
print("best moves:", mixed.best_moves(opening))
print("drawn:", dict(sorted(draws.items())))

# %% [markdown]
# The corners hold the draw; each of the other four cells loses. In 1,000 draws every corner should come up about 250 times.

# %%
check("study1.mixed_tabular")

# %% [markdown]
# ## Playing, and believing the result
#
# Begin with a game of your own. You are x: click a cell, or use the arrow keys and Enter. *Change sides* lets the agent begin. Can you beat it?
# *Show values* asks your own minimax what each of your moves is worth. It takes a while on the first moves. You can play on meanwhile.

# %%
play_against(Tabular(), values=Minimax())

# %% [markdown]
# `play` plays one game between two agents, and `match` plays many, in which the agents change sides.
#
# First an experiment that needs none of your code. If both sides play at random, how much is it worth to begin?

# %%
games = [play({"x": Random(2 * seed), "o": Random(2 * seed + 1)}) for seed in range(1600)]
points = [1 if game.winner == "x" else 0.5 if game.winner is None else 0 for game in games]
for sample in (25, 100, 400, 1600):
    score = sum(points[:sample]) / sample
    low, high = wilson_interval(score, sample)
    print(f"{sample:5} games: x scores {score:.3f}, 95 % interval {low:.3f} to {high:.3f}")

# %% [markdown]
# A win counts 1 and a draw 0.5, so a score of 0.5 means that beginning is worth nothing. The interval says which true scores fit what was seen. It is made so that about 95 out of 100 such intervals hold the true score. (It is made for wins and losses. Draws vary less, so here it is a little wider than it need be.)
#
# Look at how it shrinks: four times as many games make it about *half* as wide. And look at whether it contains 0.5. As long as it does, you cannot claim that x is better off, however nice the score looks.
# A result without its number of games and its interval is an anecdote.
#
# Now your agents against `Random`:

# %%
results = {
    "Tabular": match(Tabular(), Random(), games=400, seed=1),
    "MixedTabular": match(MixedTabular(seed=1), Random(), games=400, seed=1),
    "Random": match(Random(), Random(), games=400, seed=1),
}
for name, result in results.items():
    print(f"{name:>12}: {result}")

axes = figure(height=2.5)
for row, result in enumerate(results.values()):
    low, high = result.interval
    axes.errorbar(result.score, row, xerr=[[result.score - low], [high - result.score]],
                  color=COLOURS[row], marker=MARKERS[row], markersize=8, capsize=5)
axes.set(xlabel="score against Random in 400 games, with its 95 % interval", xlim=(0.4, 1),
         yticks=range(len(results)), yticklabels=list(results), ylim=(-0.5, 2.5))
picture(axes, "Scores against Random with 95 % intervals. " + "; ".join(
    f"{name} {result.score:.3f}, {result.interval[0]:.3f} to {result.interval[1]:.3f}"
    for name, result in results.items()))

# %% [markdown]
# What to look at:
#
# * Neither of your agents should have lost a single game. One loss is a mistake in the code: the value of the empty board is a promise.
# * They do not win every game either. A draw against `Random` is no error. Minimax never asks how *likely* the opponent is to go wrong.
# * Against each other they can only draw:

# %%
print(match(MixedTabular(seed=2), Tabular(), games=100))
play({"x": Tabular(), "o": Tabular()}).final

# %% [markdown]
# **Think first: when may a table be trusted?** `Tabular` uses a value that was computed after one order of moves for the same board reached by another.
# Which property of the game makes that right? Now change the rules: *nobody may mark a cell in the row of the opponent's last mark, and a player without a legal move has drawn*. Is `(state, player)`, with a `Board` as the state, still a good key? If not, what is the smallest thing that you would add to the state?
#
# <details><summary>An answer</summary>
#
# The value of a state depends only on how the game can go *on*: whose turn it is, the legal moves, their results, the utility of the ends. All of it can be read off the board, so the order of the moves makes no difference. (The game has the Markov property.)
#
# Under the changed rule the legal moves also depend on where the last mark was made, so one board can have two values, and the table would mix them up. The smallest thing to add is the *row* of the last mark. Which cell of the row it was does not matter, and whose turn it is follows from the number of marks.
#
# </details>

# %% [markdown]
# ## Questions
#
# Answer in a few sentences each, in the cells below the questions. A reason counts more than a result.
#
# **1. Whose view?** A classmate asks for the utility of an end from the view of the player to move there, `state.utility(state.to_move)`, and changes nothing else: MAX takes the largest value, MIN the smallest.
# Which numbers do the ends get in this way? What does the agent then take the empty board to be worth, and why? Name a kind of position in which it plays badly, and one in which it still plays well.

# %% [markdown] answer="whose-view"
# *Write your answer here.*

# %% [markdown]
# **2. A weak opponent.** Look at the scores of `Tabular` and `MixedTabular` against `Random`. All the moves they choose from have the same minimax value.
# May you say that one of the two agents is better against `Random`? How could one be, when the values are equal? Describe a rule for choosing among the best moves that would score higher against `Random`, and say what it would cost against a perfect opponent.

# %% [markdown] answer="weak-opponent"
# *Write your answer here.*

# %% [markdown]
# **Sources**, in full in `course/bibliography.md`: Russell and Norvig 2021, sections 5.1 and 5.2, for games and minimax; Wilson 1927 for the interval.

# %% [markdown]
# ## Hand in
#
# Save the module and all notebooks, then run this cell. It packs them into one file, `study1_minimax.zip`, with the pictures that lie next to them, and lists what is still missing. Hand that file in as your course says.

# %% tags=["skip-execution"]
from course.hand_in import hand_in

hand_in("study1")
