"""Questions about SARSA and Q-learning for Sequence: patterns, features, updates, choices."""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from copy import copy
from functools import cache, partial
from typing import Any

from common.messages import english
from course.checks.positions import read_position
from course.checks.question import BadReply, Part, Question, call, each, get, items, positions_of
from course.checks.questions.distribution_test import same_distribution

MAX_ACTIONS = 40  # maximum number of actions whose features are in one reply
DIGITS = 6  # digits of a value, so that the order of a sum does not matter
OUTCOME = 1000.0  # the value of a finished game
DRAWS = 3_000  # choices of an exploring agent, enough to detect unequal probabilities
REPEATED = 100  # choices repeated with the same seed, too many to be equal by chance
SEED = 0  # of agents that should not explore; those that do still reply the same each time
MARK = 7  # the part that a subclass adds to the state, as the notebook's agents do
SEPARATOR = 100.0  # the difference between the values of neighbouring candidates
GAMES = 8  # games in which an agent learns from exploratory actions
OTHER_METHOD = "expected_sarsa"  # a name that is neither of the two methods
FOUR = "for the four directions"
SIZE = 10
MANY = 1000  # maximum number of candidates
FEATURES = [f"FEATURES[{number}]" for number in range(11)]
LINES = [english(f"with {chips} chip{'s' if chips > 1 else ''}") for chips in range(1, 6)]


def _rays(module, texts: list[str], gaps: int) -> Iterator[Part]:
    yield (
        ("connected", "gaps", "discrete", "open"),
        lambda: _columns([get(module, "one_side")(text, gaps) for text in texts], 4, "one_side"),
    )


def _direction(module, on: str, cell: list[int]) -> Iterator[Part]:
    def infos():
        board, _ = get(module, "views")(read_position(on))
        infos = [
            get(module, "direction_info")(board, tuple(cell), direction)
            for direction in get(module, "DIRECTIONS")
        ]
        connect, gaps, front, back, *ends = _columns(infos, 6, "direction_info")
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


def _action_features(module, on: str) -> Iterator[Part]:
    def changes():
        observation = read_position(on)
        boards = get(module, "views")(observation)
        rows = [
            items(get(module, "action_features")(*boards, action))
            for action in _spread(list(observation.legal_actions()))
        ]
        return [features[:-1] for features in rows], [features[-1] for features in rows]

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
        get(module, "td_target")("sarsa", reward, taken, values, gamma)  # must not raise
        return [
            [
                _error_type(
                    lambda: get(module, "td_target")(OTHER_METHOD, reward, taken, values, gamma)
                ),
                _error_type(
                    lambda: get(module, "td_target")(OTHER_METHOD, reward, None, [], gamma)
                ),
            ]
        ]

    yield ("other",), other


def _error_type(compute: Callable[[], Any]) -> str:
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
    """An agent's actions with an empty table, and with one that favours one of the actions."""

    def state():
        base: Any = get(module, "SarsaAgent")

        class Marked(base):
            def state(self, scores, observation):
                return *super().state(scores, observation), MARK

        observation = read_position(on)
        features = items(Marked(seed=SEED, **settings).rate(observation)[0])
        boards = get(module, "views")(observation, *_optional_argument(settings, "corner"))
        own = items(get(module, "state_features")(*boards))
        return [[features[: len(own)] == own, *features[len(own) :]]]

    def choices():
        observation, agent = read_position(on), get(module, "SarsaAgent")(seed=SEED, **settings)
        state, rated = agent.rate(observation)
        actions = [str(agent.choose(observation))]
        agent.table.values[state, rated[favoured].features] = bonus
        actions.append(str(agent.choose(observation)))
        actions.append(str(get(module, "SarsaAgent")(seed=SEED, **settings).choose(observation)))
        return [_rounded(candidate.score) for candidate in agent.rate(observation)[1]], actions

    yield ("state",), state
    yield ("scores", "actions"), choices


