"""Summit: agents with a fitted value, against ISMCTS with 0.2 seconds.

Two of them are shown what is hidden, to see how much that is worth. Every deal is played twice,
once from each seat, and a tie is half a win; intervals are Wilson's at 95 %. `--size` says how many
deals, in tens; 200 take about two hours on two cores, which should have nothing else to do, as
ISMCTS goes by the clock. What was played is kept in autograder/benchmarks/played/, ten deals at a
time: a run that was stopped goes on there. docs/summit.md is made of it.
"""

import json
from functools import partial, reduce
from itertools import chain
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

import sequence
from autograder.benchmarks import Result, _fitted, fitting
from autograder.benchmarks._fitted import Fitted
from autograder.benchmarks._journal import Journal
from autograder.benchmarks._workers import on_all_cores
from autograder.benchmarks.variants import CHUNK, DEALS, KEPT, together, verdict
from sequence import ISMCTS, Action, State, compare
from sequence.agents.ismcts import SECONDS
from sequence.engine.observation import Observation
from tictactoe.games.play import Match

FIRST_DEAL = 70_000  # far from the seeds of other matches, and of the games of `bench fitting`
PAGE = Path(__file__).parents[2] / "docs" / "summit.md"
HEAD = f"""# Agents with a fitted value, against ISMCTS

More iterations make `ISMCTS`, the sparring partner of the league, hardly stronger; what eleven
changes of it bring is on [a page of its own](strength.md). The agents of this page differ from it
in two things: they judge positions by another value, and search less deep. Which of the two matters
more was not measured by itself.

The value was fitted to games between players who see all cards, {len(fitting.SHARES)} generations
with {sum(fitting.GAMES // share for share in fitting.SHARES):,} games in all: a quick player first,
then one that plays by the value so far. Each line on the board counts by the chips that are
missing, the cards held and the cards in the row. `bench fitting` plays the games, and says how well
the value predicts those that were held out. No game below was used to fit or to choose anything.

Each agent plays against `ISMCTS` with {SECONDS} seconds for an action: the share of the points
that it won, with its 95 % interval (Wilson). Every deal is played twice, once from each seat, and
a tie is half a win. "Time" is what an action took it on average, on the machine that played.

The agents that are *shown* hidden cards break the rules. They measure what these cards are worth:
who only guesses the other hand, however well, can hardly expect more than who sees it. One that
sees the deck, too, needs a single look, as nothing is left to sample.

"""
TAIL = """
Agents have played different numbers of deals; to compare two of them, look at the {deals} that all
have played. ISMCTS had time for {given} iterations on average. It is called weaker or stronger
where the interval leaves one half out. `python3 run.py bench summit` writes this page, from the
games that are kept in autograder/benchmarks/played/.
"""


class Row(NamedTuple):
    """An agent of the page: what it does, in words, how it is made, and the share it should win."""

    words: str
    settings: dict[str, int]
    target: str | None = None
    is_shown: bool = False  # what is hidden


class Played(NamedTuple):
    """Games of an agent, from its view, the seconds of an action of it and of ISMCTS, and the
    iterations that this had time for, all on average."""

    wins: int
    draws: int
    losses: int
    seconds: float
    given: float
    iterations: float

    def match(self) -> Match:
        """The result alone."""
        return Match(*self[:3])


ROWS = {
    "value": Row("the action that is worth most at once, without a search", {"width": 1}),
    "quick": Row(
        "two more actions after each of the 8 best, 64 times in each of three rounds", {}, ">= 0.6"
    ),
    "strong": Row(
        "the same with the 16 best, 512 times in each of four rounds",
        {"width": 16, "looks": 512, "first": 16},
        ">= 0.7",
    ),
    "hands": Row("as with the 8 best, but *shown* the other hand", {}, is_shown=True),
    "deck": Row(
        "the same, *shown* the cards to come as well",
        {"looks": 1, "first": 1, "deck": True},
        is_shown=True,
    ),
}


class Shown(Fitted):
    """Fitted that sees the other hand and, with `deck`, the order of the cards to come: a measure.

    `deal` is the seed of the game; with that and the history it finds the state that it is in.
    """

    def __init__(self, deal: int, deck: bool = False, **settings: int) -> None:
        super().__init__(**settings)
        self._deal, self._deck = State.deal(seed=deal), deck

    def _sampled(self, observation: Observation, number: int) -> list[State]:
        true = _replayed(self._deal, observation)
        if self._deck:
            return number * [true]
        dealt, to_come = true.deck[: true.dealt], list(true.deck[true.dealt :])
        states = []
        for _ in range(number):
            self._random.shuffle(to_come)
            start = State.from_deck(true.rules, [*dealt, *to_come])
            states.append(_replayed(start, observation))
        return states


