# %% [markdown]
# # 12. A table of action values
#
# Q-learning needs a table: a value for every action in every state. Sequence has more states than
# any table can hold: three possibilities for each of 96 cells make `3**96` boards, a number of 46
# digits. (The description of the agent that we rebuild speaks of "approximately 10^50 or more", and
# further down of 3^96. The first is an estimate, and too large: cards apart, there are not more
# boards than 3^96, and not all of these can be reached.)
#
# This notebook follows one way out. Describe a board by a handful of *patterns*, an action by what
# it does to them, and learn a value for each pair of descriptions. You will write the patterns, the
# scores that are made of them, the table, and an agent that mixes both. Then we look closely at what
# the table has learned, and at what wins the games. They need not be the same.
#
# All your code goes into `sarsa.py`.

# %%
# %load_ext autoreload
# %autoreload 2
# %load_ext course.unwritten
import re
from collections import Counter
from functools import cache
from statistics import mean
from unittest.mock import patch

from course.check import check
from course.plots import figure, picture
from sarsa import (
    ACTION_FEATURES, BLOCKING_VALUES, DIRECTIONS, PATTERN_VALUES, PATTERNS, QTable, SarsaAgent,
    Scores, action_features, direction_info, one_side, pattern, pattern_counts, place_score, ray,
    state_features, td_target, train, views, with_chip,
)  # fmt: skip
from sequence import Greedy, Random, compare, play, sketch

# %% [markdown]
# ## A board as text
#
# Here is a position, drawn by hand. x is to move, and x is who we are.

# %%
position = sketch("x 4,2 4,3 4,5 6,1 / o 6,3 6,4 6,5 2,7 / hand 5h 2s 8c / row 3c 5d 8h")
print(position)

# %% [markdown]
# For patterns we need less than this: what is mine, what is theirs, what is empty. `views` gives
# the board twice as a text of 100 cells, as we see it and as the opponent does. Own chips are `m`,
# the others' `t`. Chips of completed sequences are capital letters: they are used up.

# %%
def rows(board):
    """The text of a board, ten rows of ten."""
    return [board[start:start + 10] for start in range(0, 100, 10)]


mine, theirs = views(position)
for ours, other in zip(rows(mine), rows(theirs), strict=True):
    print(ours, "  ", other)

# %% [markdown]
# The corners show `m` to both. By the rules they count as everybody's own chips.
#
# ## Reading in one direction
#
# Take the empty cell 4,4, between our chips. What would a chip there be part of? Look along the
# row, first to the right (the **front**), then to the left (the **back**). `ray` gives what one
# meets on the way, up to the edge, which is a wall `#`.

# %%
print("front", ray(mine, (4, 4), (0, 1)))
print("back ", ray(mine, (4, 4), (0, -1)))

# %% [markdown]
# One chip follows directly in front, two behind. With the new one that makes four connected, and
# both ends are empty. That was easy. Now suppose that 4,3 were empty and the new chip went there:
# then 4,5 is no direct neighbour, but it is still useful, with a **gap** in between.
#
# So read a ray like this, by hand, on `m_mm_t#`:
#
# 1. Own chips at the beginning: one. They are *connected*.
# 2. Then an empty cell, and right behind it an own chip: a *gap*. Cross it, and count the own chips
#    beyond, two. They are *discrete*.
# 3. Again an empty cell, but behind it stands the opponent. No gap: stop here. The cell where we
#    stopped is empty, so this end is *open*.
#
# The answer is `(1, 1, 2, True)`: connected, gaps, discrete, open. Try `_m_m_m_#` with at most two
# gaps before you read on.
#
# <details><summary>Answer</summary>
#
# `(0, 2, 2, True)`. The third `m` is behind a third gap, and it is not counted. The end that counts
# is where the reading stopped: behind the second discrete chip, and that cell is empty.
#
# </details>
#
# ## Write `one_side` and `direction_info`
#
# `one_side` reads a ray. `direction_info` reads two of them, front and back, and adds the chip on
# the cell itself. A whole direction may have two gaps: what the front has crossed, the back may not
# cross again.
#
# There is a classic slip here. Code that walks over the board cell by cell needs two steps, one
# forwards and one backwards, and easily takes the wrong one behind a gap. A ray is always the same
# text, before a gap and behind it.

# %%
one_side("m_mm_t#"), one_side("_m_m_m_#")

# %%
check("study8.rays")

# %%
for direction in DIRECTIONS:
    print(direction, direction_info(mine, (4, 4), direction))

