"""Plays matches as checks: a student's agent climbs a ladder of opponents.

The rules and the opponents run in this process. The agent runs in a separate process, which
receives observations and answers with actions; anything else that it sends is ignored.
"""

import builtins
import hashlib
import random
import re
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from common.clock import speed_factor
from common.messages import english
from common.progress import duration
from course.checks import Check, Observation
from course.checks.matches.builtin_players import (
    MAX_CODE_LENGTH,
    Similarity,
    code_of,
    copied_player,
)
from course.checks.matches.win_rate_scoring import Rate
from course.checks.question import NOT_WRITTEN
from course.checks.replies import Replies
from sequence import DRAFT, Action, State
from sequence import Observation as Seen
from sequence.league.game import Limits, PlayedGame, Player, play_game
from sequence.league.players.specs import Spec, parse
from sequence.league.players.trusted import InProcessPlayer

AGENT = "MyAgent"  # the name of the student's class
LIMITS = Limits(first=5)  # the league's limits, with more time for the first action
STUB_WARNING = "raised NotImplementedError"  # the start of a warning about an agent that is a stub
ERROR_WARNING = re.compile(r"raised (\w+).*?( \(line (\d{1,6}) of my_agent\.py\))?", re.DOTALL)
LEGALITY_DEALS = 4  # enough to decide whether an agent that can earn no other points plays legally
NO_STRENGTH = english("built-in players are opponents here and earn no points for strength")
TOO_LONG = english(
    f"this agent's code has more than {MAX_CODE_LENGTH:,} characters, which is too long to be "
    "compared with the built-in players, so it earns no points for strength: move long tables to "
    "a module without functions"
)


def play_ladder(
    check: Check,
    agent: Callable[[], Player],
    seconds: float,
    answers: Path | None = None,
    *,
    sources: Iterable[str] = (),
    secret: str = "",
    report_progress: Callable[[str], object] = lambda text: None,
) -> Replies:
    """Climb a ladder, from the weakest opponent up; `agent()` connects to the student's agent and is
    called for every game.

    The climb ends at the first opponent against which the agent earns nothing, or against which it
    forfeits the first deal from both seats. An agent that is a built-in player earns only the
    points for legal play. The agent may compute for `seconds` in total, and on each rung for an
    equal share of the remaining time. When the time is up, the games played so far count. The
    opponents' time is unlimited and does not count.

    `answers` is the folder of the reference answers, which contains some opponents; `sources` are
    the texts of the agent's modules. The deals are derived from the cases' seeds and from `secret`,
    so they cannot be predicted without it. `report_progress` is called with a text after each deal.
    """
    start = time.monotonic()
    observations: list[Observation] = []
    notes: list[str] = []
    similarity = Similarity()
    sources = list(sources)
    lines = max((len(text.splitlines()) for text in sources), default=0)
    copied = _copied_code_note(sources)
    stopped, left = None, seconds
    for number, case in enumerate(check.cases):
        rung = _Rung({**check.settings, **case}, answers, secret, report_progress, lines)
        if copied:  # only the points for legal play are left
            rung.rate.max_deals = min(rung.rate.max_deals, LEGALITY_DEALS)
        rung.climb(agent, left / (len(check.cases) - number), similarity)
        left -= rung.seconds
        if not rung.rate.deals:
            stopped = english(f"stopped after {seconds:g} s of computing time")
            break
        observations.append(rung.observation())
        notes.append(rung.note)
        builtin = copied or _same_play_note(similarity)
        if builtin:
            observations = [_without_strength(each, builtin) for each in observations]
            notes.append(builtin)
        if not observations[-1]["strength"]:
            observations += [observations[-1]] * (len(check.cases) - len(observations))
            break
    missing = (None,) * (len(check.cases) - len(observations))
    return Replies((*observations, *missing), None, stopped, time.monotonic() - start, tuple(notes))


def _without_strength(observation: Observation, note: str) -> Observation:
    errors = {**observation.get("errors", {}), "strength": note}
    return {**observation, "strength": 0.0, "errors": errors}


def _copied_code_note(sources: Iterable[str]) -> str:
    """A note that the agent's code is, or may be, that of a built-in player; "" if it is not."""
    code = code_of(sources)
    if sum(map(len, code)) > MAX_CODE_LENGTH:
        return TOO_LONG
    player = copied_player(code)
    return english(f"the code of {player} is in this agent: {NO_STRENGTH}") if player else ""


def _same_play_note(similarity: Similarity) -> str:
    """A note that the agent plays like a built-in player; "" if it does not."""
    player = similarity.player
    return english(f"this agent plays like {player}: {NO_STRENGTH}") if player else ""


