# %% [markdown]
# # 10. An evaluator
#
# Look at a Sequence board and say which cell you want. You can do it at a glance. Can you say *why*
# in numbers, so that a program can?
#
# Somebody did that for an agent of this game and described how. In this notebook you rebuild that
# evaluator, which we call the **original**: a score for cells, for the board, for actions and for
# cards, and an agent that plays by them. We read the description closely. It has a slip in its
# example, it leaves things open, and it ends with two complaints about itself. We will put all of
# that to the test.
#
# To be fair: the original was one layer of its agent. It chose only where there was nothing to
# defend and nothing to win at once; other layers did the rest. Here it plays alone.
#
# Everything goes into `evaluator.py`. You need `places` from notebook 9.

# %%
# %load_ext course.notebook
from functools import cache
from statistics import mean, median
from time import perf_counter

from course.check import check
from course.plots import board_figure, figure, picture
from sequence import Greedy, Random, compare, example, play, sketch
from sequence.board.layout import BIT, LINES_THROUGH, PLAYABLE, cells_of, mask_of
from sequence.widget import play as play_on_board
from sequence.widget.scores import score_board
from tictactoe.games.play import wilson_interval
from tictactoe.show.time_left import TimeLeft, with_time_left

from evaluator import (BLOCKING, RECIPE, Chips, Evaluator, LineCounter, board_gain, board_score,
                       cell_score, draft_score, line_cost, line_score, parts, play_score,
                       simple_score, threat)

# %% [markdown]
# ## Play first
#
# Play some turns against `Greedy`. Before each of them write down, in a few words, why you want this
# cell and not another. Keep the list: at the end of this notebook, see which of your reasons the
# formula knows.

# %%
play_on_board(against=Greedy(), seed=10)

# %% [markdown]
# ## Counting actions
#
# The idea: what is the smallest number of actions that finishes a line of five? Go through its
# cells.
#
# | on the cell | actions |
# |---|---|
# | an own chip, or a free corner | 0 |
# | nothing | 1: place |
# | a chip of the opponent | 2: remove it, then place |
#
# The score of a **cell** is that of the *cheapest* line through it. If one of our own chips stands
# there already it gets 1 on top: to place there again would be a waste. So low is good.
#
# ## By hand
#
# Take the five cells of column 1 from row 2 down to row 6; call this line A. On the empty board
# every cell in it has 5. Now we place three chips, at (2, 1), (4, 2) and (4, 3). Take a pencil and
# write down the five scores before you go on. Two other lines matter: B, row 4 from column 0 to
# column 4, and C, the diagonal from (2, 1) to (6, 5).

# %%
three = sketch("x 2,1 4,2 4,3")
three