# %%
check("study8.direction")

# %% [markdown]
# ## Patterns and their values
#
# Gomoku players have names for these things. A **live** pattern is open at both ends and has no
# gap. A **sleeping** one has a gap, or is stopped at one end. A sleeping four is called *chong*:
# it threatens, and one chip stops it. A live four has two cells that finish it.

# %%
print(f"{'pattern':14}{'own':>8}{'prevented':>11}")
for name, value in PATTERN_VALUES.items():
    print(f"{name:14}{value:8,}{BLOCKING_VALUES.get(name, 0):11,}")

# %% [markdown]
# ## Write `pattern`
#
# From a `DirectionInfo` to a name. Three tests are enough: five connected; no open end at all; and
# then the number of chips, live or not.

# %%
for direction in DIRECTIONS:
    print(direction, pattern(direction_info(mine, (4, 4), direction)))

# %%
check("study8.pattern")

# %% [markdown]
# ### Is a four a four?
#
# A name promises something. "Four" should mean: one more chip makes five. Does it? Take boards out
# of games between `Greedy` and `Random`, ask `pattern` about every empty cell in every direction,
# and test the promise on the lines of five through that cell.

# %%
@cache
def boards():
    """What the player to move sees, every fifth action in 20 games."""
    games = [play([Greedy(), Random()], seed) for seed in range(20)]
    return [views(state.observation())[0] for game in games for state in game.states[5:-1:5]]


def one_short(board, cell, direction):
    """Whether an own chip on the cell leaves a line of five in this direction one chip short."""
    after = with_chip(board, cell, "m")
    for start in range(-4, 1):
        five = [(cell[0] + k * direction[0], cell[1] + k * direction[1])
                for k in range(start, start + 5)]
        if all(0 <= row < 10 and 0 <= col < 10 for row, col in five):
            chips = [after[10 * row + col] for row, col in five]
            if chips.count("m") == 4 and "_" in chips:
                return True
    return False

# %%
promised, kept = Counter(), Counter()
for board in boards():
    for place, chip in enumerate(board):
        for direction in DIRECTIONS if chip == "_" else ():
            name = pattern(direction_info(board, divmod(place, 10), direction))
            promised[name] += 1
            kept[name] += one_short(board, divmod(place, 10), direction)
for name in PATTERN_VALUES:
    if name != "LIVE_FIVE":
        print(f"{name:12}{promised[name]:7,} times, one chip short of five {kept[name]:5,} times")

# %% [markdown]
# Every live four keeps its promise. Some of the chong fours do not, and among the patterns that
# are called NONE there are some that are one chip short of five.

# %% [markdown]
# **Question.** Find one drawing (a line like `#_mm_t_`) for each of the two mistakes: a
# `CHONG_FOUR` that no single chip finishes, and a `NONE` that one chip does finish. Then a third
# one: a `LIVE_TWO` that can never become five, however often its owner moves. What do the attributes
# of `DirectionInfo` not know in each case?

# %% [markdown] answer="blind-spots"
# *Write your answer here.*

# %% [markdown]
# ## Scores
#
# A chip on a cell makes a pattern in each of four directions, and takes one from the opponent in
# each. The score of a placement is the sum of all that. By hand, for 4,4 of our position: a live
# four in the row (10,000). In the other directions it stands alone. So what is the sum? Look at the
# names that your code has just printed, and add the opponent's: would *they* make anything there?
#
# Taking a chip away is worth a jack in one case only: if the chip is part of a live four.
#
# Notice what is assumed. The author took Sequence for a kind of Gomoku in which everybody always
# holds two-eyed jacks and may place a chip anywhere. These scores ask what a chip *would* be worth
# on a cell. Whether anybody has the card for it they do not ask.
#
# ## Write `place_score` and `remove_score`

# %%
print("4,4:", place_score(mine, theirs, (4, 4)))
print("6,2:", place_score(mine, theirs, (6, 2)))

# %% [markdown]
# 4,4 has its live four and three chips that stand alone. But look at 6,2, where the opponent would
# have four in a row, closed by our chip at 6,1. That is a chong four, one chip short of five. The
# table of values pays 1,000 for preventing a live three and nothing for this!

