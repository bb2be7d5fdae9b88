# %% [markdown]
# # 3. The lane heuristic
#
# Minimax asks one question of a finished game: who has won? This notebook asks a harder one of an
# unfinished game: who is *going* to win? We want an answer without searching.
#
# You will write two functions in `heuristic.py`, the file beside this notebook: `lane_counts` and
# `heuristic`. Open it in a second tab. Save it after a change and run a cell again: the first cell
# below makes the notebook notice.

# %%
# %load_ext course.notebook
from collections import Counter

from course.check import check
from course.plots import boards, figure, picture
from tictactoe import Board, WinOrBlock, opponent
from tictactoe.show.play_board import play_against
from tictactoe.solver import value, values

from heuristic import heuristic, lane_counts

# %% [markdown]
# ## Too many games
#
# In 1950 Claude Shannon asked how a machine could play chess. First he worked out why it cannot
# simply look at everything. In a middle game a player has about 30 legal moves, so one move by each
# side gives about a thousand possibilities. Take 40 moves by each side as a typical game. How long
# would it take to look at every game, one each microsecond?

# %%
games = (10**3) ** 40
games_a_year = 10**6 * 365 * 24 * 3600
print(f"{games:.0e} games, {games / games_a_year:.0e} years")

# %% [markdown]
# Shannon's paper says "over 10^90 years" for the same 10^120 games. Both are right: he gives a bound,
# without the steps that lead to it, and ours is the plain division. A year has 3 x 10^13
# microseconds, so his number could have been larger by sixteen zeros. It makes no difference. A
# machine that is a billion times faster takes nine zeros off the years. It does not help.
#
# So the search has to stop before the games do, and something has to say what the unfinished
# positions are worth. Shannon (1950) described two kinds of search that do this, **Type A** and
# **Type B**. The course that this study follows (Mayfield 2025) calls the agent of this study Type
# A, and so do we. Is that what Shannon meant by it? Keep the question in mind: you will answer it
# in notebook 5. Our Type A agent has three parts, and each gets a notebook.
#
# * Notebook 3: the estimate.
# * Notebook 4: where it is safe to stop.
# * Notebook 5: which move to look at first.
#
# Tic-tac-toe does not need any of it; you could search it to the end. That is why we use it. We
# know the exact value of every position, so we can see how good a guess is. In chess nobody can.

# %% [markdown]
# ## What an evaluation must do
#
# An **evaluation** takes a state and a player and returns a number. Three things are asked of it.
#
# 1. **It must fit the ends.** A won game is worth +1, a lost one -1; a search takes these utilities
#    from the state and does not evaluate. An unfinished game has to lie strictly between: no
#    promise may count as much as a win in the hand. (Shannon's example for chess gives the king
#    more points than everything else together.)
# 2. **It must follow the chances.** The better the position, the larger the number. It need not be
#    right each time, but it has to be right more often than not.
# 3. **It must be cheap.** It runs at every place where the search stops. If it takes long, we could
#    have searched deeper instead.
#
# ## Lanes
#
# What makes a tic-tac-toe position good? Marks that can still become three in a line. Call each
# line in which one can win a **lane**. There are eight: three rows, three columns, two diagonals.
# `Board` has them as `lanes`, each a tuple of three cells.

# %%
boards([Board()] * 8, Board.lanes, lanes=Board.lanes)

# %% [markdown]
# A lane with marks of both players is **dead**: nobody can win there any more. A lane without marks
# says nothing about either player. The others belong to one player. Four counts sum them up, seen
# by *our* player (P) against the opponent (O):
#
# | count | lanes with ... |
# |---|---|
# | P2 | two marks of our player and nothing else |
# | P1 | one mark of our player and nothing else |
# | O2 | two marks of the opponent and nothing else |
# | O1 | one mark of the opponent and nothing else |
#
# A pair is worth more than a single mark. An exercise in the third edition of the textbook makes it
# three times as much (Russell and Norvig 2010, exercise 5.9):
#
# > **H = (3 P2 + P1) - (3 O2 + O1)**
#
# ## By hand
#
# Here is a position. Let x be our player. Take a pencil: find P2, P1, O2 and O1 before you go on.

