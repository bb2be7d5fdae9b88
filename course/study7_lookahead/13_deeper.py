# %% [markdown]
# # 13. Deeper in Sequence
#
# Your agent of notebook 12 subtracts the best reply from what an action brings:
#
# > **value = reward of the action + 0.8 x value of the card taken - 0.9 x best reply**
#
# Does it play better for it? That is the first question here, and it takes more games than one would
# think. Then we go deeper, with your alpha-beta search of study 2 (there is a stand-in for those who
# have none), and deal the cards that we cannot see.
#
# You will write the rest of `lookahead.py`: `TopK` and `SampledSearch`. Do notebook 12 first, though
# `quick_replies` may be left out.

# %%
# %load_ext course.notebook
import contextlib
import importlib.util
import random
from pathlib import Path
from statistics import mean, median, stdev
from time import perf_counter

from course.check import check
from course.plots import COLOURS, figure, picture
from course.recorded import reply_games
from sequence import Greedy, Random, compare, example, play, sketch
from sequence.agents.beliefs import sample
from sequence.widget import play as play_on_board
from tictactoe import Search
from tictactoe.games.play import games_needed, wilson_interval
from tictactoe.show.time_left import TimeLeft

from lookahead import (
    Chips, LookAhead, SampledSearch, TopK, catalogue, gains, plain_replies, quick_replies, reward,
)

# %% [markdown]
# ## Play first
#
# Play some turns against your agent, but without its reply term: it never asks what you can do next.
# *Show values* writes on the cells what each of your actions brings, the card included. **Find** a turn
# in which its last action opened the way for you. Would the agent with a reply term have played it?

# %%
play_on_board(against=LookAhead(None), seed=5, values=LookAhead(None).values)

# %% [markdown]
# ## Does the reply help?
#
# An agent that sees what the opponent can do should beat one that does not. **What do you expect**, and
# by how much? Then measure. The luck of the deal is large, so every deal is played twice, with the
# seats exchanged. A tie counts as half, and Wilson's interval says how far luck may have carried the
# score.
#
# Three agents play against the one without a reply. In the first, any *possible* card of your
# `catalogue` may reply, in the second only *known* ones. The third is a **control**: the agent without
# a reply again. It must come out at one half *exactly*, since the same agent on the same deal wins from
# one seat what it loses from the other. It tests our bookkeeping, not our luck.

# %%
def finder():
    """Quick replies if you have written them, plain ones otherwise."""
    try:
        quick_replies(Chips.seen_by(seen), ())
    except NotImplementedError:
        return plain_replies
    return quick_replies


seen = example("1/18")
rivals = {"any possible card": LookAhead(finder()), "known cards": LookAhead(finder(), "known"),
          "control: no reply": LookAhead(None)}
scores, deals = {}, 6
one_more = TimeLeft(len(rivals) * deals, "deals")
for name, rival in rivals.items():
    scores[name] = compare(rival, LookAhead(None), deals, progress=lambda so_far: one_more())
    print(f"{name:18} {scores[name]}")

axes = figure(7.5, 2.6)
for row, found in enumerate(scores.values()):
    axes.plot(found.interval, [row, row], color="#0072B2", marker="|", linewidth=2)
    axes.plot([found.score], [row], color="#E69F00", marker="o", linestyle="", markersize=9)
axes.axvline(0.5, color="black", linestyle="--", linewidth=1)
axes.set(xlim=(0, 1), ylim=(2.5, -0.5), xlabel="score against the agent without a reply",
         title="Does the reply help? (few games: see how wide the bars are)")
axes.set_yticks(range(3), list(scores))
picture(axes, "Scores with intervals against the agent without a reply. " + ". ".join(
    f"{name}: {found}" for name, found in scores.items()))

# %% [markdown]
# Twelve games say next to nothing. How many would be enough? Suppose that an agent is truly worth
# 0.55. With some four hundred games the interval leaves one half out if you see exactly 0.55. But half
# of the time you will see less, and then you cannot tell! To find the difference four times in five (a
# *power* of 80 %) takes about twice as many games.
#
# And where could an effect come from at all? A reply term changes the choice only if different
# actions leave *different* best replies. Count how often it does, in a game of `Greedy` against `Random`.

# %%
for rate in (0.52, 0.55, 0.6, 0.7):
    print(f"worth {rate}: found half of the time with {games_needed(rate, power=0.5):5,} games, "
          f"four times in five with {games_needed(rate):5,}")

