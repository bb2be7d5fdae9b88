# %% [markdown]
# # 10. An evaluator
#
# Look at a Sequence board and choose the cell you want most. You can do this at a glance. Can you
# also explain *why* in numbers, so that a program can do it?
#
# The author of an agent for this game did that, and described how. In this notebook you rebuild
# that evaluator, which we call the **original**: a score for cells, for the board, for actions and
# for cards, and an agent that plays by these scores. We read the description closely. Its example
# contains a mistake, and it leaves some cases open. (To be fair to the original, it was one layer of
# its agent. It chose only when there was nothing to defend and no immediate win. Here it plays
# alone.)
#
# You will learn to represent lines and boards by **bitboards**, to turn a description in words into
# code that covers all cases, and to combine numbers on different scales into one. All your code
# belongs in `evaluator.py`, from `line_cost` to `Evaluator`. You need `places` from notebook 9.
# Allow 4 to 9 hours. Notebook 10b continues with the agent that you build here.

# %%
# %load_ext course.notebook
from functools import cache
from statistics import median
from time import perf_counter

from course.check import check
from course.plots import score_map
from sequence import Greedy, Random, compare, example, play, sketch
from sequence.board.layout import BIT, CELLS, LINES_THROUGH, PLAYABLE, cells_of, mask_of
from sequence.widget import play as play_on_board

from evaluator import (Chips, Evaluator, board_gain, board_score, cell_score, draft_score,
                       edge_distance, line_cost, line_score, parts, play_score)

# %% [markdown]
# ## A list of reasons
#
# Play some turns against `Greedy`. Before each turn write down, in a few words, why you want this
# cell and not another. Keep the list. At the end of notebook 10b, see which of your reasons the
# formulas include.

# %%
play_on_board(against=Greedy(), seed=10)

# %% [markdown]
# ## Bitboards
#
# The evaluator asks many questions about sets of cells. Each set of the hundred cells is stored as
# the bits of one integer, a bitboard: a bit is 1 if its cell is in the set. Sets become arithmetic,
# and each of these operations takes a fraction of a microsecond:
#
# * `a & b`: the cells that are in both,
# * `a | b`: in either,
# * `a & ~b`: in a and not in b,
# * `a.bit_count()`: how many there are,
# * `if a:` tests whether there are any.
#
# `mask_of(cells)` creates a bitboard and `cells_of(mask)` lists its cells. `BIT[cell]` is the
# number of a cell's bit, and `CELLS[bit]` is the inverse. The bits are in the order of the *cards*:
# bits 0 and 1 are the two cells of one card, bits 2 and 3 those of the next, and the last four bits
# are the corners.

# %%
line = mask_of([(4, 0), (4, 1), (4, 2), (4, 3), (4, 4)])
drawn = sketch("x 2,1 4,2 4,3 / o 6,1")
mine, theirs = drawn.chip_masks
print("mine in the line:", (line & mine).bit_count(), " theirs:", (line & theirs).bit_count())
print("empty in the line:", cells_of(line & drawn.empty_mask))
print("bits of 2s:", BIT[0, 1], BIT[8, 6], " cell of bit 0:", CELLS[0])

# %% [markdown]
# ## Counting actions
#
# The basic question is: what is the smallest number of actions that finishes a line of five? Go
# through its cells.
#
# | on the cell | actions |
# |---|---|
# | one of our own chips, or a free corner | 0 |
# | nothing | 1: place |
# | a chip of the opponent | 2: remove it, then place |
#
# The score of a **cell** is that of the *cheapest* line through it. If one of our own chips is
# already there, the score is 1 higher, because placing another chip there would be a waste. So a
# low score is good.
#
# ## By hand
#
# Take the five cells of column 1 from row 2 down to row 6, and call this line A. On the empty board
# every cell in it has the score 5. Now we place three chips, at (2, 1), (4, 2) and (4, 3). Take a
# pencil and write down the five scores before you continue. Two other lines matter: B, row 4 from
# column 0 to column 4, and C, the diagonal from (2, 1) to (6, 5).

# %%
three = sketch("x 2,1 4,2 4,3")
three

