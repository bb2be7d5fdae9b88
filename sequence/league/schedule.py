"""The league: every agent plays every other agent, with the same deals from both seats."""

import operator
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Executor, ThreadPoolExecutor, as_completed
from dataclasses import asdict
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple, Unpack

from common.clock import scaling_notice, speed_factor
from sequence.board.rules import DRAFT, RULE_SETS, Rules
from sequence.engine import replay
from sequence.engine.state import State
from sequence.league.cluster import TaskPayload
from sequence.league.game import (
    Fault,
    LimitOptions,
    Limits,
    PlayedGame,
    Player,
    TimeLimitExceeded,
    UnknownAgent,
    play_game,
)
from sequence.league.players.process import ProcessPlayer
from sequence.league.players.specs import LeagueError, Spec, specs
from sequence.league.progress import print_line, show_progress
from sequence.league.protocol import clean
from sequence.league.records.journal import Journal, Key, Record
from sequence.league.records.results import Results

PLAYERS = 2  # number of players in a game
Transport = Callable[[Spec, Limits], Player]


class Pairing(NamedTuple):
    """A game to be played: the number of its deal, from 1, and the agents in seat order."""

    deal: int
    agents: tuple[Spec, Spec]

    @property
    def key(self) -> Key:
        """The key of the game in the journal."""
        return self.deal, tuple(agent.name for agent in self.agents)

    @property
    def name(self) -> str:
        """The name of its replay, such as "0001+Greedy+Random"."""
        return "+".join([f"{self.deal:04}", *(agent.slug for agent in self.agents)])


def league(
    agents: Sequence[Any],
    deals: int = 10,
    seed: int | None = None,
    out: str | Path | None = None,
    *,
    rules: Rules = DRAFT,
    jobs: int | Executor = 1,
    transport: Transport = ProcessPlayer,
    **limits: Unpack[LimitOptions],
) -> Results:
    """Play a round robin between agents and return its results.

    `agents` are texts as in `sequence.league.players.specs`, classes, or partials of classes. Every
    pair plays `deals` deals twice, with each agent once in either seat. All pairs play the same
    deals, which depend on `seed`. By default, a new seed is drawn, so that agents cannot guess the
    cards; the results contain it. `limits` are the fields of `Limits`, such as `action=0.5`. `jobs`
    is the number of games to play in parallel; since clocks count computing time, this makes no
    agent late. It may also be an executor of `concurrent.futures`, such as that of
    `sequence.league.cluster`.

    If `out` is a folder, every finished game is written to it immediately, and the results at the
    end. A later call with the same arguments continues where the earlier one was stopped, with the
    same seed unless another is given; a call with more deals adds the missing ones. `transport` is
    `ProcessPlayer` or, for agents that you trust, `InProcessPlayer`, which is many times faster if
    the agents are fast.

    Raises `LeagueError` for agents that do not exist, invalid numbers, rules that are not a named
    rule set for two players, and a folder that contains a league with other settings or cannot be
    written to.
    """
    contestants = specs(agents)
    deals = _whole("deals", deals, 1)
    pool: Executor | None = jobs if isinstance(jobs, Executor) else None
    workers = 1 if isinstance(jobs, Executor) else _whole("jobs", jobs, 1)
    seed = None if seed is None else _whole("the seed", seed, 0)
    _require_named_rules(rules)
    game_limits = _limits(limits)
    payloads = _payloads(contestants) if pool else {}
    runner = GameRunner(rules, transport, game_limits, payloads)
    if workers > 1:
        pool = ThreadPoolExecutor(workers)
    for warning in filter(None, _map(pool, runner.check, contestants)):
        print_line(warning)
    journal = Journal(
        None if out is None else Path(out),
        {
            "agents": [agent.settings() for agent in contestants],
            "deals": deals,
            "seed": seed,
            "rules": rules.name,
            "limits": asdict(game_limits),
            "transport": _transport_name(transport),
        },
    )
    games = list(pairings(contestants, deals))
    left = [game for game in games if game.key not in journal]
    if len(left) + len(journal) > len(games):
        raise LeagueError(f"{out} contains games of another league: use another folder")
    _print_scaling_notice()
    with show_progress(len(games), len(games) - len(left)) as advance:
        for game, record, text in _map(pool, partial(runner.play, journal.seed), left):
            journal.add(record, text, game.name)
            advance()
    results = Results(tuple(agent.name for agent in contestants), journal.records, journal.seed)
    if out is not None:
        _write(results, Path(out))
    return results


def _payloads(agents: Sequence[Spec]) -> dict[Spec, TaskPayload]:
    """The files of each agent, for other machines."""
    return {agent: TaskPayload.from_spec(agent) for agent in agents}


def _require_named_rules(rules: Any) -> None:
    if not (isinstance(rules, Rules) and rules.is_named and rules.players == PLAYERS):
        raise LeagueError(
            f"a league is played by two players with one of the rule sets "
            f"{', '.join(RULE_SETS)}, not with {rules!r:.80}"
        )


