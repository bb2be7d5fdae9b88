# %% [markdown]
# # 12. Look-ahead in Sequence
#
# Hidden cards and chance, as in notebook 11, but with a hundred and four cards and up to a thousand
# legal actions. In this notebook you build an agent that looks two actions ahead: what does my
# action bring, and what is the best that the opponent can do then? Notebook 13 asks what that is
# worth, and goes deeper.
#
# You will write the first part of `lookahead.py`, from `heat` to `LookAhead`; `quick_replies` is extra
# credit. Notebook 9 explains the rules.

# %%
# %load_ext course.notebook
from statistics import mean, median
from time import perf_counter

import numpy as np
from matplotlib.patches import Rectangle

from course.check import check
from course.plots import board_figure, figure, picture
from sequence import Greedy, Random, card_at, example, play, sketch
from sequence.agents.beliefs import may_hold
from sequence.board.layout import CELLS, DIRECTIONS, LINE_MASKS
from sequence.widget import play as play_on_board
from sequence.widget.replies import reply_board

import lookahead
from lookahead import (
    Chips, LookAhead, best_reply, catalogue, draft_value, heat, line_links, line_text, links,
    plain_replies, plays_of, quick_replies, reward,
)

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
# and "2d" would you take in the position of the picture?)

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
# Keep this picture in mind for notebook 13. As long as one card of six is unknown, nearly every card is
# *possible*.
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
# `plain_replies` is given. With `replies=None` there is no reply term.
#
# Two traps. A trade is no turn: the same player moves again, so nobody replies. And actions that
# differ only in the card they take have the same reply. Find it once. (The two games against `Random` are
# played without the reply term, which is quicker.)

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
# ## All lines at once
#
# One more idea of the authors: scan lines with NumPy, many at once. A board is a row of a hundred
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
# Now you have an agent that looks two actions ahead, and you know what that costs. Does it play better
# for it? That is the first question of notebook 13.

# %% [markdown]
# **Sources**, in full in `course/bibliography.md`: Russell and Norvig 2021, section 5.6, for games with
# hidden cards. The description of the agent that we rebuild is not published; the acknowledgements in
# the bibliography say where it comes from.
