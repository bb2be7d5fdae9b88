"""Made-up positions for the tests, in the format of either implementation of the rules."""

from sequence.board.cards import CARDS, NUMBER, pile_of, unseen
from sequence.board.layout import PLAYABLE, mask_of
from sequence.board.rules import DRAFT
from sequence.engine.state import state_of

EMPTY = "."
LETTERS = ("xX", "oO", "zZ")  # a side's chip, and its chip in a sequence


def board_of(drawing):
    """The slow implementation's board from ten rows of ten letters; "." and "*" mean no chip."""
    rows = drawing.split()
    assert [len(row) for row in rows] == [10] * 10, "a drawing has ten rows of ten letters"
    board = {}
    for row, letters in enumerate(rows):
        for col, letter in enumerate(letters):
            side = next((s for s, pair in enumerate(LETTERS) if letter in pair), None)
            mark = "!" if letter.isupper() else ""
            board[row, col] = "" if side is None else f"{side}{mark}"
    return board


def masks_of(board, teams=2):
    """The bitboards of such a board: all chips by side, and the chips in sequences."""
    sides = tuple(
        mask_of(cell for cell, chip in board.items() if chip[:1] == str(side))
        for side in range(teams)
    )
    return sides, mask_of(cell for cell, chip in board.items() if chip.endswith("!"))


def state_from(board, hands, row=(), rules=DRAFT, *, deck=None, **changes):
    """A state with this board and these cards; by default, all other cards are undealt."""
    chips, locked = masks_of(board, rules.teams)
    empty = PLAYABLE
    for mask in chips:
        empty &= ~mask
    piles = tuple(pile_of(hand) for hand in hands)
    if deck is None:
        rest = unseen(*piles, pile_of(row))
        deck = [CARDS[k >> 1] for k in range(104) if rest >> k & 1]
    fields = {
        "rules": rules,
        "chip_masks": chips,
        "empty_mask": empty,
        "locked_mask": locked,
        "sequences": (0,) * rules.teams,
        "hand_piles": piles,
        "row_pile": pile_of(row),
        "deck": tuple(NUMBER[card] for card in deck),
        "dealt": 0,
        "to_move": 0,
        "traded": False,
        "passes": 0,
        "history": (),
        "reshuffled": 0,
        "reshuffle_seed": None if rules.row else 0,
        "is_over": False,
    }
    return state_of(**fields | changes)


def as_tuple(action):
    """An engine's action in the slow implementation's format."""
    return (action.kind, action.play_card or None, action.draft_card or None, action.coords or None)


def slow_board(state):
    """A state's board in the slow implementation's format."""
    board = {}
    for row in range(10):
        for col in range(10):
            chip = state[row, col]
            side = next((s for s, pair in enumerate(LETTERS) if chip and chip in pair), None)
            board[row, col] = "" if side is None else f"{side}{'!' if chip.isupper() else ''}"
    return board
