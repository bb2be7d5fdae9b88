# %% [markdown]
# # 12. Look-ahead in Sequence
#
# Hidden cards and chance, as in notebook 11, but with a hundred and four cards and up to a thousand
# legal actions. In this notebook you build an agent that looks two actions ahead: what does my
# action bring, and what is the best that the opponent can do then? After that it goes deeper, with
# the alpha-beta search that you wrote in study 2.
#
# You will fill `lookahead.py`, piece by piece. Notebook 9 explains the rules.

# %%
# %load_ext autoreload
# %autoreload 2
# %load_ext course.unwritten
import contextlib
import importlib.util
import random
from pathlib import Path
from statistics import mean, median, stdev
from time import perf_counter

import numpy as np
from matplotlib.patches import Rectangle

import lookahead
from course.check import check
from course.plots import COLOURS, board_figure, figure, picture
from course.reply_games import reply_games
from lookahead import (
    Chips, LookAhead, SampledSearch, TopK, best_reply, catalogue, draft_value, gains, heat,
    line_links, line_text, links, plain_replies, plays_of, quick_replies, reward,
)
from sequence import Greedy, Random, card_at, compare, example, play, sketch
from sequence.agents.beliefs import may_hold, sample
from sequence.board.layout import CELLS, DIRECTIONS, LINE_MASKS
from sequence.widget import play as play_on_board
from sequence.widget.replies import reply_board
from tictactoe import Search
from tictactoe.games.play import games_needed, wilson_interval
from tictactoe.show.time_left import TimeLeft

# %% [markdown]
# ## Play first
#
# Play some turns against `Greedy`. Before you finish each of yours, say which cell it will answer on.
# How often are you right? The agent of this notebook asks the same question about every action that it
# may play, and cannot see the cards either.

# %%
play_on_board(against=Greedy(), seed=12)

# %% [markdown]
# ## How wide is it?
#
# Twenty games between random players, and how many actions were legal each time.

# %%
widths = [len(state.legal_actions()) for seed in range(20)
          for state in play([Random(), Random()], seed).states[:-1]]
print(f"median {median(widths):.0f}, mean {mean(widths):.0f}, most {max(widths)}")
print(f"an action and a reply: {mean(widths) ** 2:,.0f} pairs; with two more: "
      f"{mean(widths) ** 4:,.0f}")

axes = figure(7.5, 3.2)
axes.hist(widths, bins=range(0, max(widths) + 20, 20), color="#0072B2")
axes.set(xlabel="legal actions", ylabel="turns", yscale="log",
         title="How many actions are legal (bars by twenties, logarithmic)")
picture(axes, f"Histogram of the number of legal actions: median {median(widths):.0f}, "
        f"a long tail to {max(widths)}, where a hand holds a two-eyed jack.")

# %% [markdown]
# The tail on the right comes from the two-eyed jacks, which go anywhere, each with five cards to
# take. So a full search is out of the question. The authors of the method that we follow here looked
# at each of their actions and at the best reply only, with a score that is quick to compute:
#
# > **value = reward of the action + 0.8 x value of the card taken - 0.9 x best reply**
#
# ## The heat of a cell
#
# A cell in the middle lies in more lines of five than one at the edge, and the four cells of the
# **heart** win at once, all four together. So every cell gets some points for its place alone:
# `HEAT_PEAK` in the heart, and `HEAT_DECAY` times as much with every step away from it. Steps are
# those of a king in chess: a diagonal step counts as one.
#
# By hand: (3, 3) is one step from the heart cell (4, 4). With a peak of 4 and a decay of one half
# that makes 2. And (0, 5)? Row 0 is four steps above row 4: 4 x (1/2)^4 = 0.25. Write `heat`.

