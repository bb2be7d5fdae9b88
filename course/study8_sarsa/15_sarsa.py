# %% [markdown]
# # 15. A table of action values
#
# Notebook 14 describes a board by eleven counts, and an action by the changes in them. Here a table
# learns a value for each pair of descriptions from games of self-play, and an agent chooses by
# these values and by the scores of notebook 14.
#
# Before you begin, make two predictions. The table of notebook 7 was useless after four moves,
# because it had never seen the states. This one stores descriptions, and there are fewer of them.
# In what share of its look-ups, after 20 games of training, will it find an entry? And how much of
# its strength will the agent owe to the table, how much to the scores? Write both down; you will
# measure them.
#
# All your code belongs in `sarsa.py` again.

# %%
# %load_ext course.notebook
from collections import Counter
from functools import cache
from statistics import mean
from unittest.mock import patch

from course.check import check
from course.plots import figure, picture
from course.published import richer_states
from sequence import Greedy, Random, compare, play
from sequence.widget import play as play_on_board
from common.progress import Progress

from sarsa import ACTION_FEATURES, QTable, SarsaAgent, td_target, train

# %% [markdown]
# ## Which action was good?
#
# Play a game against `Greedy`, or half of one. Then look back: which of your actions helped you,
# and which did harm? You may well be unsure about most of them. A learner has to answer this for
# every action of every game, and the rewards are its only information.

# %%
play_on_board(against=Greedy(), seed=14)

# %% [markdown]
# ## Two targets
#
# The agent was in state s, played a and got the reward r. The opponent has moved. Now the agent is
# in s' and plays a'. What was the value of a?
#
#     SARSA:       r + gamma * Q(s', a')
#     Q-learning:  r + gamma * (the largest Q(s', b) of all candidates b)
#
# **SARSA** (Rummery and Niranjan 1994) is named after the five things it uses: s, a, r, s', a'. It
# learns the value of *its own policy*, including mistakes and experiments: it is **on-policy**
# (Sutton and Barto 2018, sections 5.4 and 6.4). Q-learning (Watkins 1989) is off-policy, as you saw
# in notebook 7: it learns the value of the *best* policy while it follows another. In both cases
# the value then moves part of the way towards the target:
#
#     Q(s, a)  becomes  Q(s, a) + alpha * (target - Q(s, a))
#
# By hand: r = 30, gamma = 0.9, the values in s' are 50, 100 and 400, and the agent takes the action
# with 100. SARSA moves towards 120, Q-learning towards 390.
#
# The project that this study comes from calls its agent SARSA, but its formula contains the
# maximum. So by the textbook definition it was Q-learning, despite the name of the file. Read
# formulas, not names.
#
# ## Write `td_target` and `QTable.update`

# %%
for method in ("sarsa", "q_learning"):
    print(method, td_target(method, 30, 100, [50, 100, 400]), td_target(method, 30, None, []))

# %%
check("study8.targets")

# %%
table = QTable()
for target in (100, 100, 100):
    table.update((1, 0), (0, 1), target)
    print(table.value((1, 0), (0, 1)))

# %%
check("study8.table")

# %% [markdown]
# **Think first.** (a) With `epsilon=0` and an agent that always plays the action with the highest
# *Q*, the two targets are the same. Why? (b) Our agent will choose by a *mix* of the two, 0.6 × Q +
# 0.4 × score. Show with three candidates (give their Q and their scores) that its targets can
# differ although it never explores. (c) Which of the two targets is never smaller than the other?
# How does that affect the values if the values in the maximum are noisy?
#
# <details><summary>An answer</summary>
#
# (a) Then the action played is the one with the largest Q, and its Q is the maximum.
#
# (b) With Q = 0, 100, 400 and the scores 1,000, 0, 0 the mixes are 400, 60 and 240. The agent plays
# the first: SARSA uses 0, Q-learning 400.
#
# (c) Q-learning's, because a maximum is at least as large as each of its items. If the values are
# noisy, the maximum picks values that are too large by accident. So the target is too large on
# average, and the error enters Q and, from there, the next maximum. Sutton and Barto call this
# **maximization bias**.
#
# </details>

# %% [markdown]
# ## The agent
#
# It plays the candidate with the highest
#
#     0.6 * Q(s, a) + 0.4 * score(a)
#
# and learns one turn late. When it has played, it does not know s' yet, because the opponent moves
# first. So it remembers state, action and reward, and makes the update at its next turn, when it
# has chosen a'. After the last turn there is no s'; `finish` then learns from the reward alone.
#
# ## Write `rate`, `choose` and `finish`

