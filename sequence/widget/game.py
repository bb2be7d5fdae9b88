"""A game of Sequence that a person plays against agents, on a board to click on."""

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
from sequence.pictures.words import action_words, in_words
from sequence.widget.advice import advice
from sequence.widget.answers import Answer, ask, rated
from sequence.widget.choice import Choice
from sequence.widget.offers import action_buttons, parts_of, parts_on_offer
from tictactoe.show.asking import Asking, Question
from tictactoe.show.click_board import ClickBoard, OnBoard
from tictactoe.show.history import History
from tictactoe.show.values import Values, legend

NEW, UNDO, REDO, AGAIN, SEAT = "new", "undo", "redo", "again", "seat"
HINT, RESIGN, VALUES = "hint", "resign", "values"


class Play(OnBoard):
    """A game of a person against agents; `play` makes it. End a notebook cell with it to show it.

    For an action, click a card of the hand, a lit cell and, where there is a draft row, the card to
    take, in any order; it is played as soon as nothing is left to choose. Clicking a cell first
    plays the card that stands on it. A second click takes a choice back. Trades, forgoing and
    passing have buttons.

    `states` are all states so far. `replay` is the game as text, for `sequence.engine.replay.read`.
    `agents` maps seats to agents; set one to play against another agent. No button waits for an
    agent: if the game changes while it thinks, its late answer is dropped. What is shown is what
    the person may see.
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
                raise ValueError(f"{agent!r} is not an agent: give an agent, like Greedy()")
        if len(agents) != rules.players - 1:
            raise ValueError(
                f"{rules} need {rules.players - 1} agents beside you, not {len(agents)}"
            )
        self.rules = rules
        self._sit(seat, agents)
        self._values, self._wants_hint = Values(values), False
        self._hint: set[str] = set()  # what is to be clicked for it
        self.board = ClickBoard(self.click)
        self._asking = Asking(self.board.lock, self._question)
        self._reset_for: int | None = None  # the seed of the game for which the agents were reset
        self._history = History(State.deal(rules, seed))
        self.seed = seed
        self._answer()

    def _sit(self, seat: int, agents: Sequence[Agent]) -> None:
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
        button. Anything that is not on offer now is ignored: it is a click on an older picture.
        """
        with self.board.lock:
            if not self._is_on(move):
                return
            if move not in self._offers() and move not in self._offered_buttons():
                if self._is_thinking:
                    self._paint("It is not your turn: " + self._advice(mine=False))
                return
            if move in (HINT, VALUES):
                self._wants_hint = move == HINT and self._mine
                self._values.shown ^= move == VALUES
            elif not self._click(move):
                return
            else:
                self._renew()
        self._asking.go_on()

    def _click(self, move: str) -> bool:
        """Change the game by a click; if it did not change, what is chosen is shown."""
        word, _, value = move.partition(" ")
        if word in (UNDO, REDO):
            step = self._history.undo if word == UNDO else self._history.redo
            changed = step(self._is_mine)
            if not changed:
                self._choice = Choice(self.state)
                self._paint(f"There is nothing to {word}.")
            return changed
        if word in (NEW, SEAT):
            if word == SEAT:
                self._sit((self.seat + 1) % self.rules.players, list(self.agents.values()))
            self.seed += 1
            self._history.restart(State.deal(self.rules, self.seed))
        elif word == RESIGN:
            self._history.resign()
        elif word != AGAIN:
            self._trouble, self._news = "", ""
            action = self._choice.click(word, value)
            if action is None:
                self._paint()
                return False
            self._history.play(action, self.state.after(action))
        return True

    def _is_mine(self, state: State) -> bool:
        return state.to_move == self.seat

    def _answer(self) -> None:
        """Let the agents play until it is the person's turn or the game is over."""
        with self.board.lock:
            self._renew()
        self._asking.go_on()

    def _renew(self) -> None:
        """The game has changed: what an agent was asked before is not wanted any more."""
        self._choice = Choice(self.state)
        self._trouble, self._news, self._wants_hint = "", "", False
        self._hint = set()
        self._asking.renew()

    def _is_on(self, button: str) -> bool:
        """Whether a button does something; when the game is over, only these do."""
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
        return not (self._is_over or self._is_mine(self.state) or self._trouble)

    # What is asked: an agent's action, a hint, what the actions are worth.

    def _question(self) -> Question | None:
        self._paint()
        state = self.state
        if self._is_thinking:
            return partial(self._ask, self.agents[state.to_move], state, self.seed), self._take
        if self._wants_hint:
            return partial(self._ask, self.hint, state, self._reset_for), self._take_hint
        if self._mine and self._values.missing(state, state.legal_actions()):
            return partial(rated, self._values.rate, state), self._take_values
        return None

    def _ask(self, agent: Agent, state: State, seed: int | None) -> Answer:
        def choose(observation: Observation) -> Action:
            if self._reset_for != seed:  # and not when the game began: they may have been thinking
                self._reset_agents(seed)
            return agent.choose(observation)

        return ask(agent, state, choose)

    def _reset_agents(self, seed: int | None) -> None:
        chance = random.Random(f"agents of game {seed}")
        for agent in self.agents.values():
            agent_seed = chance.getrandbits(32)
            if hasattr(agent, "reset"):
                agent.reset(agent_seed)
        self._reset_for = seed

    def _take(self, answer: Answer) -> None:
        if answer.agent is self.agents[self.state.to_move]:  # and no other one was chosen meanwhile
            self._trouble = answer.trouble
            if answer.state is not None:
                self._history.play(answer.action, answer.state)
                self._choice = Choice(self.state)

    def _take_hint(self, answer: Answer) -> None:
        self._wants_hint = False
        self._hint = set() if answer.action is None else parts_of(answer.action)
        said = answer.trouble
        if answer.action is not None:
            said = f"{type(answer.agent).__name__} would {action_words(answer.action)}."
        self._news = f"Hint: {said} "

    def _take_values(self, found: Mapping[Action, float] | str) -> None:
        if isinstance(found, str):
            self._news, self._values.shown = found, False
        else:
            self._values.learn(self.state, found)

    # What is on the board.

    def _paint(self, status: str = "") -> None:
        seen = self.state.observation(self.seat)
        worth = self._choice.worth(self._values.of(self.state)) if self._mine else {}
        news = self._news + (legend(worth.values()) if worth else "")
        svg, narrow = (
            picture(
                seen,
                clicks=self._offers(),
                chosen=self._choice.clicked(),
                values=worth,
                hint=self._hint,
                narrow=form,
            )
            for form in (False, True)
        )
        buttons = self._offered_buttons()
        self.board.show(
            svg,
            in_words(seen),
            status or self._trouble or news + self._advice(self._mine),
            buttons,
            off=[name for name in buttons if not self._is_on(name)],
            busy=self._is_thinking or self._wants_hint,
            narrow=narrow,
            moves=[f"player {player}: {action_words(action)}" for player, action in seen.plays()],
        )

    def _offers(self) -> dict[str, str]:
        """What can be clicked in the picture now, with the words for a screen reader."""
        return parts_on_offer(self.state, self.seat, self._choice) if self._mine else {}

    def _offered_buttons(self) -> dict[str, str]:
        actions = action_buttons(self.state) if self._mine else {}
        buttons = {
            name: label + " (hint)" * (name in self._hint) for name, label in actions.items()
        }
        if self._trouble:
            buttons[AGAIN] = "Ask the agent again"
        buttons |= {UNDO: "Undo", REDO: "Redo"}
        if self._mine or self._is_over:
            buttons[HINT] = "Hint"
            if self._values.rate:
                buttons[VALUES] = "Hide values" if self._values.shown else "Show values"
        return buttons | {RESIGN: "Resign", SEAT: "Change seats", NEW: "New game"}

    def _advice(self, mine: bool) -> str:
        """What happened, and what there is to do."""
        if self._history.resigned:
            return "You have resigned."
        if self._wants_hint:
            return f"{type(self.hint).__name__} is thinking about a hint …"
        if not mine and not self._is_over:
            agent = type(self.agents[self.state.to_move]).__name__
            return f"{agent}, player {self.state.to_move}, is thinking …"
        return advice(self.state, self.seat, self._choice)

    def __repr__(self) -> str:
        return f"<Play in seat {self.seat}: {self.state.observation(self.seat)!r}>"
