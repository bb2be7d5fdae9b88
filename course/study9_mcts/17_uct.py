# %% [markdown]
# # 17. Games at random, and a tree of them
#
# Every search so far either looked ahead to the end of the game or needed a heuristic to judge
# positions before it. This notebook does without both. It plays games at random and counts who wins.
# That sounds too simple to work, and at first it does not quite work. Then a tree is put on top,
# and the result is **Monte Carlo tree search**, the idea behind the Go programs that beat the best
# human players.
#
# You will write the first part of `mcts.py`: `reward` down to `UCT`. Notebook 18 takes the same
# tree to Sequence.

# %%
# %load_ext course.notebook
from functools import cache
from statistics import mean

from course.check import check
from course.plots import COLOURS, boards, figure, picture
from course.probes.made_up import NumberTree
from tictactoe import Board, WinOrBlock
from tictactoe.show.growth import growing_tree
from tictactoe.show.knob import knob
from tictactoe.show.play_board import play_against
from tictactoe.show.watch_board import watch
from tictactoe.solver import value, values

from mcts import UCT, FlatMonteCarlo, MonteCarlo, Node, best_mean, most_visited, reward, ucb

# %% [markdown]
# ## A trap to begin with
#
# You are o, and it is your turn. Two of the six open cells lose. Play, and try a corner and an edge.
# *Show values* tells what each cell is worth if nobody makes a mistake: ■ is a draw, ▼ a loss.

# %%
trap = Board("x___o___x")
play_against(WinOrBlock(seed=1), side="o", start=trap, values=value)

# %% [markdown]
# <details><summary>What are the six cells worth?</summary>
#
# The four edges (1, 3, 5, 7) keep the draw. The two corners (2, 6) lose: x has to block in the
# opposite corner, and that block makes two threats at once. If you worked on study 3, you have met
# this position: there the heuristic fell for it.
#
# </details>
#
# Random players know nothing of threats. Guess before you read on: if both sides play at random after
# o's move, do corners look better than edges?
#
# ## One game at random
#
# A simulated game (a *playout*, or *rollout*) needs two things. `reward` turns an end into a number
# from 0 to 1: a win 1, a draw 0.5, a loss 0. `MonteCarlo.simulate` plays to the end. All random
# choices come from the agent's own generator, `self.rng`, and in a fixed order: one
# `self.rng.choice(state.legal_moves())` for each move. So the same seed plays the same games in
# everybody's code, and your counts can be compared with right ones.
#
# Write `reward` and `simulate` now.

# %%
agent = MonteCarlo(seed=3)
ends = [agent.simulate(trap) for _ in range(4)]
boards(ends, [f"for o: {reward(end, 'o')}" for end in ends])

# %%
check("study9.reward")

# %%
check("study9.simulate")

# %% [markdown]
# ## Whose reward?
#
# The results of games are added up in **nodes**. A `Node` stands for a move. It has a number of
# `visits` and a `total` of rewards, and one decision has to be made once and for all: *rewards for
# whom?*
#
# Here a node's total is from the view of its `mover`, the player who makes the move. This player is
# the one who compares the node with its siblings, and so both players can do the same thing: take
# what is best by the numbers that they see. No MIN node is needed, and no minus sign.
#
# A path from the root: o plays 2, x plays 6, o plays 3, and x wins the simulated game. Each of the
# three nodes gets one more visit. What is added to each total?
#
# <details><summary>Answer</summary>
#
# 0, 1 and 0. The nodes of o's moves get o's reward, the node of x's move gets x's. The root has no
# mover: only its visits are counted.
#
# </details>
#
# ## Write `backup`

# %%
x_wins = trap.after(2).after(6).after(3).after(7)  # x has the last row
root = Node()
node = root
for move, mover in ((2, "o"), (6, "x"), (3, "o")):
    node.children[move] = Node(move, mover, node)
    node = node.children[move]
