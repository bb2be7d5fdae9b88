"""The clickable parts of a Sequence board when it is the person's turn."""

from sequence.board.actions import FORGO, PASS, TRADE, Action
from sequence.board.layout import card_at
from sequence.engine.state import State
from sequence.pictures.words import card_label, card_name
from sequence.widget.action_selection import ActionSelection


def clickable_parts(state: State, seat: int, selection: ActionSelection) -> dict[str, str]:
    """The parts of actions that are in the picture, with their labels for screen readers."""
    legal = state.legal_actions()
    playable = {action.play_card for action in legal if action.play_card}
    offers = {
        f"card {card}": f"{card_label(card)}, in your hand"
        for card in state.hand(seat)
        if card in playable
    }
    offers |= {
        f"take {card}": f"{card_label(card)}: take it from the draft row"
        for card in state.draft_row
        if playable
    }
    for target, kind in selection.targets().items():
        if isinstance(target, tuple):
            row, col = target
            words = f"{kind} a chip, row {row}, column {col}"
            offers[f"cell {row},{col}"] = f"{card_label(card_at(target))}: {words}"
    return offers


def action_parts(action: Action) -> set[str]:
    """The names of all parts to click for an action, in the picture and below it."""
    parts = {
        "forgo"
        if action == FORGO
        else "pass"
        if action == PASS
        else f"{'trade' if action.kind == TRADE else 'card'} {action.play_card}"
    }
    if action.coords:
        parts.add("cell {},{}".format(*action.coords))
    if action.draft_card:
        parts.add(f"take {action.draft_card}")
    return parts


def action_buttons(state: State) -> dict[str, str]:
    """Buttons for the actions without a cell."""
    buttons = {}
    for action in state.legal_actions():
        if action == FORGO:
            buttons["forgo"] = "Forgo the trade"
        elif action == PASS:
            buttons["pass"] = "Pass"
        elif action.kind == TRADE:
            buttons[f"trade {action.play_card}"] = f"Trade {card_name(action.play_card)}"
    return buttons
