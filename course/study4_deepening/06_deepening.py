# %% [markdown]
# # 6. Deeper within a budget
#
# In tic-tac-toe depth makes little difference, because nine cells can be searched to the end. In
# Connect Four it decides games. There are about 4.5 trillion positions, and an agent that
# has to move soon gets a budget: it may visit a fixed number of nodes, and then it must play. This
# notebook is about spending these nodes well. At the end your agent sees a move or two further than
# a plain search with the same budget. It does not search faster; it wastes fewer nodes.
#
# You will write the module `deepening.py`. It uses no code from other studies, but if you have done
# the studies on alpha-beta and on Type A, you will recognise many of its ideas.

# %%
# %load_ext course.notebook
from collections import Counter
from functools import cache
from time import perf_counter

from course.check import check
from course.plots import COLOURS, MARKERS, figure, picture
from course.checks.toy_games import NumberTree
from course.published import depth_strength
from tictactoe import ConnectFour
from tictactoe.games.connect_four import centre_first, potential
from tictactoe.explorables.select import option_slider
from tictactoe.boards.play_board import play_against
from common.progress import Progress

from deepening import (
    Deepening,
    DeepeningBoth,
    DeepeningKillers,
    DeepeningTable,
    DepthLimited,
    WithBoth,
    WithKillers,
    WithTable,
    answers,
    board_order,
    bound_of,
    promoted,
)

# %% [markdown]
# ## Drop four in a row
#
# Choose a column, and your mark falls to the lowest open cell. Four in a row win, in any direction.
# Your opponent looks one move ahead: it plays the move after which the board looks best to it.
# *Show values* shows, on each of your moves, how good the resulting board is according
# to the opponent's estimate.

# %%
class OneMove:
    """Plays the move after which its position looks best; among equal moves the most central."""

    def choose(self, state):
        return max(centre_first(state), key=lambda move: self.estimate(state.after(move),
                                                                       state.to_move))

    def estimate(self, state, player):
        return state.utility(player) if state.is_terminal() else potential(state, player)


play_against(OneMove(), start=ConnectFour(), values=potential)

# %% [markdown]
# Did you win? A simple plan beats it: create two threats at the same time. Here is a position from
# another game. x is to move, and exactly one column wins. **Find it** before you open the answer.

# %%
riddle = ConnectFour.from_moves([1, 3, 3, 2, 3, 3, 2, 6, 2, 1, 1, 2])
riddle

# %% [markdown]
# <details><summary>Answer</summary>
#
# Column 4. The new mark is the end of a diagonal that lacks only its cell in column 1, so o has to
# play there. Then x plays column 4 again and has two threats, one above the other: whichever player
# fills the lower cell, x wins. The plan is five moves deep, counting both x's and o's. `OneMove`
# plays column 1.
#
# </details>
#
# ## What a state looks like
#
# A `ConnectFour` is a state like any other: `legal_moves()`, `after(move)`, `is_terminal()`,
# `utility(player)`. Moves are columns. It also has lanes, all 69 of them, so if you wrote
# `heuristic.py` in study 3, you can try it here: it takes the lanes from the state and works
# unchanged. Its quiescence test is of little use, though. After 12 random moves, only about one
# position in a hundred is quiet, so a search that continues until every position is quiet continues
# almost to the end of the game. Here we cut off at the limit, quiet or not, and use another
# estimate, `potential`: a lane in which only one player has marks counts 1, 4 or 9 thousandths for
# one, two or three of them, and the opponent's lanes are subtracted.
#
# How deep does a search with a budget of 1,000 nodes get if it does not prune? The branching factor
# is seven, so 1 + 7 + 49 + 343 = 400 nodes are enough for three moves, and the next level alone has
# 2,401. Each additional move costs seven times as much, so seven times the budget buys one more
# move, and so would a machine that is seven times as fast. To look deeper within the budget, a
# search must visit fewer nodes.
#
# ## One kind of node
#
# In the earlier studies there were MAX nodes and MIN nodes. They did the same thing with opposite
# signs, so one kind is enough. Let every value be **from the view of the player to move**. A
# position worth 0.3 to my opponent is worth -0.3 to me:
#
#     value of a node = the largest of (minus the value of the child)
#
# This is called **negamax** (Knuth and Moore 1975). The window is reversed together with the view:
# if my window is (alpha, beta), my opponent's is (-beta, -alpha). (Alpha is the value that I can
# already guarantee elsewhere, beta the one to which my opponent can limit me elsewhere. A node whose
# value reaches beta returns immediately: notebook 2.)
#
# Here is an example. x has two moves. After the first, o can choose between 5 and 9 for x, after the
# second between 3 and 8. Follow the search with a pencil:
#
# * The first child returns -5: o chooses 5, which is worth -5 to o. So the root is guaranteed 5.
# * The second child is searched in the window (-infinity, -5). There o finds 3, worth -3 to o, which
#   is at least -5, so the child returns -3 immediately, and 8 is never visited.
# * The root returns 5.
#
# Write `DepthLimited.visit`. Search a child with `self.value`, which counts the node and calls
# `visit` again. `self.cut` and `self.moves` are for later; call them as the docstring describes.
#
# Try it on the tree and on the riddle. What does the search see in the riddle that the estimate
# does not?

