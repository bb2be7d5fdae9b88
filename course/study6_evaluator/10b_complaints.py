# %% [markdown]
# # 10b. Two complaints
#
# The evaluator of notebook 10 beats `Random` and loses to `Greedy`. Its author was not content
# either. The description ends with two complaints: the agent is worse when it plays second, and the
# evaluation is too complicated. A complaint is a hypothesis. In this notebook you test both, and
# write two evaluators that respond to them: one with a term for the opponent's threats, and one
# that only counts lines.
#
# You will learn to separate the effect of an agent from that of its seat with a control, to test a
# guess about the cause of a result, and to judge whether a simpler formula is enough.
#
# Your code belongs in `evaluator.py` again: `threat`, its use in `play_score`, and everything from
# `line_count` to `LineCounter`. You need notebook 10 up to the agent, and paired deals and intervals
# from notebook 9. Allow 2 to 5 hours.

# %%
# %load_ext course.notebook
from functools import cache
from statistics import mean

from course.check import check
from course.plots import figure, picture, score_map
from sequence import Greedy, Random, compare, play, sketch
from sequence.board.layout import cells_of
from sequence.widget.scores import score_board
from tictactoe.games.play import wilson_interval
from common.progress import Progress, track

from evaluator import (BLOCKING, ORIGINAL_WEIGHTS, Chips, Evaluator, LineCounter, parts, play_score,
                       simple_score, threat)

compared = cache(compare)  # each match is played only once


def report(name, found):
    """Print a comparison and the score from each seat."""
    first, second = found.seats
    print(f"{name}: {found}\n    playing first {first.score:.2f}, second {second.score:.2f}")


greedy, original = Greedy(), Evaluator()

# %%
report("original against Greedy", compared(original, greedy, deals=30))

# %% [markdown]
# ## First complaint: playing second
#
# The author complains that the agent runs away: if the opponent has taken the middle, it settles
# for the poorer cells around it. And since the first player takes the middle, the agent is said to
# lose more as the second player. Here o has three in a row in the very middle. What would you do?
# The circles are the cells that o wants most.

# %%
middle = sketch("o 4,3 4,4 4,5")
rated = {cell: play_score(middle, "place", cell) for cell in cells_of(middle.empty_mask)}
for cell in ((4, 2), (4, 6)):
    above = sum(value > rated[cell] for value in rated.values())
    print(f"{cell}: {rated[cell]}; {above} of {len(rated)} cells score higher")
score_map(middle, rated, "the original, o has three in the middle", [(4, 2), (4, 6)])

# %% [markdown]
# It does run away. Each chip of theirs adds one to the cost of a line, so the agent prefers almost
# half of the board to the two cells that any player would consider first. It plays below them,
# where the lines are still free. It counts how many actions *we* need and never how many *they*
# need.
#
# So the first half of the complaint is justified, and we have seen the cause. The second half is a
# claim about numbers. Look at the agent's results against `Greedy` above: from the first seat it won
# much more than from the second. But a difference needs a control. Perhaps every agent loses more
# when it plays second, because the first move is an advantage in this game.
#
# ### A remedy
#
# Add the missing question. The **threat** of a cell is the line score that *the opponents* would
# have if they got a chip there. Add it to the score, squared like our own line, with a weight:
#
# > score = 100 sequence² + line² + board + **blocking · threat²**
#
# `chips.flipped()` returns the board as the other side sees it. Write `threat`, and include it in
# `play_score`. `BLOCKING` contains the original weights with `blocking` = 1. The threat at (4, 6)
# should be 9: with a chip there o would have four.
#
# Below are sliders for the weights, on the same position, starting with the original weights.
# **Before you move a slider, predict** how large `blocking` must be before a cell next to o's three
# is the best. Then leave it at 1: which change to another weight makes the agent run away again?

# %%
print("threat at (4, 6):", threat(Chips.of(middle), (4, 6)))


def score_with(cell, **changed):
    """The score of a chip on the cell if some weights of the original are changed."""
    return play_score(middle, "place", cell, ORIGINAL_WEIGHTS._replace(**changed))


score_board(middle, cells_of(middle.empty_mask), score_with, {
    "blocking": (0, 0.2, 0.4, 0.6, 0.8, 1, 1.5, 2), "line": (0, 1, 2, 4),
    "line_exponent": (1, 2, 3), "board": (0, 1, 2, 4)}, initial=ORIGINAL_WEIGHTS._asdict())

# %%
check("study6.blocking")