# %%
def board_picture(position, values, title, alt):
    """A board with a number in each cell of `values`, darker the larger; chips as x and o."""
    axes = board_figure(title, 7.2, 5.6)
    most = max(values.values())
    for (row, col), number in values.items():
        axes.add_patch(Rectangle((col - 0.5, row - 0.5), 1, 1, color="#0072B2",
                                 alpha=0.8 * number / most))
    for cell in CELLS:
        row, col = cell
        chip = position[cell] if position is not None else ""
        if chip and chip != "*":
            axes.text(col, row, chip, ha="center", va="center", fontsize=15, fontweight="bold",
                      color="#000000" if chip in "xX" else "#B35900")
        else:
            axes.text(col, row - 0.22, card_at(cell) or "free", ha="center", va="center",
                      fontsize=8, color="#444444")
        if cell in values:
            axes.text(col, row + 0.2, f"{values[cell]:g}", ha="center", va="center", fontsize=9)
    return picture(axes, alt)


print(heat((4, 5)), heat((3, 3)), heat((0, 5)))
board_picture(None, {cell: heat(cell) for cell in CELLS}, "Heat",
              "A heat map of the board: 4 in the four cells of the heart, halved with every ring "
              "around them, 0.25 at the edge.")

# %%
check("study7.heat")

# %% [markdown]
# ## Four lines as text
#
# A chip on a cell matters in four lines: down, across, and the two diagonals. No five with the cell in
# it goes further than four cells to either side. So we write each line as a text of at most nine
# characters. `#` is the cell itself, `x` an own chip, `o` a chip of the others, `_` is empty, `*` is a
# corner, which is everybody's. Capital letters are chips in completed sequences.
#
# Take the position below and the cell (4, 5). We are x. Across, row 4 from column 1 to column 9:
# `___x#x___`. Down, column 5 from row 0 to row 8: `__ox`, the cell, then `o___`. The directions
# come in the order of `DIRECTIONS`. Write `line_text`.

# %%
drawn = sketch("x 4,4 4,6 3,5 / o 5,5 3,7 2,5 / hand 4h 2h jh / row 3c jd")
chips = Chips.seen_by(drawn)
print(drawn)
[line_text(chips, (4, 5), direction) for direction in DIRECTIONS]

# %%
check("study7.line_text")

# %% [markdown]
# ## Links made and broken
#
# Now count. In the row `___x#x___` slide a window of five over the text. Each window holds `#`. The
# best one for us has both x and, once we have played, our new chip: `made` is 3. No window has an
# o, so `broken` is 0.
#
# In the column `__ox#o___` every window that leaves out one o holds the other. So we make nothing
# here. And the x next to the cell spoils every window of theirs above it; below, `#o___` has one
# of theirs and none of ours, so `broken` is 1.
#
# Two details. A corner counts for both sides. And a new sequence may use **one** chip of an old
# one, so a window with two `X` is worth nothing to us, and one with two `O` nothing to them.
#
# Say what these give before you run the cell.

# %%
for text in ("___x#x___", "__ox#o___", "*xx_#____", "_XXX#x___"):
    print(text, links(text))

# %%
check("study7.links")

# %% [markdown]
# ## The same line again and again
#
# An agent reads thousands of lines, and most of them do not change from one action to the next.
# `scan(chips, cell, direction)` is given; it remembers every answer by its arguments (`lru_cache`).
# By itself that does not help much: one more chip anywhere, and the argument `chips` is a new one.
#
# Write `line_links`: it hands `scan` only those chips that lie in the line. `reach(cell,
# direction)` is the mask of the line. After the check a game is timed: every line of every cell.

# %%
check("study7.line_links")

# %%
states = play([Greedy(), Random()], 7).states[:-1]
views = [Chips.seen_by(state) for state in states]


def seconds(function):
    """How long the function takes for all lines of all cells on all boards of a game."""
    start = perf_counter()
    for view in views:
        for cell in CELLS[:96]:
            for direction in DIRECTIONS:
                function(view, cell, direction)
    return perf_counter() - start


plain = seconds(lambda *line: links(line_text(*line)))
lookahead.scan.cache_clear()
first, again = seconds(line_links), seconds(line_links)
asked = len(views) * 96 * 4
print(f"{asked:,} lines asked, {lookahead.scan.cache_info().misses:,} different ones")
for name, spent in (("plain", plain), ("remembered", first), ("a second time", again)):
    print(f"{name:14}{1e6 * spent / asked:6.2f} microseconds a line")