# %%
print("the riddle, estimated:", potential(riddle, "x"), "for x,", potential(riddle, "o"), "for o")
tree = NumberTree(((5, 9), (3, 8)))
print(DepthLimited(limit=2).search(tree))  # move 0, value 5, and 6 of the 7 nodes
print(DepthLimited(limit=5).search(riddle))

# %%
check("study4.limited")

# %% [markdown]
# ## The order decides
#
# We search the empty board to limit 6, once with the columns from left to right, and once with the
# middle first. Value and move are the same. How much does the order change the number of nodes?

# %%
empty = ConnectFour()
for order in (board_order, centre_first):
    print(f"{order.__name__:13}", order(empty), DepthLimited(6, order=order).search(empty))

# %% [markdown]
# The worse order visits nine times as many: 12,648 against 1,407 nodes. With a good move first, most
# of the others are cut off after one reply.
#
# `centre_first` contains knowledge about Connect Four. The next two parts need no such knowledge:
# they *learn* a good order during the search. Both put some moves at the front of the list and keep
# the others in their order. Write `promoted`.

# %%
promoted([0, 1, 2, 3, 4, 5, 6], [3, 5]), promoted([0, 2, 4], [5, 4])

# %%
check("study4.promoted")

# %% [markdown]
# ## Killer moves
#
# o threatens to win in column 5. x can play six other columns, and after each of them o wins in
# column 5. A search that has seen this once should try column 5 first the next time. Such a move is
# a **killer move**, or *killer*: it has caused a cut at the same depth in a sibling position, and
# is likely to do so again (Akl and Newborn 1977).
#
# `WithKillers` keeps the last two killers for each depth, and tries them before all other moves.
# Write `cut` and `moves`. The cell below the check counts the nodes with and without killers.

# %%
agent = WithKillers(limit=5)
print(agent.search(riddle))
print(agent.killers)

# %%
check("study4.killers")

# %%
@cache
def nodes(kind, order, limit, state):
    """The number of nodes that a search visits."""
    return kind(limit, order=order).search(state).nodes


for title, state in (("empty board", ConnectFour()), ("the riddle", riddle)):
    for order in (board_order, centre_first):
        plain, killers = (nodes(kind, order, 6, state) for kind in (DepthLimited, WithKillers))
        print(f"{title}, {order.__name__:12}: {plain:6,} nodes without, {killers:6,} with killers")

# %% [markdown]
# When moves are tried from left to right, killers are a great help. With the centre first, they
# make the search of the empty board slightly *more expensive*. A question below asks why.
#
# ## The same position twice
#
# Play the columns 0, 1, 2 or 2, 1, 0: the marks of x and o end up in the same cells. Alpha-beta
# does not notice this and searches both positions.
#
# There are 7 * 7 * 7 * 7 * 7 = 16,807 ways to play five moves, but they lead to only 4,263 different
# positions, a quarter. The more moves, the smaller the share:
#
# | moves | ways | positions |
# |---|---|---|
# | 1 | 7 | 7 |
# | 2 | 49 | 49 |
# | 3 | 343 | 238 |
# | 4 | 2,401 | 1,120 |
# | 5 | 16,807 | 4,263 |
#
# So a search should remember its results in a **transposition table** (Greenblatt, Eastlake and
# Crocker 1967). But there is a catch. Alpha-beta often stops before it knows the exact value. What
# may it store then?
#
# **Predict.** A state was searched in the window (0.1, 0.3). What do you know about its true value
# if the search returned 0.2, if it returned 0.4, and if it returned -0.5?
#
# <details><summary>Answer</summary>
#
# 0.2 is the exact value: it is inside the window, so nothing that matters was cut off. 0.4 was
# enough to stop, so the value is 0.4 **or more**. With -0.5, every move was refuted by some reply,
# though there may be even better replies, so the value is -0.5 **or less**. (Our search is
# fail-soft, see notebook 2. A fail-hard search would return 0.3 and 0.1 here, and the table would
# store weaker bounds.)
#
# </details>
#
# Write `bound_of` and `answers`. An entry may be looked up in a different window from the one in
# which it was found, and at a different depth. When may the search return the stored value instead
# of searching?

# %%
[bound_of(value, 0.1, 0.3) for value in (0.2, 0.4, -0.5)]

# %%
check("study4.bound")

# %%
check("study4.answers")

