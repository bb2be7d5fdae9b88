# %% [markdown]
# # 6. Deeper within a budget
#
# In tic-tac-toe depth hardly matters: nine cells are searched to the end. In Connect Four it
# decides games. There are some 4.5 million million positions, and an agent that has to move soon
# gets a budget: so many nodes, and then it plays. This notebook is about how to spend them. In the
# end your agent sees a move or two further than a plain search with the same budget. It is no
# quicker: it only wastes less.
#
# You will write the module `deepening.py`. It takes no code from other studies; if you have done the
# studies on alpha-beta and on Type A, you will meet old friends.

# %%
# %load_ext course.notebook
from collections import Counter
from functools import cache
from time import perf_counter

from course.check import check
from course.plots import COLOURS, MARKERS, figure, picture
from course.probes.made_up import NumberTree
from course.recorded import depth_strength
from tictactoe import ConnectFour
from tictactoe.games.connect_four import centre_first, potential
from tictactoe.show.knob import knob
from tictactoe.show.play_board import play_against
from tictactoe.show.time_left import TimeLeft

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
# Your opponent looks one move ahead: it takes the move after which the board looks best. *Show
# values* writes on your moves how good the board looks after them, by the estimate it goes by.

# %%
class OneMove:
    """Takes the move after which its position looks best, the centre first among equals."""

    def choose(self, state):
        return max(centre_first(state), key=lambda move: self.worth(state.after(move),
                                                                    state.to_move))

    def worth(self, state, player):
        return state.utility(player) if state.is_terminal() else potential(state, player)


play_against(OneMove(), start=ConnectFour(), values=potential)

# %% [markdown]
# Did you win? It can be beaten with one simple plan: threaten two things at once. Here is a position
# from another game. x is to move, and there is one column that wins. **Find it** before you open the
# answer.

# %%
riddle = ConnectFour.from_moves([1, 3, 3, 2, 3, 3, 2, 6, 2, 1, 1, 2])
riddle

# %% [markdown]
# <details><summary>Answer</summary>
#
# Column 4. The new mark is the end of a diagonal that lacks only column 1, so o has to play there. Then
# x plays column 4 again, and has two threats, one above the other: whoever fills the lower cell, x
# wins. That is five moves deep, x's and o's together. `OneMove` plays column 1.
#
# </details>
#
# ## What a state looks like
#
# A `ConnectFour` is a state like any other: `legal_moves()`, `after(move)`, `is_terminal()`,
# `utility(player)`. Moves are columns. Lanes are there as well, all 69 of them, so whoever wrote
# `heuristic.py` in study 3 can try it here: it takes the lanes from the state, and works unchanged.
# Its quiescence says little, though. Of the positions after 12 random moves about one in a hundred
# is quiet, so a search that goes on until all is quiet goes on to the end. Here we cut off at the
# limit, quiet or not, and use another estimate, `potential`: a lane in which only one player has
# marks counts 1, 4 or 9 thousandths for one, two or three of them, and the opponent's lanes are
# subtracted.
#
# **Predict.** How deep does a search get with a budget of 1,000 nodes, if it prunes nothing? There
# are seven columns.
#
# <details><summary>Answer</summary>
#
# Three moves deep. 1 + 7 + 49 + 343 nodes are 400, and the next level alone has 2,401. Each move
# deeper costs seven times as much, so seven times the budget buys one move, and so would a machine
# that is seven times as fast. To look deeper for less, a search must visit fewer nodes.
#
# </details>
#
# ## One kind of node
#
# In the earlier studies there were MAX nodes and MIN nodes. They did the same thing with the signs
# turned round, so one of them is enough. Let every value be **from the view of the player to move**.
# What is worth 0.3 to my opponent is worth -0.3 to me:
#
#     value of a node = the largest of (minus the value of the child)
#
# This is called negamax (Knuth and Moore 1975). The window turns round with the view: where I have
# (alpha, beta), my opponent has (-beta, -alpha).
#
# By hand: x has two moves. After the first o can choose between 5 and 9 for x, after the second
# between 3 and 8. What does each of the three nodes above the numbers return? And which number is
# never looked at?
#
# <details><summary>Answer</summary>
#
# The first child returns -5: o chooses 5, which is worth -5 to o. So the root is sure of 5, and the
# second child is searched in the window (-infinity, -5). There o finds 3, worth -3 to o, which is at
# least -5: it returns -3 at once, and 8 is never looked at. The root returns 5.
#
# </details>
#
# Write `DepthLimited.visit`. A child is searched by `self.value`, which counts the node and calls
# `visit` again. `self.cut` and `self.moves` are there for later; call them as the docstring says.
#
# Try it on the tree and on the riddle. What does the search see there that the estimate does not?

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
# **Predict.** The same search of the empty board to limit 6, once with the columns from left to
# right, once with the middle first. Value and move are the same. How many times as many nodes does
# the worse order visit: 1.2, 3 or 9 times?

