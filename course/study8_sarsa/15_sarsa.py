# %% [markdown]
# # 15. A table of action values
#
# Notebook 14 describes a board by eleven counts, and an action by what it changes. Here a table
# gets a value for each pair of descriptions, from games of self-play, and an agent
# chooses by these values and by the scores of notebook 14.
#
# Before you begin, predict. The table of notebook 7 knew nothing after four moves, since it had never
# seen the states. This one knows descriptions, and there are fewer of them. In what share of its
# look-ups, after 20 games of training, will it find an entry? And how much of its strength will
# the agent owe to the table, how much to the scores? Write both down; you will measure them.
#
# All your code goes into `sarsa.py` again.

# %%
# %load_ext course.notebook
from collections import Counter
from functools import cache
from statistics import mean
from unittest.mock import patch

from course.check import check
from course.plots import figure, picture
from sequence import Greedy, Random, compare, play
from sequence.widget import play as play_on_board
from tictactoe.show.time_left import TimeLeft

from sarsa import ACTION_FEATURES, QTable, SarsaAgent, td_target, train

# %% [markdown]
# ## Play first
#
# Play a game against `Greedy`, or half of one. Then look back: which of your actions helped you, and
# which did harm? You may well be unsure about most of them. A learner has to answer this for every
# action of every game, and all that it is told are the rewards.

# %%
play_on_board(against=Greedy(), seed=14)

# %% [markdown]
# ## Two targets
#
# The agent was in state s, played a and got the reward r. The opponent has moved. Now the agent is
# in s' and takes a'. What was a worth?
#
#     SARSA:       r + gamma * Q(s', a')
#     Q-learning:  r + gamma * (the largest Q(s', b) of all candidates b)
#
# SARSA (Rummery and Niranjan 1994) has its name from the five things it uses: s, a, r, s', a'. It
# learns what *its own way of playing* is worth, slips and experiments included. Q-learning (Watkins
# 1989) learns what the *best* way would be worth. Either way the value then moves part of the way
# towards the target:
#
#     Q(s, a)  becomes  Q(s, a) + alpha * (target - Q(s, a))
#
# By hand: r = 30, gamma = 0.9, the values in s' are 50, 100 and 400, and the agent takes the action
# with 100. SARSA moves towards 120, Q-learning towards 390.
#
# The project that this study comes from calls its agent SARSA. Its formula has the maximum. So by
# the book it was Q-learning, whatever the file was called. Read formulas, not names.
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
# **Think first.** (a) With `epsilon=0` and an agent that always takes the action with the highest
# *Q*, the two targets are the same. Why? (b) Our agent will go by a *mix* of the two, 0.6 × Q + 0.4
# × score. Show with three candidates (give their Q and their scores) that its targets can differ
# although it never explores. (c) Which of the two targets is never the smaller one? What does that
# do to the values, if the values in the maximum are noisy?
#
# <details><summary>An answer</summary>
#
# (a) The action that is taken is then the one with the largest Q, and its Q is the maximum.
#
# (b) With Q = 0, 100, 400 and the scores 1,000, 0, 0 the mixes are 400, 60 and 240. The agent takes
# the first: SARSA uses 0, Q-learning 400.
#
# (c) Q-learning's, as a maximum is at least as large as each of its items. If the values are noisy,
# it picks those that are too large by accident. So the target is too large on average, gets into Q,
# and from there into the next maximum.
#
# </details>

# %% [markdown]
# ## The agent
#
# It plays the candidate with the highest
#
#     0.6 * Q(s, a) + 0.4 * score(a)
#
# and learns one turn late. When it has played, it does not know s' yet: the opponent moves first.
# So it remembers state, action and reward, and makes the update at its next turn, when it has chosen
# a'. After the last turn there is no s'; `finish` then learns from the reward alone.
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
# Two agents share one table, explore in a fifth of their turns, and play. `train` is written for
# you. After every game it reports by how much the values have changed. We keep that, and the size of
# the table.

# %%
GAMES = 20


@cache
def training(method, discards=False):
    """The table after training, and what happened: sizes and mean changes game by game."""
    sizes, changes = [], []
    one_more = TimeLeft(GAMES, f"games of training with {method}")

    def note(game, table, changed):
        sizes.append(len(table.values))
        changes.append(mean(changed))
        one_more()

    return train(GAMES, method, progress=note, discards=discards), sizes, changes