# %%
board = Board("xx_o_o___")
board

# %% [markdown]
# Go through the lanes one by one: three rows, then three columns, then two diagonals.

# %%
belongs_to = ["row: P2", "row: O2", "row: no marks", "column: dead",
              "column: P1", "column: O1", "diagonal: P1", "diagonal: no marks"]
boards([board] * 8, belongs_to, lanes=board.lanes)

# %% [markdown]
# So P2 = 1, P1 = 2, O2 = 1, O1 = 1, and H = (3 + 2) - (3 + 1) = 1. For o the same position gives H
# = -1: swap the players and every sign changes. That is as it should be, since what one player
# wins the other loses.
#
# Look again, though. It is x's turn, and cell 2 wins on the spot. "A little better for x" is a poor
# description. H looks at the marks; it does not look ahead. Notebook 4 is about this.
#
# ## Write `lane_counts`
#
# `lane_counts(state, player)` returns the pair `(two, one)` for one player. Called for our player
# it gives P2 and P1, called for the opponent O2 and O1, so one function does for all four.
#
# * `state.lanes` lists the lanes, `state[cell]` is `"x"`, `"o"` or `EMPTY`.
# * Take the lanes from the state. Then the function also works on a board of another shape.
# * Only open lanes count. One mark of the other player, and the lane is dead.
#
# Try it on the position above. You know the answers.

# %%
lane_counts(board, "x"), lane_counts(board, "o")

# %% [markdown]
# And on some corner cases. Say what you expect first: nothing on the board; a full lane, which is
# neither a pair nor a single mark; and a board on which everything is dead.

# %%
[lane_counts(Board(text), "x") for text in ("_________", "xxxoo____", "xoxxoxoxo")]

# %%
check("study3.lane_counts")

# %% [markdown]
# ## Write `heuristic`
#
# H is a whole number, often larger than 1, and rule 1 wants numbers between -1 and +1. So divide.
# We divide by 10; why 10 is the question of the next section.
#
# One warning. It is tempting to put the tenths into the formula: 0.3 for a pair, 0.1 for a single
# mark. Take one pair against three single marks. The two sides are level, so the result should be
# 0.

# %%
print(3 * 1 - 1 * 3, "in whole numbers")
print(0.3 * 1 - 0.1 * 3, "in tenths")

# %% [markdown]
# A tenth has no exact binary form, and the errors do not cancel. A search compares values and asks
# which is *greater*; for it, a difference in the seventeenth digit is a difference. So work in
# whole numbers and divide once, at the end. This is rule 6 in the docstring of `tictactoe.nodes`,
# where all rules of counting and comparing are kept. Have a look at it now: `import
# tictactoe.nodes` and `help(tictactoe.nodes)`.
#
# `heuristic(state, player)` returns H divided by 10, from the view of `player`. For our position it
# should say 0.1 and -0.1.

# %%
heuristic(board, "x"), heuristic(board, "o")

# %% [markdown]
# Now let it judge the first move. There are only three kinds: corner, edge, centre. Most people
# begin in the centre. Does the heuristic agree, and can you say why from the lanes alone?

# %%
openings = [Board().after(cell) for cell in (0, 1, 4)]
boards(openings, [f"{heuristic(opening, 'x'):+.1f} for x" for opening in openings])

# %%
check("study3.heuristic")

# %% [markdown]
# Play with your heuristic at hand. *Show values* writes on each of your moves what it gives the
# position after the move, from your view; a move that ends the game has its utility. Look before
# each move: would you have chosen the same?

# %%
play_against(WinOrBlock(seed=1), values=heuristic)

# %% [markdown]
# ## Why ten?
#
# Rule 1 wants -1 < H/n < 1 for every unfinished position, so n must be larger than the greatest
# |H|. One can reason about it. One can also count, for the game is small: `values()` holds all
# reachable boards.