# %% [markdown]
# ## Reward
#
# The reward of a placement adds up four lines and the heat. `line_reward` looks `made` and `broken`
# up in two tables, `LINK_MADE` and `LINK_BROKEN`, whose numbers are ours: four times as much for each
# chip more, and sixteen times as much for the last step, a sequence made or prevented. A removal by a
# one-eyed jack is worth the links that it breaks. An action without a cell is worth nothing.

# %%
board_picture(drawn, {action.coords: reward(chips, action)
                      for action in plays_of(chips, ["jd"])},
              "Reward of placing on each cell, for x",
              "The board of the example with the reward of placing on every empty cell: the "
              "largest between and beside the own chips in row 4.")

# %%
check("study7.reward")

# %% [markdown]
# ## The card to take
#
# Every action also takes a card from the row. Two-eyed jacks come first, then one-eyed ones; we give
# them fixed values. Any other card is worth the best placement that it allows: one of its two cells,
# not both. Write `draft_value`. (Then try it in a cell of your own: which of "jd", "jh", "4h", "3c"
# and "2d" would you take in the position above?)

# %%
check("study7.draft_value")

# %% [markdown]
# ## What can they play?
#
# The opponent's hand is hidden, but it leaks. Every card it takes from the row we see, and every
# card it plays. So we keep a catalogue: what it holds for certain, and what it may hold.
#
# By hand. Suppose that the opponent took 2s, then jd, and then played 2s and took kh. Known: jd and
# kh. It has four more cards. Each of them may be any card of which we have not seen both copies.
# Write `catalogue`. It reads the game from the beginning (`observation.plays()`), so it needs no
# memory.
#
# How much of the hand is known as the game goes on? **Guess**: after twenty actions, how many of the
# six cards are known, and how many of the 52 kinds of card are possible? The cell after the check
# follows the game that was timed and looks into the true hand, as only a referee may. `may_hold` from
# `sequence.agents.beliefs` is the exact answer to "what is possible". It also knows that a player who
# placed a chip held no dead card at that moment, so now and then it excludes a card that your catalogue
# allows.

# %%
check("study7.catalogue")

# %%
seen = example("1/18")
print(len(seen.history), "actions played; known:", catalogue(seen).known)
print(len(catalogue(seen).possible), "cards are possible")

rows = []
for state in states:
    observation = state.observation()
    mine = catalogue(observation)
    hand = state.hand(1 - state.to_move)
    assert set(mine.known) <= set(hand) <= set(mine.possible)
    exact = may_hold(observation, 1 - observation.player)
    rows.append((len(mine.known), len(mine.possible), len(exact)))

axes = figure(7.5, 3.6)
for column, name in enumerate(("known", "possible", "possible (exact)")):
    axes.plot([row[column] for row in rows], label=name, markersize=4)
axes.set(xlabel="actions played", ylabel="cards", title="What we know of the opponent's six cards")
axes.figure.legend(loc="outside upper center", ncols=3, frameon=False)
picture(axes, f"Known cards rise from 0 to {max(row[0] for row in rows)}, possible kinds of card "
        f"stay near {rows[0][1]} for long: at the end there are {rows[-1][1]}.")

# %% [markdown]
# Keep this picture in mind. As long as one card of six is unknown, nearly every card is *possible*.
#
# ## The best reply
#
# `plays_of(chips, cards)` lists the placements and removals that these cards allow. The best reply
# is the highest reward among them, from the view of the side that replies: `chips.turned()`. Write
# `best_reply`.

# %%
check("study7.best_reply")

# %% [markdown]
# ## The agent
#
# `LookAhead(replies, cards).values(observation)` puts it together, for each legal action: reward
# plus 0.8 times the card's value less 0.9 times the best reply. The card is valued, and the reply
# found, on the board *after* the action. `replies` makes the function that finds the best reply;
# `plain_replies` is given. With `replies=None` there is no reply term: remember that, we need it
# below.
#
# Two traps. A trade is no turn: the same player moves again, so nobody replies. And actions that
# differ only in the card they take have the same reply. Find it once.