# %% [markdown]
# <details><summary>Solution</summary>
#
# * (2, 1): line C has two chips, so it costs 3. An own chip stands on the cell: 3 + 1 = **4**.
# * (3, 1): line A costs 4. So does the diagonal from (2, 0) to (6, 4), with (4, 2) in it. **4**.
# * (4, 1): line B has two chips: **3**.
# * (5, 1): line A: **4**. No line through this cell has two.
# * (6, 1): line A: **4**.
#
# </details>
#
# The description has 4, 3, 4, 4, 4. It explains, rightly, that B makes (4, 1) a 3. But (4, 1) is the
# *third* cell of A, not the second: the numbers 3 and 4 have changed places. That is a slip of the
# pen; further down the order is right. Check the numbers that you are given, those in this notebook
# too!
#
# ## What the description leaves open
#
# A rule for a program must cover all cases. The description does not say what happens with these
# three.
#
# 1. **Corners** are free for both. So they need no action.
# 2. **A chip in one of the opponent's sequences** cannot be removed, ever. A line through it cannot
#    be finished.
# 3. **Our own sequences.** By the rules a new sequence may share *one* chip with an old one. A line
#    with two or more of them cannot be finished either.
#
# What does a line cost that cannot be finished? It needs a number worse than all others. The most
# expensive line that can still be finished has four chips of the opponent and an empty cell:
# 4 x 2 + 1 = 9. (Five of theirs would be a sequence.) So we take 10 and call it `NEVER`.
#
# ## Write `line_cost`
#
# `line_cost(line, chips)` gets a bitboard of five cells and the chips as one side sees them:
# `chips.own`, `chips.others`, and `chips.locked`, which are the chips in completed sequences of
# both sides. Our lines A, B and C should cost 4, 3 and 3.
#
# Then the hard cases. **Before you run the cell, say** what each costs: a line with a corner and one
# chip; one with two chips of ours and two of theirs; one that crosses their sequence; one that crosses
# ours.

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
# The cheapest line through the cell, plus 1 for an own chip on it. `LINES_THROUGH[BIT[cell]]` holds
# the lines.
#
# Here is the whole example: line A on the empty board, after one chip, after three, and then with a
# chip of the opponent, once beside it at (6, 2) and once in it at (6, 1). The description is right
# about the last two. (6, 2) changes nothing, because each cell has another line that is as cheap.
# (6, 1) makes the last cell more expensive; the other four have lines that avoid it.

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
# Two summaries of a whole board. The **board score** adds up the scores of all cells (the corners
# are left out, nobody can place there). The **line score** looks at the cheapest line only.
#
# Both count actions, so less is better. In the formula to come more is better. So the original turns
# them round: some maximum minus the sum, some maximum minus the cost. *Which* maximum, it does not
# say. For the board it makes no difference, as long as nobody squares it. For the line it does:
#
# | cost of the line | 10 - cost, squared | 5 - cost, squared |
# |---|---|---|
# | 1, one short of a sequence | 81 | 16 |
# | 5, an empty line | 25 | 0 |
# | 8, three of theirs in it and two empty cells | 4 | 9 |
#
# Five looks natural: an empty line needs five actions. But look at the last column. With 5 a
# hopelessly blocked line is worth more than an empty one! We take `NEVER`, 10.
#
# **Think first.** (a) Why does a square go wrong with the maximum 5, where the line score itself would
# not? State the property that a maximum must have for the order to survive. (b) Would the agent
# play differently with `NEVER` = 100 and the maximum 100, in place of 10? Look at (100 - cost)
# squared for the costs 1, 2 and 5, and say what the change does to the weight of the line part next
# to the other parts. (c) In notebook 3 the divisor could be any number that was large enough. Why
# is it different here?
#
# <details><summary>An answer</summary>
#
# (a) Squaring turns a negative number into a positive one. With the maximum 5, a cost of 8 gives 9,
# more than the 4 that a cost of 3 gives. The maximum must be at least as large as every cost. Then
# nothing is negative, and squaring keeps the order.
#
# (b) Yes. With 10 the costs 1, 2 and 5 give 81, 64 and 25. With 100 they give 9,801, 9,604 and
# 9,025: the order is the same, but one action fewer is worth about 190 instead of about 15, and
# drowns the other parts.
#
# (c) There all values had one common factor, and a search only asks which of two is greater. Here a
# part is shifted and squared, and then *added* to others.
#
# </details>
#
# ## Faster
#
# What we need in play is a difference: by how much does the board score *rise* when we place a chip
# here? Call it the **gain**. Two board scores give it. But a board score looks at 96 cells with about
# ten lines each, and an action has up to a hundred cells to choose from.
#
# Think before you compute. If we place a chip on an empty cell, every line through it needs one
# action fewer. If we remove a chip of theirs, 2 becomes 1: again one less. So
#
# > **an action makes each line through its cell cheaper by one,** unless it cannot be finished.
# > Nothing else changes.
#
# Then a cell's score falls by one exactly when one of these lines was among its cheapest. So: sort the
# cells by their cheapest cost once per board, one bitboard for each cost. Then go through the lines
# of the played cell. From a line that costs k, collect the cells that have cheapest cost k. Count
# what you have collected. Only the played cell needs a thought of its own: when you place, its
# line gets cheaper, and the new chip adds 1.
#
# Write `board_score`, `line_score`, `cells_by_cost` and `board_gain`. (Two board scores in
# `board_gain` give full points and a slow agent; then you may leave `cells_by_cost` out.) Each way
# tests the other:

