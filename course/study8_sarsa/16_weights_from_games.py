# %% [markdown]
# # 16. Weights from games
#
# The table of notebook 15 has a number for each pair of descriptions, and most pairs occur only
# once. This notebook learns *ten* numbers for the whole game instead, from games between players
# who move at random. You write the three functions at its heart: what the learner sees of a board,
# what it predicts, and how it learns from one position. They belong at the end of `sarsa.py`.
#
# Before you begin, make a prediction. Two random players play 200 games against each other. From
# 150 of these games, and from their winners, an agent learns how much lines are worth. Then it
# plays against `Greedy`. Look up in notebook 15 how the rewards alone scored there. What share of
# the points will this agent score: none, a tenth, a quarter, more than a third? Write it down.

# %%
# %load_ext course.notebook
from functools import cache

import numpy as np

from course.check import check
from course.plots import COLOURS, MARKERS, figure, picture
from course.published import richer_states, weights_from_games
from sequence import Greedy, Random, compare, example, play
from common.progress import Progress, track

from sarsa import (EMPTY, MINE, PATTERNS, THEIRS, Scores, fit, gradient_step, line_counts,
                   state_features, views, win_probability, with_chip)

# %% [markdown]
# ## Ten counts
#
# The learner's only information about a board is how many lines of five cells can still become a
# sequence. How many of *our* lines contain one chip, two, three, four, five? And how many of
# *theirs*? That makes ten counts, the *features*. Which of them are good is not part of the input.
#
# By hand: in one row of the board, `mm_m__t___`, count the lines of five that `m` can still
# complete, separately for each number of chips. How many lines of five does a row of ten cells
# have?
#
# <details><summary>Answer</summary>
#
# Six. The first, `mm_m_`, has three chips, and the second, `m_m__`, has two. The next four contain
# `t` and can no longer be completed. So the counts for one to five chips are 0, 1, 1, 0, 0.
#
# </details>
#
# ## Write `line_counts`

# %%
def lines(mine, theirs, cell=None):
    """Our counts, then theirs."""
    return line_counts(mine, cell) + line_counts(theirs, cell)


board = example("3/10")
print("ours with 1, 2, 3, 4, 5 chips:", line_counts(views(board)[0]))
print("theirs:                       ", line_counts(views(board)[1]))
board

# %%
check("study8.lines")

# %% [markdown]
# ## Games to learn from
#
# For each position of each game we record the ten counts, from the view of the player to move, and
# 1 if that player won in the end, 0 if not. The data do not show which action was a mistake.
# Whenever the player who will lose is to move, the position gets a 0, however good it is. The hope
# is that such errors cancel out over many games.
#
# **Think first.** Our games are played by *random* players. What would be missing from games of two
# good players, who always block a line of four?
#
# <details><summary>An answer</summary>
#
# The positions that good players avoid. If a line of four is always blocked, games with a line of
# four are lost as often as others, and the learner concludes that it is worth little. Players who
# make every mistake from time to time show how much a mistake costs. (That is one reason why the
# agents of notebooks 7 and 15 explore.)
#
# </details>

# %%
def positions(games, features, first_seed=0):
    """A row for each position of random play: the game, the features, and whether the mover won."""
    rows = []
    for number in track(range(games), "games"):
        game = play([Random(2 * number), Random(2 * number + 1)], seed=first_seed + number)
        for state in game.states[1:-1] if game.winner is not None else []:
            seen = state.observation()
            rows.append([number, *features(*views(seen)), game.winner == seen.side])
    print(f"{games} games, {len(rows):,} positions")
    return np.array(rows, dtype=float)


@cache
def played():
    """The rows of 200 games."""
    return positions(200, lines)


print(f"{len(played()):,} rows, {sum(played()[:, -1]):,.0f} of them from the view of the winner")