# %%
empty = ConnectFour()
for order in (board_order, centre_first):
    print(f"{order.__name__:13}", order(empty), DepthLimited(6, order=order).search(empty))

# %% [markdown]
# <details><summary>Answer</summary>
#
# Nine times: 12,648 against 1,407 nodes. With a good move first, most of the others are cut off after
# one reply.
#
# </details>
#
# `centre_first` knows something about Connect Four. The next two parts need no such knowledge: they
# *learn* a good order while they search. Both move some moves to the front of the list and leave
# the others as they are. Write `promoted`.

# %%
promoted([0, 1, 2, 3, 4, 5, 6], [3, 5]), promoted([0, 2, 4], [5, 4])

# %%
check("study4.promoted")

# %% [markdown]
# ## Killer moves
#
# o threatens to win in column 5. x can play six other columns, and after each of them o wins in
# column 5. A search that has seen this once should try column 5 first the next time. Such a move is
# called a *killer*: it has caused a cut at the same depth, in a sister position, and is likely to do
# so again (Akl and Newborn 1977).
#
# `WithKillers` keeps the last two of them for each depth. Write `cut` and `moves`.
#
# **Predict.** Killers are tried before everything else. Do they save nodes
#
# * on the empty board, columns from left to right,
# * on the empty board, the centre first,
# * in the riddle, with either order?
#
# The cell below the check counts them.

# %%
agent = WithKillers(limit=5)
print(agent.search(riddle))
print(agent.killers)

# %%
check("study4.killers")

# %%
@cache
def nodes(kind, order, limit, state):
    """How many nodes a search visits."""
    return kind(limit, order=order).search(state).nodes


for title, state in (("empty board", ConnectFour()), ("the riddle", riddle)):
    for order in (board_order, centre_first):
        plain, killers = (nodes(kind, order, 6, state) for kind in (DepthLimited, WithKillers))
        print(f"{title}, {order.__name__:12}: {plain:6,} nodes without, {killers:6,} with killers")

# %% [markdown]
# <details><summary>What you should have seen</summary>
#
# From left to right killers are a great help. With the centre first they make the search of the
# empty board a little *more expensive*. A question below asks you why.
#
# </details>
#
# ## The same position twice
#
# Columns 0, 1, 2 or 2, 1, 0: the marks of x and o end up in the same cells. Alpha-beta does not
# notice, and searches both.
#
# **Predict.** There are 7 * 7 * 7 * 7 * 7 = 16,807 ways to play five moves. How many different
# positions do they lead to?
#
# <details><summary>Answer</summary>
#
# 4,263, a quarter; and the deeper, the smaller the share. (The cell that counts layers in notebook
# 1 counts these, too, if you put `ConnectFour` in the place of `Board`, put `for _ in range(5):` in
# the place of the `while` line, and leave out `layers.pop()`. Without the limit it would never
# end.)
#
# | moves | ways | positions |
# |---|---|---|
# | 1 | 7 | 7 |
# | 2 | 49 | 49 |
# | 3 | 343 | 238 |
# | 4 | 2,401 | 1,120 |
# | 5 | 16,807 | 4,263 |
#
# </details>
#
# So a search should remember what it has found, in a **transposition table** (Greenblatt, Eastlake
# and Crocker 1967). There is a catch. Alpha-beta often stops before it knows a value. What may it
# write down?
#
# **Predict.** A state was searched in the window (0.1, 0.3). What is its true value, if the search
# has returned 0.2, if it has returned 0.4, and if it has returned -0.5?
#
# <details><summary>Answer</summary>
#
# 0.2 is the value: it lies inside the window, so nothing that matters was cut off. 0.4 was enough to
# stop: the value is 0.4 **or more**. And with -0.5 every move was refuted by a reply that was good
# enough, though there may be better ones: the value is -0.5 **or less**.
#
# </details>
#
# Write `bound_of` and `answers`. An entry can be looked up in another window than the one in which it
# was found, and at another depth. When may a search do without searching?