# %%
mover = Chips.seen_by(seen)
for cards in (catalogue(seen).known, catalogue(seen).possible):
    print(f"{len(cards):2} cards, best reply {best_reply(mover.turned(), cards):g}")
values = LookAhead(plain_replies).values(seen)
for action in sorted(values, key=values.get, reverse=True)[:5]:
    print(f"{values[action]:8.2f}  {action}")
for players in ([LookAhead(None), Random()], [Random(), LookAhead(None)]):
    print(play(players, 1))

# %%
check("study7.look_ahead")

# %% [markdown]
# Play against it. *Show values* writes on the cells and on the cards of the row what your agent gives
# for the best action with each of them. Where it shows ▼, the best reply takes more than the action
# brings.

# %%
play_on_board(against=LookAhead(plain_replies), seed=1, values=LookAhead(plain_replies).values)

# %% [markdown]
# Here is what the agent sees. The slider goes through its best placements, each with the best card to
# take, and the number on a cell is what the best reply there brings the others. **Before you move the
# slider, say** how many of these twelve placements leave the others a reply worth more than a hundred,
# and which cells have to be taken to prevent it.

# %%
def considered(action):
    """The replies to an action, with any card that they may hold, and what each brings them."""
    board = mover.after(action).turned()
    return {reply: reward(board, reply) for reply in plays_of(board, catalogue(seen).possible)}


def split(action):
    """The value of an action in two parts: without the reply, and what the reply takes from it."""
    alone = without_reply[action]
    return {"reward and card": alone, "best reply": values[action] - alone}


without_reply, with_best_card = LookAhead(None).values(seen), {}
for action in sorted(values, key=values.get, reverse=True):
    if action.coords:
        with_best_card.setdefault(action.coords, action)
reply_board(seen, list(with_best_card.values())[:12], considered, split)

# %% [markdown]
# <details><summary>Answer</summary>
#
# Ten of the twelve. We are one chip short of a sequence at 5,4 and at 1,8, and a two-eyed jack of
# theirs on either cell would break four links, which earns 512. A placement on one of these cells
# completes the sequence. Its chips are then locked, and no reply is worth a hundred.
#
# </details>
#
# ## Faster replies (optional, extra credit)
#
# `plain_replies` asks for every reply to every action: a hundred cells for each of up to a hundred
# plays. But an action on one cell changes only the lines through that cell. All other replies keep
# their reward. So find and sort all replies once. Then, for each action, look again at the cells in
# its neighbourhood, and there only at the line through both. That is an **incremental** scan. Write
# `quick_replies`; it has to give the very same numbers.

# %%
def milliseconds(finder, sixth=6):
    """The mean time to value all actions, over every sixth state of the game."""
    spent = []
    for state in states[::sixth]:
        start = perf_counter()
        LookAhead(finder).values(state.observation())
        spent.append(1000 * (perf_counter() - start))
    return mean(spent)


for name, finder in (("no replies", None), ("plain replies", plain_replies),
                     ("quick replies", quick_replies)):
    print(f"{name:14}{milliseconds(finder):7.1f} ms an action")

# %%
check("study7.quick_replies")

# %% [markdown]
# ## Does the reply help?
#
# An agent that sees what the opponent can do should beat one that does not. **What do you expect**, and
# by how much? Then measure. The luck of the deal is large, so every deal is played twice, with the
# seats exchanged. A tie counts as half, and Wilson's interval says how far luck may have carried the
# score.
# Three agents play against the one without a reply: any *possible* card may reply, only *known* ones
# may, and a **control**, which is the agent without a reply again. The control must come out at one
# half *exactly*, since the same agent on the same deal wins from one seat what it loses from the
# other. It tests our bookkeeping, not our luck.

# %%
def finder():
    """Quick replies if you have written them, plain ones otherwise."""
    try:
        quick_replies(chips, ())
    except NotImplementedError:
        return plain_replies
    return quick_replies


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
# actions leave *different* best replies. Count how often it does.

