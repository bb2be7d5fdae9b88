# %% [markdown]
# # 14. A board in patterns
#
# Q-learning needs a table with a value for every action in every state. Sequence has more states
# than any table can hold: three possibilities for each of 96 cells make `3**96` boards, a number
# with 46 digits. (The description of the agent that we rebuild mentions "approximately 10^50 or
# more", and further down 3^96. The first is an estimate, and too large: if you ignore the cards,
# there are no more than 3^96 boards, and not all of these can be reached.)
#
# One solution is to describe a board by a handful of *patterns* and an action by its effect on
# them, and to learn a value for each pair of descriptions. In this notebook you write five
# functions: how a pattern is recognised, what a chip is worth, and how an action is described. The
# bookkeeping around them is given. Notebook 15 turns them into an agent, and examines what its
# table has learned and what wins the games. The two need not be the same.
#
# All your code belongs in `sarsa.py`.

# %%
# %load_ext course.notebook
import re
from collections import Counter
from functools import cache

from course.check import check
from course.plots import board_figure, cell_rows, picture
from sequence import Greedy, Random, play, sketch
from sequence.widget import play as play_on_board
from sequence.widget.rays import read_along

from sarsa import (
    ACTION_FEATURES, BLOCKING_VALUES, DIRECTIONS, FEATURES, PATTERN_VALUES, PATTERNS, Scores,
    action_features, direction_info, one_side, pattern, pattern_counts, place_score, ray,
    state_features, views, with_chip,
)  # fmt: skip

# %% [markdown]
# ## Words for patterns
#
# Play some turns against `Greedy`. Before each of your turns, describe in words what your chip
# makes: perhaps "three in a row, open at both ends", or "four with a gap". **Which words** do you
# need again and again? They are the patterns that this notebook counts.

# %%
play_on_board(against=Greedy(), seed=9)

# %% [markdown]
# ## A board as text
#
# Patterns need little information: which chips are *mine*, which are *theirs*, and which cells are
# empty. `views` returns the board twice as a text of 100 cells, as we see it and as the opponent
# does. In each view, the viewer's own chips are `m`, the other side's are `t`, and empty cells are
# `_`. (Chips of completed sequences are capital letters, because only one of them can be used
# again.) The whole study uses this notation. Only the drawing language of `sketch` calls the two
# sides x and o: here we are x, and x is to move.

# %%
position = sketch("x 4,2 4,3 4,5 6,1 / o 6,3 6,4 6,5 2,7 / hand 5h 2s 8c / row 3c 5d 8h")
mine, theirs = views(position)
print("    our view      their view\n  ", *2 * ["0123456789  "])
for row in range(10):
    print(f"{row}  ", "    ".join(board[10 * row:10 * row + 10] for board in (mine, theirs)))

# %% [markdown]
# The corners are `m` in both views. By the rules, a corner counts as a chip of either side.
#
# ## Reading in one direction
#
# Take the empty cell 4,4, between our chips. What would a chip there be part of? Look along the
# row, first to the right (the **front**), then to the left (the **back**). `ray` returns the cells
# on the way, up to the edge, which is written as a wall `#`.

# %%
print("front", ray(mine, (4, 4), (0, 1)))
print("back ", ray(mine, (4, 4), (0, -1)))

# %% [markdown]
# One chip follows directly in front, two behind. With the new one that makes four connected chips,
# and both ends are empty. That was easy. Now suppose that 4,3 were empty and the new chip were
# placed there: then 4,5 is not a direct neighbour, but it is still useful, with a **gap** between
# them.
#
# So read a ray like this, by hand, on `m_mm_t#`:
#
# 1. Count our chips at the beginning: one. They are *connected*.
# 2. Next comes an empty cell with one of our chips directly behind it: a *gap*. Cross it, and count
#    our chips beyond it: two. They are *discrete*.
# 3. Next comes another empty cell, but behind it is an opponent's chip. This is not a gap, so stop
#    here. The cell at which we stopped is empty, so this end is *open*.
#
# The result is `(1, 1, 2, True)`: connected, gaps, discrete, open. Try `_m_m_m_#` with at most two
# gaps before you read on.
#
# <details><summary>Answer</summary>
#
# `(0, 2, 2, True)`. The third `m` is behind a third gap, so it is not counted. The end that matters
# is the cell at which you stopped reading: the one behind the second discrete chip, which is empty.
#
# </details>
#
# ## Write `one_side` and `direction_info`
#
# `one_side` reads a ray. `direction_info` reads two of them, front and back, and adds the chip on
# the cell itself. A complete direction may have two gaps in total: gaps that were crossed in front
# are no longer available at the back.
#
# There is a classic mistake here. Code that walks over the board cell by cell needs two step
# vectors, one forwards and one backwards, and easily uses the wrong one behind a gap. With rays
# this cannot happen, because a ray is the same text before a gap and behind it.

