# %% [markdown]
# # 19. The league
#
# Everything comes together here: your own agent for Sequence, and opponents to measure it against.
# You may use whatever you have learned in this course, and anything else that is yours. The agent
# has one second for an action, and it is told no more than a player at the table would see.
#
# You will write `MyAgent` in `my_agent.py` beside this notebook. It is not judged by how good your
# classmates' agents are. There is a **ladder**: a fixed list of opponents, from weak to strong, and the
# more of its games your agent wins against each of them, the more points it gets.

# %%
# %load_ext course.notebook
from course.check import check
from course.plots import figure, picture
from sequence import Greedy, Random, compare, example, play
from sequence.league import TrustedPlayer, league
from sequence.widget import replay, watch
from tictactoe.games.play import wilson_interval

from my_agent import MyAgent

# %% [markdown]
# ## What luck does
#
# In Sequence the better player does not always win: the cards decide too. So one game says next to
# nothing. Watch one between two agents that are exactly alike: `Greedy` against itself. Stop it with
# *Pause*, and go back and forth with the slider. Could you have told early on who would win?

# %%
watch([Greedy(), Greedy()], seed=1000)

# %% [markdown]
# Now the same over ten deals at a time. Whichever player wins more often, neither is better.

# %%
for seed in range(5):
    won = sum(play([Greedy(), Greedy()], seed=1000 * seed + deal).winner == 0 for deal in range(10))
    print(f"ten deals of seed {seed}: player 0 won {won} of 10")

# %% [markdown]
# Two things follow, and the league does both.
#
# * **Paired deals.** Every deal is played twice, with the seats exchanged. Good cards, and the
#   advantage of moving first, then come to both.
# * **Intervals.** A share of won games comes with the range in which the true rate lies, 95 times
#   out of 100 (Wilson 1927). With few games it is wide.

# %%
games = [4, 8, 16, 32, 64, 128, 256]
bounds = [wilson_interval(0.75, number) for number in games]
axes = figure(6, 3.2)
axes.fill_between(games, [low for low, _ in bounds], [high for _, high in bounds],
                  color="#0072B2", alpha=0.25, label="95 % interval")
axes.plot(games, [0.75] * len(games), color="#0072B2", marker="o", label="seen: three of four won")
axes.axhline(0.5, color="#E69F00", linestyle="--", label="no better, no worse")
axes.set_xscale("log", base=2)
axes.set_xticks(games, [str(number) for number in games])
axes.set(xlabel="games", ylabel="rate of wins", ylim=(0, 1),
         title="What three wins out of four say")
axes.legend(loc="lower right")
picture(axes, "A band around 0.75 that narrows as games grow from 4 to 256; its lower edge rises "
        "above one half at 16 games.")

# %% [markdown]
# We say that an agent **beats** another if the whole interval lies above one half. With three wins
# out of four that takes 16 games.

# %%
for points in (10, 11, 12, 13):
    low, high = wilson_interval(points / 16, 16)
    print(f"{points} of 16: from {low:.3f} to {high:.3f}", "beaten" if low > 0.5 else "not shown")

# %% [markdown]
# **Think first.** You have changed your agent. Against `Greedy` the old version has won 9 of 16 games,
# and the new one 13 of 16 on other deals. Is the new one better? (Compute both intervals. Only one of
# the two versions "beats" `Greedy`: does that settle it?) You have time for a hundred more games: who
# plays whom, on which deals and seats? And what is wrong with playing on until the interval lies
# above one half, and stopping then?
#
# <details><summary>An answer</summary>
#
# The intervals are 0.33 to 0.77 and 0.57 to 0.93. They overlap widely, so the two versions may be
# equally good: "shown" against "not shown" is not better against worse.
#
# With a hundred more games, let the two play each other, or both play `Greedy` on the *same* deals,
# each deal from both seats, and fix the number of games first. If you look after each game and stop
# when the interval lies above one half, you give chance a hundred opportunities.
#
# </details>

# %% [markdown]
# ## Clock and warnings
#
# The league calls `choose(observation)` of your agent and gives it one second, fifteen for the first
# action of a game. These are seconds of computing: what else the machine does costs you nothing.
# An agent that is late, raises an error or plays what the rules forbid is warned, and a random legal
# action is played instead. The third warning forfeits the game. In the ladder the first action has five
# seconds, and an agent that forfeits the first two games against an opponent plays no more. In the
# league and in the ladder your agent runs in a process of its own; the state of the game is not in
# there, so there is nothing to peek at.
#
# An observation has all that you need. `legal_actions()` lists what you may play.

# %%
seen = example("7/23")
print(seen)
print(len(seen.legal_actions()), "legal actions, the first one:", seen.legal_actions()[0])

