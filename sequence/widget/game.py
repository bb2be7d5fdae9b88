"""A game of Sequence that a person plays against agents on a clickable board."""

import random
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from sequence.agents.greedy import Greedy
from sequence.board.actions import Action
from sequence.board.rules import DRAFT, Rules
from sequence.engine import replay as replays
from sequence.engine.observation import Observation
from sequence.engine.play import Agent
from sequence.engine.state import State
from sequence.pictures.view import picture
from sequence.pictures.words import action_text, describe_position
from sequence.widget.action_selection import ActionSelection
from sequence.widget.answers import AgentResponse, rate_actions, request_action
from sequence.widget.clickable import action_buttons, action_parts, clickable_parts
from sequence.widget.status_text import status_text
from tictactoe.boards.agent_requests import AgentRequests, Request
from tictactoe.boards.click_board import BoardDisplay, ClickBoard
from tictactoe.boards.history import History
from tictactoe.boards.values import Values, legend

NEW, UNDO, REDO, RETRY, SEAT = "new", "undo", "redo", "again", "seat"
HINT, RESIGN, VALUES = "hint", "resign", "values"


class Play(BoardDisplay):
    """A person's game against agents, created by `play`. End a notebook cell with it to show it.

    For an action, click a card of your hand, a highlighted cell and, if there is a draft row, the
    card to take, in any order; it is played as soon as nothing is left to choose. If you click a
    cell first, the card shown on it is played. A second click undoes a choice. There are buttons to
    trade, forgo a trade and pass.

    `states` contains all states so far. `replay` is the game as text, for
    `sequence.engine.replay.read`. `agents` maps seats to agents; replace an entry to play against
    another agent. Buttons never wait for an agent: if the game changes while it thinks, its late
    answer is dropped. The board shows only what the person may see.
    """

    def __init__(
        self,
        against: Agent | Sequence[Agent] | None = None,
        seat: int = 0,
        seed: int = 0,
        rules: Rules = DRAFT,
        hint: Agent | None = None,
        values: Callable[[Observation], Mapping[Action, float]] | None = None,
    ) -> None:
        if seat not in range(rules.players):
            raise ValueError(f"{rules} have no seat {seat!r}")
        agents: list[Agent]
        if isinstance(against, Sequence):
            agents = list(against)
        else:
            agents = [Greedy() if against is None else against] * (rules.players - 1)
        self.hint = Greedy() if hint is None else hint
        for agent in [*agents, self.hint]:
            if isinstance(agent, type) or not callable(getattr(agent, "choose", None)):
                raise ValueError(f"{agent!r} is not an agent: pass an agent, such as Greedy()")
        if len(agents) != rules.players - 1:
            raise ValueError(
                f"{rules} need {rules.players - 1} agents in addition to you, not {len(agents)}"
            )
        self.rules = rules
        self._take_seat(seat, agents)
        self._values, self._wants_hint = Values(values), False
        self._hint: set[str] = set()  # the parts to click for the hint
        self.board = ClickBoard(self.click)
        self._requests = AgentRequests(self.board.lock, self._next_request)
        self._reset_for: int | None = None  # the seed of the game for which the agents were reset
        self._history = History(State.deal(rules, seed))
        self.seed = seed
        self._let_agents_play()

    def _take_seat(self, seat: int, agents: Sequence[Agent]) -> None:
        others = [player for player in range(self.rules.players) if player != seat]
        self.seat, self.agents = seat, dict(zip(others, agents, strict=True))

    @property
    def states(self) -> list[State]:
        """All states so far."""
        return self._history.states

    @property
    def state(self) -> State:
        """The position that is on the board."""
        return self._history.state

    @property
    def replay(self) -> str:
        """The game so far as text."""
        return replays.write(self.states)

    def click(self, move: str) -> None:
        """Handle a click on the board.

        `move` is "card 4d", "cell 2,4", "take 8d", "trade 4d", "forgo", "pass" or the name of a
        button. Clicks on anything that cannot be clicked now come from an older picture, and are
        ignored.
        """
        with self.board.lock:
            if not self._is_enabled(move):
                return
            if move not in self._legal_clicks() and move not in self._buttons():
                if self._is_thinking:
                    self._paint("It is not your turn: " + self._status_text(mine=False))
                return
            if move in (HINT, VALUES):
                self._wants_hint = move == HINT and self._mine
                self._values.is_visible ^= move == VALUES
            elif not self._click(move):
                return
            else:
                self._discard_pending()
        self._requests.run()

    def _click(self, move: str) -> bool:
        """Change the game by a click; if it did not change, show the selection."""
        word, _, value = move.partition(" ")
        if word in (UNDO, REDO):
            step = self._history.undo if word == UNDO else self._history.redo
            changed = step(self._is_mine)
            if not changed:
                self._selection = ActionSelection(self.state)
                self._paint(f"There is nothing to {word}.")
            return changed
        if word in (NEW, SEAT):
            if word == SEAT:
                self._take_seat((self.seat + 1) % self.rules.players, list(self.agents.values()))
            self.seed += 1
            self._history.restart(State.deal(self.rules, self.seed))
        elif word == RESIGN:
            self._history.resign()
        elif word != RETRY:
            self._error_text, self._message = "", ""
            action = self._selection.click(word, value)
            if action is None:
                self._paint()
                return False
            self._history.play(action, self.state.after(action))
        return True

    def _is_mine(self, state: State) -> bool:
        return state.to_move == self.seat

    def _let_agents_play(self) -> None:
        """Let the agents play until it is the person's turn or the game is over."""
        with self.board.lock:
            self._discard_pending()
        self._requests.run()

    def _discard_pending(self) -> None:
        """Drop requests, messages and hints for the previous position, after a change of the game."""
        self._selection = ActionSelection(self.state)
        self._error_text, self._message, self._wants_hint = "", "", False
        self._hint = set()
        self._requests.invalidate()

    def _is_enabled(self, button: str) -> bool:
        """Whether a button is enabled; only some of them are after the end of the game."""
        after = (NEW,) if self._history.resigned else (NEW, UNDO, REDO)
        return not self._is_over or button in after

    @property
    def _is_over(self) -> bool:
        return self.state.is_over or self._history.resigned

    @property
    def _mine(self) -> bool:
        """Whether the person is to move."""
        return self._is_mine(self.state) and not self._is_over

    @property
    def _is_thinking(self) -> bool:
        """Whether an agent is to move and has not failed."""
        return not (self._is_over or self._is_mine(self.state) or self._error_text)

    # Requests for an agent's action, a hint, or the values of the actions.

    def _next_request(self) -> Request | None:
        self._paint()
        state = self.state
        if self._is_thinking:
            return partial(
                self._ask, self.agents[state.to_move], state, self.seed
            ), self._receive_action
        if self._wants_hint:
            return partial(self._ask, self.hint, state, self._reset_for), self._receive_hint
        if self._mine and self._values.missing(state, state.legal_actions()):
            return partial(rate_actions, self._values.rate, state), self._receive_values
        return None

    def _ask(self, agent: Agent, state: State, seed: int | None) -> AgentResponse:
        def choose(observation: Observation) -> Action:
            if self._reset_for != seed:  # not done earlier, because they may be thinking
                self._reset_agents(seed)
            return agent.choose(observation)

        return request_action(agent, state, choose)

    def _reset_agents(self, seed: int | None) -> None:
        rng = random.Random(f"agents of game {seed}")
        for agent in self.agents.values():
            agent_seed = rng.getrandbits(32)
            if hasattr(agent, "reset"):
                agent.reset(agent_seed)
        self._reset_for = seed

    def _receive_action(self, answer: AgentResponse) -> None:
        if (
            answer.agent is self.agents[self.state.to_move]
        ):  # the agent has not been replaced meanwhile
            self._error_text = answer.error_text
            if answer.state is not None:
                self._history.play(answer.action, answer.state)
                self._selection = ActionSelection(self.state)

    def _receive_hint(self, answer: AgentResponse) -> None:
        self._wants_hint = False
        self._hint = set() if answer.action is None else action_parts(answer.action)
        text = answer.error_text
        if answer.action is not None:
            text = f"{type(answer.agent).__name__} would {action_text(answer.action)}."
        self._message = f"Hint: {text} "

    def _receive_values(self, values: Mapping[Action, float] | str) -> None:
        if isinstance(values, str):
            self._message, self._values.is_visible = values, False
        else:
            self._values.store(self.state, values)

    # Painting.

    def _paint(self, status: str = "") -> None:
        seen = self.state.observation(self.seat)
        values = (
            self._selection.part_values(self._values.visible_values(self.state))
            if self._mine
            else {}
        )
        news = self._message + (legend(values.values()) if values else "")
        svg, compact = (
            picture(
                seen,
                clicks=self._legal_clicks(),
                chosen=self._selection.selected_parts(),
                values=values,
                hint=self._hint,
                compact=layout,
            )
            for layout in (False, True)
        )
        buttons = self._buttons()
        self.board.show(
            svg,
            describe_position(seen),
            status or self._error_text or news + self._status_text(self._mine),
            buttons,
            off=[name for name in buttons if not self._is_enabled(name)],
            busy=self._is_thinking or self._wants_hint,
            compact=compact,
            moves=[f"player {player}: {action_text(action)}" for player, action in seen.plays()],
        )

    def _legal_clicks(self) -> dict[str, str]:
        """The parts of the picture that can be clicked now, with their labels for screen readers."""
        return clickable_parts(self.state, self.seat, self._selection) if self._mine else {}

    def _buttons(self) -> dict[str, str]:
        actions = action_buttons(self.state) if self._mine else {}
        buttons = {
            name: label + " (hint)" * (name in self._hint) for name, label in actions.items()
        }
        if self._error_text:
            buttons[RETRY] = "Ask the agent again"
        buttons |= {UNDO: "Undo", REDO: "Redo"}
        if self._mine or self._is_over:
            buttons[HINT] = "Hint"
            if self._values.rate:
                buttons[VALUES] = "Hide values" if self._values.is_visible else "Show values"
        return buttons | {RESIGN: "Resign", SEAT: "Change seats", NEW: "New game"}

    def _status_text(self, mine: bool) -> str:
        """The latest events, and what the person can do."""
        if self._history.resigned:
            return "You have resigned."
        if self._wants_hint:
            return f"{type(self.hint).__name__} is thinking about a hint …"
        if not mine and not self._is_over:
            agent = type(self.agents[self.state.to_move]).__name__
            return f"{agent}, player {self.state.to_move}, is thinking …"
        return status_text(self.state, self.seat, self._selection)

    def __repr__(self) -> str:
        return f"<Play in seat {self.seat}: {self.state.observation(self.seat)!r}>"
