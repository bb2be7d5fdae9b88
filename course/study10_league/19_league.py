# %% [markdown]
# # 19. The league
#
# This notebook combines everything: your own agent for Sequence, and opponents to measure it
# against. You may use whatever you have learned in this course, and any other ideas. The
# agent has one second per action, and it receives only the information that a player at the table
# would have. (Notebook 9 explains the rules of Sequence.)
#
# You will write `MyAgent` in `my_agent.py`, the file next to this notebook. Its mark does not
# depend on how good your classmates' agents are. There is a **ladder**: a fixed list of opponents,
# from weak to strong. The more games your agent wins against each of them, the more points it gets.

# %%
# %load_ext course.notebook
from course.check import check
from course.plots import figure, picture
from sequence import Greedy, Random, compare, example, play
from sequence.league import InProcessPlayer, league
from sequence.widget import replay, watch
from tictactoe.games.play import wilson_interval

from my_agent import MyAgent

# %% [markdown]
# ## The influence of luck
#
# In Sequence the better player does not always win, because the cards also matter. So a single game
# shows almost nothing. Watch one between two identical agents: `Greedy` against itself. Stop it
# with *Pause*, and go back and forth with the slider. Could you have predicted early who would win?

# %%
watch([Greedy(), Greedy()], seed=1000)

# %% [markdown]
# Now let the two play ten deals at a time. Whichever player wins more often, neither is better.

# %%
for seed in range(5):
    won = sum(play([Greedy(), Greedy()], seed=1000 * seed + deal).winner == 0 for deal in range(10))
    print(f"ten deals of seed {seed}: player 0 won {won} of 10")

# %% [markdown]
# The league takes two precautions, which `course/statistics.md` explains: each deal is played twice,
# with the seats exchanged, and every win rate comes with a 95 % interval (Wilson 1927). With few
# games it is wide.

# %% tags=["hide-input"]
games = [4, 8, 16, 32, 64, 128, 256]
bounds = [wilson_interval(0.75, number) for number in games]
axes = figure(6, 3.2)
axes.fill_between(games, [low for low, _ in bounds], [high for _, high in bounds],
                  color="#0072B2", alpha=0.25, label="95 % interval")
axes.plot(games, [0.75] * len(games), color="#0072B2", marker="o", label="three of four won")
axes.axhline(0.5, color="#E69F00", linestyle="--", label="equally strong")
axes.set_xscale("log", base=2)
axes.set_xticks(games, [str(number) for number in games])
axes.set(xlabel="games", ylabel="rate of wins", ylim=(0, 1),
         title="What three wins out of four show")
axes.legend(loc="lower right")
picture(axes, "A band around 0.75 that narrows as games grow from 4 to 256; its lower edge rises "
        "above one half at 16 games.")

# %% [markdown]
# We say that an agent **beats** another if the complete interval is above 0.5. With three wins out
# of four this takes 16 games.

# %%
for points in (10, 11, 12, 13):
    low, high = wilson_interval(points / 16, 16)
    print(f"{points} of 16: from {low:.3f} to {high:.3f}", "beaten" if low > 0.5 else "not shown")

# %% [markdown]
# **Think first.** You have changed your agent. Against `Greedy` the old version has won 9 of 16
# games, and the new one 13 of 16 on other deals. Is the new one better? (Compute both intervals.
# Only one of the two versions "beats" `Greedy`: does that settle it?) You have time for a hundred
# more games: who should play whom, on which deals and seats? And what is wrong with playing until
# the interval is above 0.5 and then stopping?
#
# <details><summary>An answer</summary>
#
# The intervals are 0.33 to 0.77 and 0.57 to 0.93. They overlap widely, so the two versions may be
# equally good: the difference between "shown" and "not shown" is not a difference in strength.
#
# With a hundred more games, let the two play each other, or let both play `Greedy` on the *same*
# deals, each deal from both seats, and fix the number of games in advance. If you look after each
# game and stop when the interval is above 0.5, you give chance a hundred opportunities.
#
# </details>

# %% [markdown]
# ## Clock and warnings
#
# The league calls `choose(observation)` of your agent and allows it one second per action, or
# fifteen seconds for the first action of a game. Only computing time counts, so other programs on
# the machine cost you nothing. If an agent is late, raises an error or plays an illegal action, it
# gets a warning, and a random legal action is played instead. The third warning forfeits the game.
# In the ladder the agent has five seconds for its first action, and an agent that forfeits the
# first two games against an opponent plays no further games against it. In the league and in the
# ladder your agent runs in a separate process that does not contain the state of the game, so it
# cannot look at hidden cards.
#
# An observation contains everything that you need. `legal_actions()` lists the actions that you may
# play.

# %%
seen = example("7/23")
print(seen)
print(len(seen.legal_actions()), "legal actions, the first one:", seen.legal_actions()[0])