def _explores(module, on: list[str], epsilon: float, method: str) -> Iterator[Part]:
    """How an agent explores on the first position, and what it learns from this on the second."""
    first, second = map(read_position, on)

    def agent(seed: int) -> Any:
        """An agent that rates the position only once, because thousands of choices take long."""
        explorer = get(module, "SarsaAgent")(seed=seed, epsilon=epsilon)
        state, rated = explorer.rate(first)
        explorer.rate = lambda observation: (state, copy(rated))
        return explorer

    def counts():
        exploring = agent(seed=1)
        best = str(get(module, "SarsaAgent")(seed=SEED).choose(first))
        names = [str(candidate.action) for candidate in exploring.rate(first)[1]]
        drawn = Counter(str(exploring.choose(first)) for _ in range(DRAWS))
        frequencies = [drawn[best], *(drawn[name] for name in names if name != best)]
        return [[*frequencies, DRAWS - sum(frequencies)]]

    def repeats():
        first_agent, second_agent, other = agent(seed=1), agent(seed=1), agent(seed=2)
        choices = [str(first_agent.choose(first)) for _ in range(REPEATED)]
        together = [(str(second_agent.choose(first)), other.choose(first)) for _ in range(REPEATED)]
        first_agent.reset(1)
        return [
            [
                choices == [mine for mine, _ in together],
                choices == [str(first_agent.choose(first)) for _ in range(REPEATED)],
            ]
        ]

    def learned():
        (state, rated), (later, following) = (
            get(module, "SarsaAgent")(seed=SEED).rate(observation) for observation in (first, second)
        )
        values = {
            candidate.features: SEPARATOR * number for number, candidate in enumerate(following, 1)
        }
        right = []
        for seed in range(GAMES):
            learner = get(module, "SarsaAgent")(
                seed=seed, method=method, learn=True, epsilon=1.0, alpha=1.0
            )
            played = _candidate(rated, learner.choose(first))
            learner.table.values.update(
                ((later, features), values[features]) for features in values
            )
            then = _candidate(following, learner.choose(second))
            target = get(module, "td_target")(
                method,
                played.reward,
                values[then.features],
                [values[one.features] for one in following],
            )
            value = learner.table.value(state, played.features)
            right.append(math.isclose(value, target) or not any(played.features))
        return [all(right)]

    yield ("chances",), counts
    yield ("repeats",), repeats
    yield ("learned",), learned


def _candidate(rated, action) -> Any:
    for candidate in rated:
        if str(candidate.action) == str(action):
            return candidate
    raise BadReply(english(f"choose returned {action!s:.60}, which rate does not list"))


def _learning(module, on: list[str], method: str, value: float) -> Iterator[Part]:
    """The table's values after each choice of a learning agent, and after the end of the game.

    Before the last choice, a value is assigned to the last candidate of that turn. Two more games
    on the same positions follow, a tie and a loss. Another agent, with its own table, also plays.
    """

    @cache
    def agents():
        return [get(module, "SarsaAgent")(seed=SEED, method=method, learn=True) for _ in range(2)]

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
        seen: list[Any] = []
        for outcome in (0.0, -OUTCOME):
            agent.reset(1)
            for text in on:
                agent.choose(read_position(text))
            before = agent.settings, agent._random.getstate()
            agent.finish(outcome)
            seen += [_values(agent.table), (agent.settings, agent._random.getstate()) == before]
        return [[*seen, sorted(agent.table.visits.values()), len(agent.changes)]]

    yield ("turns", "end"), learned
    yield ("again",), again


def _line_counts(module, on: str, cell: list[int] | None = None) -> Iterator[Part]:
    def counts():
        count, through = get(module, "line_counts"), [tuple(cell)] if cell else []
        boards = get(module, "views")(read_position(on))
        return [items(count(board, *through)) for board in boards]

    yield ("own", "opponent"), counts


