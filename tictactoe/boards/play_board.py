"""Play against any agent, your own included, by clicking on a board in JupyterLab.

    from tictactoe.boards.play_board import play_against
    play_against(Random(1), side="o")

It works with every game of `tictactoe.contract`. If the game's states draw themselves (see
`tictactoe.boards.rendering`), you click on their picture; otherwise there is a button for each
move.
"""

from functools import partial
from time import monotonic
from typing import Any

from common.errors import describe
from tictactoe.boards.agent_requests import AgentRequests, Request
from tictactoe.boards.agent_responses import AgentResponse, request_move
from tictactoe.boards.click_board import BoardDisplay, ClickBoard
from tictactoe.boards.history import History
from tictactoe.boards.rendering import describe_move, describe_state, draw_layouts
from tictactoe.boards.values import Values, legend, make_rater
from tictactoe.contract import Agent, Move, Player, State
from tictactoe.games.board import Board

NEW, UNDO, REDO, SWAP = "new game", "undo", "redo", "change sides"  # names that no move has
RETRY, HINT, RESIGN, VALUES = "ask again", "hint", "resign", "values"
VALUE_BATCH_SECONDS = 0.2  # seconds before the values known so far are shown


class Play(BoardDisplay):
    """A game of a person against an agent; end a notebook cell with it to show the board.

    It is created by `play_against`. Later cells can use `states`, which contains all states so far,
    and `moves`, the moves between them. Set `agent` to play against another agent. Buttons never
    wait for the agent: if the game changes while it thinks, its late answer is dropped.
    """

    def __init__(
        self,
        agent: Agent,
        side: Player | None = None,
        start: State | None = None,
        hint: Agent | None = None,
        values: Any = None,
    ) -> None:
        self.agent, self.hint = agent, hint
        first: State = Board() if start is None else start
        self._start, self._history = first, History(first)
        self._side = first.to_move if side is None else side
        self._swapped = self._wants_hint = False
        self._hint: Move | None = None  # a hint for the position on the board
        self._values = Values(None if values is None else make_rater(values))
        self.board = ClickBoard(self.click)
        self._requests = AgentRequests(self.board.lock, self._next_request)
        self._discard_pending()
        self._requests.run()

    @property
    def states(self) -> list[State]:
        """All positions so far."""
        return self._history.states

    @property
    def moves(self) -> list[Move]:
        """The moves between them."""
        return self._history.moves

    @property
    def state(self) -> State:
        """The position that is on the board."""
        return self._history.state

    def click(self, move: str) -> None:
        """Handle a click: a legal move as text, or the name of a button.

        Clicks on anything that cannot be clicked now come from an older picture, and are ignored.
        """
        with self.board.lock:
            if not self._is_enabled(move):
                return
            if self._click(move):
                self._discard_pending()
            elif move in (HINT, VALUES):
                self._wants_hint = move == HINT and self._playing
                self._values.is_visible ^= move == VALUES and self._values.rate is not None
            else:
                self._explain_refusal(move)
                return
        self._requests.run()

    def _click(self, move: str) -> bool:
        """Handle a click that may change the game; returns whether it did."""
        history, legal_clicks = self._history, self._legal_clicks()
        if move in legal_clicks:
            played = legal_clicks[move]
            history.play(played, self.state.after(played))
        elif move == NEW:
            history.restart(self._start)
        elif move == UNDO:
            return history.undo(self._is_own_turn)
        elif move == REDO:
            return history.redo(self._is_own_turn)
        elif move == RESIGN:
            history.resign()
        elif move == SWAP:
            self._swapped = not self._swapped
        else:
            return move == RETRY and self._agent_failed
        return True

    def _is_own_turn(self, state: State) -> bool:
        """Whether the person is to move in this state."""
        return bool(state.to_move == self._side) != self._swapped

    def _is_enabled(self, button: str) -> bool:
        """Whether a button is enabled; only some of them are after the end of the game."""
        after = (NEW,) if self._history.resigned else (NEW, UNDO, REDO)
        return not self._is_over or button in after

    @property
    def _is_over(self) -> bool:
        return self.state.is_terminal() or self._history.resigned

    @property
    def _playing(self) -> bool:
        """Whether it is the person's turn."""
        return not self._is_over and self._is_own_turn(self.state)

    @property
    def _is_thinking(self) -> bool:
        return not (self._is_over or self._is_own_turn(self.state) or self._agent_failed)

    def _legal_clicks(self) -> dict[str, Move]:
        """The moves that the person may make now, regardless of the last picture."""
        return {str(move): move for move in self.state.legal_moves()} if self._playing else {}

    def _explain_refusal(self, move: str) -> None:
        if move in (UNDO, REDO):
            self._paint(f"There is nothing to {move}. ")
        elif self._is_thinking:
            self._paint("It is not your turn. ")

    def _discard_pending(self) -> None:
        """Drop requests, messages and hints for the previous position, after a change of the game."""
        self._message, self._agent_failed, self._wants_hint = "", False, False
        self._hint = None
        self._requests.invalidate()

    # Requests for the agent's move, a hint, or the values of the moves.

    def _next_request(self) -> Request | None:
        self._paint(self._message)
        state = self.state
        if self._is_thinking:
            return partial(request_move, self.agent, state), self._receive_move
        if self._wants_hint:
            return partial(request_move, self.hint or self.agent, state), self._receive_hint
        missing = self._values.missing(state, self._legal_clicks().values())
        return (
            (partial(self._compute_values, state, missing), self._receive_values)
            if missing
            else None
        )

    def _receive_move(self, answer: AgentResponse) -> None:
        if answer.agent is self.agent:  # the agent has not been replaced meanwhile
            self._message, self._agent_failed = answer.message, answer.state is None
            if answer.state is not None:
                self._history.play(answer.move, answer.state)

    def _receive_hint(self, answer: AgentResponse) -> None:
        self._wants_hint = False
        self._hint = None if answer.state is None else answer.move
        would = f"{type(answer.agent).__name__} would play {{}}. "
        self._message = "Hint: " + (
            answer.message
            if answer.state is None
            else would.format(describe_move(self.state, answer.move))
        )

    def _compute_values(self, state: State, moves: list[Move]) -> dict[Move, float] | str:
        """The values of as many moves as can be computed in a short time."""
        values: dict[Move, float] = {}
        started = monotonic()
        try:
            while len(values) < len(moves) and monotonic() - started < VALUE_BATCH_SECONDS:
                move = moves[len(values)]
                values[move] = self._values.rate(state, move)
            return values
        except BaseException as error:  # show any error of the search
            return f"No values: {describe(error)}. "

    def _receive_values(self, values: dict[Move, float] | str) -> None:
        if isinstance(values, str):
            self._message, self._values.is_visible = values, False
        else:
            self._values.store(self.state, values)

    # Painting.

    def _paint(self, news: str) -> None:
        state, legal_clicks = self.state, self._legal_clicks()
        clicks = {text: describe_move(state, move) for text, move in legal_clicks.items()}
        last = self.moves[-1] if self.moves else None
        values = self._values.visible_values(state) if legal_clicks else {}
        svg, compact = draw_layouts(state, clicks, last, values, self._hint)
        busy = self._is_thinking or self._wants_hint
        moves = [
            f"{before.to_move}: {describe_move(before, move)}"
            for before, move in zip(self.states, self.moves, strict=False)
        ]
        buttons = self._buttons(legal_clicks)
        self.board.show(
            svg,
            describe_state(state),
            self._status_text(news),
            buttons,
            off=[name for name in buttons if not self._is_enabled(name)],
            moves=moves,
            busy=busy,
            compact=compact,
        )

    def _buttons(self, legal_clicks: dict[str, Move]) -> dict[str, str]:
        buttons = (
            {}
            if hasattr(self.state, "boxes")
            else {
                text: text + " (hint)" * (move == self._hint) for text, move in legal_clicks.items()
            }
        )
        buttons |= {RETRY: "Ask the agent again"} if self._agent_failed else {}
        buttons |= {UNDO: "Undo", REDO: "Redo", HINT: "Hint"}
        if self._values.rate:
            buttons[VALUES] = "Hide values" if self._values.is_visible else "Show values"
        return buttons | {RESIGN: "Resign", SWAP: "Change sides", NEW: "New game"}

    def _status_text(self, news: str) -> str:
        if self._wants_hint:
            return f"{type(self.hint or self.agent).__name__} is thinking about a hint …"
        if self._playing:
            values = self._values.visible_values(self.state).values()
            means = legend(values) if self._values.is_visible else ""
            return f"{news}{means}Your turn, {self.state.to_move}."
        if self._is_thinking:  # this may take a long time
            return f"{news}{type(self.agent).__name__} is thinking …"
        return f"{news}{self._outcome()}" if self._is_over else news

    def _outcome(self) -> str:
        if self._history.resigned:
            return "You have resigned."
        mine = self.state.utility(self._side) * (-1 if self._swapped else 1)
        return "You have won." if mine > 0 else "You have lost." if mine < 0 else "A draw."

    def __repr__(self) -> str:
        return f"<Play against {type(self.agent).__name__}: {self.state!r}>"


def play_against(
    agent: Agent,
    side: Player | None = None,
    start: State | None = None,
    hint: Agent | None = None,
    values: Any = None,
) -> Play:
    """Show a board to play on against an agent; end a notebook cell with it.

    `agent` is any object with a method `choose(state)`. You play `side`, by default the player who
    begins, from `start`, by default the empty board of tic-tac-toe. An error that the agent raises
    is shown below the board. `hint` is the agent that gives hints, by default the opponent.
    `values` is the source of the values that can be shown on the moves: an agent with a
    `search(state)`, or a function of a state and a player. The values may be exact or estimated.

    Raises ValueError for an agent without `choose` and for unsuitable values.
    """
    for chooser in (agent, hint):
        if chooser is not None and not hasattr(chooser, "choose"):
            raise ValueError(
                f"an agent needs a method choose(state), which {chooser!r} does not have"
            )
    return Play(agent, side, start, hint, values)