# %%
def slow_gain(chips, kind, cell):
    """The gain as it is defined."""
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
    print(f"{gain.__name__}: {spent:6.0f} microseconds a cell")

# %%
check("study6.board")

# %% [markdown]
# ## Rating an action
#
# To rate an action by the whole board after it does not work well, says the description. Here is
# why. x has four in a row. Place a chip anywhere: what is the line score of the board then? And what
# is it if we look only at the lines through the cell that was played?

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
# do elsewhere: it no longer tells one cell from another. The line score through the cell does. So an
# action has three **parts**:
#
# * **sequence**: how many sequences we have when it is done;
# * **line**: the line score through the cell, when it is done;
# * **board**: the gain, plus the distance from the cell to the nearest edge, because the middle is
#   better than the edge.
#
# (While the action is judged, sequences count as they stood before. Otherwise a line would be
# locked at the moment when it is completed.) The original formula makes one number of them:
#
# > **score = 100 sequence² + 1 line² + 1 board¹**
#
# Squares make the large differences larger: the second sequence wins the game and adds 300, the
# first adds 100. A line that needs one more action is far better than one that needs two.
#
# The six numbers are parameters, `Weights`; `RECIPE` holds those of the original. The seventh,
# `blocking`, is 0 for now. Write `edge_distance`, `parts`, `score` and `play_score`; leave `threat`
# for later.
#
# The cell then draws what the original thinks of the empty board. **Guess** which cells it likes best.

# %%
def score_map(observation, rate, title, mark=()):
    """A heat map of what a chip on each empty cell is worth, by `rate(observation, kind, cell)`."""
    values = [[float("nan")] * 10 for _ in range(10)]
    for row, col in cells_of(observation.empty_mask):
        values[row][col] = rate(observation, "place", (row, col))
    axes = board_figure(title)
    image = axes.imshow(values, cmap="cividis")
    axes.figure.colorbar(image, ax=axes, shrink=0.8, label="score")
    for row in range(10):
        for col in range(10):
            if observation[row, col]:
                axes.text(col, row, observation[row, col], ha="center", va="center")
    for row, col in mark:
        axes.plot(col, row, marker="o", markersize=19, markeredgewidth=4, fillstyle="none",
                  color="white")
        axes.plot(col, row, marker="o", markersize=19, markeredgewidth=2, fillstyle="none",
                  color="#D55E00")
    best = max(cells_of(observation.empty_mask), key=lambda cell: values[cell[0]][cell[1]])
    return picture(axes, f"Heat map of the board: {title}. The best cell is {best} with "
                   f"{values[best[0]][best[1]]:g}" + "".join(
                       f"; cell {cell} has {values[cell[0]][cell[1]]:g}" for cell in mark) + ".")


print("(4, 5) completes the row:", parts(four, "place", (4, 5)), play_score(four, "place", (4, 5)))
print("(3, 4) does not:         ", parts(four, "place", (3, 4)), play_score(four, "place", (3, 4)))
score_map(sketch(""), play_score, "the original on an empty board")

# %%
check("study6.play")

# %% [markdown]
# Nobody told it about diagonals or the heart. It has found the middle and the main diagonals (the
# corners at their ends are free) by counting actions. But it also likes the cells along the edges. Can
# you say why?
#
# <details><summary>Answer</summary>
#
# For the same reason: they are in lines that hold a free corner, and such a line needs four actions
# instead of five. After a chip there the line score is 10 - 3 = 7, squared 49. Where no line holds a
# corner it is 6, squared 36.
#
# </details>
#
# ## Rating a card
#
# Which card should we take? Simulate: put it on the better of its two cells, as if it were our turn
# again. Then discount, because in truth it has to wait. The discount is not in the description
# either; we take 0.75. (Why not 0.8? Quarters are exact in binary, and so are their sums. You met the
# trouble with tenths in notebook 3.)
#
# The jacks are not simulated. They get fixed values: 150 for two eyes, 120 for one. That is more
# than making a four and less than completing a sequence. Since the score of every other card contains
# 100 sequence², that of a jack must contain it as well.

