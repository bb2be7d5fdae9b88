"""A finished game of Sequence on a board, played back automatically or in steps, with open hands."""

from collections.abc import Sequence
from pathlib import Path

from sequence.engine import replay as replays
from sequence.engine.play import Game
from sequence.engine.state import State
from sequence.pictures.view import picture
from sequence.pictures.words import action_text, describe_position, turn_sentence
from tictactoe.boards.playback import Stepper


class Replay(Stepper):
    """Steps through a game with open hands; created by `replay`. State number `step` is shown."""

    def __init__(self, game: Game | str | Path | Sequence[State]) -> None:
        super().__init__()
        if isinstance(game, Path):
            game = game.read_text(encoding="utf-8")
        if isinstance(game, str):
            self.states = replays.read(game)
        else:
            self.states = tuple(game.states if isinstance(game, Game) else game)
        if not self.states:
            raise ValueError("a game to step through has at least one state")
        self.go_to(0)

    @property
    def last(self) -> int:
        """The number of the last state."""
        return len(self.states) - 1

    def paint(self) -> None:
        """Show the state of the step."""
        step, last, state = self.step, self.last, self.states[self.step]
        self.playback.running &= step < last
        status = f"{step} of {last}: the beginning."
        if step:
            status = f"{step} of {last}: {self._action_text(step)}."
        if state.is_over:
            status += f" {turn_sentence(state)}."
        hands = {player: state.hand(player) for player in range(state.rules.players)}
        self.board.show(
            picture(state, hands),
            describe_position(state, hands),
            self.playback.speed_text() + status,
            self.BUTTONS | self.playback.buttons(),
            (step, last),
            arrows=self.ARROWS,
            moves=[self._action_text(number) for number in range(1, step + 1)],
            auto=self.playback.auto(step),
            compact=picture(state, hands, compact=True),
        )

    def _action_text(self, step: int) -> str:
        """The action that led to a state, with its player."""
        player, action = self.states[step - 1].to_move, self.states[step].history[-1]
        return f"player {player}: {action_text(action)}"

    def __repr__(self) -> str:
        return f"<Replay at {self.step} of {self.last}: {self.states[self.step]!r}>"
