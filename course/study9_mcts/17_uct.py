# %% [markdown]
# # 17. Games at random, and a tree of them
#
# Every search so far either looked ahead to the end of the game or needed a heuristic to judge
# unfinished positions. This notebook needs neither. It plays games at random and counts who wins.
# That sounds too simple to work, and on its own it does not quite work. Combined with a tree it
# becomes **Monte Carlo tree search** (Russell and Norvig 2021, section 5.4). In 2016 the Go program
# **AlphaGo**, which combines such a tree with neural networks, was the first to beat one of the
# best human players (Sutton and Barto 2018, section 16.6).
#
# You will write the first part of `mcts.py`: `reward` down to `UCT`. Notebook 18 applies the same
# tree to Sequence.

# %%
# %load_ext course.notebook
from functools import cache
from statistics import mean

from course.check import check
from course.plots import COLOURS, boards, figure, picture
from course.checks.toy_games import NumberTree
from tictactoe import Board, WinOrBlock
from tictactoe.explorables.growth import growing_tree
from tictactoe.explorables.select import option_slider
from tictactoe.boards.play_board import play_against
from tictactoe.boards.watch_board import watch
from tictactoe.solver import value, values

from mcts import UCT, FlatMonteCarlo, MonteCarlo, Node, best_mean, most_visited, reward, ucb

# %% [markdown]
# ## A trap to begin with
#
# You are o, and it is your turn. Two of the six open cells lose. Play, and try a corner and an
# edge. *Show values* shows the value of each cell if both players play perfectly: ■ is a draw, ▼ a
# loss.

# %%
trap = Board("x___o___x")
play_against(WinOrBlock(seed=1), side="o", start=trap, values=value)

# %% [markdown]
# <details><summary>What are the six cells worth?</summary>
#
# The four edges (1, 3, 5, 7) keep the draw. The two corners (2, 6) lose: x has to block in the
# opposite corner, and that block makes two threats. If you worked on study 3, you have met this
# position: there the heuristic fell for it.
#
# </details>
#
# Random players know nothing about threats. Guess before you read on: if both sides play at random
# after o's move, do corners look better than edges?
#
# ## A random game
#
# A simulated game (a *playout*, or **rollout**) needs two methods. `reward` maps the result to a
# number from 0 to 1: 1 for a win, 0.5 for a draw, 0 for a loss. `MonteCarlo.simulate` plays to the
# end. The policy by which both sides choose their moves in it is called the **rollout policy**
# (Sutton and Barto 2018, sections 8.10 and 8.11); ours is random. All random choices come from the
# agent's own generator, `self.rng`, and in a fixed order: one
# `self.rng.choice(state.legal_moves())` for each move. So the same seed plays the same games in
# every implementation, and your counts can be compared with the correct ones.
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
# Each node adds up the results of games. A `Node` represents a move. It has a number of `visits`
# and a `total` of rewards, and one convention has to be fixed: *rewards for whom?*
#
# Here a node's total is from the view of its `mover`, the player who makes the move. This player is
# the one who compares the node with its siblings, so both players can use the same rule: choose the
# child that is best by its numbers. No MIN node and no minus sign are needed.
#
# Here is a path from the root: o plays 2, x plays 6, o plays 3, and x wins the simulated game. Each
# of the three nodes gets one more visit. What is added to each total?
#
# <details><summary>Answer</summary>
#
# 0, 1 and 0. The nodes of o's moves get o's reward, and the node of x's move gets x's. The root has
# no mover, so only its visits are counted.
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
# This is the simplest agent: after each legal move it plays the same number of random games, then
# it takes the move with the best mean. Write `best_mean`, `most_visited` and the class
# `FlatMonteCarlo`. (`most_visited` is just as short, and you will need it later; the method
# `rows()` of a node returns what both of them need.)

# %%
for row in FlatMonteCarlo(playouts=100, seed=1).search(trap).rows():
    print(row)

# %%
check("study9.choices")

# %%
check("study9.flat")

# %% [markdown]
# More games give better estimates. **Predict:** with how many games after each move will the agent
# see that the corners lose? Write down a number, then move the slider.

# %% tags=["hide-input"]
def bars(rows, title):
    """The mean of each move as a bar, and its exact value as a line."""
    axes = figure(6.4, 3.2)
    places = range(len(rows))
    exact = [(1 + value(trap.after(row.move), "o")) / 2 for row in rows]
    axes.bar(places, [row.mean for row in rows], color=COLOURS[0], alpha=0.8, label="mean reward")
    for place, target in zip(places, exact, strict=True):
        axes.plot([place - 0.45, place + 0.45], [target, target], color="black", linewidth=3,
                  marker="", label="" if place else "exact value")
    axes.set_xticks(places, [f"{row.move}\n({row.visits})" for row in rows])
    axes.set(ylim=(0, 1), xlabel="cell (visits)", ylabel="for o", title=title)
    axes.figure.legend(loc="outside right upper")
    return picture(axes, title + ": " + ", ".join(
        f"cell {row.move} {row.mean:.2f}, exact {target}"
        for row, target in zip(rows, exact, strict=True)))


