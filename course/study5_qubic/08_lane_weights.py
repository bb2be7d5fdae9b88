# %% [markdown]
# # 8. Seven numbers for a cube
#
# In notebook 7 a table learned nothing on the cube. After three or four moves every state was new,
# and a value learned in one state contains no information about any other. This notebook keeps the
# game and the self-play, but replaces the table.
#
# Before you read on, imagine that you show a cube in the middle of a game to a friend who knows the
# rules. What would your friend look at to decide which player is better off? Write down two or
# three things, without naming any particular cell.
#
# <details><summary>What we look at</summary>
#
# How many marks each side has in lanes that are still open to it. Notebook 3 counted the same on
# the small board. There the weights were chosen by hand: 3 for two marks, 1 for one. Here they are
# learned.
#
# </details>
#
# The code belongs in the second half of `qlearning.py`.

# %%
# %load_ext course.notebook
from collections import Counter
from statistics import mean

from course.check import check
from course.greedy_agent import GreedyAgent
from course.plots import figure, picture
from tictactoe import Qubic, Random, WinOrBlock, match
from tictactoe.games.qubic import LANES
from tictactoe.boards.play_board import play_against
from common.progress import Progress
from tictactoe.boards.watch_board import watch
from tictactoe.explorables.weights import weights_on_board

from qlearning import (KINDS, LaneLearner, QPlayer, canonical, greedy_moves, lane_kinds, symmetries,
                       train_lanes)

# %%
untrained = {"x": QPlayer(), "o": QPlayer()}
empty = GreedyAgent(greedy_moves, untrained, first=True)  # ties go to the lowest cell
before = Qubic.from_moves([0, 1, 21, 2, 42, 3])
before

# %% [markdown]
# ## What states have in common
#
# Notebook 3 judged a board by its lanes. A lane with three of my marks and an open cell is good for
# me *wherever* it is and whatever else is on the board. So instead of one number for each state, we
# learn one for each *kind of lane*: (own marks, opponent's marks). Empty and dead lanes have no
# weight. Neither has a lane that the opponent has completed, because I could not have moved after
# that. Seven kinds are left, and one of them is a complete lane of my own.

# %%
KINDS

# %% [markdown]
# All 76 lanes share these seven weights, in all positions and for both players. One game provides
# information about every position. Replacing a table by a function with a few parameters is called
# **function approximation** (Sutton and Barto 2018, chapter 9; Russell and Norvig 2021, section
# 22.4). The counts of the seven kinds of lane are its **features**.
#
# A second change makes it unnecessary to have a value for each move. To choose a move, it is enough
# to evaluate the state *after* it: the **afterstate**, the state that I leave to my opponent
# (Sutton and Barto 2018, section 6.8). V(afterstate) is its value for the player who has just
# moved. The weights of its lanes are added up, and the hyperbolic tangent maps the sum to a number
# between -1, lost, and +1, won:
#
# > **V = tanh(sum of the weights of its 76 lanes)**
#
# Count by hand: x has 0 and 21, o has 63. For x, what are the kinds of the seven lanes of cell 0?
# (The diagonal of the cube holds all three marks.)

# %%
small = Qubic.from_moves([0, 63, 21])
for player in "xo":
    kinds = lane_kinds(small, player)
    print(f"for {player}:", [kinds[number] for number, lane in enumerate(LANES) if 0 in lane],
          " all lanes:", dict(Counter(kinds)))
small

# %%
check("study5.lane_kinds")

# %% [markdown]
# ## The value of every move
#
# Write `value(state, player)` first. It applies the formula, also in a finished game; a kind
# without a weight counts as 0.
#
# `move_values(state)` gives the values of all afterstates. You could create each afterstate and
# call `value`. But that examines 76 lanes for each of up to 64 moves, and a move changes only the
# four or seven lanes through its cell. So:
#
# 1. Find the kinds of all lanes *before* the move, for the player to move, and the sum of their
#    weights.
# 2. For each lane, find its gain if the player puts one more mark into it: the weight of (own + 1,
#    opponent's) minus the weight of (own, opponent's). A mark in an opponent's lane kills it. What
#    is the gain then?
# 3. For each move, add the gains of the lanes through its cell to the sum, and take tanh of the
#    result once.
#
# The two methods must agree, and that is a good test. They need not agree in the last digit,
# because sums of floats depend on the order of their terms: two moves with exactly the same value
# may then not tie. Here that does no harm, and the check allows for it.