# %%
def heat(board, other):
    """A picture of the scores of all empty cells, in steps of ten."""
    steps = (0, 10, 100, 1000, 10_000)
    axes = figure(5.6, 5.2)
    axes.grid(False)
    best = Counter()
    for place, chip in enumerate(board):
        row, col = divmod(place, 10)
        if chip == "_":
            score = place_score(board, other, (row, col))
            best[row, col] = score
            level = sum(score >= step for step in steps)
            axes.scatter(col, row, s=560, marker="s", color="#0072B2", alpha=0.1 + 0.17 * level,
                         linewidths=0)
            text = f"{score / 1000:.0f}k" if score >= 1000 else score
            axes.annotate(text, (col, row), ha="center", va="center", fontsize=8,
                          color="white" if level > 3 else "black")
        else:
            axes.annotate({"m": "x", "t": "o"}[chip] if (row % 9 or col % 9) else "*", (col, row),
                          ha="center", va="center", fontsize=14, fontweight="bold")
    axes.set(xlim=(-0.6, 9.6), ylim=(9.6, -0.6), xlabel="column", ylabel="row",
             title="What a chip of x is worth (k: thousands)")
    axes.set_xticks(range(10))
    axes.set_yticks(range(10))
    return picture(axes, "A board with the score of each empty cell. The highest: " + ", ".join(
        f"{score:,} at {row},{col}" for (row, col), score in best.most_common(4)))


heat(mine, theirs)

# %%
check("study8.cells")

# %% [markdown]
# ### Cards
#
# A turn also takes a card from the draft row. A card is worth the best that it could be used for on
# the board as it is. That gives one best card, and the agent looks only at actions that take it:
# the others are dropped, five times less to rate. If a dead card can be traded for the best card,
# only such trades are left.
#
# Then there are two numbers for an action, and it pays to keep them apart.
#
# * Its **reward** is what it does *to the board*, now.
# * Its **score** is the reward plus half of what the card is worth.
#
# Learning gets the reward. If the card counted there, an action without any effect would be praised
# for what may be done a turn later.
#
# ## Write `Scores`

# %%
scores = Scores(position)
print({card: scores.draft(card) for card in position.draft_row}, "take", scores.best_draft())
for action in scores.candidates(position.legal_actions()):
    print(f"{action!s:28} reward {scores.reward(action):6,}  score {scores.score(action):9,.1f}")

# %%
check("study8.scores")

# %% [markdown]
# ## Features
#
# Now the description of a board: how often each pattern occurs on it, seven patterns of our own and
# four of the opponent's. They are counted with regular expressions over all rows, columns and
# diagonals. Regular expressions *consume* what they match, and here that is a trap:

# %%
line = "#_mm_mm___#"
print(re.findall("_mm_", line), "one after the other, with the ends")
print(re.findall("(?<=_)mm(?=_)", line), "looking at the ends only")

# %% [markdown]
# Two live twos share the empty cell between them. The first expression has eaten it when it comes
# to the second pair. Looking behind, `(?<=_)`, and ahead, `(?=_)`, eats nothing. All `PATTERNS` are
# written that way.

# %%
for name, regex in PATTERNS.items():
    print(f"{name:12}{regex}")

# %% [markdown]
# An action is described by what it *changes*: the eleven counts after it, minus those before it.
# A twelfth number says whether it is a trade. Only the three or four lines through its cell
# can change.
#
# ## Write `pattern_counts`, `state_features` and `action_features`

# %%
print(pattern_counts("#_mm_mm___#"))

# %%
print(state_features(mine, theirs))
for action in list(position.legal_actions())[::3]:
    features = zip(ACTION_FEATURES, action_features(mine, theirs, action), strict=True)
    print(f"{action!s:28}", {name: change for name, change in features if change} or "no change")

# %%
check("study8.state")

# %%
check("study8.actions")

# %% [markdown]
# Many actions change nothing that is counted. The table leaves them out: their value is always 0.
#
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
# 1989) learns what the *best* way would be worth. Either way the value then moves a part of the way to the target:
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
# **Think first.** (a) With `epsilon=0` and an agent that always takes the action with the highest *Q*,
# the two targets are the same. Why? (b) Our agent goes by the *mix* of Q and score. Show with three
# candidates (give their Q and their scores) that its targets can differ although it never explores.
# (c) Which of the two targets is never the smaller one? What does that do to the values, if the
# values in the maximum are noisy?
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
# It goes by
#
#     0.6 * Q(s, a) + 0.4 * score(a)
#
# and learns one turn late. When it has played, it does not know s' yet: the opponent moves first.
# So it remembers state, action and reward, and makes up for the update at its next turn, when it
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
# Two agents share one table, explore in a fifth of their turns, and play. `train` is written for
# you. It reports after every game by how much the values changed. We keep that and the size of the
# table.

