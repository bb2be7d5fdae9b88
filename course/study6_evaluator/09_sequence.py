# %% [markdown]
# # 9. Sequence
#
# Tic-tac-toe is a game of perfect information: both players see everything, there is no chance, and
# all positions fit into a table. *Sequence* has cards. You do not know what the opponent holds, nor
# which card will be drawn. It is a game of **imperfect information** with chance events (Russell
# and Norvig 2021, sections 5.5 and 5.6). This notebook introduces the game and the code that plays
# it. All the following studies need it.
#
# You will write one small function, `places`, in `evaluator.py`, the file next to this notebook. It
# is a warm-up; the evaluator itself is the subject of notebook 10.
#
# Sequence (Reuter 1982) is a trade mark. This course is not made or approved by its publisher.

# %%
# %load_ext course.notebook
import random
from collections import Counter

from course.check import check
from course.plots import board_figure, figure, picture
from sequence import (LINES, TABLE, Greedy, Random, State, card_at, cells_with, compare, example,
                      play, sketch)
from sequence.agents.beliefs import possible_cards, sample, unseen_cards
from sequence.board.layout import BIT, LINES_THROUGH
from sequence.widget import play as play_on_board

from evaluator import places

# %% [markdown]
# ## Play first
#
# Play a few turns against a random player before you read any rules. The board shows what you may
# do: choose a card, a cell, and a card to take from the row. **Write down** three rules that you
# have inferred. The next sections show whether you were right.

# %%
play_on_board(against=Random(), seed=2)

# %% [markdown]
# ## The board
#
# The board has ten by ten cells. A card is printed on every cell except the corners. The game uses
# two full decks, 104 cards, and each card that is not a jack is printed on exactly two cells.

# %%
for row in TABLE:
    print(" ".join(f"{card:4}" for card in row))
print()
print("2s stands on", cells_with("2s"), "and on (4, 5) stands", card_at((4, 5)))

# %% [markdown]
# A card is a rank and a suit: `2s` is the two of spades, `th` the ten of hearts. A cell is `(row,
# column)`, from 0 to 9, with (0, 0) at the top left.
#
# You play a card and place a chip on one of its two cells. Five of your chips in a line are a
# **sequence**, and two sequences win. A new sequence may share one chip with an old one. The
# **corners** are free: each counts as a chip of yours and also as one of your opponent's.
#
# The **jacks** are not printed on any cell.
#
# * Two-eyed, `jd` and `jc`: place a chip on *any* empty cell.
# * One-eyed, `jh` and `js`: remove *any* chip of the opponent, unless it is part of a sequence.
#   Sequences are permanent.
#
# How many lines of five are there, and which cells are part of the most lines? Guess before you run
# this.

# %%
through = [[len(LINES_THROUGH[BIT[row, col]]) for col in range(10)] for row in range(10)]
print(len(LINES), "lines; through a cell at least", min(map(min, through)), "and at most",
      max(map(max, through)))

# %% tags=["hide-input"]
axes = board_figure("Lines of five through each cell")
axes.imshow(through, cmap="cividis")
for row in range(10):
    for col in range(10):
        axes.text(col, row, through[row][col], ha="center", va="center",
                  color="white" if through[row][col] < 12 else "black")
picture(axes, "Heat map of the board: the number of lines of five through each cell, 3 in the "
        "corners, 20 in the four cells in the very middle, fewer towards the edges.")

# %% [markdown]
# Remember this picture. A chip in the middle is part of nearly seven times as many lines as one in
# a corner would be.
#
# Another rule makes the middle special. The four cells (4, 4), (4, 5), (5, 4) and (5, 5) are the
# **heart**: a player who holds all four immediately has two sequences and wins.
#
# ## A turn
#
# Each player has six cards. Next to the board is the **draft row**: five cards, face up. On your
# turn you play a card from your hand *and* take a card from the row to replace it. The gap in the
# row is filled from the deck. When the deck is used up the row shrinks, and when the row is empty
# the game ends. The player with more sequences wins; with equal numbers the game is a tie.
#
# (These rules are a variant. In the published game two players hold seven cards each and draw
# blind, and there is no heart. `sequence.OFFICIAL` has those rules, but all studies play with the
# row.)
#
# `State.deal(seed=1)` deals a game. The same seed deals the same cards. If the last line of a cell
# is a state, the notebook shows it as a picture, with the hand of the player to move.