# %% [markdown]
# <details><summary>Answer</summary>
#
# At first (5, 5) is the best, with 71. It gains 49 for each unit of `blocking`. (4, 6), next to the
# three, has 55 and gains 81. They meet at 1/2, so 0.6 is the first value of the slider that is
# enough. With `blocking` at 1, a `line` of 4 or a `line_exponent` of 3 makes the agent run away
# again: then (4, 0), at the edge, is the best.
#
# </details>
#
# Now measure the original and the remedy against `Greedy`, by seat. As a control, two copies of the
# *same* agent play against each other. What the first of them wins beyond one half is the advantage
# of the first move, and not a weakness of the agent. (On a slow machine the cell takes half a
# minute.)

# %%
blocking = Evaluator(BLOCKING)
games = 60
progress = Progress(4 * games, "games")
report("original against Greedy", compared(original, greedy, deals=30))
report("blocking against Greedy", compared(blocking, greedy, deals=30))
for name, agent, twin in (("Random", Random(), Random()), ("Greedy", greedy, greedy),
                          ("original", original, original), ("blocking", blocking, blocking)):
    points = []
    for deal in range(games):
        winner = play([agent, twin], seed=deal).winner
        points.append(0.5 if winner is None else winner == 0)
        progress.update()
    first = mean(points)
    low, high = wilson_interval(first, games)
    print(f"{name:9} against itself: the first player scores {first:.2f} ({low:.2f} to {high:.2f})")

# %% [markdown]
# Sixty games leave wide intervals. This table has the results of more games: shares of the points
# over 500 paired deals against `Greedy` and against the original, and over 2,000 games against
# itself, with 95 % intervals. `LineCounter` follows further down.
#
# | agent | first, against Greedy | second | both seats | against the original | first, against itself |
# |---|---|---|---|---|---|
# | original | 0.45 | 0.27 | 0.36 (0.33 to 0.39) | | 0.58 (0.56 to 0.60) |
# | with the threat | 0.47 | 0.36 | 0.41 (0.38 to 0.44) | 0.60 (0.57 to 0.63) | 0.56 (0.53 to 0.58) |
# | `LineCounter` | 0.58 | 0.45 | 0.52 (0.49 to 0.55) | 0.68 (0.65 to 0.71) | 0.58 (0.56 to 0.60) |
# | `Greedy` | | | | | 0.54 (0.52 to 0.56) |
# | `Random` | | | | | 0.51 (0.49 to 0.54) |
# | original, after a random first action | | | | | 0.47 (0.45 to 0.49) |
#
# Go through the table column by column, and note which intervals exclude 0.5. Against `Greedy` the
# remedy scores more than the original from both seats, though the intervals overlap. The direct
# match is clear.
#
# ### The layers around it
#
# The author never let the evaluator play alone. Two layers acted first: *complete* a sequence if
# you can, and *stop* one of theirs if you must. Before you open the answer: which of the two should
# come first? And will an agent with the layers be stronger than one with the threat?
#
# <details><summary>Results of 500 paired deals against Greedy</summary>
#
# | agent | share of the points |
# |---|---|
# | evaluator alone | 0.36 (0.33 to 0.39) |
# | layers, stop first | 0.36 |
# | layers, complete first | 0.43 (0.40 to 0.46) |
# | threat in the formula | 0.41 (0.38 to 0.44) |
# | threat and layers together | 0.39 (0.36 to 0.42) |
#
# With the layer that stops first, the agent is no better than the evaluator alone: an agent that
# answers every threat first misses its own chances to win. The threat and the layers respond to the
# same dangers, so together they are no better than one of them.
#
# </details>
#
# How much defending is right? Vary the weight of the threat.

# %%
weights = (0, 0.5, 1, 1.5, 2)
by_weight = {weight: Evaluator(ORIGINAL_WEIGHTS._replace(blocking=weight)) for weight in weights}
for weight, agent in track(by_weight.items(), "weights"):
    print(f"blocking {weight}: {compared(agent, greedy, deals=20)}")

# %% tags=["hide-input"]
found = [compared(agent, greedy, deals=20) for agent in by_weight.values()]
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
# A little blocking helps, and then the curve drops sharply. A first guess is that the agent blocks
# even when it could win. Test a guess before you believe it: count the turns in which a placement
# would complete a sequence, and those in which the agent made one.

# %%
def completions(weight, deals=15):
    """Over games against Greedy: own turns, turns that could complete a sequence, and turns that did."""
    agent, turns, could, did = Evaluator(ORIGINAL_WEIGHTS._replace(blocking=weight)), 0, 0, 0
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
    print("weight", weight, "-", completions(weight))

# %% [markdown]
# **Question.** The guess was wrong: the agent with weight 2 takes nearly every chance. It just gets
# very few. (a) We have a line that costs k, with an empty cell in it, and they have a line
# elsewhere that costs them k, also with an empty cell. Compare line² and blocking · threat² for the
# two cells. Which weight is the borderline, and what does the agent do on either side of it? (b)
# Why does a player who always blocks first get few chances, and why does that lose? Consider how
# many cells a hand can reach. (c) There are weights for which the guess is correct. From the
# formula: how large can the value of a block become, how large is that of a completed first
# sequence, and what would you change so that winning comes first whatever the weight?