# %%
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
# In a table that converges, the changes would come down to zero. Here they do not. Why not? Ask how
# often an entry was updated.

# %%
axes = figure(7.5, 3.6)
tables = {"sarsa": training("sarsa"), "q_learning": training("q_learning"),
          "q_learning, discards in the state": training("q_learning", discards=True)}
for (name, (table, sizes, _)), dashes in zip(tables.items(), ("--", "-", ":"), strict=True):
    axes.plot(range(1, GAMES + 1), sizes, dashes, marker="", label=name)
    once = Counter(table.visits.values())[1] / len(table.visits)
    print(f"{name:36}{len(table.values):6,} entries, {once:.0%} of them updated only once, "
          f"{len(table.to_json()) / 1000:,.0f} kB")
axes.set(xlabel="games", ylabel="entries", ylim=(0, None), xticks=range(0, GAMES + 1, 5),
         title="The table grows with every game")
axes.legend(frameon=False)
picture(axes, "Three lines that rise steadily: entries in the table over the games. " + ". ".join(
    f"{method}: {training(method)[1][-1]:,} after {GAMES} games"
    for method in ("sarsa", "q_learning")))

# %% [markdown]
# There are far fewer pairs of descriptions than boards. But there are still so many that nearly every
# entry is met once, moved once with an alpha of 0.3, and never seen again. Discards in the state
# make the key longer still. **Compressed is not the same as visited.** A table learns only where it
# comes back.
#
# ### Where the targets differ
#
# Another training, with a look at each update: what is the best value, and what is the value of the
# action taken? `patch` puts an agent that keeps a record in the place of yours.

# %%
class Watched(SarsaAgent):
    """An agent that writes down by how much its two targets differ."""

    gaps = []  # of all agents together

    def learn_from(self, taken, values):
        if values and self._last is not None:
            self.gaps.append(max(values) - taken)
        super().learn_from(taken, values)

# %%
one_more = TimeLeft(2 * 10, "games of training")
for epsilon in (0.0, 0.2):
    Watched.gaps.clear()
    with patch("sarsa.SarsaAgent", Watched):
        train(10, "q_learning", epsilon=epsilon, progress=lambda *seen: one_more())
    differ = [gap for gap in Watched.gaps if gap > 0]
    print(f"epsilon {epsilon}: the targets differ in {len(differ)} of {len(Watched.gaps)} updates, "
          f"then by {0.9 * mean(differ) if differ else 0:,.0f} on average")

# %% [markdown]
# When the agent explores they differ more often, as in every textbook. Even without exploring they
# can differ here, because the agent chooses by the mix and not by Q.
#
# ## Does it help?
#
# Paired deals: the same cards from both seats, a tie counts half. Beside every result stands
# Wilson's 95 % interval. And the controls are part of the table:
#
# * *mixed*: the agent as it is described, 0.6 and 0.4;
# * *Q only*, *reward only*: one half of the mix each;
# * *neither*: an empty table and no reward. All candidates are equal, and the first one is played;
# * *neither, any* and *Q only, any*: a random one of the equal candidates is played.

# %%
class AnyOfTheBest(SarsaAgent):
    """Plays a random one of the equally good candidates."""

    def choose(self, observation):
        _, rated = self.rate(observation)
        best = max(candidate.score for candidate in rated)
        return self._random.choice([c.action for c in rated if c.score == best])


DEALS, FIRST_DEAL = 8, 10_000  # far from the deals that were trained on


@cache
def agents():
    """The agents to be compared, by name."""
    learned = training("q_learning")[0]
    return {
        "mixed": SarsaAgent(learned),
        "Q only": SarsaAgent(learned, reward_weight=0),
        "reward only": SarsaAgent(q_weight=0),
        "neither": SarsaAgent(q_weight=0, reward_weight=0),
        "neither, any": AnyOfTheBest(q_weight=0, reward_weight=0),
        "Q only, any": AnyOfTheBest(learned, reward_weight=0),
        "corners as walls": SarsaAgent(q_weight=0, corner="#"),
    }