# %%
[bound_of(value, 0.1, 0.3) for value in (0.2, 0.4, -0.5)]

# %%
check("study4.bound")

# %%
check("study4.answers")

# %% [markdown]
# Now write `WithTable`. Besides answers it gives a move: the one that was best the last time, even if
# the entry is too shallow to answer, is a good one to begin with.
#
# `WithBoth` is given, and has no code of its own: the table's move first, then the killers, then the
# order of the game. It works if each of your methods calls `super()`.

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
# Which limit can an agent afford? That depends on the position, and nobody knows beforehand. So it
# searches to limit 1, then to limit 2, then 3. When the budget is used up, it plays what the last
# finished limit has found.
#
# **Predict.** A search to limit 7 visits, say, 60,000 nodes without a table. What does it cost to
# search to limits 1 to 6 *first*: about a third more, as much again, or six times as much?
# And with a table, which keeps what it has learned from limit to limit?
#
# In a tournament the budget is a time. Ours is a number of nodes, so that a search finds the same move
# on a slow machine, or on a busy one. The last line of the next cell is the exchange rate: it says how
# many nodes a second would buy you.
#
# Write `Deepening`: `search` and `visit`.

# %%
agent = DeepeningTable(budget=5_000)
start = perf_counter()
found = agent.search(riddle)
rate = found.nodes / (perf_counter() - start)
print(found)
for line in agent.log:
    print(line)
print(f"on this machine, now: {rate:,.0f} nodes a second")

# %%
check("study4.deepening")

# %%
check("study4.together")

# %% [markdown]
# And now the answer. The next cell searches the empty board to limit 7, the columns from left to
# right, once directly and once by way of all limits before. Below that it shows all four agents:
# how many nodes has it taken them to finish each limit? Turn the knob between the two orders.

# %%
one_more = TimeLeft(4, "searches")
for once, deepening in ((DepthLimited, Deepening), (WithTable, DeepeningTable)):
    directly = nodes(once, board_order, 7, ConnectFour())
    one_more()
    step_by_step = deepening(10**6, 7).search(ConnectFour()).nodes
    one_more()
    print(f"{once.__name__:12}: limit 7 alone {directly:6,} nodes, limits 1 to 7 {step_by_step:6,}")

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
    """How many nodes each agent has visited when it finishes a limit."""
    axes = figure(7.2, 3.6)
    told = []
    for (name, kind), colour, marker in zip(AGENTS.items(), COLOURS, MARKERS, strict=False):
        log = finished(kind, ORDERS[order], state)
        axes.plot([line.limit for line in log], [line.nodes for line in log], color=colour,
                  marker=marker, label=name)
        told.append(f"{name} {log[-1].nodes:,}")
    axes.set(xlabel="limit", ylabel="nodes so far", yscale="log", title=f"The empty board, {order}")
    axes.figure.legend(loc="outside right upper")
    return picture(axes, f"Nodes until limit 7, {order}: " + ", ".join(told))


knob("order", list(ORDERS), by_limit)

# %% [markdown]
# <details><summary>What happened there?</summary>
#
# Without a table the six searches before add less than a third: each is several times smaller than
# the next. With a table all seven together cost *half* of the last one alone. The short searches
# fill the table with good first moves, and the order decides.
#
# Their values are of no use, by the way. In Connect Four each move adds a mark, so a state stands
# at the same depth however it is reached, and what limit 6 found there is one move too shallow for
# limit 7. Only the moves help.
#
# From left to right, table and killers together leave about an eighth of the nodes. With the centre
# first, less is left to be learned.
#
# </details>
#
# **Question.** When do killers help, and when do they harm? Choose two positions of your own, one
# without any threats and one with several, and both orders. Give a table of the nodes that your
# agents need to finish a limit of your choice (at least 5), with and without killers. Explain the
# best and the worst of your numbers from what the search tries first. Then: an agent that has a table
# already gains less from killers. Why?

# %% [markdown] answer="when-killers-harm"
# *Write your answer here.*

# %% [markdown]
# ## What is depth worth?
#
# Nodes are not points. The next table was played beforehand (a hundred games for each agent and
# each budget, from random openings, every opening from both sides). The rival has 400 nodes a move,
# the centre first, and neither table nor killers. **Predict**: what share of the points has the
# same agent with four times the nodes? And with a quarter of them?