MonteCarlo().backup(node, x_wins)
while node.parent:
    print(f"move {node.move} of {node.mover}: {node.visits} visit, total {node.total}")
    node = node.parent

# %%
check("study9.backup")

# %% [markdown]
# ## Flat Monte Carlo
#
# The simplest agent: after each legal move play the same number of random games, then take the move
# with the best mean. Write `best_mean`, `most_visited` and the class `FlatMonteCarlo`. (`most_visited`
# is a line of the same kind, and you need it later; `rows()` of a node gives what both of them need.)

# %%
for row in FlatMonteCarlo(playouts=100, seed=1).search(trap).rows():
    print(row)

# %%
check("study9.choices")

# %%
check("study9.flat")

# %% [markdown]
# More games make better estimates. **Predict:** with how many games after each move will the agent
# see that the corners lose? Say a number, then turn the knob.

# %%
def bars(rows, title):
    """The mean of each move as a bar, and as a line what the move is really worth."""
    axes = figure(6.4, 3.2)
    places = range(len(rows))
    exact = [(1 + value(trap.after(row.move), "o")) / 2 for row in rows]
    axes.bar(places, [row.mean for row in rows], color=COLOURS[0], alpha=0.8, label="mean reward")
    for place, worth in zip(places, exact, strict=True):
        axes.plot([place - 0.45, place + 0.45], [worth, worth], color="black", linewidth=3,
                  marker="", label="" if place else "exact value")
    axes.set_xticks(places, [f"{row.move}\n({row.visits})" for row in rows])
    axes.set(ylim=(0, 1), xlabel="cell (visits)", ylabel="for o", title=title)
    axes.figure.legend(loc="outside right upper")
    return picture(axes, title + ": " + ", ".join(
        f"cell {row.move} {row.mean:.2f}, exact {worth}"
        for row, worth in zip(rows, exact, strict=True)))


knob("games after each move", (1, 10, 100, 1000), lambda playouts: bars(
    FlatMonteCarlo(playouts, seed=1).search(trap).rows(), "Flat Monte Carlo"), at=1)

# %% [markdown]
# <details><summary>Answer</summary>
#
# Never. The more games, the more surely the corners come out *on top*. The means do converge, but
# to the wrong thing: what a move is worth *if everybody goes on at random*. After o's corner one
# reply of five wins for x. A random x finds it in one game of five.
#
# </details>
#
# Watch what comes of it. A player that blocks is x, your agent is o. Press *Play*, or *Next* for one
# move at a time.

# %%
watch({"x": WinOrBlock(seed=1), "o": FlatMonteCarlo(playouts=100, seed=1)}, start=trap)

# %% [markdown]
# So it is not enough to be exact about random games. The replies must get better as the search goes
# on. That needs memory below the first move: a tree. And it needs a rule for where to spend the next
# game.
#
# ## Try the best, or learn about the rest?
#
# Three slot machines. You have pulled the first ten times (mean 0.6), the second ten times (0.5)
# and the third twice (0.5). Where does the next coin go? The first looks best, the third is the
# least known. UCB1 (Auer, Cesa-Bianchi and Fischer 2002) adds to each mean a bonus for what is not
# known yet:
#
#     mean + c * sqrt(ln(visits of all) / visits of this one)
#
# and takes the largest sum. The bonus grows, slowly, while a machine is left alone, and shrinks when
# it is played. By hand, with c = 1 and ln 22 = 3.09: which of the three?
#
# <details><summary>Answer</summary>
#
# 0.6 + 0.56 = 1.16, 0.5 + 0.56 = 1.06, and 0.5 + 1.24 = 1.74. The third.
#
# </details>
#
# ## Write `ucb`

# %%
[round(ucb(average, visits, 22, 1.0), 2) for average, visits in ((0.6, 10), (0.5, 10), (0.5, 2))]

# %%
check("study9.ucb")