# %%
for card in ("9c", "4h", "2s", "jd", "jh"):
    print(card, draft_score(four, card))

# %%
check("study6.draft")

# %% [markdown]
# ## The agent
#
# An action is worth what is played plus what is taken. (So the discount changes no choice here: any
# card can be taken with any play, and the best card is the best at any discount.) `best_action` finds
# the best legal action for any two such functions; `Evaluator.choose` uses it with your scores. A
# player with a two-eyed jack may have a thousand legal actions, but never more than a hundred cells and
# five cards. So ask for each of them once, and remember the answer.

# %%
compared = cache(compare)  # what has been played is not played again


def report(name, found):
    """Print a comparison, and its score from each seat."""
    first, second = found.seats
    print(f"{name}: {found}\n    playing first {first.score:.2f}, second {second.score:.2f}")


greedy, original = Greedy(), Evaluator()
report("original against Random", compared(original, Random(), deals=15))
report("original against Greedy", compared(original, greedy, deals=30))

spent, _ = compared(original, greedy, deals=30).seconds
print(f"a move takes {1000 * median(spent):.1f} ms (median), the slowest {1000 * max(spent):.1f} ms")

# %%
check("study6.evaluator")

# %% [markdown]
# It beats `Random` with ease. But `Greedy`, which only counts chips in lines, beats *it*. So much
# care, and a worse result? Let us find out why. The description ends with two complaints about the
# original, and they lead to the answer.
#
# ## First complaint: playing second
#
# The author says that the agent runs away: where the opponent has taken the middle, it settles for
# the poorer cells around it. And since the first player takes the middle, the agent is said to lose
# more as the second player. Here o has three in a row in the very middle. What would you do? The
# circles are the cells that o wants most.

# %%
middle = sketch("o 4,3 4,4 4,5")
rated = {cell: play_score(middle, "place", cell) for cell in cells_of(middle.empty_mask)}
for cell in ((4, 2), (4, 6)):
    above = sum(value > rated[cell] for value in rated.values())
    print(f"{cell}: {rated[cell]}; {above} of {len(rated)} cells have more")
score_map(middle, play_score, "the original, o has three in the middle", [(4, 2), (4, 6)])

# %% [markdown]
# It does run away. Each chip of theirs adds one to the cost of a line, and so the agent prefers almost
# half of the board to the two cells that any player would look at first. It plays below them, where
# the lines are still free. It counts how far *we* have to go and never asks how far *they* have.
#
# So the first half of the complaint is true, and we have seen the cause. The second half is a claim
# about numbers. Look again at the agent's results against `Greedy`: from the first seat it won much
# more than from the second. But a difference needs a **control**. Perhaps everybody loses more when
# playing second, because the first move is worth something in this game.
#
# ### A remedy
#
# Ask the missing question. The **threat** of a cell is the line score that *the others* would have
# if they got a chip there. Add it to the score, squared like our own line, with a weight:
#
# > score = 100 sequence² + line² + board + **blocking · threat²**
#
# `chips.swapped()` shows the board as the others see it. Write `threat`, and put it into
# `play_score`. `BLOCKING` holds the original weights with `blocking` = 1. The threat at (4, 6) should
# be 9: with a chip there o would have four.
#
# Below are the weights as knobs, on the same position: at first those of the original. **Before you
# move a slider, say** how large `blocking` must be before a cell beside o's three is the best. Then
# leave it at 1: which change to another weight makes the agent run away again?

# %%
print("threat at (4, 6):", threat(Chips.of(middle), (4, 6)))


def worth(cell, **changed):
    """What a chip on the cell is worth if some weights of the original are changed."""
    return play_score(middle, "place", cell, RECIPE._replace(**changed))