# %%
one_side("m_mm_t#"), one_side("_m_m_m_#")

# %% [markdown]
# The next cell shows your function at work on our position, from the empty cell 4,1. A ray is
# uncovered cell by cell; cells that are still covered count as a wall. **Before you press *Next*,
# predict** which of the four values the next cell will change. Then choose another direction with
# the slider, and predict the changes for all its cells.

# %%
read_along(mine, (4, 1), {"right": (0, 1), "down": (1, 0), "left": (0, -1), "up": (-1, 0)},
           one_side, ("connected", "gaps", "discrete", "open"))

# %%
check("study8.rays")

# %%
for direction in DIRECTIONS:
    print(direction, direction_info(mine, (4, 4), direction))

# %%
check("study8.direction")

# %% [markdown]
# ## Patterns and their values
#
# Players of Gomoku, which is five in a row on a board without cards, have names for these patterns.
# A **live** pattern is open at both ends and has no gap. A **sleeping** one has a gap, or is blocked
# at one end. In the picture, what must the opponent do against each of the fours?

# %% tags=["hide-input"]
cell_rows(
    ["__mmm___", "_tmmm___", "__mm_m__", "__mmmm__", "_tmmmm__", "__mm_mm_"],
    ["LIVE_THREE", "SLEEP_THREE: blocked at one end", "SLEEP_THREE: a gap", "LIVE_FOUR",
     "CHONG_FOUR: blocked at one end", "CHONG_FOUR: a gap"])

# %% [markdown]
# Against a live four, one chip is not enough: two cells complete it. Each of the two sleeping fours is
# completed by one cell only. `CHONG_FOUR`, their name in the table below, is from the Chinese term for
# a four that forces an answer.

# %%
print(f"{'pattern':14}{'own':>8}{'prevented':>11}")
for name, value in PATTERN_VALUES.items():
    print(f"{name:14}{value:8,}{BLOCKING_VALUES.get(name, 0):11,}")

# %% [markdown]
# ## Write `pattern`
#
# `pattern` maps a `DirectionInfo` to a name. Three tests are enough: five connected; no open end at
# all; and then the number of chips, live or not.

# %%
for direction in DIRECTIONS:
    print(direction, pattern(direction_info(mine, (4, 4), direction)))

# %%
check("study8.pattern")

# %% [markdown]
# ### Is a four a four?
#
# A name makes a promise. "Four" should mean that one more chip makes five. Is that true? Take
# boards from games between `Greedy` and `Random`, call `pattern` for every empty cell in every
# direction, and test the promise on the lines of five through that cell.

# %%
@cache
def boards():
    """The view of the player to move, every fifth action in 20 games."""
    games = [play([Greedy(), Random()], seed) for seed in range(20)]
    return [views(state.observation())[0] for game in games for state in game.states[5:-1:5]]


def one_short(board, cell, direction):
    """Whether one of your chips on the cell leaves this line of five one chip short."""
    after = with_chip(board, cell, "m")
    for start in range(-4, 1):
        five = [(cell[0] + k * direction[0], cell[1] + k * direction[1])
                for k in range(start, start + 5)]
        if all(0 <= row < 10 and 0 <= col < 10 for row, col in five):
            chips = [after[10 * row + col] for row, col in five]
            if chips.count("m") == 4 and "_" in chips:
                return True
    return False

# %%
promised, kept = Counter(), Counter()
for board in boards():
    for place, chip in enumerate(board):
        for direction in DIRECTIONS if chip == "_" else ():
            name = pattern(direction_info(board, divmod(place, 10), direction))
            promised[name] += 1
            kept[name] += one_short(board, divmod(place, 10), direction)
for name in PATTERN_VALUES:
    if name != "LIVE_FIVE":
        print(f"{name:12}{promised[name]:7,} times, one chip short of five {kept[name]:5,} times")

# %% [markdown]
# Every live four keeps its promise. Some of the chong fours do not, and some of the patterns that
# are called NONE are one chip short of five.
#
# **Question.** Find one drawing (a line such as `#__m_t__`; say on which cell the new chip is) for
# each of the two mistakes: a `CHONG_FOUR` that no single chip completes, and a `NONE` that one chip
# does complete. Then find a third one: a `LIVE_TWO` that can never become five, however often its
# owner moves. Which information is missing from the attributes of `DirectionInfo` in each case?

# %% [markdown] answer="blind-spots"
# *Write your answer here.*

# %% [markdown]
# ## Scores
#
# In each of four directions, a chip on a cell makes a pattern and prevents one of the opponent's
# patterns. The score of a placement is the sum of these values. By hand, for 4,4 of our position: a
# live four in the row (10,000). In the other directions it has no neighbours. So what is the sum?
# Look at the names that your code has just printed, and add the opponent's patterns: would *they*
# make anything there?
#
# Notice the assumption. The author treated Sequence as a kind of Gomoku in which all players always
# hold two-eyed jacks and may place a chip anywhere. These scores state what a chip on a cell
# *would* be worth. They ignore whether either player holds the card for it.
#
# ## Write `place_score`

