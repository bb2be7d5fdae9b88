"""Questions about SARSA and Q-learning for Sequence: patterns, features, updates, choices."""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from copy import copy
from functools import cache, partial
from typing import Any

from course.probes.chances import same_chances
from course.probes.positions import read_position
from course.probes.question import BadReply, Part, Question, call, each, get, items, positions_of
from sequence.pictures.text import SIDES

MOST_ACTIONS = 40  # whose features are asked for in one reply
DIGITS = 6  # of a value, so that the order of a sum does not matter
OUTCOME = 1000.0  # what a game that ends is worth
DRAWS = 3_000  # choices of an agent that explores: enough to see unequal chances
AGAIN = 100  # choices that are made once more from the same seed: they are never equal by luck
MARK = 7  # what a subclass adds to the state, as the notebook's agents do
BETWEEN = 100.0  # the values of neighbouring candidates
GAMES = 8  # in which an agent learns from what it explored
OTHER_METHOD = "expected_sarsa"  # that is none of the two
FOUR = "for the four directions"
SIZE = 10
MANY = 1000  # candidates at most
FEATURES = [f"FEATURES[{number}]" for number in range(11)]
OPPONENT = [f"OPPONENT_PATTERNS[{number}]" for number in range(4)]


def _rays(module, texts: list[str], gaps: int) -> Iterator[Part]:
    yield (
        ("connected", "gaps", "discrete", "open"),
        lambda: _columns([get(module, "one_side")(text, gaps) for text in texts], 4, "one_side"),
    )


def _direction(module, on: str, cell: list[int]) -> Iterator[Part]:
    def infos():
        board, _ = get(module, "views")(read_position(on))
        found = [
            get(module, "direction_info")(board, tuple(cell), direction)
            for direction in get(module, "DIRECTIONS")
        ]
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
    yield (
        ("place",),
        lambda: [
            [
                get(module, "place_score")(mine, theirs, cell)
                for cell in _cells_with(mine, get(module, "EMPTY"))
            ]
        ],
    )
    yield (
        ("remove",),
        lambda: [
            [
                get(module, "remove_score")(theirs, cell)
                for cell in _cells_with(mine, get(module, "THEIRS"))
            ]
        ],
    )


def _action_scores(module, on: str) -> Iterator[Part]:
    observation = read_position(on)
    scores = get(module, "Scores")(observation)
    legal = list(observation.legal_actions())[:MOST_ACTIONS]
    cards = observation.draft_row or observation.hand
    yield ("draft",), lambda: [[scores.draft(card) for card in cards]]
    yield ("best",), lambda: [scores.best_draft()]
    yield ("reward",), lambda: [[scores.reward(action) for action in legal]]
    yield ("score",), lambda: [[_rounded(scores.score(action)) for action in legal]]

    def candidates():
        every = list(observation.legal_actions())
        scores.candidates(every)  # asked twice: it must leave the list as it is
        return [list(map(str, items(scores.candidates(every))))]

    yield ("candidates",), candidates


def _state_features(module, on: str, cell: list[int] | None = None) -> Iterator[Part]:
    def counts():
        boards = get(module, "views")(read_position(on))
        found = items(get(module, "state_features")(*boards, *([tuple(cell)] if cell else [])))
        own = len(get(module, "PATTERNS"))
        return found[:own], found[own:]

    yield ("own", "opponent"), counts


def _action_features(module, on: str) -> Iterator[Part]:
    def changes():
        observation = read_position(on)
        boards = get(module, "views")(observation)
        found = [
            items(get(module, "action_features")(*boards, action))
            for action in _spread(list(observation.legal_actions()))
        ]
        return [features[:-1] for features in found], [features[-1] for features in found]

    yield ("changes", "trade"), changes


def _discards(module, on: list[str]) -> Iterator[Part]:
    yield (
        ("jacks",),
        lambda: [[items(get(module, "discard_features")(read_position(text))) for text in on]],
    )


def _targets(
    module, reward: float, taken: float, values: list[float], gamma: float
) -> Iterator[Part]:
    def targets(method: str) -> list[list[Any]]:
        return [
            [
                _rounded(get(module, "td_target")(method, reward, taken, values, gamma)),
                _rounded(get(module, "td_target")(method, reward, None, [], gamma)),
            ]
        ]

    for method in ("sarsa", "q_learning"):
        yield (
            (method,),
            partial(targets, method),
        )

    def other():
        get(module, "td_target")("sarsa", reward, taken, values, gamma)  # who refuses all is wrong
        return [
            [
                _refused(
                    lambda: get(module, "td_target")(OTHER_METHOD, reward, taken, values, gamma)
                ),
                _refused(lambda: get(module, "td_target")(OTHER_METHOD, reward, None, [], gamma)),
            ]
        ]

    yield ("other",), other


