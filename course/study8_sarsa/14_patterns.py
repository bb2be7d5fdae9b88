# %% [markdown]
# # 14. A board in patterns
#
# Q-learning needs a table: a value for every action in every state. Sequence has more states than
# any table can hold: three possibilities for each of 96 cells make `3**96` boards, a number of 46
# digits. (The description of the agent that we rebuild speaks of "approximately 10^50 or more", and
# further down of 3^96. The first is an estimate, and too large: cards apart, there are not more
# boards than 3^96, and not all of these can be reached.)
#
# One way out is to describe a board by a handful of *patterns* and an action by what it does to them,
# and to learn a value for each pair of descriptions. In this notebook you write the patterns and the
# scores that are made of them. Notebook 15 turns them into an agent, and looks closely at what its
# table has learned and at what wins the games. The two need not be the same.
#
# All your code goes into `sarsa.py`.

# %%
# %load_ext course.notebook
import re
from collections import Counter
from functools import cache

from course.check import check
from course.plots import board_figure, picture
from sequence import Greedy, Random, play, sketch
from sequence.widget import play as play_on_board
from sequence.widget.rays import read_along

from sarsa import (
    ACTION_FEATURES, BLOCKING_VALUES, DIRECTIONS, PATTERN_VALUES, PATTERNS, Scores, action_features,
    direction_info, one_side, pattern, pattern_counts, place_score, ray, state_features, views,
    with_chip,
)  # fmt: skip

# %% [markdown]
# ## Play first
#
# Play some turns against `Greedy`. Before each of yours, say in words what your chip makes: "three in a
# row, open at both ends", perhaps, or "four with a gap". **Which words** do you need again and again?
# They are the patterns that this notebook counts.

# %%
play_on_board(against=Greedy(), seed=9)

# %% [markdown]
# ## A board as text
#
# Here is a position, drawn by hand. x is to move, and x is who we are.

# %%
position = sketch("x 4,2 4,3 4,5 6,1 / o 6,3 6,4 6,5 2,7 / hand 5h 2s 8c / row 3c 5d 8h")
print(position)

# %% [markdown]
# For patterns we need less than this: what is mine, what is theirs, what is empty. `views` gives
# the board twice as a text of 100 cells, as we see it and as the opponent does. Own chips are `m`,
# the others' `t`. Chips of completed sequences are capital letters: they are used up.

# %%
def rows(board):
    """The text of a board, ten rows of ten."""
    return [board[start:start + 10] for start in range(0, 100, 10)]


mine, theirs = views(position)
for ours, other in zip(rows(mine), rows(theirs), strict=True):
    print(ours, "  ", other)

# %% [markdown]
# The corners show `m` to both. By the rules they count as everybody's own chips.
#
# ## Reading in one direction
#
# Take the empty cell 4,4, between our chips. What would a chip there be part of? Look along the
# row, first to the right (the **front**), then to the left (the **back**). `ray` gives what you
# meet on the way, up to the edge, which is a wall `#`.

# %%
print("front", ray(mine, (4, 4), (0, 1)))
print("back ", ray(mine, (4, 4), (0, -1)))

# %% [markdown]
# One chip follows directly in front, two behind. With the new one that makes four connected, and
# both ends are empty. That was easy. Now suppose that 4,3 were empty and the new chip went there:
# then 4,5 is no direct neighbour, but it is still useful, with a **gap** in between.
#
# So read a ray like this, by hand, on `m_mm_t#`:
#
# 1. Own chips at the beginning: one. They are *connected*.
# 2. Then an empty cell, and right behind it an own chip: a *gap*. Cross it, and count the own chips
#    beyond, two. They are *discrete*.
# 3. Again an empty cell, but behind it stands the opponent. No gap: stop here. The cell where we
#    stopped is empty, so this end is *open*.
#
# The answer is `(1, 1, 2, True)`: connected, gaps, discrete, open. Try `_m_m_m_#` with at most two
# gaps before you read on.
#
# <details><summary>Answer</summary>
#
# `(0, 2, 2, True)`. The third `m` is behind a third gap, so it is not counted. The end that counts
# is where you stopped reading: behind the second discrete chip, and that cell is empty.
#
# </details>
#
# ## Write `one_side` and `direction_info`
#
# `one_side` reads a ray. `direction_info` reads two of them, front and back, and adds the chip on
# the cell itself. A whole direction may have two gaps: what the front has crossed, the back may not
# cross again.
#
# There is a classic slip here. Code that walks over the board cell by cell needs two steps, one
# forwards and one backwards, and easily takes the wrong one behind a gap. A ray is always the same
# text, before a gap and behind it.

# %%
one_side("m_mm_t#"), one_side("_m_m_m_#")

# %% [markdown]
# Your function at work on our position, from the empty cell 4,1. A ray is uncovered cell by cell;
# what is still covered counts as a wall. **Before you press *Next*, say** which of the four values
# the next cell will change. Then turn the knob to another direction, and say it for all its cells.

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
# Players of Gomoku, which is five in a row on a board without cards, have names for these things. A
# **live** pattern is open at both ends and has no gap. A **sleeping** one has a gap, or is stopped
# at one end. A sleeping four is called *chong*: it threatens, and one chip stops it. A live four
# has two cells that finish it.

# %%
print(f"{'pattern':14}{'own':>8}{'prevented':>11}")
for name, value in PATTERN_VALUES.items():
    print(f"{name:14}{value:8,}{BLOCKING_VALUES.get(name, 0):11,}")

# %% [markdown]
# ## Write `pattern`
#
# From a `DirectionInfo` to a name. Three tests are enough: five connected; no open end at all; and
# then the number of chips, live or not.

# %%
for direction in DIRECTIONS:
    print(direction, pattern(direction_info(mine, (4, 4), direction)))