# %%
positions = [state for state in values() if not state.is_terminal()]
print(f"{len(values()):,} reachable boards, {len(positions):,} of them unfinished")


def h(state):
    """H from x's view, as a whole number."""
    return round(10 * heuristic(state, "x"))

# %%
how_many = Counter(h(state) for state in positions)
least, greatest = min(how_many), max(how_many)
print("least", least, "greatest", greatest)

axes = figure(7.5, 3.6)
axes.bar(how_many.keys(), how_many.values(), width=0.8)
axes.set(xlabel="H from x's view", ylabel="unfinished positions",
         title="H of every unfinished position")
axes.set_xticks(range(least, greatest + 1))
picture(axes, "Histogram of H from x's view over all unfinished positions. Most lie between -3 and "
        f"+5, the highest bar is at 0. The least value, {least}, occurs {how_many[least]} times, "
        f"the greatest, {greatest}, occurs {how_many[greatest]} times.")

# %% [markdown]
# Before you read on, look at the shape. It is not symmetric. Why should x reach higher values than
# o?
#
# Now the far right end. Which positions are these?

# %%
limit = max(abs(h(state)) for state in positions)
extremes = [state for state in positions if abs(h(state)) == limit]
boards(extremes, [f"H = {h(state)}\nexact value {value(state, 'x'):+d}" for state in extremes])

# %% [markdown]
# There are exactly four, and they are one position turned around. x has three pairs and a single
# mark; o has nothing. Two players who know the game will hardly get there, but a search does not
# ask who is sensible. It looks at everything.
#
# Here H/10 is exactly 1. Strictly less was asked. So ten is, strictly speaking, too small: a
# promise counts as much as a win.
#
# Does it hurt? Not in these four: x wins them anyway. Elsewhere it depends on which positions a
# search evaluates. The Type A agent of the next notebook does not evaluate all of them, but only
# those where nobody is about to win: where neither player has two marks and an empty cell in a
# lane.

# %% [markdown]
# **Question.** Suppose that a classmate divides by 2 instead of 10, and you divide by 1000. All
# three are Type A agents. (a) Find the largest |H| on the positions that such an agent evaluates
# (add a cell; `lane_counts` tells where nobody is about to win). Can your agent and one that
# divides by 10 ever choose different moves? (b) Your classmate's agent: describe a choice between
# two moves in which it goes wrong. (c) What is the smallest whole divisor that is certainly safe
# for this agent? Which property of a divisor matters, then, and which does not?

# %% [markdown] answer="why-ten"
# *Write your answer here.*

# %% [markdown]
# ## How good a guess is it?
#
# Rule 2: the estimate must follow the chances. We have the exact value of every position from
# `tictactoe.solver`, so let us see. Take each unfinished position from the view of the player who
# is to move. Is H negative, zero or positive? And is the position lost, drawn or won?

# %%
guesses = Counter()
for state in positions:
    mover = state.to_move
    guesses[round(10 * heuristic(state, mover)), value(state, mover)] += 1

for name, wanted in (("H < 0", lambda n: n < 0), ("H = 0", lambda n: n == 0),
                     ("H > 0", lambda n: n > 0)):
    lost, drawn, won = (sum(count for (n, exact), count in guesses.items()
                            if wanted(n) and exact == outcome) for outcome in (-1, 0, 1))
    print(f"{name}: {lost:5,} lost {drawn:5,} drawn {won:5,} won")

axes = figure(8, 3.8)
scale = sorted({n for n, _ in guesses})
total = [sum(guesses[n, exact] for exact in (-1, 0, 1)) for n in scale]
bottom = [0.0] * len(scale)
for exact, name, colour, hatch in ((-1, "lost", "#E69F00", "//"), (0, "drawn", "#dddddd", ""),
                                   (1, "won", "#0072B2", "..")):
    share = [guesses[n, exact] / all_of_them
             for n, all_of_them in zip(scale, total, strict=True)]
    axes.bar(scale, share, bottom=bottom, label=name, color=colour, hatch=hatch,
             edgecolor="white", width=0.9)
    bottom = [low + part for low, part in zip(bottom, share, strict=True)]
