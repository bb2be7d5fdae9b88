"""Cells of a notebook that show something clickable: boards, widgets and explorables."""

# The lanes that a player can still complete, minus the opponent's.
OPEN_LANES = """def open_lanes(state, player):
    marks = [{state[cell] for cell in lane} - {"_"} for lane in state.lanes]
    return sum((found <= {player}) - (player not in found) for found in marks) / 10"""
# The middle of a game of Sequence, where the values of actions differ between cells.
MIDDLE_OF_GAME = """begun = play(Random(1), seed=2, values=Greedy().values)
for _ in range(12):
    action = Greedy().choose(begun.state.observation())
    for part in (f"card {action.play_card}", "cell {},{}".format(*action.coords),
                 f"take {action.draft_card}"):
        begun.click(part)
begun"""
# A game of Sequence at the user's last turn, and the parts that must be clicked to win it.
ALMOST = """game = play(Random(1), seed=2, values=Greedy().values)
while True:
    action = Greedy().choose(game.state.observation())
    parts = [f"card {action.play_card}", "cell {},{}".format(*action.coords or (0, 0)),
             f"take {action.draft_card}"]
    if game.state.after(action).is_over:
        break
    for part in parts if action.coords else [
            f"trade {action.play_card}" if action.play_card else "forgo", parts[-1]]:
        game.click(part)
print("|".join(parts))
game"""
BOARD_IMPORTS = (
    """import threading
from time import sleep
from zlib import crc32
from alphabeta import AlphaBeta
from sequence import Greedy, Random
from sequence.widget import play
from tictactoe import Board, ConnectFour, Qubic
from tictactoe.boards.play_board import play_against
from tictactoe.boards.watch_board import watch
class First:
    def choose(self, state):
        return state.legal_moves()[0]
class Held(AlphaBeta):
    may = threading.Event()
    def choose(self, state):
        self.may.wait()
        return super().choose(state)
class Hundreds(Held):
    def choose(self, state):
        self.may.wait()
        for _ in range(200):
            self.search(Board())
        return super().choose(state)
"""
    + OPEN_LANES
)
BOARDS = {  # name of a board -> the cell that shows it
    "trap": "play_against(First(), 'o', Board('x___o___x'), values=AlphaBeta())",
    "qubic": "play_against(First(), start=Qubic(), values=open_lanes)",
    "four": "play_against(First(), start=ConnectFour(), values=open_lanes)",
    "sequence": ALMOST,
    "sequence begun": MIDDLE_OF_GAME,
    "watch": "watch({'x': First(), 'o': First()})",
}
WIDGET_IMPORTS = """from alphabeta import AlphaBeta
from heuristic import TypeA, TypeAPlus
from minimax import Minimax
from sequence import Greedy
from sequence import play as play_game
from sequence.widget import play, replay
from tictactoe import Board, Qubic, WinOrBlock
from tictactoe.explorables.explorer import explore
from tictactoe.explorables.counts import compare_counts
from tictactoe.boards.play_board import play_against"""
WIDGETS = {  # name of a widget -> the cell that shows it
    "play": "play_against(AlphaBeta(), side='o')",
    "explorer": "explore(AlphaBeta(), Board('x__ox__xo'))",
    "two searches": "explore(Minimax(), Board('xoox__ox_'), against=AlphaBeta())",
    "large tree": "explore(Minimax(), Board('x___o__x_'))",
    "counts": "compare_counts({'Type A': TypeA(), 'Type A+': TypeAPlus()}, Board('x___o____'))",
    "qubic": "play_against(WinOrBlock(1), side='x', start=Qubic())",
    "sequence": "play(Greedy(), seed=1)",
    "replay": "replay(play_game([Greedy(), Greedy()], seed=2))",
}
EXPLORABLE_IMPORTS = """from course.plots import boards
from evaluator import ORIGINAL_WEIGHTS, play_score
from lookahead import Chips, best_reply, catalogue, draft_value, plays_of, reward
from mcts import UCT
from qlearning import LaneLearner, train_lanes
from sarsa import one_side, views
from sequence import Greedy, example, play, sketch
from sequence.board.layout import cells_of
from sequence.widget.hidden_hand import hidden_hand
from sequence.widget.rays import read_along
from sequence.widget.replies import reply_board
from sequence.widget.scores import score_board
from tictactoe import Board, Qubic
from tictactoe.explorables.growth import growing_tree
from tictactoe.explorables.select import option_slider
from tictactoe.explorables.weights import weights_on_board"""
EXPLORABLES = {  # name of an explorable -> the cell that shows it
    "weights": """learner, snapshots = LaneLearner(seed=1), []
def note(done):
    if done % 50 == 0:
        snapshots.append((f"After {done} games", dict(learner.weights)))
def worth(weights):
    asked = LaneLearner()
    asked.weights = weights
    return asked.move_values(threatened)
threatened = Qubic.from_moves([21, 0, 22, 1, 42, 2])
note(0)
train_lanes(learner, 400, Qubic(), note)
weights_on_board(snapshots, threatened, worth, lambda kind: f"{kind[0]} own, {kind[1]} other's")""",
    "scores": """middle = sketch("o 4,3 4,4 4,5")
def worth(cell, **changed):
    return play_score(middle, "place", cell, ORIGINAL_WEIGHTS._replace(**changed))
score_board(middle, cells_of(middle.empty_mask), worth, {
    "blocking": (0, 0.5, 1, 1.5, 2), "line": (0, 1, 2, 4), "line_exponent": (1, 2, 3)},
    initial=ORIGINAL_WEIGHTS._asdict())""",
    "replies": """seen = example("1/18")
mover, possible = Chips.seen_by(seen), catalogue(seen).possible
def replies(action):
    after = mover.after(action).flipped()
    return {reply: reward(after, reply) for reply in plays_of(after, possible)}
def parts(action):
    after = mover.after(action)
    return {"reward": reward(mover, action), "card": 0.8 * draft_value(after, action.draft_card),
            "reply": -0.9 * best_reply(after.flipped(), possible)}
reply_board(seen, [a for a in seen.legal_actions() if a.coords][:9], replies, parts)""",
    "hidden hand": "hidden_hand(play([Greedy(), Greedy()], seed=1).states)",
    "ray": """mine, _ = views(sketch("x 4,2 4,3 4,5 6,1 / o 6,3 6,4 6,5 2,7"))
read_along(mine, (4, 1), {"right": (0, 1), "down": (1, 0), "up": (-1, 0)}, one_side,
           ("connected", "gaps", "discrete", "open"))""",
    "knob": "option_slider('board', 'xo', lambda who: boards([Board().after(0)], [f'for {who}']))",
    "growing tree": "growing_tree(UCT(60, seed=1), Board('x___o___x'))",
}
