# %% [markdown]
# # 9. Sequence
#
# Tic-tac-toe hides nothing. Both players see everything, no dice roll, and the whole game fits into
# a table. *Sequence* has cards: you do not know what the opponent holds, nor what will be drawn.
# This notebook shows you the game and the code that plays it. All studies from here on need it.
#
# You will write one small function, `places`, in `evaluator.py` beside this notebook. It is a
# warm-up; the evaluator itself is the subject of notebook 10.
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
from sequence.agents.beliefs import may_hold, sample, unseen_cards
from sequence.board.layout import BIT, CELLS, LINES_THROUGH, cells_of, mask_of
from sequence.widget import play as play_on_board

from evaluator import places

# %% [markdown]
# ## Play first
#
# Play a few turns against a random player, before you have read any rules. The board shows what you may
# do: choose a card, a cell, and a card of the row to take. **Write down** three rules that you believe
# in. The next sections tell whether you were right.

# %%
play_on_board(against=Random(), seed=2)

# %% [markdown]
# ## The board
#
# Ten by ten cells. On every cell but the corners a card is printed. The game uses two full decks,
# 104 cards, and each card that is not a jack is printed on exactly two cells.

# %%
for row in TABLE:
    print(" ".join(f"{card:4}" for card in row))
print()
print("2s stands on", cells_with("2s"), "and on (4, 5) stands", card_at((4, 5)))

# %% [markdown]
# A card is a rank and a suit: `2s` is the two of spades, `th` the ten of hearts. A cell is `(row,
# column)`, from 0 to 9, with (0, 0) at the top left.
#
# You play a card and put a chip on one of its two cells. Five of your chips in a line are a
# **sequence**, and two sequences win. A new sequence may share one chip with an old one. The
# **corners** are free: they count as a chip of yours, and as one of your opponent's.
#
# The **jacks** stand on no cell.
#
# * Two-eyed, `jd` and `jc`: place a chip on *any* empty cell.
# * One-eyed, `jh` and `js`: take away *any* chip of the opponent, unless it is part of a sequence.
#   Sequences stay for ever.
#
# How many lines of five are there, and which cells lie on most of them? Guess before you run this.

# %%
through = [[len(LINES_THROUGH[BIT[row, col]]) for col in range(10)] for row in range(10)]
print(len(LINES), "lines; through a cell at least", min(map(min, through)), "and at most",
      max(map(max, through)))

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
# One more rule makes the middle special. The four cells (4, 4), (4, 5), (5, 4) and (5, 5) are the
# **heart**: whoever holds all four has two sequences at once, and has won.
#
# ## A turn
#
# Each player has six cards. Beside the board lies the **draft row**: five cards, face up. In your
# turn you play a card from your hand *and* say which card of the row you take for it. The gap is
# filled from the deck. When the deck is used up the row shrinks, and when the row is empty the game
# ends: whoever has more sequences wins, and with equal numbers it is a tie.
#
# (These rules are a variant. In the published game two players hold seven cards each and draw
# blind, and there is no heart. `sequence.OFFICIAL` has those rules, but all studies play with the
# row.)
#
# `State.deal(seed=1)` deals a game. The same seed deals the same cards. A state in the last line of
# a notebook cell is shown as a picture, with the hand of the player to move.

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
# Six cards, two cells each, five cards to take: that is 60 actions. With a two-eyed jack in hand
# there are hundreds.
#
# An action is a named tuple: `kind` ("place" or "remove"), `play_card`, `draft_card` and `coords`.
# States never change. `after(action)` makes the next one. `print` shows all of a state, both hands
# included.
#
# There is one kind of turn that is different. A card whose two cells are both taken is **dead**. If
# you hold one when your turn begins, you first decide about it: *trade* it for a card of the row,
# or *forgo* that. Then comes your turn proper. Here x has chips on both cells of 2s, one of them
# put there by a jack, and holds the other 2s. What is legal?

# %%
dead = sketch("x 0,1 8,6 4,4 / o 3,3 6,6 / hand 2s 3s 5h 9c td qc / row 4d 6h 6h kc jd")
for action in dead.legal_actions():
    print(action)

# %% [markdown]
# `sketch` draws a position by hand; we will use it often. `x` are the chips of player 0, `o` those
# of player 1, and capital letters are chips in completed sequences. `example("7/23")` is another
# way to get one: what the player to move sees after 23 actions of a game between the given players
# `Greedy` and `Random`, dealt with seed 7. (The row lists 6h twice: there are two copies of each
# card. For the *actions* that makes no difference.)
#
# ## What a player sees
#
# An agent does not get the state. It gets an **observation**: everything that its player may see
# and nothing else. Compare the text of the state above with this one, the same moment seen by
# player 1.

# %%
print(after.observation())

# %% [markdown]
# The other hand is gone. So is the order of the deck, which is not printed but is in the state. All
# else is there, for instance everything that has been played and drafted so far.

# %%
seen = example("7/23")
for player, action in list(seen.plays())[-4:]:
    print("player", player, "did", action)
print("player 0 drafted and still holds:", seen.drafted(0))

# %% [markdown]
# That last line is worth a lot! The row lies face up, so you *saw* what the opponent took. Only the
# rest of the first six cards is unknown, and it shrinks from turn to turn.
#
# `sequence.agents.beliefs` does the book-keeping. `unseen_cards` are the cards that you have not seen
# anywhere, `may_hold` those that a player may hold, and `sample` makes up a full state that fits
# everything you know. Draw many samples and count, and you have a probability. How likely is it
# that the opponent holds a certain card?

