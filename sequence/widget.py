"""Play Sequence against agents by clicking in JupyterLab, and step through finished games.

    from sequence.widget import play, replay
    play(against=Greedy())
"""

import random
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from sequence.agents.players import Greedy
from sequence.board.actions import FORGO, PASS, PLACE, TRADE, Action, IllegalAction
from sequence.board.cards import is_jack
from sequence.board.layout import NO_CELL, card_at
from sequence.board.rules import DRAFT, Rules
from sequence.engine import replay as replays
from sequence.engine.play import Agent, Game
from sequence.engine.state import State
from sequence.pictures.text import turn_text
from sequence.pictures.view import picture
from sequence.pictures.words import (
    SHAPES,
    action_words,
    card_name,
    card_words,
    in_words,
    turn_sentence,
)
from tictactoe.errors import describe
from tictactoe.show.asking import Asking
from tictactoe.show.click_board import ClickBoard

NEW, UNDO, AGAIN = "new", "undo", "again"


class Play:
    """A game of a person against agents; `play` makes it. End a notebook cell with it to show it.

    For an action, click a card of the hand, a lit cell and, where there is a draft row, the card to
    take, in any order; it is played as soon as nothing is left to choose. Clicking a cell first
    plays the card that stands on it. A second click takes a choice back. Trades, forgoing and
    passing have buttons.

    `states` are all states so far. `replay` is the game as text, for `sequence.engine.replay.read`.
    `agents` maps seats to agents; set one to play against another agent. Undo and a new game do not
    wait for an agent: its late answer is dropped.
    """

    def __init__(self, against: Agent | Sequence[Agent] | None = None, seat: int = 0,
                 seed: int = 0, rules: Rules = DRAFT) -> None:
        if seat not in range(rules.players):
            raise ValueError(f"{rules} have no seat {seat!r}")
        others = [player for player in range(rules.players) if player != seat]
        agents = Greedy() if against is None else against
        agents = list(agents) if isinstance(agents, list | tuple) else [agents] * len(others)
        for agent in agents:
            if isinstance(agent, type) or not callable(getattr(agent, "choose", None)):
                raise ValueError(f"{agent!r} is not an agent: give an agent, like Greedy()")
        if len(agents) != len(others):
            raise ValueError(f"{rules} need {len(others)} agents beside you, not {len(agents)}")
        self.seat, self.rules = seat, rules
        self.agents = dict(zip(others, agents, strict=True))
        self.board = ClickBoard(self.click)
        self._asking = Asking(self.board.lock, self._question, self._play)
        self._reset_for: int | None = None  # the seed of the game for which the agents were reset
        self._begin(seed)
        self._answer()

    @property
    def state(self) -> State:
        """The position that is on the board."""
        return self.states[-1]

    @property
    def replay(self) -> str:
        """The game so far as text."""
        return replays.write(self.states)

    def click(self, move: str) -> None:
        """Handle a click on the board.

        `move` is "card 4d", "cell 2,4", "take 8d", "trade 4d", "forgo", "pass", "undo", "new" or
        "again". Anything that is not on offer now is ignored: it is a click on an older picture.
        """
        with self.board.lock:
            if move not in self._offers() and move not in self._offered_buttons():
                if self._is_thinking:
                    self._paint("It is not your turn: " + self._advice(mine=False))
                return
            word, _, value = move.partition(" ")
            if word == NEW:
                self._begin(self.seed + 1)
            elif word == UNDO:
                if not self._undo():
                    return
            elif word != AGAIN and not self._choose(word, value):
                return
            self._renew()
        self._asking.go_on()

    def _begin(self, seed: int) -> None:
        self.seed = seed
        self.states = [State.deal(self.rules, seed)]

    def _undo(self) -> bool:
        """Back to the person's decision before this one, if there is any."""
        earlier = [number for number, state in enumerate(self.states[:-1])
                   if state.to_move == self.seat]
        if earlier:
            del self.states[earlier[-1] + 1:]
        else:
            self._forget()
            self._paint("There is nothing to undo.")
        return bool(earlier)

    def _forget(self) -> None:
        """Nothing is chosen yet of the next action."""
        self._card, self._target, self._take = "", None, ""

    def _choose(self, word: str, value: str) -> bool:
        """Choose a part of the next action; whether that was the last one, and it is played."""
        self._trouble = ""
        if word == "card":
            self._card = "" if self._card == value else value
            if self._target not in self._targets():
                self._target = None
        elif word == "cell":
            cell = tuple(int(number) for number in value.split(","))
            self._target = None if self._target == cell else cell
            self._card = self._card or card_at(cell)
        elif word == TRADE:
            self._card, self._target = value, TRADE
        elif word == "take":
            self._take = "" if self._take == value else value
        else:
            self._forget()
            self._target = word
        fitting = [action for action in self.state.legal_actions() if self._fits(action)]
        # A card of the hand alone plays nothing, even if it leaves no choice.
        is_whole = len(fitting) == 1 and (self._target is not None or bool(self._take))
        if is_whole:
            self.states.append(self.state.after(fitting[0]))
        else:
            self._paint()
        return is_whole

    def _fits(self, action: Action) -> bool:
        """Whether an action has everything that is chosen."""
        return (self._card in ("", action.play_card) and self._take in ("", action.draft_card)
                and self._target in (None, _target(action)))

    def _targets(self) -> dict:
        """What the chosen card can be used for: cells, each with the kind of action, or a trade.

        While no card is chosen, the cells of all cards in the hand except jacks, which would light
        nearly all of the board.
        """
        return {_target(action): action.kind for action in self.state.legal_actions()
                if (action.play_card == self._card if self._card
                    else action.kind == PLACE and not is_jack(action.play_card))}

    def _answer(self) -> None:
        """Let the agents play until it is the person's turn or the game is over."""
        with self.board.lock:
            self._renew()
        self._asking.go_on()

    def _renew(self) -> None:
        """The game has changed: what an agent was asked before is not wanted any more."""
        self._forget()
        self._trouble = ""
        self._asking.renew()

    @property
    def _is_thinking(self) -> bool:
        """Whether an agent is to move and has not failed."""
        return not (self.state.is_over or self.state.to_move == self.seat or self._trouble)

    def _question(self) -> "Callable[[], _Answer] | None":
        """Ask for an agent's action if it is its turn."""
        self._paint()
        if not self._is_thinking:
            return None
        return partial(self._ask, self.agents[self.state.to_move], self.state, self.seed)

    def _ask(self, agent: Agent, state: State, seed: int) -> "_Answer":
        """Let an agent choose, without a word about its hand if it fails; this may take long."""
        try:
            if self._reset_for != seed:  # and not when the game began: they may have been thinking
                self._reset_agents(seed)
            action = agent.choose(state.observation())
            if action in state.legal_actions():
                return _Answer(agent, state.after(action))
            wrong = f"played {action!r:.120}, which is not legal."
        except KeyboardInterrupt:  # the kernel's Interrupt button
            wrong = "was interrupted."
        except IllegalAction:  # on a state that it made up: the message has the hand in it
            wrong = "raised IllegalAction."
        except BaseException as error:  # show any mistake of the agent
            wrong = f"raised {describe(error)}"
        return _Answer(agent, None, f"{type(agent).__name__}, player {state.to_move}, {wrong}")

    def _reset_agents(self, seed: int) -> None:
        chance = random.Random(f"agents of game {seed}")
        for agent in self.agents.values():
            agent_seed = chance.getrandbits(32)
            if hasattr(agent, "reset"):
                agent.reset(agent_seed)
        self._reset_for = seed

    def _play(self, answer: "_Answer") -> None:
        if answer.agent is self.agents[self.state.to_move]:  # and no other one was chosen meanwhile
            self._trouble = answer.trouble
            if answer.state is not None:
                self.states.append(answer.state)

    # What is on the board.

    def _paint(self, status: str = "") -> None:
        state = self.state
        row, col = self._target if isinstance(self._target, tuple) and self._target else ("", "")
        chosen = {f"card {self._card}", f"take {self._take}", f"cell {row},{col}"}
        seen = state.observation(self.seat)
        self.board.show(picture(seen, clicks=self._offers(), chosen=chosen), in_words(seen),
                        status or self._trouble or self._advice(self._mine),
                        self._offered_buttons())

    @property
    def _mine(self) -> bool:
        """Whether the person is to move."""
        return self.state.to_move == self.seat and not self.state.is_over

    def _offers(self) -> dict[str, str]:
        """What can be clicked in the picture now, with the words for a screen reader."""
        if not self._mine:
            return {}
        legal = self.state.legal_actions()
        playable = {action.play_card for action in legal if action.play_card}
        offers = {f"card {card}": f"{card_words(card)}, in your hand"
                  for card in self.state.hand(self.seat) if card in playable}
        offers |= {f"take {card}": f"take {card_words(card)} from the draft row"
                   for card in self.state.draft_row if playable}
        for target, kind in self._targets().items():
            if isinstance(target, tuple):
                row, col = target
                words = f"{kind} a chip, row {row}, column {col}"
                offers[f"cell {row},{col}"] = f"{card_words(card_at(target))}: {words}"
        return offers

    def _offered_buttons(self) -> dict[str, str]:
        buttons = {}
        if self._mine:
            for action in self.state.legal_actions():
                if action == FORGO:
                    buttons["forgo"] = "Forgo the trade"
                elif action == PASS:
                    buttons["pass"] = "Pass"
                elif action.kind == TRADE:
                    buttons[f"trade {action.play_card}"] = f"Trade {card_name(action.play_card)}"
        elif self._trouble:
            buttons[AGAIN] = "Ask the agent again"
        return buttons | {UNDO: "Undo", NEW: "New game"}

    def _advice(self, mine: bool) -> str:
        """What happened, and what there is to do."""
        state = self.state
        if state.is_over:
            score = " to ".join(map(str, state.sequences))
            ending = {None: "A tie", state.rules.side(self.seat): "You have won"}
            return f"{ending.get(state.winner, 'You have lost')}: {turn_text(state)}, {score}."
        if not mine:
            agent = type(self.agents[state.to_move]).__name__
            return f"{agent}, player {state.to_move}, is thinking …"
        last = list(state.observation().plays())[-1:]
        news = [f"Player {player}: {action_words(action)}. "
                for player, action in last if player != self.seat]
        you = f"{''.join(news)}Your turn ({SHAPES[state.rules.side(self.seat)]}s): "
        if PASS in state.legal_actions():
            return you + "you have no legal action but to pass."
        if FORGO in state.legal_actions() and not self._card:
            return you + "you hold a dead card. Trade it for a card of the row, or forgo the trade."
        missing = []
        if not self._card:
            missing.append("a card of your hand")
        if self._target is None and TRADE not in self._targets():
            missing.append("a lit cell")
        if state.draft_row and not self._take:
            missing.append("a card of the draft row")
        if not missing:
            return f"{you}{card_name(self._card)} is dead: press its Trade button."
        return f"{you}click {', '.join(missing[:-1])}{' and ' * (len(missing) > 1)}{missing[-1]}."

    def _repr_mimebundle_(self, **kwargs):
        return self.board._repr_mimebundle_(**kwargs)

    def __repr__(self) -> str:
        return f"<Play in seat {self.seat}: {self.state.observation(self.seat)!r}>"


