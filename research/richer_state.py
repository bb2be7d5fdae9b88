"""Does a learner of study 8 profit from more information about cards in its state?

The description of the original agent names two things that its features omit: the opponent's hand,
and the probabilities of the cards to be drafted. Both learners of the study are tried, with the
reference answer. The table of notebook 15 gets a longer key, and the weighted sum of notebook 16
gets more counts. "Known cards" are cards that a player was seen to draft and has not played since.

For every fifty deals, each table is trained from another seed, and so is the table against which it
plays. The weights are learned once. Each result is written to `course/published/`, for the
notebooks. 100 deals take about three minutes on two cores.
"""

import random
from collections import Counter
from collections.abc import Callable
from functools import cache, partial
from math import prod
from typing import Any

from autograder.benchmarks.studies import weights
from autograder.benchmarks.support.games import as_text
from autograder.workspace import load_answer
from course.published import FOLDER, RicherState
from research.games import CHUNK, measured, number, play_missing, total
from sequence import Random, compare, play
from sequence.agents.beliefs import unseen_cards
from sequence.board.cards import TWO_EYED
from sequence.board.layout import card_at
from sequence.engine.observation import Observation
from tictactoe.games.play import Match

DEALS = 100
MORE = 2  # factor for the weights' deals, because after 100 one interval just excluded 0.5
FIRST_DEAL = 90_000  # far from the seeds of training and of other matches
FILE = FOLDER / "richer_state.json"
SEED_DEALS = 50  # deals after which a table's seed changes
THREAT = 9_000  # the value of a pattern that requires an answer
QUARTERS = 4  # a probability in a key is rounded to quarters
GAMES, FIRST_GAME = 150, 100_000  # random games from which the weights are learned
Cell = tuple[int, int] | None
Extra = tuple[float, ...]


@cache
def answer() -> Any:
    """Return the reference answer of the study."""
    return load_answer("study8")


# The table


def known_cards(sarsa: Any, scores: Any, observation: Observation) -> tuple[int, ...]:
    """Return how many jacks the next player is known to hold, and how many cards for a threat."""
    held = _known(observation)
    cells = [sarsa.uses(scores.theirs, card) for card in held if card not in TWO_EYED]
    threats = sum(
        any(
            kind == "place" and sarsa.place_score(scores.theirs, scores.mine, cell) >= THREAT
            for kind, cell in of_card
        )
        for of_card in cells
    )
    return sum(card[0] == "j" for card in held), threats


def draft_chance(sarsa: Any, scores: Any, observation: Observation) -> tuple[int, ...]:
    """Return the probability, in quarters, that the next card of the deck makes or prevents a
    threat.
    """
    unseen = Counter(unseen_cards(observation))
    useful = sum(n for card, n in unseen.items() if scores.draft(card) >= THREAT)
    return (round(QUARTERS * useful / max(1, unseen.total())),)


def noise(sarsa: Any, scores: Any, observation: Observation) -> tuple[int, ...]:
    """Return a random number that differs from position to position, as a control."""
    return (random.Random(len(observation.history)).randrange(QUARTERS),)


KEYS: dict[str, tuple[str, Callable[..., tuple[int, ...]] | None]] = {
    "plain": ("nothing", None),
    "hand": ("the opponent's known cards", known_cards),
    "draft": ("the chance of a useful card", draft_chance),
    "noise": ("a random number, as a control", noise),
}


def agent_class(added: Callable[..., tuple[int, ...]]) -> type:
    """Return the agent of notebook 15 with more numbers in the state's part of the key."""
    sarsa = answer()

    class Richer(sarsa.SarsaAgent):
        """An agent whose state also contains the numbers that `added` returns."""

        def state(self, scores: Any, observation: Observation) -> tuple[int, ...]:
            return (*super().state(scores, observation), *added(sarsa, scores, observation))

    return Richer


