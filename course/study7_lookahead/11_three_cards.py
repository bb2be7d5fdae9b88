# %% [markdown]
# # 11. Chance and hidden cards, small
#
# In tic-tac-toe nothing is hidden and nothing is left to chance. In Sequence cards are drawn, and the
# opponent's are hidden. Before we go there, here is a game that fits on a page: three cards, two
# players, one bet. It is small enough for exact answers, and large enough for a mistake that is easy
# to make in any card game.
#
# There is no module to fill in and nothing to hand in. All the code is in the cells, so change it and
# see what happens. What you learn here you will need in notebooks 12 and 13.

# %%
# %load_ext course.notebook
from fractions import Fraction
from itertools import product
from random import Random

from course.plots import figure, picture
from tictactoe import Trace, counted
from tictactoe.contract import CHANCE
from tictactoe.games.kuhn import Kuhn
from tictactoe.show.tree import draw_tree

# %% [markdown]
# ## Three cards and a bet
#
# The cards are 1, 2 and 3. The game is a tiny poker, which Kuhn (1950) invented and solved.
#
# * Each player puts in one point. x gets a card, o gets a card, and the third goes back into the box.
# * x **passes**, or **bets** one more point. After a pass, o may pass or bet.
# * Against a bet there are two answers: **fold**, and lose the point that you have put in, or
#   **call** with one more point.
# * If nobody folds, the higher card wins: one point, or two if a bet was called.
#
# Do you have three cards and a neighbour? Then play ten games before you read on. Here is a game:

# %%
state = Kuhn()
print(state)
for move in (2, 1, "pass", "bet", "call"):
    state = state.after(move)
    print(state)

# %% [markdown]
# `Kuhn` is a state like all others, with `legal_moves`, `after` and `utility`. One thing is new: where
# a card is dealt, it is nobody's turn. There `to_move` is `CHANCE`.
#
# **What do you expect?** Write down your answers. By the end each of them will be a number.
#
# 1. You are o, you hold the 1, and x has passed. If the cards are compared you lose. You can pass, or
#    bet and hope that x folds. Does a perfect player ever bet here?
# 2. If both players are perfect, who wins in the long run: x, o, or nobody?
# 3. x has been dealt the 2, the card in the middle. What is that worth to x: 0, more, or less?
#
# ## Chance, and nothing hidden
#
# We start with an easier version. x's card lies face up. o's card stays in the pack until the cards
# are compared, and nobody has seen it. So no player knows more than the other, but at the end there
# is chance. MAX and MIN are joined by a third player, who wants nothing: a **chance node** is worth
# the *mean* of its successors, weighted by their probabilities.
#
# | to move | value of the state |
# |---|---|
# | nobody, the game is over | its utility |
# | MAX | the greatest value of a successor |
# | MIN | the least value of a successor |
# | chance | the sum of probability times value, over all successors |
#
# The search is called **expectimax** (with a MIN player in it also *expectiminimax*; Russell and
# Norvig 2021, section 5.5). Here it is, line by line as in the table. All values are for x.

# %%
@counted
def expectimax(state):
    """What the state is worth to x if everybody sees all that has been dealt."""
    if state.is_terminal():
        return state.utility("x")
    if state.to_move == CHANCE:
        return sum(state.probability(move) * expectimax(state.after(move))
                   for move in state.legal_moves())
    values = [expectimax(state.after(move)) for move in state.legal_moves()]
    return max(values) if state.to_move == "x" else min(values)

# %% [markdown]
# By hand: x has the 2 and has passed, and o has bet. Fold or call? Folding is worth -1. If x calls, o
# is dealt the 1 or the 3, each with probability 1/2, and two points are at stake: 1/2 × 2 + 1/2 × (-2)
# = 0. So x should call. Now all three cards, in fractions and not in decimals, so that nothing is
# rounded:

# %%
for card in (1, 2, 3):
    answer = Kuhn.from_moves([card, "pass", "bet"], late=True)
    values = {move: expectimax(answer.after(move)) for move in answer.legal_moves()}
    print(f"x has {card}: " + ", ".join(f"{move} {value}" for move, value in values.items()))
print("the whole game:", expectimax(Kuhn(late=True)))

# %% [markdown]
# And this is the whole tree below the 2. Circles are chance nodes, and the lines below a circle carry
# the card that o is dealt. Thick lines show where a value comes from; that of a circle comes from all
# its successors.

# %%
with Trace() as trace:
    expectimax(Kuhn.from_moves([2], late=True))
draw_tree(trace)

# %% [markdown]
# **Predict**: minimax knows no chance nodes. Suppose it takes the pack for an opponent who always
# deals the card that is worst for x. Will it call with the 2?

