"""Questions about SARSA and Q-learning for Sequence: patterns, features, updates, choices."""

from collections.abc import Iterator, Mapping
from typing import Any

from course.probes.positions import read_position
from course.probes.question import BadReply, Part, Question, call, each, get, items, positions_of
from sequence.pictures.text import SIDES

MOST_ACTIONS = 40  # whose features are asked for in one reply
DIGITS = 6  # of a value, so that the order of a sum does not matter
OUTCOME = 1000.0  # what a game that ends is worth
EXPLORED = 40  # choices of an agent that always explores: they are never all the same
FOUR = "for the four directions"
SIZE = 10
MANY = 1000  # candidates at most
FEATURES = [f"FEATURES[{number}]" for number in range(11)]
OPPONENT = [f"OPPONENT_PATTERNS[{number}]" for number in range(4)]


def _rays(module, texts: list[str], gaps: int) -> Iterator[Part]:
    yield (("connected", "gaps", "discrete", "open"),
           lambda: _columns([get(module, "one_side")(text, gaps) for text in texts], 4, "one_side"))


def _direction(module, on: str, cell: list[int]) -> Iterator[Part]:
    def infos():
        board, _ = get(module, "views")(read_position(on))
        found = [get(module, "direction_info")(board, tuple(cell), direction)
                 for direction in get(module, "DIRECTIONS")]
        connect, gaps, front, back, *ends = _columns(found, 6, "direction_info")
        return connect, gaps, _pairs(front, back), _pairs(*ends)

    yield ("connect", "gaps", "discrete", "open"), infos


def _pattern(module, infos: list[list]) -> Iterator[Part]:
    def names():
        make = get(module, "DirectionInfo")
        return [[get(module, "pattern")(make(*info)) for info in infos]]

    yield ("names",), names


def _cell_scores(module, on: str) -> Iterator[Part]:
    mine, theirs = get(module, "views")(read_position(on))
    yield ("place",), lambda: [[get(module, "place_score")(mine, theirs, cell)
                                for cell in _cells_with(mine, get(module, "EMPTY"))]]
    yield ("remove",), lambda: [[get(module, "remove_score")(theirs, cell)
                                 for cell in _cells_with(mine, get(module, "THEIRS"))]]


def _action_scores(module, on: str) -> Iterator[Part]:
    observation = read_position(on)
    scores = get(module, "Scores")(observation)
    legal = list(observation.legal_actions())[:MOST_ACTIONS]
    yield ("draft",), lambda: [[scores.draft(card) for card in observation.draft_row]]
    yield ("best",), lambda: [scores.best_draft()]
    yield ("reward",), lambda: [[scores.reward(action) for action in legal]]
    yield ("score",), lambda: [[_rounded(scores.score(action)) for action in legal]]
    yield (("candidates",),
           lambda: [list(map(str, items(scores.candidates(observation.legal_actions()))))])


def _state_features(module, on: str) -> Iterator[Part]:
    def counts():
        found = items(get(module, "state_features")(*get(module, "views")(read_position(on))))
        own = len(get(module, "PATTERNS"))
        return found[:own], found[own:]

    yield ("own", "opponent"), counts


def _action_features(module, on: str) -> Iterator[Part]:
    def changes():
        observation = read_position(on)
        boards = get(module, "views")(observation)
        found = [items(get(module, "action_features")(*boards, action))
                 for action in _spread(list(observation.legal_actions()))]
        return [features[:-1] for features in found], [features[-1] for features in found]

    yield ("changes", "trade"), changes


def _discards(module, on: list[str]) -> Iterator[Part]:
    yield ("jacks",), lambda: [[items(get(module, "discard_features")(read_position(text)))
                                for text in on]]


def _targets(module, reward: float, taken: float, values: list[float],
             gamma: float) -> Iterator[Part]:
    for method in ("sarsa", "q_learning"):
        yield ((method,), lambda method=method: [[
            _rounded(get(module, "td_target")(method, reward, taken, values, gamma)),
            _rounded(get(module, "td_target")(method, reward, None, [], gamma))]])