score_board(middle, cells_of(middle.empty_mask), worth, {
    "blocking": (0, 0.2, 0.4, 0.6, 0.8, 1, 1.5, 2), "line": (0, 1, 2, 4),
    "line_exponent": (1, 2, 3), "board": (0, 1, 2, 4)}, at=RECIPE._asdict())

# %%
check("study6.blocking")

# %% [markdown]
# <details><summary>Answer</summary>
#
# At first (5, 5) is the best, with 71. It gains 49 for each unit of `blocking`. (4, 6), beside the
# three, has 55 and gains 81. They meet at 1/2, so 0.6 is the first value of the knob that is enough.
# With `blocking` at 1, a `line` of 4 or a `line_exponent` of 3 makes the agent run away again: then
# (4, 0), at the edge, is the best.
#
# </details>
#
# Now measure: the original and the remedy against `Greedy`, by seat. And the control: two copies of
# the *same* agent against each other. What the first of them wins beyond one half is the value of the
# first move, and nobody's fault. (On a slow machine the cell takes half a minute.)

# %%
blocking = Evaluator(BLOCKING)
games = 60
one_more = TimeLeft(4 * games, "games")
report("original against Greedy", compared(original, greedy, deals=30))
report("blocking against Greedy", compared(blocking, greedy, deals=30))
for name, agent, twin in (("Random", Random(), Random()), ("Greedy", greedy, greedy),
                          ("original", original, original), ("blocking", blocking, blocking)):
    points = []
    for deal in range(games):
        winner = play([agent, twin], seed=deal).winner
        points.append(0.5 if winner is None else winner == 0)
        one_more()
    first = mean(points)
    low, high = wilson_interval(first, games)
    print(f"{name:9} against itself: the first player has {first:.2f} ({low:.2f} to {high:.2f})")

# %% [markdown]
# Sixty games leave wide intervals. With more it looks like this.
#
# | agent | first, against Greedy | second | both seats | first, against itself |
# |---|---|---|---|---|
# | original | 0.45 | 0.27 | 0.36 (0.33 to 0.39) | 0.58 (0.56 to 0.60) |
# | with the threat | 0.47 | 0.36 | 0.41 (0.38 to 0.44) | 0.56 (0.53 to 0.58) |
# | `LineCounter`, soon to come | 0.58 | 0.45 | 0.52 (0.49 to 0.55) | 0.58 (0.56 to 0.60) |
# | `Greedy` | | | | 0.54 (0.52 to 0.56) |
# | `Random` | | | | 0.51 (0.49 to 0.54) |
#
# (500 paired deals against `Greedy`, 2,000 games against itself, with 95 % intervals. After 300 games
# the last column said nothing yet: it had 0.52 for the original.)
#
# Go through it column by column, and note which intervals leave one half out. Further down
# we ask what the table says about the complaint.
#
# The remedy has more points from both seats, though the intervals overlap. The direct match is clear:
# over 500 paired deals it wins 0.60 (0.57 to 0.63) of the points against the original.
#
# ### The layers around it
#
# The author never let the evaluator play alone. Two layers acted first: *complete* a sequence if you
# can, and *stop* one of theirs if you must. Before you open the answer: which of the two should come
# first? And will an agent with the layers be stronger than one with the threat?
#
# <details><summary>What 500 paired deals against Greedy say</summary>
#
# Complete first, and the evaluator with layers has 0.43 (0.40 to 0.46), where it has 0.36 (0.33 to
# 0.39) alone. Stop first, and it has 0.36, no more than alone: an agent that answers every threat first
# misses its own chances to win. The threat in the formula has 0.41 (0.38 to 0.44), and both together
# 0.39 (0.36 to 0.42). They see the same dangers, so together they bring no more than one of them.
#
# </details>
#
# How much defending is right? Turn the knob.

# %%
weights, found = (0, 0.5, 1, 1.5, 2), []
for weight in with_time_left(weights, "weights"):
    found.append(compared(Evaluator(RECIPE._replace(blocking=weight)), greedy, deals=20))
    print(f"blocking {weight}: {found[-1]}")