# %% [markdown]
# ## Logistic regression
#
# The model of **logistic regression** is a weighted sum of the counts, mapped to a probability of
# winning:
#
# $$p = \frac{1}{1 + e^{-z}}, \qquad z = w_0 + w_1 x_1 + \dots + w_{10} x_{10}$$
#
# Its quality in one position is measured by the **log loss**, $-\ln p$ if the mover won and
# $-\ln(1-p)$ if not. A model that always predicts 1/2 has the loss $\ln 2 = 0.693$. How does the
# loss change with a weight? The derivative of $p$ with respect to $z$ is $p(1-p)$. So the derivative
# of $-\ln p$ is $-(1-p) = p - 1$, and that of $-\ln(1-p)$ is $p - 0$. With y = 1 for a win and y = 0
# for a loss, both are $p - y$: the error of the prediction. Since $z$ changes by $x_i$ for each unit
# of $w_i$, the derivative for this weight is $(p - y) x_i$.
#
# Learning takes many small steps downhill: each subtracts a fraction of the derivative from each
# weight. A small penalty for large weights keeps them finite: it adds `penalty` times the weight to
# its derivative, but not to that of the constant $w_0$. Such a penalty is called **regularisation**
# (Russell and Norvig 2021, section 19.4).
#
# Compare the update of notebook 15. It moved a value towards a *target* that contains another
# estimate. Here the target is y, the result of the whole game: nothing is estimated from estimates.
#
# By hand: all weights are 0, the counts are 2 and 1, and the game was won. What is p? Which
# weights does a step with the rate 0.5 and no penalty give?
#
# <details><summary>Answer</summary>
#
# z = 0, so p = 1/2 and p - y = -1/2. The constant becomes 0.5 * 0.5 = 0.25, the weights become
# 0.5 * 0.5 * 2 = 0.5 and 0.25. In this position the next prediction is higher than 1/2.
#
# </details>
#
# ## Write `win_probability` and `gradient_step`

# %%
weights = [0.0, 0.0, 0.0]
for _ in range(3):
    weights = gradient_step(weights, [2, 1], 1, rate=0.5, penalty=0.0)
    print(weights, win_probability(weights, [2, 1]))

# %%
check("study8.weights")

# %% [markdown]
# ## From one step to a fit
#
# `fit`, which is given in `sarsa.py`, takes 100,000 of your steps, each for one random position.
# (This is called stochastic gradient descent.) Two details matter.
#
# The counts differ in size: there are many lines with one chip and few with four. No single rate
# would suit all counts. So `fit` first *standardises* each count x: it subtracts the mean m and
# divides by the standard deviation s. It then finds a weight v for $(x - m) / s$. Because
# $v (x - m) / s = (v / s) x - v m / s$, the weight of the count itself is v / s, and the rest
# belongs to the constant $w_0$, which does not affect any choice.
#
# Steps for single positions go back and forth, because each position pulls in its own direction. So
# the result is the mean of the weights over the second half of the steps.
#
# Buro (1995) found the weights of an Othello program by logistic regression; Samuel (1959) was the
# first to let a program find its own.

# %%
def loss(weights, X, y):
    """The mean log loss: 0.693 for a model that always predicts 1/2, 0 for a perfect one."""
    p = 1 / (1 + np.exp(-(weights[0] + X @ weights[1:])))
    return -np.mean(np.where(y == 1, np.log(p), np.log(1 - p)))


def split(rows, games):
    """Features and results of the first `games` games."""
    chosen = rows[rows[:, 0] < games]
    return chosen[:, 1:-1], chosen[:, -1]


@cache
def learned():
    """The weights from the first 150 games."""
    return fit(*split(played(), 150))


def held_out_loss(weights):
    """The loss in the other 50 games."""
    others = played()[played()[:, 0] >= 150]
    return loss(weights, others[:, 1:-1], others[:, -1])


print(f"150 games to learn from: loss {loss(learned(), *split(played(), 150)):.3f}")
print(f"50 games held out:       loss {held_out_loss(learned()):.3f}")

# %% [markdown]
# **Predict** the picture below before you run its cell. Which weights are positive? How much more
# will a line of four weigh than a line of three? Remember that the learner does not know that three
# comes before four; for the learner they are just columns 3 and 4.

# %% tags=["hide-input"]
chips = np.arange(1, 6)
axes = figure(6.5, 3.8)
axes.bar(chips - 0.2, learned()[1:6], width=0.4, color=COLOURS[0], label="our lines")
axes.bar(chips + 0.2, learned()[6:], width=0.4, color=COLOURS[1], hatch="//", label="their lines")
axes.axhline(0, color="black", linewidth=1)
axes.set(xlabel="chips in the line", ylabel="weight", xticks=chips,
         title="The value of a line, learned from 150 games of random players")
axes.legend(frameon=False)
picture(axes, "Bars: the weights of our lines with 1 to 5 chips are "
        + ", ".join(f"{weight:.2f}" for weight in learned()[1:6]) + "; of their lines "
        + ", ".join(f"{weight:.2f}" for weight in learned()[6:]) + ".")