# %%
state = State.deal(seed=1)
state

# %%
actions = state.legal_actions()
print(len(actions), "legal actions. The first, the last, and one in between:")
for action in (actions[0], actions[-1], actions[33]):
    print("  ", action)
after = state.after(actions[33])
print()
print(after)

# %% [markdown]
# Six cards, two cells each and five cards to take make 60 actions. With a two-eyed jack in hand
# there are hundreds.
#
# An action is a named tuple: `kind` ("place" or "remove"), `play_card`, `draft_card` and `coords`.
# States are immutable. `after(action)` returns the next one. `print` shows the complete state,
# including both hands.
#
# One kind of turn is different. A card whose two cells are both taken is *dead*. If you hold one
# when your turn begins, you first decide whether to *trade* it for a card from the row or to
# *forgo* the trade. After that your normal turn follows. Here x has chips on both cells of 2s, one
# of them placed with a jack, and holds the other 2s. Which actions are legal?

# %%
dead = sketch("x 0,1 8,6 4,4 / o 3,3 6,6 / hand 2s 3s 5h 9c td qc / row 4d 6h 6h kc jd")
for action in dead.legal_actions():
    print(action)

# %% [markdown]
# `sketch` creates a position from a short description; we will use it often. `x` are the chips of
# player 0, `o` those of player 1, and capital letters are chips in completed sequences. `score 0 1`
# gives the numbers of their completed sequences. `example("7/23")` is another way to get a
# position: what the player to move sees after 23 actions of a game between the built-in players
# `Greedy` and `Random`, dealt with seed 7. (The row lists 6h twice, because there are two copies of
# each card. For the *actions* that makes no difference.)
#
# ## What a player sees
#
# An agent does not receive the state. It receives an **observation**: everything that its player
# may see and nothing else. Compare the text of the state above with this one, the same moment as
# seen by player 1.

# %%
print(after.observation())

# %% [markdown]
# The other hand is missing. So is the order of the deck, which is not printed but is part of the
# state. Everything else is there, including all cards that have been played and drafted so far.

# %%
seen = example("7/23")
for player, action in list(seen.plays())[-4:]:
    print("player", player, "did", action)
print("player 0 drafted and still holds:", seen.drafted(0))

# %% [markdown]
# That last line is very useful! The row is face up, so you *saw* which cards the opponent took.
# Only the remaining cards of the first six are unknown, and their number shrinks from turn to turn.
#
# `sequence.agents.beliefs` does the bookkeeping. `unseen_cards` are the cards that you have not
# seen anywhere, `possible_cards` gives the cards that a player may hold, and `sample` creates a random
# full state that is consistent with everything you know. Draw many samples, count, and you have an
# estimate of a probability. How likely is it that the opponent holds a certain card?

# %%
chance = random.Random(5)
hands = [sample(seen, chance).hand(0) for _ in range(500)]
known = set(seen.drafted(0))
print(len(unseen_cards(seen)), "cards are unseen;", len(possible_cards(seen, 0)), "kinds may be held")
for card in ["6h", *sorted(known)[:1], "jd"]:
    share = sum(card in hand for hand in hands) / len(hands)
    print(f"{card}: in {share:.0%} of the samples{' (drafted before our eyes)' * (card in known)}")

# %% [markdown]
# ## Write `places`
#
# `places(observation, card)` lists the cells on which a card can be used *now*, row by row. You
# have to distinguish three kinds of card.
#
# * Most cards: those of their two cells that are empty. There may be none.
# * Two-eyed jacks: every empty cell. (`empty_mask` excludes the corners.)
# * One-eyed jacks: every chip of the other side that is not in a completed sequence.
#
# For one-eyed jacks, `evaluator.py` provides `Chips.of(observation)`, which contains three sets of
# cells: `own`, `others` and `locked`, the chips in completed sequences of either side. The kit
# stores such a set, and also `empty_mask`, in a compact form, as an integer. `cells_of(mask)` lists
# its cells, which is all you need here; notebook 10 explains how it works.
#
# Try it on a position for which you can see the answer. Here one cell of 2s is taken, and o has a
# sequence in the bottom row, with the corner at its left end.

