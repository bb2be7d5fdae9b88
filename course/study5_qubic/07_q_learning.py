# %% [markdown]
# # 7. Learning from play
#
# So far you have given the agent knowledge about the game: a utility, a heuristic, an order of
# moves. In this notebook it learns from results alone. It plays against itself (**self-play**),
# receives a reward at the end, and has to find out which moves led there.
#
# We follow a real piece of homework: a team taught a program to play tic-tac-toe on a cube of 4 x 4
# x 4 cells by **Q-learning** (Watkins 1989). You will write what they describe, with their numbers.
# Then you will measure how well it plays, and explain the result. Notebook 8 takes another approach
# to the same game.
#
# The code belongs in `qlearning.py`, the file next to this notebook.

# %%
# %load_ext course.notebook
import random
import tracemalloc
from collections import Counter
from math import comb

from course.check import check
from course.greedy_agent import GreedyAgent
from course.plots import figure, picture
from tictactoe import Board, Qubic, Random, WinOrBlock, match, opponent, play
from tictactoe.games.playouts import random_games
from tictactoe.games.qubic import LANES
from tictactoe.boards.play_board import play_against
from common.progress import Progress

from qlearning import GAMMA, QPlayer, epsilon_greedy, greedy_moves, play_episode, step, train

# %% [markdown]
# ## The cube
#
# *Qubic* is tic-tac-toe in three dimensions: 64 cells, and four in a line win. The lines run along
# the axes, diagonally across a plane, or through the cube from corner to corner. Here are the four
# layers, the top one at the left, with the number of every cell. Cell 16 is directly below cell 0.
#
# Play a game. You are x: click a cell, or use the arrow keys and Enter. `WinOrBlock` completes a
# lane if it can, blocks yours if it must, and otherwise plays at random. Can you make two threats
# with one move?

# %%
play_against(WinOrBlock(seed=1), start=Qubic())

# %% [markdown]
# Try to find the lanes of cell 0: one along its row, one along its column, one straight down (0,
# 16, 32, 48), and four more. Which are these? And which are the lanes of cell 1?

# %%
for cell in (0, 1):
    print(f"cell {cell}:", *(lane for lane in LANES if cell in lane))
print(len(LANES), "lanes; cells by the number of their lanes:",
      Counter(sum(cell in lane for lane in LANES) for cell in range(64)))

# %% [markdown]
# There are 76. Seven of them meet in each of the eight corners and each of the eight cells in the
# middle, four in every other cell. `Qubic` is a state like `Board`: it has `to_move`,
# `legal_moves()`, `after(move)`, `is_terminal()` and `utility(player)`.
#
# Qubic is solved: with perfect play the first player wins. Patashnik (1980) proved it with a
# program and much advice from its author, Allis (1994) with a program that needed none. So there is
# a right answer to learn, but the agents of this notebook have no access to it.

# %%
diagonal = Qubic.from_moves([0, 1, 21, 2, 42, 3, 63])
print(diagonal)
diagonal

# %% [markdown]
# ## The first control: two random players
#
# Before we train an agent, let us see how players without any skill score. `random_games` plays
# many whole games simultaneously. (It draws the order in which the cells would be marked and finds
# the move that completes the first lane. The result has the same distribution, but it is faster.)

# %%
games = random_games(50_000, seed=1)
x_won, o_won = (float((games.winners == sign).mean()) for sign in (1, -1))
print(f"x wins {x_won:.1%}, o wins {o_won:.1%}, drawn {(games.winners == 0).sum()} of 50,000")
print(f"a game has {games.lengths.mean():.1f} moves, from {games.lengths.min()} "
      f"to {games.lengths.max()}")

# %% [markdown]
# Moving first is an advantage even for players without any skill. So from now on the players of a
# match change sides after every game. A random player then scores 0.5 against another, and every
# result has to be compared with that. Such a measurement is called a **control**: it is made under
# the same conditions, but without what we want to test.
#
# ## Rewards
#
# The homework gives a player a **reward** for the outcome of its move:
#
# | what happens | reward |
# |---|---|
# | the player wins | +1, and -1 for the opponent |
# | the game is drawn | 0.5 for both |
# | the player tries to mark a filled cell | -5 |
# | the game continues | 0 |
#
# It does not specify what happens to the board after an attempt to mark a filled cell. In our
# version nothing happens, and the same player is to move. Notice that the two rewards of a draw do
# not add up to 0, so this is no longer a zero-sum game. Notice also that the -5 will never occur,
# because the agent chooses among the open cells.
#
# Write `step(state, move)`. It returns the next state, the mover's reward and the opponent's
# reward.

