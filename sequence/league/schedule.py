"""The league itself: every agent plays every other one, the same deals from both seats."""

import operator
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Executor, ThreadPoolExecutor, as_completed
from dataclasses import asdict
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple, Unpack

from sequence.board.rules import DRAFT, RULE_SETS, Rules
from sequence.engine import replay
from sequence.engine.state import State
from sequence.league.clock import factor, told
from sequence.league.cluster import Luggage
from sequence.league.game import (
    Fault,
    Late,
    LimitOptions,
    Limits,
    Played,
    Player,
    UnknownAgent,
    play_game,
)
from sequence.league.players.process import ProcessPlayer
from sequence.league.players.specs import LeagueError, Spec, specs
from sequence.league.progress import progress, say
from sequence.league.records.journal import Journal, Key, Record
from sequence.league.records.results import Results
from sequence.league.wire import clean

PLAYERS = 2  # of a game
Transport = Callable[[Spec, Limits], Player]


class Pairing(NamedTuple):
    """One game to be played: the number of its deal, from 1, and the agents as they sit."""

    deal: int
    agents: tuple[Spec, Spec]

    @property
    def key(self) -> Key:
        """Which game it is, as in the journal."""
        return self.deal, tuple(agent.name for agent in self.agents)

    @property
    def name(self) -> str:
        """The name of its replay, like "0001+Greedy+Random"."""
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
    pair plays `deals` deals twice, each agent once from either seat; all pairs play the same deals,
    which `seed` decides. Without a seed a new one is drawn, so that agents cannot guess the cards;
    the results hold it. `limits` are those of `Limits` by name, like `action=0.5`. `jobs` games run
    side by side; clocks count computing time, so that no agent is late for it. `jobs`
    may also be an executor of `concurrent.futures`, like that of `sequence.league.cluster`.

    If `out` is a folder, every finished game is written there at once, and the results at the end.
    The same call then continues where an earlier one was stopped, with its seed unless one is
    given; a call with more deals adds them. `transport` is `ProcessPlayer` or, for agents that you
    trust, `TrustedPlayer`, which is many times faster with fast agents.

    Raises `LeagueError` for agents that do not exist, invalid numbers, rules that are not a named
    rule set for two players, and a folder that holds a league with other settings or cannot be
    written to.
    """
    found = specs(agents)
    deals = _whole("deals", deals, 1)
    pool: Executor | None = jobs if isinstance(jobs, Executor) else None
    side_by_side = 1 if isinstance(jobs, Executor) else _whole("jobs", jobs, 1)
    seed = None if seed is None else _whole("the seed", seed, 0)
    if not (isinstance(rules, Rules) and rules.is_named and rules.players == PLAYERS):
        raise LeagueError(
            f"a league is played by two players, by one of the rule sets "
            f"{', '.join(RULE_SETS)}, not by {rules!r:.80}"
        )
    try:
        terms = Limits(**limits)
    except (TypeError, ValueError) as error:
        raise LeagueError(str(error)) from error
    luggage = {} if pool is None else {agent: Luggage.of(agent) for agent in found}
    desk = Desk(rules, transport, terms, luggage)
    if side_by_side > 1:
        pool = ThreadPoolExecutor(side_by_side)
    for said in _all(pool, desk.check, found):
        if said:
            say(said)
    journal = Journal(
        None if out is None else Path(out),
        {
            "agents": [agent.settings() for agent in found],
            "deals": deals,
            "seed": seed,
            "rules": rules.name,
            "limits": asdict(terms),
            "transport": getattr(transport, "__name__", clean(repr(transport))),
        },
    )
    seed = journal.seed
    games = list(pairings(found, deals))
    left = [game for game in games if game.key not in journal]
    if len(left) + len(journal) > len(games):
        raise LeagueError(f"{out} holds games of another league: give another folder")

    if factor() != 1:
        say(f"league: {told(factor())}")
    with progress(len(games), len(games) - len(left)) as advance:
        for game, record, shown in _all(pool, partial(desk.play, seed), left):
            journal.add(record, shown, game.name)
            advance()
    results = Results(tuple(agent.name for agent in found), journal.records, seed)
    if out is not None:
        try:
            results.write(Path(out))
        except OSError as error:
            raise LeagueError(f"the results cannot be written: {error}") from error
    return results


def pairings(agents: Sequence[Spec], deals: int) -> Iterator[Pairing]:
    """All games of a round robin: deal by deal, so that a league that is stopped is nearly fair."""
    for deal in range(1, deals + 1):
        for first, second in combinations(agents, 2):
            yield Pairing(deal, (first, second))
            yield Pairing(deal, (second, first))


def deal_seed(seed: int, deal: int) -> int:
    """The seed of `State.deal`: one for each deal of a league, the same for all pairs."""
    return random.Random(f"deal {deal} of league {seed}").getrandbits(64)


def game_seed(seed: int, game: Pairing) -> int:
    """The seed of the agents in a game, and of the random actions that replace theirs.

    It does not depend on who else is in the league.
    """
    return random.Random(f"{game.key} of league {seed}").getrandbits(64)


def _whole(name: str, value: Any, least: int) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        number = least - 1
    if number < least:
        raise LeagueError(f"{name} must be a whole number from {least}, not {value!r:.80}")
    return number


class Desk(NamedTuple):
    """How games are played, here or on another machine: by which rules, players and limits.

    `luggage` has the files of each agent, where they are played on another machine.
    """

    rules: Rules
    transport: Transport
    limits: Limits
    luggage: Mapping[Spec, Luggage]

    def play(self, seed: int, game: Pairing) -> tuple[Pairing, Record, str]:
        """Play one game of the league with this seed; its record and its replay."""
        start = State.deal(self.rules, deal_seed(seed, game.deal))
        players = [self._player(agent) for agent in game.agents]
        played = play_game(players, start, game_seed(seed, game), self.limits)
        return game, _record(game, played), _replay(game, played)

    def check(self, agent: Spec) -> str | None:
        """Load an agent once, to say at once if that fails; it gets its warnings in the games.

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
                if isinstance(fault, Late)
                else clean(str(fault))
            )
            return f"warning: {agent.name} {sentence}; it will forfeit its games"
        finally:
            player.end()
        return None

    def _player(self, agent: Spec) -> Player:
        luggage = self.luggage.get(agent)
        return self.transport(luggage.unpacked(agent) if luggage else agent, self.limits)