states = play([Greedy(), Random()], 7).states[:-1]
without, with_reply = LookAhead(None), LookAhead(finder())
with_known = LookAhead(finder(), "known")
changed = {"possible": 0, "known": 0}
spread = []
for state in states:
    observation = state.observation()
    plain_choice = without.choose(observation)
    changed["possible"] += with_reply.choose(observation) != plain_choice
    changed["known"] += with_known.choose(observation) != plain_choice
    best = finder()(Chips.seen_by(observation), catalogue(observation).possible)
    replies = {best(action) for action in observation.legal_actions() if action.coords}
    spread.append(len(replies))
print(f"of {len(states)} choices the reply changes {changed['possible']} (possible cards) and "
      f"{changed['known']} (known cards)")
print(f"different best replies to the actions of a turn: median {median(spread):.0f}; "
      f"only one in {spread.count(1)} turns")

# %% [markdown]
# **Question.** `reward` adds up four lines, `draft_value` uses `reward` again, and the best reply
# uses it a third time, for the other side. Find something that is counted twice in the value of an
# action, or once too little, and give a position (a `sketch`) in which the agent plays badly
# because of it. (Hints: what does blocking earn now, and what does it take from the reply? What
# happens to the heart? What is the card worth that is *spent*?)

# %% [markdown] answer="what-counts-twice"
# *Write your answer here.*

# %% [markdown]
# **Question.** One agent lets any *possible* card reply, the other only *known* ones. Which of the
# two is too careful and which too careless, and why? Describe a better reply term between them that
# uses the chance that a card is in the hand. Which numbers of the observation would you need? (Notebook
# 12 has a picture of how many cards are known, and how many are possible.)

# %% [markdown] answer="who-replies"
# *Write your answer here.*

# %% [markdown]
# **Think first.** Look at your scores and counts. Write the sentence that you would publish: does the
# reply term help, and how sure are you? Then plan the experiment that would settle it: which
# difference would you want to find, how many games does `games_needed` ask for, how long would they
# take on your machine, and what would you conclude if the interval still held one half? Finally,
# suppose that an agent computes its reply term and then forgets to subtract it. Why can that stay
# unseen for long, and which test would find it at once?
#
# <details><summary>An answer</summary>
#
# "In twelve games it scored s against the agent without a reply (95 % interval from l to h). The
# interval contains one half, so these games show neither that the reply helps nor that it harms." A
# plan: a difference worth finding is 0.05, so `games_needed(0.55)` games, which is 783, or 392
# deals from both seats. Your first experiment played 36 games, so that is about 22 times as long for one
# pair of agents: minutes, not hours. If the interval still contained one half, the reply would probably not be worth 0.05. The
# number of games is fixed before the first one.
#
# An agent that forgets the term still plays well: it beats a random player, and every action is
# legal. A test of *values* finds it at once, on a position where the values must differ by 0.9
# times `best_reply`.
#
# </details>
#
# ## The same experiment with 250 deals
#
# Somebody has played the games for you, with the reference agent: `reply_games()` has the points of
# each deal, from 0 to 2. The next cell draws the share of the points as the deals go by, with
# Wilson's interval. **Before you run it**: which curve ends above one half, and which interval leaves
# one half out? And after how many deals would *you* have stopped?

# %%
played = reply_games()
axes = figure(7.5, 3.6)
told = []
for (cards, points), colour in zip(played.items(), COLOURS, strict=False):
    counts = range(1, len(points) + 1)
    shares = [sum(points[:deals]) / (2 * deals) for deals in counts]
    low, high = zip(*(wilson_interval(share, 2 * deals)
                      for share, deals in zip(shares, counts, strict=True)), strict=True)
    axes.plot(counts, shares, color=colour, marker="", linewidth=2, label=f"{cards} cards")
    axes.fill_between(counts, low, high, color=colour, alpha=0.2, linewidth=0)
    told.append(f"{cards} cards: {shares[-1]:.3f} of {2 * len(points)} games "
                f"({low[-1]:.3f} to {high[-1]:.3f})")
    by_deal = stdev(points) / 2 / len(points) ** 0.5
    by_game = (shares[-1] * (1 - shares[-1]) / (2 * len(points))) ** 0.5
    print(f"{told[-1]}; standard error {by_deal:.4f} by deals, {by_game:.4f} by games")
axes.axhline(0.5, color="black", linestyle="--", linewidth=1)
axes.set(ylim=(0.2, 0.8), xlabel="deals, each played from both seats",
         ylabel="share of the points", title="A reply term against none, deal by deal")
