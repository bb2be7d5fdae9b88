"""What the line below a board of Sequence says: what happened, and what there is to do."""

from sequence.board.actions import FORGO, PASS, TRADE
from sequence.engine.state import State
from sequence.pictures.text import turn_text
from sequence.pictures.words import SHAPES, action_words, card_name
from sequence.widget.choice import Choice


def advice(state: State, seat: int, choice: Choice) -> str:
    """The outcome of a finished game, or what the person in this seat is to click next."""
    if state.is_over:
        score = " to ".join(map(str, state.sequences))
        ending = {None: "A tie", state.rules.side(seat): "You have won"}
        return f"{ending.get(state.winner, 'You have lost')}: {turn_text(state)}, {score}."
    last = list(state.observation().plays())[-1:]
    news = [
        f"Player {player}: {action_words(action)}. " for player, action in last if player != seat
    ]
    you = f"{''.join(news)}Your turn ({SHAPES[state.rules.side(seat)]}s): "
    if PASS in state.legal_actions():
        return you + "you have no legal action but to pass."
    if FORGO in state.legal_actions() and not choice.card:
        return you + "you hold a dead card. Trade it for a card of the row, or forgo the trade."
    missing = []
    if not choice.card:
        missing.append("a card of your hand")
    if choice.target is None and TRADE not in choice.targets():
        missing.append("a lit cell")
    if state.draft_row and not choice.take:
        missing.append("a card of the draft row")
    if not missing:
        return f"{you}{card_name(choice.card)} is dead: press its Trade button."
    return f"{you}click {', '.join(missing[:-1])}{' and ' * (len(missing) > 1)}{missing[-1]}."