# %% [markdown]
# ## The tree: four steps
#
# UCT (Kocsis and Szepesvári 2006) is UCB1 at every node. An iteration takes four steps:
#
# 1. **Select**: from the root, as long as every move has a child, go to the child with the highest
#    bound.
# 2. **Expand**: add one child, for a move that is untried.
# 3. **Simulate**: play one random game from there.
# 4. **Back up**: tell all nodes on the way how it ended.
#
# Write `select`, `expand`, `search` and `choose` of `UCT`. The tree of the first few iterations:

# %%
def sketch_of(node, indent=0):
    """The tree as lines of text, a node a line."""
    for move, child in sorted(node.children.items()):
        print(f"{'    ' * indent}{child.mover} plays {move}: visits {child.visits}, "
              f"total {child.total}")
        sketch_of(child, indent + 1)


sketch_of(UCT(iterations=9, seed=1).search(trap))

# %% [markdown]
# Six iterations try the six moves once each. Then the tree grows below the ones that did well. After
# every iteration there is exactly one node more, unless the search has come to the end of a game.

# %%
check("study9.select")

# %%
check("study9.expand")

# %%
check("study9.uct")

# %% [markdown]
# Watch it grow, down to the second level. The number in a node is its visits. Below it are the mean
# for its `mover`, the player whose move led to it, and after a "+" the number of nodes further down.
# The thick path is that of the iteration, a dashed node is new, and the move with the most visits is
# grey. **Before you move the slider, say** which kind of move will have the most visits after 100
# iterations, and which after 300: a corner or an edge?

# %%
growing_tree(UCT(iterations=300, seed=1), trap)

# %% [markdown]
# ## It changes its mind
#
# Back to the trap. We note after each iteration how the visits are shared out, for ten seeds.

# %%
class Watched(UCT):
    """Notes after each iteration the visits and the mean of every move at the root."""

    def search(self, position):
        self.notes = []
        return super().search(position)

    def backup(self, node, end):
        super().backup(node, end)
        while node.parent:
            node = node.parent
        self.notes.append({row.move: row for row in node.rows()})


@cache
def watched(seed, iterations=600):
    """The notes of one search of the trap."""
    agent = Watched(iterations, seed=seed)
    agent.search(trap)
    return agent.notes


SEEDS = range(10)
CORNERS, EDGES = (2, 6), (1, 3, 5, 7)


def share(notes, cells):
    """Which share of the visits the moves to these cells have."""
    return sum(notes[cell].visits for cell in cells if cell in notes) / sum(
        row.visits for row in notes.values())


def band(axes, label, curve, colour, marker):
    """The mean of a curve over all seeds, and the band between the least and the greatest."""
    steps = range(20, 600, 20)
    found = [[curve(watched(seed)[step]) for seed in SEEDS] for step in steps]
    axes.fill_between(steps, list(map(min, found)), list(map(max, found)), color=colour, alpha=0.2)
    means = list(map(mean, found))
    axes.plot(steps, means, color=colour, marker=marker, markevery=5, label=label)
    return f"{label}: {means[0]:.2f}, in the middle {means[14]:.2f}, at the end {means[-1]:.2f}. "


axes = figure(7.2, 3.4)
told = [band(axes, "an edge (draws)", lambda notes: share(notes, EDGES) / 4, COLOURS[0], "o"),
        band(axes, "a corner (loses)", lambda notes: share(notes, CORNERS) / 2, COLOURS[1], "s")]
axes.set(xlabel="iterations", ylabel="share of the visits", ylim=(0, None),
         title="Where the games go: ten seeds, mean and range")
axes.figure.legend(loc="outside right upper")
picture(axes, "Shares of the visits by iterations, the means over the seeds. " + "".join(told))

# %% [markdown]
# For a hundred iterations or so it believes in corners, as flat Monte Carlo does. But below the
# corner the tree notices that one reply of x does well, plays it more and more often, and the mean of
# the corner sinks. **Predict** the next picture: to which numbers do the two means go?

