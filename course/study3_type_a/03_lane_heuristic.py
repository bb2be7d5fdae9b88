# %% [markdown]
# # 3. The lane heuristic
#
# At the end of a game, minimax only needs to know who has won. This notebook asks a harder question
# about an unfinished game: who is *likely* to win? We want an answer without searching.
#
# You will write two functions in `heuristic.py`, the file next to this notebook: `lane_counts` and
# `heuristic`. Open it in a second tab. After a change, save it and run a cell again: the first cell
# below makes the notebook reload your module.

# %%
# %load_ext course.notebook
from collections import Counter

from course.check import check
from course.plots import boards, figure, picture
from tictactoe import Board, WinOrBlock, opponent
from tictactoe.boards.play_board import play_against
from tictactoe.solver import value, values

from heuristic import heuristic, lane_counts

# %% [markdown]
# ## Too many games
#
# In 1950 Claude Shannon asked how a machine could play chess. First he worked out why it cannot
# simply examine everything. In the middle of a game a player has about 30 legal moves, so one move
# by each side gives about a thousand possibilities. Assume that a typical game has 40 moves by each
# side. How long would it take to examine every game, at a rate of one per microsecond?

# %%
games = (10**3) ** 40
games_a_year = 10**6 * 365 * 24 * 3600
print(f"{games:.0e} games, {games / games_a_year:.0e} years")

# %% [markdown]
# (Shannon's "over 10^90 years" is a lower bound.) Even a machine that is a billion times faster would
# not help.
#
# So the search has to stop before the games end, and something has to estimate the value of the
# unfinished positions. Shannon (1950) described two kinds of search that do this, **Type A** and
# **Type B**. The course that this study follows (Mayfield 2025) calls the agent of this study Type
# A, and so do we. Is that what Shannon meant by the term? Keep the question in mind: you will
# answer it in notebook 5. Our Type A agent has three parts, with one notebook for each.
#
# * Notebook 3: the estimate.
# * Notebook 4: where it is safe to stop.
# * Notebook 5: which move to search first.
#
# Tic-tac-toe does not need any of this, because you could search it to the end. That is why we use
# it: we know the exact value of every position, so we can measure how good an estimate is. In chess
# that is impossible.

# %% [markdown]
# ## What an evaluation must do
#
# An **evaluation function** takes a state and a player and returns a number, an estimate of the
# utility (Russell and Norvig 2021, section 5.3). It has to meet three requirements.
#
# 1. **It must be consistent with the utilities.** A won game is worth +1, a lost one -1; a search
#    takes these utilities from the state and does not evaluate it. The estimate for an unfinished
#    game has to lie strictly between them: no promising position may count as much as a win. (In
#    Shannon's example for chess, the king is worth more points than everything else together.)
# 2. **It must be correlated with the chances of winning.** The better the position, the larger the
#    number. It need not be right every time, but it has to be right more often than not.
# 3. **It must be cheap.** It runs wherever the search stops. If it takes a long time, we could have
#    searched deeper instead.
#
# ## Lanes
#
# What makes a tic-tac-toe position good? Marks that can still become three in a line. We call each
# line in which a player can win a **lane**. There are eight: three rows, three columns and two
# diagonals. They are available as `Board.lanes`, each a tuple of three cells.

# %%
boards([Board()] * 8, Board.lanes, lanes=Board.lanes)

# %% [markdown]
# A lane with marks of both players is **dead**, because neither player can win there any more. A
# lane without marks favours neither player. Every other lane belongs to one player. Four counts
# summarise them, from the view of *our* player (P) against the opponent (O):
#
# | count | lanes with ... |
# |---|---|
# | P2 | two marks of our player and nothing else |
# | P1 | one mark of our player and nothing else |
# | O2 | two marks of the opponent and nothing else |
# | O1 | one mark of the opponent and nothing else |
#
# A pair is worth more than a single mark. An exercise in the third edition of the textbook weights
# it three times as much (Russell and Norvig 2010, exercise 5.9):
#
# > **H = (3 P2 + P1) - (3 O2 + O1)**
#
# ## By hand
#
# Here is a position. Let x be our player. Take a pencil and find P2, P1, O2 and O1 before you continue.

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
# = -1: if you swap the players, every sign changes. This is what we want, since one player's gain
# is the other's loss.
#
# But look at the position again. It is x's turn, and cell 2 wins immediately. "A little better for
# x" is a poor description. H counts the marks and does not look ahead. Notebook 4 deals with this.
#
# ## Write `lane_counts`
#
# `lane_counts(state, player)` returns the pair `(two, one)` for one player. For our player it
# returns P2 and P1, for the opponent O2 and O1, so one function computes all four counts.
#
# * `state.lanes` lists the lanes, and `state[cell]` is `"x"`, `"o"` or `EMPTY`.
# * Take the lanes from the state. Then the function also works on boards of other shapes.
# * Only open lanes count. One mark of the other player makes a lane dead.
#
# Try it on the position above. You know the answers.