# %%
table = depth_strength()
NAMES = {"board": "left to right", "centre": "centre first"}
axes = figure(7.2, 3.8)
told = []
for number, (parts, order) in enumerate(dict.fromkeys(entry[:2] for entry in table)):
    some = [entry for entry in table if entry[:2] == (parts, order)]
    beside = 0.9 * 1.07**number  # so that the intervals do not hide each other
    axes.errorbar([beside * entry.budget for entry in some], [entry.score for entry in some],
                  yerr=[[entry.score - entry.low for entry in some],
                        [entry.high - entry.score for entry in some]], color=COLOURS[number],
                  marker=MARKERS[number], capsize=3, label=f"{parts}, {NAMES[order]}")
    told.append(f"{parts}, {NAMES[order]}: " + ", ".join(
        f"{entry.score:.2f} with {entry.budget:,} nodes" for entry in some))
    for entry in some:
        print(f"{parts:17} {NAMES[order]:13} {entry.budget:5,} nodes: depth {entry.depth}, "
              f"score {entry.score:.2f} ({entry.low:.2f} to {entry.high:.2f})")
axes.axhline(0.5, color="black", linewidth=1, linestyle="--", marker="")
axes.set(xscale="log", xlabel="nodes a move", ylabel="share of the points", ylim=(0.2, 0.9))
axes.set_xticks([100, 400, 1600, 6400], ["100", "400", "1,600", "6,400"])
axes.figure.legend(loc="outside upper center", ncols=2)
picture(axes, "Strength by budget. " + ". ".join(told))

# %% [markdown]
# <details><summary>What the table says</summary>
#
# Four times the nodes look about one move deeper, and win about two thirds of the points. A quarter
# of the nodes costs less than one might think: 0.43, and the interval holds 0.5. Table and killers
# are worth a move or more of depth once there are enough nodes to learn from: with 1,600 nodes they
# look nearly as deep as alpha-beta alone with 6,400. In points a hundred games cannot tell such
# agents apart; look at the intervals.
#
# </details>
#
# ## Nothing left to lose
#
# In a lost position every move has the value -1, and the first of equal moves counts. So an agent may
# give in as soon as it sees the loss, though its opponent has not seen anything yet.

# %%
lost = ConnectFour.from_moves([0, 0, 1, 4, 3, 6, 4, 0, 1])
for kind in (Deepening, DeepeningTable):
    agent = kind(3_000, order=centre_first)
    print(kind.__name__, agent.search(lost))
    print([(line.limit, line.move, line.value) for line in agent.log])
lost

# %% [markdown]
# **Question.** How long does o hold out after each of its moves? Measure it, here and in a lost
# position of your own. (An agent of yours can tell.) Why does the agent with a table do better,
# although nobody has told it to? Suggest a rule by which `Deepening` holds out as long, in a line or
# two of code.

# %% [markdown] answer="lost-anyway"
# *Write your answer here.*

# %% [markdown]
# ## Play against it
#
# It has 3,000 nodes for each move, and the plan from the beginning is not enough any more. With
# enough nodes nobody could beat it when it plays x: Connect Four is solved, and x wins by beginning
# in the middle (Allis 1988). *Show values* asks the same search, with 1,000 nodes for each of your
# moves, what they are worth to you: 1 is a win (▲) or a loss (▼) that it sees, anything less an
# estimate.

# %%
play_against(DeepeningBoth(3_000, order=centre_first), start=ConnectFour(),
             values=DeepeningBoth(1_000, order=centre_first))

# %% [markdown]
# **Sources**, in full in `course/bibliography.md`: Knuth and Moore 1975 for negamax and its windows;
# Akl and Newborn 1977 for killer moves; Greenblatt, Eastlake and Crocker 1967 for the table of
# transpositions; Slate and Atkin 1977 for a chess program that puts all of them together with
# iterative deepening, and Korf 1985 for why that costs so little; Edelkamp and Kissmann 2008 for the
# number of positions; Allis 1988 for the solution of Connect Four.

# %% [markdown]
# ## Hand in
#
# Save the module and all notebooks, then run this cell. It packs them into one file, `study4_deepening.zip`, with the pictures that lie next to them, and lists what is still missing. Hand that file in as your course says.

# %% tags=["skip-execution"]
from course.hand_in import hand_in

hand_in("study4")