# %%
before = Qubic.from_moves([0, 1, 21, 2, 42, 3])
for move in (63, 21, 40):
    following, own, other = step(before, move)
    print(f"x at {move}: {own} for x, {other} for o, then {following.to_move} to move")

# %%
check("study5.step")

# %% [markdown]
# ## A table of values
#
# Q-learning keeps a number Q(s, a) for every state s and every move a: an estimate of the sum of
# future rewards, in which later rewards count less. A reward that is n turns away is multiplied by
# gamma to the power n (gamma is the **discount factor**). The homework sets gamma = 0.9. A move
# that was never tried has the value 1.
#
# After a move the player receives its reward r and is in the next state s', where it can move
# again. The old number then moves a little towards a better estimate (alpha = 0.3 is the **learning
# rate**):
#
# > **Q(s, a) <- Q(s, a) + alpha (r + gamma max Q(s', a') - Q(s, a))**
#
# The maximum is over all moves a' that are legal in s'. The sum r + gamma max Q(s', a') is called
# the *target*. This is the **Q-learning update** (Russell and Norvig 2021, section 22.3). The
# expression in parentheses is a **temporal difference**, the difference between two estimates of
# the same value, made one turn apart. The later estimate is usually better, because it includes an
# actual reward. It still contains a value from the table, so the table learns from its own
# estimates. This is called **bootstrapping** (Sutton and Barto 2018, chapter 6). (The update is
# related to the *Bellman equation*, but not the same: the Bellman equation averages over all
# possible next states, with their probabilities, and Q-learning replaces this average by the one
# state that actually came next.)
#
# Calculate two updates by hand. First, Q(s, a) is 0.5, the game has not been won yet, and the
# largest number in s' is 0.8. Second, the move won the game, and the old number is the same. Open
# the answers when you have them.
#
# <details><summary>Answers</summary>
#
# * The target is 0 + 0.9 x 0.8 = 0.72. This is 0.22 above the old number, and 0.3 times that is
#   0.066. The new number is 0.566.
# * The game is over, so no move can be made in s' and no reward follows. The target is the reward
#   1, and the new number is 0.5 + 0.3 x 0.5 = 0.65.
#
# </details>
#
# ### Whose turn is it in s'?
#
# In the formula the player makes a move and is then to move again. In our games the opponent moves
# in between. So s' is the state at the player's *next turn*, after the opponent's reply, or the end
# of the game if that comes first. And r is the sum of all rewards that the player receives from the
# move until then: a move that lets the opponent win is rewarded with -1, one turn late. Keep this
# in mind for later, because the homework gets it wrong.
#
# ### Write `q`, `update` and the choice of a move
#
# * `QPlayer.q(state, move)` looks into `self.table`. A look-up must not add an entry.
# * `QPlayer.update(state, move, reward, following)` does the update. If `following` is the end of
#   the game, no future rewards are added.
# * `greedy_moves(values)` lists *all* moves with the largest value.
# * `epsilon_greedy(values, epsilon, chance)` plays one of them, or, with probability epsilon (here
#   0.2), any move. This is **exploration**: an agent that always plays the move that it thinks best
#   never finds out that another one is better. (The text of the homework promises an agent that
#   explores less and less over time; its code uses 0.2 throughout, and so does ours.)
#
# So the agent has two policies. It plays by the **epsilon-greedy policy**, but the maximum in the
# update belongs to the greedy policy, which never explores. An algorithm that learns about one
# policy while it follows another is called **off-policy** (Sutton and Barto 2018, sections 5.4 and
# 6.5).

# %%
player = QPlayer(seed=0)
state, following = Qubic(), Qubic.from_moves([0, 21])
player.table[state, 0] = 0.5
player.update(state, 1, 0, Qubic.from_moves([1, 2]))
player.update(state, 0, 1, diagonal)
print("never tried:", player.q(state, 5), " tried once:", player.q(state, 1),
      " won with:", player.q(state, 0))

