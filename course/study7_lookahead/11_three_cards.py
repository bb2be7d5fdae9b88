# %% [markdown]
# # 11. Chance and hidden cards, small
#
# Tic-tac-toe has no hidden information and no chance. In Sequence cards are drawn, and the
# opponent's are hidden. Before we continue with Sequence, here is a much smaller game: three cards,
# two players, one bet. It is small enough for exact answers, and large enough for a mistake that is
# easy to make in any card game.
#
# The notebook has two parts. The first is about chance, and all its code is in the cells; change it
# and see what happens. The second is about hidden cards. There you write one small function,
# `strategy_value`, in `lookahead.py`, the file next to this notebook. You will need what you learn
# here in notebooks 12 and 13.

# %%
# %load_ext course.notebook
from fractions import Fraction
from itertools import product
from random import Random

from course.check import check
from course.plots import figure, picture
from tictactoe import Trace, counted
from tictactoe.contract import CHANCE
from tictactoe.games.kuhn import Kuhn
from tictactoe.explorables.tree import draw_tree

from lookahead import strategy_value

# %% [markdown]
# ## Three cards and a bet
#
# The cards are 1, 2 and 3. The game is a tiny poker, which Kuhn (1950) invented and solved.
#
# * Each player puts in one point. x gets a card, o gets a card, and the third goes back into the
#   box.
# * x **passes**, or **bets** one more point. After a pass, o may pass or bet.
# * There are two replies to a bet: **fold**, and lose the point that you have put in, or **call**
#   with one more point.
# * If neither player folds, the higher card wins: one point, or two if a bet was called.
#
# If you have three cards and a neighbour, play ten games before you read on. Here is a game:

# %%
state = Kuhn()
print(state)
for move in (2, 1, "pass", "bet", "call"):
    state = state.after(move)
    print(state)

# %% [markdown]
# `Kuhn` is a state like all others, with `legal_moves`, `after` and `utility`. One thing is new:
# when a card is dealt, it is neither player's turn. Then `to_move` is `CHANCE`.
#
# **What do you expect?** Write down your answers. By the end you will have a number for each.
#
# 1. You are o, you hold the 1, and x has passed. If the cards are compared you lose. You can pass,
#    or bet and hope that x folds. Does a perfect player ever bet here?
# 2. If both players are perfect, who wins in the long run: x, o, or neither?
# 3. x has been dealt the 2, the card in the middle. What is its value for x: 0, more, or less?
#
# ## Part one: chance, and nothing hidden
#
# We start with an easier version. x's card is face up. o's card stays in the pack until the cards
# are compared, and neither player has seen it. So no player knows more than the other, but at the
# end there is chance. MAX and MIN are joined by a third player without a goal: the value of a
# **chance node** is the *mean* of the values of its successors, weighted by their probabilities.
#
# | to move | value of the state |
# |---|---|
# | no player, the game is over | its utility |
# | MAX | the greatest value of a successor |
# | MIN | the least value of a successor |
# | chance | the sum of probability times value, over all successors |
#
# The search is called **expectimax** (with a MIN player also *expectiminimax*; Russell and Norvig
# 2021, section 5.5). Here it is, line by line as in the table. All values are for x.

# %%
@counted
def expectimax(state):
    """The value of the state for x if both players see all cards that have been dealt."""
    if state.is_terminal():
        return state.utility("x")
    if state.to_move == CHANCE:
        return sum(state.probability(move) * expectimax(state.after(move))
                   for move in state.legal_moves())
    values = [expectimax(state.after(move)) for move in state.legal_moves()]
    return max(values) if state.to_move == "x" else min(values)

# %% [markdown]
# By hand: x has the 2 and has passed, and o has bet. Fold or call? Folding is worth -1. If x calls,
# o is dealt the 1 or the 3, each with probability 1/2, and two points are at stake: 1/2 × 2 + 1/2 ×
# (-2) = 0. So x should call. Now compute all three cards, with fractions instead of decimals, so
# that nothing is rounded:

# %%
for card in (1, 2, 3):
    answer = Kuhn.from_moves([card, "pass", "bet"], late=True)
    values = {move: expectimax(answer.after(move)) for move in answer.legal_moves()}
    print(f"x has {card}: " + ", ".join(f"{move} {value}" for move, value in values.items()))
print("the whole game:", expectimax(Kuhn(late=True)))

# %% [markdown]
# This is the complete tree below the 2. Circles are chance nodes, and the lines below a circle are
# labelled with the card that o is dealt. Thick lines show where a value comes from; the value of a
# circle comes from all its successors.

# %%
with Trace() as trace:
    expectimax(Kuhn.from_moves([2], late=True))
draw_tree(trace)

# %% [markdown]
# **Predict**: minimax has no chance nodes. Suppose it treats the pack as an opponent who always
# deals the card that is worst for x. Will it call with the 2?

# %%
for card in (1, 2, 3):
    call = Kuhn.from_moves([card, "pass", "bet", "call"], late=True)
    ends = [call.after(other).utility("x") for other in call.legal_moves()]
    print(f"x has {card}: fold -1, call on average {expectimax(call)}, at worst {min(ends)}")

# %% [markdown]
# <details><summary>Answer</summary>
#
# It folds. For minimax a call is worth -2, because the pack would deal the 3. So it loses one point
# for certain, although a call breaks even on average. Expecting the worst from chance is not safe
# play. It is a wrong model.
#
# </details>
#
# **Think first.** (a) Suppose that losing two points is as bad as losing five, and all other
# utilities are unchanged. The *order* of all results is still the same. Does minimax change its
# decision with the 2? Does expectimax? (b) Alpha-beta cuts below MIN as soon as one successor is
# too low for MAX. x has found that folding is worth -1. At the circle after "call" the first card,
# say the 3, gives -2. May the search skip the other card? What would it have to know?
#
# <details><summary>An answer</summary>
#
# (a) Minimax only compares, so it folds as before. Expectimax adds: 1/2 × 2 + 1/2 × (-5) = -3/2 is
# less than -1, and now it also folds. For minimax it is enough that an evaluation puts states in
# the right order. If there is chance, the numbers themselves must be right.
#
# (b) Not without more information: a good second card can compensate for a bad first one. If all
# utilities are between -2 and +2, the mean is at most 1/2 × (-2) + 1/2 × 2 = 0. That is more than
# -1, so nothing can be cut. If folding were worth 1/2, the second card could be skipped. Ballard
# (1983) developed this into a search algorithm.
#
# </details>
#
# ## A break
#
# This is half of the notebook, and a good place to stop for today. You have seen that the value of a
# chance node is a mean, that a search which expects the worst from chance plays badly, and that with
# chance the size of a utility matters, not only its order. All cards that had been dealt were face
# up. From here on they are not, and that changes more than you might expect.

# %% [markdown]
# ## Part two: hidden cards
#
# Now the real game. Both cards are dealt at the beginning, and each player looks at one. The
# *state* contains more than the player to move knows. What the player knows is `state.information`:
# the player's own card and all moves so far. States with the same information form an **information
# set**. A player must act in the same way in all of them, because the player cannot distinguish
# them.
#
# **Guess** how many information sets there are, and how many states each contains.

# %%
def positions(state):
    """The state and all states that can follow."""
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
# There are six for each player, with two states each: the other player may hold either of the other
# two cards.
#
# The picture shows x with the 2, once for each card that o may hold. A dotted line joins states
# that x cannot distinguish. But the values are those of expectimax, which sees both cards. Look at
# the two thick lines below the second dotted line. Could a real player play like that?

# %%
with Trace() as trace:
    expectimax(Kuhn.from_moves([2]))
draw_tree(trace, information=lambda state: state.information if state.to_move == "x" else None)