axes.legend(loc="lower right", frameon=False, ncols=2)
picture(axes, "The share of the points as deals go by, with intervals that get narrower. "
        + ". ".join(told))

# %% [markdown]
# <details><summary>What they say</summary>
#
# With any possible card the agent has 0.44 (0.40 to 0.49) against the one without a reply: the term
# does harm. With known cards it has 0.55, and the interval, from 0.502, leaves one half out by a hair:
# if the reply helps there, it is by little. (Another 250 paired deals gave 0.43 (0.39 to 0.47) for
# possible cards and 0.54 (0.50 to 0.59) for known ones.) Did you expect that?
#
# Now follow the curve of the known cards. Its interval leaves one half out for the first time after
# 202 deals, and takes it in again three times. That of the possible cards leaves it out after 56
# deals, and takes it in again five times. Whoever looks after every deal, and stops when an effect is
# in sight, finds more effects than there are. So the number of deals is fixed before the first one.
#
# And the standard errors: by deals it is about five sixths of that by games. Two games of one deal
# are not independent: in 324 of the 500 deals each agent won one of them. The luck of the deal
# cancels out, which is what paired deals are for, and Wilson's interval is wider than it has to be.
#
# </details>
#
# ## Deeper, but selective
#
# The authors of the agent that we rebuild name two ways to go deeper: alpha-beta, and the best k
# actions only. You wrote alpha-beta in study 2. It knows nothing of cards, but it only asks a state for
# `to_move`, `legal_moves`, `after`, `is_terminal` and `utility`. So we wrap a Sequence state in a small
# game of that kind. The **gain** of an action is what it brings at once, reward and card, without a
# reply: `gains(state)` is given.
#
# * `legal_moves()` are the `k` actions with the highest gain, the best first.
# * The game is over after `depth` actions, or when the real one is.
# * Its utility is the sum of the gains on the way: ours count plus, theirs minus. A real win
#   outweighs every sum.
#
# Two things need care. Who is "we"? The player who was to move at the root, all the way down. And
# `utility(player)` is asked for either player. Write `TopK`.

# %%
check("study7.top_k")

# %%
class RandomPlay:
    """For those without a search of their own: what a game is worth if both play at random."""

    def search(self, game):
        """Search(move, value, nodes) for the player to move; it looks for no move."""
        value, nodes = self.worth(game, game.to_move)
        return Search(None, value, nodes)

    def worth(self, game, player):
        """The mean utility for `player`, and the nodes it took."""
        if game.is_terminal():
            return game.utility(player), 1
        found = [self.worth(game.after(move), player) for move in game.legal_moves()]
        return mean(value for value, _ in found), 1 + sum(nodes for _, nodes in found)


def searchers():
    """Random play, and your own searches of studies 1 and 2 if they are where they were."""
    found = {"random play": RandomPlay()}
    for folder, module_name, agent in (("study1_minimax", "minimax", "Minimax"),
                                       ("study2_alpha_beta", "alphabeta", "AlphaBeta")):
        path = Path(f"../{folder}/{module_name}.py")
        if path.is_file():
            spec = importlib.util.spec_from_file_location(module_name, path)
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            searcher = getattr(module, agent)()
            with contextlib.suppress(NotImplementedError):  # that study is still to come
                searcher.search(TopK(state, 1, 1))
                found[agent] = searcher
    return found


state = sample(seen, random.Random(1))
for k, depth in ((2, 2), (2, 4), (4, 3)):
    for name, searcher in searchers().items():
        start = perf_counter()
        found = searcher.search(TopK(state, k, depth))
        spent = perf_counter() - start
        print(f"k={k} depth={depth} {name:11} {found.nodes:4} nodes {1000 * spent:6.0f} ms  "
              f"value {found.value:8.2f}  {found.move}")

# %% [markdown]
# Your own minimax and alpha-beta find the same values and moves, and alpha-beta needs fewer nodes.
# Random play says what a state is worth if nobody thinks. And look at the clock: nearly all the time
# goes into the gains, one list for each node that is expanded.
#
# ## Hidden cards: sample them
#
# We still cheat in one thing. `TopK` wraps a *full* state, with the opponent's hand and even the order
# of the deck. We do not have that state, but `sample(observation, rng)` deals one that fits everything
# we have seen. Deal several, search each, and take the mean. This is averaging over clairvoyance
# (Russell and Norvig 2021, section 5.6), and notebook 11 shows what is wrong with it: it relies on plans
# that differ between states that nobody can tell apart. Write `SampledSearch.values` and `choose`.