# %%
learner = LaneLearner()
learner.weights = dict(zip(KINDS, (0.01, 0.1, 0.4, 2.5, -0.02, -0.15, -1.0), strict=True))
print("for x, who has just moved:", round(learner.value(small, "x"), 4))
shortcut = learner.move_values(small)
long_way = {move: learner.value(small.after(move), "o") for move in small.legal_moves()}
print("largest difference of the two methods:",
      max(abs(shortcut[move] - long_way[move]) for move in long_way))
print("o's best moves:", sorted(shortcut, key=shortcut.get, reverse=True)[:5])

# %%
check("study5.lane_values")

# %% [markdown]
# ## Learning the weights
#
# What should the value of an afterstate be? At the end of the game, its utility. Before the end,
# the opponent is to move and chooses its own best afterstate. What is good for the opponent is bad
# for me:
#
# > **target = -gamma max V(afterstates of the opponent)**
#
# This is a temporal-difference target as in notebook 7, but one move at a time and with the
# opposite sign, as in negamax. It is the correct version of what the listing attempted: you *may*
# use the state in which the opponent is to move, if you evaluate it from the opponent's view. This
# requires a zero-sum game, so a draw is now worth 0. One learner plays both sides.
#
# The value should move towards the target. It depends on the weights, so each weight is changed in
# proportion to the number of lanes of its kind:
#
# > **weight of a kind += alpha (target - V) (number of lanes of that kind)**
#
# Where does this formula come from? Call the sum of the weights z, so that V = tanh z, and call the
# target T. A game is won with probability (1 + V) / 2, which we call p, and should be won with
# probability q = (1 + T) / 2. The error is measured by the *cross-entropy* of the two, L = -q ln p
# - (1 - q) ln(1 - p).
#
# * Its derivative by V is dL/dV = (V - T) / (1 - V²).
# * The slope of tanh is dV/dz = 1 - V², which cancels the denominator: dL/dz = V - T.
# * A weight occurs in z once for each lane of its kind, so the derivative by a weight is (V - T)
#   (number of lanes of that kind).
#
# The update is a step against this gradient. The target also depends on the weights, but we treat
# it as a constant. Therefore this is a **semi-gradient method** (Sutton and Barto 2018, section
# 9.3).
#
# About twenty lanes change together, so alpha has to be small. And it should become smaller, or the
# last few games would undo what all the others have taught. So `train_lanes`, which is given,
# begins with alpha = 0.01. After 500 games alpha is half of that, after 1,000 a third, after 1,500
# a quarter.
#
# Write `target`, `update` and `self_play`.

# %%
learner = LaneLearner(alpha=0.01)
print("before:", learner.weights)
learner.update(before, 63)  # the diagonal is completed: x wins
print("after: ", {kind: round(weight, 3) for kind, weight in learner.weights.items()})

# %%
check("study5.lane_update")

# %%
check("study5.self_play")

# %% [markdown]
# ## Does it work?
#
# We train three learners with different seeds for 1,000 games each. At intervals the greedy agent
# plays against `WinOrBlock`. The horizontal lines are the controls: the score of the same agent
# untrained, that is, at random; and the score of the empty table, which plays by the order of the
# cells.