option_slider("games after each move", (1, 10, 100, 1000), lambda playouts: bars(
    FlatMonteCarlo(playouts, seed=1).search(trap).rows(), "Flat Monte Carlo"), initial=1)

# %% [markdown]
# <details><summary>Answer</summary>
#
# Never. The more games, the more certain it is that the corners come out *on top*. The means do
# converge, but to the wrong number: the value of a move *if both players continue at random*. After
# o's corner one reply of five wins for x. A random x finds it in one game of five.
#
# </details>
#
# Watch the consequences. A player that blocks is x, your agent is o. Press *Play*, or *Next* for
# one move at a time.

# %%
watch({"x": WinOrBlock(seed=1), "o": FlatMonteCarlo(playouts=100, seed=1)}, start=trap)

# %% [markdown]
# So exact values of random games are not enough. The replies must improve as the search continues.
# That requires memory below the first move: a tree. And it requires a rule that decides which move
# gets the next game.
#
# ## Exploit the best, or explore the others?
#
# Consider three slot machines. You have pulled the first ten times (mean 0.6), the second ten times
# (0.5) and the third twice (0.5). Which machine should get the next coin? The first looks best, the
# third is the least known. This is a **bandit** problem, after the "one-armed bandit" (Sutton and
# Barto 2018, chapter 2; Russell and Norvig 2021, section 17.3). Every coin that does not go to the
# best machine costs something. The expected loss up to now, compared with always playing the best
# machine, is called the **regret**. **UCB1** (Auer, Cesa-Bianchi and Fischer 2002) keeps it small:
# it grows only with the logarithm of the number of coins. It adds to each mean a bonus for
# uncertainty:
#
#     mean + c * sqrt(ln(visits of all) / visits of this one)
#
# and chooses the largest sum, the *upper confidence bound*. (The proof uses c = sqrt(2), about
# 1.41; in practice c is tuned.) The bonus grows slowly while a machine is not used, and shrinks
# when it is. By hand, with c = 1 and ln 22 = 3.09: which of the three is next?
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
# **UCT** (Kocsis and Szepesvári 2006) is UCB1 at every node. An iteration has four steps:
#
# 1. **Select**: from the root, as long as every move has a child, go to the child with the highest
#    bound. This rule is the **tree policy**.
# 2. **Expand**: add one child, for a move that has not been tried.
# 3. **Simulate**: play one game from there with the rollout policy.
# 4. **Back up**: update all nodes on the path with the result.
#
# Write `select`, `expand`, `search` and `choose` of `UCT`. The next cell prints the tree of the
# first few iterations:

# %%
def sketch_of(node, indent=0):
    """Print the tree as lines of text, one node per line."""
    for move, child in sorted(node.children.items()):
        print(f"{'    ' * indent}{child.mover} plays {move}: visits {child.visits}, "
              f"total {child.total}")
        sketch_of(child, indent + 1)


sketch_of(UCT(iterations=9, seed=1).search(trap))

# %% [markdown]
# The first six iterations try the six moves once each. Then the tree grows below the ones that did
# well. Every iteration adds exactly one node, unless the search has reached the end of a game.

# %%
check("study9.select")

# %%
check("study9.expand")

# %%
check("study9.uct")

# %% [markdown]
# Watch it grow, down to the second level. The number in a node is its visits. Below it are the mean
# for its `mover`, the player whose move led to it, and after a "+" the number of nodes further
# down. The thick path is the one that the iteration took, a dashed node is new, and the move with
# the most visits is grey. **Before you move the slider, predict** which kind of move will have the
# most visits after 100 iterations, and which after 300: a corner or an edge?

# %%
growing_tree(UCT(iterations=300, seed=1), trap)

# %% [markdown]
# ## It changes its mind
#
# Back to the trap. After each iteration we record how the visits are distributed, for ten seeds.

# %% tags=["hide-input"]
class RecordingAgent(UCT):
    """Records after each iteration the visits and the mean of every move at the root."""

    def search(self, position):
        self.history = []
        return super().search(position)

    def backup(self, node, end):
        super().backup(node, end)
        while node.parent:
            node = node.parent
        self.history.append({row.move: row for row in node.rows()})


@cache
def recorded(seed, iterations=600):
    """The history of one search of the trap."""
    agent = RecordingAgent(iterations, seed=seed)
    agent.search(trap)
    return agent.history


