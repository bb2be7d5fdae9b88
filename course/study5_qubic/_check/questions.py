"""Questions about learners on Qubic: rewards, tables, scripted games, shared weights, symmetry.

Random moves of a learner are replaced with scripted ones, so that the learned values are exact.
Other learners of the same class exist at the same time, which must not affect the results.
"""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from common.messages import english
from course.checks.positions import read_position
from course.checks.question import (
    BadReply,
    Part,
    Question,
    call,
    each,
    get,
    positions_of,
)
from course.checks.questions.distribution_test import same_distribution
from tictactoe import IllegalMove, Qubic
from tictactoe.games.qubic import CELLS, LANES

KINDS = ((1, 0), (2, 0), (3, 0), (4, 0), (0, 1), (0, 2), (0, 3))  # the order of weights in a case
DRAWS = 5_000
REPEATED = 100  # number of repeated draws
FEW_DRAWS = 6  # draws from 64 cells, enough to identify a stream of random numbers
CREATION_SEED, SEED = 4443, 4444  # seeds with which agents are created and reset
PLAYERS = ["for x", "for o"]
IDENTITY = tuple(range(CELLS))
AFTER = (
    "epsilon, alpha and gamma after the games; then whether it makes the same draws as a new agent "
    "with the seed of its reset, as one with its first seed, and as the former when they take turns"
)


def _step(module, on: str, move: int) -> Iterator[Part]:
    def result():
        step = get(module, "step")(read_position(on), move)
        if not isinstance(step, (tuple, list)) or len(step) != 3:
            raise BadReply(
                english(f"step must return (following, own, other), it returned {step!r:.60}")
            )
        return list(step[1:]), _text(step[0], "step's first item")

    yield ("rewards", "following"), result


def _epsilon_greedy(module, values: Sequence, epsilon: float) -> Iterator[Part]:
    original = dict(values)

    def call_checked(name: str, *rest):
        argument = dict(original)
        result = get(module, name)(argument, *rest)
        if argument != original:
            raise BadReply(english(f"{name} changed the dictionary of values that was passed to it"))
        return result

    yield ("greedy",), lambda: [sorted(call_checked("greedy_moves"))]

    def drawn():
        rng = random.Random(1)
        moves = [call_checked("epsilon_greedy", epsilon, rng) for _ in range(DRAWS)]
        rng = random.Random(1)
        if moves[:REPEATED] != [
            call_checked("epsilon_greedy", epsilon, rng) for _ in range(REPEATED)
        ]:
            raise BadReply(
                english("epsilon_greedy draws other moves with the same random generator: it must "
                "draw only from `chance`")
            )
        counts = {move: moves.count(move) for move in original}
        best = sum(counts[move] for move in original if original[move] == max(original.values()))
        return [*counts.values(), DRAWS - sum(counts.values())], [best, DRAWS - best]

    yield ("drawn", "share"), drawn


def _bellman(
    module, on: list[str], move: int, reward: float, known: Sequence = (), **options
) -> Iterator[Part]:
    def updated():
        states = list(map(read_position, on))
        player, other = (get(module, "QPlayer")(seed) for seed in (0, 1))
        _set(player, options)
        player.table.clear()  # removes entries of other cases, if all agents share the table
        for which, known_move, value in known:
            player.table[states[which], known_move] = value
        other.update(states[0], move, 100, states[1])
        player.update(states[0], move, reward, states[1])
        rest = [player.q(states[0], cell) for cell in states[0].legal_moves() if cell != move]
        rest += [player.q(states[1], cell) for cell in states[1].legal_moves()]
        return player.q(states[0], move), rest, len(player.table)

    yield ("updated", "rest", "entries"), updated


