# %% [markdown]
# # 18. One tree for many worlds
#
# A tree needs states, but in Sequence no player sees the state: the opponent's cards are hidden,
# and so is the next card of the deck. This notebook applies the tree of notebook 17 to Sequence:
# first with a separate tree for each world that could be the true one, then with one tree for all
# of them. We measure the difference. At the end we examine why an agent that simulates only *ten*
# games per move already beats `Greedy`, which considers every action. The reason may surprise you.
# (Notebook 9 explains the rules of Sequence and how positions are written.)
#
# You will write the rest of `mcts.py`: `EnsembleUCT` and `ISUCT`.

# %%
# %load_ext course.notebook
from collections import Counter
from dataclasses import dataclass
from functools import cache
from math import comb
from random import Random
from statistics import mean

from course.check import check
from course.plots import COLOURS, figure, picture
from course.published import mcts_strength
from sequence import Greedy, sketch
from sequence import play as play_game
from sequence.agents.beliefs import sample, unseen_cards
from sequence.widget import play
from sequence.widget.hidden_hand import hidden_hand
from tictactoe.explorables.select import option_slider

from mcts import ISUCT, EnsembleUCT, SequenceUCT

# %% [markdown]
# ## How many worlds?
#
# We use a smaller position throughout the notebook. You are x. You hold three cards, and the draft
# row has three: do you extend your own line, or stop the opponent's?

# %%
position = sketch("x 4,2 4,3 4,4 / o 6,3 6,4 6,5 / hand 4h qs 9c / row ah 9s qh")
position

# %% [markdown]
# The opponent's six cards could be almost any. **Guess** how many different worlds there are if you
# count hands and orders of the deck. More or fewer than 10 to the power 100?

# %%
hidden = len(unseen_cards(position))
print(f"{hidden} cards are hidden; {comb(hidden, 6):,} hands of six, if all were different")
for seed in range(3):
    world = sample(position, Random(seed))
    print("the opponent holds", *world.hand(1), "- the next card is", world.draw_pile[0])

# %% [markdown]
# <details><summary>Answer</summary>
#
# Far more: the number of orderings of about ninety cards alone has more than a hundred digits. It
# is impossible to examine them all, and not necessary: a *sample* is enough to estimate a mean,
# like the random games of notebook 17. `sample` draws a full state that is consistent with
# everything the player has seen. Filling in what is hidden is called **determinisation**.
#
# </details>
#
# As the game progresses, less is hidden: both players see what is taken from the draft row. Follow
# a game from the point of view of player 0. **Before you move the slider, predict** how many of the
# opponent's six cards are known after twenty actions, and how many kinds of card are still possible
# when the game ends. The switch reveals the true hand.

# %%
hidden_hand(play_game([Greedy(), Greedy()], seed=1).states)

# %% [markdown]
# ## A separate tree for each world
#
# The first idea needs nothing new. Sample a world, search it as if all cards were visible, and
# repeat this for several worlds. Then add up the visits of each action, and play the one with the
# most.
#
# Write `world` and `search` of `EnsembleUCT`.

# %%
for row in EnsembleUCT(worlds=4, iterations=25, seed=1).search(position).rows():
    print(f"{row.move!s:26} {row.visits:3} visits, mean {row.mean:.2f}")

# %%
check("study9.ensemble")

# %% [markdown]
# ## A coin under a cup
#
# A tiny game shows its weakness. A coin is under a cup, and x has not seen it. x may take half a
# point now, or play on and guess heads or tails: a correct guess is worth one point, a wrong one
# costs a tenth of a point.
#
# The best play is to take the half point, because the expected value of a guess is 1/2 × 1 + 1/2 ×
# (-0.1) = 0.45.

# %%
@dataclass(frozen=True)
class Coin:
    """A coin under a cup; `moves` are x's moves so far. Only x moves."""

    face: str
    moves: tuple = ()
    to_move = "x"

    def legal_moves(self):
        if self.is_terminal():
            return ()
        return ("heads", "tails") if self.moves else ("play on", "take half")

    def after(self, move):
        return Coin(self.face, (*self.moves, move))

    def is_terminal(self):
        return self.moves[:1] == ("take half",) or len(self.moves) == 2

    # `reward` maps utilities from -1 to 1 to rewards from 0 to 1. So the half point has the utility
    # 0, the full point 1, and the loss of a tenth of a point -1.2.
    def utility(self, player):
        if self.moves == ("take half",):
            return 0
        return 1 if self.moves[1] == self.face else -1.2


