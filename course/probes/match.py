"""The questions that are games: a student's agent plays paired deals against the rungs of a ladder.

The games are played here, with the rules and the opponents. Only the agent itself runs elsewhere:
it is sent what it may see and answers with actions; anything else that it says is ignored.
"""

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from course.probes import Check, Observation
from course.probes.question import NOT_WRITTEN
from course.probes.replies import Replies
from sequence import DRAFT, State
from sequence.league.clock import factor
from sequence.league.game import Limits, Played, Player, play_game
from sequence.league.players.specs import Spec, parse
from sequence.league.players.trusted import TrustedPlayer
from tictactoe.games.play import wilson_interval

AGENT = "MyAgent"  # the class that is asked
LIMITS = Limits(first=5)  # those of the league, except for the first action
RAISED = "raised NotImplementedError: "  # how a warning to an unfilled stub reads


def play_ladder(check: Check, agent: Callable[[], Player], seconds: float,
                answers: Path | None = None) -> Replies:
    """Play every rung of a ladder; `agent()` connects to the student's agent, once for every game.

    If the agent forfeits a game, or has computed for `seconds`, the remaining rungs are not played.
    The opponents have as long as they need, and nothing that they do is counted. `answers` is the
    folder of the staff's answers, which holds some of the opponents.
    """
    begun = time.monotonic()
    observations: list[Observation | None] = []
    stopped, spent = None, 0.0
    for case in check.cases:
        rung = _Rung({**check.settings, **case}, answers)
        observation = rung.climb(agent, seconds - spent)
        spent += rung.spent
        if observation is None:
            stopped = f"stopped after {seconds:g} s of computing time"
            break
        observations.append(observation)
        if rung.forfeited:
            observations += [observation] * (len(check.cases) - len(observations))
            break
    observations += [None] * (len(check.cases) - len(observations))
    return Replies(tuple(observations), None, stopped, time.monotonic() - begun)


class _Rung:
    """One opponent, and the games against it."""

    def __init__(self, case: Mapping[str, Any], answers: Path | None) -> None:
        self.name = case["against"]
        self.opponent = _opponent(case.get("agent", self.name), answers)
        self.deals, self.seed = case["deals"], case["seed"]
        self.games = 2 * self.deals
        self.points = 0.0  # one for a game won, half for a tie
        self.played = 0
        self.spent = 0.0  # computing time of the agent, as on a machine of usual speed
        self.warning = ""  # the first one
        self.forfeited = False

    def climb(self, agent: Callable[[], Player], seconds: float) -> Observation | None:
        """Play until it is decided whether the opponent is beaten; None if the agent's time is up.
        """
        needed = needed_points(self.games)
        while not self.forfeited and needed - self.games + self.played <= self.points < needed:
            if self.spent > seconds:
                return None
            self._count(*self._play(self.played, agent))
        beaten = self.points >= needed
        errors = {}
        if not beaten:
            errors["beaten"] = self._score(needed)
        if self.warning:
            errors["legal"] = self.warning
            if self.forfeited:
                errors["beaten"] = self.warning
        observation = {"beaten": beaten, "legal": not self.warning}
        return observation | ({"errors": errors} if errors else {})

    def _play(self, game: int, agent: Callable[[], Player]) -> tuple[Played, int]:
        """Game number `game`, and the seat that the agent had: each deal from both seats."""
        deal, seat = divmod(game, 2)
        players = [agent(), TrustedPlayer(self.opponent, timed=False)]
        start = State.deal(DRAFT, 1000 * self.seed + deal)
        return play_game(players[::-1] if seat else players, start, 1000 * self.seed + game,
                         LIMITS), seat

    def _count(self, played: Played, seat: int) -> None:
        self.played += 1
        self.spent += sum(seconds for seconds, mover in zip(played.seconds, played.movers,
                                                            strict=True)
                          if mover == seat) / factor()
        self.points += 0.5 if played.winner is None else float(played.winner == seat)
        mine = [warned.sentence for warned in played.warnings if warned.player == seat]
        if len(mine) < len(played.warnings):
            raise RuntimeError(f"the opponent {self.name} failed: {played.warnings}")
        if mine and not self.warning:
            self.warning = (mine[0] if not mine[0].startswith(RAISED)
                            else f"{NOT_WRITTEN}: {mine[0].removeprefix(RAISED)}")
        self.forfeited = played.forfeit == seat

    def _score(self, needed: float) -> str:
        low, high = (wilson_interval(self.points / self.played, self.played) if self.played
                     else (0.0, 1.0))
        return (f"{self.points:g} of {self.played} games won (95 % interval of the rate "
                f"{low:.0%} to {high:.0%}), and {needed:g} of {self.games} are needed")


def needed_points(games: int) -> float:
    """The fewest points for which the 95 % interval of the win rate lies above one half.

    Raises ValueError for fewer than four games, which can show nothing.

    >>> needed_points(16)
    12.0
    """
    for half in range(2 * games + 1):
        if wilson_interval(half / 2 / games, games)[0] > 0.5:
            return half / 2
    raise ValueError(f"{games} games cannot show that an opponent is beaten: play at least 4")


def _opponent(text: str, answers: Path | None) -> Spec:
    """The agent that `text` names in the league's notation; "answers/" means that folder."""
    return parse(text if answers is None else text.replace("answers/", f"{answers}/", 1))