class _Rung:
    """One opponent and the games against it."""

    def __init__(
        self,
        case: Mapping[str, Any],
        answers: Path | None,
        secret: str,
        report_progress: Callable[[str], object],
        lines: int,
    ) -> None:
        self.name = case["against"]
        self.opponent = _opponent(case["agent"], answers)
        self.random = case.get("random", 0.0)
        floor, ceiling = case["rates"]
        self.rate = Rate(floor, ceiling, case["deals"])
        self.source, self.is_secret = f"{secret} {case['seed']}", bool(secret)
        self.report_progress = report_progress
        self.lines = lines  # number of lines of the agent's longest module
        self.points = 0.0  # 1 for a game won, 0.5 for a tie
        self.games = self.forfeited = 0
        self.seconds = 0.0  # computing time of the agent, scaled to a machine of normal speed
        self.warning = ""  # the first warning

    def climb(self, agent: Callable[[], Player], seconds: float, similarity: Similarity) -> None:
        """Play deals until the rate is known, the first deal is forfeited, or the time is up."""
        start = time.monotonic()
        while not (self.rate.is_known or self._is_hopeless or self.seconds > seconds):
            before = self.points
            for seat in (0, 1):
                played = self._play(self.rate.deals, seat, agent)
                self._count(played, seat)
                similarity.add(played, seat)
            self.rate.add((self.points - before) / 2)
            self.report_progress(
                english(f"against {self.name}: {self.points:g} of {self.games} games won")
                + self._remaining(time.monotonic() - start)
            )

    def _remaining(self, seconds: float) -> str:
        """The number of games left and their estimated time, if the games so far took `seconds`."""
        games = 0 if self.rate.is_known else 2 * (self.rate.max_deals - self.rate.deals)
        time_left = duration(seconds / self.games * games)
        return english(f", at most {games} more in about {time_left}") if games else ""

    @property
    def _is_hopeless(self) -> bool:
        return self.games == self.forfeited == 2

    def observation(self) -> Observation:
        """The reply: the agent's strength, and whether all its play was legal."""
        strength = 0.0 if self._is_hopeless else self.rate.share
        errors = {}
        if strength < 1:
            errors["strength"] = self.warning if self._is_hopeless else self.note
        if self.warning:
            errors["legal"] = self.warning
        observation = {"strength": strength, "legal": not self.warning}
        return observation | ({"errors": errors} if errors else {})

    @property
    def note(self) -> str:
        """A sentence with the results of the games and the share of the points."""
        rate = self.rate
        clear = english("clearly above this range" if rate.share else "clearly below this range")
        return english(
            f"against {self.name}: {self.points:g} of {self.games} games won, {rate.mean:.0%} "
            f"(points from {rate.floor:.0%} to {rate.ceiling:.0%}"
            f"{f', {clear}' if rate.is_clear else ''}): "
            f"{rate.share:.0%} of the points"
        )

    def _play(self, deal: int, seat: int, agent: Callable[[], Player]) -> PlayedGame:
        """Play one of the deal's two games, which the agent plays from different seats."""
        players = [agent(), _RandomizedPlayer(self.opponent, self.random)]
        start = State.deal(DRAFT, _derived_seed(self.source, deal))
        return play_game(
            players[::-1] if seat else players,
            start,
            _derived_seed(self.source, deal, seat),
            LIMITS,
        )

    def _count(self, played: PlayedGame, seat: int) -> None:
        self.games += 1
        self.seconds += (
            sum(
                seconds
                for seconds, mover in zip(played.seconds, played.movers, strict=True)
                if mover == seat
            )
            / speed_factor()
        )
        self.points += 0.5 if played.winner is None else float(played.winner == seat)
        warnings = [warning.sentence for warning in played.warnings if warning.player == seat]
        if len(warnings) < len(played.warnings):
            raise RuntimeError(f"the opponent {self.name} failed: {played.warnings}")
        if warnings and not self.warning:
            first = warnings[0]
            self.warning = _redacted_warning(first, self.lines) if self.is_secret else first
            if first.startswith(STUB_WARNING):
                self.warning = f"{NOT_WRITTEN}{self.warning.removeprefix(STUB_WARNING)}"
        self.forfeited += played.forfeit == seat


def _redacted_warning(warning: str, lines: int) -> str:
    """A warning without the agent's own text, which could reveal secret cards.

    The type of an error is kept if it is built in. The line number is kept if it does not exceed
    `lines`, the length of the agent's longest module, because code that a module compiles can
    choose its own line numbers.
    """
    if warning.startswith("answered "):
        return english("answered something that is not an action")
    if warning.startswith("played "):
        return english("played an action that is not among the legal actions")
    match = ERROR_WARNING.fullmatch(warning)
    if match is None:
        return warning
    name, line, number = match.groups()
    error = getattr(builtins, name, None)
    is_builtin = isinstance(error, type) and issubclass(error, BaseException)
    where = line if line and 1 <= int(number) <= lines else ""
    return english(f"raised {name if is_builtin else 'a custom error'}{where}")


class _RandomizedPlayer(InProcessPlayer):
    """An opponent that plays a random legal action in a share of its turns."""

    def __init__(self, agent: Spec, share: float) -> None:
        super().__init__(agent, timed=False)
        self._share = share
        self._rng = random.Random()

    def begin(self, seed: int, seconds: float = 0.0) -> None:
        """Create the agent, and seed the random actions."""
        super().begin(seed, seconds)
        self._rng.seed(seed)

    def ask(self, observation: Seen, seconds: float) -> Action:
        """The agent's action, or a random one."""
        if self._share and self._rng.random() < self._share:
            return observation.legal_actions().choose(self._rng)
        return super().ask(observation, seconds)


def _derived_seed(*parts: object) -> int:
    """A number derived from the parts, which cannot be recovered from it."""
    digest = hashlib.sha256(" ".join(map(str, parts)).encode()).digest()
    return int.from_bytes(digest[:16])


def _opponent(text: str, answers: Path | None) -> Spec:
    """The agent that `text` names in the league's notation; "studies/" stands for `answers`."""
    return parse(text if answers is None else text.replace("studies/", f"{answers}/", 1))