# %%
agent = SarsaAgent(learn=True)
for number in (0, 2, 4):
    state = play([Greedy(), Random()], 1).states[number]
    print("plays", agent.choose(state.observation()), "- the table has", len(agent.table.values))
agent.finish()
print("after the game the table has", len(agent.table.values))

# %%
check("study8.agent")

# %%
check("study8.explores")

# %%
check("study8.learning")

# %% [markdown]
# ## Training by self-play
#
# Two agents share one table, explore in a fifth of their turns, and play. `train` is given. After
# every game it reports how much the values have changed. We record that, and the size of the table.

# %%
GAMES = 20


@cache
def training(method, discards=False):
    """The table after training, with its size and the mean change after each game."""
    sizes, changes = [], []
    progress = Progress(GAMES, f"games of training with {method}")

    def record(game, table, changed):
        sizes.append(len(table.values))
        changes.append(mean(changed))
        progress.update()

    return train(GAMES, method, progress=record, discards=discards), sizes, changes

# %% tags=["hide-input"]
axes = figure(7.5, 3.6)
for method, dashes in (("sarsa", "--"), ("q_learning", "-")):
    _, _, changes = training(method)
    smooth = [mean(changes[max(0, n - 4):n + 1]) for n in range(GAMES)]
    axes.plot(range(1, GAMES + 1), smooth, dashes, marker="", label=method)
axes.set(xlabel="games", ylabel="mean change of a value", ylim=(0, None),
         xticks=range(0, GAMES + 1, 5), title="Learning, the mean of the last five games")
axes.legend(frameon=False)
picture(axes, "Two lines, the mean change of a value over the games. " + ". ".join(
    f"{method}: {mean(training(method)[2][:5]):,.0f} in the first five games, "
    f"{mean(training(method)[2][-5:]):,.0f} in the last five"
    for method in ("sarsa", "q_learning")))

# %% [markdown]
# If the table converged, the changes would decrease to zero. Here they do not. Why not? Count how
# often each entry was updated.

# %% tags=["hide-input"]
axes = figure(7.5, 3.6)
for method, dashes in (("sarsa", "--"), ("q_learning", "-")):
    table, sizes, _ = training(method)
    axes.plot(range(1, GAMES + 1), sizes, dashes, marker="", label=method)
    once = Counter(table.visits.values())[1] / len(table.visits)
    print(f"{method:12}{len(table.values):6,} entries, {once:.0%} of them updated only once, "
          f"{len(table.to_json()) / 1000:,.0f} kB")
axes.set(xlabel="games", ylabel="entries", ylim=(0, None), xticks=range(0, GAMES + 1, 5),
         title="The table grows with every game")
axes.legend(frameon=False)
picture(axes, "Two lines that rise steadily: entries in the table over the games. " + ". ".join(
    f"{method}: {training(method)[1][-1]:,} after {GAMES} games"
    for method in ("sarsa", "q_learning")))

# %% [markdown]
# There are far fewer pairs of descriptions than boards. But there are still so many that nearly
# every entry is visited once, updated once with an alpha of 0.3, and never seen again. **Compressed
# is not the same as visited.** A table learns only from states that recur.
#
# ### Where the targets differ
#
# The next cell trains again and inspects each update: what is the best value, and what is the value
# of the action taken? `patch` replaces your agent with one that records the difference.

# %%
class RecordingAgent(SarsaAgent):
    """An agent that records by how much its two targets differ."""

    gaps = []  # shared by all agents

    def learn_from(self, taken, values):
        if values and self._last is not None:
            self.gaps.append(max(values) - taken)
        super().learn_from(taken, values)

# %%
progress = Progress(2 * 10, "games of training")
for epsilon in (0.0, 0.2):
    RecordingAgent.gaps.clear()
    with patch("sarsa.SarsaAgent", RecordingAgent):
        train(10, "q_learning", epsilon=epsilon, progress=lambda *seen: progress.update())
    differ = [gap for gap in RecordingAgent.gaps if gap > 0]
    print(f"epsilon {epsilon}: the targets differ in {len(differ)} of {len(RecordingAgent.gaps)} "
          f"updates, then by {0.9 * mean(differ) if differ else 0:,.0f} on average")

# %% [markdown]
# When the agent explores, they differ more often, as every textbook says. Even without exploration
# they can differ here, because the agent chooses by the mix and not by Q.
#
# ## Does it help?
#
# We play paired deals and look at 95 % intervals (`course/statistics.md` explains both), with these
# agents:
#
# * *mixed*: the agent as described, 0.6 and 0.4;
# * *reward only*: without the table;
# * *neither*: an empty table and no reward. All candidates are equal, and the first one is played;
# * *corners as walls*: *reward only*, but it sees the corners as the project did. By the rules they
#   count for both sides.

