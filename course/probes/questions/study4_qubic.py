"""Questions about learners on Qubic: rewards, tables, scripted games, shared weights, symmetry.

Where a learner would draw its moves, the question sets them, so that what it learns is exact.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from course.probes.positions import read_position
from course.probes.question import (
    BadReply,
    Part,
    Question,
    call,
    each,
    each_position,
    get,
    positions_of,
)
from tictactoe import IllegalMove, Qubic
from tictactoe.games.qubic import LANES

KINDS = ((1, 0), (2, 0), (3, 0), (4, 0), (0, 1), (0, 2), (0, 3))  # the order of weights in a case
DRAWS = 20_000  # so that a share is off by 0.02 in less than one of a million millions of seeds
AGAIN = 100  # draws that are made twice
SELDOM = 1 / 2  # of a move's expected count in a uniform draw: over 10 standard deviations away
PARTS = 25  # a share is rounded to 25ths: halfway to the next one is 0.02
PLAYERS = "for x, for o"


def _step(module, on: str, move: int) -> Iterator[Part]:
    def made():
        result = get(module, "step")(read_position(on), move)
        if not isinstance(result, (tuple, list)) or len(result) != 3:
            raise BadReply(f"step must return (following, own, other), it returned {result!r:.60}")
        return list(result[1:]), _text(result[0], "step's first item")

    yield ("rewards", "following"), made


def _epsilon_greedy(module, values: Sequence, epsilon: float) -> Iterator[Part]:
    given = dict(values)
    yield ("greedy",), lambda: [sorted(get(module, "greedy_moves")(dict(given)))]

    def drawn():
        chance = random.Random(1)
        moves = [get(module, "epsilon_greedy")(dict(given), epsilon, chance) for _ in range(DRAWS)]
        chance = random.Random(1)
        if moves[:AGAIN] != [get(module, "epsilon_greedy")(dict(given), epsilon, chance)
                             for _ in range(AGAIN)]:
            raise BadReply("epsilon_greedy draws other moves from the same chance: it must draw "
                           "from `chance` alone")
        best = [move for move in given if given[move] == max(given.values())]
        share = sum(move in best for move in moves) / DRAWS
        even = {move: epsilon / len(given) + (1 - epsilon) / len(best) * (move in best)
                for move in given}
        often = [move for move in sorted(set(moves))
                 if moves.count(move) >= SELDOM * DRAWS * even.get(move, 0)]
        return often, round(PARTS * share)

    yield ("drawn", "share"), drawn


def _bellman(module, on: list[str], move: int, reward: float, known: Sequence = (),
             **options) -> Iterator[Part]:
    def updated():
        states = list(map(read_position, on))
        player = get(module, "QPlayer")(seed=0, **options)
        for which, known_move, value in known:
            player.table[states[which], known_move] = value
        player.update(states[0], move, reward, states[1])
        rest = [player.q(states[0], other) for other in states[0].legal_moves() if other != move]
        rest += [player.q(states[1], other) for other in states[1].legal_moves()]
        return player.q(states[0], move), rest, len(player.table)

    yield ("updated", "rest", "entries"), updated


def _episode(module, on: str, moves: Sequence[int], times: int = 1, **options) -> Iterator[Part]:
    def played():
        start = read_position(on)
        players = {name: get(module, "QPlayer")(seed=0, **options) for name in "xo"}
        for _ in range(times):
            script = _scripted(players.values(), moves)
            final = get(module, "play_episode")(players, start)
            if next(script, None) is not None:
                raise BadReply("play_episode ended before the game did")
        learned: dict[str, list] = {"x": [], "o": []}
        for state, move in _walk(start, moves):
            learned[state.to_move].append(players[state.to_move].q(state, move))
        return learned["x"], learned["o"], _text(final, "what play_episode returned")

    yield ("x", "o", "final"), played


def _lane_kinds(module, on: str, cell: int) -> Iterator[Part]:
    def counted():
        state = read_position(on)
        kinds = [list(map(_pair, get(module, "lane_kinds")(state, player))) for player in "xo"]
        if {len(of_player) for of_player in kinds} != {len(LANES)}:
            raise BadReply(f"lane_kinds must return a pair for each of the {len(LANES)} lanes")
        return ([[of_player.count(kind) for kind in KINDS] for of_player in kinds],
                [[list(kind) for lane, kind in zip(LANES, of_player, strict=True) if cell in lane]
                 for of_player in kinds])

    yield ("counts", "through"), counted


def _pair(kind: Any) -> tuple[int, int]:
    if not isinstance(kind, (tuple, list)) or len(kind) != 2:
        raise BadReply(f"a lane's kind is a pair (own, opponent's), not {kind!r:.60}")
    return tuple(kind)


def _lane_values(module, on: str, weights: Sequence[float]) -> Iterator[Part]:
    state = read_position(on)
    yield ("value",), lambda: [[_learner(module, weights).value(state, p) for p in "xo"]]

    def by_move():
        values = _learner(module, weights).move_values(state)
        return [[values[move] for move in state.legal_moves()]]

    yield ("moves",), by_move


def _lane_update(module, on: str, move: int, weights: Sequence[float],
                 **options) -> Iterator[Part]:
    state = read_position(on)
    yield (("target",), lambda: [_learner(module, weights, **options).target(
        state.after(move), state.to_move)])

    def updated():
        learner = _learner(module, weights, **options)
        learner.update(state, move)
        return [[learner.weights[kind] for kind in KINDS]]

    yield ("weights",), updated


def _self_play(module, on: str, moves: Sequence[int], weights: Sequence[float],
               **options) -> Iterator[Part]:
    def played():
        learner = _learner(module, weights, **options)
        _scripted([learner], moves)
        final = get(module, "self_play")(learner, read_position(on))
        return ([learner.weights[kind] for kind in KINDS],
                _text(final, "what self_play returned"))

    yield ("weights", "final"), played


def _symmetry(module, on: list[str], groups: Sequence[Sequence[int]]) -> Iterator[Part]:
    ways: list[tuple[int, ...]] = []

    def checked():
        ways.extend(map(tuple, get(module, "symmetries")()))
        lanes = set(map(frozenset, LANES))
        kept = [way for way in ways
                if {frozenset(way[cell] for cell in lane) for lane in LANES} == lanes]
        return ([len(ways), len(set(ways)), len(kept)],
                [len({frozenset(way[cell] for cell in group) for way in ways})
                 for group in groups])

    yield ("ways", "images"), checked

    def compared():
        found = [get(module, "canonical")(read_position(text), ways) for text in on]
        return [[found.index(state) for state in found]]

    yield ("same",), compared


def _learner(module, weights: Sequence[float], **options) -> Any:
    learner = get(module, "LaneLearner")(seed=0, **options)
    learner.weights = dict(zip(KINDS, weights, strict=True))
    return learner


def _scripted(players, moves: Sequence[int]) -> Iterator[int]:
    """Make the players choose these moves, whoever is asked; returns the moves that are left."""
    script = iter(moves)

    def choose(state):
        for move in script:
            return move
        raise BadReply("a move was asked for after the end of the game")

    for player in players:
        player.choose = choose
    return script


def _walk(state: Qubic, moves: Sequence[int]) -> Iterator[tuple[Qubic, int]]:
    """The states of a scripted game with the move made in each; a refused move changes nothing."""
    for move in moves:
        yield state, move
        try:
            state = state.after(move)
        except IllegalMove:
            continue


def _text(state: Any, what: str) -> str:
    if not isinstance(state, Qubic):
        raise BadReply(f"{what} must be a state, it is {state!r:.60}")
    return state.text


def _called(name: str, agent: str = ""):
    """The description of a question that calls `name`, a method of `agent` if that is given."""
    def describe(case: Mapping[str, Any]) -> str:
        return call(f"{agent}.{name}" if agent else name, case)

    return describe


def _scripted_game(name: str):
    def describe(case: Mapping[str, Any]) -> str:
        start, = positions_of(case)
        again = f", {case['times']} times" if "times" in case else ""
        options = "".join(f", {key}={value}" for key, value in case.items()
                          if key not in ("on", "moves", "times"))
        return f"{name}(players, {start}), in which the moves {case['moves']} are played{again}" + (
            f" (with {options.removeprefix(', ')})" if options else "")

    return describe


def _moves(case: Mapping[str, Any]) -> list[list[str]]:
    return [[f"move {move}" for move in read_position(case["on"]).legal_moves()]]


def _rest(case: Mapping[str, Any]) -> list[list[str]]:
    state, following = map(read_position, case["on"])
    return [[*(f"Q of move {move} in the same state" for move in state.legal_moves()
               if move != case["move"]),
             *(f"Q of move {move} in what follows" for move in following.legal_moves())]]


def _made_by(player: str):
    def labels(case: Mapping[str, Any]) -> list[list[str]]:
        return [[f"move {move}" for state, move in _walk(read_position(case["on"]), case["moves"])
                 if state.to_move == player]]

    return labels


def _cells(_case: Mapping[str, Any]) -> list[list[str]]:
    return [[f"cell {cell}" for cell in range(64)]]


def _kinds(_case: Mapping[str, Any]) -> list[list[str]]:
    return [[f"kind {kind}" for kind in KINDS]]


def _kinds_of_players(case: Mapping[str, Any]) -> list[list[str]]:
    return [PLAYERS.split(", "), *_kinds(case)]


def _lanes_of_players(case: Mapping[str, Any]) -> list[list[str]]:
    return [PLAYERS.split(", "), [f"lane {tuple(lane)}" for lane in LANES if case["cell"] in lane]]


QUESTIONS = {
    "step": Question(_step, ("rewards", "following"), _called("step"),
                     {"rewards": "own, other", "following": "the 64 cells"},
        labels={"following": _cells}),
    "epsilon_greedy": Question(
        _epsilon_greedy, ("greedy", "drawn", "share"), _called("epsilon_greedy"),
        {"greedy": "what greedy_moves lists", "drawn": "all moves seen in many draws",
         "share": "how many 25ths of the draws were greedy moves"}),
    "bellman": Question(
        _bellman, ("updated", "rest", "entries"), _called("update", "QPlayer"),
        {"updated": "Q of the move", "rest": "Q of the state's other moves, then of what follows",
         "entries": "in the table"}, labels={"rest": _rest}),
    "episode": Question(
        _episode, ("x", "o", "final"), _scripted_game("play_episode"),
        {"x": "Q of x's moves in its own table", "o": "Q of o's moves in its own table",
         "final": "the 64 cells"},
        labels={"x": _made_by("x"), "o": _made_by("o"), "final": _cells}),
    "lane_kinds": Question(
        _lane_kinds, ("counts", "through"), _called("lane_kinds"),
        {"counts": "lanes of each of KINDS, for x, for o",
         "through": "kinds of the lanes through the cell, for x, for o"},
        labels={"counts": _kinds_of_players, "through": _lanes_of_players}),
    "lane_values": Question(
        _lane_values, ("value", "moves"), _called("value", "LaneLearner"),
        {"value": PLAYERS, "moves": "by move_values, one for each legal move"},
        labels={"moves": _moves}),
    "lane_update": Question(
        _lane_update, ("target", "weights"), _called("update", "LaneLearner"),
        {"target": "of the afterstate", "weights": "after the update, in the order of KINDS"},
        labels={"weights": _kinds}),
    "self_play": Question(
        _self_play, ("weights", "final"), _scripted_game("self_play"),
        {"weights": "after the game, in the order of KINDS", "final": "the 64 cells"},
        labels={"weights": _kinds, "final": _cells}),
    "symmetry": Question(
        _symmetry, ("ways", "images", "same"), _called("canonical"),
        {"ways": "how many, how many different, how many take lanes to lanes",
         "images": "to how many sets each group of cells goes",
         "same": "for each position the first that has the same canonical state"},
        labels={"images": each("groups", "the cells"), "same": each_position}),
}  # fmt: skip