# %%
check("study8.pattern")

# %% [markdown]
# ### Is a four a four?
#
# A name promises something. "Four" should mean: one more chip makes five. Does it? Take boards out
# of games between `Greedy` and `Random`, ask `pattern` about every empty cell in every direction,
# and test the promise on the lines of five through that cell.

# %%
@cache
def boards():
    """What the player to move sees, every fifth action in 20 games."""
    games = [play([Greedy(), Random()], seed) for seed in range(20)]
    return [views(state.observation())[0] for game in games for state in game.states[5:-1:5]]


def one_short(board, cell, direction):
    """Whether an own chip on the cell leaves a line of five in this direction one chip short."""
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
# Every live four keeps its promise. Some of the chong fours do not, and some of the patterns that are
# called NONE are one chip short of five.
#
# **Question.** Find one drawing (a line like `#__m_t__`) for each of the two mistakes: a
# `CHONG_FOUR` that no single chip finishes, and a `NONE` that one chip does finish. Then a third
# one: a `LIVE_TWO` that can never become five, however often its owner moves. What do the
# attributes of `DirectionInfo` not know in each case?

# %% [markdown] answer="blind-spots"
# *Write your answer here.*

# %% [markdown]
# ## Scores
#
# A chip on a cell makes a pattern in each of four directions, and takes one from the opponent in
# each. The score of a placement is the sum of all that. By hand, for 4,4 of our position: a live
# four in the row (10,000). In the other directions it stands alone. So what is the sum? Look at the
# names that your code has just printed, and add the opponent's: would *they* make anything there?
#
# Removing a chip is worth a one-eyed jack in one case only: if the chip is part of a live four.
#
# Notice what is assumed. The author took Sequence for a kind of Gomoku in which everybody always
# holds two-eyed jacks and may place a chip anywhere. These scores say what a chip *would* be worth
# on a cell. They do not ask whether anybody holds the card for it.
#
# ## Write `place_score` and `remove_score`

# %%
print("4,4:", place_score(mine, theirs, (4, 4)))
print("6,2:", place_score(mine, theirs, (6, 2)))

# %% [markdown]
# 4,4 has its live four and three chips that stand alone. But look at 6,2, where the opponent would
# have four in a row, closed by our chip at 6,1. That is a chong four, one chip short of five. The
# table of values pays 1,000 for preventing a live three and nothing for this!

# %%
def heat(board, other):
    """A picture of the scores of all empty cells, in steps of ten."""
    steps = (0, 10, 100, 1000, 10_000)
    axes = board_figure("What a chip of x is worth (k: thousands)")
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
            axes.annotate({"m": "x", "t": "o"}[chip] if (row % 9 or col % 9) else "*", (col, row),
                          ha="center", va="center", fontsize=14, fontweight="bold")
    return picture(axes, "A board with the score of each empty cell. The highest: " + ", ".join(
        f"{score:,} at {row},{col}" for (row, col), score in best.most_common(4)))


heat(mine, theirs)

# %%
check("study8.cells")

# %% [markdown]
# ### Cards
#
# A turn also takes a card from the draft row. A card is worth the best that it could be used for on
# the board as it is. That gives one best card, and the agent looks only at actions that take it: with
# five cards in the row, that leaves a fifth of the actions. If a dead card can be traded for the best
# card, only such trades are left.
#
# Then there are two numbers for an action, and you should keep them apart.
#
# * Its **reward** is what it does *to the board*, now.
# * Its **score** is the reward plus half of what the card is worth.
#
# Learning gets the reward. If the card counted there, an action without any effect would be praised
# for what may be done a turn later.
#
# ## Write `Scores`

# %%
scores = Scores(position)
print({card: scores.draft(card) for card in position.draft_row}, "take", scores.best_draft())
for action in scores.candidates(position.legal_actions()):
    print(f"{action!s:28} reward {scores.reward(action):6,}  score {scores.score(action):9,.1f}")

# %%
check("study8.scores")

# %% [markdown]
# ## Features
#
# Now the description of a board: how often each pattern occurs on it, seven patterns of our own and
# four of the opponent's. They are counted with regular expressions over all rows, columns and
# diagonals. Regular expressions *consume* what they match, and here that is a trap:

# %%
line = "#_mm_mm___#"
print(re.findall("_mm_", line), "one after the other, with the ends")
print(re.findall("(?<=_)mm(?=_)", line), "looking at the ends only")

# %% [markdown]
# Two live twos share the empty cell between them. The first expression has eaten it when it comes
# to the second pair. Looking behind, `(?<=_)`, and ahead, `(?=_)`, eats nothing. All `PATTERNS` are
# written that way.

# %%
for name, regex in PATTERNS.items():
    print(f"{name:12}{regex}")

# %% [markdown]
# An action is described by what it *changes*: the eleven counts after it, minus those before it.
# A twelfth number says whether it is a trade. Only the three or four lines through its cell
# can change.
#
# ## Write `pattern_counts`, `state_features` and `action_features`

# %%
print(pattern_counts("#_mm_mm___#"))

# %%
print(state_features(mine, theirs))
for action in list(position.legal_actions())[::3]:
    features = zip(ACTION_FEATURES, action_features(mine, theirs, action), strict=True)
    print(f"{action!s:28}", {name: change for name, change in features if change} or "no change")

# %%
check("study8.state")

# %%
check("study8.actions")

# %% [markdown]
# Many actions change nothing that is counted. The table leaves them out: their value is always 0.

# %% [markdown]
# **Sources**, in full in `course/bibliography.md`: Sutton and Barto 2018, chapter 9, for values of
# descriptions instead of states. The description of the agent is not published; the
# acknowledgements there say where it comes from.