@cache
def trained(name: str, seed: int) -> Any:
    """Return an agent with a table that was trained from a seed, as in `sarsa.trained`."""
    sarsa = answer()
    added = KEYS[name][1]
    if added is None:
        return sarsa.trained(seed=seed)
    plain, richer = sarsa.SarsaAgent, agent_class(added)
    sarsa.SarsaAgent = richer
    try:
        return sarsa.trained(seed=seed)
    finally:
        sarsa.SarsaAgent = plain


# The weights


def chances(own: Counter, observation: Observation) -> dict[str, float]:
    """Return, for each card on the board, the probability that a player with these cards can play
    it soon.

    It is 1 for a card in the hand or in the draft row. For any other card it is the probability that
    it is among the next two cards of the deck.
    """
    unseen = Counter(unseen_cards(observation))
    every = max(1, unseen.total())
    near = own | Counter(observation.draft_row)
    return {
        card: 1.0 if near[card] else 1 - (1 - unseen[card] / every) ** 2
        for card in {*near, *unseen}
    }


def in_hand(own: Counter) -> dict[str, float]:
    """Return 1 for each card in the hand."""
    return dict.fromkeys(own, 1.0)


def likely_lines(board: str, cell: Cell, playable: dict[str, float]) -> Extra:
    """Return the counts of open lines with three and with four chips, each line weighted by the
    chances of its missing cards.
    """
    found = {3: 0.0, 4: 0.0}
    for places in _windows(cell):
        five = "".join([board[place] for place in places])
        own = five.count("m") + five.count("M")
        if own in found and five.count("M") < 2 and not {"t", "T"} & set(five):
            missing = (card_at(divmod(place, 10)) for place in places if board[place] == "_")
            found[own] += prod(playable.get(card, 0.0) for card in missing)
    return found[3], found[4]


def own_lines(observation: Observation, mine: str, theirs: str, cell: Cell) -> Extra:
    """Count our lines for which we hold the cards."""
    return likely_lines(mine, cell, in_hand(Counter(observation.hand)))


def known_lines(observation: Observation, mine: str, theirs: str, cell: Cell) -> Extra:
    """Count the other side's lines for which the next player is known to hold the cards."""
    return likely_lines(theirs, cell, in_hand(Counter(_known(observation))))


def draft_lines(observation: Observation, mine: str, theirs: str, cell: Cell) -> Extra:
    """Count the lines of both sides, weighted by the chances of getting the cards."""
    return likely_lines(mine, cell, chances(Counter(observation.hand), observation)) + likely_lines(
        theirs, cell, chances(Counter(_known(observation)), observation)
    )


KINDS: dict[str, tuple[str, Callable[..., Extra]]] = {
    "own": ("our lines for which we hold the cards", own_lines),
    "hand": ("their lines for which they are known to hold the cards", known_lines),
    "draft": ("lines by the chance of getting the cards", draft_lines),
}


def ten_counts(mine: str, theirs: str, cell: Cell = None) -> Extra:
    """Return the features of notebook 16."""
    return answer().line_counts(mine, cell) + answer().line_counts(theirs, cell)


def features(
    kind: str, observation: Observation, mine: str, theirs: str, cell: Cell = None
) -> Extra:
    """Return the ten counts and, unless the kind is "lines", the counts that depend on cards."""
    more = KINDS[kind][1](observation, mine, theirs, cell) if kind in KINDS else ()
    return ten_counts(mine, theirs, cell) + more


class Chooser:
    """The agent of notebook 16, whose features also depend on what it observes."""

    def __init__(self, kind: str) -> None:
        self._kind, self._weights = kind, learned(kind)
        self._scores = notebook()["LearnedScores"]

    def choose(self, observation: Observation) -> Any:
        """Return the best candidate, or the first of several equally good ones."""
        seen = partial(features, self._kind, observation)
        scores = self._scores(observation, seen, self._weights[1:])
        return max(scores.candidates(observation.legal_actions()), key=scores.score)


@cache
def notebook() -> dict[str, Any]:
    """Return what notebook 16 defines."""
    return weights.definitions()