@cache
def result(name, other):
    """What an agent wins against `Random`, `Greedy` or another agent."""
    opponent = {"Random": Random, "Greedy": Greedy}.get(other, lambda: agents()[other])()
    return compare(agents()[name], opponent, DEALS, FIRST_DEAL, progress=lambda seen: one_more())

# %%
pairs = [(name, "Random") for name in agents() if name != "corners as walls"] + [
    ("mixed", "Greedy"), ("reward only", "Greedy"), ("mixed", "reward only"),
    ("corners as walls", "reward only")]
axes = figure(7.5, 4.2)
one_more = TimeLeft(len(pairs) * DEALS, "deals")
for row, (name, other) in enumerate(pairs):
    found = result(name, other)
    print(f"{name:16} against {other:12} {found}")
    colour = "#0072B2" if other == "Random" else "#E69F00"
    axes.plot(found.interval, [row, row], "-", color=colour, marker="", linewidth=3)
    axes.plot([found.score], [row], "o" if other == "Random" else "s", color=colour, markersize=8)
axes.axvline(0.5, color="black", linestyle="--", linewidth=1)
axes.set(xlim=(-0.02, 1.02), ylim=(len(pairs) - 0.4, -0.6), xlabel="win rate with 95 % interval",
         title="Sixteen games each (eight paired deals)")
axes.set_yticks(range(len(pairs)), [f"{name} - {other}" for name, other in pairs])
picture(axes, "Win rates with intervals. " + ". ".join(
    f"{name} against {other}: {result(name, other).score:.2f}" for name, other in pairs))

# %% [markdown]
# Sixteen games are few: read the intervals, not the points. For more, raise `DEALS`. But some things
# show already.
#
# Against `Random` everything wins, and *neither* wins too. It has learned nothing and weighs
# nothing. So a high win rate against `Random` says nothing about the table!
#
# Against `Greedy`, which also looks only one action ahead, the agent is in trouble, with its table
# and without. And the line that answers our question is *mixed* against *reward only*. Compare it
# with one half.
#
# The last line is another control. The project had walls in the corners; the rules give them to
# everybody. Ours is the right way to see the board, so it should win. Does it? Before you open the
# answer, say what you believe after sixteen games.
#
# <details><summary>What more games say</summary>
#
# After 50 games of training, over 250 paired deals: *mixed* has 0.12 (0.10 to 0.16) against `Greedy`
# and 0.42 (0.38 to 0.47) against *reward only*. So the table does harm. Over 50 paired deals *neither*
# has 0.98 (0.93 to 0.99) against `Random`.
#
# And the corners? In the sixteen games the *wrong* view wins 13 (0.57 to 0.93), with an interval that
# leaves one half out. Over 100 paired deals, which begin with the same eight, it has 0.55 (0.48 to
# 0.61): no difference shows. There are ten intervals in the picture, and one in twenty misses the true
# rate.
#
# </details>
#
# **Think first.** (a) *Neither* plays the first candidate, with no reward and an empty table. Where
# does its strength come from? Look into `candidates`. What does playing the *first* of equals add:
# which actions are first in the documented order? (b) Compare *Q only, any* with *neither, any* in
# your own results. What does the table add, and which difference could sixteen games have shown at
# all? Plan a match of the two against each other that finds a score of 0.55 four times in five:
# how many paired deals is that, and what of it would you fix before you begin?
#
# <details><summary>An answer</summary>
#
# (a) From the draft: `candidates` drops every action that does not take the best card, and the
# scores of the board decide which card that is. Good cards collect in the hand, and sooner or later
# they are played. The *first* of equals adds an order: ordinary cards come before jacks, which
# saves the jacks, and chips of one suit come together, often side by side.
#
# (b) Sixteen games have an interval of about 0.2 to either side, so only a large difference can
# show. To find 0.55 four times in five takes about 780 games, that is 390 deals from both seats.
# Fix the deals, their seed and the trained table before you begin.
#
# </details>

# %% [markdown]
# ### How often is the table asked in vain?
#
# An agent can only use what it finds. Count the look-ups during a few games.