# %% [markdown]
# <details><summary>Solution</summary>
#
# * (2, 1): line C has two chips, so it costs 3. The cell holds one of our own chips: 3 + 1 = **4**.
# * (3, 1): line A costs 4. So does the diagonal from (2, 0) to (6, 4), which contains (4, 2).
#   **4**.
# * (4, 1): line B has two chips: **3**.
# * (5, 1): line A: **4**. No line through this cell has two chips.
# * (6, 1): line A: **4**.
#
# </details>
#
# The description has 4, 3, 4, 4, 4. It explains correctly that B makes (4, 1) a 3. But (4, 1) is
# the *third* cell of A, not the second: the numbers 3 and 4 have been swapped. This is only a writing
# error, because further down the order is correct. Always check the numbers that you are
# given, including those in this notebook!
#
# ## What the description leaves open
#
# A rule for a program must cover all cases. The description does not mention the following three.
#
# 1. *Corners* are free for both sides. So they need no action.
# 2. *A chip in one of the opponent's sequences* can never be removed. A line through it cannot be
#    finished.
# 3. *Our own sequences.* By the rules a new sequence may share *one* chip with an old one. A line
#    that contains two or more chips of an old sequence cannot be finished either.
#
# What is the cost of a line that cannot be finished? It needs a number worse than all others. The
# most expensive line that can still be finished has four chips of the opponent and an empty cell: 4
# x 2 + 1 = 9. (Five of theirs would be a sequence.) So we take 10 and call it `NEVER`.
#
# ## Write `line_cost`
#
# `line_cost(line, chips)` receives a bitboard of five cells and the chips as one side sees them:
# `chips.own`, `chips.others`, and `chips.locked`, which are the chips in completed sequences of
# both sides. Our lines A, B and C should cost 4, 3 and 3.
#
# Then try the hard cases. **Before you run the cell, predict** the cost of each: a line with a
# corner and one chip; one with two chips of ours and two of theirs; one that crosses their
# sequence; one that crosses ours.

# %%
A = mask_of([(row, 1) for row in range(2, 7)])
B = mask_of([(4, col) for col in range(5)])
C = mask_of([(2 + k, 1 + k) for k in range(5)])
print("A, B, C:", *(line_cost(line, Chips.of(three)) for line in (A, B, C)))

hard = sketch("x 0,1 4,0 4,4 / o 4,1 4,2 / O 6,0 6,1 6,2 6,3 6,4 / X 2,5 3,5 4,5 5,5 6,5"
              " / score 1 1")
lines = [[(0, col) for col in range(5)], [(4, col) for col in range(5)],
         [(row, 2) for row in range(3, 8)], [(3, col) for col in range(5, 10)]]
print("hard cases:", *(line_cost(mask_of(line), Chips.of(hard)) for line in lines))
hard

# %%
check("study6.line_cost")

# %% [markdown]
# ## Write `cell_score`
#
# The score is the cost of the cheapest line through the cell, plus 1 if one of our own chips is on
# it. `LINES_THROUGH[BIT[cell]]` contains the lines.
#
# Here is the complete example: line A on the empty board, after one chip, after three, and then
# with a chip of the opponent, once next to the line at (6, 2) and once in it at (6, 1). The
# description is right about the last two. (6, 2) changes nothing, because each cell has another
# line that is equally cheap. (6, 1) makes the last cell more expensive; the other four have lines
# that avoid it.

# %%
line_a = [(row, 1) for row in range(2, 7)]
for title, drawing, described in (
        ("empty board", "", "5 5 5 5 5"), ("x at (2, 1)", "x 2,1", "5 4 4 4 4"),
        ("and (4, 2), (4, 3)", "x 2,1 4,2 4,3", "4 3 4 4 4"),
        ("o at (6, 2)", "x 2,1 4,2 4,3 / o 6,2", "as before"),
        ("o at (6, 1)", "x 2,1 4,2 4,3 / o 6,1", "4 4 3 4 5")):
    chips = Chips.of(sketch(drawing))
    print(f"{title:20}", *(cell_score(cell, chips) for cell in line_a),
          "  described:", described)

# %%
check("study6.cell_score")

