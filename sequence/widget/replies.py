"""Look-ahead one reply deep: choose an action, and see the replies to it and what each costs.

from sequence.widget.replies import reply_board
reply_board(observation, actions, replies, parts)
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from sequence.board.actions import REMOVE, TRADE, Action
from sequence.board.cards import pile_of
from sequence.board.chips import new_sequences
from sequence.board.layout import BIT, Cell
from sequence.engine.observation import Observation
from sequence.pictures.words import action_words, in_words
from sequence.widget.scores import board_with, numbers_told
from tictactoe.show.explorable import Explorable, View
from tictactoe.show.sheet import number_text
from tictactoe.show.values import MINUS

TOLD = 3  # of the replies, in the line below the board


def reply_board(
    observation: Observation,
    actions: Sequence[Action],
    replies: Callable[[Action], Mapping[Action, float]],
    parts: Callable[[Action], Mapping[str, float]] | None = None,
) -> Explorable:
    """Step through actions, and show on the board what every reply to each would bring the others.

    `replies` maps the replies to an action to what they are worth to those who reply: cells without
    a number were not considered. `parts` says what the action's own value is made of; the line
    below adds it up.

    Raises ValueError if there are no actions.
    """
    if not actions:
        raise ValueError("there are no actions to step through")

    def draw(step: int, _settings: object) -> View:
        action, found = actions[step], replies(actions[step])
        worst = _by_cell(found)
        said = " ".join(
            filter(
                None,
                [
                    f"{step + 1} of {len(actions)}: {action_words(action)}.",
                    _replies_told(found),
                    _sum_told(parts(action)) if parts else "",
                ],
            )
        )
        after = _after(observation, action)
        return View(
            board_with(after, worst),
            f"{said} On each cell: {numbers_told(worst)}. {in_words(after)}",
            said,
            board_with(after, worst, narrow=True),
        )

    return Explorable(draw, len(actions) - 1)


def _by_cell(replies: Mapping[Action, float]) -> dict[Cell, float]:
    """For each cell the largest number of a reply there."""
    worst: dict[Cell, float] = {}
    for reply, number in replies.items():
        if reply.coords:
            worst[reply.coords] = max(worst.get(reply.coords, number), number)
    return worst


def _after(observation: Observation, action: Action) -> Observation:
    """The position with the action made, as far as it can be seen: the row is not refilled."""
    seen, chips = observation, list(observation.chip_masks)
    locked, sequences = seen.locked_mask, list(seen.sequences)
    if action.coords:
        bit = BIT[action.coords]
        if action.kind == REMOVE:
            chips = [mask & ~(1 << bit) for mask in chips]
        else:
            chips[seen.side] |= 1 << bit
            count, marks = new_sequences(chips[seen.side], locked, bit, seen.rules.heart)
            locked, sequences[seen.side] = locked | marks, sequences[seen.side] + count
    hand, row = [*seen.hand], [*seen.draft_row]
    for cards, card in ((hand, action.play_card), (row, action.draft_card)):
        if card in cards:
            cards.remove(card)
    hand += [action.draft_card] if action.draft_card else []
    turns = 0 if action.kind == TRADE else 1
    return replace(
        seen,
        chip_masks=tuple(chips),
        locked_mask=locked,
        sequences=tuple(sequences),
        hand_pile=pile_of(hand),
        row_pile=pile_of(row),
        to_move=(seen.to_move + turns) % seen.rules.players,
        history=(*seen.history, action),
    )


def _replies_told(replies: Mapping[Action, float]) -> str:
    if not replies:
        return "No reply was considered."
    order = sorted(replies, key=replies.__getitem__, reverse=True)
    told = ", ".join(
        f"{action_words(reply)} ({number_text(replies[reply])})" for reply in order[:TOLD]
    )
    return f"Replies considered: {len(replies)}; the best for the others: {told}."


def _sum_told(parts: Mapping[str, float]) -> str:
    told = ", ".join(f"{name} {_exactly(number)}" for name, number in parts.items())
    return f"Value: {told}; in all {_exactly(sum(parts.values()))}."


def _exactly(number: float) -> str:
    """A number to one decimal, so that a sum can be checked."""
    return f"{number:,.1f}".removesuffix(".0").replace("-", MINUS)