# %% [markdown]
# ## Write `MyAgent`
#
# Begin with something that works, and measure. Some ideas, from simple to strong:
#
# 1. the evaluation of study 6, 7 or 8 that you like best, copied into `my_agent.py`;
# 2. the same, but with the cards: a line whose missing cells you *hold cards for* is worth more;
# 3. the opponent: which of its lines does it hold cards for (it drafted them in the open)?
# 4. sampled states: `sequence.agents.beliefs.sample(observation, rng)` gives a full state that fits what
#    you have seen, so you can look ahead in several of them (study 7) or grow one tree over all of them
#    (study 9). `sequence.agents.worth` has the evaluation and the quick player that `ISMCTS` uses.
#
# All of `sequence` is there for you, except for the players. `Greedy`, `ISMCTS` and `FittedLookAhead`
# are opponents and not building blocks: in the ladder they cannot be imported. An agent that holds the
# code of one, or that nearly always plays what `Greedy` or the quick player would, gets only the point
# for legal play. The quick player may play *inside* your search.
#
# The cell below plays a few games against `Greedy`; `compare` is given the class, so that every game
# gets a new `MyAgent`, as in the league. Change one thing at a time, and play again.

# %%
print("against Greedy:", compare(MyAgent, Greedy, deals=4, seed=1000))

# %% [markdown]
# ## The ladder
#
# The points for an opponent grow with your rate of wins: none up to one rate, all of them from
# another one on, and in a straight line between the two.
#
# | opponent | no points up to | all points from |
# |---|---|---|
# | `Greedy`, with half of its actions at random | 25 % | 75 % |
# | `Greedy` | 10 % | 65 % |
# | a look-ahead like that of study 7 (not in the cell below) | 10 % | 60 % |
#
# The ladder that carries your marks plays as many deals against each of them as it takes to know your
# share of the points within about 5 %: up to 240, with cards that nobody knows in advance. It stops
# sooner where your rate is clearly above the higher bound or below the lower one; an agent whose
# true rate *is* the bound is misjudged so in at most one of a hundred cases.
# So luck hardly counts: over other cards the 15 points have a standard deviation of less than half a
# point. An agent that earns nothing against an opponent does not go on to the next one.
#
# Your agent may compute for an hour in all games of the ladder together, shared equally among the
# opponents; when it is over, the games played so far decide. An agent that takes at most a tenth of
# a second for an action has time enough.
#
# The cell below plays at most 12 deals against each opponent. Its points are as uncertain as the
# picture above says.

# %%
check("study10.ladder")

# %% [markdown]
# ## A league of your own
#
# `league` plays everybody against everybody, and rates them all at once. The rating is on the scale
# that chess players know: 100 points more mean winning 64 of 100 games (Bradley and Terry 1952). On
# the command line it is
#
#     python3 run.py league Random Greedy me=course/study10_league/my_agent.py --deals 10 --out my_league
#
# The strongest given player is `FittedLookAhead`: it looks ahead a few actions only, with an
# evaluation function whose weights were fitted to thousands of games. It is not in the ladder. Add
# it to your league when your agent beats `Greedy`: an agent that wins against it wears the crown.
#
# Below, everybody plays in this process, which is faster; but then nobody stops an agent that never
# returns.

# %%
result = league([Random, Greedy, MyAgent], deals=4, seed=1, transport=TrustedPlayer)
result

# %%
picture(result.plot().axes[0], "Ratings of the agents with their intervals.")

# %% [markdown]
# Look at a lost game. Where did it go wrong? Step through it with the buttons.

# %%
replay(play([MyAgent(), Greedy()], seed=3))

# %% [markdown]
# **Question.** Report on your agent: one change that you made and why, what it did to the results (how
# many games, which interval), what you conclude, and one thing that did not work.

# %% [markdown] answer="what-worked"
# *Write your answer here.*

# %% [markdown]
# **Question.** You have measured your agent in the ladder *and* changed it until you liked the result.
# Is the last result still an honest estimate of its strength? If not, how would you get one?

# %% [markdown] answer="honest-estimate"
# *Write your answer here.*

# %% [markdown]
# **Sources**, in full in `course/bibliography.md`: Wilson 1927 for the intervals, Bradley and Terry 1952
# for the ratings, Cowling, Powley and Whitehouse 2012 for `ISMCTS`.

# %% [markdown]
# ## Hand in
#
# Save the module and all notebooks, then run this cell. It packs them into one file, `study10_league.zip`, with the pictures that lie next to them, and lists what is still missing. Hand that file in as your course says.

# %% tags=["skip-execution"]
from course.hand_in import hand_in

hand_in("study10")