# %%
check("study5.q_table")

# %%
values = {3: 0.4, 5: 0.9, 8: 0.9, 60: -0.2}
print("greedy:", greedy_moves(values))
chance = random.Random(1)
print(Counter(epsilon_greedy(values, 0.2, chance) for _ in range(10_000)).most_common())

# %%
check("study5.epsilon_greedy")

# %% [markdown]
# ## A game in which both learn
#
# There are two players and two tables. `play_episode(players, start)` plays one game. For each
# player, it has to remember the last move that has not been updated yet:
#
# 1. First, the player to move updates its own last move, because its next turn has come.
# 2. It chooses a move, and the step is made.
# 3. Its new move is now pending, with its reward. The opponent's reward is added to the opponent's
#    pending move.
#
# At the end of the game both last moves are updated. The winner's has the reward 1, the loser's -1,
# for what it allowed.

# %%
players = {"x": QPlayer(seed=1), "o": QPlayer(seed=2)}
print(play_episode(players, Qubic()))
for name, player in players.items():
    print(f"{name}: {len(player.table)} moves learned, values",
          sorted({round(value, 3) for value in player.table.values()}))

# %%
check("study5.episode")

# %% [markdown]
# ## On a small board
#
# Your code does not depend on the size of the board. So test it where it has a chance: tic-tac-toe
# has 5,478 positions. The cell below plays 10,000 games, and measures at intervals how well the
# greedy moves do against a random player. (`GreedyAgent`, in `course/greedy_agent.py`, plays the best
# moves of a pair of players and does not explore.) A second pair learns in the way the code listed in
# the homework actually works. It differs from the formula in two respects:
#
# * It updates each move immediately, so that s' is a state in which *the opponent* is to move. A
#   player's own table has no entry for any such state, so the maximum is always the initial 1.
# * It also adds gamma times that maximum after the end of the game. So the target of a win is 1.9,
#   and that of a loss -0.1, as long as a cell is empty.

# %%
class HomeworkPlayer(QPlayer):
    """A player that learns as the code listed in the homework does."""

    def learn(self, state, move, reward, board):
        open_cells = [cell for cell in range(len(board)) if board[cell] == "_"]
        best = max((self.q(board, cell) for cell in open_cells), default=0)
        error = reward + GAMMA * best - self.q(state, move)
        self.table[state, move] = self.q(state, move) + self.alpha * error


def homework_episode(players, state):
    """One game by the listing: every move is updated immediately."""
    last = {}
    while not state.is_terminal():
        name, rival = state.to_move, opponent(state.to_move)
        move = players[name].choose(state)
        board, own, other = step(state, move)
        last[name] = (state, move)
        players[name].learn(state, move, own, board)
        if board.is_terminal() and rival in last:
            players[rival].learn(*last[rival], other, board)
        state = board


# %% tags=["hide-input"]
def plot_curves(curves):
    """Plot the scores against a random player by the number of games of self-play."""
    axes = figure(7.5, 3.8)
    for name, curve in curves.items():
        axes.plot(when, curve, label=name)
    axes.axhline(0.5, color="black", linestyle=":", linewidth=1)
    axes.set(xlabel="games of self-play", ylabel="score against a random player", ylim=(0.3, 1),
             title="Tic-tac-toe, 3 x 3")
    axes.figure.legend(loc="outside upper center", ncols=2, frameon=False)
    return picture(axes, "Score of the greedy moves against a random player on the small board, "
                   f"after {', '.join(map(str, when))} games. " + ". ".join(
                       f"{name}: " + ", ".join(f"{score:.2f}" for score in curve)
                       for name, curve in curves.items()) + ". Dotted line at 0.5.")

