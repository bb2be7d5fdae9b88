# %% [markdown]
# # 12. Look-ahead in Sequence
#
# Like the small game of notebook 11, Sequence has hidden cards and chance, but with a hundred and
# four cards and up to a thousand legal actions. In this notebook you build an agent that looks two
# actions ahead: what does my action gain, and what is the opponent's best reply? Notebook 13
# measures the benefit of this and goes deeper.
#
# You will write the first part of `lookahead.py`, from `line_links` to `LookAhead`, and
# `quick_replies` (extra credit). Notebook 9 explains the rules.

# %%
# %load_ext course.notebook
from statistics import mean
from time import perf_counter

import numpy as np

from course.check import check
from course.plots import figure, picture
from sequence import Greedy, Random, example, play, sketch
from sequence.agents.beliefs import possible_cards
from sequence.board.layout import CELLS, DIRECTIONS, LINE_MASKS
from sequence.board.links import Chips, line_text, links, plays_of
from sequence.widget import play as play_on_board
from sequence.widget.replies import reply_board
from sequence.widget.scores import score_board

import lookahead
from lookahead import (
    LookAhead, best_reply, catalogue, draft_value, heat, line_links, plain_replies, quick_replies,
    reward,
)

# %% [markdown]
# ## How far can we look?
#
# The branching factor of Sequence (notebook 9) limits the depth of a search. The next cell measures
# it in twenty games between random players. How many pairs of an action and a reply are there?

# %%
widths = [len(state.legal_actions()) for seed in range(20)
          for state in play([Random(), Random()], seed).states[:-1]]
print(f"legal actions: {mean(widths):.0f} on average, {max(widths)} at most; with a reply: "
      f"{mean(widths) ** 2:,.0f} pairs; with two more actions: {mean(widths) ** 4:,.0f}")

# %% [markdown]
# A full search is impossible. The authors of the method that we follow considered only their own
# actions and the best reply to each, with a score that can be computed quickly:
#
# > **value = reward of the action + 0.8 x value of the card taken - 0.9 x best reply**
#
# ## The heat of a cell
#
# A cell in the middle is part of more lines of five than one at the edge, and the four cells of the
# heart together win the game. So every cell gets some points for its position alone: the function
# `heat`, which is given, returns `HEAT_PEAK` in the heart and `HEAT_DECAY` times as much with every
# step away from it. Steps are like those of a king in chess: a diagonal step counts as one. With a
# peak of 4 and a decay of one half, (3, 3) has a heat of 2, and (0, 5), four steps above row 4, has
# 4 x (1/2)^4 = 0.25.

# %%
score_board(sketch("hand 2d"), CELLS[:96], heat, {})

# %% [markdown]
# ## Lines and links
#
# A chip on a cell affects four lines: vertical, horizontal, and the two diagonals. A window of five
# cells that contains the cell extends at most four cells to either side. The kit writes each line
# as a text of at most nine characters, `line_text(chips, cell, direction)`: `#` is the cell itself,
# `x` one of our chips, `o` one of the opponent's, `_` an empty cell, and `*` a corner, which counts
# for both sides. Capital letters are chips in completed sequences.
#
# `links(text)` slides a window of five over the text and returns two numbers. `made` is the largest
# number of our chips, including the new one, in a window with none of theirs. `broken` is the
# largest number of their chips in a window with none of ours. There are two details. A corner
# counts for both sides. And a new sequence may use **one** chip of an old one, so a window with two
# `X` is worthless for us, and one with two `O` is worthless for them.
#
# Both functions are given, with `Chips`, the board as one side sees it. Read them in
# `sequence/board/links.py`; you will use `Chips`, `plays_of` and `reach` from there. In the
# position below we are x, and the first two texts are the column and the row through (4, 5).
# **Predict** the two numbers for each text before you run the cell.

# %%
drawn = sketch("x 4,4 4,6 3,5 / o 5,5 3,7 2,5 / hand 4h 2h jh / row 3c jd")
chips = Chips.seen_by(drawn)
print(drawn)
down, right, *_ = [line_text(chips, (4, 5), direction) for direction in DIRECTIONS]
for text in (down, right, "*xx_#____", "_XXX#x___"):
    print(text, links(text))