def _table(module, updates: list[list], alpha: float) -> Iterator[Part]:
    def updated():
        table, seen = get(module, "QTable")(), []
        for state, action, target in updates:
            table.update(tuple(state), tuple(action), target, alpha)
            seen.append(_rounded(table.value(tuple(state), tuple(action))))
        return seen, len(table.values)

    yield ("values", "stored"), updated


def _agent(module, on: str, favoured: int, bonus: float) -> Iterator[Part]:
    """What an agent plays with an empty table, and with one that likes one of its actions."""
    def choices():
        observation, agent = read_position(on), get(module, "SarsaAgent")()
        state, rated = agent.rate(observation)
        actions = [str(agent.choose(observation))]
        agent.table.values[state, rated[favoured].features] = bonus
        _, again = agent.rate(observation)
        actions.append(str(agent.choose(observation)))
        agent = get(module, "SarsaAgent")(epsilon=1.0, seed=1)
        drawn = {str(agent.choose(observation)) for _ in range(EXPLORED)}
        if drawn <= {str(candidate.action) for candidate in rated}:
            actions.append("explores" if len(drawn) > 1 else "never explores")
        else:
            actions.append("plays what is no candidate")
        return ([[_rounded(candidate.score) for candidate in again], actions])

    yield ("scores", "actions"), choices


def _learning(module, on: list[str], method: str, value: float) -> Iterator[Part]:
    """The table's values after each choice of a learning agent, and after the end of the game.

    Before the last choice, the last candidate of that turn is given a value.
    """
    def learned():
        agent, seen = get(module, "SarsaAgent")(method=method, learn=True), []
        for turn, text in enumerate(on, 1):
            if turn == len(on):
                state, rated = agent.rate(read_position(text))
                agent.table.values[state, rated[-1].features] = value
            agent.choose(read_position(text))
            seen.append(_values(agent.table))
        agent.finish(OUTCOME)
        return seen, _values(agent.table)

    yield ("turns", "end"), learned


def _values(table) -> list[float]:
    return sorted(map(_rounded, table.values.values()))


def _columns(rows: list, width: int, name: str) -> list:
    for row in rows:
        if not isinstance(row, tuple) or len(row) != width:
            raise BadReply(f"{name} must return {width} values, it returned {row!r:.60}")
    return list(map(list, zip(*rows, strict=True)))


def _pairs(first: list, second: list) -> list:
    return list(map(list, zip(first, second, strict=True)))


def _cells_with(board: str, what: str) -> list[tuple[int, int]]:
    return [divmod(place, SIZE) for place, chip in enumerate(board) if chip == what]


