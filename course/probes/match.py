"""The questions that are games: a student's agent climbs a ladder of opponents.

The games are played here, with the rules and the opponents. Only the agent itself runs elsewhere:
it is sent what it may see and answers with actions; anything else that it says is ignored.
"""

import builtins
import hashlib
import random
import re
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from course.probes import Check, Observation
from course.probes.given import COMPARED, Likeness, code_of, copied_player
from course.probes.question import NOT_WRITTEN
from course.probes.rates import Rate
from course.probes.replies import Replies
from sequence import DRAFT, Action, State
from sequence import Observation as Seen
from sequence.league.clock import factor
from sequence.league.game import Limits, Played, Player, play_game
from sequence.league.players.specs import Spec, parse
from sequence.league.players.trusted import TrustedPlayer
from tictactoe.show.time_left import duration

AGENT = "MyAgent"  # the class that is asked
LIMITS = Limits(first=5)  # those of the league, except for the first action
UNFILLED = "raised NotImplementedError"  # how a warning to an unfilled stub begins
WORDS = re.compile(r"raised (\w+).*?( \(line (\d{1,6}) of my_agent\.py\))?", re.DOTALL)
LEGAL = 4  # deals that show whether an agent that earns nothing else plays legally
OPPONENTS = "given players are opponents here, and earn no points for strength"
TOO_LONG = (
    f"this agent's code has more than {COMPARED:,} characters, too many to look for a "
    "given player's in it, so it earns no points for strength: put long tables into a "
    "module without functions"
)


def play_ladder(
    check: Check,
    agent: Callable[[], Player],
    seconds: float,
    answers: Path | None = None,
    *,
    sources: Iterable[str] = (),
    secret: str = "",
    tell: Callable[[str], object] = lambda said: None,
) -> Replies:
    """Climb a ladder, from the weakest opponent up; `agent()` connects to the student's agent, once
    for every game.

    The climb ends at an opponent against whom the agent earns nothing, or whose first deal it
    forfeits from both seats, and with the points of legal play where the agent is a given player.
    The agent may compute for `seconds`, and on every rung for its part of those that are left; what
    was seen by then counts. The opponents have as long as they need, and nothing that they do is
    counted.

    `answers` is the folder of the reference answers, which holds some opponents; `sources` are
    the texts of the agent's modules. The deals follow from the cases' seeds and from `secret`,
    without which nobody can know them. `tell` is told how it goes.
    """
    begun = time.monotonic()
    observations: list[Observation] = []
    said: list[str] = []
    likeness = Likeness()
    sources = list(sources)
    lines = max((len(text.splitlines()) for text in sources), default=0)
    by_code = _by_code(sources)
    stopped, left = None, seconds
    for number, case in enumerate(check.cases):
        rung = _Rung({**check.settings, **case}, answers, secret, tell, lines)
        if by_code:  # these are for the points of legal play
            rung.rate.most = min(rung.rate.most, LEGAL)
        rung.climb(agent, left / (len(check.cases) - number), likeness)
        left -= rung.spent
        if not rung.rate.deals:
            stopped = f"stopped after {seconds:g} s of computing time"
            break
        observations.append(rung.observation())
        said.append(rung.said)
        given = by_code or _by_play(likeness)
        if given:
            observations = [_without_strength(seen, given) for seen in observations]
            said.append(given)
        if not observations[-1]["strength"]:
            observations += [observations[-1]] * (len(check.cases) - len(observations))
            break
    missing = (None,) * (len(check.cases) - len(observations))
    return Replies((*observations, *missing), None, stopped, time.monotonic() - begun, tuple(said))


def _without_strength(observation: Observation, why: str) -> Observation:
    errors = {**observation.get("errors", {}), "strength": why}
    return {**observation, "strength": 0.0, "errors": errors}


def _by_code(sources: Iterable[str]) -> str:
    """Why the agent's code is a given player's, or may be; "" if it is not."""
    code = code_of(sources)
    if sum(map(len, code)) > COMPARED:
        return TOO_LONG
    copied = copied_player(code)
    return f"the code of {copied} is in this agent: {OPPONENTS}" if copied else ""


def _by_play(likeness: Likeness) -> str:
    """Why the agent plays as a given player does, "" if it does not."""
    played = likeness.player
    return f"this agent plays as {played} does: {OPPONENTS}" if played else ""


