"""Shows a look-ahead by one reply: choose an action to see the replies to it and the cost of each.

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
from sequence.pictures.words import action_text, describe_position
from sequence.widget.scores import board_with_numbers, numbers_text
from tictactoe.boards.values import MINUS
from tictactoe.explorables.explorable import Explorable, View
from tictactoe.explorables.svg_canvas import number_text

MAX_LISTED = 3  # replies listed in the line below the board


def reply_board(
    observation: Observation,
    actions: Sequence[Action],
    replies: Callable[[Action], Mapping[Action, float]],
    parts: Callable[[Action], Mapping[str, float]] | None = None,
) -> Explorable:
    """Step through actions; for each of them, the board shows the value of every reply.

    `replies` returns the replies to an action with their values for the players who reply; cells
    without a number were not considered. `parts` returns the terms of the action's value, which are
    added up in the line below.

    Raises ValueError if there are no actions.
    """
    if not actions:
        raise ValueError("there are no actions to step through")

    def draw(step: int, _settings: object) -> View:
        action, reply_values = actions[step], replies(actions[step])
        worst = _by_cell(reply_values)
        status = " ".join(
            filter(
                None,
                [
                    f"{step + 1} of {len(actions)}: {action_text(action)}.",
                    _replies_text(reply_values),
                    _sum_text(parts(action)) if parts else "",
                ],
            )
        )
        after = _after(observation, action)
        return View(
            board_with_numbers(after, worst),
            f"{status} On each cell: {numbers_text(worst)}. {describe_position(after)}",
            status,
            board_with_numbers(after, worst, compact=True),
        )

    return Explorable(draw, len(actions) - 1)


def _by_cell(replies: Mapping[Action, float]) -> dict[Cell, float]:
    """For each cell, the largest value of a reply there."""
    worst: dict[Cell, float] = {}
    for reply, number in replies.items():
        if reply.coords:
            worst[reply.coords] = max(worst.get(reply.coords, number), number)
    return worst


def _after(observation: Observation, action: Action) -> Observation:
    """The visible part of the position after the action: the row is not refilled."""
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


def _replies_text(replies: Mapping[Action, float]) -> str:
    if not replies:
        return "No reply was considered."
    order = sorted(replies, key=replies.__getitem__, reverse=True)
    listed = ", ".join(
        f"{action_text(reply)} ({number_text(replies[reply])})" for reply in order[:MAX_LISTED]
    )
    return f"Replies considered: {len(replies)}; the best for the others: {listed}."


def _sum_text(parts: Mapping[str, float]) -> str:
    terms = ", ".join(f"{name} {_exact_text(number)}" for name, number in parts.items())
    return f"Value: {terms}; in all {_exact_text(sum(parts.values()))}."


def _exact_text(number: float) -> str:
    """A number to one decimal, so that a sum can be checked."""
    return f"{number:,.1f}".removesuffix(".0").replace("-", MINUS)
