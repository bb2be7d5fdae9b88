"""Watch two agents play, at a pace or move by move, on a board in JupyterLab.

from tictactoe.show.watch_board import watch
watch({"x": AlphaBeta(), "o": Random(1)})
"""

from collections.abc import Mapping
from functools import partial

from tictactoe.contract import Agent, Move, Player, State
from tictactoe.games.board import Board
from tictactoe.show.answers import Answer, ask
from tictactoe.show.asking import Asking, Question
from tictactoe.show.drawn import draw_forms, move_words, words
from tictactoe.show.history import History
from tictactoe.show.pace import Stepper
from tictactoe.show.play_board import NEW


class Watch(Stepper):
    """A game between agents; `watch` makes it. End a notebook cell with it to show it.

    An agent is asked when the game is watched up to its move, and not before. `states` are all
    states so far and `moves` the moves between them.
    """

    def __init__(self, agents: Mapping[Player, Agent], start: State | None = None) -> None:
        super().__init__()
        self.agents = dict(agents)
        first: State = Board() if start is None else start
        self._history = History(first)
        self._wanted, self._news = False, ""
        self._asking = Asking(self.board.lock, self._question)
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
                self.step, self._wanted, self._news = 0, False, ""
                self._asking.renew()
            super().click(move)
        self._asking.go_on()

    def more(self) -> None:
        """Ask the agent whose turn it is, unless the game is over."""
        self._wanted = not self.states[-1].is_terminal()
        self.pace.running &= self._wanted

    def _play_again(self) -> None:
        if self.states[-1].is_terminal():
            self.step = 0

    def _question(self) -> Question | None:
        self.paint()
        if not self._wanted:
            return None
        state = self.states[-1]
        return partial(ask, self.agents[state.to_move], state), self._take

    def _take(self, answer: Answer) -> None:
        self._wanted = False
        if answer.state is None:
            self.pace.running, self._news = False, answer.news
            return
        self._history.play(answer.move, answer.state)
        self.step, self._news = self.last, ""

    def paint(self) -> None:
        """Show the position of the step, and who thinks about the next one."""
        state, over = self.states[self.step], self.states[-1].is_terminal()
        self.pace.running &= not (over and self.step == self.last)
        last = self.moves[self.step - 1] if self.step else None
        svg, narrow = draw_forms(state, None, last)
        auto = None if self._wanted else self.pace.auto(self.step)
        self.board.show(
            svg,
            words(state),
            self.pace.words() + self._news + self._sentence(),
            self.BUTTONS | self.pace.buttons() | {NEW: "New game"},
            (self.step, self.last),
            moves=[self._played(number) for number in range(1, self.step + 1)],
            busy=self._wanted,
            arrows=self.ARROWS,
            auto=auto,
            narrow=narrow,
        )

    def _sentence(self) -> str:
        state = self.states[self.step]
        if self._wanted and self.step == self.last:
            return f"{type(self.agents[state.to_move]).__name__}, {state.to_move}, is thinking …"
        told = self._played(self.step) if self.step else "The beginning"
        if not state.is_terminal():
            return f"Move {self.step}. {told}. {state.to_move} is to move."
        mover = self.states[max(self.step - 1, 0)].to_move
        worth = state.utility(mover)
        ending = f"{mover} has {'won' if worth > 0 else 'lost'}" if worth else "A draw"
        return f"Move {self.step}. {told}. {ending}."

    def _played(self, step: int) -> str:
        before = self.states[step - 1]
        name = type(self.agents[before.to_move]).__name__
        return f"{name}, {before.to_move}: {move_words(before, self.moves[step - 1])}"

    def __repr__(self) -> str:
        return f"<Watch at {self.step} of {self.last}: {self.states[self.step]!r}>"


def watch(agents: Mapping[Player, Agent], start: State | None = None) -> Watch:
    """Show a board on which agents play each other; end a notebook cell with it.

    `agents` maps the players to their agents, as in `tictactoe.play`. Play and Pause, Slower and
    Faster set the pace; Next asks for one move. An error of an agent is told below the board.

    Raises ValueError for an agent that cannot choose.
    """
    for agent in agents.values():
        if not hasattr(agent, "choose"):
            raise ValueError(f"an agent has a method choose(state), and {agent!r} has none")
    return Watch(agents, start)