SEEDS = range(10)
CORNERS, EDGES = (2, 6), (1, 3, 5, 7)


def share(rows, cells):
    """The share of the visits that went to the moves to these cells."""
    return sum(rows[cell].visits for cell in cells if cell in rows) / sum(
        row.visits for row in rows.values())


def band(axes, label, curve, colour, marker):
    """Plot the mean of a curve over all seeds, and the band from the smallest to the largest."""
    steps = range(20, 600, 20)
    samples = [[curve(recorded(seed)[step]) for seed in SEEDS] for step in steps]
    axes.fill_between(steps, list(map(min, samples)), list(map(max, samples)), color=colour,
                      alpha=0.2)
    means = list(map(mean, samples))
    axes.plot(steps, means, color=colour, marker=marker, markevery=5, label=label)
    return f"{label}: {means[0]:.2f}, in the middle {means[14]:.2f}, at the end {means[-1]:.2f}. "


axes = figure(7.2, 3.4)
descriptions = [
    band(axes, "an edge (draws)", lambda rows: share(rows, EDGES) / 4, COLOURS[0], "o"),
    band(axes, "a corner (loses)", lambda rows: share(rows, CORNERS) / 2, COLOURS[1], "s")]
axes.set(xlabel="iterations", ylabel="share of the visits", ylim=(0, None),
         title="Where the games go: ten seeds, mean and range")
axes.figure.legend(loc="outside right upper")
picture(axes, "Shares of the visits by iterations, the means over the seeds. "
        + "".join(descriptions))

# %% [markdown]
# For about a hundred iterations the search prefers corners, as flat Monte Carlo does. But below the
# corner the tree notices that one reply of x does well, plays it more and more often, and the mean
# of the corner falls. **Predict** the next picture: to which numbers do the two means converge?

# %% tags=["hide-input"]
axes = figure(7.2, 3.4)
descriptions = [
    band(axes, "cell 1 (exact: 0.5)", lambda rows: rows[1].mean, COLOURS[0], "o"),
    band(axes, "cell 2 (exact: 0)", lambda rows: rows[2].mean, COLOURS[1], "s")]
for exact in (0, 0.5):
    axes.axhline(exact, color="black", linewidth=1, linestyle="--", marker="")
axes.set(xlabel="iterations", ylabel="mean reward for o", ylim=(-0.02, 1),
         title="Estimated values of the moves: ten seeds, mean and range")
axes.figure.legend(loc="outside right upper")
picture(axes, "Mean rewards by iterations, the means over the seeds. " + "".join(descriptions))

# %% [markdown]
# <details><summary>Answer</summary>
#
# To the exact values, 0.5 and 0, as Kocsis and Szepesvári prove. But they converge slowly (a
# question below asks why). That does not matter much. To play well the search needs to know which
# move is *best*, not the values of the others.
#
# </details>
#
# ## Vary c
#
# c determines how much uncertainty counts. **Predict** what happens with c = 0, and with a very
# large c.

# %% tags=["hide-input"]
def by_c(c):
    """Plot how a search with this c distributes its visits, and how often it is wrong."""
    roots = [UCT(150, c, seed).search(trap) for seed in range(30)]
    wrong = mean(most_visited(root.rows()) in CORNERS for root in roots)
    shares = {cell: mean(root.children[cell].visits if cell in root.children else 0
                         for root in roots) / 150 for cell in trap.legal_moves()}
    axes = figure(6.4, 3)
    bars = axes.bar([f"cell {cell}" for cell in shares], list(shares.values()),
                    color=[COLOURS[1] if cell in CORNERS else COLOURS[0] for cell in shares])
    axes.bar_label(bars, fmt="{:.0%}")
    title = f"c = {c}: wrong in {wrong:.0%} of 30 searches with 150 iterations"
    axes.set(ylabel="share of the visits", ylim=(0, 0.6), title=title)
    return picture(axes, f"{title}. " + ", ".join(
        f"cell {cell} {part:.0%}" for cell, part in shares.items()))


option_slider("c", (0.0, 0.1, 0.5, 1.0, 2.0, 10.0), by_c, initial=3)

# %% [markdown]
# <details><summary>What you should have seen</summary>
#
# With c = 0 a move that loses its first game is almost never tried again: the search stays with the
# first move that works, and with bad luck that is a corner. With c = 10 all moves are tried almost
# equally often, at every level: it is flat Monte Carlo again. The best c is between these extremes.
# Of the six values tried here, 0.5 is the best, and c = 2 is already no better than c = 10. The
# best c depends on the game and the budget, so it has to be tuned.
#
# </details>
#
# ## How good is it?
#
# We take sixty unfinished positions, evenly spaced in a list of all. How often does each agent make
# a mistake, that is, play a move with a lower exact value than the best? Both get the same number
# of games. **Predict** which makes fewer, and whether flat Monte Carlo still makes any with 300
# games.