class Counted(ISMCTS):
    """ISMCTS that remembers how many iterations it had time for."""

    def __init__(self) -> None:
        super().__init__(seconds=SECONDS)
        self.done: list[int] = []

    def choose(self, observation: Observation) -> Action:
        """What ISMCTS plays."""
        action = super().choose(observation)
        if self.iterations_done:
            self.done.append(self.iterations_done)
        return action


def run(size: int = DEALS) -> list[Result]:
    """Play what has not been played yet, and write the page."""
    journals = {name: _journal(name) for name in ROWS}
    missing = [
        (name, deal)
        for deal in range(FIRST_DEAL, FIRST_DEAL + size, CHUNK)
        for name, journal in journals.items()
        if (deal,) not in journal
    ]
    for key, found in on_all_cores(played, missing, f"times {CHUNK} deals"):
        name, deal = key
        journals[name].measured((deal,), lambda found=found: found)
        PAGE.write_text(page(), "utf-8")
    return [result for name, so_far in kept().items() for result in _results(name, so_far)]


def played(name: str, deal: int) -> list[float]:
    """What an agent wins in the deals from this one on, as the fields of `Played`."""
    row, given, matches = ROWS[name], Counted(), []
    for seed in range(deal, deal + CHUNK):
        agent = partial(Shown, seed) if row.is_shown else Fitted
        matches.append(compare(partial(agent, **row.settings), given, 1, seed))
    counts = (
        sum(getattr(match, outcome) for match in matches) for outcome in ("wins", "draws", "losses")
    )
    seconds = (
        fmean(chain.from_iterable(match.seconds[side] for match in matches)) for side in range(2)
    )
    return [*counts, *seconds, fmean(given.done)]


def kept(same: bool = False) -> dict[str, Played]:
    """All games of each agent that were played so far, in the order of the page.

    With `same` only those of deals that all agents have played.
    """
    paths = {name: _path(name) for name in ROWS}
    lines = {
        name: dict(json.loads(line)[1:] for line in path.read_text("utf-8").splitlines())
        for name, path in paths.items()
        if path.is_file()
    }
    common = set.intersection(*map(set, lines.values())) if lines else set()
    return {
        name: Played(
            *together(value for deal, value in found.items() if deal in common or not same)
        )
        for name, found in lines.items()
        if common or not same
    }


def page() -> str:
    """The page, of the games that were played so far."""
    found, same = kept(), kept(same=True)
    deals = min((so_far.match().games // 2 for so_far in same.values()), default=0)
    rows = [
        (
            "what it plays",
            "share of the points",
            "aim",
            "games",
            f"the same {deals} deals",
            "time",
            "ISMCTS is",
        ),
        ("-", "-:", "-:", "-:", "-:", "-:", "-"),
    ]
    for name, so_far in found.items():
        match = so_far.match()
        low, high = match.interval
        rows.append(
            (
                ROWS[name].words,
                f"{match.score:.2f} ({low:.2f} to {high:.2f})",
                ROWS[name].target or "",
                match.games,
                f"{same[name].match().score:.2f}" if deals else "",
                f"{1_000 * so_far.seconds:.0f} ms",
                verdict(match),
            )
        )
    given = f"{fmean(so_far.iterations for so_far in found.values()):,.0f}"
    return (
        HEAD
        + "".join(f"| {' | '.join(map(str, row))} |\n" for row in rows)
        + TAIL.format(deals=deals, given=given)
    )


def _replayed(start: State, observation: Observation) -> State:
    return reduce(State.after, observation.history, start)


def _results(name: str, so_far: Played) -> list[Result]:
    match, row = so_far.match(), ROWS[name]
    low, high = match.interval
    return [
        Result(name, match.score, f"of {match.games} games", row.target, "ISMCTS, 0.2 s"),
        Result(f"{name}, from", low, "95 % interval", peer="ISMCTS, 0.2 s"),
        Result(f"{name}, to", high, "95 % interval", peer="ISMCTS, 0.2 s"),
        Result(
            f"{name}, an action", 1_000 * so_far.seconds, "ms", "<= 50" if name == "quick" else None
        ),
    ]


def _path(name: str) -> Path:
    return KEPT / f"summit_{name}.jsonl"


def _journal(name: str) -> Journal:
    """An agent's games with the code and weights of today; those of others are played again."""
    package = Path(sequence.__file__).parent
    return Journal(
        _path(name).stem,
        [
            *(package / part for part in ("agents", "board", "engine")),
            Path(_fitted.__file__),
            _fitted.WEIGHTS,
        ],
        ROWS[name].settings,
        KEPT,
    )
