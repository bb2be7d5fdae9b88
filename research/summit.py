"""Measure the strength of the fitted evaluation function against ISMCTS, with and without a search.

ISMCTS has 0.2 seconds per action. Two of the agents are shown hidden cards, to measure the value of
this information. 200 deals take about two hours on two cores, which should be idle, because ISMCTS
reads the clock. The games are stored in `played/`, from which docs/summit.md is generated.
"""

from functools import partial, reduce
from itertools import chain
from statistics import fmean
from typing import Any, NamedTuple

from research.fitting import GAMES, SHARES
from research.games import (
    CHUNK,
    DEALS,
    DOCS,
    measured,
    number,
    play_missing,
    score,
    table,
    total,
    verdict,
)
from sequence import ISMCTS, Action, FittedLookAhead, State, compare
from sequence.agents.ismcts import SECONDS
from sequence.engine.observation import Observation
from tictactoe.games.play import Match

FIRST_DEAL = 70_000  # far from the seeds of other matches, and of the games of `fitting`
PAGE = DOCS / "summit.md"
HEAD = f"""# The fitted evaluation function against ISMCTS

`FittedLookAhead` differs from `ISMCTS` in two ways: it has a different evaluation function, and it
searches less deeply. Which of the two matters more was not measured. [Another page](strength.md)
shows the effects of eleven changes to `ISMCTS`.

The evaluation function was fitted to games between players that see all cards, in {len(SHARES)}
generations with {sum(GAMES // share for share in SHARES):,} games in total. In the first generation,
the quick player plays; in the later ones, a player that uses the weights fitted so far. The
features of each line on the board are its missing chips, the cards held and the cards in the draft
row. `research/fitting.py` plays the games and reports how well the evaluation predicts games that
were held out. No game of the table was used for fitting or for choosing anything.

Each agent plays against `ISMCTS` with {SECONDS} seconds per action. The table shows its share of the
points with the 95 % interval (Wilson). Every deal is played twice, once from each seat, and a tie
counts half. "Time" is the mean time per action on the machine that played.

The agents that are *shown* hidden cards break the rules. They measure the value of seeing these
cards: an agent that only estimates the other hand cannot be expected to do better than one that
sees it. An agent that also sees the deck needs only one simulation, because nothing is left to
sample.

"""
TAIL = """
The agents have played different numbers of deals; compare two of them by the {deals} deals that all
have played. ISMCTS had time for {iterations} iterations on average. It is called weaker or stronger
if the interval excludes 0.5. The script `research/summit.py` writes this page from the games in
`research/played/`.
"""


class Row(NamedTuple):
    """An agent on the page: its description, its settings and its target share."""

    words: str
    settings: dict[str, Any]
    target: str = ""
    is_shown: bool = False  # whether it is shown hidden cards


class DealResults(NamedTuple):
    """The results of an agent's games, and three means: the seconds per action of the agent and of
    ISMCTS, and the iterations of ISMCTS.
    """

    wins: int
    draws: int
    losses: int
    seconds: float
    opponent: float
    iterations: float

    def match(self) -> Match:
        """Return the result without the means."""
        return Match(*self[:3])


ROWS = {
    "value": Row("the action with the best evaluation, without a search", {"width": 1}),
    "quick": Row(
        "`FittedLookAhead`: two more actions after each of the 8 best, 64 simulations in each of "
        "three rounds",
        {},
        ">= 0.6",
    ),
    "strong": Row(
        "the same with the 16 best, 512 simulations in each of four rounds",
        {"width": 16, "looks": 512, "first": 16},
        ">= 0.7",
    ),
    "hands": Row("as with the 8 best actions, but *shown* the other hand", {}, is_shown=True),
    "deck": Row(
        "the same, *shown* the deck as well",
        {"looks": 1, "first": 1, "deck": True},
        is_shown=True,
    ),
}


class Shown(FittedLookAhead):
    """A variant of FittedLookAhead that sees the other hand and, with `deck`, the order of the
    deck.

    `deal` is the seed of the game, from which the agent reconstructs the true state, using the
    history.
    """

    def __init__(self, deal: int, deck: bool = False, **settings: Any) -> None:
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
    """A variant of ISMCTS that records the number of its iterations."""

    def __init__(self) -> None:
        super().__init__(seconds=SECONDS)
        self.done: list[int] = []

    def choose(self, observation: Observation) -> Action:
        """Return the action of ISMCTS, and record the number of iterations."""
        action = super().choose(observation)
        if self.iterations_done:
            self.done.append(self.iterations_done)
        return action


def play(name: str, deal: int) -> list[float]:
    """Return the results of an agent in the deals from this one on, as the fields of `DealResults`."""
    row, opponent, matches = ROWS[name.removeprefix("summit_")], Counted(), []
    for seed in range(deal, deal + CHUNK):
        agent = partial(Shown, seed) if row.is_shown else FittedLookAhead
        matches.append(compare(partial(agent, **row.settings), opponent, 1, seed))
    counts = (
        sum(getattr(match, outcome) for match in matches) for outcome in ("wins", "draws", "losses")
    )
    seconds = (
        fmean(chain.from_iterable(match.seconds[side] for match in matches)) for side in range(2)
    )
    return [*counts, *seconds, fmean(opponent.done)]


def results(same: bool = False) -> dict[str, DealResults]:
    """Return all games of each agent, in the order of the page; with `same`, only the games in
    deals that all agents have played.
    """
    found = {name: parts for name in ROWS if (parts := measured(f"summit_{name}"))}
    common = set.intersection(*map(set, found.values()))
    return {
        name: DealResults._make(total(parts[deal] for deal in parts if deal in common or not same))
        for name, parts in found.items()
    }


def page() -> str:
    """Return the page about the games played so far."""
    found, same = results(), results(same=True)
    deals = min(one.match().games // 2 for one in same.values())
    rows: list[tuple[object, ...]] = [
        (
            "agent",
            "share of the points",
            "aim",
            "games",
            f"the same {deals} deals",
            "time",
            "ISMCTS is",
        ),
        ("-", "-:", "-:", "-:", "-:", "-:", "-"),
    ]
    for name, one in found.items():
        match, row = one.match(), ROWS[name]
        rows.append(
            (
                row.words,
                score(match),
                row.target,
                match.games,
                f"{same[name].match().score:.2f}",
                f"{1_000 * one.seconds:.0f} ms",
                verdict(match),
            )
        )
    iterations = f"{fmean(one.iterations for one in found.values()):,.0f}"
    return HEAD + table(rows) + TAIL.format(deals=deals, iterations=iterations)


def _replayed(start: State, observation: Observation) -> State:
    return reduce(State.after, observation.history, start)


if __name__ == "__main__":
    deals = number(__doc__, DEALS, "deals")
    play_missing(play, [f"summit_{name}" for name in ROWS], range(FIRST_DEAL, FIRST_DEAL + deals))
    PAGE.write_text(page(), "utf-8")