class _Rung:
    """One opponent, and the games against it."""

    def __init__(
        self,
        case: Mapping[str, Any],
        answers: Path | None,
        secret: str,
        tell: Callable[[str], object],
        lines: int,
    ) -> None:
        self.name = case["against"]
        self.opponent = _opponent(case["agent"], answers)
        self.random = case.get("random", 0.0)
        floor, ceiling = case["rates"]
        self.rate = Rate(floor, ceiling, case["deals"])
        self.source, self.is_secret = f"{secret} {case['seed']}", bool(secret)
        self.tell = tell
        self.lines = lines  # of the agent's longest module
        self.points = 0.0  # one for a game won, half for a tie
        self.games = self.forfeited = 0
        self.spent = 0.0  # computing time of the agent, as on a machine of usual speed
        self.warning = ""  # the first one

    def climb(self, agent: Callable[[], Player], seconds: float, likeness: Likeness) -> None:
        """Play deals until the rate is known, the first one is forfeited, or the time is up."""
        begun = time.monotonic()
        while not (self.rate.is_known or self._is_hopeless or self.spent > seconds):
            before = self.points
            for seat in (0, 1):
                played = self._play(self.rate.deals, seat, agent)
                self._count(played, seat)
                likeness.add(played, seat)
            self.rate.add((self.points - before) / 2)
            self.tell(
                f"against {self.name}: {self.points:g} of {self.games} games won"
                + self._to_come(time.monotonic() - begun)
            )

    def _to_come(self, seconds: float) -> str:
        """The games that are left, after so many seconds: fewer if the rate is known before."""
        games = 0 if self.rate.is_known else 2 * (self.rate.most - self.rate.deals)
        time_left = duration(seconds / self.games * games)
        return f", at most {games} more in about {time_left}" if games else ""

    @property
    def _is_hopeless(self) -> bool:
        return self.games == self.forfeited == 2

    def observation(self) -> Observation:
        """What this rung earns."""
        strength = 0.0 if self._is_hopeless else self.rate.share
        errors = {}
        if strength < 1:
            errors["strength"] = self.warning if self._is_hopeless else self.said
        if self.warning:
            errors["legal"] = self.warning
        observation = {"strength": strength, "legal": not self.warning}
        return observation | ({"errors": errors} if errors else {})

    @property
    def said(self) -> str:
        """How the games went, and what that earns."""
        rate = self.rate
        clear = (
            ""
            if not rate.is_clear
            else ", clearly above that"
            if rate.share
            else ", clearly below that"
        )
        return (
            f"against {self.name}: {self.points:g} of {self.games} games won, {rate.mean:.0%} "
            f"(points from {rate.floor:.0%} to {rate.ceiling:.0%}{clear}): "
            f"{rate.share:.0%} of the points"
        )

    def _play(self, deal: int, seat: int, agent: Callable[[], Player]) -> Played:
        """One game: each deal is played from both seats."""
        players = [agent(), _Careless(self.opponent, self.random)]
        start = State.deal(DRAFT, _number(self.source, deal))
        return play_game(
            players[::-1] if seat else players, start, _number(self.source, deal, seat), LIMITS
        )

    def _count(self, played: Played, seat: int) -> None:
        self.games += 1
        self.spent += (
            sum(
                seconds
                for seconds, mover in zip(played.seconds, played.movers, strict=True)
                if mover == seat
            )
            / factor()
        )
        self.points += 0.5 if played.winner is None else float(played.winner == seat)
        mine = [warned.sentence for warned in played.warnings if warned.player == seat]
        if len(mine) < len(played.warnings):
            raise RuntimeError(f"the opponent {self.name} failed: {played.warnings}")
        if mine and not self.warning:
            self.warning = _without_words(mine[0], self.lines) if self.is_secret else mine[0]
            if mine[0].startswith(UNFILLED):
                self.warning = f"{NOT_WRITTEN}{self.warning.removeprefix(UNFILLED)}"
        self.forfeited += played.forfeit == seat


def _without_words(warning: str, lines: int) -> str:
    """A warning without the agent's own words, which could tell of cards that are secret: the kind
    of an error, if it is one of Python's own, and its line, if the agent's modules have so many
    `lines`. A module can raise an error in whatever line it likes of code that it compiles."""
    if warning.startswith("answered "):
        return "answered something that is not an action"
    if warning.startswith("played "):
        return "played an action that is not among the legal actions"
    raised = WORDS.fullmatch(warning)
    if raised is None:
        return warning
    name, line, number = raised.groups()
    kind = getattr(builtins, name, None)
    known = isinstance(kind, type) and issubclass(kind, BaseException)
    where = line if line and 1 <= int(number) <= lines else ""
    return f"raised {name if known else 'an error of its own'}{where}"


class _Careless(TrustedPlayer):
    """An opponent a share of whose actions are random legal ones."""

    def __init__(self, agent: Spec, share: float) -> None:
        super().__init__(agent, timed=False)
        self._share = share
        self._chance = random.Random()

    def begin(self, seed: int, seconds: float = 0.0) -> None:
        """Make the agent, and draw the random actions from the seed."""
        super().begin(seed, seconds)
        self._chance.seed(seed)

    def ask(self, observation: Seen, seconds: float) -> Action:
        """The agent's action, or a random one."""
        if self._share and self._chance.random() < self._share:
            return observation.legal_actions().choose(self._chance)
        return super().ask(observation, seconds)


def _number(*parts: object) -> int:
    """A number that follows from these parts, and from which they do not follow."""
    digest = hashlib.sha256(" ".join(map(str, parts)).encode()).digest()
    return int.from_bytes(digest[:16])


def _opponent(text: str, answers: Path | None) -> Spec:
    """The agent that `text` names in the league's notation; "answers/" means that folder."""
    return parse(text if answers is None else text.replace("answers/", f"{answers}/", 1))
