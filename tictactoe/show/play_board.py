"""Play against any agent, your own included, by clicking on a board in JupyterLab.

    from tictactoe.show.play_board import play_against
    play_against(Random(1), side="o")

It works with every game of `tictactoe.contract`. If a game draws itself (see
`tictactoe.show.drawn`), you click on its picture; otherwise there is a button for each move.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from tictactoe.contract import Agent, Move, Player, State
from tictactoe.errors import describe
from tictactoe.games.board import Board
from tictactoe.games.players import Resigned
from tictactoe.nodes import NodeCounter
from tictactoe.show.asking import Asking
from tictactoe.show.click_board import ClickBoard
from tictactoe.show.drawn import draw_state, move_words, words

NEW, UNDO, SWAP, AGAIN = "new game", "undo", "change sides", "ask again"  # no move is called so
HEIGHT, MOST_WIDTH = 300, 900  # of the picture, in pixels


class Play:
    """A game of a person against an agent; end a notebook cell with it to show the board.

    `play_against` makes it. `states` are all states so far and `moves` the moves between them, for
    the next cell to use. Set `agent` to play against another one. Undo, a new game and a change of
    sides do not wait for the agent: its late answer is dropped.
    """

    def __init__(self, agent: Agent, side: Player | None = None,
                 start: State | None = None) -> None:
        self.agent = agent
        self._start = Board() if start is None else start
        self._side = self._start.to_move if side is None else side
        self._swapped = False
        self.board = ClickBoard(self.click)
        self._asking = Asking(self.board.lock, self._question, self._take)
        self._begin()
        self._renew()
        self._asking.go_on()

    @property
    def state(self) -> State:
        """The position that is on the board."""
        return self.states[-1]

    def click(self, move: str) -> None:
        """Handle a click: a legal move as text, or the name of a button.

        Anything that is not on offer now is ignored: it is a click on an older picture.
        """
        with self.board.lock:
            offers = self._offers()
            if move in offers:
                played = offers[move]
                self._advance(played, self.state.after(played))
            elif move == NEW:
                self._begin()
            elif move == UNDO and self._earlier:
                self._undo()
            elif move == SWAP and not self.state.is_terminal():
                self._swapped = not self._swapped
            elif move != AGAIN or not self._trouble:
                self._refuse(move)
                return
            self._renew()
        self._asking.go_on()

    def _begin(self) -> None:
        self.states, self.moves = [self._start], []

    def _mine(self, state: State) -> bool:
        """Whether the person is to move in this state."""
        return (state.to_move == self._side) != self._swapped

    def _offers(self) -> dict[str, Move]:
        """The moves that the person may make now, whatever the last picture shows."""
        playing = not self.state.is_terminal() and self._mine(self.state)
        return {str(move): move for move in self.state.legal_moves()} if playing else {}

    def _advance(self, move: Move, state: State) -> None:
        self.states.append(state)
        self.moves.append(move)

    @property
    def _earlier(self) -> list[int]:
        """The numbers of the states where the person moved before."""
        return [number for number, state in enumerate(self.states[:-1]) if self._mine(state)]

    def _undo(self) -> None:
        """Back to the person's decision before this one."""
        last = self._earlier[-1]
        del self.states[last + 1:], self.moves[last:]

    def _refuse(self, move: str) -> None:
        if move == UNDO:
            self._paint("There is nothing to undo. ")
        elif self._is_thinking:
            self._paint("It is not your turn. ")

    def _renew(self) -> None:
        """The game has changed: what the agent was asked before is not wanted any more."""
        self._news, self._trouble = "", False
        self._asking.renew()

    @property
    def _is_thinking(self) -> bool:
        return not (self.state.is_terminal() or self._mine(self.state) or self._trouble)

    def _question(self) -> "Callable[[], _Answer] | None":
        """Ask for the agent's move if it is its turn."""
        self._paint(self._news)
        return partial(_ask, self.agent, self.state) if self._is_thinking else None

    def _take(self, answer: "_Answer") -> None:
        if answer.agent is self.agent:  # and no other one was chosen meanwhile
            self._news, self._trouble = answer.news, answer.state is None
            if answer.state is not None:
                self._advance(answer.move, answer.state)

    def _paint(self, news: str) -> None:
        state = self.state
        playing = not state.is_terminal() and self._mine(state)
        offers = self._offers()
        clicks = {text: move_words(state, move) for text, move in offers.items()}
        last = self.moves[-1] if self.moves else None
        drawing = draw_state(state, clicks, last, HEIGHT, MOST_WIDTH)
        buttons = {} if hasattr(state, "boxes") else {text: text for text in offers}
        buttons |= {AGAIN: "Ask the agent again"} if self._trouble else {}
        buttons |= {UNDO: "Undo", SWAP: "Change sides", NEW: "New game"}
        if playing:
            news += f"Your turn, {state.to_move}."
        elif self._is_thinking:  # it may take long
            news += f"{type(self.agent).__name__} is thinking …"
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


class _Answer(NamedTuple):
    """What came of asking an agent: its move and the state after it, None without a legal move."""

    agent: Agent
    news: str
    move: Move = None
    state: State | None = None


def _ask(agent: Agent, state: State) -> _Answer:
    """Let the agent choose; this takes as long as it takes."""
    name, player = type(agent).__name__, state.to_move
    try:
        with NodeCounter() as nodes:
            move = agent.choose(state)
        after = state.after(move)
    except Resigned:
        return _Answer(agent, f"{name}, {player}, resigns. ")
    except KeyboardInterrupt:  # the kernel's Interrupt button
        return _Answer(agent, f"{name}, {player}, was interrupted. ")
    except BaseException as error:  # show any mistake of the agent
        return _Answer(agent, f"{name}, {player}: {describe(error)}. ")
    count = f" (nodes: {nodes.visited:,})" if nodes.visited else ""
    return _Answer(agent, f"{name} plays {move_words(state, move)}{count}. ", move, after)