# %% [markdown]
# ## Write `MyAgent`
#
# Begin with something that works, and measure it. Some ideas, from simple to strong:
#
# 1. the evaluation of study 6, 7 or 8 that you like best, copied into `my_agent.py`;
# 2. the same, but with the cards: a line is worth more if you *hold the cards* for its missing
#    cells;
# 3. the opponent: for which of its lines does it hold the cards? (You saw which cards it drafted.)
# 4. sampled states: `sequence.agents.beliefs.sample(observation, rng)` returns a full state that is
#    consistent with what you have seen, so you can look ahead in several of them (study 7) or grow
#    one tree over every state (study 9). `sequence.agents.evaluation` contains the evaluation and
#    the quick player that `ISMCTS` uses.
#
# You may use all of `sequence` except the players. `Greedy`, `ISMCTS` and `FittedLookAhead` are
# opponents and not building blocks: in the ladder they cannot be imported. An agent that contains
# the code of one, or that nearly always plays the same actions as `Greedy` or the quick player,
# earns only the point for legal play. You may use the quick player *inside* your search.
#
# The cell below plays a few games against `Greedy`; `compare` receives the class, so that every
# game gets a new `MyAgent`, as in the league. Change one thing at a time, and play again.

# %%
print("against Greedy:", compare(MyAgent, Greedy, deals=4, seed=1000))

# %% [markdown]
# ## The ladder
#
# The points that your agent earns against an opponent depend on its win rate. Below a lower bound
# it earns no points, above an upper bound full points, and between the two the points grow
# linearly.
#
# | opponent | no points up to | all points from |
# |---|---|---|
# | `Greedy`, with half of its actions at random | 25 % | 75 % |
# | `Greedy` | 10 % | 65 % |
# | a look-ahead like that of study 7 (not in the cell below) | 10 % | 60 % |
#
# For example, an agent that wins 37.5 % of its games against `Greedy` is halfway between 10 % and
# 65 %, so it earns half of the points for this opponent. An agent that earns no points against an
# opponent does not play the next one.
#
# | rule | in the graded ladder | in the cell below |
# |---|---|---|
# | deals | until your share of the points is known within about 5 %, at most 240 | at most 12 |
# | cards | unknown in advance | the same each time |
# | stops early | if the rate is clearly above the upper or below the lower bound | |
# | computing time | one hour for all games, shared equally among the opponents | one hour |
#
# If an agent's true rate is exactly at a bound, stopping early misjudges it in at most one case in
# a hundred. Luck has little influence on the mark: if the games are repeated with other deals, the
# mark out of 15 has a standard deviation of less than half a point. When the computing time is used
# up, the games played so far decide. An agent that takes at most a tenth of a second per action has
# enough time.
#
# The points in the cell below are as uncertain as the picture above shows for so few games.

# %%
check("study10.ladder")

# %% [markdown]
# ## A league of your own
#
# `league` plays every agent against every other, and rates them all together. The scale of the
# ratings is that of chess: a difference of 100 points means winning 64 of 100 games (Bradley and
# Terry 1952). On the command line it is
#
#     python3 run.py league Random Greedy me=course/study10_league/my_agent.py --deals 10 --out my_league
#
# The strongest built-in player is `FittedLookAhead`: it looks only a few actions ahead, with an
# evaluation function whose weights were fitted to thousands of games. It is not in the ladder. Add
# it to your league when your agent beats `Greedy`: an agent that beats it has beaten the best agent
# of the course.
#
# The cell below runs all agents in this process, which is faster. However, an agent that never
# returns is not stopped there.

# %%
result = league([Random, Greedy, MyAgent], deals=4, seed=1, transport=InProcessPlayer)
result

# %%
picture(result.plot().axes[0], "Ratings of the agents with their intervals.")

# %% [markdown]
# Look at a lost game. Where did your agent go wrong? Step through the game with the buttons.

# %%
replay(play([MyAgent(), Greedy()], seed=3))

# %% [markdown]
# **Question.** Report on your agent: describe one change that you made and your reason for it, its
# effect on the results (how many games, which interval), your conclusion, and one thing that did
# not work.

# %% [markdown] answer="what-worked"
# *Write your answer here.*

# %% [markdown]
# **Question.** Suppose that a journal prints one number for the strength of your agent against
# `Greedy`, with an interval. Describe how you obtain this number: which games are counted, how many
# are played, and when. Explain why you use, or do not use, the results that you have already.

# %% [markdown] answer="honest-estimate"
# *Write your answer here.*

# %% [markdown]
# **Sources**, in full in `course/bibliography.md`: Wilson 1927 for the intervals, Bradley and Terry
# 1952 for the ratings, Cowling, Powley and Whitehouse 2012 for `ISMCTS`.

# %% [markdown]
# ## Submit
#
# Save the module and all notebooks, then run this cell. It packs them into one file, `study10_league.zip`, together with the pictures next to them, and lists what is still missing. Submit that file as your instructor asks.

# %% tags=["skip-execution"]
from course.submission import make_submission

make_submission("study10")