# %% [markdown] answer="weights-and-wins"
# *Write your answer here.*

# %% [markdown]
# **Think first.** "The agent loses more when it plays second, so its evaluation must be bad for the
# second player." (a) How much does each agent of the table lose by changing from the first seat to
# the second, against `Greedy` and against itself? How much of the original's loss is due to the
# *seat*, how much to its *evaluation*, and is the statement correct? (b) The last row is a match in
# which the first player's opening action is chosen at random. What does it show?
#
# <details><summary>An answer</summary>
#
# (a) The loss from the first seat to the second:
#
# | agent | against `Greedy` | against itself |
# |---|---|---|
# | original | 0.18 (0.45 to 0.27) | 0.16 (0.58 to 0.42) |
# | with the threat | 0.11 | |
# | `LineCounter` | 0.13 | 0.16 |
# | `Greedy` | | 0.08 |
# | `Random` | | no measurable difference |
#
# In a match against itself an agent has the same evaluation in both seats, so the difference
# between them is the price of the *seat*. So the agent does lose more as the second player, but
# nearly all of that is due to the seat, which puts other good agents at a disadvantage as well.
#
# (b) A random first action wastes the first move. If that move is what matters, the advantage
# should vanish or change sides, and it does.
#
# </details>
#
# ## Second complaint: too complicated
#
# The description ends with a wish for something simpler that still makes sense. Let us look for it.
# Remove the board score, the maximum, the distance to the edge, the fixed values and the exponents.
# What is left if you only count lines?
#
# > A line through the cell is worth 4 to the power of the chips in it, if only one side has chips in it: **ours and theirs alike.**
#
# One more chip makes a line four times as good. A line with chips of both sides is worth nothing to
# either side. An empty line is worth 1 to each side. Our own lines are a reason to place a chip,
# theirs are a reason to block, and both count the same. That is all, except for `SURE`, which is
# added for a sequence so that winning comes before everything else.
#
# `line_count(chips, cell)` counts for one side, and `simple_score` adds both sides, treating the
# cell itself as empty. The same score applies to a removal: it opens the lines for us and closes
# them for the opponent. For a card, including a jack, take the score of the best place and discount
# it. Is this evaluator better? After the checks it plays paired deals against the original and
# against `Greedy`.

# %%
counted = {cell: simple_score(middle, "place", cell) for cell in cells_of(middle.empty_mask)}
score_map(middle, counted, "lines counted", [(4, 2), (4, 6)])

# %%
check("study6.simple")

# %%
check("study6.line_counter")

# %%
counter = LineCounter()
matches = [("lines against original", counter, original), ("lines against Greedy", counter, greedy),
           ("blocking against Greedy", blocking, greedy),
           ("original against Greedy", original, greedy)]
for name, agent, rival in track(matches, "matches"):
    report(name, compared(agent, rival, deals=30))

# %% tags=["hide-input"]
results = {name: compared(agent, rival, deals=30) for name, agent, rival in matches}
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
# In the table with more games the line counter clearly beats the original. Against `Greedy` its
# interval contains 0.5, so we cannot claim that it is better. This is not surprising: `Greedy`
# counts lines in a similar way, but gives theirs half the weight of ours.
#
# So the second complaint has an answer. There is a simpler evaluation that is also better. It is
# not more sophisticated, but it also considers what the other side wants. A second advantage is
# that it adds up lines. The original keeps only the *cheapest* line through a cell, so five good
# lines count as much as one. A sum over lines recognises that a cell serves several lines.
#
# **Question.** Both evaluators consider the board only. (a) Name two pieces of information in an
# observation that neither of them uses. (b) A line of four is open at one end: the missing cell is
# a 5h. Both copies of 5h have been played. How do the two evaluators rate this line, what is it
# really worth, and what would `line_cost` need to know? (c) Choose one of the two pieces of
# information from (a), and explain how you would include it in `simple_score` and how you would
# find out whether it helps.

# %% [markdown] answer="what-it-does-not-see"
# *Write your answer here.*

# %% [markdown]
# **Sources**, in full in `course/bibliography.md`: Wilson 1927 for the intervals. The description
# of the original is not published; the acknowledgements in the bibliography name its origin.

# %% [markdown]
# ## Submit
#
# Save the module and all notebooks, then run this cell. It packs them into one file, `study6_evaluator.zip`, together with the pictures next to them, and lists what is still missing. Submit that file as your instructor asks.

# %% tags=["skip-execution"]
from course.submission import make_submission

make_submission("study6")
