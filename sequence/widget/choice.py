"""The parts of an action that were clicked so far: a card, what it is for, a card to take."""

from collections.abc import Mapping

from sequence.board.actions import FORGO, PLACE, TRADE, Action
from sequence.board.cards import is_jack
from sequence.board.layout import card_at
from sequence.engine.state import State

Target = tuple[int, int] | str  # what a card is for: a cell, or "trade", "forgo" or "pass"


class Choice:
    """What is chosen of the next action in one state, nothing at first."""

    def __init__(self, state: State) -> None:
        self._state = state
        self.card, self.take = "", ""
        self.target: Target | None = None

    def click(self, word: str, value: str) -> Action | None:
        """Choose a part, or take it back; the action, once nothing is left to choose."""
        if word == "card":
            self.card = "" if self.card == value else value
            if self.target not in self.targets():
                self.target = None
        elif word == "cell":
            row, col = map(int, value.split(","))
            cell = row, col
            self.target = None if self.target == cell else cell
            self.card = self.card or card_at(cell)
        elif word == TRADE:
            self.card, self.target = value, TRADE
        elif word == "take":
            self.take = "" if self.take == value else value
        else:
            self.card, self.take, self.target = "", "", word
        fitting = self.fitting()
        # A card of the hand alone plays nothing, even if it leaves no choice.
        is_whole = len(fitting) == 1 and (self.target is not None or bool(self.take))
        return fitting[0] if is_whole else None

    def fitting(self) -> list[Action]:
        """The legal actions that have everything that is chosen."""
        return [
            action
            for action in self._state.legal_actions()
            if self.card in ("", action.play_card)
            and self.take in ("", action.draft_card)
            and self.target in (None, target_of(action))
        ]

    def targets(self) -> dict[Target, str]:
        """What the chosen card can be used for: cells, each with the kind of action, or a trade.

        While no card is chosen, the cells of all cards in the hand except jacks, which would light
        nearly all of the board.
        """
        return {
            target_of(action): action.kind
            for action in self._state.legal_actions()
            if (
                action.play_card == self.card
                if self.card
                else action.kind == PLACE and not is_jack(action.play_card)
            )
        }

    def clicked(self) -> set[str]:
        """The parts that are chosen, as they are named in the picture."""
        cell = f"{self.target[0]},{self.target[1]}" if isinstance(self.target, tuple) else ","
        return {f"card {self.card}", f"take {self.take}", f"cell {cell}"}

    def worth(self, values: Mapping[Action, float]) -> dict[str, float]:
        """For each cell and each card to take, the best value of an action that still fits."""
        best: dict[str, float] = {}
        for action in self.fitting():
            parts = [f"cell {action.coords[0]},{action.coords[1]}"] if action.coords else []
            parts += [f"take {action.draft_card}"] if action.draft_card else []
            for part in parts if action in values else ():
                best[part] = max(best.get(part, values[action]), values[action])
        lit = {f"cell {cell[0]},{cell[1]}" for cell in self.targets() if isinstance(cell, tuple)}
        return {
            part: value for part, value in best.items() if part in lit or part.startswith("take ")
        }


def target_of(action: Action) -> Target:
    """What an action's card is for: its cell, or "trade", "forgo" or "pass"."""
    if action.coords:
        return action.coords
    return "forgo" if action == FORGO else action.kind