# %%
drawn = sketch("x 4,4 / o 0,1 6,6 / O 9,1 9,2 9,3 9,4 / score 0 1 / hand 2s jd jh")
print("2s:", places(drawn, "2s"))
print("jh:", places(drawn, "jh"))
print("jd:", len(places(drawn, "jd")), "cells")

# %%
check("study6.places")

# %% [markdown]
# ## Playing
#
# First play a game yourself, against the built-in agent `Greedy`. Click a card in your hand, a
# highlighted cell, and the card to take. *Show values* shows how `Greedy` rates cells and cards.
# (All its numbers are positive, and only their order matters.)

# %%
play_on_board(against=Greedy(), seed=3, values=Greedy().values)

# %% [markdown]
# `play([first, second], seed)` plays a game between two agents. An agent is any object with a
# method `choose(observation)`. We begin with two built-in agents. `Random` plays any legal action.
# `Greedy` plays what looks best at the moment; it counts the chips in the lines through a cell, and
# you can read its code in `sequence/agents/greedy.py`.

# %%
game = play([Greedy(), Random()], seed=7)
print(game)
game.final

# %% [markdown]
# Is one better than the other? A single game proves nothing, because the cards may have been lucky.
# So we take two precautions, here and in all studies to come.
#
# 1. **The same deal from both seats.** Each deal is played twice with the seats exchanged, so that
#    each side gets the good cards and the first move once. Such a pair of games is a **paired
#    deal**.
# 2. **An interval.** A few games give only a rough estimate of the strength. Wilson's 95 % interval
#    shows how rough it is.
#
# `compare(first, second, deals)` does both. Its score is the share of the points that `first` wins.
# A tie, which `compare` reports as drawn, counts half. `course/statistics.md` explains both
# precautions, and how many games a result needs.

# %%
print("Greedy against Random:", compare(Greedy(), Random(), deals=30))
print("Random against Random:", compare(Random(), Random(), deals=30))

# %% [markdown]
# The second line is a control. Neither player is better there, so the interval should contain
# 0.5 (about 95 of 100 such controls do). A method that keeps finding differences between equal
# players is broken, and you should know that before you trust its other results.
#
# One last measurement: why not search this game as we searched tic-tac-toe? We measure the
# branching factor, by counting the legal actions in games that are played at random.

# %%
counts, lengths = [], []
for seed in range(60):
    game = play([Random(), Random()], seed)
    lengths.append(len(game.actions))
    counts += [len(state.legal_actions()) for state in game.states[:-1]]
counts.sort()
print(f"a random game has {sum(lengths) / len(lengths):.0f} actions ({min(lengths)} to "
      f"{max(lengths)}); legal actions: median {counts[len(counts) // 2]}, largest {counts[-1]}")

# %% tags=["hide-input"]
bins = Counter(min(count // 20 * 20, 500) for count in counts)
axes = figure(7.5, 3.4)
axes.bar(bins.keys(), bins.values(), width=18, align="edge", color="#0072B2")
axes.set(xlabel="legal actions (the last bar: 500 and more)", ylabel="turns",
         title="Number of legal actions per turn")
picture(axes, f"Histogram of the number of legal actions in {len(counts):,} turns of random play: "
        f"median {counts[len(counts) // 2]}, a long tail up to {counts[-1]}, which are the turns "
        "with a two-eyed jack in hand.")

# %% [markdown]
# The branching factor *b* is about fifty. (The turns on the far right have a two-eyed jack in hand.)
# At depth *d* a search tree has about *b* to the power of *d* nodes:
#
# | depth | tic-tac-toe | Sequence, 50 actions per turn |
# |---|---|---|
# | 2 | 72 | 2,500 |
# | 4 | 3,024 | 6,250,000 |
# | 6 | 54,720 | 15,625,000,000 |
#
# And this assumes that all cards are face up. In fact each reply comes from a hand that you do not
# know, and each new card of the row is unknown to both players. So the next notebook starts from
# the opposite end: how well can we judge an action without any search, from the board alone?

# %% [markdown]
# **Sources**, in full in `course/bibliography.md`: Reuter 1982 for the game; Russell and Norvig
# 2021, sections 5.5 and 5.6, for games with chance and hidden information; Wilson 1927 for the
# interval.