# %%
for rate in (0.52, 0.55, 0.6, 0.7):
    print(f"worth {rate}: found half of the time with {games_needed(rate, power=0.5):5,} games, "
          f"four times in five with {games_needed(rate):5,}")

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
# uses the chance that a card is in the hand. Which numbers of the observation would you need?

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
# deals from both seats. The cell above played 36 games, so that is about 22 times as long: minutes, not
# hours. If the interval still contained one half, the reply would probably not be worth 0.05. The
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
# The authors name two ways to go on: alpha-beta, and the best k actions only. You have alpha-beta.
# It knows nothing of cards, but it only asks a state for `to_move`, `legal_moves`, `after`,
# `is_terminal` and `utility`. So we wrap a Sequence state in a small game of that kind.
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
# We are x. With 8h at 3,8 we get a four in column 8 and break two threes of theirs, but we hold
# neither card that would complete it. With 9c at 6,2 we break nothing, but we get *two* fours at once,
# and hold the cards that complete them: th for 6,5 and tc for 7,2. **Which do you play, and which will
# the search play?** The cell says what each earns at once, and what a search of two actions and one of
# three make of it. And it deals the other hand fifty times: in how many deals can we complete a
# sequence next, whatever the reply is?

# %%
plan = sketch("x 6,1 6,3 6,4 3,2 4,2 5,2 1,8 2,8 4,8 / o 3,5 3,6 3,7 0,5 1,6 2,7 2,9 4,7 8,5 / "
              "hand 9c th tc 8h ac 6d / row 5s 3h kd 4s 7d")
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
plan

# %% [markdown]
# <details><summary>What happened</summary>
#
# 8h earns 136.5 and 9c only 133, so a search of two actions plays 8h, and so does `LookAhead` with
# known cards. But its four waits for a card, and they have time to stop it. After 9c no chip of theirs
# stops both fours. In 38 of the fifty deals the sequence is certain; in all the others they hold a
# one-eyed jack and take the new chip away. The gain comes with the *third* action, so a search of three
# finds it. To give up what a move earns now for a threat that cannot be stopped is a **sacrifice**.
# Wherever a search ends, such plans lie behind its horizon.
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
#
# ## All lines at once
#
# The last idea of the authors: scan lines with NumPy, many at once. A board is a row of a hundred
# zeros and ones, a line as well. How many own chips are in each of the 192 lines, on each of the
# boards of a game? That is one product of two matrices. **Predict**: is it quicker than a loop over
# bitboards (an `and`, and a count of bits), and would it be for a single line?
#
# <details><summary>Answer, for when you have measured</summary>
#
# A product pays when there is much to be counted at once: all actions of a turn, say. For a single
# line a bitboard is hard to beat, and for lines that come back the cache is. Measure before you
# vectorise, and measure the whole move.
#
# </details>

# %%
lines = np.array([[mask >> bit & 1 for bit in range(100)] for mask in LINE_MASKS], dtype=np.float32)
boards = np.array([[view.own >> bit & 1 for bit in range(100)] for view in views], dtype=np.float32)


def by_product():
    """All counts by one product of matrices."""
    return lines @ boards.T


def by_loop():
    """The same counts, one by one."""
    return [[(view.own & mask).bit_count() for view in views] for mask in LINE_MASKS]


def quickest(count, times=5):
    """The shortest of a few runs in seconds: other programs only ever make a run longer."""
    spent = []
    for _ in range(times):
        start = perf_counter()
        count()
        spent.append(perf_counter() - start)
    return min(spent)


counts = by_product()
assert (counts == by_loop()).all()
together, apart = quickest(by_product), quickest(by_loop)
print(f"{counts.size:,} lines: one product {1e9 * together / counts.size:.0f} ns each, "
      f"a loop over bitboards {1e9 * apart / counts.size:.0f} ns each")

# %% [markdown]
# **Sources**, in full in `course/bibliography.md`: Russell and Norvig 2021, section 5.6, for games with
# hidden cards; Wilson 1927 for the intervals. The description of the agent that we rebuild is not
# published; the acknowledgements there say where it comes from.