# %% [markdown]
# This order was not part of the input. Each additional chip makes a line better, theirs are about
# as bad as ours are good, and the steps grow. Compare `LineCounter` in notebook 10b, where the
# factor of four for each chip was chosen by hand.
#
# ## What was held out
#
# We tested the weights on **held-out games**, which had not been used for the fit. Why whole games,
# and not every fourth position? Look at what happens with few games if the positions are drawn
# individually.

# %%
few, won = split(played(), 20)
drawn = np.random.default_rng(1).random(len(few)) < 0.25
careless = fit(few[~drawn], won[~drawn])
for name, found in (
        ("20 games, tested on a quarter of their positions", loss(careless, few[drawn], won[drawn])),
        ("the same weights, tested on other games", held_out_loss(careless))):
    print(f"{name:50}{found:.3f}")

# %% [markdown]
# **Think first.** Where does the difference come from? Which of the two numbers would you publish?
#
# <details><summary>An answer</summary>
#
# Positions of one game have nearly the same lines, and the same winner. A learner that has seen the
# position before and the position after knows how the game ended, so the position in between does
# not test anything. The second number is the honest one: games are independent of each other,
# positions are not. Whenever data come in groups (games, patients, users), hold out whole groups.
#
# </details>
#
# ## An agent
#
# `Scores`, from notebook 14, calls `use(kind, cell)` for the value of a placement or a removal, and
# derives everything else from it: which card to take, which actions to consider, and the value of
# an action. So an agent with the learned weights is the same class with another `use`: by how much
# does the weighted sum rise?

# %%
class LearnedScores(Scores):
    """Scores that are differences of a weighted sum of features."""

    def __init__(self, observation, features, weights):
        super().__init__(observation)
        self.features, self.weights, self.known = features, weights, {}

    def use(self, kind, cell):
        """The rise of the weighted sum with a placement or a removal."""
        if (kind, cell) not in self.known:
            # A chip of ours is "m" to us and "t" to them; a removal leaves an empty cell to both.
            ours, seen = (MINE, THEIRS) if kind == "place" else (EMPTY, EMPTY)
            before = self.features(self.mine, self.theirs, cell)
            after = self.features(with_chip(self.mine, cell, ours),
                                  with_chip(self.theirs, cell, seen), cell)
            self.known[kind, cell] = float(np.subtract(after, before) @ self.weights)
        return self.known[kind, cell]


class Learner:
    """Plays the action with the highest learned score."""

    def __init__(self, weights, features=lines):
        self.weights, self.features = weights, features

    def choose(self, observation):
        """The best candidate; among equals the first."""
        scores = LearnedScores(observation, self.features, self.weights[1:])
        return max(scores.candidates(observation.legal_actions()), key=scores.score)

# %%
progress = Progress(2 * 8, "deals")
for name, rival in (("Random", Random(1)), ("Greedy", Greedy())):
    print(f"against {name}:", compare(Learner(learned()), rival, deals=8, seed=500,
                                      progress=lambda seen: progress.update()))

# %% [markdown]
# Is it better than `Greedy`? Sixteen games are not enough to decide. So 200
# games were played for each line of the table below, and each fit was tested on the same 250 other
# games. Compare the last column with your prediction and with the score above. The table also
# contains other features: the counts of the seven `PATTERNS` of notebook 14, ours and theirs.
# (`Learner(weights, patterns)` plays with them, once you have fitted some.)

# %%
def patterns(mine, theirs, cell=None):
    """Our counts of the seven patterns, then theirs."""
    seven = len(PATTERNS)
    return state_features(mine, theirs, cell)[:seven] + state_features(theirs, mine, cell)[:seven]


results = weights_from_games()
print(f"{'features':9} {'games':>6} {'loss, seen':>11} {'held out':>9}   share against Greedy")
for one in results:
    print(f"{one.features:9} {one.games:6,} {one.loss_seen:11.3f} {one.loss_held_out:9.3f}   "
          f"{one.score:.2f} ({one.low:.2f} to {one.high:.2f})")

# %% tags=["hide-input"]
axes = figure(6.5, 3.8)
for number, name in enumerate(("lines", "patterns")):
    of_one = [one for one in results if one.features == name]
    for part, dashes in (("loss_seen", "--"), ("loss_held_out", "-")):
        axes.plot([one.games for one in of_one], [getattr(one, part) for one in of_one], dashes,
                  marker=MARKERS[number], color=COLOURS[number],
                  label=f"{name}, {'games seen' if part == 'loss_seen' else 'held out'}")
axes.axhline(np.log(2), color="black", linewidth=1)
axes.set(xscale="log", xlabel="games to learn from", ylabel="log loss",
         title="With more games, the loss on games seen and held out converge")