# %%
positions = sorted((board for board in values() if not board.is_terminal()),
                   key=lambda board: board.text)
chosen = [positions[number] for number in range(0, len(positions), len(positions) // 60)][:60]


def mistakes(choose):
    """The number of positions in which the choice is a mistake."""
    return sum(value(board.after(choose(board)), board.to_move) < value(board, board.to_move)
               for board in chosen)


for games in (10, 30, 100, 300):
    flat = mistakes(lambda board, games=games: FlatMonteCarlo(
        max(1, games // len(board.legal_moves())), seed=1).choose(board))
    tree = mistakes(lambda board, games=games: UCT(games, seed=1).choose(board))
    print(f"{games:4} games: flat {flat:2} mistakes, UCT {tree:2} mistakes in {len(chosen)}")

# %% [markdown]
# Except with ten games, when both have almost no information, the tree makes fewer mistakes. But
# with 300 games flat Monte Carlo does not make any mistakes either, although we know a position in
# which it never learns. That position is not among the sixty: in a game as small as this such traps
# are rare. An average over positions does not show them, so let us build some.
#
# ## Traps for UCT
#
# The next game consists only of a trap. Move 0 is a safe draw. After move 1 the opponent has
# `width` replies: one of them wins, and all others lose. (`NumberTree` is a game defined by its
# tree alone; a number is the utility for x, who begins.) A deeper trap needs `depth` right replies,
# with one move of x between them.

# %%
def refuted(width):
    """A draw, or a move with one refutation among `width` replies."""
    return NumberTree((0, (*(width - 1) * (1,), -1)))


def deep(depth, width=6):
    """A trap whose refutation needs `depth` right replies, with one move between them."""
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
# Minimax searches one reply ahead and sees through even the widest trap, at the cost of 43 nodes.
# UCT has to find the reply *by chance*, and then visit it often enough to change the mean.
# Ramanujan, Sabharwal and Selman (2010) found many such traps in chess, even in games of
# grandmasters, and suggest them as a reason why UCT is more successful in Go, where they are rare.
#
# **Question.** How does the effort grow with the width of a trap? Measure your own UCT for three
# widths, at most one of them used above: how many iterations does it take until at most one search
# in ten is fooled? Give a table, with the number of searches behind each entry, and use UCB1 to
# explain why the number of iterations grows as it does.

# %% [markdown] answer="how-fooled"
# *Write your answer here.*

# %% [markdown]
# ## Most visits, or best mean?
#
# UCT plays the most visited move. `best_mean` would play the one that looks best. Usually these are
# the same move. If they differ, one of the two is a long-standing favourite and the other a
# newcomer. The next cell lets both rules choose in a hundred searches of the trap. A rule is right
# if it chooses an edge.

# %%
for c in (0.2, 1.0, 3.0):
    tables = [UCT(100, c, seed).search(trap).rows() for seed in range(100)]
    differ = sum(best_mean(rows) != most_visited(rows) for rows in tables)
    by_visits, by_mean = (sum(choose(rows) in EDGES for rows in tables)
                          for choose in (most_visited, best_mean))
    print(f"c = {c}: the rules differ in {differ} of 100 searches; "
          f"most visits is right in {by_visits}, best mean in {by_mean}")

# %% [markdown]
# **Question.** Do these numbers show that one of the two rules is better? Programs usually play the
# most visited move. Explain why, for a search that may have to stop at any time, visits are the more
# reliable sign.

# %% [markdown] answer="visits-or-mean"
# *Write your answer here.*

# %% [markdown]
# ## Play against it
#
# It simulates 500 games for each move, and no line of the search contains knowledge about
# tic-tac-toe. *Show values* shows the exact values of your moves. If one of them is a win (▲), the
# tree has just made a mistake. Does that ever happen?

# %%
play_against(UCT(500, seed=1), side="o", values=value)

# %% [markdown]
# **Sources**, in full in `course/bibliography.md`: Auer, Cesa-Bianchi and Fischer 2002 for UCB1;
# Kocsis and Szepesvári 2006 for UCT and the proof that it converges; Coulom 2006 for a tree that
# grows by one node per game, and for the name; Sutton and Barto 2018, chapter 2 and sections 8.10,
# 8.11 and 16.6, and Russell and Norvig 2021, sections 5.4 and 17.3, for bandits, tree search and
# AlphaGo; Ramanujan, Sabharwal and Selman 2010 for the traps; Browne et al. 2012, a survey, for
# further reading.