# %%
lane_counts(board, "x"), lane_counts(board, "o")

# %% [markdown]
# Now try some corner cases. Predict each result first: an empty board; a full lane, which is
# neither a pair nor a single mark; and a board on which every lane is dead.

# %%
[lane_counts(Board(text), "x") for text in ("_________", "xxxoo____", "xoxxoxoxo")]

# %%
check("study3.lane_counts")

# %% [markdown]
# ## Write `heuristic`
#
# H is a whole number, often larger than 1, but requirement 1 demands numbers between -1 and +1. So
# we divide by 10. Why 10 is the question of the next section.
#
# One warning. It is tempting to put the tenths into the formula: 0.3 for a pair, 0.1 for a single
# mark. Suppose there is one pair against three single marks. The two sides are level, so the result
# should be 0.

# %%
print(3 * 1 - 1 * 3, "in whole numbers")
print(0.3 * 1 - 0.1 * 3, "in tenths")

# %% [markdown]
# A tenth has no exact binary form, and the rounding errors do not cancel. A search looks for the
# *greater* of two values, and a difference in the seventeenth digit is still a difference. So work
# in whole numbers and divide once, at the end. This is rule 6 in the docstring of
# `tictactoe.nodes`, which contains all rules for counting and comparing. Have a look at it now:
# `import tictactoe.nodes` and `help(tictactoe.nodes)`.
#
# `heuristic(state, player)` returns H divided by 10, from the view of `player`. For our position it
# should return 0.1 and -0.1.

# %%
heuristic(board, "x"), heuristic(board, "o")

# %% [markdown]
# Now let it evaluate the first move. There are only three kinds: corner, edge and centre. Most
# people begin in the centre. Does the heuristic agree, and can you explain its result from the
# lanes alone?

# %%
openings = [Board().after(cell) for cell in (0, 1, 4)]
boards(openings, [f"{heuristic(opening, 'x'):+.1f} for x" for opening in openings])

# %%
check("study3.heuristic")

# %% [markdown]
# Play with the help of your heuristic. *Show values* shows, on each of your moves, the heuristic
# value of the position after the move, from your view; a move that ends the game shows its utility.
# Decide before you look: would you have chosen the same move?

# %%
play_against(WinOrBlock(seed=1), values=heuristic)

# %% [markdown]
# ## Why ten?
#
# Requirement 1 demands -1 < H/n < 1 for every unfinished position, so n must be larger than the
# greatest |H|. You can find it by reasoning. You can also count, because the game is small:
# `values()` contains all reachable boards.

# %%
positions = [state for state in values() if not state.is_terminal()]
print(f"{len(values()):,} reachable boards, {len(positions):,} of them unfinished")


def h(state):
    """H from x's view, as a whole number."""
    return round(10 * heuristic(state, "x"))

# %% tags=["hide-input"]
def plot_histogram(how_many):
    """Plot how often each value of H occurs."""
    least, greatest = min(how_many), max(how_many)
    axes = figure(7.5, 3.6)
    axes.bar(how_many.keys(), how_many.values(), width=0.8)
    axes.set(xlabel="H from x's view", ylabel="unfinished positions",
             title="H of every unfinished position")
    axes.set_xticks(range(least, greatest + 1))
    return picture(axes, "Histogram of H from x's view over all unfinished positions. Most lie "
                   f"between -3 and +5, the highest bar is at 0. The least value, {least}, occurs "
                   f"{how_many[least]} times, the greatest, {greatest}, occurs "
                   f"{how_many[greatest]} times.")

# %%
how_many = Counter(h(state) for state in positions)
print("smallest", min(how_many), "largest", max(how_many))
plot_histogram(how_many)

# %% [markdown]
# Before you read on, look at the shape. It is not symmetric. Why should x reach higher values than
# o?
#
# Now look at the far right end. Which positions are these?

# %%
limit = max(abs(h(state)) for state in positions)
extremes = [state for state in positions if abs(h(state)) == limit]
boards(extremes, [f"H = {h(state)}\nexact value {value(state, 'x'):+d}" for state in extremes])

# %% [markdown]
# There are exactly four, all rotations of one position. x has three pairs and a single mark; o has
# nothing. Two experienced players will not get there, but a search also visits positions that no
# sensible player would reach.
#
# Here H/10 is exactly 1, but we required strictly less. So, strictly speaking, ten is too small: an
# unfinished position counts as much as a win.
#
# Does this do any harm? Not in these four positions, because x wins them anyway. Elsewhere it
# depends on which positions a search evaluates. The Type A agent of the next notebook does not
# evaluate all of them, but only those in which no player threatens to win: neither player has two
# marks and an empty cell in a lane.