# %%
check("study7.sampled_search")

# %% [markdown]
# ## What two actions cannot see
#
# Two actions see what we get and what they can do then, and no further. We are x:

# %%
plan = sketch("x 6,1 6,3 6,4 3,2 4,2 5,2 1,8 2,8 4,8 / o 3,5 3,6 3,7 0,5 1,6 2,7 2,9 4,7 8,5 / "
              "hand 9c th tc 8h ac 6d / row 5s 3h kd 4s 7d")
plan

# %% [markdown]
# With 8h at 3,8 we get a four in column 8 and break two threes of theirs, but we hold neither card that
# would complete it. With 9c at 6,2 we break nothing, but we get *two* fours at once, and hold the cards
# that complete them: th for 6,5 and tc for 7,2. **Which do you play, and which will the search play?**
# The cell says what each earns by its reward alone, and what a search of two actions and one of three
# make of it. And it deals the other hand fifty times: in how many deals can we complete a sequence
# next, whatever the reply is?

# %%
hands = [sample(plan, random.Random(deal)) for deal in range(50)]


def following(state):
    """What may follow: all trades, and each placement and removal once, whatever card is taken."""
    actions = {action.coords or action: action for action in state.legal_actions()}
    return [state.after(action) for action in actions.values()]


def is_forced(state):
    """Whether x completes a sequence in its next turn, whatever o does before that."""
    if state.to_move == 1:
        return all(map(is_forced, following(state)))
    return any(after.sequences[0] or (after.to_move == 0 and is_forced(after))
               for after in following(state))


best_search = list(searchers().values())[-1]
searched = [SampledSearch(best_search, k=10, depth=depth, samples=2, seed=1).values(plan)
            for depth in (2, 3)]
for place in ((3, 8), (6, 2)):
    action = next(action for action in plan.legal_actions() if action.coords == place)
    two, three = (max(value for action, value in values.items() if action.coords == place)
                  for values in searched)
    forced = sum(is_forced(state.after(action)) for state in hands)
    print(f"{action.play_card} at {place}: earns {reward(Chips.seen_by(plan), action):g}, "
          f"two actions {two:5.0f}, three {three:5.0f}; forced in {forced} of {len(hands)} deals")

# %% [markdown]
# <details><summary>What happened</summary>
#
# With alpha-beta: 8h earns 136.5 and 9c only 133, so a search of two actions plays 8h, and so does
# `LookAhead` with known cards. But its four waits for a card, and they have time to stop it. After 9c
# no chip of theirs stops both fours. In 38 of the fifty deals the sequence is certain; in all the others
# they hold a one-eyed jack and take the new chip away. The gain comes with the *third* action, so a
# search of three finds it. To give up what a move earns now for a threat that cannot be stopped is a
# **sacrifice**. Wherever a search ends, such plans lie behind its horizon.
#
# Is the deeper search the better player, too? Over 25 paired deals the reference's, three actions deep
# over the best four, has 0.58 (0.44 to 0.71) against `LookAhead` with any possible card: a hint and no
# more, as you know by now.
#
# </details>
#
# **Think first.** (a) `LookAhead` compares all actions, `SampledSearch` only the top k of them. Which
# good actions does it never look at, and why are blocking ones most at risk? (b) The utility is a sum of
# gains. Why is that worse than an evaluation of the last position, and why is it cheaper?
#
# <details><summary>An answer</summary>
#
# (a) Actions whose gain comes later: quiet preparations, sacrifices, and above all blocks. A link
# that is broken is worth about half of a link that is made, so k attacks come before the block that
# saves the game.
#
# (b) A sum of gains still counts what was undone on the way, and leaves out what stood before. But it
# costs nothing: the gains are known already, from choosing the k actions.
#
# </details>

# %% [markdown]
# **Sources**, in full in `course/bibliography.md`: Russell and Norvig 2021, section 5.6, for games with
# hidden cards; Wilson 1927 for the intervals. The description of the agent that we rebuild is not
# published; the acknowledgements in the bibliography say where it comes from.

# %% [markdown]
# ## Hand in
#
# Save the module and all notebooks, then run this cell. It packs them into one file, `study7_lookahead.zip`, with the pictures that lie next to them, and lists what is still missing. Hand that file in as your course says.

# %% tags=["skip-execution"]
from course.hand_in import hand_in

hand_in("study7")