shares = [comparison.score for comparison in found]
ends = [comparison.interval for comparison in found]
axes = figure(6.5, 3.6)
axes.errorbar(weights, shares, fmt="o-", capsize=4, color="#0072B2",
              yerr=[[max(0, share - low) for share, (low, _) in zip(shares, ends)],
                    [max(0, high - share) for share, (_, high) in zip(shares, ends)]])
axes.axhline(0.5, color="black", linestyle="--", linewidth=1)
axes.set(xlabel="weight of the threat", ylabel="share of points against Greedy", ylim=(0, 0.75),
         title="How much blocking? (95 % intervals, 20 paired deals each)")
picture(axes, "Share of points against Greedy by the weight of the threat: " + ", ".join(
    f"{weight}: {share:.2f}" for weight, share in zip(weights, shares)) + ".")

# %% [markdown]
# A little blocking helps, and then the curve falls off a cliff. A first guess is that the agent
# blocks where it could win. Check a guess before you believe it: count the turns in which a
# placement would complete a sequence, and those in which the agent made one.

# %%
def chances(weight, deals=15):
    """Over games against Greedy: own turns, those with a sequence to complete, and those taken."""
    agent, turns, could, did = Evaluator(RECIPE._replace(blocking=weight)), 0, 0, 0
    for deal in range(deals):
        game = play([agent, greedy], seed=deal)
        for state, action in zip(game.states, game.actions):
            if state.to_move == 0 and action.coords:
                seen = state.observation()
                options = {(option.kind, option.coords) for option in seen.legal_actions()}
                turns += 1
                could += any(parts(seen, *option)[0] > seen.sequences[0] for option in options)
                did += parts(seen, action.kind, action.coords)[0] > seen.sequences[0]
    return f"{turns} turns, {could} with a sequence to complete, {did} completed"


for weight in (1, 2):
    print("weight", weight, "-", chances(weight))

# %% [markdown]
# **Question.** The guess was wrong: the agent with weight 2 takes nearly every chance. It just gets
# very few. (a) We have a line that costs k, with an empty cell in it, and they have a line elsewhere
# that costs them k, also with an empty cell. Compare line² and blocking · threat² for the two
# cells. Which weight is the border, and what does the agent do on either side of it? (b) Why does a
# player who always blocks first get few chances, and why does that lose? Think of how many cells a
# hand can reach. (c) There are weights with which the guess comes true. From the formula: how large
# can the value of a block become, how large is that of a completed first sequence, and what would you
# change so that winning comes first whatever the weight?

# %% [markdown] answer="weights-and-wins"
# *Write your answer here.*

# %% [markdown]
# **Think first.** "The agent loses more when it plays second, so its evaluation must be bad for the
# second player." (a) How much does each agent of the table lose by changing from the first seat to
# the second, against `Greedy` and against itself? Which of these losses can be chance? So how much of
# the original's loss is due to the *seat*, how much to its *evaluation*, and is the sentence right?
# (b) Suppose the first player's opening action is chosen at random and then both play on as before.
# What do you expect of the shares, and what would it mean if you were right? (c) Name two ways in which
# a league can be fair to both players although the seats are not equal.
#
# <details><summary>An answer</summary>
#
# (a) Against `Greedy` the original loses 0.18 by changing seats (0.45 to 0.27), the one with the
# threat 0.11, the line counter 0.13. Against itself an agent has the same evaluation in both seats,
# so the difference between them is the price of the *seat*: 0.58 to 0.42, that is 0.16, for the
# original and for the line counter, 0.08 for `Greedy`, and nothing that shows for `Random`. So the
# agent does lose more as the second player, but nearly all of that is the seat, and others who play
# well pay for it too.
#
# (b) A random first action wastes the first move. If that move is what matters, the advantage
# should vanish or change sides. It does: over 2,000 games the first player then has 0.47 (0.45 to
# 0.49).
#
# (c) Play every deal from both seats and count pairs, as we do. Or let the second player choose the
# seat after seeing the opening.
#
# </details>
#
# ## Second complaint: too complicated
#
# The description ends with a wish: something simpler that still means something. Let us look for it.
# Throw out the board score, the maximum, the distance to the edge, the fixed values and the exponents.
# What is left when you only count lines?
#
# > A line through the cell is worth 4 to the power of the chips in it, if one side has it for
# > itself: **ours and theirs alike.**
#
# One chip more makes a line four times as good. A line with chips of both sides is worth nothing to
# anybody. An empty line is worth 1 to each side. Our own lines are a reason to place, theirs are a
# reason to block, and both count the same. That is all, except for `SURE`, which is added for a
# sequence so that winning comes before everything else.
#
# `line_count(chips, cell)` counts for one side, `simple_score` adds up both sides with the cell
# itself taken as empty. The same score judges a removal: it opens the lines to us and closes them
# to them. For a card, jacks included, take the best place and discount. And is it better? After the
# checks it plays paired deals against the original and against `Greedy`.

