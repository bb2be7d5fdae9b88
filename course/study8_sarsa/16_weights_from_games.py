# %% [markdown]
# # 16. Weights from games
#
# The table of notebook 15 has a number for each pair of descriptions, and most pairs it never sees
# twice. This notebook learns *ten* numbers for the whole game instead, from games of players who choose
# at random. It is a notebook to read, run and change: it uses what you have written into `sarsa.py`,
# and adds nothing to it.
#
# Before you begin, predict. Two players who know nothing play 200 games against each other. From 150
# of these games, and from who won them, an agent learns what lines are worth. Then it plays
# against `Greedy`. Look up in notebook 15 what the rewards alone got there. What share of the points
# will this agent get: none, a tenth, a quarter, more than a third? Write it down.

# %%
# %load_ext course.notebook
from functools import cache

import numpy as np

from course.plots import COLOURS, MARKERS, figure, picture
from course.recorded import weights_from_games
from sequence import Greedy, Random, compare, example, play
from tictactoe.show.time_left import TimeLeft, with_time_left

from sarsa import (EMPTY, MINE, PATTERNS, THEIRS, WALL, Scores, lines_of, state_features, views,
                   with_chip)

# %% [markdown]
# ## Ten counts
#
# All that we tell the learner of a board are counts of lines of five cells that can still become a
# sequence. How many of *our* lines hold one chip, two, three, four, five? And how many of *theirs*?
# That makes ten counts. Nobody tells it which of them are good.

# %%
def line_counts(board, cell=None):
    """The lines that "m" can still finish, by their chips: those with 1, 2, 3, 4 and 5.

    Over the whole board, or over the lines through `cell`.
    """
    found = [0] * 6
    for line in lines_of(board, cell):
        for start in range(len(line) - 4):
            five = line[start:start + 5]
            ours, locked = five.count("m") + five.count("M"), five.count("M")
            if ours == 5 or (locked < 2 and not set(five) & {"t", "T", WALL}):
                found[ours] += 1
    return tuple(found[1:])


def lines(mine, theirs, cell=None):
    """Our counts, then theirs."""
    return line_counts(mine, cell) + line_counts(theirs, cell)


board = example("3/10")
print("ours with 1, 2, 3, 4, 5 chips:", line_counts(views(board)[0]))
print("theirs:                       ", line_counts(views(board)[1]))
board

# %% [markdown]
# ## Games to learn from
#
# For each position of each game we keep the ten counts, as the player to move sees the board, and
# 1 if that player won in the end, 0 if not. Nobody says which action was a mistake. Whenever the
# player who will lose is to move, the position gets a 0, however good it is. The hope is that such
# errors cancel out over many games.
#
# **Think first.** We let *random* players play. What would be missing in games of two good players,
# who always block a line of four?
#
# <details><summary>An answer</summary>
#
# What they never do. If a line of four is always blocked, games with a line of four are lost as
# often as others, and the learner concludes that it is worth little. Players who make every mistake
# now and then show what a mistake costs. (That is one reason why the agents of notebooks 7 and 15
# explore.)
#
# </details>

# %%
def positions(games, features, first_seed=0):
    """A row for each position of random play: the game, the features, and whether the mover won."""
    rows = []
    for number in with_time_left(range(games), "games"):
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


rows = played()

# %% [markdown]
# ## Logistic regression
#
# The model is a weighted sum of the counts, turned into a probability of winning:
#
# $$p = \frac{1}{1 + e^{-(w_0 + w_1 x_1 + \dots + w_{10} x_{10})}}$$
#
# It is judged by its **log loss**, the mean of $-\ln p$ where the mover won and of $-\ln(1-p)$ where
# not. A model that always says 1/2 has $\ln 2 = 0.693$. With y = 1 for a win and 0 for a loss, the
# gradient of the loss is short: for each weight the mean of $(p - y) x$. So we go downhill, step by
# step. A small penalty for large weights keeps them finite.
#
# The counts differ in size: there are many lines with one chip and few with four. One step size would
# not suit all of them. So `fit` first shifts and scales each count to mean 0 and spread 1, and at the
# end turns the weights back, so that they fit the counts themselves. ($w_0$ is a constant, and changes
# no choice.) Buro (1995) found the weights of an Othello program in this way; Samuel (1959) was the
# first to let a program find its own.

