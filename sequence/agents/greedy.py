"""A given player: `Greedy` plays the action that looks best at once."""

from sequence.agents.worth import LINE_WORTH, SEQUENCE_WORTH
from sequence.board.actions import PLACE, REMOVE, Action
from sequence.board.cards import NO_CARD, NUMBER, ONE_EYED, TWO_EYED
from sequence.board.chips import bits, new_sequences
from sequence.board.layout import BIT, CORNERS, LINES_THROUGH, PLAYABLE
from sequence.engine.observation import Observation


class Greedy:
    """Plays the action that looks best at once, without considering what the others do next.

    A placement is worth the sequences it completes, then the lines of five through its cell: a line
    with chips of the player's own side only counts more the more there are, one with chips of the
    others only half as much, as it is blocked. A removal is worth the others' lines through its
    cell. The card taken is worth half of the best placement or removal that it would allow now. A
    trade is worth only the card taken. Of equally good actions the first in the documented order is
    played, so the player needs no seed.
    """

    def choose(self, observation: Observation) -> Action:
        """The legal action that is worth most."""
        worth = _Appraisal(observation)
        return max(observation.legal_actions(), key=worth.of_action)

    def values(self, observation: Observation) -> dict[Action, int]:
        """What each legal action is worth: for a board that shows values."""
        appraise, legal = _Appraisal(observation).of_action, observation.legal_actions()
        return dict(zip(legal, map(appraise, legal), strict=True))


class _Appraisal:
    """What actions are worth to `Greedy` on one board; cells and cards are valued once."""

    def __init__(self, observation: Observation) -> None:
        self._own = observation.chip_masks[observation.side]
        self._locked = observation.locked_mask
        self._empty = observation.empty_mask
        self._others = PLAYABLE ^ (self._empty | self._own)
        self._heart = observation.rules.heart
        self._cells: dict[tuple[str, int], int] = {}
        self._cards: dict[str, int] = {NO_CARD: 0}

    def of_action(self, action: Action) -> int:
        """Twice the worth of what is played plus the worth of the card that is taken."""
        played = self._cell(action.kind, BIT[action.coords]) if action.coords else 0
        return 2 * played + self._card(action.draft_card)

    def _cell(self, kind: str, bit: int) -> int:
        if (kind, bit) not in self._cells:
            worth = self._placement if kind == PLACE else self._removal
            self._cells[kind, bit] = worth(bit)
        return self._cells[kind, bit]

    def _placement(self, bit: int) -> int:
        own = self._own | CORNERS
        done, _ = new_sequences(self._own | 1 << bit, self._locked, bit, self._heart)
        worth = SEQUENCE_WORTH * done
        for line in LINES_THROUGH[bit]:
            mine, theirs = (own & line).bit_count(), (self._others & line).bit_count()
            if not theirs:
                worth += LINE_WORTH[mine]
            elif not self._own & line:
                worth += LINE_WORTH[theirs] // 2
        return worth

    def _removal(self, bit: int) -> int:
        return sum(
            LINE_WORTH[(self._others & line).bit_count() - 1] // 2
            for line in LINES_THROUGH[bit]
            if not self._own & line
        )

    def _card(self, card: str) -> int:
        if card not in self._cards:
            kind, mask = PLACE, self._empty
            if card in ONE_EYED:
                kind, mask = REMOVE, self._others & ~self._locked
            elif card not in TWO_EYED:
                mask &= 0b11 << 2 * NUMBER[card]
            self._cards[card] = max((self._cell(kind, bit) for bit in bits(mask)), default=0)
        return self._cards[card]