# %% [markdown]
# ## Strategies
#
# Keep that question for a moment. First we compute the exact answer, by brute force. A **pure
# strategy** names a move for each information set of a player (Russell and Norvig 2021, section
# 18.2). A **behavioural strategy** gives a probability for each move instead. In the code a strategy
# is a dictionary. For each information set it has the probability of the *second* legal move, "bet"
# or "call". In a pure strategy all of them are 0 or 1.
#
# If both strategies are known, nothing is left to decide: the game is a matter of chance only, and
# each state has an exact value. Write `strategy_value(state, strategy)`. It is like `expectimax`,
# but MAX and MIN do not choose; they follow `strategy`, which contains the information sets of both
# players.
#
# By hand: x has the 2, o has the 1, and x has passed. o bets one time in three. If o bets, x calls
# one time in three. A pass is worth 1 for x, a call 2, and a fold -1. So after a bet the state is
# worth 1/3 × 2 + 2/3 × (-1) = 0, and before it 2/3 × 1 + 1/3 × 0 = 2/3.

# %%
bluffing = {"1 pass": Fraction(1, 3), "2 pass bet": Fraction(1, 3)}
print(strategy_value(Kuhn.from_moves([2, 1, "pass"]), bluffing))

# %%
check("study7.strategy_value")

# %% [markdown]
# Which pure strategies are there? o has two moves in each of six information sets, so there are 2
# to the power of 6, that is, 64, strategies. x also has six sets, but if x bets at the beginning,
# the set after a pass is never reached. So x can play each of the three cards in three ways, and
# has 3 to the power of 3, that is, 27, strategies.

# %%
def ways(card):
    """The three ways in which x can play a card: bet, pass and fold, pass and call."""
    return [{card: 1}, {card: 0, f"{card} pass bet": 0}, {card: 0, f"{card} pass bet": 1}]


strategies_of_x = [one | two | three for one, two, three in product(*map(ways, "123"))]
sets_of_o = [name for name, states in worlds.items() if states[0].to_move == "o"]
strategies_of_o = [dict(zip(sets_of_o, choices)) for choices in product((0, 1), repeat=6)]

table = [[strategy_value(Kuhn(), x | o) for o in strategies_of_o] for x in strategies_of_x]
print(f"{len(table)} strategies of x against {len(table[0])} strategies of o")
print("x can guarantee", max(min(row) for row in table))
print("o can limit x to", min(max(column) for column in zip(*table)))

# %% [markdown]
# The two numbers differ, so there is no pair of pure strategies with which both players are
# content. If x's strategy is known, o has a reply that makes it worth -1/6 or less. If o's is known,
# x has a reply worth 1/6 or more. In tic-tac-toe this cannot happen: a perfect player can announce
# its strategy in advance without any loss.
#
# The solution is to randomise. A **mixed strategy** draws one of the pure strategies at random; a
# behavioural strategy draws each move. (For a player who remembers everything, as here, the two are
# equivalent.) The opponent cannot prepare for a choice that has not been made yet. Here is a
# behavioural strategy for each player:
#
# | | 1 | 2 | 3 |
# |---|---|---|---|
# | x begins | pass | pass | pass |
# | x against a bet | fold | **call one time in three** | call |
# | o after a pass | **bet one time in three** | pass | bet |
# | o against a bet | fold | **call one time in three** | call |
#
# How good are they? We test each against *all* pure strategies of the other player.

# %%
third = Fraction(1, 3)
mixed_x = {"1": 0, "2": 0, "3": 0, "1 pass bet": 0, "2 pass bet": third, "3 pass bet": 1}
mixed_o = {"1 pass": third, "2 pass": 0, "3 pass": 1, "1 bet": 0, "2 bet": third, "3 bet": 1}


def guaranteed(x):
    """What x's strategy is worth against the best reply of o."""
    return min(strategy_value(Kuhn(), x | o) for o in strategies_of_o)


def conceded(o):
    """What x wins with the best reply to o's strategy."""
    return max(strategy_value(Kuhn(), o | x) for x in strategies_of_x)


print("x can guarantee", guaranteed(mixed_x))
print("o can limit x to", conceded(mixed_o))

# %% [markdown]
# Now both numbers are the same, so the game is solved. Its value is -1/18 for x: x can guarantee
# that against any opponent, and o need never concede more. Such a pair of strategies is an
# **equilibrium** (a *Nash equilibrium*): neither player gains by changing only their own strategy.
# That every finite two-player zero-sum game has one in mixed strategies is the *minimax theorem*
# (section 18.2 of the textbook). (Why is it enough to test pure strategies? The value of a mixed
# strategy is a mean of the values of pure ones, and a mean is never larger than the largest of its
# terms.)
#
# And o does **bet with the 1**, one time in three. How much does that bluff matter? Keep the rest
# of o's strategy, and change only how often o bluffs.