def _episode(
    module,
    on: str,
    moves: Sequence[int],
    times: int = 1,
    both_sides: bool = False,
    known: Sequence = (),
    **options,
) -> Iterator[Part]:
    finished = []

    def played():
        start = read_position(on)
        seeds = CREATION_SEED, CREATION_SEED - 1
        first, second = (get(module, "QPlayer")(seed, **options) for seed in seeds)
        players = {"x": first, "o": first if both_sides else second}
        walk = list(_walk(start, moves))
        for number, cell, value in known:
            state, _ = walk[number]
            players[state.to_move].table[state, cell] = value
        entries = []

        def look():
            entries.append([len(players[name].table) for name in "xo"])

        for _ in range(times):
            for player in players.values():
                player.reset(SEED)
            script = _scripted(players.values(), moves, look)
            final = get(module, "play_episode")(players, start)
            if next(script, None) is not None:
                raise BadReply(
                    english("play_episode ended before `choose` had chosen all moves of the game")
                )
        look()
        finished.append(first)
        learned: dict[str, list] = {"x": [], "o": []}
        for state, move in walk:
            learned[state.to_move].append(players[state.to_move].q(state, move))
        return (learned["x"], learned["o"], entries, _text(final, "the result of play_episode"))

    yield ("x", "o", "entries", "final"), played

    def after():
        if not finished:
            raise BadReply(english("play_episode did not return"))
        finished[0].table.clear()
        return [_after_games(get(module, "QPlayer"), finished[0])]

    yield ("after",), after


def _lane_kinds(module, on: str, cell: int) -> Iterator[Part]:
    def counted():
        state = read_position(on)
        kinds = [list(map(_pair, get(module, "lane_kinds")(state, player))) for player in "xo"]
        if {len(of_player) for of_player in kinds} != {len(LANES)}:
            raise BadReply(
                english(f"lane_kinds must return a pair for each of the {len(LANES)} lanes")
            )
        return (
            [[of_player.count(kind) for kind in KINDS] for of_player in kinds],
            [
                [list(kind) for lane, kind in zip(LANES, of_player, strict=True) if cell in lane]
                for of_player in kinds
            ],
        )

    yield ("counts", "through"), counted


def _pair(kind: Any) -> tuple[int, int]:
    if not isinstance(kind, (tuple, list)) or len(kind) != 2:
        raise BadReply(english(f"a lane's kind is a pair (own, opponent's), not {kind!r:.60}"))
    return tuple(kind)


def _lane_values(module, on: str, weights: Sequence[float]) -> Iterator[Part]:
    state = read_position(on)

    def by_player():
        learner = get(module, "LaneLearner")(seed=0)
        for player in "xo":
            learner.value(state, player)
        _weigh(module, learner, weights)
        return [[learner.value(state, player) for player in "xo"]]

    yield ("value",), by_player

    def by_move():
        learner = get(module, "LaneLearner")(seed=0)
        learner.move_values(state)
        _weigh(module, learner, weights)
        values = learner.move_values(state)
        return [[values[move] for move in state.legal_moves()]]

    yield ("moves",), by_move


def _lane_update(module, on: str, move: int, weights: Sequence[float], **options) -> Iterator[Part]:
    state = read_position(on)

    def new_learner():
        learner = _learner(module, weights)
        _set(learner, options)
        return learner

    yield ("target",), lambda: [new_learner().target(state.after(move), state.to_move)]

    def updated():
        learner = new_learner()
        learner.update(state, move)
        return [_weights_of(learner)]

    yield ("weights",), updated


def _self_play(
    module, on: str, moves: Sequence[int], weights: Sequence[float], **options
) -> Iterator[Part]:
    finished = []

    def played():
        learner = _learner(module, weights, **options)
        learner.reset(SEED)
        during = []
        _scripted([learner], moves, lambda: during.append(_total(learner)))
        final = get(module, "self_play")(learner, read_position(on))
        finished.append(learner)
        return (
            _weights_of(learner),
            during,
            _text(final, "the result of self_play"),
        )

    yield ("weights", "during", "final"), played

    def after():
        if not finished:
            raise BadReply(english("self_play did not return"))
        finished[0].weights.update(dict.fromkeys(KINDS, 0.0))
        return [_after_games(get(module, "LaneLearner"), finished[0])]

    yield ("after",), after


def _symmetry(module, on: list[str], groups: Sequence[Sequence[int]]) -> Iterator[Part]:
    ways: list[tuple[int, ...]] = []

    def checked():
        ways.extend(map(tuple, get(module, "symmetries")()))
        lanes = set(map(frozenset, LANES))
        kept = [
            way
            for way in ways
            if {frozenset(way[cell] for cell in lane) for lane in LANES} == lanes
        ]
        return (
            [len(ways), len(set(ways)), len(kept)],
            [len({frozenset(way[cell] for cell in group) for way in ways}) for group in groups],
        )

    yield ("ways", "images"), checked

    def compared():
        states = list(map(read_position, on))
        alone = [_canonical(module, state, [IDENTITY]) == state for state in states]
        canonical = [_canonical(module, state, ways) for state in states]
        again = [_canonical(module, state, ways) for state in canonical]
        return [
            [
                [canonical.index(state) for state in canonical],
                [canonical.index(state) if state in canonical else None for state in again],
                alone,
            ]
        ]

    yield ("same",), compared