# %%
def fit(X, y, steps=2000, rate=0.5, penalty=0.001):
    """The weights that make the log loss of the rows small, the constant first."""
    middle, spread = X.mean(axis=0), X.std(axis=0) + 1e-9
    Z = np.column_stack([np.ones(len(X)), (X - middle) / spread])  # all of one size
    weights = np.zeros(Z.shape[1])
    for _ in range(steps):
        p = 1 / (1 + np.exp(-Z @ weights))
        weights -= rate * (Z.T @ (p - y) / len(y) + penalty * weights)
    slopes = weights[1:] / spread
    return np.array([weights[0] - slopes @ middle, *slopes])


def loss(weights, X, y):
    """The log loss: 0.693 says nothing, 0 knows everything."""
    p = 1 / (1 + np.exp(-(weights[0] + X @ weights[1:])))
    return -np.mean(np.where(y == 1, np.log(p), np.log(1 - p)))


def split(rows, games):
    """Features and results of the first `games` games."""
    chosen = rows[rows[:, 0] < games]
    return chosen[:, 1:-1], chosen[:, -1]


held_out = rows[rows[:, 0] >= 150]
weights = fit(*split(rows, 150))
print(f"150 games to learn from: loss {loss(weights, *split(rows, 150)):.3f}")
print(f"50 games held out:       loss {loss(weights, held_out[:, 1:-1], held_out[:, -1]):.3f}")

# %% [markdown]
# **Predict** the picture below before you run its cell. Which weights are positive? By how much will
# a line of four outweigh a line of three? Remember that the learner does not know that three comes
# before four: to it they are columns 3 and 4.

# %%
chips = np.arange(1, 6)
axes = figure(6.5, 3.8)
axes.bar(chips - 0.2, weights[1:6], width=0.4, color=COLOURS[0], label="our lines")
axes.bar(chips + 0.2, weights[6:], width=0.4, color=COLOURS[1], hatch="//", label="their lines")
axes.axhline(0, color="black", linewidth=1)
axes.set(xlabel="chips in the line", ylabel="weight", xticks=chips,
         title="What 150 games of random players say a line is worth")
axes.legend(frameon=False)
picture(axes, "Bars: the weights of our lines with 1 to 5 chips are "
        + ", ".join(f"{weight:.2f}" for weight in weights[1:6]) + "; of their lines "
        + ", ".join(f"{weight:.2f}" for weight in weights[6:]) + ".")

# %% [markdown]
# Nobody put this order into it. Each chip more makes a line better, theirs are about as bad as ours
# are good, and the steps grow. Compare `LineCounter` in notebook 10: there a person decided that each
# chip makes a line four times as good.
#
# ## What was held out
#
# We judged the weights by games that they had not seen. Why whole games, and not every fourth
# position? Look at what happens with few games if the positions are drawn one by one.

# %%
few = rows[rows[:, 0] < 20]
drawn = np.random.default_rng(1).random(len(few)) < 0.25
careless = fit(few[~drawn, 1:-1], few[~drawn, -1])
for name, test in (("20 games, tested on a quarter of their positions", few[drawn]),
                   ("the same weights, tested on other games", held_out)):
    print(f"{name:50}{loss(careless, test[:, 1:-1], test[:, -1]):.3f}")

# %% [markdown]
# **Think first.** Where does the difference come from? Which of the two numbers would you publish?
#
# <details><summary>An answer</summary>
#
# Positions of one game have nearly the same lines, and the same winner. A learner that has seen the
# position before and the position after knows how the game ended, so the position in between is no
# test. The second number is the honest one: games are independent of each other, positions are not.
# Wherever data come in groups (games, patients, users), hold out whole groups.
#
# </details>
#
# ## An agent
#
# `Scores`, from notebook 14, asks `use(kind, cell)` what a placement or a removal is worth, and
# derives everything else from that: which card to take, which actions to consider, what an action is
# worth. So an agent with the learned weights is the same class with another `use`: by how much does
# the weighted sum rise?

# %%
class LearnedScores(Scores):
    """Scores that are differences of a weighted sum of features."""

    def __init__(self, observation, features, weights):
        super().__init__(observation)
        self.features, self.weights, self.known = features, weights, {}

    def use(self, kind, cell):
        """By how much the weighted sum rises with a placement or a removal."""
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
one_more = TimeLeft(2 * 8, "deals")
for name, rival in (("Random", Random(1)), ("Greedy", Greedy())):
    print(f"against {name}:", compare(Learner(weights), rival, deals=8, seed=500,
                                      progress=lambda seen: one_more()))