# %%
chance = random.Random(5)
hands = [sample(seen, chance).hand(0) for _ in range(500)]
known = set(seen.drafted(0))
print(len(unseen_cards(seen)), "cards are unseen;", len(may_hold(seen, 0)), "kinds may be held")
for card in ["6h", *sorted(known)[:1], "jd"]:
    share = sum(card in hand for hand in hands) / len(hands)
    print(f"{card}: in {share:.0%} of the samples{' (drafted before our eyes)' * (card in known)}")

# %% [markdown]
# ## Bitboards
#
# How does one store a hundred cells so that questions about them are quick? As a hundred bits of
# one whole number. A **bitboard** has a 1 for every cell of some set: your chips, the empty cells,
# a line. Python's whole numbers can be as long as you like, so one is enough.
#
# Sets become arithmetic, and each of these takes a fraction of a microsecond:
#
# * `a & b`: the cells that are in both,
# * `a | b`: in either,
# * `a & ~b`: in a and not in b,
# * `a.bit_count()`: how many there are,
# * `if a:` whether there is any.
#
# `mask_of(cells)` makes a bitboard and `cells_of(mask)` lists its cells. `BIT[cell]` is the number
# of a cell's bit, `CELLS[bit]` the way back. The bits are in the order of the *cards*: bits 0 and 1
# are the two cells of one card, bits 2 and 3 those of the next, and the last four bits are the
# corners.

# %%
line = mask_of([(4, 0), (4, 1), (4, 2), (4, 3), (4, 4)])
drawn = sketch("x 2,1 4,2 4,3 / o 6,1")
mine, theirs = drawn.chip_masks
print("mine in the line:", (line & mine).bit_count(), " theirs:", (line & theirs).bit_count())
print("empty in the line:", cells_of(line & drawn.empty_mask))
print("bits of 2s:", BIT[0, 1], BIT[8, 6], " cell of bit 0:", CELLS[0])

# %% [markdown]
# ## Write `places`
#
# `places(observation, card)` lists the cells on which a card can be used *now*, row by row. You
# have to tell three kinds of card apart.
#
# * Most cards: the empty ones of their two cells. That may be none.
# * Two-eyed jacks: every empty cell. (`empty_mask` leaves the corners out.)
# * One-eyed jacks: every chip of the other side that is in no completed sequence.
#
# For the last one `evaluator.py` gives you `Chips.of(observation)`, which holds three bitboards:
# `own`, `others` and `locked`, the chips in completed sequences of either side.
#
# Try it where you can see the answer. One cell of 2s is taken here, and o has a sequence in the
# bottom row, with the corner at its left end.

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
# First a game of your own, against the given agent `Greedy`. Click a card of your hand, a lit cell,
# and the card to take. *Show values* writes on cells and cards what they are worth to `Greedy`. (All
# its numbers are positive: only the order counts.)

# %%
play_on_board(against=Greedy(), seed=3, values=Greedy().values)

# %% [markdown]
# `play([first, second], seed)` plays a game between two agents. An agent is anything with a method
# `choose(observation)`. Two are given for now. `Random` plays any legal action. `Greedy` plays what
# looks best at once; it counts the chips in the lines through a cell, and you can read all of it in
# `sequence/agents/greedy.py`.

# %%
game = play([Greedy(), Random()], seed=7)
print(game)
game.final

# %% [markdown]
# Is one better than the other? One game says nothing: the cards may have been good. So we take two
# precautions, here and in all studies to come.
#
# 1. **The same deal from both seats.** Each deal is played twice with changed seats, so that good
#    cards and the first move help either side once. Such a pair is a *paired deal*.
# 2. **An interval.** From a few games you know the strength only roughly. Wilson's 95 % interval
#    says how roughly.
#
# `compare(first, second, deals)` does both. Its score is the share of the points that `first` wins,
# and a tie, which it calls drawn, counts half.

# %%
print("Greedy against Random:", compare(Greedy(), Random(), deals=30))
print("Random against Random:", compare(Random(), Random(), deals=30))

# %% [markdown]
# The second line is a **control**. Nobody is better there, so the interval ought to hold 0.5 (in
# about 95 of 100 such controls it does). A method that keeps finding differences between equals is
# broken, and it is good to know that before you believe it about anything else.
#
# One last measurement: why not search this game as we searched tic-tac-toe? Count the legal actions
# in games that are played at random.

# %%
counts, lengths = [], []
for seed in range(60):
    game = play([Random(), Random()], seed)
    lengths.append(len(game.actions))
    counts += [len(state.legal_actions()) for state in game.states[:-1]]
counts.sort()
print(f"a random game has {sum(lengths) / len(lengths):.0f} actions ({min(lengths)} to "
      f"{max(lengths)}); legal actions: median {counts[len(counts) // 2]}, largest {counts[-1]}")

bins = Counter(min(count // 20 * 20, 500) for count in counts)
axes = figure(7.5, 3.4)
axes.bar(bins.keys(), bins.values(), width=18, align="edge", color="#0072B2")
axes.set(xlabel="legal actions (the last bar: 500 and more)", ylabel="turns",
         title="How many actions there are to choose from")
picture(axes, f"Histogram of the number of legal actions in {len(counts):,} turns of random play: "
        f"median {counts[len(counts) // 2]}, a long tail up to {counts[-1]}, which are the turns "
        "with a two-eyed jack in hand.")

# %% [markdown]
# Some fifty ways to go, then fifty replies by a hand that you do not know, then a card that nobody
# knows. Two turns ahead there are already thousands of ends. So the next notebook begins at the
# other end: without any search, how well can one judge an action by looking at the board?

# %% [markdown]
# **Sources**, in full in `course/bibliography.md`: Reuter 1982 for the game; Wilson 1927 for the
# interval.