def _canonical(module, state: Qubic, ways: Sequence[tuple[int, ...]]) -> Qubic:
    representative = get(module, "canonical")(state, ways)
    _text(representative, "the result of canonical")
    return representative


def _learner(module, weights: Sequence[float], **options) -> Any:
    learner = get(module, "LaneLearner")(seed=CREATION_SEED, **options)
    _weigh(module, learner, weights)
    return learner


def _set(agent, options: Mapping[str, float]) -> None:
    for name, value in options.items():
        setattr(agent, name, value)


def _weigh(module, learner, weights: Sequence[float]) -> None:
    """Set the learner's weights, then those of another learner."""
    learner.weights.update(zip(KINDS, weights, strict=True))
    get(module, "LaneLearner")(seed=1).weights.update(dict.fromkeys(KINDS, 1.0))


def _weights_of(learner) -> list[float]:
    """The weights of all kinds of lanes. No other lane may have a weight."""
    others = [kind for kind, weight in learner.weights.items() if kind not in KINDS and weight]
    if others:
        raise BadReply(
            english(f"`weights` has a weight for {others[0]!r:.60}, which is not among KINDS")
        )
    return [learner.weights[kind] for kind in KINDS]


def _total(learner) -> float:
    return sum(learner.weights[kind] for kind in KINDS)


def _scripted(players, moves: Sequence[int], look: Callable[[], None]) -> Iterator[int]:
    """Make the players choose these moves in turn; return the list of remaining moves.

    `look` is called before each choice.
    """
    script = iter(moves)

    def choose(state):
        look()
        for move in script:
            return move
        raise BadReply(
            english("`choose` was called again after it had chosen all moves of the game")
        )

    for player in players:
        player.choose = choose
    return script


def _after_games(make: Callable[..., Any], agent) -> list:
    """The settings of an agent after its games, and its next draws.

    The agent was created with the seed `CREATION_SEED`, reset with `SEED`, and has drawn nothing
    since, because its games were scripted; its learned values were removed. Draws alternating with
    another agent's reveal a shared generator.
    """
    settings = [agent.epsilon, agent.alpha, agent.gamma]
    del agent.choose  # from here on, the agent makes its own choices
    (own,) = _draws(agent)
    alone = [_draws(make(seed)) == [own] for seed in (SEED, CREATION_SEED)]
    agent.reset(SEED)
    first, second = _draws(agent, make(SEED))
    return [*settings, *alone, first == second]


def _draws(*agents) -> list[tuple[int, ...]]:
    """A few moves that the agents draw, in turn, from the empty cube."""
    for agent in agents:
        agent.epsilon = 1
    return list(
        zip(*([agent.choose(Qubic()) for agent in agents] for _ in range(FEW_DRAWS)), strict=True)
    )


def _walk(state: Qubic, moves: Sequence[int]) -> Iterator[tuple[Qubic, int]]:
    """The states of a scripted game with the move made in each; an illegal move changes nothing."""
    for move in moves:
        yield state, move
        try:
            state = state.after(move)
        except IllegalMove:
            continue


def _text(state: Any, what: str) -> str:
    if not isinstance(state, Qubic):
        raise BadReply(english(f"{what} must be a state, it is {state!r:.60}"))
    return state.text


def _method_call(name: str, agent: str = ""):
    """The description of a question that calls `name`, which is a method if there is an `agent`."""

    def describe(case: Mapping[str, Any]) -> str:
        return call(f"{agent}.{name}" if agent else name, case)

    return describe


def _scripted_game(name: str):
    def describe(case: Mapping[str, Any]) -> str:
        (start,) = positions_of(case)
        again = f", {case['times']} times" if "times" in case else ""
        sides = " by one player for both sides" if case.get("both_sides") else ""
        options = "".join(
            f", {key}={value}"
            for key, value in case.items()
            if key not in ("on", "moves", "times", "both_sides", "known")
        )
        options += "".join(
            f", Q of {cell} before move {number} is {value}"
            for number, cell, value in case.get("known", ())
        )
        return f"{name}(players, {start}), in which the moves {case['moves']} are played{sides}" + (
            f"{again}, after reset({SEED})"
            + (f" (with {options.removeprefix(', ')})" if options else "")
        )

    return describe


