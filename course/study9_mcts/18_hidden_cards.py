# %% [markdown]
# # 18. One tree for many worlds
#
# A tree needs states, and in Sequence nobody sees the state: the opponent's cards are hidden, and
# so is the next card of the deck. This notebook takes the tree of notebook 17 there: first with a
# separate tree for each world that could be the true one, then with one tree for all of them. We
# find out what the difference is. At the end we ask why an agent that simulates *ten* games for a
# move already beats `Greedy`, which looks at every action. The reason may surprise you.
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
from course.recorded import mcts_strength
from sequence import ISMCTS, Greedy, sketch
from sequence import play as play_game
from sequence.agents.beliefs import sample, unseen_cards
from sequence.widget import play
from sequence.widget.hidden_hand import hidden_hand
from tictactoe.show.knob import knob

from mcts import ISUCT, EnsembleUCT, SequenceUCT

# %% [markdown]
# ## Play against a tree
#
# The given `ISMCTS` is an agent of the kind that this notebook builds. Here it simulates fifty games
# for a move. Click a card of your hand, a lit cell, and the card to take. *Show values* tells what
# `Greedy`, who simulates nothing, would give for each of them.

# %%
play(against=ISMCTS(iterations=50, seed=1), seed=3, values=Greedy().values)

# %% [markdown]
# ## How many worlds?
#
# A smaller position, which we keep for the whole notebook. You are x. You hold three cards, and the
# draft row has three: go on with your own line, or stop the other one?

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
    print("the opponent holds", *world.hand(1), "- the next card is", world.undealt[0])

# %% [markdown]
# <details><summary>Answer</summary>
#
# Far more: the number of orders of some ninety cards alone has more than a hundred digits. Nobody can
# go through them all, and nobody needs to: a *sample* is enough to estimate a mean, as the random games
# of notebook 17 were. `sample` draws a full state that fits everything the player has seen. Filling in
# what is hidden is called **determinisation**.
#
# </details>
#
# As the game goes on, less is hidden: everybody sees what a player takes from the draft row. Follow a
# game through the eyes of player 0. **Before you move the slider, say** how many of the opponent's six
# cards are known after twenty actions, and how many kinds of card are still possible when the game
# ends. The knob opens the true hand.

# %%
hidden_hand(play_game([Greedy(), Greedy()], seed=1).states)

# %% [markdown]
# ## A separate tree for each world
#
# The first idea needs nothing new. Sample a world, search it as if everybody saw all cards, and do
# so for several worlds. Then add up the visits of each action, and play the one with the most.
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
# A game that fits on a page shows what is wrong with it. A coin lies under a cup, and x has not
# seen it. x may take half a point now, or play on and say heads or tails: right is worth a point,
# wrong costs a tenth of one.
#
# The right play is to take the half point: a guess is worth 1/2 × 1 + 1/2 × (-0.1) = 0.45.

# %%
@dataclass(frozen=True)
class Coin:
    """A coin lies under a cup; `told` are x's moves so far. Only x moves."""

    face: str
    told: tuple = ()
    to_move = "x"

    def legal_moves(self):
        if self.is_terminal():
            return ()
        return ("heads", "tails") if self.told else ("play on", "take half")

    def after(self, move):
        return Coin(self.face, (*self.told, move))

    def is_terminal(self):
        return self.told[:1] == ("take half",) or len(self.told) == 2

    def utility(self, player):  # 0 is worth half a point, see `reward`
        return 0 if len(self.told) == 1 else 1 if self.told[1] == self.face else -1.2


def under_the_cup(agent):
    """The agent, in worlds where the coin shows heads or tails."""
    agent.world = lambda position: Coin(agent.rng.choice(("heads", "tails")))
    return agent

# %% [markdown]
# **Predict**: what will the ensemble play, and why?

# %%
def told(root):
    """The rows of a root in a few words."""
    return ", ".join(f"{row.move}: {row.visits} visits, mean {row.mean:.2f}" for row in root.rows())


ensemble = under_the_cup(EnsembleUCT(worlds=20, iterations=50, seed=1))
print("ensemble:", told(ensemble.search(None)))