# %%
score_map(middle, simple_score, "lines counted", [(4, 2), (4, 6)])

# %%
check("study6.simple")

# %%
check("study6.line_counter")

# %%
counter, results = LineCounter(), {}
matches = [("lines against original", counter, original), ("lines against Greedy", counter, greedy),
           ("blocking against Greedy", blocking, greedy),
           ("original against Greedy", original, greedy)]
for name, agent, rival in with_time_left(matches, "matches"):
    results[name] = compared(agent, rival, deals=30)
    report(name, results[name])

axes = figure(7, 3)
for row, (name, found) in enumerate(results.items()):
    low, high = found.interval
    axes.errorbar(found.score, row, xerr=[[found.score - low], [high - found.score]], fmt="o",
                  capsize=4, color="#0072B2" if "lines" in name else "#E69F00")
axes.axvline(0.5, color="black", linestyle="--", linewidth=1)
axes.set_yticks(range(len(results)), results)
axes.set(xlim=(0, 1), ylim=(len(results) - 0.5, -0.5), xlabel="share of points, 95 % interval")
picture(axes, "Shares of points with 95 % intervals over 30 paired deals: " + ", ".join(
    f"{name} {found.score:.2f}" for name, found in results.items()) + ".")

# %% [markdown]
# Over 500 paired deals the line counter has 0.68 (0.65 to 0.71) of the points against the original:
# a clear result. Against `Greedy` it has the 0.52 of the table above, with an interval that contains
# one half, so we cannot say that it is better. That is no surprise. `Greedy` counts lines much like
# this, but gives theirs half the weight of ours.
#
# So the second complaint has an answer. There is a simpler evaluation that is also better, and it
# does not win by being clever: it asks what the other side wants. Something else helps it, too. The
# original keeps only the *cheapest* line through a cell, so that five good lines count as much as
# one. A sum over lines sees that a cell serves several at once.
#
# **Question.** Both evaluators look at the board. (a) Name two things that an observation tells
# them and that neither of them uses. (b) A line of four is open at one end: the missing cell is a
# 5h. Both copies of 5h have been played. What do the two evaluators think of this line, what is it
# really worth, and what would `line_cost` need to know? (c) Choose one of the two things from (a)
# and say how you would build it into `simple_score`, and how you would find out whether it helps.

# %% [markdown] answer="what-it-does-not-see"
# *Write your answer here.*

# %% [markdown]
# **Sources**, in full in `course/bibliography.md`: Wilson 1927 for the intervals. The description of
# the original is not published; the acknowledgements there say where it comes from.

# %% [markdown]
# ## Hand in
#
# Save the module and all notebooks, then run this cell. It packs them into one file, `study6_evaluator.zip`, with the pictures that lie next to them, and lists what is still missing. Hand that file in as your course says.

# %% tags=["skip-execution"]
from course.hand_in import hand_in

hand_in("study6")