# %%
DEALS, FIRST_DEAL = 8, 10_000  # far from the deals used in training


@cache
def agents():
    """The agents to compare, by name."""
    return {
        "mixed": SarsaAgent(training("q_learning")[0]),
        "reward only": SarsaAgent(q_weight=0),
        "neither": SarsaAgent(q_weight=0, reward_weight=0),
        "corners as walls": SarsaAgent(q_weight=0, corner="#"),
    }


@cache
def result(name, other):
    """The result of an agent against `Random`, `Greedy` or another agent."""
    opponent = {"Random": Random, "Greedy": Greedy}.get(other, lambda: agents()[other])()
    return compare(agents()[name], opponent, DEALS, FIRST_DEAL,
                   progress=lambda seen: progress.update())

# %% tags=["hide-input"]
pairs = [("neither", "Random"), ("mixed", "Greedy"), ("mixed", "reward only"),
         ("corners as walls", "reward only")]
axes = figure(7.5, 2.8)
progress = Progress(len(pairs) * DEALS, "deals")
for row, (name, other) in enumerate(pairs):
    found = result(name, other)
    print(f"{name:16} against {other:12} {found}")
    axes.plot(found.interval, [row, row], "-", color="#0072B2", marker="", linewidth=3)
    axes.plot([found.score], [row], "o", color="#0072B2", markersize=8)
axes.axvline(0.5, color="black", linestyle="--", linewidth=1)
axes.set(xlim=(-0.02, 1.02), ylim=(len(pairs) - 0.4, -0.6), xlabel="win rate with 95 % interval",
         title="Sixteen games each (eight paired deals)")
axes.set_yticks(range(len(pairs)), [f"{name} - {other}" for name, other in pairs])
picture(axes, "Win rates with intervals. " + ". ".join(
    f"{name} against {other}: {result(name, other).score:.2f}" for name, other in pairs))

# %% [markdown]
# Sixteen games are few: read the intervals, not the points. For more, raise `DEALS`. But some
# results are already clear.
#
# *Neither* has learned nothing and evaluates nothing, and yet it beats `Random`. So a high win rate
# against `Random` is no evidence about the table!
#
# Against `Greedy`, which also looks only one action ahead, the agent is in trouble. The line that
# answers our question is *mixed* against *reward only*. Compare it with 0.5.
#
# The last line is another control. Ours is the correct view of the corners, so *corners as walls*
# should lose. Does it? Before you open the answer, write down what you conclude from sixteen games.
#
# <details><summary>Results of more games</summary>
#
# After 50 games of training, over 250 paired deals: *mixed* scores 0.12 (0.10 to 0.16) against
# `Greedy` and 0.42 (0.38 to 0.47) against *reward only*. So the table does harm. Over 50 paired
# deals *neither* scores 0.98 (0.93 to 0.99) against `Random`.
#
# And the corners? In the sixteen games the *wrong* view wins 13 (0.57 to 0.93), with an interval
# that excludes 0.5. Over 100 paired deals, which begin with the same eight, it scores 0.55 (0.48 to
# 0.61): no measurable difference. One interval in twenty misses the true rate, and we looked at
# four.
#
# </details>
#
# **Think first.** *Neither* plays the first candidate, with no reward and an empty table. Where
# does its strength come from? Look into `candidates`. What does playing the *first* of equal
# candidates add: which actions are first in the documented order?
#
# <details><summary>An answer</summary>
#
# From the draft: `candidates` drops every action that does not take the best card, and the scores of
# the board determine which card that is. Good cards accumulate in the hand, and sooner or later they
# are played. Playing the *first* of equal candidates adds an order: ordinary cards come before
# jacks, which saves the jacks, and chips of one suit come together, often next to each other.
#
# </details>

# %% [markdown]
# ### How often does a look-up fail?
#
# An agent can only use entries that exist. Count the look-ups during a few games.

# %%
class CountingTable(QTable):
    """A table that counts the look-ups of actions with an effect, and those that find an entry."""

    lookups = hits = 0

    def value(self, state, action):
        if any(action):
            self.lookups += 1
            self.hits += (state, action) in self.values
        return super().value(state, action)


def counted(learned):
    """Look-ups and hits in four games against `Greedy`."""
    table = CountingTable()
    table.values = learned.values
    compare(SarsaAgent(table), Greedy(), deals=2, seed=FIRST_DEAL)
    return table.lookups, table.hits

# %%
for method in ("sarsa", "q_learning"):
    lookups, hits = counted(training(method)[0])
    print(f"{method:12}{lookups:6,} look-ups, {hits / lookups:.0%} found an entry")