# %% [markdown]
# <details><summary>Answer</summary>
#
# It plays on. In each world the tree *knows* the coin, guesses right, and reports that playing on is
# worth a full point. In the worlds with heads the plan is "heads", in the others "tails", and the
# average adds up the profits of plans that nobody can carry out: x will not know which world it is
# in. This is called **strategy fusion** (Frank and Basin 1998).
#
# </details>
#
# More worlds do not help, and neither do more iterations: every tree is right about its own world.
#
# ## One tree for what is known
#
# What x can tell apart are not worlds but *information sets*: all worlds in which x has seen the
# same. Single-observer ISMCTS (Cowling, Powley and Whitehouse 2012) grows one tree over what has been
# *done*, and each iteration goes down that tree in a freshly sampled world. At "heads or tails?" there
# is one node for both worlds, its children are visited in both, and their means are honest: about
# 0.45 each.
#
# One difficulty is left. Which actions are legal depends on the world: the opponent can only play a
# card that is in the hand *this time*. A child that is rarely possible has few visits for a reason,
# and UCB1 would take it for neglected. So each child counts how often it was **available**, and this
# number stands in the place of the parent's visits.
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
# After the third iteration A 2, B 2, C 1; after the fourth A 2, B 3, C 2. A was possible in neither.
#
# </details>
#
# ## Write `select` and `expand` of `ISUCT`
#
# `search`, `simulate` and `backup` stay as they are: `UCT.search` asks `self.world` for the state in
# each iteration anew, and that was the point.

# %%
single = under_the_cup(ISUCT(iterations=1000, seed=1))
root = single.search(None)
print("one tree:", told(root))
print("below 'play on':", told(root.children["play on"]))

# %%
check("study9.info_step")

# %%
check("study9.isuct")

# %% [markdown]
# **Question.** (a) Change the payoff of a right guess or of the sure move in `Coin` so that playing
# on is right, and show that both agents find it. From which payoff on does each of them switch?
# (Measure it.) (b) Explain the difference between the two switching points with the numbers at the
# node after "play on". (c) In Sequence, name a decision in which an ensemble plans with cards that it
# cannot know.

# %% [markdown] answer="fusion"
# *Write your answer here.*

# %% [markdown]
# ## In Sequence
#
# Back to the position. Random games to the end, one tree:

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
# The tree is bushy. Four hundred games reach hardly further than the opponent's reply, since the
# opponent may hold nearly any card, and every one of those actions is tried once before any is tried
# twice. Sequence is wide, and cards make it wider.
#
# There are two remedies, and `SequenceUCT`, which is given, has a switch for each:
#
# * `width`: look at the few **actions** that look best at once, and at no others (`ranked`).
# * `leaf`: how a new node is **judged**. "random" is a random game to its end, "judged" an estimate
#   of the position as it is (`chances`: lines and cards turned into a chance to win), "quick" the
#   same after four actions of a player who takes what looks best.

# %%
@cache
def tree(width, leaf, seed=1, iterations=150):
    """The root of a search with these switches."""
    return SequenceUCT(iterations, 0.2, seed, leaf, width).search(position)


def by_width(width):
    """How the nodes of a tree are spread over the levels."""
    counts = Counter(levels(tree(width, "judged")))
    axes = figure(6.4, 2.8)
    bars = axes.bar(list(counts), list(counts.values()), color=COLOURS[0])
    axes.bar_label(bars)
    axes.set_xticks(range(1, 9))
    title = f"{'all actions' if width is None else f'the best {width}'}: 150 nodes by depth"
    axes.set(xlim=(0, 9), ylim=(0, 160), xlabel="depth", ylabel="nodes", title=title)
    return picture(axes, f"{title}: " + ", ".join(
        f"{number} at depth {depth}" for depth, number in sorted(counts.items())))


knob("width", (None, 10, 5, 3, 2, 1), by_width)

# %% [markdown]
# ## Does it settle?
#
# Six seeds, that is, six different streams of sampled worlds. Each curve follows the share of the
# visits that goes to the action which has most of them in the end.

# %%
class Watched(SequenceUCT):
    """Notes after each iteration how the visits at the root are shared out."""

    def search(self, position):
        self.notes = []
        return super().search(position)

    def backup(self, node, end):
        super().backup(node, end)
        while node.parent:
            node = node.parent
        self.notes.append({move: child.visits for move, child in node.children.items()})


SEEDS, MOST = range(6), 120


@cache
def notes(seed, leaf):
    """The notes of one search."""
    agent = Watched(MOST, 0.2, seed, leaf, width=5)
    agent.search(position)
    return agent.notes