# %% [markdown]
# Now write `WithTable`. In addition to values, the table provides a move: the move that was best
# last time is a good one to start with, even if the entry is too shallow to return its value.
#
# `WithBoth`, which is given, only combines its two base classes: the table's move comes first, then
# the killers, then the order of the game. It works if each of your methods calls `super()`.

# %%
agent = WithTable(limit=6)
print(agent.search(ConnectFour()))
print(Counter(entry.bound for entry in agent.table.values()))

# %%
check("study4.table")

# %%
check("study4.both")

# %% [markdown]
# ## Iterative deepening
#
# Which limit can an agent afford? That depends on the position and is not known in advance. So the
# agent searches to limit 1, then to limit 2, then 3. When the budget is used up, it plays the move
# found by the last completed search. This is called **iterative deepening**.
#
# The best moves for both sides, one after the other from the root, are called the **principal
# variation** ("principal continuation" in Akl and Newborn 1977). Each search can begin with the
# principal variation of the one before, and a transposition table makes this happen automatically,
# because it keeps the best move of every state on it.
#
# **Predict.** Suppose a search to limit 7 visits 60,000 nodes without a table. How much does it
# cost to search to limits 1 to 6 *first*: about a third more, the same again, or six times as much?
# And with a table, which keeps what it has learned from one limit to the next?
#
# In a tournament the budget is a time. Ours is a number of nodes, so that a search finds the same
# move on a slow or busy machine. The last line of the next cell is the exchange rate: the number of
# nodes that your machine visits in one second.
#
# Write the methods `search` and `visit` of `Deepening`.

# %%
agent = DeepeningTable(budget=5_000)
start = perf_counter()
found = agent.search(riddle)
rate = found.nodes / (perf_counter() - start)
print(found)
for line in agent.log:
    print(line)
print(f"on this machine, now: {rate:,.0f} nodes per second")

# %%
check("study4.deepening")

# %%
check("study4.together")

# %% [markdown]
# Now the answer. The next cell searches the empty board to limit 7, with the columns from left to
# right, once directly and once through all smaller limits. Below that it plots how many nodes each
# of the four agents needs to finish each limit. Use the slider to switch between the two orders.

# %%
progress = Progress(4, "searches")
for once, deepening in ((DepthLimited, Deepening), (WithTable, DeepeningTable)):
    directly = nodes(once, board_order, 7, ConnectFour())
    progress.update()
    step_by_step = deepening(10**6, 7).search(ConnectFour()).nodes
    progress.update()
    print(f"{once.__name__:12}: limit 7 alone {directly:6,} nodes, limits 1 to 7 {step_by_step:6,}")

# %% tags=["hide-input"]
AGENTS = {"alpha-beta only": Deepening, "with killers": DeepeningKillers,
          "with a table": DeepeningTable, "with both": DeepeningBoth}


@cache
def finished(kind, order, state, deepest=7):
    """The log of a search without a budget."""
    agent = kind(10**6, deepest, order=order)
    agent.search(state)
    return agent.log


ORDERS = {"from left to right": board_order, "the centre first": centre_first}


def by_limit(order, state=ConnectFour()):
    """Plot how many nodes each agent has visited when it finishes a limit."""
    axes = figure(7.2, 3.6)
    descriptions = []
    for (name, kind), colour, marker in zip(AGENTS.items(), COLOURS, MARKERS, strict=False):
        log = finished(kind, ORDERS[order], state)
        axes.plot([line.limit for line in log], [line.nodes for line in log], color=colour,
                  marker=marker, label=name)
        descriptions.append(f"{name} {log[-1].nodes:,}")
    axes.set(xlabel="limit", ylabel="nodes so far", yscale="log", title=f"The empty board, {order}")
    axes.figure.legend(loc="outside right upper")
    return picture(axes, f"Nodes until limit 7, {order}: " + ", ".join(descriptions))


option_slider("order", list(ORDERS), by_limit)

# %% [markdown]
# <details><summary>What happened there?</summary>
#
# Without a table, the six earlier searches add less than a third, because each is several times
# smaller than the next. With a table, all seven together cost *half* as much as the last one alone.
# The short searches fill the table with good first moves, and the order is what matters.
#
# The stored values are of no use here. In Connect Four each move adds a mark, so a state is always
# at the same depth, however it is reached, and what limit 6 found there is one move too shallow for
# limit 7. Only the moves help.
#
# With the columns from left to right, table and killers together reduce the nodes to about an
# eighth. With the centre first, there is less left to learn.
#
# </details>
#
# **Question.** When do killers harm? Find a position of your own (not the empty board), an order
# and a limit (at least 5) for which `WithKillers` visits *more* nodes than `DepthLimited`. Give
# both numbers, and explain from what the two searches try first why killers harm there, although
# they help in the riddle.

