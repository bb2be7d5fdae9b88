"""Playback on a board, either automatic or step by step with buttons, slider and arrow keys.

The page controls the timing: during automatic playback, it sends the next tick some time after
painting the board. Playback therefore waits for slow pages and stops when no page is open.
"""

from tictactoe.boards.click_board import BoardDisplay, ClickBoard

PLAY, PAUSE, SLOWER, FASTER = "play", "pause", "slower", "faster"
STEP_DELAYS = (4000, 2000, 1000, 500, 200)  # milliseconds between two steps, from slow to fast
DEFAULT_SPEED = 2  # the index of the initial delay


class Playback:
    """The state of automatic playback: whether it is running, and its speed."""

    def __init__(self) -> None:
        self.running = False
        self._speed = DEFAULT_SPEED

    def click(self, move: str) -> bool:
        """Handle a click if it is on a playback button; return whether it is."""
        if move in (PLAY, PAUSE):
            self.running = move == PLAY
        elif move in (SLOWER, FASTER):
            speed = self._speed + (1 if move == FASTER else -1)
            self._speed = min(max(speed, 0), len(STEP_DELAYS) - 1)
        return move in (PLAY, PAUSE, SLOWER, FASTER)

    def buttons(self) -> dict[str, str]:
        """The labels of the playback buttons, keyed by the moves that they send."""
        play = {PAUSE: "Pause"} if self.running else {PLAY: "Play"}
        return play | {SLOWER: "Slower", FASTER: "Faster"}

    def speed_text(self) -> str:
        """The speed in words."""
        return f"{STEP_DELAYS[self._speed] / 1000:g} s per step. " if self.running else ""

    def auto(self, step: int) -> tuple[str, int] | None:
        """The message that the page sends automatically, and the delay in milliseconds."""
        return (f"tick {step}", STEP_DELAYS[self._speed]) if self.running else None


class Stepper(BoardDisplay):
    """A board with steps 0 to `last`; a subclass calls `paint` once it has been set up."""

    ARROWS = {"ArrowLeft": "back", "ArrowRight": "next", "Home": "first", "End": "last"}
    BUTTONS = {"first": "First", "back": "Back", "next": "Next", "last": "Last"}

    def __init__(self) -> None:
        self.step = 0
        self.playback = Playback()
        self.board = ClickBoard(self.click)

    @property
    def last(self) -> int:
        """The number of the last step."""
        raise NotImplementedError

    def paint(self) -> None:
        """Show the step."""
        raise NotImplementedError

    def advance_past_end(self) -> None:
        """Continue beyond the last step, if that is possible."""
        self.playback.running = False

    def click(self, move: str) -> None:
        """Handle a click: "first", "back", "next", "last", "step N", or a playback button."""
        with self.board.lock:
            word, _, number = move.partition(" ")
            steps = {"first": 0, "back": self.step - 1, "next": self.step + 1, "last": self.last}
            if self.playback.click(move):
                if move == PLAY and self.step == self.last:
                    self._play_again()
            elif word == "tick":
                if number != str(self.step) or not self.playback.running:
                    return  # a click on an older picture
                self._go(self.step + 1)
            elif word in steps or word == "step":
                self._go(steps[word] if word in steps else int(number))
            self.paint()

    def go_to(self, step: int) -> None:
        """Show a step by its number, from 0; raises IndexError if there is none."""
        with self.board.lock:
            if step not in range(self.last + 1):
                raise IndexError(f"there is no step {step!r}; the steps are 0 to {self.last}")
            self.step = step
            self.paint()

    def _go(self, step: int) -> None:
        if step > self.last:
            self.advance_past_end()
        self.step = min(max(step, 0), self.last)

    def _play_again(self) -> None:
        """Start from the beginning, because Play was pressed at the end."""
        self.step = 0