def under_the_cup(agent):
    """The agent, searching worlds in which the coin shows heads or tails."""
    agent.world = lambda position: Coin(agent.rng.choice(("heads", "tails")))
    return agent

# %% [markdown]
# **Predict**: what will the ensemble play, and why?

# %%
def summarise(root):
    """The rows of a root in a few words."""
    return ", ".join(f"{row.move}: {row.visits} visits, mean {row.mean:.2f}" for row in root.rows())


ensemble = under_the_cup(EnsembleUCT(worlds=20, iterations=50, seed=1))
print("ensemble:", summarise(ensemble.search(None)))

# %% [markdown]
# <details><summary>Answer</summary>
#
# It plays on. In each world the tree *knows* the coin, guesses correctly, and reports that playing
# on is worth a full point. In the worlds with heads its strategy is "heads", in the others "tails",
# and the average adds up the profits of strategies that x cannot follow, because x will not know
# which world it is in. You met this in notebook 11: it is strategy fusion (Frank and Basin 1998).
#
# </details>
#
# More worlds do not help, and neither do more iterations: every tree is correct for its own world.
#
# ## One tree for what is known
#
# x cannot distinguish worlds, but only *information sets*: all worlds in which x has made the same
# observations. Single-observer **ISMCTS** (information set Monte Carlo tree search; Cowling, Powley
# and Whitehouse 2012) grows one tree over the *actions*, and each iteration descends that tree in a
# newly sampled world. At "heads or tails?" there is one node for both worlds, and its children are
# visited in both.
#
# One difficulty remains. Which actions are legal depends on the world: the opponent can only play a
# card that is in the hand *this time*. A child that is rarely possible therefore has few visits,
# but UCB1 would treat it as neglected. So each child counts how often it was **available**, and
# this number replaces the parent's visits in the formula.
#
# | iteration | opponent's actions in this world | chosen | A | B | C |
# |---|---|---|---|---|---|
# | 1 | A, B | A (new) | available 1 | | |
# | 2 | A, B | B (new) | 2 | 1 | |
# | 3 | B, C | C (new) | ? | ? | ? |
# | 4 | B, C | B | ? | ? | ? |
#
# Fill in the question marks.
#
# <details><summary>Answer</summary>
#
# After the third iteration, the counts are A 2, B 2 and C 1; after the fourth, A 2, B 3 and C 2. A
# was not possible in either of these iterations.
#
# </details>
#
# ## Write `select` and `expand` of `ISUCT`
#
# `search`, `simulate` and `backup` remain unchanged: `UCT.search` calls `self.world` for a new
# state in each iteration, which is exactly what we need.

# %%
single = under_the_cup(ISUCT(iterations=1000, seed=1))
root = single.search(None)
print("one tree:", summarise(root))
print("below 'play on':", summarise(root.children["play on"]))

# %%
check("study9.info_step")

# %%
check("study9.isuct")

# %% [markdown]
# **Question.** (a) Change the payoff of a correct guess or of the sure move in `Coin` so that
# playing on is correct, and show that both agents find it. At which payoff does each of them
# switch? (Measure it.) (b) Choose a payoff between the two switching points, print the numbers at
# the node after "play on" for both agents (for one world of the ensemble:
# `ensemble.tree(Coin("heads"))`), and explain the difference with them. (c) In Sequence, name a
# decision in which an ensemble plans with cards that it cannot know.

# %% [markdown] answer="fusion"
# *Write your answer here.*

# %% [markdown]
# ## In Sequence
#
# Back to the position. We search it with one tree and random games to the end:

# %%
def levels(node, depth=0):
    """The depth of every node below this one."""
    for child in node.children.values():
        yield depth + 1
        yield from levels(child, depth + 1)