# %%
for card in (1, 2, 3):
    call = Kuhn.from_moves([card, "pass", "bet", "call"], late=True)
    ends = [call.after(other).utility("x") for other in call.legal_moves()]
    print(f"x has {card}: fold -1, call on average {expectimax(call)}, at worst {min(ends)}")

# %% [markdown]
# <details><summary>Answer</summary>
#
# It folds. To minimax a call is worth -2, because the pack would deal the 3. So it loses one point for
# certain where a call breaks even on average. To expect the worst from something that has no will is
# not safe play: it is a wrong model.
#
# </details>
#
# **Think first.** (a) Suppose that losing two points hurts like losing five, and all other utilities
# stay as they are. The *order* of all ends is still the same. Does minimax change its answer with the
# 2? Does expectimax? (b) Alpha-beta cuts below MIN as soon as one successor is too low for MAX. x has
# seen that folding is worth -1. At the circle after "call" the first card, say the 3, gives -2. May the
# search skip the other card? What would it have to know?
#
# <details><summary>An answer</summary>
#
# (a) Minimax only compares, so it folds as before. Expectimax adds: 1/2 × 2 + 1/2 × (-5) = -3/2 is less
# than -1, and now it folds too. For minimax an evaluation has to put states in the right order. Where
# there is chance, the numbers themselves must be right.
#
# (b) Not without more knowledge: a good second card can make up for a bad first one. If all utilities
# lie between -2 and +2, the mean is at most 1/2 × (-2) + 1/2 × 2 = 0. That is more than -1, so nothing
# can be cut. If folding were worth 1/2, the second card could be skipped. Ballard (1983) made a search
# of this.
#
# </details>
#
# ## Hidden cards
#
# Now the real game. Both cards are dealt at the beginning, and each player looks at one. The *state*
# holds more than the player to move knows. What the player knows is `state.information`: their own
# card and all that was said. States with the same information form an **information set**. A player
# must do the same in all of them, since nothing tells them apart.
#
# **Guess** how many information sets there are, and how many states are in each.

# %%
def positions(state):
    """The state and all that can follow."""
    yield state
    for move in state.legal_moves():
        yield from positions(state.after(move))


worlds = {}
for state in positions(Kuhn()):
    if state.to_move != CHANCE and not state.is_terminal():
        worlds.setdefault(state.information, []).append(state)
worlds = dict(sorted(worlds.items(), key=lambda item: (item[0][1:], item[0])))
for information, states in worlds.items():
    print(f"{information:11} {states[0].to_move} to move; the cards of x and o are",
          " or ".join(str(state.cards) for state in states))

# %% [markdown]
# Six for each player, with two states each: the other player may hold either of the other two cards.
#
# The picture shows x with the 2, once for each card that o may hold. A dotted line joins states that
# x cannot tell apart. But the values are those of expectimax, which sees both cards. Look at the two
# thick lines below the second dotted line. Could anybody play like that?

# %%
with Trace() as trace:
    expectimax(Kuhn.from_moves([2]))
draw_tree(trace, known=lambda state: state.information if state.to_move == "x" else None)

# %% [markdown]
# ## Plans
#
# Keep that question for a moment. First the exact answer, by brute force. A **plan** (a pure strategy)
# names a move for each information set of a player. With two moves in six sets o has 64 plans. x has 27
# that differ: a player who bets with a card is never asked what to do after passing with it.
#
# Below, a plan gives for each information set how often its player takes the second move, "bet" or
# "call". For now that is never or always, 0 or 1. What a pair of plans is worth is a mean over all
# deals, so it is exact.

# %%
def worth(state, plan):
    """What the state is worth to x if both players follow the plan."""
    if state.is_terminal():
        return state.utility("x")
    moves = state.legal_moves()
    if state.to_move == CHANCE:
        chances = [state.probability(move) for move in moves]
    else:
        chances = [1 - plan[state.information], plan[state.information]]
    return sum(chance * worth(state.after(move), plan)
               for chance, move in zip(chances, moves) if chance)


def plans(player):
    """All pure plans of a player that differ in what they do."""
    sets = [name for name, states in worlds.items() if states[0].to_move == player]
    for choices in product((0, 1), repeat=len(sets)):
        plan = dict(zip(sets, choices))
        if not any(plan.get(card) and plan.get(f"{card} pass bet") for card in "123"):
            yield plan


table = [[worth(Kuhn(), x | o) for o in plans("o")] for x in plans("x")]
print(f"{len(table)} plans of x against {len(table[0])} plans of o")
print("x can make sure of", max(min(row) for row in table))
print("o can make sure that x gets no more than", min(max(column) for column in zip(*table)))