def _spread(actions: list) -> list:
    """At most `MOST_ACTIONS` of the actions, evenly spread, the first and the last among them."""
    last, most = len(actions) - 1, min(len(actions), MOST_ACTIONS)
    return [actions[number * last // max(1, most - 1)] for number in range(most)]


def _rounded(value: Any) -> float:
    try:
        return round(float(value), DIGITS)
    except (TypeError, ValueError, OverflowError) as error:
        raise BadReply(f"expected a number, not {value!r:.60}") from error


def _called(name: str):
    return lambda case: call(name, case)


def _of_agent(case: Mapping[str, Any]) -> str:
    return (f"SarsaAgent().rate({positions_of(case)[0]}), also with the value {case['bonus']} "
            f"for candidate number {case['favoured']}")


def _of_learning(case: Mapping[str, Any]) -> str:
    return (f"SarsaAgent(method={case['method']!r}, learn=True), which chooses on "
            f"{', then '.join(positions_of(case))}; the value {case['value']} is given to the last "
            "candidate of the last turn")


def _cells_where(on: str, wanted) -> list[str]:
    """The cells whose chip is wanted, row by row."""
    observation = read_position(on)
    own = SIDES[observation.side]
    return [f"cell {(row, col)}" for row in range(SIZE) for col in range(SIZE)
            if wanted(observation[row, col], own)]


def _first_actions(case: Mapping[str, Any]) -> list[list[str]]:
    return [list(map(str, list(read_position(case["on"]).legal_actions())[:MOST_ACTIONS]))]


def _some_actions(case: Mapping[str, Any]) -> list[list[str]]:
    return [list(map(str, _spread(list(read_position(case["on"]).legal_actions()))))]


QUESTIONS = {
    "sarsa_rays": Question(_rays, ("connected", "gaps", "discrete", "open"),
                           lambda case: f"one_side(text, {case['gaps']}) for {case['texts']}",
                           labels=dict.fromkeys(("connected", "gaps", "discrete", "open"),
                                                each("texts"))),
    "sarsa_direction": Question(
        _direction, ("connect", "gaps", "discrete", "open"),
        lambda case: f"direction_info(views({positions_of(case)[0]})[0], {tuple(case['cell'])}, "
                     "direction)",
        {"connect": FOUR, "gaps": FOUR, "discrete": f"front and back, {FOUR}",
         "open": f"front and back, {FOUR}"}),
    "sarsa_pattern": Question(
        _pattern, ("names",),
        lambda case: f"pattern(DirectionInfo(*info)) for {case['infos']}",
        labels={"names": each("infos", "DirectionInfo")}),
    "sarsa_cells": Question(
        _cell_scores, ("place", "remove"), _called("views"),
        {"place": "for each empty cell, row by row",
         "remove": "for each chip that may be removed, row by row"},
        labels={"place": lambda case: [_cells_where(case["on"], lambda chip, own: not chip)],
                "remove": lambda case: [_cells_where(
                    case["on"], lambda chip, own: chip and chip in SIDES and chip != own)]}),
    "sarsa_scores": Question(
        _action_scores, ("draft", "best", "reward", "score", "candidates"), _called("Scores"),
        {"draft": "for the cards of the draft row",
         "reward": f"of the first {MOST_ACTIONS} legal actions",
         "score": f"of the first {MOST_ACTIONS} legal actions"},
        labels={"draft": lambda case: [[f"card {card}" for card in
                                        read_position(case["on"]).draft_row]],
                "reward": _first_actions, "score": _first_actions}),
    "sarsa_state": Question(_state_features, ("own", "opponent"), _called("state_features"),
                            labels={"own": lambda case: [FEATURES],
                                    "opponent": lambda case: [OPPONENT]}),
    "sarsa_actions": Question(
        _action_features, ("changes", "trade"), _called("action_features"),
        {"changes": f"of {MOST_ACTIONS} legal actions at most, spread evenly",
         "trade": "of the same actions"},
        labels={"changes": lambda case: [*_some_actions(case), FEATURES],
                "trade": _some_actions}),
    "sarsa_discards": Question(
        _discards, ("jacks",),
        lambda case: f"discard_features(observation) for {', '.join(positions_of(case))}",
        {"jacks": "two-eyed and one-eyed for each"},
        labels={"jacks": lambda case: [positions_of(case), ["two-eyed", "one-eyed"]]}),
    "sarsa_targets": Question(
        _targets, ("sarsa", "q_learning"), _called("td_target"),
        dict.fromkeys(("sarsa", "q_learning"), "in the middle of a game, at its end"),
        labels=dict.fromkeys(("sarsa", "q_learning"), lambda case: [
            ["in the middle of a game", "at its end"]])),
    "sarsa_table": Question(
        _table, ("values", "stored"), _called("QTable().update"),
        {"values": "Q(s, a) after each update", "stored": "how many entries the table has"},
        labels={"values": lambda case: [[f"update {number + 1}"
                                         for number in range(len(case["updates"]))]]}),
    "sarsa_agent": Question(
        _agent, ("scores", "actions"), _of_agent,
        {"scores": "with that value in the table", "actions": "without it, with it"},
        labels={"scores": lambda case: [[f"candidate {n}" for n in range(MANY)]],
                "actions": lambda case: [["with an empty table", "with that value in the table",
                                          "with epsilon 1"]]}),
    "sarsa_learning": Question(
        _learning, ("turns", "end"), _of_learning,
        {"turns": "the table's values after each choice", "end": "and after the game"},
        labels={"turns": lambda case: [[f"after choice {n + 1}"
                                        for n in range(len(case["on"]))]]}),
}  # fmt: skip