# %% [markdown]
# <details><summary>Why</summary>
#
# In the row `___x#x___` the best window contains both x and our new chip, so `made` is 3. No window
# contains an o, so `broken` is 0. In the column `__ox#o___` every window contains at least one o,
# so we make nothing. The x above the cell already blocks all of their windows there; below, `#o___`
# has one of their chips and none of ours, so `broken` is 1. The corner counts for us: `made` is 4.
# The last text has three chips of a completed sequence, and a window may use only one of them: with
# it, the new chip and the x next to it, `made` is 3.
#
# </details>
#
# ## The same line again and again
#
# An agent reads thousands of lines, and most do not change from one action to the next. The
# authors kept the board as a NumPy array and cached each result under a byte string, the serialised
# cells of the line, together with the coordinates of the cell. The key contains the *line*, so the
# result can be reused until a chip of this line changes.
#
# We use bitboards instead of arrays, but the question is the same: what is the key?
# `scan(chips, cell, direction)` is given; it caches its results by its arguments (`lru_cache`).
# That alone is of little use: after one more chip anywhere on the board, the argument `chips` is
# different. Write `line_links`, which calls `scan` with a better argument. `reach(cell, direction)`
# is the bitboard of the cells in the line.
#
# The cell after the check measures how long it takes to read every line of every cell throughout a
# game.

# %%
check("study7.line_links")

# %%
states = play([Greedy(), Random()], 7).states[:-1]
views = [Chips.seen_by(state) for state in states]


def seconds(function):
    """The time that the function takes for all lines of all cells on all boards of a game."""
    start = perf_counter()
    for view in views:
        for cell in CELLS[:96]:
            for direction in DIRECTIONS:
                function(view, cell, direction)
    return perf_counter() - start


plain = seconds(lambda *line: links(line_text(*line)))
lookahead.scan.cache_clear()
first, again = seconds(line_links), seconds(line_links)
calls = len(views) * 96 * 4
print(f"{calls:,} lines, {lookahead.scan.cache_info().misses:,} different ones")
for name, spent in (("plain", plain), ("cached", first), ("a second time", again)):
    print(f"{name:14}{1e6 * spent / calls:6.2f} microseconds per line")

# %% [markdown]
# ## Reward
#
# The reward of a placement is the sum over four lines, plus the heat. `line_reward` looks up `made`
# and `broken` in two tables, `LINK_MADE` and `LINK_BROKEN`. We chose their numbers: four times as
# much for each additional chip, and sixteen times as much for the last step, a sequence made or
# prevented. The reward of a removal with a one-eyed jack is that of the links it breaks. An action
# without a cell has no reward.

# %%
placements = {action.coords: action for action in plays_of(chips, ["jd"])}
score_board(drawn, placements, lambda cell: reward(chips, placements[cell]), {})

# %%
check("study7.reward")

# %% [markdown]
# ## The card to take
#
# Every action also takes a card from the row. Two-eyed jacks come first, then one-eyed ones; they
# have fixed values. The value of any other card is that of the best placement that it allows: on
# one of its two cells, not on both. Write `draft_value`. (Then add a cell and try it: which
# of "jd", "jh", "4h", "3c" and "2d" would you take in the position of the picture?)

# %%
check("study7.draft_value")

# %% [markdown]
# ## What can they play?
#
# The opponent's hand is hidden, but part of it can be inferred. We see every card it takes from the
# row, and every card it plays. So we keep a catalogue of the cards that it certainly holds and of
# those that it may hold.
#
# By hand: suppose that the opponent took 2s, then jd, and then played 2s and took kh. Then it is
# known to hold jd and kh. It has four more cards. Each of them may be any card of which we have not
# seen both copies. Write `catalogue`. It reads the game from the beginning (`observation.plays()`),
# so it needs no memory.
#
# How much of the hand is known as the game progresses? **Guess**: after twenty actions, how many of
# the six cards are known, and how many of the 52 kinds of card are possible? The cell after the
# check follows the game that was timed above and compares with the true hand, which players cannot
# see. `possible_cards` from `sequence.agents.beliefs` returns the cards that are really possible.
# It also uses the fact that a player who placed a chip held no dead card at that moment, so now and
# then it excludes a card that your catalogue allows.