# %% tags=["hide-input"]
def plot_training(curves, control, order):
    """Plot the scores of all learners as a band with their mean, and the two controls."""
    axes = figure(7.5, 3.8)
    low, middle, high = zip(*((min(s), mean(s), max(s)) for s in zip(*curves, strict=True)),
                            strict=True)
    axes.fill_between(when, low, high, alpha=0.25, label="worst to best of three seeds")
    axes.plot(when, middle, label="mean")
    axes.axhline(control, color="black", linestyle=":", linewidth=1.2, label="untrained")
    axes.axhline(order, color="#D55E00", linestyle="--", linewidth=1.2, label="empty table")
    axes.set(xlabel="games of self-play", ylabel="score against WinOrBlock", ylim=(-0.04, 1.03),
             title="Qubic: values of afterstates, shared over lanes")
    axes.figure.legend(loc="outside upper center", ncols=4, frameon=False)
    return picture(axes, "Score against WinOrBlock by games of self-play, mean of three seeds "
                   "(worst to best): " + ", ".join(
                       f"{games} games {m:.2f} ({a:.2f} to {b:.2f})"
                       for games, a, m, b in zip(when, low, middle, high, strict=True))
                   + f". Controls: untrained {control:.2f}, empty table with ties to the lowest "
                   f"cell {order:.2f}.")

# %%
when = [0, 200, 400, 600, 800, 1000]
learners, curves = [LaneLearner(seed) for seed in (1, 2, 3)], []


def measured(learner, games, seed):
    """The match of the learner's greedy moves against the player that looks one move ahead."""
    agent = GreedyAgent(greedy_moves, {"x": learner, "o": learner})
    return match(agent, WinOrBlock(), games, seed, start=Qubic())


progress = Progress(len(learners) * when[-1], "games")
print("games ", *(f"{games:5}" for games in when), end="")
control = measured(LaneLearner(), 100, 0).score
order = match(empty, WinOrBlock(), 100, seed=0, start=Qubic()).score
for learner in learners:
    curves.append([control])
    print(f"\nseed {len(curves)} {control:5.2f}", end="")

    def record(done):
        if done in when:
            curves[-1].append(measured(learner, 50, done).score)
            print(f" {curves[-1][-1]:5.2f}", end="")
        progress.update()

    train_lanes(learner, when[-1], Qubic(), record)
plot_training(curves, control, order)

# %% [markdown]
# The agent improves from nothing to far above the benchmark, in seconds, with seven numbers. Here
# are all agents in one table, with intervals and controls. (All ties are broken at random unless
# the line states otherwise.)

# %%
trained = learners[0]
agents = {
    "random": Random(),
    "Q table, untrained, lowest cell": empty,
    "lanes, untrained": GreedyAgent(greedy_moves, dict.fromkeys("xo", LaneLearner())),
    "lanes, 1000 games": GreedyAgent(greedy_moves, dict.fromkeys("xo", trained)),
}
print(f"{'':32}{'against random':>24}{'against WinOrBlock':>24}")
for name, agent in agents.items():
    results = [match(agent, rival, games=100, seed=9, start=Qubic())
               for rival in (Random(), WinOrBlock())]
    print(f"{name:32}" + "".join(
        f"{result.score:10.2f} ({result.interval[0]:.2f} to {result.interval[1]:.2f})"
        for result in results))

# %% [markdown]
# With 10,000 games, which take half a minute or less, our own learner scored 0.97 to 0.99 with each
# of three seeds. More games are not necessary, because there are only seven numbers to learn.
#
# Watch the learner play x. *Play* runs the game, and *Next* plays a single move. After which move
# is `WinOrBlock` certain to lose?

# %%
best = agents["lanes, 1000 games"]
watch({"x": best, "o": WinOrBlock(seed=1)}, start=Qubic())

# %% [markdown]
# ## What has it learned?
#
# The picture shows the seven weights of the three learners.

# %% tags=["hide-input"]
axes = figure(7.5, 3.6)
shift = 0.25
for number, learner in enumerate(learners):
    axes.bar([place + (number - 1) * shift for place in range(len(KINDS))],
             list(learner.weights.values()), width=shift * 0.9, label=f"seed {number + 1}",
             hatch=("", "//", "..")[number], color=("#0072B2", "#E69F00", "#dddddd")[number],
             edgecolor="#444444", linewidth=0.6)
axes.axhline(0, color="black", linewidth=0.8)
axes.set_xticks(range(len(KINDS)), [f"{own} own" if own else f"{rival} other's"
                                    for own, rival in KINDS])
axes.set(xlabel="marks in the lane, after the player's move", ylabel="weight",
         title="The seven weights")