# %% [markdown]
# The two numbers differ, so there is no pair of pure plans with which both players are content. If
# x's plan is known, o has an answer that makes it worth -1/6 or less. If o's is known, x has an answer
# worth 1/6 or more. In tic-tac-toe this cannot happen: a perfect player may tell everybody how it will
# play.
#
# The way out is to leave the choice to chance. A **mixed** plan has probabilities between 0 and 1:
# nobody can prepare for a choice that is not made yet. Here is one for each player:
#
# | | 1 | 2 | 3 |
# |---|---|---|---|
# | x begins | pass | pass | pass |
# | x against a bet | fold | **call one time in three** | call |
# | o after a pass | **bet one time in three** | pass | bet |
# | o against a bet | fold | **call one time in three** | call |
#
# How good are they? Each is put to the test against *all* plans of the other player.

# %%
third = Fraction(1, 3)
mixed_x = {"1": 0, "2": 0, "3": 0, "1 pass bet": 0, "2 pass bet": third, "3 pass bet": 1}
mixed_o = {"1 pass": third, "2 pass": 0, "3 pass": 1, "1 bet": 0, "2 bet": third, "3 bet": 1}
print("x can make sure of", min(worth(Kuhn(), mixed_x | o) for o in plans("o")))
print("o can make sure that x gets no more than",
      max(worth(Kuhn(), x | mixed_o) for x in plans("x")))

# %% [markdown]
# Now both numbers are the same, and so the game is solved. It is worth -1/18 to x: x can make sure of
# that against anybody, and o need never concede more. (Why is it enough to try pure plans? What a mixed
# plan is worth is a mean of what pure ones are worth, and no mean lies beyond all of them.)
#
# And o does **bet with the 1**, one time in three. How much does that bluff matter? Leave the rest of
# o's plan as it is, and change only how often o bluffs.

# %%
rates = [Fraction(number, 12) for number in range(13)]
most = [max(worth(Kuhn(), x | mixed_o | {"1 pass": rate}) for x in plans("x")) for rate in rates]
axes = figure(7, 3.4)
axes.plot([float(rate) for rate in rates], [float(value) for value in most])
axes.axhline(0, color="black", linewidth=1, marker="")
axes.set(xlabel="how often o bets with the 1 after a pass", ylabel="the most that x can win",
         title="What a bluff is worth")
for set_ticks, numbers in ((axes.set_xticks, rates[::2]), (axes.set_yticks, sorted(set(most))[::2])):
    set_ticks([float(number) for number in numbers], [str(number) for number in numbers])
picture(axes, f"Bluff rate of o and the most that x can win with any plan: {most[0]} without "
        f"bluffs, least at one third with {min(most)}, {most[-1]} if o always bluffs.")

# %% [markdown]
# <details><summary>Your predictions 1 and 2</summary>
#
# A perfect player does bluff. If o never bets with the 1, x can fold the 2 against every bet, so that
# o's 3 wins less. If x then bets with its own 3, it wins 1/18 a game. If o bluffs one time in three,
# *o* wins at least 1/18 a game, whatever x does. If o bluffs more often than that, x calls with the 2.
# And going second pays: o has heard what x said.
#
# </details>
#
# ## The average over samples
#
# In Sequence there are too many plans to list, and too many states in an information set. So programs
# do the obvious thing. They *sample* hidden cards that fit everything seen so far, search each sample
# as if all cards were face up, and play the move with the best mean. Russell and Norvig (2021, section
# 5.6) call this **averaging over clairvoyance**.
#
# Here we need not even sample. There are two states in an information set, so we take both.
#
# **Predict**: what does the average say of betting with the 1 after a pass? And of holding the 2?

# %%
def average(states):
    """The mean of what the states are worth to x if all cards lie open."""
    return sum(map(expectimax, states), Fraction(0)) / len(states)


def averages(information):
    """For each move its average, for the player to move."""
    states = worlds[information]
    sign = 1 if states[0].to_move == "x" else -1
    return {move: sign * average([state.after(move) for state in states])
            for move in states[0].legal_moves()}


for information in worlds:
    print(f"{information:11}", ", ".join(
        f"{move} {value}" for move, value in averages(information).items()))
print()
for card in "123":
    exact = worth(Kuhn.from_moves([int(card)]), mixed_x | mixed_o)
    print(f"x has {card}: average {average(worlds[card])}, exact value {exact}")

