"""Steps through something on a board: by buttons, slider and arrow keys, or by itself at a pace.

The page keeps the time: a board that goes on by itself asks the page to send its next tick a while
after it was painted. So it waits for slow pages, and stops when nobody looks.
"""

from tictactoe.show.click_board import ClickBoard, OnBoard

PLAY, PAUSE, SLOWER, FASTER = "play", "pause", "slower", "faster"
PAUSES = (4000, 2000, 1000, 500, 200)  # milliseconds between two steps, from slow to fast
USUAL = 2  # the number of the pause at first


class Pace:
    """Whether a board goes on by itself, and how fast."""

    def __init__(self) -> None:
        self.running = False
        self._speed = USUAL

    def click(self, move: str) -> bool:
        """Handle a click; whether it was meant for the pace."""
        if move in (PLAY, PAUSE):
            self.running = move == PLAY
        elif move in (SLOWER, FASTER):
            speed = self._speed + (1 if move == FASTER else -1)
            self._speed = min(max(speed, 0), len(PAUSES) - 1)
        return move in (PLAY, PAUSE, SLOWER, FASTER)

    def buttons(self) -> dict[str, str]:
        """Its buttons, by the moves that they send."""
        play = {PAUSE: "Pause"} if self.running else {PLAY: "Play"}
        return play | {SLOWER: "Slower", FASTER: "Faster"}

    def words(self) -> str:
        """The speed in words."""
        return f"{PAUSES[self._speed] / 1000:g} s a step. " if self.running else ""

    def auto(self, step: int) -> tuple[str, int] | None:
        """What the page is to send by itself, and after how many milliseconds."""
        return (f"tick {step}", PAUSES[self._speed]) if self.running else None


class Stepper(OnBoard):
    """Something with steps 0 to `last`; who makes one paints it."""

    ARROWS = {"ArrowLeft": "back", "ArrowRight": "next", "Home": "first", "End": "last"}
    BUTTONS = {"first": "First", "back": "Back", "next": "Next", "last": "Last"}

    def __init__(self) -> None:
        self.step = 0
        self.pace = Pace()
        self.board = ClickBoard(self.click)

    @property
    def last(self) -> int:
        """The number of the last step."""
        raise NotImplementedError

    def paint(self) -> None:
        """Show the step."""
        raise NotImplementedError

    def more(self) -> None:
        """Go on beyond the last step, where that is possible."""
        self.pace.running = False

    def click(self, move: str) -> None:
        """Handle a click: "first", "back", "next", "last", "step N", or a button of the pace."""
        with self.board.lock:
            word, _, number = move.partition(" ")
            steps = {"first": 0, "back": self.step - 1, "next": self.step + 1, "last": self.last}
            if self.pace.click(move):
                if move == PLAY and self.step == self.last:
                    self._play_again()
            elif word == "tick":
                if number != str(self.step) or not self.pace.running:
                    return  # from an older picture
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
            self.more()
        self.step = min(max(step, 0), self.last)

    def _play_again(self) -> None:
        """Play was pressed at the end: from the beginning."""
        self.step = 0