# %% [markdown]
# Is it better than `Greedy`? Look at the interval: sixteen games cannot say. So 200 games were played
# for each line of the table below, and each fit there was judged on the same 250 other games. Compare
# the last column with your prediction and with the score above. There are other features as well: the
# counts of the seven `PATTERNS` of notebook 14, ours and theirs. (`Learner(weights, patterns)` plays
# with them, once you have fitted some.)

# %%
def patterns(mine, theirs, cell=None):
    """Our counts of the seven patterns, then theirs."""
    seven = len(PATTERNS)
    return state_features(mine, theirs, cell)[:seven] + state_features(theirs, mine, cell)[:seven]


found = weights_from_games()
print(f"{'features':9} {'games':>6} {'loss, seen':>11} {'held out':>9}   share against Greedy")
for one in found:
    print(f"{one.features:9} {one.games:6,} {one.loss_seen:11.3f} {one.loss_held_out:9.3f}   "
          f"{one.score:.2f} ({one.low:.2f} to {one.high:.2f})")

# %%
axes = figure(6.5, 3.8)
for number, name in enumerate(("lines", "patterns")):
    of_one = [one for one in found if one.features == name]
    for part, dashes in (("loss_seen", "--"), ("loss_held_out", "-")):
        axes.plot([one.games for one in of_one], [getattr(one, part) for one in of_one], dashes,
                  marker=MARKERS[number], color=COLOURS[number],
                  label=f"{name}, {'games seen' if part == 'loss_seen' else 'held out'}")
axes.axhline(np.log(2), color="black", linewidth=1)
axes.set(xscale="log", xlabel="games to learn from", ylabel="log loss",
         title="More games: what is seen and what is held out come together")
axes.legend(frameon=False, fontsize=9)
picture(axes, "Four lines, the log loss by the number of games. " + " ".join(
    f"{one.features}, {one.games} games: {one.loss_seen:.3f} seen, {one.loss_held_out:.3f} held out."
    for one in found))

# %% [markdown]
# **Think first.** (a) Where are the lines of one colour far apart, and what does that mean? (b) With
# which numbers of games would you use these weights at all, and with which features? (c) With 1,000
# games the two kinds of features have nearly the same loss. Have the agents nearly the same strength? (d) The
# loss on games that were held out hardly falls any more. Why do more games not help, and what would?
#
# <details><summary>An answer</summary>
#
# (a) With ten games. The weights fit what happened in them by chance, so they look better on them
# than they are (*overfitting*). (b) With ten games neither: on other games they are worse than
# 0.693, which is what one gets by saying 1/2 without looking. From 30 games on the lines are the
# better features. (c) No: the lines get about twice the points. Most positions are won or lost by
# what comes later, so no prediction of them can be good; but among the actions of *one* position
# small differences decide. (d) What is left is not noise of the fit but what
# the features cannot see: the cards in hand, jacks among them, and the luck to come. New features
# would help, or a search that looks ahead from these values.
#
# </details>
#
# ## What the table lacked
#
# Both learned from games: the table from its own, the weights from games of random players. The
# table asks "have I met exactly this?". The weighted sum asks "what do I know about lines of three?",
# and each position of each game helps to answer that. It *generalises*. The price is that it can only
# say what a sum of these counts can say.
#
# And they learned different things: the table learned rewards, which are never negative; the weights
# learned who won.
#
# ## Go on from here
#
# * Let `Learner` play 200 games against itself, with a random action now and then, and fit again.
#   Do the weights change? Does the agent become stronger, or only different? Predict first.
# * Add a column to the rows: the jacks in hand, or who began. (Why not whose turn it is?) Does the
#   loss on games held out fall?
# * Use the weighted sum as the evaluation at the leaves of your look-ahead (study 7).

# %% [markdown]
# **Sources**, in full in `course/bibliography.md`: Samuel 1959; Buro 1995; Russell and Norvig 2021,
# section 5.3 for weighted features and section 19.6 for linear and logistic regression.

# %% [markdown]
# ## Hand in
#
# Save the module and all notebooks, then run this cell. It packs them into one file, `study8_sarsa.zip`, with the pictures that lie next to them, and lists what is still missing. Hand that file in as your course says.

# %% tags=["skip-execution"]
from course.hand_in import hand_in

hand_in("study8")
