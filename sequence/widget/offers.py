"""What can be clicked on a board of Sequence when it is the person's turn."""

from sequence.board.actions import FORGO, PASS, TRADE, Action
from sequence.board.layout import card_at
from sequence.engine.state import State
from sequence.pictures.words import card_name, label_words
from sequence.widget.choice import Choice


def parts_on_offer(state: State, seat: int, choice: Choice) -> dict[str, str]:
    """The parts of an action that lie in the picture, with the words for a screen reader."""
    legal = state.legal_actions()
    playable = {action.play_card for action in legal if action.play_card}
    offers = {
        f"card {card}": f"{label_words(card)}, in your hand"
        for card in state.hand(seat)
        if card in playable
    }
    offers |= {
        f"take {card}": f"{label_words(card)}: take it from the draft row"
        for card in state.draft_row
        if playable
    }
    for target, kind in choice.targets().items():
        if isinstance(target, tuple):
            row, col = target
            words = f"{kind} a chip, row {row}, column {col}"
            offers[f"cell {row},{col}"] = f"{label_words(card_at(target))}: {words}"
    return offers


def parts_of(action: Action) -> set[str]:
    """The names of all that is clicked for an action, in the picture and below it."""
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
