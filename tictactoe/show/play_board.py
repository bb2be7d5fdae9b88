"""Play against any agent, your own included, by clicking on a board in JupyterLab.

    from tictactoe.show.play_board import play_against
    play_against(Random(1), side="o")

It works with every game of `tictactoe.contract`. If a game draws itself (see
`tictactoe.show.drawn`), you click on its picture; otherwise there is a button for each move.
"""

from functools import partial
from time import monotonic
from typing import Any

from tictactoe.contract import Agent, Move, Player, State
from tictactoe.errors import describe
from tictactoe.games.board import Board
from tictactoe.show.answers import Answer, ask
from tictactoe.show.asking import Asking, Question
from tictactoe.show.click_board import ClickBoard, OnBoard
from tictactoe.show.drawn import draw_forms, move_words, words
from tictactoe.show.history import History
from tictactoe.show.values import Values, legend, rater

NEW, UNDO, REDO, SWAP = "new game", "undo", "redo", "change sides"  # no move is called so
AGAIN, HINT, RESIGN, VALUES = "ask again", "hint", "resign", "values"
MOMENT = 0.2  # seconds after which the values that are known are shown


class Play(OnBoard):
    """A game of a person against an agent; end a notebook cell with it to show the board.

    `play_against` makes it. `states` are all states so far and `moves` the moves between them, for
    the next cell to use. Set `agent` to play against another one. No button waits for the agent:
    if the game changes while it thinks, its late answer is dropped.
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
        self._hint: Move | None = None  # in the position on the board
        self._values = Values(None if values is None else rater(values))
        self.board = ClickBoard(self.click)
        self._asking = Asking(self.board.lock, self._question)
        self._renew()
        self._asking.go_on()

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

        Anything that is not on offer now is ignored: it is a click on an older picture.
        """
        with self.board.lock:
            if not self._is_on(move):
                return
            if self._click(move):
                self._renew()
            elif move in (HINT, VALUES):
                self._wants_hint = move == HINT and self._playing
                self._values.shown ^= move == VALUES and self._values.rate is not None
            else:
                self._refuse(move)
                return
        self._asking.go_on()

    def _click(self, move: str) -> bool:
        """Change the game by a click; whether it did change."""
        history, offers = self._history, self._offers()
        if move in offers:
            played = offers[move]
            history.play(played, self.state.after(played))
        elif move == NEW:
            history.restart(self._start)
        elif move == UNDO:
            return history.undo(self._mine)
        elif move == REDO:
            return history.redo(self._mine)
        elif move == RESIGN:
            history.resign()
        elif move == SWAP:
            self._swapped = not self._swapped
        else:
            return move == AGAIN and self._trouble
        return True

    def _mine(self, state: State) -> bool:
        """Whether the person is to move in this state."""
        return bool(state.to_move == self._side) != self._swapped

    def _is_on(self, button: str) -> bool:
        """Whether a button does something; when the game is over, only these do."""
        after = (NEW,) if self._history.resigned else (NEW, UNDO, REDO)
        return not self._is_over or button in after

    @property
    def _is_over(self) -> bool:
        return self.state.is_terminal() or self._history.resigned

    @property
    def _playing(self) -> bool:
        """Whether it is the person's turn."""
        return not self._is_over and self._mine(self.state)

    @property
    def _is_thinking(self) -> bool:
        return not (self._is_over or self._mine(self.state) or self._trouble)

    def _offers(self) -> dict[str, Move]:
        """The moves that the person may make now, whatever the last picture shows."""
        return {str(move): move for move in self.state.legal_moves()} if self._playing else {}

    def _refuse(self, move: str) -> None:
        if move in (UNDO, REDO):
            self._paint(f"There is nothing to {move}. ")
        elif self._is_thinking:
            self._paint("It is not your turn. ")

    def _renew(self) -> None:
        """The game has changed: what the agent was asked before is not wanted any more."""
        self._news, self._trouble, self._wants_hint = "", False, False
        self._hint = None
        self._asking.renew()

    # What is asked: the agent's move, a hint, the values of the moves.

    def _question(self) -> Question | None:
        self._paint(self._news)
        state = self.state
        if self._is_thinking:
            return partial(ask, self.agent, state), self._take
        if self._wants_hint:
            return partial(ask, self.hint or self.agent, state), self._take_hint
        missing = self._values.missing(state, self._offers().values())
        return (partial(self._rated, state, missing), self._take_values) if missing else None

    def _take(self, answer: Answer) -> None:
        if answer.agent is self.agent:  # and no other one was chosen meanwhile
            self._news, self._trouble = answer.news, answer.state is None
            if answer.state is not None:
                self._history.play(answer.move, answer.state)

    def _take_hint(self, answer: Answer) -> None:
        self._wants_hint = False
        self._hint = None if answer.state is None else answer.move
        would = f"{type(answer.agent).__name__} would play {{}}. "
        self._news = "Hint: " + (
            answer.news
            if answer.state is None
            else would.format(move_words(self.state, answer.move))
        )

    def _rated(self, state: State, moves: list[Move]) -> dict[Move, float] | str:
        """The values of some of the moves, as many as are found in a moment."""
        found: dict[Move, float] = {}
        started = monotonic()
        try:
            while len(found) < len(moves) and monotonic() - started < MOMENT:
                move = moves[len(found)]
                found[move] = self._values.rate(state, move)
            return found
        except BaseException as error:  # show any mistake of the search
            return f"No values: {describe(error)}. "

    def _take_values(self, found: dict[Move, float] | str) -> None:
        if isinstance(found, str):
            self._news, self._values.shown = found, False
        else:
            self._values.learn(self.state, found)

    # What is on the board.

    def _paint(self, news: str) -> None:
        state, offers = self.state, self._offers()
        clicks = {text: move_words(state, move) for text, move in offers.items()}
        last = self.moves[-1] if self.moves else None
        values = self._values.of(state) if offers else {}
        svg, narrow = draw_forms(state, clicks, last, values, self._hint)
        busy = self._is_thinking or self._wants_hint
        moves = [
            f"{before.to_move}: {move_words(before, move)}"
            for before, move in zip(self.states, self.moves, strict=False)
        ]
        buttons = self._buttons(offers)
        self.board.show(
            svg,
            words(state),
            self._sentences(news),
            buttons,
            off=[name for name in buttons if not self._is_on(name)],
            moves=moves,
            busy=busy,
            narrow=narrow,
        )

    def _buttons(self, offers: dict[str, Move]) -> dict[str, str]:
        buttons = (
            {}
            if hasattr(self.state, "boxes")
            else {text: text + " (hint)" * (move == self._hint) for text, move in offers.items()}
        )
        buttons |= {AGAIN: "Ask the agent again"} if self._trouble else {}
        buttons |= {UNDO: "Undo", REDO: "Redo", HINT: "Hint"}
        if self._values.rate:
            buttons[VALUES] = "Hide values" if self._values.shown else "Show values"
        return buttons | {RESIGN: "Resign", SWAP: "Change sides", NEW: "New game"}

    def _sentences(self, news: str) -> str:
        if self._wants_hint:
            return f"{type(self.hint or self.agent).__name__} is thinking about a hint …"
        if self._playing:
            values = self._values.of(self.state).values()
            means = legend(values) if self._values.shown else ""
            return f"{news}{means}Your turn, {self.state.to_move}."
        if self._is_thinking:  # it may take long
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

    `agent` is anything with a `choose(state)`. You play `side`, by default the player who begins,
    from `start`, by default the empty board of tic-tac-toe. If the agent raises an error, you read
    it below the board. `hint` is the agent that is asked for hints, by default the same one.
    `values` can be written on the moves: they come from an agent with a `search(state)`, or from a
    function of a state and a player, exact or estimated.

    Raises ValueError for an agent that cannot choose and for values that are neither.
    """
    for chooser in (agent, hint):
        if chooser is not None and not hasattr(chooser, "choose"):
            raise ValueError(f"an agent has a method choose(state), and {chooser!r} has none")
    return Play(agent, side, start, hint, values)
