"""Play against any agent, your own included, by clicking on a board in JupyterLab.

    from tictactoe.show.play_board import play_against
    play_against(Random(1), side="o")

It works with every game of `tictactoe.contract`. If a game draws itself (see
`tictactoe.show.drawn`), you click on its picture; otherwise there is a button for each move.
"""

from tictactoe.contract import Agent, Player, State
from tictactoe.games.board import Board
from tictactoe.games.players import Resigned
from tictactoe.nodes import NodeCounter
from tictactoe.show.click_board import ClickBoard
from tictactoe.show.drawn import draw_state, move_words, words

NEW, UNDO, SWAP, AGAIN = "new game", "undo", "change sides", "ask again"  # no move is called so
HEIGHT, MOST_WIDTH = 300, 900  # of the picture, in pixels


class Play:
    """A game of a person against an agent; end a notebook cell with it to show the board.

    `play_against` makes it. `states` are all states so far and `moves` the moves between them, for
    the next cell to use.
    """

    def __init__(self, agent: Agent, side: Player | None = None,
                 start: State | None = None) -> None:
        self.agent = agent
        self._start = Board() if start is None else start
        self._side = self._start.to_move if side is None else side
        self._swapped = False
        self.board = ClickBoard(self.click)
        self._begin()

    @property
    def state(self) -> State:
        """The position that is on the board."""
        return self.states[-1]

    def click(self, move: str) -> None:
        """Handle a click: a legal move as text, or the name of a button.

        Anything that is not on offer now is ignored: it is a click on an older picture.
        """
        if move in self._offers:
            self._advance(self._offers[move])
            self._answer()
        elif move == NEW:
            self._begin()
        elif move == UNDO:
            self._undo()
        elif move == SWAP and not self.state.is_terminal():
            self._swapped = not self._swapped
            self._answer()
        elif move == AGAIN:
            self._answer()

    def _begin(self) -> None:
        self.states, self.moves = [self._start], []
        self._answer()

    def _mine(self, state: State) -> bool:
        """Whether the person is to move in this state."""
        return (state.to_move == self._side) != self._swapped

    def _advance(self, move) -> None:
        self.states.append(self.state.after(move))
        self.moves.append(move)

    def _undo(self) -> None:
        """Back to the person's decision before this one."""
        earlier = [number for number, state in enumerate(self.states[:-1]) if self._mine(state)]
        if earlier:
            del self.states[earlier[-1] + 1:], self.moves[earlier[-1]:]
        self._paint("" if earlier else "There is nothing to undo. ")

    def _answer(self) -> None:
        """Let the agent move if it is its turn."""
        name, news, trouble = type(self.agent).__name__, "", False
        while not self.state.is_terminal() and not self._mine(self.state) and not trouble:
            self._paint(f"{news}{name} is thinking …")  # it may take long
            player, move = self.state.to_move, None
            try:
                with NodeCounter() as nodes:
                    move = self.agent.choose(self.state)
                self._advance(move)
            except Resigned:
                news, trouble = f"{name}, {player}, resigns. ", True
            except Exception as error:  # show any mistake of the agent
                news, trouble = f"{name}, {player}: {type(error).__name__}: {error}. ", True
            else:
                count = f" (nodes: {nodes.visited:,})" if nodes.visited else ""
                news = f"{name} plays {move_words(self.states[-2], move)}{count}. "
        self._paint(news, trouble)

    def _paint(self, news: str, trouble: bool = False) -> None:
        state = self.state
        playing = not state.is_terminal() and self._mine(state)
        self._offers = {str(move): move for move in state.legal_moves()} if playing else {}
        clicks = {text: move_words(state, move) for text, move in self._offers.items()}
        last = self.moves[-1] if self.moves else None
        drawing = draw_state(state, clicks, last, HEIGHT, MOST_WIDTH)
        buttons = {} if hasattr(state, "boxes") else {text: text for text in self._offers}
        buttons |= {AGAIN: "Ask the agent again"} if trouble else {}
        buttons |= {UNDO: "Undo", SWAP: "Change sides", NEW: "New game"}
        if playing:
            news += f"Your turn, {state.to_move}."
        elif state.is_terminal():
            news += self._outcome()
        self.board.show(drawing.svg, words(state), news, buttons)

    def _outcome(self) -> str:
        mine = self.state.utility(self._side) * (-1 if self._swapped else 1)
        return "You have won." if mine > 0 else "You have lost." if mine < 0 else "A draw."

    def _repr_mimebundle_(self, **kwargs):
        return self.board._repr_mimebundle_(**kwargs)

    def __repr__(self) -> str:
        return f"<Play against {type(self.agent).__name__}: {self.state!r}>"


def play_against(agent: Agent, side: Player | None = None, start: State | None = None) -> Play:
    """Show a board to play on against an agent; end a notebook cell with it.

    `agent` is anything with a `choose(state)`. You play `side`, by default the player who begins,
    from `start`, by default the empty board of tic-tac-toe. If the agent raises an error, you read
    it below the board.

    Raises ValueError for an agent that cannot choose.
    """
    if not hasattr(agent, "choose"):
        raise ValueError(f"an agent has a method choose(state), and {agent!r} has none")
    return Play(agent, side, start)