# %%
check("study7.catalogue")

# %% tags=["hide-input"]
def draw_cards(rows):
    """How many cards are known and possible, action by action."""
    axes = figure(7.5, 3.6)
    for column, name in enumerate(("known", "possible", "possible (exact)")):
        axes.plot([row[column] for row in rows], label=name, markersize=4)
    axes.set(xlabel="actions played", ylabel="cards",
             title="What we know of the opponent's six cards")
    axes.figure.legend(loc="outside upper center", ncols=3, frameon=False)
    return picture(
        axes, f"Known cards rise from 0 to {max(row[0] for row in rows)}, possible kinds of card "
        f"stay near {rows[0][1]} for long: at the end there are {rows[-1][1]}.")


# %%
seen = example("1/18")
print(len(seen.history), "actions played; known:", catalogue(seen).known)
print(len(catalogue(seen).possible), "cards are possible")

rows = []
for state in states:
    observation = state.observation()
    mine = catalogue(observation)
    hand = state.hand(1 - state.to_move)
    assert set(mine.known) <= set(hand) <= set(mine.possible)
    exact = possible_cards(observation, 1 - observation.player)
    rows.append((len(mine.known), len(mine.possible), len(exact)))

draw_cards(rows)

# %% [markdown]
# Keep this picture in mind for notebook 13. As long as one of the six cards is unknown, nearly
# every card is *possible*.
#
# ## The best reply
#
# `plays_of(chips, cards)` lists the placements and removals that these cards allow. The best reply
# is the highest reward among them, from the view of the side that replies: `chips.flipped()`. Write
# `best_reply`.

# %%
check("study7.best_reply")

# %% [markdown]
# ## The agent
#
# `LookAhead(replies, cards).values(observation)` combines these parts for each legal action: reward
# plus 0.8 times the card's value minus 0.9 times the best reply. The card is valued, and the reply
# found, on the board *after* the action. `replies` creates the function that finds the best reply;
# `plain_replies` is given. With `replies=None` there is no reply term.
#
# There are two traps. A trade is not a turn: the same player moves again, so there is no reply. And
# actions that differ only in the card they take have the same reply, so find it only once. (The two
# games against `Random` are played without the reply term, which is faster.)

# %%
mover = Chips.seen_by(seen)
for cards in (catalogue(seen).known, catalogue(seen).possible):
    print(f"{len(cards):2} cards, best reply {best_reply(mover.flipped(), cards):g}")
values = LookAhead(plain_replies).values(seen)
for action in sorted(values, key=values.get, reverse=True)[:5]:
    print(f"{values[action]:8.2f}  {action}")
for players in ([LookAhead(None), Random()], [Random(), LookAhead(None)]):
    print(play(players, 1))

# %%
check("study7.look_ahead")

# %% [markdown]
# Play against it. *Show values* shows, on the cells and on the cards of the row, your agent's value
# of the best action with each of them. The sign ▼ means that the best reply takes away more than
# the action gains.

# %%
play_on_board(against=LookAhead(plain_replies), seed=1, values=LookAhead(plain_replies).values)

# %% [markdown]
# The next cell shows what the agent considers. The slider goes through its best placements, each
# with the best card to take, and the number on a cell is the reward of the best reply there.
# **Before you move the slider, predict** how many of these twelve placements leave the others a
# reply worth more than a hundred, and which cells have to be taken to prevent it.

# %%
def considered(action):
    """The replies to an action, with any card that they may hold, and the reward of each."""
    board = mover.after(action).flipped()
    return {reply: reward(board, reply) for reply in plays_of(board, catalogue(seen).possible)}


def split(action):
    """The value of an action in two parts: without the reply, and the loss through the reply."""
    alone = without_reply[action]
    return {"reward and card": alone, "best reply": values[action] - alone}


without_reply, with_best_card = LookAhead(None).values(seen), {}
for action in sorted(values, key=values.get, reverse=True):
    if action.coords:
        with_best_card.setdefault(action.coords, action)