axes.set(xlabel="H from the view of the player to move", ylabel="share of positions",
         title="What the positions are really worth")
axes.set_xticks(scale[::2])
axes.figure.legend(loc="outside right upper")
picture(axes, "Stacked bars: for every H from the view of the player to move, the share of "
        "positions that are really lost, drawn and won. From H = 1 on nearly all are won, up to -7 "
        "all are lost; between them lie lost, drawn and won positions side by side.")

# %% [markdown]
# The right half is very good. If you are to move and H is positive, you nearly always win.
#
# The left half is odd. At the far end all is lost, as it should be. But from -6 to -1 you find
# lost, drawn and won positions side by side. The opponent has more and better lanes there, and
# still more of these positions are won than lost!

# %% [markdown]
# **Question.** Explain the middle, from -6 to -1. What does H leave out that makes it so unreliable
# when it is a little negative, and why does the same thing make it so reliable when it is positive?
# Give one position as an example (draw it with `Board("...")`). Then say how you would change the
# formula, and what your change would cost.

# %% [markdown] answer="whose-move"
# *Write your answer here.*

# %% [markdown]
# ## Three and one?
#
# Somebody chose the weights, 3 for a pair and 1 for a single mark. Here we can ask the game. Take two
# of the unfinished positions, from the views of those who are to move, such that one is really better
# than the other: won against drawn, say. How often does the better one have the higher H? (If both have
# the same H, count one half.) With weights that know nothing it would be 0.5.
#
# **Guess** first: is 3 to 1 the best ratio? What do you get if a pair weighs no more than a single
# mark, and what if only pairs count? Then add weights of your own.

# %%
kinds = Counter()
for state in positions:
    mover = state.to_move
    own_two, own_one = lane_counts(state, mover)
    two, one = lane_counts(state, opponent(mover))
    kinds[own_two - two, own_one - one, value(state, mover)] += 1


def agreement(pair, single):
    """How often the better of two positions has the higher H, with these weights."""
    right = among = 0
    for (two, one, exact), count in kinds.items():
        for (other_two, other_one, other_exact), others in kinds.items():
            if exact > other_exact:
                more = pair * (two - other_two) + single * (one - other_one)
                right += count * others * (1 if more > 0 else 0.5 if more == 0 else 0)
                among += count * others
    return right / among


for pair, single in ((0, 1), (1, 1), (2, 1), (3, 1), (4, 1), (10, 1), (1, 0)):
    print(f"{pair:2} for a pair, {single} for a single mark: {agreement(pair, single):.3f}")

# %% [markdown]
# <details><summary>What you should have seen</summary>
#
# Single marks alone are worse than a coin. What matters is that a pair outweighs a single mark clearly:
# from 3 to 1 on the ratio hardly changes anything, and 4 to 1 does best, by very little. So the numbers
# 3 and 1 are good ones, and nothing special. Even the best two weights are right in fewer than nine of
# ten cases. Something else is missing.
#
# </details>
#
# **Think first.** In *Qubic* one plays on a cube of 4 x 4 x 4 cells, and four in a line win. There are
# 76 lanes. Which counts would a lane heuristic have there? What weights would you try, and on what
# grounds? How would you find a divisor that is certainly large enough, when there are far too many
# positions to count?
#
# <details><summary>An answer</summary>
#
# Three own marks, two and one, and the same for the opponent: a count for every number short of a
# full lane. Three in a lane threatens a win, so it should weigh much more than two, and two more
# than one. Good weights can be fitted to games; notebook 8 learns some.
#
# A divisor that is certainly large enough needs no counting of positions: each of the 76 lanes adds
# at most the largest weight, so any number above 76 times that weight will do.
#
# </details>

# %% [markdown]
# **Sources**, in full in `course/bibliography.md`: Shannon 1950, sections 2 and 3, for the numbers and
# the evaluation; Russell and Norvig 2010, exercise 5.9, for H; Mayfield 2025 for the agent of this
# study.