root = ISUCT(iterations=400, c=0.5, seed=1).search(position)
for row in sorted(root.rows(), key=lambda row: -row.visits):
    print(f"{row.move!s:26} {row.visits:3} visits, mean {row.mean:.2f}")
print("nodes by depth:", dict(sorted(Counter(levels(root)).items())))

# %% [markdown]
# The tree is wide and shallow. Four hundred games reach barely further than the opponent's reply,
# because the opponent may hold nearly any card, and the tree has a separate child for each of those
# actions. The branching factor of Sequence is large, and hidden cards make it larger.
#
# There are two remedies, and `SequenceUCT`, which is given, has a parameter for each:
#
# * `width`: consider only a few **actions**. `ranked` sorts the promising actions by how good they
#   look at the moment, without any search, and only the first `width` of them enter the tree. This
#   is forward pruning.
# * `leaf`: how a new node is **evaluated**. "random" plays a random game to its end. "judged"
#   estimates the probability of winning from the position itself: `chances` computes it from the
#   lines and from the cards that can complete them. "quick" first plays four more actions with the
#   *quick player*, which always plays the first action of the ranking, and then estimates in the
#   same way.

# %% tags=["hide-input"]
@cache
def tree(width, leaf, seed=1, iterations=150):
    """The root of a search with these parameters."""
    return SequenceUCT(iterations, 0.2, seed, leaf, width).search(position)


def by_width(width):
    """Plot how many nodes of a tree are at each depth."""
    counts = Counter(levels(tree(width, "judged")))
    axes = figure(6.4, 2.8)
    bars = axes.bar(list(counts), list(counts.values()), color=COLOURS[0])
    axes.bar_label(bars)
    axes.set_xticks(range(1, 9))
    title = f"{'all actions' if width is None else f'the best {width}'}: 150 nodes by depth"
    axes.set(xlim=(0, 9), ylim=(0, 160), xlabel="depth", ylabel="nodes", title=title)
    return picture(axes, f"{title}: " + ", ".join(
        f"{number} at depth {depth}" for depth, number in sorted(counts.items())))


option_slider("width", (None, 10, 5, 3, 2, 1), by_width)

# %% [markdown]
# ## Does it converge?
#
# We compare six seeds, that is, six different streams of sampled worlds. Each curve follows the
# share of the visits that goes to the action with the most visits at the end.

# %% tags=["hide-input"]
class RecordingAgent(SequenceUCT):
    """Records after each iteration how the visits at the root are distributed."""

    def search(self, position):
        self.history = []
        return super().search(position)

    def backup(self, node, end):
        super().backup(node, end)
        while node.parent:
            node = node.parent
        self.history.append({move: child.visits for move, child in node.children.items()})


SEEDS, MOST = range(6), 120


@cache
def history(seed, leaf):
    """The history of one search."""
    agent = RecordingAgent(MOST, 0.2, seed, leaf, width=5)
    agent.search(position)
    return agent.history


# %% tags=["hide-input"]
quick = [history(seed, "quick") for seed in SEEDS]
print("with short games:", sum(map(len, quick)), "iterations recorded")

# %% tags=["hide-input"]
def curves(axes, leaf, colour, marker):
    """The share of the action that most seeds end with: its mean over the seeds, and its range."""
    runs = [history(seed, leaf) for seed in SEEDS]
    favourite, = (move for move, _ in Counter(
        max(run[-1], key=run[-1].get) for run in runs).most_common(1))
    steps = range(10, MOST, 5)
    shares = [[run[step].get(favourite, 0) / (step + 1) for run in runs] for step in steps]
    axes.fill_between(steps, list(map(min, shares)), list(map(max, shares)), color=colour, alpha=0.2)
    axes.plot(steps, list(map(mean, shares)), color=colour, marker=marker, markevery=4,
              label=f"{leaf} leaf: {favourite}")
    return f"{leaf}: from {mean(shares[0]):.2f} to {mean(shares[-1]):.2f}"


axes = figure(7.2, 3.6)
descriptions = [curves(axes, "quick", COLOURS[0], "o"),
                curves(axes, "judged", COLOURS[1], "s")]
axes.set(xlabel="iterations", ylabel="share of the visits", ylim=(0, 1),
         title="The favourite's share: six seeds, mean and range")