# %%
when, curves = [0, 1000, 2000, 4000, 6000, 8000, 10_000], {}
progress = Progress(2 * (when[-1] + 1), "games")
for kind, episode, name in ((QPlayer, play_episode, "the formula"),
                            (HomeworkPlayer, homework_episode, "the listing")):
    players = {"x": kind(seed=1), "o": kind(seed=2)}
    curve = []
    for done in range(when[-1] + 1):
        if done in when:
            curve.append(match(GreedyAgent(greedy_moves, players), Random(), 300, seed=done).score)
        episode(players, Board())
        progress.update()
    curves[name] = curve
    print(f"{name}:", *(f"{score:.2f}" for score in curve), "- values from "
          f"{min(players['x'].table.values()):.2f} to {max(players['x'].table.values()):.2f}")
plot_curves(curves)

# %% [markdown]
# The formula learns slowly. The curve begins with a long flat stretch. (A question at the end asks
# about the initial value of 1.)
#
# The listing also learns something, and for thousands of games it is ahead. When the opponent is to
# move it always reads a 1, so the value of a move that does not end the game tends to 0.9, whatever
# happens later. The value of a winning move tends to 1.9. A move that loses is updated twice in
# each game, first towards 0.9 and then towards -0.1. The first update turns q into 0.7 q + 0.27,
# the second turns this into 0.7 (0.7 q + 0.27) - 0.03 = 0.49 q + 0.159. The number that stays the
# same is q = 0.159 / 0.51, about 0.3. So the listing can only learn which moves win or lose
# immediately. With the formula, values travel back from move to move. With twice as many games, the
# formula's players score 0.95, and the listing's still 0.87.
#
# With a small board and the correct formula, the method works. Now try the cube.
#
# ## On the cube
#
# 800 games take a few seconds. The homework promises success "with enough iterations"; you will
# read below what many more games achieve.

# %%
EPISODES = 800
cube = {"x": QPlayer(seed=1), "o": QPlayer(seed=2)}
untrained = {"x": QPlayer(), "o": QPlayer()}
train(cube, EPISODES, Qubic(), Progress(EPISODES, "games").update)
print(match(GreedyAgent(greedy_moves, cube), Random(), games=400, seed=1, start=Qubic()))

# %% [markdown]
# There is almost no sign of learning. But look at the next result. It uses the same two tables,
# with one difference: among equally good moves the agent takes the lowest cell.

# %%
for name, players in (("trained", cube), ("untrained", untrained)):
    agent = GreedyAgent(greedy_moves, players, first=True)
    print(f"{name}:", match(agent, Random(), 400, seed=1, start=Qubic()))

# %% [markdown]
# That looks like a success, until you read the second line: **the untrained table scores just as
# well.** Many reports stop before the second line. (The homework gives no score at all.)
#
# How can an empty table win nearly every game? Watch a game, and see how the same table does
# against a better opponent.

# %%
empty = GreedyAgent(greedy_moves, untrained, first=True)
for name, agent in (("the empty table", empty), ("a random player", Random())):
    print(f"{name} against WinOrBlock:", match(agent, WinOrBlock(), 200, seed=2, start=Qubic()))
play({"x": empty, "o": Random(3)}, start=Qubic()).final

# %% [markdown]
# All values are 1, so the agent plays 0, 1, 2, 3: a row. If the random player happens to block it,
# the agent continues with the next row. The order of the cells makes the choice, not the table.
#
# `WinOrBlock` wins if it can, blocks if it must, and otherwise plays at random. That is a better
# benchmark, because a random player scores almost nothing against it. The empty table still wins
# about two games in five, since its marks are close together, and sooner or later one move makes
# two threats. That is a strategy, and not a bad one, but it was not learned.
#
# So break ties at random, always. And never report a result without its control.

# %% [markdown]
# **Think first.** A classmate writes: "After 5,000 games of self-play my agent beats a random
# player in 98 % of 100 games. Untrained, with ties at random, it scores 0.51. So Q-learning works
# on Qubic." (a) Name two explanations of the 98 % that this control leaves open, and for each the
# match that would rule it out. (b) With random ties the trained agent scores 0.53 in 100 games.
# What do you conclude from that, with an interval, and how many games would you play? (c) Why must
# the agent stop exploring while it is measured, and what would you see if it did not?
#
# <details><summary>An answer</summary>
#
# (a) The classmate does not state how the *trained* agent broke ties: if it took the lowest cell among
# equals, the order of the cells decided the games. Let the untrained agent break ties in the same
# way. We do not know who moved first either: change sides after every game. (A lucky training run,
# chosen among several, would be a third explanation.)
#
# (b) Nothing yet: with 100 games the interval of 0.53 is about 0.43 to 0.62. A half width of 0.03
# takes about 1,070 games, and detecting 0.53 four times in five takes about 2,180
# (`course/statistics.md` explains why).
#
# (c) With epsilon = 0.2 every fifth move is random, so the match would measure a mixture of
# learning and chance. The better the agent, the more its score would suffer.
#
# </details>

