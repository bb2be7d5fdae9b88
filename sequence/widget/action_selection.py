"""The parts of an action clicked so far: a card, its target and a card to take."""

from collections.abc import Mapping

from sequence.board.actions import FORGO, PLACE, TRADE, Action
from sequence.board.cards import is_jack
from sequence.board.layout import card_at
from sequence.engine.state import State

Target = tuple[int, int] | str  # the target of a card: a cell, or "trade", "forgo" or "pass"


class ActionSelection:
    """The selected parts of the next action in one state, none at first."""

    def __init__(self, state: State) -> None:
        self._state = state
        self.card, self.take = "", ""
        self.target: Target | None = None

    def click(self, word: str, value: str) -> Action | None:
        """Select or deselect a part. Return the action as soon as nothing is left to select."""
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
        matching = self.matching_actions()
        # Selecting a card of the hand never plays it, even if it leaves no choice.
        is_whole = len(matching) == 1 and (self.target is not None or bool(self.take))
        return matching[0] if is_whole else None

    def matching_actions(self) -> list[Action]:
        """The legal actions that contain all selected parts."""
        return [
            action
            for action in self._state.legal_actions()
            if self.card in ("", action.play_card)
            and self.take in ("", action.draft_card)
            and self.target in (None, action_target(action))
        ]

    def targets(self) -> dict[Target, str]:
        """The targets of the selected card: cells, each with the kind of action, or a trade.

        If no card is selected, these are the cells of all cards in the hand except jacks, which
        would highlight almost the entire board.
        """
        return {
            action_target(action): action.kind
            for action in self._state.legal_actions()
            if (
                action.play_card == self.card
                if self.card
                else action.kind == PLACE and not is_jack(action.play_card)
            )
        }

    def selected_parts(self) -> set[str]:
        """The selected parts, by their names in the picture."""
        cell = f"{self.target[0]},{self.target[1]}" if isinstance(self.target, tuple) else ","
        return {f"card {self.card}", f"take {self.take}", f"cell {cell}"}

    def part_values(self, values: Mapping[Action, float]) -> dict[str, float]:
        """For each cell and each card to take, the best value of a matching action."""
        best: dict[str, float] = {}
        for action in self.matching_actions():
            parts = [f"cell {action.coords[0]},{action.coords[1]}"] if action.coords else []
            parts += [f"take {action.draft_card}"] if action.draft_card else []
            for part in parts if action in values else ():
                best[part] = max(best.get(part, values[action]), values[action])
        lit = {f"cell {cell[0]},{cell[1]}" for cell in self.targets() if isinstance(cell, tuple)}
        return {
            part: value for part, value in best.items() if part in lit or part.startswith("take ")
        }


def action_target(action: Action) -> Target:
    """The target of an action's card: its cell, or "trade", "forgo" or "pass"."""
    if action.coords:
        return action.coords
    return "forgo" if action == FORGO else action.kind