# %%
GAMES = 20


@cache
def training(method, discards=False):
    """The table after training, and what happened: sizes and mean changes game by game."""
    sizes, changes = [], []

    def note(game, table, changed):
        sizes.append(len(table.values))
        changes.append(mean(changed))

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
# A table that converges would come down to zero. This one does not come down. Why not? Ask how
# often an entry was updated.

# %%
axes = figure(7.5, 3.6)
for method, discards, dashes in (("sarsa", False, "--"), ("q_learning", False, "-"),
                                 ("q_learning", True, ":")):
    table, sizes, _ = training(method, discards)
    name = method + (", discards in the state" if discards else "")
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
# Eleven counts and twelve changes are far fewer than the boards. They are still so many that nearly every
# entry is met once, with an alpha of 0.3 moved once, and never seen again. Discards in the state
# make the key longer still. **Compressed is not the same as visited.** A table learns where it
# comes back.
#
# ### Where the targets differ
#
# The same training again, with a look at each update: what is the best value, what is the one of
# the action taken? `patch` puts an agent that keeps a record in the place of yours.

# %%
class Watched(SarsaAgent):
    """An agent that writes down by how much its two targets differ."""

    gaps = []  # of all agents together

    def learn_from(self, taken, values):
        if values and self._last is not None:
            self.gaps.append(max(values) - taken)
        super().learn_from(taken, values)

# %%
for epsilon in (0.0, 0.2):
    Watched.gaps.clear()
    with patch("sarsa.SarsaAgent", Watched):
        train(10, "q_learning", epsilon=epsilon)
    differ = [gap for gap in Watched.gaps if gap > 0]
    print(f"epsilon {epsilon}: the targets differ in {len(differ)} of {len(Watched.gaps)} updates, "
          f"then by {0.9 * mean(differ) if differ else 0:,.0f} on average")

# %% [markdown]
# When the agent explores they differ more often, as in every textbook. Even without exploring they
# can differ here, because the agent goes by the mix and not by Q.
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


FIRST_DEAL = 10_000  # far from the deals that were trained on


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
    return compare(agents()[name], opponent, deals=8, seed=FIRST_DEAL)

# %%
pairs = [(name, "Random") for name in agents() if name != "corners as walls"] + [
    ("mixed", "Greedy"), ("reward only", "Greedy"), ("mixed", "reward only"),
    ("corners as walls", "reward only")]
axes = figure(7.5, 4.2)
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
# Sixteen games are few: read the intervals, not the points. For more, raise `deals`. But some things
# show already.
#
# Against `Random` everything wins, and *neither* wins too. It has learned nothing and weighs
# nothing. So a high win rate against `Random` says nothing about the table!
#
# Against `Greedy`, which also looks just one action ahead, the agent is in trouble, with its table
# and without. And the line that answers our question is *mixed* against *reward only*. Compare it
# with one half.
#
# The last line is another control. The project had walls in the corners, the rules give them to
# everybody. Ours is the right way to see the board, and it had better win. Does it?

# %% [markdown]
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
# entries come back all the time. Does it play better?

# %%
class ActionsOnly(SarsaAgent):
    """An agent whose table knows actions but not states."""

    def state(self, scores, observation):
        return ()


@cache
def small():
    """Its table, after as many games."""
    with patch("sarsa.SarsaAgent", ActionsOnly):
        return train(GAMES, "q_learning")

# %%
visits = small().visits
print(f"{len(visits)} entries, updated {mean(visits.values()):.0f} times each")
print("mixed, actions only, against reward only:",
      compare(ActionsOnly(small()), SarsaAgent(q_weight=0), deals=8, seed=FIRST_DEAL))
for (_, action), value in sorted(small().values.items(), key=lambda item: -item[1])[:5]:
    print(f"{value:9,.0f}", {name: n for name, n in zip(ACTION_FEATURES, action, strict=True) if n})

# %% [markdown]
# Now entries come back. It does not help; look at the interval. So visits were not the only thing
# that was missing. Look at what is learned: *rewards*. All of them are positive. An action that is followed
# by a long game full of threes and fours collects thousands, and nothing is ever subtracted when the
# opponent wins.

# %% [markdown]
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
# updating its table while it plays. `play` calls `reset` before each game, and that is where the
# agent makes up for the last update of the game before.

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