# %%
quick = [notes(seed, "quick") for seed in SEEDS]
print("with short games: noted", sum(map(len, quick)), "iterations")

# %%
def curves(axes, leaf, colour, marker):
    """The share of the action that most seeds end with: its mean over the seeds, and its range."""
    runs = [notes(seed, leaf) for seed in SEEDS]
    favourite, = (move for move, _ in Counter(
        max(run[-1], key=run[-1].get) for run in runs).most_common(1))
    steps = range(10, MOST, 5)
    found = [[run[step].get(favourite, 0) / (step + 1) for run in runs] for step in steps]
    axes.fill_between(steps, list(map(min, found)), list(map(max, found)), color=colour, alpha=0.2)
    axes.plot(steps, list(map(mean, found)), color=colour, marker=marker, markevery=4,
              label=f"{leaf} leaf: {favourite}")
    return f"{leaf}: from {mean(found[0]):.2f} to {mean(found[-1]):.2f}"


axes = figure(7.2, 3.6)
words = [curves(axes, leaf, colour, marker)
         for leaf, colour, marker in (("quick", COLOURS[0], "o"), ("judged", COLOURS[1], "s"))]
axes.set(xlabel="iterations", ylabel="share of the visits", ylim=(0, 1),
         title="The favourite's share: six seeds, mean and range")
axes.legend(loc="upper left", frameon=False)
picture(axes, "The share of the visits of the favourite action, by iterations. " + "; ".join(words))

# %% [markdown]
# ## Why ten iterations are enough
#
# `Greedy` looks at every action of its turn, fifty or a thousand. What can a search do that looks at
# ten games? **Predict**, before you run the next cell, which of these plays best against `Greedy`
# with ten iterations a move, and which of the two switches matters more.
#
# * random games, all actions;
# * a judged or quick leaf, all actions;
# * random games, only the best 5 actions;
# * a judged or quick leaf, only the best 5 actions.
#
# The games are played already: every deal from both seats, and the table comes with the course.

# %%
table = mcts_strength()
for entry in table:
    print(f"{entry.name:52} {entry.games:3} games: score {entry.score:.2f} "
          f"({entry.low:.2f} to {entry.high:.2f})")

# %%
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
         title="Ten iterations a move, with 95 % intervals")
axes.figure.legend(loc="outside right upper")
picture(axes, "Scores against Greedy with ten iterations: " + ", ".join(
    f"{entry.name} {entry.score:.2f}" for entry in ten))

# %% [markdown]
# <details><summary>What the table says</summary>
#
# Without the ranking, ten iterations try ten of some fifty actions, drawn at random, once each: all
# of them may be poor, and the games are lost whatever the leaf is. With the ranking even random games
# win more than a third, and a better leaf adds to it. So the knowledge of which five actions to look
# at matters most.
#
# And then there are the rows that are not in the picture. The quick player plays what the ranking
# puts first. The given `ISMCTS` looks at the actions in the order of the ranking. Compare them with
# the six before you answer the question.
#
# </details>
#
# **Question.** Somebody reports: "My tree search beats Greedy with ten iterations, so search is
# what wins in this game." Say from the table which control is missing in that report, and how much of
# the score the search itself can claim. Which pairs of rows do the intervals tell apart, and which
# comparison would you play next, with how many games, to find out if more iterations help?

# %% [markdown] answer="ten-iterations"
# *Write your answer here.*

# %% [markdown]
# ## Play against yours
#
# The values are those of `Greedy` again.

# %%
play(against=SequenceUCT(iterations=30, seed=1), seed=5, values=Greedy().values)

# %% [markdown]
# The docstring of `ISMCTS` says what it does beyond this: it looks at few actions first and at more as
# it goes on, and the actions at the root meet the same worlds. Your own agent for the league may do
# what you like.

# %% [markdown]
# **Sources**, in full in `course/bibliography.md`: Frank and Basin 1998 for strategy fusion; Cowling,
# Powley and Whitehouse 2012 for one tree over information sets and for counting what is available;
# Chaslot et al. 2008 for looking at few actions first.

# %% [markdown]
# ## Hand in
#
# Save the module and all notebooks, then run this cell. It packs them into one file, `study9_mcts.zip`, with the pictures that lie next to them, and lists what is still missing. Hand that file in as your course says.

# %% tags=["skip-execution"]
from course.hand_in import hand_in

hand_in("study9")