# %% [markdown]
# ## Why the table does not learn
#
# A table contains only what it has seen. In a new game, how often does the agent reach a state that
# it has seen before?

# %% tags=["hide-input"]
def plot_seen(shares):
    """Plot the share of states that were seen in training, by the number of moves made."""
    axes = figure(7.5, 3.4)
    axes.bar(range(12), shares)
    axes.set(xlabel="moves made", ylabel="share of states seen in training", ylim=(0, 1.08),
             title=f"What the table has seen after {EPISODES} games")
    for move, share in enumerate(shares):
        axes.annotate(f"{share:.0%}", (move, share), ha="center", va="bottom", fontsize=9)
    axes.set_xticks(range(12))
    return picture(axes, "Share of the states in new games that training had met, by moves made: "
                   + ", ".join(f"{move}: {share:.0%}" for move, share in enumerate(shares)) + ".")

# %%
def seen_before(players, games=100):
    """By move, the share of the states a greedy agent meets that its training has met."""
    known = {name: {state for state, _ in player.table} for name, player in players.items()}
    met, recognised = Counter(), Counter()
    agent, rival = GreedyAgent(greedy_moves, players), Random(5)
    agent.reset(7)
    for number in range(games):
        state, moves = Qubic(), 0
        while not state.is_terminal():
            mine = state.to_move == "xo"[number % 2]
            if mine:
                met[moves] += 1
                recognised[moves] += state in known[state.to_move]
            state = state.after((agent if mine else rival).choose(state))
            moves += 1
    return [recognised[move] / met[move] for move in range(12)]


plot_seen(seen_before(cube))

# %% [markdown]
# After three or four moves every state is new, and in a new state all values are 1. A game has
# about thirty more moves, and the agent plays every one of them at random.
#
# And the table grows. Every game adds nearly all of its moves, since almost none of them was in the
# table before.

# %%
tracemalloc.start()
players = {"x": QPlayer(seed=3), "o": QPlayer(seed=4)}
train(players, 100, Qubic())
memory = tracemalloc.get_traced_memory()[0] / 100
tracemalloc.stop()
entries = sum(len(player.table) for player in players.values()) / 100
print(f"{entries:.0f} new entries and {memory / 1000:.1f} kB per game; "
      f"a million games: {memory / 1000:.0f} GB")
for moves in (2, 4, 8, 16):
    print(f"positions with {moves:2} marks: about {comb(64, moves) * comb(moves, moves // 2):.1e}")

# %% [markdown]
# (Python's count does not include the overhead of the system: the whole process grows by 8.3 kB per
# game.) Training for 200,000 games took seven minutes and 1.7 GB. The score against a random player
# was then 0.498, with a 95 % interval from 0.476 to 0.520. The formula is correct and the code is
# correct, but the approach cannot succeed. What is missing is **generalisation**: a value learned
# in one state contains no information about any other state.

# %% [markdown]
# **Question.** (a) The agent has reached a state once, made one move there and updated it. What are
# the values of the moves now, and which will it play when it reaches the state again? How often
# must it visit a state before the greedy move is meaningful? (b) Change the initial value from 1 to
# zero. What improves, what gets worse, and what stays the same in states that the agent has never
# seen? (c) Suppose that the table contained *every* state that can be reached. Use the numbers
# above to explain why more memory is still not the answer.

# %% [markdown] answer="why-not-the-table"
# *Write your answer here.*

# %% [markdown]
# **Sources**, in full in `course/bibliography.md`: Watkins 1989, Russell and Norvig 2021, section
# 22.3, and Sutton and Barto 2018, chapter 6, for Q-learning and temporal differences; Patashnik
# 1980 and Allis 1994 for Qubic. The homework is not published; its course is also named there.