# %% [markdown]
# ## The board, and its best line
#
# We use two summaries of a whole board. The **board score** is the sum of the scores of all cells
# (without the corners, where no chip can be placed). The **line score** considers the cheapest line
# only.
#
# Both count actions, so less is better. In the final formula more is better. So the original
# inverts them: some maximum minus the sum, some maximum minus the cost. The description does not
# specify *which* maximum. For the board it makes no difference, as long as the result is not
# squared. For the line it does:
#
# | cost of the line | 10 - cost, squared | 5 - cost, squared |
# |---|---|---|
# | 1, one short of a sequence | 81 | 16 |
# | 5, an empty line | 25 | 0 |
# | 8, three of theirs in it and two empty cells | 4 | 9 |
#
# Five looks natural, because an empty line needs five actions. But look at the last column. With 5,
# a hopelessly blocked line is worth more than an empty one! We take `NEVER`, 10.
#
# **Think first.** (a) Which property must a maximum have so that squaring preserves the order?
# (b) Would the agent play differently if `NEVER` and the maximum were 100 instead of 10?
#
# <details><summary>An answer</summary>
#
# (a) It must be at least as large as every cost. Then no number is negative, and squaring preserves
# the order. A negative number becomes positive: with the maximum 5, a cost of 8 gives 9.
#
# (b) Yes. With 10 the costs 1, 2 and 5 give 81, 64 and 25. With 100 they give 9,801, 9,604 and
# 9,025: the order is the same, but one action fewer is worth about 190 instead of about 15. Since
# the square is *added* to other parts, these become negligible.
#
# </details>
#
# ## Faster
#
# What we need during play is a difference: by how much does the board score *rise* when we place a
# chip here? Call it the **gain**. It is the difference of two board scores. But a board score
# examines 96 cells with about ten lines each, and an action has up to a hundred cells to choose
# from.
#
# Think before you compute. If we place a chip on an empty cell, every line through it needs one
# action fewer. If we remove a chip of theirs, 2 becomes 1: again one fewer. So
#
# > **an action makes each line through its cell cheaper by one,** unless the line cannot be finished. Nothing else changes.
#
# Then a cell's score falls by one exactly if one of these lines was among its cheapest. So group
# the cells by their cheapest cost once per board, with one bitboard for each cost. Then go through
# the lines of the played cell. From a line that costs k, collect the cells whose cheapest cost is
# k. Count the cells that you have collected. Only the played cell needs special treatment: when you
# place a chip, its line becomes cheaper, but the new chip adds 1.
#
# Write `board_score`, `line_score`, `cells_by_cost` and `board_gain`. (Two board scores in
# `board_gain` give full points and a slow agent; in that case you may omit `cells_by_cost`.) Each
# method tests the other:

# %%
def slow_gain(chips, kind, cell):
    """The gain by its definition."""
    return board_score(chips.after(kind, cell)) - board_score(chips)


chips = Chips.of(example("7/23"))
empty = cells_of(PLAYABLE & ~(chips.own | chips.others))
print("the same everywhere:", all(
    board_gain(chips, "place", cell) == slow_gain(chips, "place", cell) for cell in empty))
for gain in (slow_gain, board_gain):
    start = perf_counter()
    for cell in empty:
        gain(chips, "place", cell)
    spent = 1e6 * (perf_counter() - start) / len(empty)
    print(f"{gain.__name__}: {spent:6.0f} microseconds per cell")

# %%
check("study6.board")

# %% [markdown]
# ## Rating an action
#
# The description reports that rating an action by the whole board after it does not work well. Here
# is why. x has four in a row. Place a chip anywhere: what is the line score of the board then? And
# what is it if we only consider the lines through the cell that was played?

# %%
four = sketch("x 4,1 4,2 4,3 4,4 / o 6,1")
chips = Chips.of(four)
boards = {cell: chips.after("place", cell) for cell in cells_of(four.empty_mask)}
for name, found in (
        ("whole board", [line_score(after) for after in boards.values()]),
        ("through the cell", [line_score(after, cell) for cell, after in boards.items()])):
    print(f"{name:17}", {value: found.count(value) for value in sorted(set(found))})