# %%
axes = figure(7.2, 3.4)
told = [band(axes, "cell 1 (exact: 0.5)", lambda notes: notes[1].mean, COLOURS[0], "o"),
        band(axes, "cell 2 (exact: 0)", lambda notes: notes[2].mean, COLOURS[1], "s")]
for exact in (0, 0.5):
    axes.axhline(exact, color="black", linewidth=1, linestyle="--", marker="")
axes.set(xlabel="iterations", ylabel="mean reward for o", ylim=(-0.02, 1),
         title="What the moves look worth: ten seeds, mean and range")
axes.figure.legend(loc="outside right upper")
picture(axes, "Mean rewards by iterations, the means over the seeds. " + "".join(told))

# %% [markdown]
# <details><summary>Answer</summary>
#
# To the exact values, 0.5 and 0; Kocsis and Szepesvári prove it. But slowly: a mean never forgets the
# games in which the right reply was not known yet. That does not matter much. To play well the search
# needs to know which move is *best*, not what the others are worth.
#
# </details>
#
# ## Turn c
#
# c says how much not knowing counts. **Predict** what happens with c = 0, and with a very large c.

# %%
def by_c(c):
    """How a search with this c shares its visits, and how often it is wrong."""
    found = [UCT(150, c, seed).search(trap) for seed in range(30)]
    wrong = mean(most_visited(root.rows()) in CORNERS for root in found)
    shares = {cell: mean(root.children[cell].visits if cell in root.children else 0
                         for root in found) / 150 for cell in trap.legal_moves()}
    axes = figure(6.4, 3)
    bars = axes.bar([f"cell {cell}" for cell in shares], list(shares.values()),
                    color=[COLOURS[1] if cell in CORNERS else COLOURS[0] for cell in shares])
    axes.bar_label(bars, fmt="{:.0%}")
    title = f"c = {c}: wrong in {wrong:.0%} of 30 searches with 150 iterations"
    axes.set(ylabel="share of the visits", ylim=(0, 0.6), title=title)
    return picture(axes, f"{title}. " + ", ".join(
        f"cell {cell} {part:.0%}" for cell, part in shares.items()))


knob("c", (0.0, 0.1, 0.5, 1.0, 2.0, 10.0), by_c, at=3)

# %% [markdown]
# <details><summary>What you should have seen</summary>
#
# With c = 0 a move that loses its first game is hardly ever tried again: the search stays with the
# first thing that works, and with bad luck that is a corner. With c = 10 all moves are tried almost
# equally often, at every level: it is flat Monte Carlo again. The best c lies in between. Of these
# six it is 0.5 here, and c = 2 is already no better than c = 10. Which c is best depends on the game
# and the budget, so it has to be tried out.
#
# </details>
#
# ## How good is it?
#
# Sixty unfinished positions, evenly spaced in a list of all. How often does each agent make a mistake,
# that is, a move that gives away part of the exact value? Both get the same number of games.
# **Predict** who makes fewer, and whether flat Monte Carlo still makes any with 300 games.

# %%
positions = sorted((board for board in values() if not board.is_terminal()),
                   key=lambda board: board.text)
