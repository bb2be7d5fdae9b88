"""`Greedy`, a player that plays the action with the best immediate value."""

from sequence.agents.evaluation import LINE_VALUES, SEQUENCE_VALUE
from sequence.board.actions import PLACE, REMOVE, Action
from sequence.board.cards import NO_CARD, NUMBER, ONE_EYED, TWO_EYED
from sequence.board.chips import bits, new_sequences
from sequence.board.layout import BIT, CORNERS, LINES_THROUGH, PLAYABLE
from sequence.engine.observation import Observation


class Greedy:
    """Plays the action with the best immediate value and ignores what the others do next.

    The value of a placement counts the sequences that it completes, then the lines of five through
    its cell. A line in which only the player's own side has chips counts more, the more chips it
    has; a line in which only the others have chips counts half as much, because it is only blocked.
    The value of a removal counts the others' lines through its cell. The card taken adds half the
    value of the best placement or removal that it would allow now; in a trade, it is all that
    counts. Of equally good actions, the first in the documented order is played, so the player
    needs no seed.
    """

    def choose(self, observation: Observation) -> Action:
        """The legal action with the highest value."""
        value = _Evaluation(observation)
        return max(observation.legal_actions(), key=value.action_value)

    def values(self, observation: Observation) -> dict[Action, int]:
        """The value of each legal action, for boards that show values."""
        action_value, legal = _Evaluation(observation).action_value, observation.legal_actions()
        return dict(zip(legal, map(action_value, legal), strict=True))


class _Evaluation:
    """The values of actions for `Greedy` on one board; each cell and card is evaluated only once."""

    def __init__(self, observation: Observation) -> None:
        self._own = observation.chip_masks[observation.side]
        self._locked = observation.locked_mask
        self._empty = observation.empty_mask
        self._others = PLAYABLE ^ (self._empty | self._own)
        self._heart = observation.rules.heart
        self._cells: dict[tuple[str, int], int] = {}
        self._cards: dict[str, int] = {NO_CARD: 0}

    def action_value(self, action: Action) -> int:
        """Twice the value of the play plus the value of the card taken."""
        played = self._cell(action.kind, BIT[action.coords]) if action.coords else 0
        return 2 * played + self._card(action.draft_card)

    def _cell(self, kind: str, bit: int) -> int:
        if (kind, bit) not in self._cells:
            value = self._placement if kind == PLACE else self._removal
            self._cells[kind, bit] = value(bit)
        return self._cells[kind, bit]

    def _placement(self, bit: int) -> int:
        own = self._own | CORNERS
        done, _ = new_sequences(self._own | 1 << bit, self._locked, bit, self._heart)
        value = SEQUENCE_VALUE * done
        for line in LINES_THROUGH[bit]:
            mine, theirs = (own & line).bit_count(), (self._others & line).bit_count()
            if not theirs:
                value += LINE_VALUES[mine]
            elif not self._own & line:
                value += LINE_VALUES[theirs] // 2
        return value

    def _removal(self, bit: int) -> int:
        return sum(
            LINE_VALUES[(self._others & line).bit_count() - 1] // 2
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