axes.figure.legend(loc="outside upper center", ncols=3, frameon=False)
picture(axes, "Weights by kind of lane for three seeds. " + ". ".join(
    f"{own} own, {rival} of the opponent: "
    + ", ".join(f"{learner.weights[own, rival]:.2f}" for learner in learners)
    for own, rival in KINDS) + ".")

# %% [markdown]
# No rule in the code says that four in a lane win, that three should be blocked, or that blocking
# is more important than completing a three. The weights express all of this.
#
# Play against it. *Show values* shows, on each cell, the value that the learner gives to the state
# after your move, from your view: close to 1 if it believes that you will win (▲) or lose (▼).
# After which move do you believe it?

# %%
play_against(best, start=Qubic(), values=trained.value)

# %% [markdown]
# In which order did the weights learn this? Here x is to move, and o threatens to complete a lane
# at cell 3. We follow a learner through its first 800 games. **Before you move the slider,
# predict** which of the seven weights grows first, and after how many games x prefers cell 3.

# %%
threatened = Qubic.from_moves([21, 0, 22, 1, 42, 2])
followed, snapshots = LaneLearner(seed=1), []
progress = Progress(800, "games")


def record(done):
    """Save the weights at intervals and show the progress of the training."""
    if done % 20 == 0:
        snapshots.append((f"After {done} games", dict(followed.weights)))
    progress.update(done)


def move_values(weights):
    """The values of x's moves with these weights."""
    learner = LaneLearner()
    learner.weights = weights
    return learner.move_values(threatened)


record(0)
train_lanes(followed, 800, Qubic(), record)
weights_on_board(snapshots, threatened, move_values,
                 lambda kind: f"{kind[0]} own" if kind[0] else f"{kind[1]} other's")

# %% [markdown]
# <details><summary>What you should have seen</summary>
#
# The weight of four of the learner's own marks grows from the beginning. At first only the end of a
# game provides any information, and a game ends with a complete lane. Meanwhile the weights of one
# and two marks swing up and down, because every position has so many lanes of these kinds that each
# error changes them. The value of four in a lane has to travel backwards: once the learner knows
# that four in a lane win, it can learn that three of the opponent's marks are a threat. Until then
# x prefers to extend its own lanes instead of blocking. With our own learner, cell 3 is best after
# about 500 games.
#
# </details>

# %% [markdown]
# **Question.** (a) Three of the opponent's marks weigh much more than three of the agent's own,
# with the opposite sign. Why, in an *afterstate*? (b) Suppose that all weights were found and
# fixed. Which of these can an agent with seven weights recognise, and which not: a win in one move;
# a fork (two lanes with three marks after the move); that one reply stops two threats, because they
# share their open cell? Give reasons. (c) Propose one more feature, and explain how you would find
# out whether it helps.

# %% [markdown] answer="what-the-weights-say"
# *Write your answer here.*

# %% [markdown]
# ## Why not search?
#
# None of the agents on the cube has searched so far. But `target` looks one ply further than
# `value`: it uses the opponent's best afterstate. So an agent that chooses by `target` searches two
# plies, its own move and the reply, as `TypeA` of study 3 does with a limit of 2, except for its
# quiescence test. And the weights need not be learned: as in study 3, they can be chosen by hand.
# Below, each additional mark in a lane counts three times as much, ours with a plus sign and theirs
# with a minus sign.
#
# **Predict** each of the three scores: the learned weights against the hand-chosen ones, both
# without a search; the learned ones against the hand-chosen ones with two plies; and two plies for
# both.

# %%
class TwoPlies:
    """Judges a move by the position after the opponent's best reply."""

    def __init__(self, learner):
        self.learner = learner

    def move_values(self, state):
        """The target of every legal move's afterstate, by move."""
        return {move: self.learner.target(state.after(move), state.to_move)
                for move in state.legal_moves()}


by_hand = LaneLearner()
by_hand.weights = {(own, rival): 0.01 * 3 ** (own - 1) if own else -0.01 * 3 ** (rival - 1)
                   for own, rival in KINDS}
matches = [("learned", trained, "by hand", by_hand),
           ("learned", trained, "by hand, two plies", TwoPlies(by_hand)),
           ("learned, two plies", TwoPlies(trained), "by hand, two plies", TwoPlies(by_hand))]