@cache
def learned(kind: str) -> list[float]:
    """Return the weights of these features, learned from games of random players."""
    rows, won = positions()
    parts = [row[0] + row[1].get(kind, ()) for row in rows]
    return answer().fit(parts, won)


@cache
def positions() -> tuple[list[tuple[Extra, dict[str, Extra]]], list[bool]]:
    """Return the ten counts and the other ones, by kind, of each position, and whether the player to
    move won.
    """
    rows, won = [], []
    for game in range(GAMES):
        played = play([Random(2 * game), Random(2 * game + 1)], seed=FIRST_GAME + game)
        for state in played.states[1:-1] if played.winner is not None else []:
            seen = state.observation()
            mine, theirs = answer().views(seen)
            more = {kind: extra(seen, mine, theirs, None) for kind, (_, extra) in KINDS.items()}
            rows.append((ten_counts(mine, theirs), more))
            won.append(played.winner == seen.side)
    return rows, won


def _known(observation: Observation) -> tuple[str, ...]:
    """Return the known cards of the player who moves next."""
    return observation.drafted((observation.player + 1) % observation.rules.players)


@cache
def _windows(cell: Cell) -> list[tuple[int, ...]]:
    """Return the lines of five on the whole board, or in the rows through a cell, as places."""
    places = "".join(map(chr, range(1000, 1100)))  # a board on which each cell has its own letter
    lines = (line[1:-1] for line in answer().lines_of(places, cell))
    return [
        tuple(ord(letter) - 1000 for letter in line[start : start + 5])
        for line in lines
        for start in range(len(line) - 4)
    ]


# The matches

MATCHES = {
    **{f"table_{name}_reward": (name, "the reward alone") for name in KEYS},
    **{f"table_{name}_plain": (name, "the table without it") for name in KEYS if name != "plain"},
    **{f"weights_{kind}_lines": (kind, "the weights without it") for kind in KINDS},
}


def played(name: str, deal: int) -> list[float]:
    """Return the result of ten deals and, for a table, the number of its entries and the share of
    entries that were updated only once.
    """
    learner, kind, other = name.split("_")
    seed = deal - (deal - FIRST_DEAL) % SEED_DEALS
    if learner == "weights":
        return [*_counts(compare(Chooser(kind), Chooser(other), CHUNK, deal))]
    sarsa = answer()
    agent = trained(kind, seed)
    rival = sarsa.SarsaAgent(q_weight=0.0) if other == "reward" else trained("plain", seed)
    visits = list(agent.table.visits.values())
    found = compare(agent, rival, CHUNK, deal)
    return [*_counts(found), len(visits), visits.count(1) / len(visits)]


def _counts(found: Match) -> tuple[int, int, int]:
    return found.wins, found.draws, found.losses


def results() -> list[RicherState]:
    """Return the measurements in their published form."""
    rows = []
    for name, (kind, against) in MATCHES.items():
        wins, draws, losses, *more = total(measured(name).values())
        match = Match(int(wins), int(draws), int(losses))
        low, high = match.interval
        entries, once = (round(more[0]), round(more[1], 3)) if more else (None, None)
        learner = name.partition("_")[0]
        rows.append(
            RicherState(
                name,
                learner,
                (KEYS if learner == "table" else KINDS)[kind][0],
                against,
                match.games,
                *(round(share, 3) for share in (match.score, low, high)),
                entries,
                once,
            )
        )
    return rows


def main(deals: int) -> None:
    """Play the deals that have not been played, and write the results."""
    for kind in ("lines", *KINDS):
        learned(kind)  # learned before the fork, so that processes inherit the weights
    for learner, more in (("table", 1), ("weights", MORE)):
        names = [name for name in MATCHES if name.startswith(learner)]
        play_missing(played, names, range(FIRST_DEAL, FIRST_DEAL + more * deals))
    FILE.write_text(as_text(results()), "utf-8")
    for row in results():
        print(row)


if __name__ == "__main__":
    main(number(__doc__, DEALS, "deals"))
