"""The status line below a board of Sequence: what happened, and what the person can do."""

from sequence.board.actions import FORGO, PASS, TRADE
from sequence.engine.state import State
from sequence.pictures.text import turn_text
from sequence.pictures.words import SHAPES, action_text, card_name
from sequence.widget.action_selection import ActionSelection


def status_text(state: State, seat: int, selection: ActionSelection) -> str:
    """The outcome of a finished game, or what the person in this seat can click next."""
    if state.is_over:
        score = " to ".join(map(str, state.sequences))
        ending = {None: "A tie", state.rules.side(seat): "You have won"}
        return f"{ending.get(state.winner, 'You have lost')}: {turn_text(state)}, {score}."
    last = list(state.observation().plays())[-1:]
    news = [
        f"Player {player}: {action_text(action)}. " for player, action in last if player != seat
    ]
    you = f"{''.join(news)}Your turn ({SHAPES[state.rules.side(seat)]}s): "
    if PASS in state.legal_actions():
        return you + "your only legal action is to pass."
    if FORGO in state.legal_actions() and not selection.card:
        return you + "you hold a dead card. Trade it for a card of the row, or forgo the trade."
    missing = []
    if not selection.card:
        missing.append("a card in your hand")
    if selection.target is None and TRADE not in selection.targets():
        missing.append("a highlighted cell")
    if state.draft_row and not selection.take:
        missing.append("a card in the draft row")
    if not missing:
        return f"{you}{card_name(selection.card)} is dead: press its Trade button."
    return f"{you}click {', '.join(missing[:-1])}{' and ' * (len(missing) > 1)}{missing[-1]}."
