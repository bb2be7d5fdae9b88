"""The dimensions of positions of Sequence, as one player sees them."""

from collections.abc import Callable, Iterator, Mapping
from itertools import islice

from sequence import DRAFT
from sequence.board.actions import PASSING, PLACE, TRADE
from sequence.board.cards import ONE_EYED, TWO_EYED
from sequence.board.chips import new_sequences
from sequence.board.layout import BIT, CORNERS, LINE_MASKS, cells_with, mask_of
from sequence.engine.observation import Observation

EARLY, LATE = 8, 24  # chips on the board
VALUES: Mapping[str, tuple[str, ...]] = {
    "player": ("0", "1"),
    "turn": ("own", "opponent's", "finished"),
    "phase": ("early", "middle", "late"),
    "rules": ("draft", "other"),
    "locked chips": ("none", "own", "opponent's"),
    "corner": ("no chips", "own chips only", "opponent's chips only", "both sides' chips"),
    "score": ("level", "ahead", "behind"),
    "actions": ("pass only", "trade", "one", "several"),
    "jacks": ("none", "one-eyed", "two-eyed"),
    "draft row": ("empty", "not empty"),
    "dead card": ("yes", "no"),
    "an action ends the game": ("yes", "no"),
}


def _player(seen: Observation) -> Iterator[str]:
    """The player, or in a game of four, the first player of the same side."""
    yield str(seen.side)


def _turn(seen: Observation) -> Iterator[str]:
    yield "finished" if seen.is_over else "own" if seen.player == seen.to_move else "opponent's"


def _phase(seen: Observation) -> Iterator[str]:
    chips = sum(mask.bit_count() for mask in seen.chip_masks)
    yield "early" if chips <= EARLY else "late" if chips >= LATE else "middle"


def _rules(seen: Observation) -> Iterator[str]:
    yield "draft" if seen.rules == DRAFT else "other"


def _locked(seen: Observation) -> Iterator[str]:
    own = seen.locked_mask & seen.chip_masks[seen.side]
    if own:
        yield "own"
    if seen.locked_mask & ~own:
        yield "opponent's"
    if not seen.locked_mask:
        yield "none"


def _corner(seen: Observation) -> Iterator[str]:
    """Whose chips are on lines of five through a corner, where no other chips block the line."""
    own = seen.chip_masks[seen.side]
    other = 0
    for mask in seen.chip_masks:
        other |= mask
    other &= ~own
    lines = [line for line in LINE_MASKS if line & CORNERS]
    has_own = any(line & own and not line & other for line in lines)
    has_other = any(line & other and not line & own for line in lines)
    yield VALUES["corner"][has_own + 2 * has_other]


def _score(seen: Observation) -> Iterator[str]:
    own = seen.sequences[seen.side]
    best = max(score for side, score in enumerate(seen.sequences) if side != seen.side)
    yield "level" if own == best else "ahead" if own > best else "behind"


def _actions(seen: Observation) -> Iterator[str]:
    actions = list(islice(seen.legal_actions(), 2))
    if actions:
        kind = actions[0].kind
        yield (
            "pass only"
            if kind == PASSING
            else "trade"
            if kind == TRADE
            else "one"
            if len(actions) == 1
            else "several"
        )


def _jacks(seen: Observation) -> Iterator[str]:
    hand = {*seen.hand}
    held = [
        name for name, jacks in (("one-eyed", ONE_EYED), ("two-eyed", TWO_EYED)) if hand & {*jacks}
    ]
    yield from held or ["none"]


def _draft_row(seen: Observation) -> Iterator[str]:
    yield "not empty" if seen.row_pile else "empty"


def _dead_card(seen: Observation) -> Iterator[str]:
    dead = any(
        (cells := cells_with(card)) and not mask_of(cells) & seen.empty_mask for card in seen.hand
    )
    yield "yes" if dead else "no"


def _ends(seen: Observation) -> Iterator[str]:
    """Whether a legal placement completes the last sequence that the player needs."""
    own, needed = seen.chip_masks[seen.side], seen.rules.sequences - seen.sequences[seen.side]
    cells = {action.coords for action in seen.legal_actions() if action.kind == PLACE}
    ends = any(
        new_sequences(
            own | 1 << BIT[cell] | CORNERS, seen.locked_mask, BIT[cell], seen.rules.heart
        )[0]
        >= needed
        for cell in cells
        if cell
    )
    yield "yes" if ends else "no"


DIMENSIONS: Mapping[str, Callable[[Observation], Iterator[str]]] = {
    "player": _player, "turn": _turn, "phase": _phase, "rules": _rules, "locked chips": _locked,
    "corner": _corner, "score": _score, "actions": _actions, "jacks": _jacks,
    "draft row": _draft_row, "dead card": _dead_card, "an action ends the game": _ends,
}  # fmt: skip
