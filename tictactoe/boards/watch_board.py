"""Watch two agents play each other on a board in JupyterLab, move by move or automatically.

from tictactoe.boards.watch_board import watch
watch({"x": AlphaBeta(), "o": Random(1)})
"""

from collections.abc import Mapping
from functools import partial

from tictactoe.boards.agent_requests import AgentRequests, Request
from tictactoe.boards.agent_responses import AgentResponse, request_move
from tictactoe.boards.history import History
from tictactoe.boards.play_board import NEW
from tictactoe.boards.playback import Stepper
from tictactoe.boards.rendering import describe_move, describe_state, draw_layouts
from tictactoe.contract import Agent, Move, Player, State
from tictactoe.games.board import Board


class Watch(Stepper):
    """A game between agents, created by `watch`. End a notebook cell with it to show it.

    An agent is queried for a move only when the viewer reaches that move. `states` contains all
    states so far, and `moves` the moves between them.
    """

    def __init__(self, agents: Mapping[Player, Agent], start: State | None = None) -> None:
        super().__init__()
        self.agents = dict(agents)
        first: State = Board() if start is None else start
        self._history = History(first)
        self._wants_move, self._message = False, ""
        self._requests = AgentRequests(self.board.lock, self._next_request)
        self.paint()

    @property
    def states(self) -> list[State]:
        """All positions so far."""
        return self._history.states

    @property
    def moves(self) -> list[Move]:
        """The moves between them."""
        return self._history.moves

    @property
    def last(self) -> int:
        """The number of moves so far."""
        return len(self.moves)

    def click(self, move: str) -> None:
        """Handle a click: as `Stepper` does, or "new game"."""
        with self.board.lock:
            if move == NEW:
                self._history.restart(self.states[0])
                self.step, self._wants_move, self._message = 0, False, ""
                self._requests.invalidate()
            super().click(move)
        self._requests.run()

    def advance_past_end(self) -> None:
        """Request the next move, unless the game is over."""
        self._wants_move = not self.states[-1].is_terminal()
        self.playback.running &= self._wants_move

    def _play_again(self) -> None:
        if self.states[-1].is_terminal():
            self.step = 0

    def _next_request(self) -> Request | None:
        self.paint()
        if not self._wants_move:
            return None
        state = self.states[-1]
        return partial(request_move, self.agents[state.to_move], state), self._receive_move

    def _receive_move(self, answer: AgentResponse) -> None:
        self._wants_move = False
        if answer.state is None:
            self.playback.running, self._message = False, answer.message
            return
        self._history.play(answer.move, answer.state)
        self.step, self._message = self.last, ""

    def paint(self) -> None:
        """Show the position of the step, and the name of the agent that is thinking."""
        state, over = self.states[self.step], self.states[-1].is_terminal()
        self.playback.running &= not (over and self.step == self.last)
        last = self.moves[self.step - 1] if self.step else None
        svg, compact = draw_layouts(state, None, last)
        auto = None if self._wants_move else self.playback.auto(self.step)
        self.board.show(
            svg,
            describe_state(state),
            self.playback.speed_text() + self._message + self._status_text(),
            self.BUTTONS | self.playback.buttons() | {NEW: "New game"},
            (self.step, self.last),
            moves=[self._move_text(number) for number in range(1, self.step + 1)],
            busy=self._wants_move,
            arrows=self.ARROWS,
            auto=auto,
            compact=compact,
        )

    def _status_text(self) -> str:
        state = self.states[self.step]
        if self._wants_move and self.step == self.last:
            return f"{type(self.agents[state.to_move]).__name__}, {state.to_move}, is thinking …"
        move_text = self._move_text(self.step) if self.step else "The beginning"
        if not state.is_terminal():
            return f"Move {self.step}. {move_text}. {state.to_move} is to move."
        mover = self.states[max(self.step - 1, 0)].to_move
        worth = state.utility(mover)
        ending = f"{mover} has {'won' if worth > 0 else 'lost'}" if worth else "A draw"
        return f"Move {self.step}. {move_text}. {ending}."

    def _move_text(self, step: int) -> str:
        before = self.states[step - 1]
        name = type(self.agents[before.to_move]).__name__
        return f"{name}, {before.to_move}: {describe_move(before, self.moves[step - 1])}"

    def __repr__(self) -> str:
        return f"<Watch at {self.step} of {self.last}: {self.states[self.step]!r}>"


def watch(agents: Mapping[Player, Agent], start: State | None = None) -> Watch:
    """Show a board on which agents play each other; end a notebook cell with it.

    `agents` maps the players to their agents, as in `tictactoe.play`. Play and Pause, Slower and
    Faster set the speed; Next plays one move. An error that an agent raises is shown below the
    board.

    Raises ValueError for an agent without `choose`.
    """
    for agent in agents.values():
        if not hasattr(agent, "choose"):
            raise ValueError(
                f"an agent needs a method choose(state), which {agent!r} does not have"
            )
    return Watch(agents, start)