# %% [markdown]
# <details><summary>Answer, and your prediction 3</summary>
#
# In *both* worlds a bluff with the 1 is worth -2 and a pass -1. So the average never bluffs, though
# perfect play does. It values the 2 at 0, but the 2 is worth -1/3. And it values the 3 at 1,
# but the 3 is worth 7/6.
#
# Look at the tree again, at the two ends of the second dotted line. If o has the 1, x calls; if o has
# the 3, x folds. That is what the tree assumes, and its values rest on it. But it is *one* information
# set, and x must do the same at both ends. The average adds up the profits of two plans that nobody
# can follow at once. This is **strategy fusion** (Frank and Basin 1998). The player's own plans are
# fused, and the opponent's as well: bluffs seem useless because an x with the 2 is expected to call
# exactly when o has the 1.
#
# There is a second fault. In o's plan the bets with the 1 and with the 3 belong together: the bet with
# the 3 is called because it could be a bluff. A search that values a state by what comes after it
# cannot see that betting with the 1 helps the 3. Frank and Basin call this *non-locality*.
#
# </details>
#
# **Predict**: x has the 2, and we sample o's card a thousand times. Where does the mean go?

# %%
SAMPLES = 1000


def running_mean(seed):
    """The mean of the values of the first 1, 2, 3 ... samples, x having the 2."""
    rng, total, means = Random(seed), 0, []
    for number in range(1, SAMPLES + 1):
        total += expectimax(rng.choice(worlds["2"]))
        means.append(total / number)
    return means


exact = worth(Kuhn.from_moves([2]), mixed_x | mixed_o)
axes = figure(7, 3.4)
runs = [running_mean(seed) for seed in range(3)]
for seed, means in enumerate(runs):
    axes.plot(range(1, SAMPLES + 1), means, marker="", label=f"seed {seed}")
axes.axhline(float(exact), color="black", linestyle="--", marker="", label=f"exact: {exact}")
axes.set(xscale="log", xlabel="samples (logarithmic)", ylabel="value of the 2 for x",
         title="More samples settle on the wrong number")
axes.figure.legend(loc="outside right upper", frameon=False)
picture(axes, f"Running means of three seeds after {SAMPLES} samples: "
        + ", ".join(f"{means[-1]:.2f}" for means in runs) + f"; the exact value is {exact}.")

# %% [markdown]
# The lines settle, but not at the exact value. More samples take away the luck of sampling and nothing
# else. The fault was never in the samples.
#
# ## What it costs
#
# Let the averaging player play: in each information set the move with the better average, the first
# one if they are equal. What can it be sure of, against an opponent who knows how it plays?

# %%
averaging = {}
for information in worlds:
    first, second = averages(information).values()
    averaging[information] = int(second > first)
print("as x it can be sure of", min(worth(Kuhn(), averaging | o) for o in plans("o")),
      "and perfect play of", min(worth(Kuhn(), mixed_x | o) for o in plans("o")))
print("as o it concedes", max(worth(Kuhn(), averaging | x) for x in plans("x")),
      "and perfect play", max(worth(Kuhn(), mixed_o | x) for x in plans("x")))

# %% [markdown]
# **Think first.** (a) Which answer of o makes the averaging x lose most? Find o's best plan by a line
# of code, and say what it exploits. (b) Suppose that x makes only *one* more decision in the whole
# game, and o none. Can averaging still go wrong? (c) With the 3 the averages of "pass" and "bet" are
# equal, for x at the beginning and for o after a pass. If ties went to "bet", would the averaging
# player be safer?
#
# <details><summary>An answer</summary>
#
# (a) `min(plans("o"), key=lambda o: worth(Kuhn(), averaging | o))` bets after a pass with the 3 and with
# no other card. The averaging x calls with the 2, since -2 and +2 have mean 0, and that is more than -1.
# It does not ask *who* would bet here: only a player with the 3.
#
# (b) If o has nothing to decide and has decided nothing before, no. In each world the value of a move is
# then the true one, and their mean is the expected utility. The fault comes from later decisions that
# the search makes as if it knew more, and from earlier ones of o that tell something about the cards.
#
# (c) No: measured with `averaging | {"3": 1, "3 pass": 1}` it is just as easy to exploit.
#
# </details>
#
# ## On to Sequence
#
# Everything here comes back with a hundred and four cards.
#
# * The draw from the deck is a **chance node** with dozens of successors. Nobody expands all of them.
# * What you have seen of the game is your **information**. The first thing to do is to find out which
#   worlds fit it: in notebook 12 you will keep a catalogue of what the opponent may hold.
# * `SampledSearch`, in notebook 13, is **averaging over clairvoyance**, with your own
#   alpha-beta on each sample. You know now what it cannot see. But it is quick to write, and much of
#   what matters in Sequence lies open on the board.
# * Notebook 18 searches one tree of information sets in place of many trees of states.

# %% [markdown]
# **Sources**, in full in `course/bibliography.md`: Kuhn 1950 for the game and its solution; Russell and
# Norvig 2021, sections 5.5 and 5.6, for chance nodes and for averaging over clairvoyance; Ballard 1983
# for cuts below chance nodes; Frank and Basin 1998 for strategy fusion and non-locality.