# %% [markdown]
# **Question.** Suppose that a classmate divides by 2 instead of 10, and you divide by 1000. All
# three agents are Type A agents. (a) Find the largest |H| on the positions that such an agent
# evaluates. (Add a cell; with `lane_counts` you can find the positions in which no player threatens
# to win.) Can your agent and one that divides by 10 ever choose different moves? (b) Describe a
# choice between two moves in which your classmate's agent goes wrong. (c) What is the smallest
# whole divisor with which every estimate of this agent is strictly between a loss and a win? Which
# property of a divisor matters, then, and which does not?

# %% [markdown] answer="why-ten"
# *Write your answer here.*

# %% [markdown]
# ## How good a guess is it?
#
# Requirement 2 says that the estimate must follow the chances of winning. `tictactoe.solver` gives
# us the exact value of every position, so we can test this. Take each unfinished position from the
# view of the player to move. Is H negative, zero or positive? And is the position lost, drawn or
# won?

# %% tags=["hide-input"]
def plot_shares(guesses):
    """Plot the shares of lost, drawn and won positions for each value of H."""
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
             title="Exact values of the positions")
    axes.set_xticks(scale[::2])
    axes.figure.legend(loc="outside right upper")
    return picture(axes, "Stacked bars: for every H from the view of the player to move, the share "
                   "of positions that are really lost, drawn and won. From H = 1 on nearly all are "
                   "won, up to -7 all are lost; between them lie lost, drawn and won positions "
                   "side by side.")

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
plot_shares(guesses)

# %% [markdown]
# The right half is very good. If you are to move and H is positive, you nearly always win.
#
# The left half is odd. At the far end every position is lost, as expected. But from -6 to -1 there
# are lost, drawn and won positions for the same H. The opponent has more and better lanes there,
# and yet more of these positions are won than lost!

# %% [markdown]
# **Question.** Explain the middle part, from -6 to -1. What does H ignore that makes it so
# unreliable when it is slightly negative, and why does the same omission make it so reliable when
# it is positive? Give one position as an example (draw it with `Board("...")`). Then propose a
# change to the formula, and explain what your change would cost.

# %% [markdown] answer="whose-move"
# *Write your answer here.*

# %% [markdown]
# ## Three and one?
#
# The weights, 3 for a pair and 1 for a single mark, were chosen by hand. For this game we can test
# them. Take two unfinished positions, each from the view of its player to move, such that one is
# really better than the other: for example, one won and the other drawn. How often does the better
# one have the higher H? (If both have the same H, count one half.) Statisticians call this share
# the *probability of concordance*; for two classes it is the area under the ROC curve (AUC).
# Weights that carry no information would give 0.5.
#
# **Guess** first: is 3 to 1 the best ratio? What do you get if a pair weighs no more than a single
# mark, and what if only pairs count? Then add weights of your choice.

# %%
kinds = Counter()
for state in positions:
    mover = state.to_move
    own_two, own_one = lane_counts(state, mover)
    two, one = lane_counts(state, opponent(mover))
    kinds[own_two - two, own_one - one, value(state, mover)] += 1


def agreement(pair, single):
    """The share of pairs in which the better position has the higher H, with these weights."""
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
# Single marks alone are worse than tossing a coin. What matters is that a pair clearly outweighs a
# single mark: once the ratio is 3 to 1 or more, it makes almost no difference, and 4 to 1 does
# best, by a tiny margin. So 3 and 1 are good weights, but not special ones. Even the best two
# weights are right in fewer than nine out of ten cases. Something else is missing.
#
# </details>
#
# **Think first.** *Qubic* is played on a cube of 4 x 4 x 4 cells, and four in a line win. There are
# 76 lanes. Which counts would a lane heuristic use there? Which weights would you try, and why? How
# would you find a divisor that is certainly large enough, when there are far too many positions to
# count?
#
# <details><summary>An answer</summary>
#
# Lanes with one, two and three of our own marks, and the same for the opponent: one count for every
# number of marks short of a full lane. Three in a lane threatens a win, so it should weigh much
# more than two, and two more than one. Good weights can be fitted to games; notebook 8 learns some.
#
# You can find a divisor that is certainly large enough without counting positions: each of the 76
# lanes adds at most the largest weight, so any number above 76 times that weight is safe.
#
# </details>

# %% [markdown]
# **Sources**, in full in `course/bibliography.md`: Shannon 1950, sections 2 and 3, for the numbers
# and the evaluation; Russell and Norvig 2021, section 5.3, for evaluation functions; Russell and
# Norvig 2010, exercise 5.9, for H; Mayfield 2025 for the agent of this study.