axes.legend(loc="upper left", frameon=False)
picture(axes, "The share of the visits of the favourite action, by iterations. "
        + "; ".join(descriptions))

# %% [markdown]
# ## Why ten iterations are enough
#
# `Greedy` considers every action of its turn, fifty or a thousand. What can a search achieve with
# only ten simulated games? **Predict**, before you run the next cell, which of these plays best
# against `Greedy` with ten iterations per move, and which of the two parameters matters more.
#
# * random games, all actions;
# * a judged or quick leaf, all actions;
# * random games, only the best 5 actions;
# * a judged or quick leaf, only the best 5 actions.
#
# The games have already been played, every deal from both seats, and the table is part of the
# course. (`course/statistics.md` explains the intervals.)

# %%
table = mcts_strength()
for entry in table:
    print(f"{entry.name:52} {entry.games:3} games: score {entry.score:.2f} "
          f"({entry.low:.2f} to {entry.high:.2f})")

# %% tags=["hide-input"]
ten = [entry for entry in table if entry.iterations == 10 and entry.leaf]
axes = figure(7.2, 3.4)
for number, (width, colour) in enumerate(((None, COLOURS[1]), (5, COLOURS[0]))):
    row = [entry for entry in ten if entry.width == width]
    places = [place + 0.4 * number for place in range(len(row))]
    axes.bar(places, [entry.score for entry in row], width=0.36, color=colour,
             hatch="//" if number else "", edgecolor="white",
             label="all actions" if width is None else f"the best {width}")
    axes.errorbar(places, [entry.score for entry in row], color="black", linestyle="", marker="",
                  yerr=[[entry.score - entry.low for entry in row],
                        [entry.high - entry.score for entry in row]], capsize=4)
axes.axhline(0.5, color="black", linestyle="--", linewidth=1, marker="")
axes.set_xticks([place + 0.2 for place in range(3)], [entry.leaf for entry in row])
axes.set(xlabel="leaf", ylabel="score against Greedy", ylim=(0, 1),
         title="Ten iterations per move, with 95 % intervals")
axes.figure.legend(loc="outside right upper")
picture(axes, "Scores against Greedy with ten iterations: " + ", ".join(
    f"{entry.name} {entry.score:.2f}" for entry in ten))

# %% [markdown]
# <details><summary>What the picture shows</summary>
#
# Without the ranking, ten iterations try ten of about fifty actions, drawn at random, once each.
# All of these may be poor, and the games are lost whatever the leaf is. With the ranking even
# random games win more than a third, and a better leaf improves this. So the choice of the five
# actions matters most.
#
# The table has more rows than the picture. Read every row before you answer the question.
#
# </details>
#
# **Question.** A classmate reports: "My tree search beats Greedy with ten iterations, so search is
# what wins in this game." Use the table to explain which control is missing, and how much of the
# score the search itself can claim. Which pairs of rows do the intervals distinguish, and which
# comparison would you play next, with how many games, to find out whether more iterations help?

# %% [markdown] answer="ten-iterations"
# *Write your answer here.*

# %% [markdown]
# ## Play against your own search
#
# Click a card in your hand, a highlighted cell, and the card to take. *Show values* shows how
# `Greedy`, which does not simulate, rates each of them.

# %%
play(against=SequenceUCT(iterations=30, seed=1), seed=5, values=Greedy().values)

# %% [markdown]
# The built-in `ISMCTS` is an agent of the same kind. Its docstring describes what it does in addition: it considers few actions first and
# more as the search continues, and the actions at the root are tried in the same worlds. Your own
# agent for the league may use any of these ideas.

# %% [markdown]
# **Sources**, in full in `course/bibliography.md`: Frank and Basin 1998 for strategy fusion;
# Cowling, Powley and Whitehouse 2012 for one tree over information sets and for counting
# availability; Chaslot et al. 2008 for considering few actions first.

# %% [markdown]
# ## Submit
#
# Save the module and all notebooks, then run this cell. It packs them into one file, `study9_mcts.zip`, together with the pictures next to them, and lists what is still missing. Submit that file as your instructor asks.

# %% tags=["skip-execution"]
from course.submission import make_submission

make_submission("study9")