def _record(game: Pairing, played: Played) -> Record:
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


def _replay(game: Pairing, played: Played) -> str:
    """The replay, with the agents and their warnings as remarks."""
    names = [agent.name for agent in game.agents]
    remarks = [
        f"deal {game.deal}",
        *(f"player {player}: {name}" for player, name in enumerate(names)),
        *(
            f"action {warned.action}: {names[warned.player]} {warned.sentence}"
            for warned in played.warnings
        ),
    ]
    if played.forfeit is not None:
        remarks.append(f"{names[played.forfeit]} has used up its warnings and forfeits the game")
    return "".join(f"# {remark}\n" for remark in remarks) + replay.write(played.states)


def _all(pool: Executor | None, work: Callable[[Any], Any], items: Sequence[Any]) -> Iterator[Any]:
    """The result of `work` for each item, by the pool if there is one, as they come; when stopped,
    what has begun is finished. Raises `LeagueError` where a cluster is lost."""
    if pool is None:
        yield from map(work, items)
        return
    waiting = [pool.submit(work, item) for item in items]
    try:
        for done in as_completed(waiting):
            yield done.result()
    except CancelledError as error:
        raise LeagueError(
            "the cluster was lost; with a folder for the results, the same league goes on from here"
        ) from error
    finally:
        for future in waiting:
            future.cancel()