# %% [markdown]
# ### A smaller key
#
# The obvious remedy is a smaller key. Omit the state and learn one value for each kind of *change*.
# Now entries recur all the time. Does the agent play better? (The training takes a few seconds.)

# %%
class ActionsOnly(SarsaAgent):
    """An agent whose table uses actions but not states."""

    def state(self, scores, observation):
        return ()


@cache
def small():
    """The agent's table after the same number of games."""
    progress = Progress(GAMES, "games of training")
    with patch("sarsa.SarsaAgent", ActionsOnly):
        return train(GAMES, "q_learning", progress=lambda *seen: progress.update())

# %%
visits = small().visits
progress = Progress(DEALS, "deals")
found = compare(ActionsOnly(small()), SarsaAgent(q_weight=0), DEALS, FIRST_DEAL,
                progress=lambda seen: progress.update())
print(f"{len(visits)} entries, updated {mean(visits.values()):.0f} times each")
print("mixed, actions only, against reward only:", found)
for (_, action), value in sorted(small().values.items(), key=lambda item: -item[1])[:5]:
    print(f"{value:9,.0f}", {name: n for name, n in zip(ACTION_FEATURES, action, strict=True) if n})

# %% [markdown]
# Now entries recur. But the agent does not play better, as the interval shows. So the number of
# visits was not the only problem. Look at the five values that were printed, and at `td_target`:
# what has been added up there?
#
# ### A richer key
#
# The state contains no cards. The description of the agent names this as a weakness: it knows neither
# the discard pile, nor the opponent's hand, nor the probabilities of the cards to be drafted. Would
# a longer key help? `discard_features` (extra credit) counts the jacks that have been played,
# first the two-eyed, then the one-eyed; with `discards=True` they are part of the state.

# %%
check("study8.discards")

# %% [markdown]
# Keys with the other two kinds of information were measured for you, over 100 paired deals each.
# *The opponent's known cards* are the cards that it was seen to draft and has not played: the key
# contains how many of them are jacks, and how many could make or prevent a threat. *The chance of a
# useful card* is the probability, in quarters, that the next card of the deck could make or prevent
# a threat. There is also a control, a *random number* in the key. All tables were trained from the
# same seeds. **Predict** which of the keys helps.

# %%
print(f"{'added to the key':36} {'against':25} {'entries':>7} {'once':>5}   share of the points")
for one in richer_states():
    if one.learner == "table":
        print(f"{one.added:36} {one.against:25} {one.entries:7,} {one.once:5.0%}   "
              f"{one.score:.2f} ({one.low:.2f} to {one.high:.2f})")

# %% [markdown]
# Every interval contains 0.5, and the random number, which contains no information, does as well as
# the two others. So the cards in the key did not help, or too little to be seen in 200 games. One
# reason is in the column *once*: almost every entry is updated only once, with or without cards, and
# no longer key recurs more often. In which form could cards be of use to a learner? Notebook 16
# tries another one.
#
# **Question.** (a) What exactly does Q estimate here? Answer in one sentence. Is it the probability
# of winning? (b) A missing entry counts as 0, and one that was visited once has 0.3 of a positive
# target. How does this affect the choice between an action that was seen in training and an equally
# good one that was not? (c) Propose one change to the rewards or to the key, and explain how you
# would measure whether it helps. (`train` has an argument `outcome`.)

# %% [markdown] answer="what-q-learned"
# *Write your answer here.*

# %% [markdown]
# ## Keeping a table, and learning during a match
#
# `table.to_json()` is a text that can be saved, and `QTable.from_json(text)` reads it. It contains
# only numbers and lists: Python's `pickle` would be shorter to write, but loading a pickle can run
# *any* code that its author has put in. So far, training has ended before the match began. With
# `learn=True`, an agent continues to update its table during a match. In long matches this makes no
# measurable difference.

# %%
online = SarsaAgent(QTable.from_json(training("q_learning")[0].to_json()), learn=True)
before = len(online.table.values)
print("against Greedy:", compare(online, Greedy(), deals=4, seed=FIRST_DEAL))
print(f"the table had {before:,} entries and has {len(online.table.values):,} now")

# %% [markdown]
# **Sources**, in full in `course/bibliography.md`: Rummery and Niranjan 1994 for SARSA; Watkins
# 1989 for Q-learning; Sutton and Barto 2018, sections 5.4, 6.4, 6.5 and 6.7, for both, for
# on-policy and off-policy learning, and for maximization bias. The description of the agent is not
# published; the acknowledgements in the bibliography name its origin.