# %%
class CountingTable(QTable):
    """A table that counts the look-ups of actions with an effect, and those that find an entry."""

    asked = found = 0

    def value(self, state, action):
        if any(action):
            self.asked += 1
            self.found += (state, action) in self.values
        return super().value(state, action)


def counted(learned):
    """Look-ups and finds in four games against `Greedy`."""
    table = CountingTable()
    table.values = learned.values
    compare(SarsaAgent(table), Greedy(), deals=2, seed=FIRST_DEAL)
    return table.asked, table.found

# %%
for method in ("sarsa", "q_learning"):
    asked, found = counted(training(method)[0])
    print(f"{method:12}{asked:6,} look-ups, {found / asked:.0%} found an entry")

# %% [markdown]
# ### A smaller key
#
# Then make the key smaller! Leave the state out and learn one value for each kind of *change*. Now
# entries come back all the time. Does the agent play better? (The training takes a few seconds.)

# %%
class ActionsOnly(SarsaAgent):
    """An agent whose table knows actions but not states."""

    def state(self, scores, observation):
        return ()


@cache
def small():
    """Its table, after as many games."""
    one_more = TimeLeft(GAMES, "games of training")
    with patch("sarsa.SarsaAgent", ActionsOnly):
        return train(GAMES, "q_learning", progress=lambda *seen: one_more())

# %%
visits = small().visits
one_more = TimeLeft(DEALS, "deals")
found = compare(ActionsOnly(small()), SarsaAgent(q_weight=0), DEALS, FIRST_DEAL,
                progress=lambda seen: one_more())
print(f"{len(visits)} entries, updated {mean(visits.values()):.0f} times each")
print("mixed, actions only, against reward only:", found)
for (_, action), value in sorted(small().values.items(), key=lambda item: -item[1])[:5]:
    print(f"{value:9,.0f}", {name: n for name, n in zip(ACTION_FEATURES, action, strict=True) if n})

# %% [markdown]
# Now entries come back. It does not help; look at the interval. So visits were not the only thing
# that was missing. Look at the five values that were printed, and at `td_target`: what has been
# added up there?
#
# **Question.** (a) What exactly does Q estimate here, in one sentence? Is it the probability of
# winning? (b) An entry that is missing counts as 0, and one that was met once has 0.3 of a positive
# target. What does this do to the choice between an action that was seen in training and an equally
# good one that was not? (c) Propose one change to the rewards and one to the key, and say how you
# would measure whether they help. (`train` has an argument `outcome`.)

# %% [markdown] answer="what-q-learned"
# *Write your answer here.*

# %% [markdown]
# ## Keeping a table, and learning during a match
#
# A trained table can be kept in a file. The text is JSON: numbers and lists. Python's `pickle` would
# be shorter to write, but loading a pickle can run *any* code that its author has put in. A table
# that somebody sends you should be data. (`Path("table.json").write_text(text)` puts it into a file.)

# %%
text = training("q_learning")[0].to_json()
print(text[:300], "...")
print(QTable.from_json(text).values == training("q_learning")[0].values)

# %% [markdown]
# Training has ended when the match begins. It need not: with `learn=True` the agent goes on
# updating its table while it plays. `play` calls `reset` before each game, and there the agent makes
# the last update of the game before.

# %%
online = SarsaAgent(QTable.from_json(training("q_learning")[0].to_json()), learn=True)
before = len(online.table.values)
print("against Greedy:", compare(online, Greedy(), deals=4, seed=FIRST_DEAL))
print(f"the table had {before:,} entries and has {len(online.table.values):,} now")

# %% [markdown]
# ### The discard pile (extra credit)
#
# The state leaves out all cards. Not every card is worth a number, but jacks are few and strong:
# `discard_features` counts those that are gone, first the two-eyed, then the one-eyed. With
# `discards=True` they become part of the state, as in the picture of the growing table above.

# %%
check("study8.discards")

# %% [markdown]
# **Sources**, in full in `course/bibliography.md`: Rummery and Niranjan 1994 for SARSA; Watkins 1989 for
# Q-learning; Sutton and Barto 2018, sections 6.4, 6.5 and 6.7, for both and for the bias of the
# maximum. The description of the agent is not published; the acknowledgements there say where it
# comes from.