some = [positions[number] for number in range(0, len(positions), len(positions) // 60)][:60]


def mistakes(choose):
    """In how many of the positions the choice is a mistake."""
    return sum(value(board.after(choose(board)), board.to_move) < value(board, board.to_move)
               for board in some)


for games in (10, 30, 100, 300):
    flat = mistakes(lambda board, games=games: FlatMonteCarlo(
        max(1, games // len(board.legal_moves())), seed=1).choose(board))
    tree = mistakes(lambda board, games=games: UCT(games, seed=1).choose(board))
    print(f"{games:4} games: flat {flat:2} mistakes, UCT {tree:2} mistakes in {len(some)}")

# %% [markdown]
# Except with ten games, when both know next to nothing, the tree makes fewer mistakes. But with 300
# games flat Monte Carlo makes none either, although we know a position in which it never learns. That
# position is not among the sixty: in a game as small as this such traps are rare. An average over
# positions does not show them, so let us build some.
#
# ## Where it is fooled
#
# Here is a game that is only a trap. Move 0 is a safe draw. After move 1 the opponent has `width`
# replies: all of them lose, except one that wins. (`NumberTree` is a game given by its tree alone; a
# number is the utility for x, who begins.) A deeper trap takes `depth` right replies, with one move of
# x in between.

# %%
def refuted(width):
    """A draw, or a move with one refutation among `width` replies."""
    return NumberTree((0, (*(width - 1) * (1,), -1)))


def deep(depth, width=6):
    """A trap whose refutation takes `depth` right replies, with one move in between."""
    return -1 if depth == 0 else (*(width - 1) * (1,), (deep(depth - 1, width),))


def fooled(game, iterations, searches=10):
    """The share of searches that walk into move 1."""
    return mean(UCT(iterations, seed=seed).choose(game) == 1 for seed in range(searches))


for width in (4, 12, 40):
    print(f"{width:2} replies:", {n: fooled(refuted(width), n) for n in (10, 30, 100, 300, 1000)})
for depth in (1, 2, 3):
    game = NumberTree((0, deep(depth)))
    print(f"{depth} deep:", {n: fooled(game, n, 6) for n in (30, 100, 300, 1000)})

# %% [markdown]
# Minimax looks one reply ahead and is not fooled even by the widest trap, at the price of 43 nodes.
# UCT has to *happen* on the reply, and then to believe it. Ramanujan, Sabharwal and Selman (2010)
# found many such traps in chess, even in games of grandmasters, and offer this as a reason why UCT
# does better in Go, where they are rare.
#
# **Question.** Measure your own UCT on such traps: how many iterations does it take, for at least
# three widths *or* three depths, of which at most one was used above, until at most one search in
# ten is fooled? Give a table. Explain with UCB1 why the number grows as it does. Then name one
# change to the search (not a larger budget) that would help, and say what it costs.

# %% [markdown] answer="how-fooled"
# *Write your answer here.*

# %% [markdown]
# ## Most visits, or best mean?
#
# UCT plays the most visited move. `best_mean` would play the one that looks best. Usually these are
# the same move. Where they differ, one of the two is an old favourite and the other a newcomer.

# %%
def differing(game, iterations, c, searches=100):
    """How often the two rules choose differently."""
    tables = [UCT(iterations, c, seed).search(game).rows() for seed in range(searches)]
    return sum(best_mean(rows) != most_visited(rows) for rows in tables)


for c in (0.2, 1.0, 3.0):
    print(f"c = {c}: the rules differ in {differing(trap, 100, c)} of 100 searches")

# %% [markdown]
# **Question.** Find another position, a number of iterations and a c for which the two rules choose
# differently in at least ten of a hundred searches. How often is each right there, by the exact
# values? (Give your numbers.) Why does a search that ends at an arbitrary moment do better to trust
# visits, in general, and what do your numbers say about it?

# %% [markdown] answer="visits-or-mean"
# *Write your answer here.*

# %% [markdown]
# ## Play against it
#
# 500 simulated games for each move, and not one line of the search knows anything about tic-tac-toe.
# *Show values* writes the exact values on your moves. If one of them is a win (▲), the tree has just
# made a mistake. Does that ever happen?

# %%
play_against(UCT(500, seed=1), side="o", values=value)

# %% [markdown]
# **Sources**, in full in `course/bibliography.md`: Auer, Cesa-Bianchi and Fischer 2002 for UCB1; Kocsis and
# Szepesvári 2006 for UCT and the proof that it converges; Coulom 2006 for a tree that grows by one
# node a game, and for the name; Ramanujan, Sabharwal and Selman 2010 for the traps; Browne et al.
# 2012, a survey, for where to read on.