progress = Progress(len(matches), "matches")
for name, learner, other, rival in matches:
    found = match(*(GreedyAgent(greedy_moves, dict.fromkeys("xo", judge)) for judge in (learner, rival)),
                  games=40, seed=7, start=Qubic())
    print(f"{name:18} against {other:18} {found}")
    progress.update()

# %% [markdown]
# <details><summary>What you should have seen</summary>
#
# Forty games leave wide intervals. Over 400, our own learner scores 0.80 (0.76 to 0.84) against the
# hand-chosen weights, so learning has found better ones. But against the same weights with two
# plies it scores 0.29 (0.25 to 0.34): one more ply is worth more than the better weights. With two
# plies for both, the score is 0.58 (0.54 to 0.63), so better weights still help, though less.
#
# So "why not search?" is a fair question, and these matches suggest doing both. Learning improves
# the evaluation of a search, and a search corrects the mistakes of an evaluation with seven
# numbers. The price is time: the agent computes the values of the moves on up to 64 boards instead
# of one.
#
# </details>

# %% [markdown]
# ## Symmetry (extra credit)
#
# If you rotate the cube, the game is the same. There are 48 rotations and reflections of a cube.
# Qubic has more symmetries: 192 rearrangements of the cells map lanes to lanes. They are
# combinations of three kinds.
#
# * The three axes are permuted: 6 ways.
# * Any of the axes is reversed, so that 0 1 2 3 becomes 3 2 1 0: 8 ways.
# * On all three axes alike, the coordinates are rearranged so that opposite ones, 0 and 3 as well
#   as 1 and 2, stay opposite. For example 1 0 3 2, which turns the cube inside out: its corners
#   become the core. There are 8 of these, but half of them differ from another one only by
#   reversing all axes.
#
# 6 x 8 x 8 / 2 = 192. Write `symmetries()`, which returns each of them as a tuple that gives the
# new position of every cell, and `canonical(state, ways)`, which chooses one of all states that are
# equivalent by symmetry to represent them. Then there are only two kinds of first move. Which are
# they?

# %%
ways = symmetries()
print(len(ways), "symmetries")
first_moves = Counter(canonical(Qubic().after(cell), ways) for cell in range(64))
print("first moves:", sorted(first_moves.values()))

# %%
check("study5.symmetry")

# %% [markdown]
# **Think first.** Would symmetry rescue the table? Suppose that every state is replaced by its
# canonical one. (a) By what factor, at most, does this reduce the number of states? Up to which
# move would 200,000 games then have visited most states? (Notebook 7 has the numbers of positions.)
# (b) What would it cost at every move? (c) The lane weights use symmetry as well. In what way, and
# how much more than the 192 symmetries do they assume?
#
# <details><summary>An answer</summary>
#
# (a) By a factor of at most 192. With 4 marks there are about 3.8 million positions, or 20,000 up
# to symmetry, and 200,000 games visit most of those. With 8 marks there are still 1.6 billion. So
# the gain is about two moves out of thirty-five.
#
# (b) It would cost 192 rearrangements for every look-up, nearly always for a state that is new
# anyway.
#
# (c) States that are equivalent by symmetry have the same lane counts, so the weights have all 192
# symmetries for free. They assume much more: a lane counts the same wherever it is and whichever
# other lanes it crosses. That is why seven numbers can be learned quickly, and why they cannot
# represent everything.
#
# </details>

# %% [markdown]
# **Sources**, in full in `course/bibliography.md`: Sutton and Barto 2018, section 6.8, for
# afterstates and chapter 9 for function approximation; Russell and Norvig 2021, section 22.4, for
# the same; Watkins 1989 for the update that changes its sign here; Patashnik 1980 and Allis 1994
# for Qubic and its symmetries.

# %% [markdown]
# ## Submit
#
# Save the module and all notebooks, then run this cell. It packs them into one file, `study5_qubic.zip`, together with the pictures next to them, and lists what is still missing. Submit that file as your instructor asks.

# %% tags=["skip-execution"]
from course.submission import make_submission

make_submission("study5")