axes.legend(frameon=False, fontsize=9)
picture(axes, "Four lines, the log loss by the number of games. " + " ".join(
    f"{one.features}, {one.games} games: {one.loss_seen:.3f} seen, {one.loss_held_out:.3f} held out."
    for one in results))

# %% [markdown]
# **Think first.** (a) Where are the lines of one colour far apart, and what does that mean? (b)
# With how many games would you use these weights at all, and with which features? (c) With 1,000
# games the two kinds of features have nearly the same loss. Are the agents nearly equally strong?
# (d) The loss on held-out games has almost stopped falling. Why do more games not help, and what
# would?
#
# <details><summary>An answer</summary>
#
# (a) With ten games. The weights fit accidental details of these games, so they look better on them
# than they are. This is called **overfitting** (Russell and Norvig 2021, chapter 19). (b) With ten
# games neither: on other games their loss is worse than 0.693, which you get by always predicting
# 1/2. With 30 games or more, the lines are the better features. (c) No: the lines score about twice
# as many points. Most positions are won or lost by later events, so no prediction of them can be
# good; but among the actions of *one* position small differences decide. (d) The remaining loss is
# not due to noise in the fit. It comes from what the features do not contain: the cards in hand,
# jacks among them, and future luck. New features would help, or a search that looks ahead from
# these values.
#
# </details>

# %% [markdown]
# ## What the counts leave out
#
# The counts describe chips and no cards. Notebook 15 added cards to the key of the table. A weighted
# sum can use them better, because every position contributes to the weight of a new count. Three
# kinds of counts were measured for you, each for lines with three and with four chips: our lines for
# which we hold all missing cards, their lines for which the opponent is known to hold them, and the
# lines of both sides, each multiplied by the probability of getting its cards soon. **Predict**
# which of them helps most. In each match, an agent with one kind of new counts plays against the
# agent without them.

# %%
for one in richer_states():
    if one.learner == "weights":
        print(f"{one.added:55} {one.score:.2f} ({one.low:.2f} to {one.high:.2f}), "
              f"{one.games} games")

# %% [markdown]
# None of the three shows a gain. After 100 deals, the interval of the third was 0.501 to 0.637, so
# 100 more were played, and now it contains 0.5. The interval of the second, however, excludes 0.5,
# but only just and on the wrong side. Notebooks 15 and 16 show ten such intervals, and one in twenty
# misses the true score: a single bound that is this close to 0.5 decides nothing.
#
# **Think first.** The weights come from games of *random* players. How did these players use the
# cards in their hands? What does that mean for the three kinds of counts, and which games would you
# rather learn from?
#
# <details><summary>An answer</summary>
#
# They did not use them: random players complete a line for which they hold the cards only by chance.
# So in their games it matters little who holds which card, and the learner cannot find out what the
# cards are worth to players who use them. Games of `Greedy`, with a random action now and then,
# would be better data. (And the intervals are wide: a gain of 0.02 would not show.)
#
# </details>
#
# ## What the table lacked
#
# Both the table and the weights were learned from games: the table from its own games, the weights
# from games of random players. The table has a value only for a description that it has met before.
# The weighted sum combines what it has learned about lines of three with what it has learned about
# the others, and each position of each game contributes to that. It *generalises*. The price is that
# it can only represent values that are weighted sums of these counts.
#
# There is another difference. What were the targets of the two, and what does each of them
# therefore predict? Compare this with your answer to the question at the end of notebook 15.
#
# ## Further experiments
#
# * Let `Learner` play 200 games against itself, with a random action now and then, and fit again.
#   Do the weights change? Does the agent become stronger, or only different? Predict first.
# * Add a column to the rows: the jacks in hand, or who moved first. (Why not whose turn it is?)
#   Does the loss on held-out games fall? (Remember that a feature that is the same after all actions
#   cannot change a choice.)
# * Use the weighted sum as the evaluation at the leaves of your look-ahead (study 7).

# %% [markdown]
# **Sources**, in full in `course/bibliography.md`: Samuel 1959; Buro 1995; Russell and Norvig 2021,
# section 5.3 for weighted features, 19.4 for regularisation and 19.6 for linear and logistic
# regression.

# %% [markdown]
# ## Submit
#
# Save the module and all notebooks, then run this cell. It packs them into one file, `study8_sarsa.zip`, together with the pictures next to them, and lists what is still missing. Submit that file as your instructor asks.

# %% tags=["skip-execution"]
from course.submission import make_submission

make_submission("study8")