def _weights(
    module,
    weights: list[float],
    counts: list[list[int]],
    won: list[int],
    rate: float,
    penalty: float,
) -> Iterator[Part]:
    """The probabilities, and the weights after successive steps for the positions."""
    yield (
        ("probability",),
        lambda: [[_rounded(get(module, "win_probability")(weights, row)) for row in counts]],
    )

    def steps():
        step, current, unchanged, seen = get(module, "gradient_step"), list(weights), [], []
        for row, result in zip(counts, won, strict=True):
            before = list(current)
            new = step(current, list(row), result, rate, penalty)
            after = list(items(new))
            unchanged.append(
                isinstance(new, list)
                and new is not current
                and current == before
                and len(after) == len(before)
            )
            seen.append(list(map(_rounded, after)))
            current = after
        return seen, unchanged

    yield ("step", "unchanged"), steps


def _values(table) -> list[float]:
    return sorted(map(_rounded, table.values.values()))


def _optional_argument(settings: Mapping[str, Any], name: str) -> list:
    return [settings[name]] if name in settings else []


def _columns(rows: list, width: int, name: str) -> list:
    for row in rows:
        if not isinstance(row, tuple):
            kind = type(row).__name__
            raise BadReply(
                english(f"{name} must return a tuple and not a {kind}, it returned {row!r:.60}")
            )
        if len(row) != width:
            raise BadReply(
                english(
                    f"{name} must return {width} values and not {len(row)}, "
                    f"it returned {row!r:.60}"
                )
            )
    return list(map(list, zip(*rows, strict=True)))


def _pairs(first: list, second: list) -> list:
    return list(map(list, zip(first, second, strict=True)))


def _cells_with(board: str, what: str) -> list[tuple[int, int]]:
    return [divmod(place, SIZE) for place, chip in enumerate(board) if chip == what]