# %% [markdown]
# As soon as there is one good line somewhere, the line score of the board is the same whatever you
# do elsewhere: it no longer distinguishes between cells. The line score through the cell does. So
# an action has three **parts**:
#
# * *sequence*: the number of our sequences after the action;
# * *line*: the line score through the cell, after the action;
# * *board*: the gain, plus the distance from the cell to the nearest edge, because the middle is
#   better than the edge.
#
# (An action is evaluated with the set of completed sequences from before the action.
# Otherwise a line would be locked at the moment when it is completed.) The original formula
# combines them into one number:
#
# > **score = 100 sequence² + 1 line² + 1 board¹**
#
# Squares make large differences larger: the second sequence wins the game and adds 300, the first
# adds 100. A line that needs one more action is far better than one that needs two.
# The six numbers are parameters, `Weights`; `ORIGINAL_WEIGHTS` contains those of the original. The
# seventh, `blocking`, is 0 for now. Write `edge_distance`, `parts`, `score` and `play_score`; leave
# `threat` for notebook 10b.
#
# The cell then draws the original's scores on the empty board. **Guess** which cells it likes best.

# %%
print("(4, 5) completes the row:", parts(four, "place", (4, 5)), play_score(four, "place", (4, 5)))
print("(3, 4) does not:         ", parts(four, "place", (3, 4)), play_score(four, "place", (3, 4)))
empty_board = sketch("")
scores = {cell: play_score(empty_board, "place", cell)
          for cell in cells_of(empty_board.empty_mask)}
counted = {cell: score - edge_distance(cell) for cell, score in scores.items()}
print("without the distance to the edge: the heart", counted[4, 4], "next to it", counted[3, 3],
      "at the edge at most", max(counted[cell] for cell in counted if edge_distance(cell) == 0))
score_map(empty_board, scores, "the original on an empty board")

# %%
check("study6.play")

# %% [markdown]
# Is the middle the best only because the formula adds the distance to the edge? No. The printed
# line shows the scores without this term, and the heart is still ahead. The formula contains no
# rule about diagonals or the heart either: it finds the middle and the main diagonals (the corners
# at their ends are free) by counting actions. But it also likes some cells along the edges. Can you
# explain why?
#
# <details><summary>Answer</summary>
#
# For the same reason: they are in lines that contain a free corner, and such a line needs four
# actions instead of five. After a chip there the line score is 10 - 3 = 7, squared 49. For a cell
# without such a line it is 6, squared 36.
#
# </details>
#
# ## Rating a card
#
# Which card should we take? Simulate it: place a chip on the better of its two cells, as if it were
# our turn again. Then discount the score, because in fact we have to wait for the next turn. The
# description does not give the discount; we take 0.75. (Why not 0.8? Quarters are exact in binary,
# and so are their sums. You met the problem with tenths in notebook 3.)
#
# The jacks are not simulated. They have fixed values: 150 for a two-eyed jack, 120 for a one-eyed
# one. That is more than making a four and less than completing a sequence. Since the score of every
# other card contains 100 sequence², that of a jack must contain it as well.

# %%
for card in ("9c", "4h", "2s", "jd", "jh"):
    print(card, draft_score(four, card))

# %%
check("study6.draft")

# %% [markdown]
# ## The agent
#
# The value of an action is the score of the play plus the score of the card taken. (So the discount
# changes no choice here: any card can be taken with any play, and the best card is the best at any
# discount.) `best_action` finds the best legal action for any two such functions;
# `Evaluator.choose` uses it with your scores. A player with a two-eyed jack may have a thousand
# legal actions, but never more than a hundred cells and five cards. So compute each score once and
# store it.

# %%
compared = cache(compare)  # each match is played only once


def report(name, found):
    """Print a comparison and the score from each seat."""
    first, second = found.seats
    print(f"{name}: {found}\n    playing first {first.score:.2f}, second {second.score:.2f}")


greedy, original = Greedy(), Evaluator()
report("original against Random", compared(original, Random(), deals=15))
report("original against Greedy", compared(original, greedy, deals=30))

spent, _ = compared(original, greedy, deals=30).seconds
print(f"time per move: median {1000 * median(spent):.1f} ms, maximum {1000 * max(spent):.1f} ms")

# %%
check("study6.evaluator")

# %% [markdown]
# It beats `Random` easily. But `Greedy`, which only counts chips in lines, beats *it*. Why does
# such a careful evaluation give a worse result? The description ends with two complaints about the
# original. Notebook 10b examines them, and they lead to the answer.

# %% [markdown]
# **Sources**, in full in `course/bibliography.md`: Wilson 1927 for the intervals. The description
# of the original is not published; the acknowledgements in the bibliography name its origin.