def _refused(compute: Callable[[], Any]) -> str:
    try:
        compute()
    except ValueError:
        return "ValueError"
    return "no error"


def _table(module, updates: list[list], alpha: float) -> Iterator[Part]:
    def updated():
        table, seen, keys = get(module, "QTable")(), [], []
        for state, action, target in updates:
            keys.append((tuple(state), tuple(action)))
            table.update(*keys[-1], target, alpha)
            seen.append(_rounded(table.value(*keys[-1])))
        return seen, len(table.values), [table.visits.get(key, 0) for key in keys]

    yield ("values", "stored", "visits"), updated


def _agent(module, on: str, favoured: int, bonus: float, **settings) -> Iterator[Part]:
    """What an agent plays with an empty table, and with one that likes one of its actions."""

    def state():
        base: Any = get(module, "SarsaAgent")

        class Marked(base):
            def state(self, scores, observation):
                return *super().state(scores, observation), MARK

        observation = read_position(on)
        found = items(Marked(**settings).rate(observation)[0])
        boards = get(module, "views")(observation, *_given(settings, "corner"))
        own = items(get(module, "state_features")(*boards))
        return [[found[: len(own)] == own, *found[len(own) :]]]

    def choices():
        observation, agent = read_position(on), get(module, "SarsaAgent")(**settings)
        state, rated = agent.rate(observation)
        actions = [str(agent.choose(observation))]
        agent.table.values[state, rated[favoured].features] = bonus
        actions.append(str(agent.choose(observation)))
        actions.append(str(get(module, "SarsaAgent")(**settings).choose(observation)))
        return [_rounded(candidate.score) for candidate in agent.rate(observation)[1]], actions

    yield ("state",), state
    yield ("scores", "actions"), choices


def _explores(module, on: list[str], epsilon: float, method: str) -> Iterator[Part]:
    """How an agent explores on the first position, and what it learns of that on the second."""
    first, second = map(read_position, on)

    def agent(seed: int) -> Any:
        """One that rates the position only once, as thousands of choices would take long."""
        made = get(module, "SarsaAgent")(seed=seed, epsilon=epsilon)
        state, rated = made.rate(first)
        made.rate = lambda observation: (state, copy(rated))
        return made

    def counts():
        exploring = agent(seed=1)
        best = str(get(module, "SarsaAgent")().choose(first))
        names = [str(candidate.action) for candidate in exploring.rate(first)[1]]
        drawn = Counter(str(exploring.choose(first)) for _ in range(DRAWS))
        found = [drawn[best], *(drawn[name] for name in names if name != best)]
        return [[*found, DRAWS - sum(found)]]

    def repeats():
        one, beside, other = agent(seed=1), agent(seed=1), agent(seed=2)
        choices = [str(one.choose(first)) for _ in range(AGAIN)]
        together = [(str(beside.choose(first)), other.choose(first)) for _ in range(AGAIN)]
        one.reset(1)
        return [
            [
                choices == [mine for mine, _ in together],
                choices == [str(one.choose(first)) for _ in range(AGAIN)],
            ]
        ]

    def learned():
        (state, rated), (later, following) = (
            get(module, "SarsaAgent")().rate(observation) for observation in (first, second)
        )
        values = {
            candidate.features: BETWEEN * number for number, candidate in enumerate(following, 1)
        }
        right = []
        for seed in range(GAMES):
            learner = get(module, "SarsaAgent")(
                seed=seed, method=method, learn=True, epsilon=1.0, alpha=1.0
            )
            played = _of(rated, learner.choose(first))
            learner.table.values.update(
                ((later, features), values[features]) for features in values
            )
            then = _of(following, learner.choose(second))
            target = get(module, "td_target")(
                method,
                played.reward,
                values[then.features],
                [values[one.features] for one in following],
            )
            found = learner.table.value(state, played.features)
            right.append(math.isclose(found, target) or not any(played.features))
        return [all(right)]

    yield ("chances",), counts
    yield ("repeats",), repeats
    yield ("learned",), learned


def _of(rated, action) -> Any:
    for candidate in rated:
        if str(candidate.action) == str(action):
            return candidate
    raise BadReply(f"choose returned {action!s:.60}, which rate does not list")


def _learning(module, on: list[str], method: str, value: float) -> Iterator[Part]:
    """The table's values after each choice of a learning agent, and after the end of the game.

    Before the last choice, the last candidate of that turn is given a value. Then comes a second
    game on the same positions. Another agent, with a table of its own, plays beside it.
    """

    @cache
    def agents():
        return [get(module, "SarsaAgent")(method=method, learn=True) for _ in range(2)]

    def learned():
        (agent, beside), seen = agents(), []
        for turn, text in enumerate(on, 1):
            if turn == len(on):
                state, rated = agent.rate(read_position(text))
                agent.table.values[state, rated[-1].features] = value
            agent.choose(read_position(text))
            beside.choose(read_position(text))
            seen.append(_values(agent.table))
        agent.finish(OUTCOME)
        return seen, _values(agent.table)

    def again():
        agent, _ = agents()
        agent.finish()
        agent.reset(1)
        for text in on:
            agent.choose(read_position(text))
        agent.finish()
        return [_values(agent.table)]

    yield ("turns", "end"), learned
    yield ("again",), again