# %%
for rate in (0, third, 1):
    print(f"probability of a bluff {rate}: x can win {conceded(mixed_o | {'1 pass': rate})}")

# %% tags=["hide-input"]
rates = [Fraction(number, 12) for number in range(13)]
most = [conceded(mixed_o | {"1 pass": rate}) for rate in rates]
axes = figure(7, 3.4)
axes.plot([float(rate) for rate in rates], [float(value) for value in most])
axes.axhline(0, color="black", linewidth=1, marker="")
axes.set(xlabel="how often o bets with the 1 after a pass", ylabel="the most that x can win",
         title="The value of a bluff")
for set_ticks, numbers in ((axes.set_xticks, rates[::2]), (axes.set_yticks, sorted(set(most))[::2])):
    set_ticks([float(number) for number in numbers], [str(number) for number in numbers])
picture(axes, f"Bluff rate of o and the most that x can win: {most[0]} without "
        f"bluffs, least at one third with {min(most)}, {most[-1]} if o always bluffs.")

# %% [markdown]
# <details><summary>Your predictions 1 and 2</summary>
#
# A perfect player does bluff. If o never bets with the 1, x can fold the 2 against every bet, so
# o's 3 wins less. If x then bets with its own 3, it wins 1/18 per game. If o bluffs one time in
# three, *o* wins at least 1/18 per game, whatever x does. If o bluffs more often than that, x calls
# with the 2. And moving second is an advantage, because o has seen x's move.
#
# </details>
#
# ## The average over samples
#
# In Sequence there are too many strategies to list, and too many states in an information set. So
# programs take the obvious approach. They *sample* hidden cards that are consistent with everything
# seen so far, search each sample as if all cards were face up, and play the move with the best
# mean. Russell and Norvig (2021, section 5.6) call this **averaging over clairvoyance**.
#
# Here we do not even need to sample. There are two states in an information set, so we take both.
#
# **Predict**: what is the average for betting with the 1 after a pass? And for holding the 2?

# %%
def average(states):
    """The mean of the states' values for x if all cards are face up."""
    return sum(map(expectimax, states), Fraction(0)) / len(states)


def averages(information):
    """The average of each move, for the player to move."""
    states = worlds[information]
    sign = 1 if states[0].to_move == "x" else -1
    return {move: sign * average([state.after(move) for state in states])
            for move in states[0].legal_moves()}


for information in worlds:
    print(f"{information:11}", ", ".join(
        f"{move} {value}" for move, value in averages(information).items()))
print()
for card in "123":
    exact = strategy_value(Kuhn.from_moves([int(card)]), mixed_x | mixed_o)
    print(f"x has {card}: average {average(worlds[card])}, exact value {exact}")

# %% [markdown]
# <details><summary>Answer, and your prediction 3</summary>
#
# In *both* worlds a bluff with the 1 is worth -2 and a pass -1. So the average never bluffs,
# although perfect play does. It values the 2 at 0, but the 2 is worth -1/3. And it values the 3 at
# 1, but the 3 is worth 7/6.
#
# Look at the tree again, at the two ends of the second dotted line. If o has the 1, x calls; if o
# has the 3, x folds. The tree assumes this, and its values depend on it. But it is *one*
# information set, and x must do the same at both ends. The average adds up the profits of two
# strategies that cannot be followed at the same time. This is **strategy fusion** (Frank and Basin
# 1998). The player's own strategies are fused, and so are the opponent's: bluffs seem useless
# because an x with the 2 is expected to call exactly when o has the 1.
#
# There is a second fault. In o's strategy the bets with the 1 and with the 3 belong together: the
# bet with the 3 is called because it could be a bluff. A search that values a state by what follows
# it cannot see that betting with the 1 helps the 3. Frank and Basin call this *non-locality*.
#
# </details>
#
# **Predict**: x has the 2, and we sample o's card a thousand times. To which number does the mean
# converge?