# %%
print("4,4:", place_score(mine, theirs, (4, 4)))
print("6,2:", place_score(mine, theirs, (6, 2)))

# %% [markdown]
# 4,4 has its live four, and no neighbours in the other three directions. But look at 6,2, where the
# opponent would have four in a row, closed by our chip at 6,1. That is a chong four, one chip short
# of five. The table of values gives 1,000 for preventing a live three and nothing for this!

# %% tags=["hide-input"]
def heat(board, other):
    """A picture of the scores of all empty cells, in steps of ten."""
    steps = (0, 10, 100, 1000, 10_000)
    axes = board_figure("The value of a chip of ours (k: thousands)")
    best = Counter()
    for place, chip in enumerate(board):
        row, col = divmod(place, 10)
        if chip == "_":
            score = place_score(board, other, (row, col))
            best[row, col] = score
            level = sum(score >= step for step in steps)
            axes.scatter(col, row, s=560, marker="s", color="#0072B2", alpha=0.1 + 0.17 * level,
                         linewidths=0)
            text = f"{score / 1000:.0f}k" if score >= 1000 else score
            axes.annotate(text, (col, row), ha="center", va="center", fontsize=8,
                          color="white" if level > 3 else "black")
        else:
            axes.annotate(chip, (col, row), ha="center", va="center", fontsize=14,
                          fontweight="bold")
    return picture(axes, "A board with the score of each empty cell. The highest: " + ", ".join(
        f"{score:,} at {row},{col}" for (row, col), score in best.most_common(4)))


heat(mine, theirs)

# %%
check("study8.cells")

# %% [markdown]
# ### Cards: the class `Scores`
#
# A turn also takes a card from the draft row. `Scores` in `sarsa.py` is complete: read its five
# short methods. The value of a card is that of its best use on the board in its current state. That
# determines one best card, and the agent considers only actions that take it: with five cards in
# the row, that leaves a fifth of the actions. If a dead card can be traded for the best card, only
# such trades are left. A removal is worth a one-eyed jack in one case only: if the chip is part of
# a live four (`remove_score`).
#
# Each action then has two numbers, and you should keep them apart.
#
# * Its *reward* is its immediate effect *on the board*.
# * Its *score* is the reward plus half of the value of the card.
#
# Learning uses the reward. If it included the card, an action without any effect would be rewarded
# for what may be done one turn later. **Predict** the best card of our position before you run the
# cell: 3c, 5d or 8h?

# %%
scores = Scores(position)
print({card: scores.draft(card) for card in position.draft_row}, "take", scores.best_draft())
for action in scores.candidates(position.legal_actions()):
    print(f"{action!s:28} reward {scores.reward(action):6,}  score {scores.score(action):9,.1f}")

# %% [markdown]
# ## Features
#
# Now we describe a board by how often each pattern occurs on it: seven patterns of our own and four
# of the opponent's. `state_features`, which is given, counts them with regular expressions over all
# rows, columns and diagonals. Regular expressions *consume* the text that they match, and here that
# is a trap:

# %%
line = "#_mm_mm___#"
print(re.findall("_mm_", line), "one after the other, with the ends")
print(re.findall("(?<=_)mm(?=_)", line), "looking at the ends only")
print(dict(zip(PATTERNS, pattern_counts(line), strict=True)))

# %% [markdown]
# Two live twos share the empty cell between them. The first match has consumed it, so the second
# pair does not match any more. A look-behind, `(?<=_)`, and a look-ahead, `(?=_)`, consume nothing.
# All `PATTERNS` are written in this way. These are the counts of our position:

# %%
print(dict(zip(FEATURES, state_features(mine, theirs), strict=True)))

# %% [markdown]
# The idea of this study is how an *action* is described: by what it *changes*, the eleven counts
# after it minus those before it. Two actions that turn a live two into a live three, and change
# nothing else, have the same description, wherever they are on the board. A twelfth number
# indicates whether the action is a trade. Only the three or four lines through its cell can change,
# and `state_features(mine, theirs, cell)` counts in these lines.
#
# By hand: which counts change when we place a chip on 4,4, between 4,3 and 4,5?
#
# ## Write `action_features`

# %%
for action in list(position.legal_actions())[::3]:
    features = zip(ACTION_FEATURES, action_features(mine, theirs, action), strict=True)
    print(f"{action!s:28}", {name: change for name, change in features if change} or "no change")

# %%
check("study8.actions")

# %% [markdown]
# Many actions change none of these counts. The table has no entries for them: their value is always 0.

# %% [markdown]
# **Sources**, in full in `course/bibliography.md`: Sutton and Barto 2018, chapter 9, for values of
# descriptions instead of states. The description of the agent is not published; the
# acknowledgements in the bibliography name its origin.