def _values(table) -> list[float]:
    return sorted(map(_rounded, table.values.values()))


def _given(settings: Mapping[str, Any], name: str) -> list:
    return [settings[name]] if name in settings else []


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
    settings = ", ".join(
        f"{key}={value!r}" for key, value in case.items() if key not in ("on", "favoured", "bonus")
    )
    return (
        f"SarsaAgent({settings}).rate({positions_of(case)[0]}), also with the value "
        f"{case['bonus']} for candidate number {case['favoured']}"
    )


def _of_exploring(case: Mapping[str, Any]) -> str:
    first, second = positions_of(case)
    return (
        f"SarsaAgent(epsilon={case['epsilon']}), which chooses {DRAWS:,} times on {first}; and "
        f"SarsaAgent(method={case['method']!r}, learn=True, epsilon=1.0, alpha=1.0), which "
        f"chooses there, then on {second}, in {GAMES} games"
    )


def _of_learning(case: Mapping[str, Any]) -> str:
    return (
        f"SarsaAgent(method={case['method']!r}, learn=True), which chooses on "
        f"{', then '.join(positions_of(case))}; the value {case['value']} is given to the last "
        f"candidate of the last turn; then finish({OUTCOME}), finish() once more, and a second "
        "game on the same positions; another agent with its own table chooses there, too"
    )


def _cells_where(on: str, wanted) -> list[str]:
    """The cells whose chip is wanted, row by row."""
    observation = read_position(on)
    own = SIDES[observation.side]
    return [
        f"cell {(row, col)}"
        for row in range(SIZE)
        for col in range(SIZE)
        if wanted(observation[row, col], own)
    ]


def _cards_asked(case: Mapping[str, Any]) -> list[list[str]]:
    observation = read_position(case["on"])
    return [[f"card {card}" for card in observation.draft_row or observation.hand]]


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
        {"draft": "for the cards of the draft row, or of the hand if it is empty",
         "candidates": "the second time that they are asked for",
         "reward": f"of the first {MOST_ACTIONS} legal actions",
         "score": f"of the first {MOST_ACTIONS} legal actions"},
        labels={"draft": _cards_asked,
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
        _targets, ("sarsa", "q_learning", "other"), _called("td_target"),
        {"sarsa": "in the middle of a game, at its end",
         "q_learning": "in the middle of a game, at its end",
         "other": f"for {OTHER_METHOD!r}, in the middle of a game, at its end"},
        labels=dict.fromkeys(("sarsa", "q_learning", "other"), lambda case: [
            ["in the middle of a game", "at its end"]])),
    "sarsa_table": Question(
        _table, ("values", "stored", "visits"), _called("QTable().update"),
        {"values": "Q(s, a) after each update", "stored": "how many entries the table has",
         "visits": "of each update's entry, after all updates"},
        labels=dict.fromkeys(("values", "visits"), lambda case: [
            [f"update {number + 1}" for number in range(len(case["updates"]))]])),
    "sarsa_agent": Question(
        _agent, ("state", "scores", "actions"), _of_agent,
        {"state": "of a subclass whose `state` adds 7: whether it begins with what your "
                  "state_features gives, and what follows",
         "scores": "with that value in the table",
         "actions": "without it, with it, by another agent with an empty table"},
        labels={"scores": lambda case: [[f"candidate {n}" for n in range(MANY)]],
                "actions": lambda case: [["with an empty table", "with that value in the table",
                                          "by another agent with an empty table"]]}),
    "sarsa_explores": Question(
        _explores, ("chances", "repeats", "learned"), _of_exploring,
        {"chances": "how often each candidate was played, first the one that is played without "
                    "exploring, and last how often anything else was",
         "repeats": "whether the same seed leads to the same choices: beside another agent, and "
                    "after reset",
         "learned": "whether the value of the action played first moved to the target that your "
                    "td_target gives for the one played then"},
        judged={"chances": same_chances}),
    "sarsa_learning": Question(
        _learning, ("turns", "end", "again"), _of_learning,
        {"turns": "the table's values after each choice", "end": "and after the game",
         "again": "and after a second game"},
        labels={"turns": lambda case: [[f"after choice {n + 1}"
                                        for n in range(len(case["on"]))]]}),
}  # fmt: skip