def _moves(case: Mapping[str, Any]) -> list[list[str]]:
    return [[f"move {move}" for move in read_position(case["on"]).legal_moves()]]


def _rest(case: Mapping[str, Any]) -> list[list[str]]:
    state, following = map(read_position, case["on"])
    return [
        [
            *(
                f"Q of move {move} in the same state"
                for move in state.legal_moves()
                if move != case["move"]
            ),
            *(f"Q of move {move} in the following state" for move in following.legal_moves()),
        ]
    ]


def _made_by(player: str):
    def labels(case: Mapping[str, Any]) -> list[list[str]]:
        return [
            [
                f"move {move}"
                for state, move in _walk(read_position(case["on"]), case["moves"])
                if state.to_move == player
            ]
        ]

    return labels


def _cells(_case: Mapping[str, Any]) -> list[list[str]]:
    return [[f"cell {cell}" for cell in range(64)]]


def _kinds(_case: Mapping[str, Any]) -> list[list[str]]:
    return [[english(f"kind {kind}") for kind in KINDS]]


def _kinds_of_players(case: Mapping[str, Any]) -> list[list[str]]:
    return [PLAYERS, *_kinds(case)]


def _lanes_of_players(case: Mapping[str, Any]) -> list[list[str]]:
    return [PLAYERS, [english(f"lane {tuple(lane)}") for lane in LANES if case["cell"] in lane]]


QUESTIONS = {
    "step": Question(_step, ("rewards", "following"), _method_call("step"),
                     {"rewards": "own, other", "following": "the 64 cells"},
        labels={"following": _cells}),
    "epsilon_greedy": Question(
        _epsilon_greedy, ("greedy", "drawn", "share"), _method_call("epsilon_greedy"),
        {"greedy": "the result of greedy_moves",
         "drawn": f"how often each move was drawn in {DRAWS} draws, then all other results",
         "share": "draws of greedy moves, and of others"},
        comparators={"drawn": same_distribution, "share": same_distribution}),
    "bellman": Question(
        _bellman, ("updated", "rest", "entries"), _method_call("update", "QPlayer"),
        {"updated": "Q of the move", "rest": "Q of the other moves, then of the following state",
         "entries": "in the table"}, labels={"rest": _rest}),
    "episode": Question(
        _episode, ("x", "o", "entries", "final", "after"), _scripted_game("play_episode"),
        {"x": "Q of x's moves in its own table", "o": "Q of o's moves in its own table",
         "entries": "in the tables of x and o, before each choice of a move and at the end",
         "final": "the 64 cells", "after": AFTER},
         labels={"x": _made_by("x"), "o": _made_by("o"), "final": _cells}),
    "lane_kinds": Question(
        _lane_kinds, ("counts", "through"), _method_call("lane_kinds"),
        {"counts": "lanes of each of KINDS, for x, for o",
         "through": "kinds of the lanes through the cell, for x, for o"},
        labels={"counts": _kinds_of_players, "through": _lanes_of_players}),
    "lane_values": Question(
        _lane_values, ("value", "moves"), _method_call("value", "LaneLearner"),
        {"value": "for x, for o, called before the weights were set and again after that",
         "moves": "by move_values, one for each legal move, called in the same way"},
         labels={"moves": _moves}),
    "lane_update": Question(
        _lane_update, ("target", "weights"), _method_call("update", "LaneLearner"),
        {"target": "of the afterstate", "weights": "after the update, in the order of KINDS"},
        labels={"weights": _kinds}),
    "self_play": Question(
        _self_play, ("weights", "during", "final", "after"), _scripted_game("self_play"),
        {"weights": "after the game, in the order of KINDS",
         "during": "the sum of the weights before each choice of a move",
         "final": "the 64 cells", "after": AFTER},
         labels={"weights": _kinds, "final": _cells}),
    "symmetry": Question(
        _symmetry, ("ways", "images", "same"), _method_call("canonical"),
        {"ways": "how many, how many different, how many map lanes to lanes",
         "images": "the number of different images of each group of cells",
         "same": "for each position the first that has the same canonical state; the same for the "
                 "canonical states; whether the identity alone leaves each position unchanged"},
         labels={"images": each("groups", "the cells")}),
}  # fmt: skip