def _spread(actions: list) -> list:
    """At most `MAX_ACTIONS` of the actions, evenly spaced, including the first and the last."""
    last, most = len(actions) - 1, min(len(actions), MAX_ACTIONS)
    return [actions[number * last // max(1, most - 1)] for number in range(most)]


def _rounded(value: Any) -> float:
    try:
        return round(float(value), DIGITS)
    except (TypeError, ValueError, OverflowError) as error:
        raise BadReply(english(f"expected a number, not {value!r:.60}")) from error


def _function_call(name: str):
    return lambda case: call(name, case)


def _describe_agent(case: Mapping[str, Any]) -> str:
    arguments = {key: case[key] for key in case if key not in ("on", "favoured", "bonus")}
    settings = ", ".join(f"{key}={value!r}" for key, value in ({"seed": SEED} | arguments).items())
    return (
        f"SarsaAgent({settings}).rate({positions_of(case)[0]}), also with the value "
        f"{case['bonus']} for candidate number {case['favoured']}"
    )


def _describe_exploration(case: Mapping[str, Any]) -> str:
    first, second = positions_of(case)
    return (
        f"SarsaAgent(epsilon={case['epsilon']}), which chooses {DRAWS:,} times on {first}; and "
        f"SarsaAgent(method={case['method']!r}, learn=True, epsilon=1.0, alpha=1.0), which "
        f"chooses there, then on {second}, in {GAMES} games"
    )


def _describe_learning(case: Mapping[str, Any]) -> str:
    return (
        f"SarsaAgent(seed={SEED}, method={case['method']!r}, learn=True), which chooses on "
        f"{', then '.join(positions_of(case))}; the value {case['value']} is assigned to the last "
        f"candidate of the last turn; then finish({OUTCOME}), finish() again, and two more "
        f"games on the same positions, which end with finish(0.0) and finish({-OUTCOME}); another "
        "agent with its own table also chooses there"
    )


def _describe_weights(case: Mapping[str, Any]) -> str:
    return (
        f"win_probability and gradient_step for the counts {case['counts']}, won = {case['won']}, "
        f"from the weights {case['weights']}, with rate={case['rate']} and "
        f"penalty={case['penalty']}"
    )


def _positions_of_game(case: Mapping[str, Any]) -> list[str]:
    return [english(f"position {number}") for number in range(1, len(case["counts"]) + 1)]


def _empty_cells(on: str) -> list[str]:
    """The empty cells, row by row."""
    observation = read_position(on)
    return [
        f"cell {(row, col)}"
        for row in range(SIZE)
        for col in range(SIZE)
        if not observation[row, col]
    ]


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
        _cell_scores, ("place",), _function_call("views"),
        {"place": "for each empty cell, row by row"},
        labels={"place": lambda case: [_empty_cells(case["on"])]}),
    "sarsa_actions": Question(
        _action_features, ("changes", "trade"), _function_call("action_features"),
        {"changes": f"of {MAX_ACTIONS} legal actions at most, spread evenly",
         "trade": "of the same actions"},
        labels={"changes": lambda case: [*_some_actions(case), FEATURES],
                "trade": _some_actions}),
    "sarsa_discards": Question(
        _discards, ("jacks",),
        lambda case: f"discard_features(observation) for {', '.join(positions_of(case))}",
        {"jacks": "two-eyed and one-eyed for each"},
        labels={"jacks": lambda case: [positions_of(case),
                                       [english("two-eyed"), english("one-eyed")]]}),
    "sarsa_targets": Question(
        _targets, ("sarsa", "q_learning", "other"), _function_call("td_target"),
        {"sarsa": "in the middle of a game, at its end",
         "q_learning": "in the middle of a game, at its end",
         "other": f"for {OTHER_METHOD!r}, in the middle of a game, at its end"},
        labels=dict.fromkeys(("sarsa", "q_learning", "other"), lambda case: [
            [english("in the middle of a game"), english("at its end")]])),
    "sarsa_table": Question(
        _table, ("values", "stored", "visits"), _function_call("QTable().update"),
        {"values": "Q(s, a) after each update", "stored": "how many entries the table has",
         "visits": "of each update's entry, after all updates"},
        labels=dict.fromkeys(("values", "visits"), lambda case: [
            [english(f"update {number + 1}") for number in range(len(case["updates"]))]])),
    "sarsa_agent": Question(
        _agent, ("state", "scores", "actions"), _describe_agent,
        {"state": "of a subclass whose `state` adds 7: whether it starts with the result of your "
                  "state_features, and what follows",
         "scores": "with that value in the table",
         "actions": "without it, with it, by another agent with an empty table"},
        labels={"scores": lambda case: [[english(f"candidate {n}") for n in range(MANY)]],
                "actions": lambda case: [[english("with an empty table"),
                                          english("with that value in the table"),
                                          english("by another agent with an empty table")]]}),
    "sarsa_explores": Question(
        _explores, ("chances", "repeats", "learned"), _describe_exploration,
        {"chances": "how often each candidate was played, first the one that "
                    f"`SarsaAgent(seed={SEED})` plays; the last number counts other actions",
         "repeats": "whether the same seed leads to the same choices while another agent plays, "
                    "and after reset",
         "learned": "whether the value of the first action moved to the target that your "
                    "td_target returns for the second action"},
        comparators={"chances": same_distribution}),
    "sarsa_learning": Question(
        _learning, ("turns", "end", "again"), _describe_learning,
        {"turns": "the table's values after each choice", "end": "and after the game",
         "again": "and after each of two more games, each time with whether finish keeps the "
                  "settings and the random numbers; then the visits and the number of changes"},
        labels={"turns": lambda case: [[english(f"after choice {n + 1}")
                                        for n in range(len(case["on"]))]]}),
    "sarsa_lines": Question(
        _line_counts, ("own", "opponent"), _function_call("line_counts"),
        {"own": "for the own view of the board",
         "opponent": "for the board as the opponent sees it"},
        labels=dict.fromkeys(("own", "opponent"), lambda case: [LINES])),
    "sarsa_weights": Question(
        _weights, ("probability", "step", "unchanged"), _describe_weights,
        {"probability": "for each position, with the weights given",
         "step": "the weights after a step for each position, one after the other",
         "unchanged": "whether the step returns a new list and does not change the one passed"},
        labels={"probability": lambda case: [_positions_of_game(case)],
                "step": lambda case: [[f"after {one}" for one in _positions_of_game(case)]],
                "unchanged": lambda case: [_positions_of_game(case)]}),
}  # fmt: skip