# %%
SAMPLES = 1000


def running_mean(seed):
    """The mean of the values of the first 1, 2, 3 ... samples, with x holding the 2."""
    rng, total, means = Random(seed), 0, []
    for number in range(1, SAMPLES + 1):
        total += expectimax(rng.choice(worlds["2"]))
        means.append(total / number)
    return means


runs = [running_mean(seed) for seed in range(3)]
print("after", SAMPLES, "samples:", *(f"{means[-1]:.2f}" for means in runs))

# %% tags=["hide-input"]
exact = strategy_value(Kuhn.from_moves([2]), mixed_x | mixed_o)
axes = figure(7, 3.4)
for seed, means in enumerate(runs):
    axes.plot(range(1, SAMPLES + 1), means, marker="", label=f"seed {seed}")
axes.axhline(float(exact), color="black", linestyle="--", marker="", label=f"exact: {exact}")
axes.set(xscale="log", xlabel="samples (logarithmic)", ylabel="value of the 2 for x",
         title="More samples converge to the wrong number")
axes.figure.legend(loc="outside right upper", frameon=False)
picture(axes, f"Running means of three seeds after {SAMPLES} samples: "
        + ", ".join(f"{means[-1]:.2f}" for means in runs) + f"; the exact value is {exact}.")

# %% [markdown]
# The lines converge, but not to the exact value. More samples remove the randomness of sampling and
# nothing else. The samples were never the problem.
#
# ## What it costs
#
# Let the averaging player play: in each information set it takes the move with the better average,
# the first one if they are equal. How much can it guarantee against an opponent who knows its
# strategy?

# %%
averaging = {}
for information in worlds:
    first, second = averages(information).values()
    averaging[information] = int(second > first)
print("as x it can guarantee", guaranteed(averaging), "and perfect play", guaranteed(mixed_x))
print("as o it concedes", conceded(averaging), "and perfect play", conceded(mixed_o))

# %% [markdown]
# **Think first.** (a) Which reply of o makes the averaging x lose most? Find o's best pure strategy with one
# line of code, and explain what it exploits. (b) Suppose that x makes only *one* more decision in
# the whole game, and o none. Can averaging still go wrong? (c) With the 3 the averages of "pass"
# and "bet" are equal, for x at the beginning and for o after a pass. If ties went to "bet", would
# the averaging player be safer?
#
# <details><summary>An answer</summary>
#
# (a) `min(strategies_of_o, key=lambda o: strategy_value(Kuhn(), averaging | o))` bets after a pass
# with the 3 and with no other card. The averaging x calls with the 2, since -2 and +2 have mean 0, and that is
# more than -1. It ignores *who* would bet here: only a player with the 3.
#
# (b) If o has no decisions left and has made none before, no. In each world the value of a move is
# then the true one, and their mean is the expected utility. The fault comes from later decisions
# that the search makes as if it knew more, and from earlier decisions of o that carry information
# about the cards.
#
# (c) No: measured with `averaging | {"3": 1, "3 pass": 1}`, it is just as easy to exploit.
#
# </details>
#
# ## On to Sequence
#
# All of these ideas return with a hundred and four cards.
#
# * The draw from the deck is a chance node with dozens of successors, too many to expand.
# * What you have seen of the game is your information. The first task is to find out which
#   worlds are consistent with it: in notebook 12 you will keep a record of the cards that the
#   opponent may hold.
# * `SampledSearch`, in notebook 13, is averaging over clairvoyance, with your own alpha-beta on
#   each sample. You now know what it cannot see. But it is quick to write, and much of what matters
#   in Sequence is visible on the board.
# * Notebook 18 searches one tree of information sets instead of many trees of states.

# %% [markdown]
# **Sources**, in full in `course/bibliography.md`: Kuhn 1950 for the game and its solution; Russell
# and Norvig 2021, sections 5.5 and 5.6, for chance nodes and for averaging over clairvoyance, and
# 18.2 for strategies and equilibria; Ballard 1983 for cuts below chance nodes; Frank and Basin 1998
# for strategy fusion and non-locality.
