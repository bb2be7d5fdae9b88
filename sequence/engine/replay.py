"""Replays: a game as text, from which the same states can be read.

    sequence replay 1 rules: draft, 2 players, 2 teams deck: 8s 3s th ... (104 cards in dealing
    order, see `State.from_deck`) 0 place 4d at 2,4 take 8d 1 trade 5c take jd 1 forgo 0 pass
    result: 2 1, side 0

Each action is preceded by the number of its player. The result consists of each side's number of
sequences, then "side N" for the winner, "tie" or "unfinished". If discards are reshuffled, the line
of the deck is followed by one with the seed, "reshuffle: 123". Empty lines are ignored, and so is
everything after a "#".
"""

import re
from collections.abc import Sequence

from sequence.board.actions import FORGO, PASS, Action, IllegalAction
from sequence.board.cards import CARDS, NO_CARD
from sequence.board.layout import NO_CELL
from sequence.board.rules import RULE_SETS, Rules
from sequence.engine.state import State

HEADER = "sequence replay 1"
BOM = "\ufeff"  # the byte order mark that some editors write at the start
END_OF_TEXT = ""  # the line after the last one
ACTION = re.compile(r"(place|remove|trade) (\w\w)(?: at ([0-9]),([0-9]))?(?: take (\w\w))?")

SEED = re.compile(r"[0-9]{1,1000}")


class ReplayError(ValueError):
    """A text that is not a replay; the message begins with the number of the line."""


def write(states: Sequence[State]) -> str:
    """The replay of a game that is given by its states, starting with the deal.

    Raises ValueError if there is no state, if its rules are not a named rule set, or if a state
    does not follow from the previous one by its last action and the next card of the deck, because
    the text cannot contain draws that were chosen.
    """
    if not states:
        raise ValueError("a replay needs at least one state, the one just dealt")
    start, final = states[0], states[-1]
    rules = start.rules
    if not rules.is_named:
        raise ValueError(f"a replay needs a rule set of {', '.join(RULE_SETS)}, not {rules!r}")
    if start.history:
        raise ValueError(f"a replay begins with a state just dealt, not with {start!r}")
    lines = [
        HEADER,
        f"rules: {rules.name}, {rules.players} players, {rules.teams} teams",
        "deck: " + " ".join(CARDS[number] for number in start.deck),
    ]
    if start.reshuffle_seed is not None:
        lines.append(f"reshuffle: {start.reshuffle_seed}")
    state = start
    for action, after in zip(final.history, states[1:], strict=True):
        lines.append(f"{state.to_move} {action}")
        state = state.after(action)
        if state != after:
            raise ValueError(f"a replay cannot show how {after!r} follows from the deck")
    return "\n".join([*lines, f"result: {_result(final)}", ""])


def read(text: str) -> tuple[State, ...]:
    """The states of a replay, from the deal to the last one.

    Raises `ReplayError`, which names the line, for a text that is not a replay, an action that the
    rules forbid, and a result to which the actions do not lead.
    """
    lines = [
        (number, line.partition("#")[0].strip())
        for number, line in enumerate(text.removeprefix(BOM).splitlines(), start=1)
    ]
    lines = [*((number, line) for number, line in lines if line), (len(lines) + 1, END_OF_TEXT)]
    number, line = _next(lines, "the header")
    if line != HEADER:
        raise ReplayError(f"line {number}: a replay begins with {HEADER!r}, not {line!r}")
    rules = _rules(*_field(lines, "rules"))
    number, cards = _field(lines, "deck")
    seed = 0
    if not rules.row:
        seed_line, digits = _field(lines, "reshuffle")
        if not SEED.fullmatch(digits):
            raise ReplayError(f"line {seed_line}: the seed is a number, not {digits!r:.60}")
        seed = int(digits)
    try:
        states = [State.from_deck(rules, cards.split(), seed)]
    except ValueError as error:
        raise ReplayError(f"line {number}: {error}") from error
    while True:
        number, line = _next(lines, "the result")
        if line.startswith("result:"):
            break
        states.append(_play_line(states[-1], number, line))
    result = line.partition(":")[2].strip()
    if result != _result(states[-1]):
        raise ReplayError(
            f"line {number}: the actions lead to {_result(states[-1])!r}, not {result!r}"
        )
    if lines[0][1] != END_OF_TEXT:
        number, text = lines[0]
        raise ReplayError(
            f"line {number}: nothing may follow the result, but this line does: {text!r}"
        )
    return tuple(states)


def _next(lines: list[tuple[int, str]], wanted: str) -> tuple[int, str]:
    number, line = lines.pop(0)
    if line == END_OF_TEXT:
        raise ReplayError(f"line {number}: the text ends before {wanted}")
    return number, line


def _field(lines: list[tuple[int, str]], name: str) -> tuple[int, str]:
    number, line = _next(lines, f"the line {name!r}")
    if not line.startswith(f"{name}:"):
        raise ReplayError(f"line {number}: expected '{name}: ...', not {line!r}")
    return number, line.partition(":")[2].strip()


def _rules(number: int, text: str) -> Rules:
    match = re.fullmatch(r"(\w+), ([0-9]+) players, ([0-9]+) teams", text)
    if match is None or match[1] not in RULE_SETS:
        raise ReplayError(
            f"line {number}: rules are like 'draft, 2 players, 2 teams' and one of "
            f"{', '.join(RULE_SETS)}, not {text!r}"
        )
    try:
        return RULE_SETS[match[1]].for_players(int(match[2]), int(match[3]))
    except ValueError as error:
        raise ReplayError(f"line {number}: {error}") from error


def _play_line(state: State, number: int, line: str) -> State:
    if state.is_terminal():
        raise ReplayError(f"line {number}: the game is over, so expected the result, not {line!r}")
    player, _, words = line.partition(" ")
    if player != str(state.to_move):
        raise ReplayError(f"line {number}: player {state.to_move} is to move, not {player!r}")
    try:
        return state.after(_action(number, words))
    except IllegalAction as error:
        raise ReplayError(f"line {number}: {error}") from error


def _action(number: int, words: str) -> Action:
    for named in (FORGO, PASS):
        if words == str(named):
            return named
    match = ACTION.fullmatch(words)
    if match is None:
        raise ReplayError(
            f"line {number}: {words!r} is not an action like "
            "'place 4d at 2,4 take 8d', 'forgo' or 'pass'"
        )
    kind, play, row, col, draft = match.groups()
    coords = NO_CELL if row is None else (int(row), int(col))
    return Action(kind, play, draft or NO_CARD, coords)


def _result(state: State) -> str:
    end = "unfinished"
    if state.is_terminal():
        end = "tie" if state.winner is None else f"side {state.winner}"
    return f"{' '.join(map(str, state.sequences))}, {end}"