class _Answer(NamedTuple):
    """What came of asking an agent: the state after its action, or what is wrong with it."""

    agent: Agent
    state: State | None
    trouble: str = ""


class Replay:
    """Steps through a game with all hands open; `replay` makes it. `step` is the state shown."""

    def __init__(self, game: Game | str | Path | Sequence[State]) -> None:
        if isinstance(game, Path):
            game = game.read_text(encoding="utf-8")
        if isinstance(game, str):
            self.states = replays.read(game)
        else:
            self.states = tuple(game.states if isinstance(game, Game) else game)
        if not self.states:
            raise ValueError("a game to step through has at least one state")
        self.board = ClickBoard(self.click)
        self.go_to(0)

    def click(self, move: str) -> None:
        """Handle a click: "first", "back", "next", "last" or "step N"."""
        with self.board.lock:
            last = len(self.states) - 1
            steps = {"first": 0, "back": self.step - 1, "next": self.step + 1, "last": last}
            step = steps[move] if move in steps else int(move.removeprefix("step "))
            self.go_to(min(max(step, 0), last))

    def go_to(self, step: int) -> None:
        """Show a state by its number, from 0; raises IndexError if there is none."""
        with self.board.lock:
            self._go_to(step)

    def _go_to(self, step: int) -> None:
        last = len(self.states) - 1
        if step not in range(last + 1):
            raise IndexError(f"there is no step {step!r}; the steps are 0 to {last}")
        self.step, state = step, self.states[step]
        status = f"{step} of {last}: the beginning."
        if step:
            before, action = self.states[step - 1], state.history[-1]
            status = f"{step} of {last}: player {before.to_move}: {action_words(action)}."
        if state.is_over:
            status += f" {turn_sentence(state)}."
        hands = {player: state.hand(player) for player in range(state.rules.players)}
        self.board.show(
            picture(state, hands), in_words(state, hands), status,
            {"first": "First", "back": "Back", "next": "Next", "last": "Last"}, (step, last))

    def _repr_mimebundle_(self, **kwargs):
        return self.board._repr_mimebundle_(**kwargs)

    def __repr__(self) -> str:
        return f"<Replay at {self.step} of {len(self.states) - 1}: {self.states[self.step]!r}>"


def play(against: Agent | Sequence[Agent] | None = None, seat: int = 0, seed: int = 0,
         rules: Rules = DRAFT) -> Play:
    """Show a board to play on against agents; end a notebook cell with it.

    `against` is one agent for all the other seats, or one for each of them in the order of the
    seats; by default `Greedy`. You sit in `seat`. `seed` deals the cards and seeds the agents as
    `sequence.play` does.

    Raises ValueError for a seat that the rules do not have, for something that is not an agent, and
    for a wrong number of agents.
    """
    return Play(against, seat, seed, rules)


def replay(game: Game | str | Path | Sequence[State]) -> Replay:
    """Step through a game: what `sequence.play` returns, a replay's text or file, or the states.

    Raises `ReplayError` for a text that is not a replay, OSError for a file that cannot be read,
    and ValueError if there are no states.
    """
    return Replay(game)


def _target(action: Action) -> tuple | str:
    """What an action's card is for: its cell, or "trade", "forgo" or "pass"."""
    if action.coords != NO_CELL:
        return action.coords
    return "forgo" if action == FORGO else action.kind