reply_board(seen, list(with_best_card.values())[:12], considered, split)

# %% [markdown]
# <details><summary>Answer</summary>
#
# Ten of the twelve. We are one chip short of a sequence at 5,4 and at 1,8, and if they placed a
# two-eyed jack on either cell it would break four links, which earns 512. A placement on one of
# these cells completes the sequence. Its chips are then locked, and no reply is worth a hundred.
#
# </details>
#
# ## Faster replies (optional, extra credit)
#
# `plain_replies` computes every reply to every action: a hundred cells for each of up to a hundred
# plays. But an action on one cell changes only the lines through that cell. All other replies keep
# their reward. So find and sort all replies once. Then, for each action, recompute only the cells
# in its neighbourhood, and there only the line through both cells. This is an **incremental** scan.
# Write `quick_replies`; it has to give exactly the same numbers.

# %%
def milliseconds(finder, sixth=6):
    """The mean time to value all actions, over every sixth state of the game by default."""
    spent = []
    for state in states[::sixth]:
        start = perf_counter()
        LookAhead(finder).values(state.observation())
        spent.append(1000 * (perf_counter() - start))
    return mean(spent)


for name, finder in (("no replies", None), ("plain replies", plain_replies),
                     ("quick replies", quick_replies)):
    print(f"{name:14}{milliseconds(finder):7.1f} ms per action")

# %%
check("study7.quick_replies")

# %% [markdown]
# ## All lines at once
#
# The authors had one more idea: scan all lines simultaneously with NumPy. A board is a row of a
# hundred zeros and ones, and so is a line. So the numbers of our chips in many lines, on many
# boards, are one product of two matrices. The alternative is a loop over bitboards: an `and` and a
# count of bits for each line.
#
# **Predict** which of the two is faster per line, for each of the three cases in the cell, before
# you run it. Then add a case: the four lines through one cell, on one board. Which case describes
# an agent that has just placed a chip, and which one an agent that values all actions of a turn?

# %%
def as_rows(masks):
    """Bitboards as rows of zeros and ones."""
    return np.array([[mask >> bit & 1 for bit in range(100)] for mask in masks], dtype=np.float32)


def nanoseconds(count, times=30):
    """The shortest time of many runs; other programs can only make a run longer."""
    spent = []
    for _ in range(times):
        start = perf_counter()
        count()
        spent.append(perf_counter() - start)
    return 1e9 * min(spent)


def compare_counts(line_masks, board_masks):
    """Print the times per line of a product and of a loop, which count the same chips."""
    lines, boards = as_rows(line_masks), as_rows(board_masks)

    def loop():
        return [[(board & line).bit_count() for board in board_masks] for line in line_masks]

    assert (lines @ boards.T == loop()).all()
    number = len(line_masks) * len(board_masks)
    print(f"{len(line_masks):3} lines on {len(board_masks):2} boards: product "
          f"{nanoseconds(lambda: lines @ boards.T) / number:5.0f} ns per line, loop "
          f"{nanoseconds(loop) / number:5.0f} ns")


own = [view.own for view in views]
compare_counts(LINE_MASKS[:1], own[-1:])
compare_counts(LINE_MASKS, own[-1:])
compare_counts(LINE_MASKS, own)

# %% [markdown]
# <details><summary>What you should have seen</summary>
#
# For a single line the loop is faster, because every call of NumPy has a fixed cost. The more
# lines and boards there are, the less of this cost each line has to bear, so for all lines of all
# boards the product is usually much faster. (It runs in several threads, and is slow if other
# programs occupy the cores.) But the arrays have to be created first, which the cell does not
# measure, a count of chips is not yet `made` and `broken`, and a cached line needs no counting at
# all. Measure before you vectorise, and measure the complete move.
#
# </details>

# %% [markdown]
# You now have an agent that looks two actions ahead, and you know what that costs. Does it play
# better because of it? That is the first question of notebook 13.

# %% [markdown]
# **Sources**, in full in `course/bibliography.md`: Russell and Norvig 2021, section 5.6, for games
# with hidden cards. The description of the agent that we rebuild is not published; the
# acknowledgements in the bibliography name its origin.