# %% [markdown] answer="when-killers-harm"
# *Write your answer here.*

# %% [markdown]
# ## How much is depth worth?
#
# Nodes are not points. The games in the next table were played in advance (a hundred games for each
# agent and each budget, from random openings, each opening played from both sides). The opponent
# has 400 nodes per move, tries the centre first, and uses neither a table nor killers.
# `course/statistics.md` explains the intervals.

# %% tags=["hide-input"]
table = depth_strength()
NAMES = {"board": "left to right", "centre": "centre first"}
axes = figure(7.2, 3.8)
descriptions = []
for number, (parts, order) in enumerate(dict.fromkeys(entry[:2] for entry in table)):
    entries = [entry for entry in table if entry[:2] == (parts, order)]
    shift = 0.9 * 1.07**number  # so that the intervals do not hide each other
    axes.errorbar([shift * entry.budget for entry in entries], [entry.score for entry in entries],
                  yerr=[[entry.score - entry.low for entry in entries],
                        [entry.high - entry.score for entry in entries]], color=COLOURS[number],
                  marker=MARKERS[number], capsize=3, label=f"{parts}, {NAMES[order]}")
    descriptions.append(f"{parts}, {NAMES[order]}: " + ", ".join(
        f"{entry.score:.2f} with {entry.budget:,} nodes" for entry in entries))
    for entry in entries:
        print(f"{parts:17} {NAMES[order]:13} {entry.budget:5,} nodes: depth {entry.depth}, "
              f"score {entry.score:.2f} ({entry.low:.2f} to {entry.high:.2f})")
axes.axhline(0.5, color="black", linewidth=1, linestyle="--", marker="")
axes.set(xscale="log", xlabel="nodes per move", ylabel="share of the points", ylim=(0.2, 0.9))
axes.set_xticks([100, 400, 1600, 6400], ["100", "400", "1,600", "6,400"])
axes.figure.legend(loc="outside upper center", ncols=2)
picture(axes, "Strength by budget. " + ". ".join(descriptions))

# %% [markdown]
# With four times the nodes, the agent looks about one move deeper and wins about two thirds of the
# points. Cutting the nodes to a quarter costs less than you might expect: the agent still scores
# 0.43, and the interval contains 0.5. Table and killers are worth a move or more of depth once
# there are enough nodes to learn from: with 1,600 nodes they look nearly as deep as alpha-beta
# alone with 6,400. A hundred games are too few to show a difference in points between such agents,
# as the intervals show.
#
# ## Nothing left to lose
#
# In a lost position every move has the value -1, and the agent chooses the first one. So an agent
# may play a move that loses quickly as soon as it sees the loss, even if its opponent has not seen
# it yet.

# %%
lost = ConnectFour.from_moves([0, 0, 1, 4, 3, 6, 4, 0, 1])
for kind in (Deepening, DeepeningTable):
    agent = kind(3_000, order=centre_first)
    print(kind.__name__, agent.search(lost))
    print([(line.limit, line.move, line.value) for line in agent.log])
lost

# %% [markdown]
# **Question.** For each of o's moves, how many more moves by both players, not counting o's own,
# does x need to win? (Use one of your agents to measure it.) Why does the agent with a table do
# better, although nothing in its code asks for it? Suggest a rule by which `Deepening` holds out
# equally long, in one or two lines of code.

# %% [markdown] answer="lost-anyway"
# *Write your answer here.*

# %% [markdown]
# ## Play against it
#
# It has 3,000 nodes for each move, and the plan from the beginning is no longer enough. With enough
# nodes it would be unbeatable as x: Connect Four is solved, and x wins by beginning in the middle
# (Allis 1988). *Show values* uses the same search, with 1,000 nodes for each of your moves, to
# estimate their value to you: 1 is a win (▲) or a loss (▼) that it sees, anything less is an
# estimate.

# %%
play_against(DeepeningBoth(3_000, order=centre_first), start=ConnectFour(),
             values=DeepeningBoth(1_000, order=centre_first))

# %% [markdown]
# **Sources**, in full in `course/bibliography.md`: Knuth and Moore 1975 for negamax and its
# windows; Akl and Newborn 1977 for killer moves and the principal variation; Greenblatt, Eastlake
# and Crocker 1967 for the transposition table; Slate and Atkin 1977 for a chess program that
# combines them with iterative deepening, and Korf 1985 for why that costs so little;
# Edelkamp and Kissmann 2008 for the number of positions; Allis 1988 for the solution of Connect
# Four.

# %% [markdown]
# ## Submit
#
# Save the module and all notebooks, then run this cell. It packs them into one file, `study4_deepening.zip`, together with the pictures next to them, and lists what is still missing. Submit that file as your instructor asks.

# %% tags=["skip-execution"]
from course.submission import make_submission

make_submission("study4")