def _limits(options: LimitOptions) -> Limits:
    try:
        return Limits(**options)
    except (TypeError, ValueError) as error:
        raise LeagueError(str(error)) from error


def _print_scaling_notice() -> None:
    if speed_factor() != 1:
        print_line(f"league: {scaling_notice(speed_factor())}")


def _transport_name(transport: Transport) -> str:
    """The name of a transport in a league's settings."""
    name = getattr(transport, "settings_name", None) or getattr(transport, "__name__", None)
    return name or clean(repr(transport))


def _write(results: Results, folder: Path) -> None:
    try:
        results.write(folder)
    except OSError as error:
        raise LeagueError(f"the results cannot be written: {error}") from error


def pairings(agents: Sequence[Spec], deals: int) -> Iterator[Pairing]:
    """All games of a round robin, deal by deal, so that an interrupted league is almost fair."""
    for deal in range(1, deals + 1):
        for first, second in combinations(agents, 2):
            yield Pairing(deal, (first, second))
            yield Pairing(deal, (second, first))


def deal_seed(seed: int, deal: int) -> int:
    """The seed for `State.deal`, which is the same for all pairs that play this deal."""
    return random.Random(f"deal {deal} of league {seed}").getrandbits(64)


def game_seed(seed: int, game: Pairing) -> int:
    """The seed for the agents in a game and for the random actions that replace theirs.

    It does not depend on the other agents of the league.
    """
    return random.Random(f"{game.key} of league {seed}").getrandbits(64)


def _whole(name: str, value: Any, minimum: int) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        number = minimum - 1
    if number < minimum:
        raise LeagueError(f"{name} must be a whole number from {minimum}, not {value!r:.80}")
    return number


class GameRunner(NamedTuple):
    """Plays games, here or on another machine, with given rules, transport and limits.

    `payloads` contains the files of each agent if the games are played on other machines.
    """

    rules: Rules
    transport: Transport
    limits: Limits
    payloads: Mapping[Spec, TaskPayload]

    def play(self, seed: int, game: Pairing) -> tuple[Pairing, Record, str]:
        """Play one game of the league with this seed; return its record and its replay."""
        start = State.deal(self.rules, deal_seed(seed, game.deal))
        players = [self._player(agent) for agent in game.agents]
        played = play_game(players, start, game_seed(seed, game), self.limits)
        return game, _record(game, played), _replay(game, played)

    def check(self, agent: Spec) -> str | None:
        """Load an agent once, so that a failure is reported early, and return the warning, if any.

        Raises `LeagueError` for an agent that does not exist.
        """
        player = self._player(agent)
        try:
            player.begin(0, self.limits.first)
        except UnknownAgent as error:
            raise LeagueError(f"{agent.name} {clean(str(error))}") from error
        except Fault as fault:
            sentence = (
                f"could not be loaded within {fault.within(self.limits.first)}"
                if isinstance(fault, TimeLimitExceeded)
                else clean(str(fault))
            )
            return f"warning: {agent.name} {sentence}; it will forfeit its games"
        finally:
            player.end()
        return None

    def _player(self, agent: Spec) -> Player:
        payload = self.payloads.get(agent)
        return self.transport(payload.unpack(agent) if payload else agent, self.limits)


def _record(game: Pairing, played: PlayedGame) -> Record:
    seconds = tuple(
        tuple(
            round(spent, 6)
            for mover, spent in zip(played.movers, played.seconds, strict=True)
            if mover == player
        )
        for player in range(PLAYERS)
    )
    final = played.states[-1]
    return Record(
        game.deal,
        tuple(agent.name for agent in game.agents),
        played.winner,
        played.forfeit,
        final.sequences,
        len(final.history),
        played.warnings,
        seconds,
    )


def _replay(game: Pairing, played: PlayedGame) -> str:
    """The replay, with the agents and their warnings as comments."""
    names = [agent.name for agent in game.agents]
    remarks = [
        f"deal {game.deal}",
        *(f"player {player}: {name}" for player, name in enumerate(names)),
        *(
            f"action {warning.action}: {names[warning.player]} {warning.sentence}"
            for warning in played.warnings
        ),
    ]
    if played.forfeit is not None:
        remarks.append(f"{names[played.forfeit]} has used up its warnings and forfeits the game")
    return "".join(f"# {remark}\n" for remark in remarks) + replay.write(played.states)


def _map(pool: Executor | None, work: Callable[[Any], Any], items: Sequence[Any]) -> Iterator[Any]:
    """The results of `work` for the items, in the order in which the pool completes them.

    If this is interrupted, games that have begun are finished. Without a pool, the items are
    processed in this process. Raises `LeagueError` if the cluster is lost.
    """
    if pool is None:
        yield from map(work, items)
        return
    waiting = [pool.submit(work, item) for item in items]
    try:
        for done in as_completed(waiting):
            yield done.result()
    except CancelledError as error:
        raise LeagueError(
            "the connection to the cluster was lost; if the league has a folder, the same command "
            "continues it"
        ) from error
    finally:
        for future in waiting:
            future.cancel()
