"""The tree explorer: step through a search node by node in JupyterLab, or compare two searches.

    from tictactoe.explorables.explorer import explore
    explore(AlphaBeta(), Board("xoox__ox_"), against=Minimax())

The search is recorded once (`tictactoe.explorables.explorer.walk`), and every step is drawn from
the record. The agent only needs the decorator `@counted` on its value function.

May import the modules directly in `tictactoe.explorables`, and everything that they may import.
"""

from bisect import bisect_left
from typing import Any, Final, Literal

from tictactoe.boards.click_board import BoardDisplay, ClickBoard
from tictactoe.boards.playback import Playback
from tictactoe.contract import State
from tictactoe.explorables.explorer.view import draw_walks, fits
from tictactoe.explorables.explorer.walk import MAX_NODES, Walk, align, record
from tictactoe.explorables.explorer.words import sentence, summary, table
from tictactoe.games.pictures import image

BUTTONS = {"first": "First", "back": "Back", "next": "Next", "last": "Last"}
BOTH: Final = "both"
# Left and right follow the search, up and down the tree. With Shift, arrows move to any node.
ARROWS = {
    "ArrowLeft": "back",
    "ArrowRight": "next",
    "ArrowUp": "up",
    "ArrowDown": "down",
    "Home": "first",
    "End": "last",
}


class Explorer(BoardDisplay):
    """Steps through one recorded search, or two together; end a notebook cell with it to show it.

    It is created by `explore`. A step enters a node, or leaves it with its value; a leaf is entered
    and left in one step. `walks` are the searches, and `at` is the current step of each. Two
    searches advance together, or one advances while the other waits: `moving` is "both" or the
    number of a walk.
    """

    def __init__(self, walks: list[Walk]) -> None:
        self.walks = walks
        self.at = [0] * len(walks)
        # For each layout, usual and compact: node number -> whether the node's moves are drawn.
        self._opened, self._opened_compact = (
            [
                dict.fromkeys((node.number for node in walk.nodes), fits(walk, compact=compact))
                for walk in walks
            ]
            for compact in (False, True)
        )
        self._pairs = align(*walks) if len(walks) == 2 else []
        self._pair = 0  # the current pair of steps while both move
        self.moving: Literal["both"] | int = BOTH if self._pairs else 0
        self.playback = Playback()
        self.board = ClickBoard(self.click)
        self.go_to(self._first_value())

    def _first_value(self) -> int:
        """The step at which the first leaf gets its value, a good step to begin with."""
        leaf = next(node for node in self.walks[0].nodes if not node.children).left
        return self._pair_at(0, leaf) if self._pairs else leaf

    @property
    def step(self) -> int:
        """The number of the current step of both searches, or of the moving one, from 0."""
        return self._pair if isinstance(self.moving, str) else self.at[self.moving]

    @property
    def last(self) -> int:
        """The number of the last step."""
        return (
            len(self._pairs if isinstance(self.moving, str) else self.walks[self.moving].steps) - 1
        )

    def click(self, move: str) -> None:
        """Handle a click.

        `move` is "first", "back", "next", "last", "step N", "up" (to the node above), "down" (to
        the first one below), a playback button, "difference" (jump to the first one), "both", "only
        0" or "only 1" (which search moves), "go aN" (to the step at which node N of the first
        search is entered; "bN" for the second), or "fold aN" (expand or collapse a subtree).
        """
        with self.board.lock:
            word, _, rest = move.partition(" ")
            if self.playback.click(move):
                self.go_to(0 if move == "play" and self.step == self.last else self.step)
            elif word == "tick":
                if (
                    rest == str(self.step) and self.playback.running
                ):  # not a click on an older picture
                    self.go_to(min(self.step + 1, self.last))
            elif (step := self._target_step(word, rest)) is not None:
                self.go_to(min(max(step, 0), self.last))
            elif word in ("up", "down"):
                self._climb(word)
            elif word == "difference":
                self.go_to_difference()
            elif word in (BOTH, "only"):
                self._move_only(BOTH if word == BOTH else int(rest))
            elif word == "go":
                self._go_to_node("ab".index(rest[0]), int(rest[1:]))
            elif word == "fold":
                self._fold("ab".index(rest[0]), int(rest[1:]))

    def _target_step(self, word: str, number: str) -> int | None:
        """The number of the step to which a button or the slider leads; None for other clicks."""
        if word == "step":
            return int(number)
        steps = {"first": 0, "back": self.step - 1, "next": self.step + 1, "last": self.last}
        return steps.get(word)

    def _fold(self, walk: int, node: int) -> None:
        """Expand or collapse a subtree."""
        for opened in (self._opened, self._opened_compact):
            opened[walk][node] ^= True
        self._paint(self.board.content["status"])

    def go_to(self, step: int) -> None:
        """Show a step of the moving search or searches; raises IndexError if there is no such step."""
        with self.board.lock:
            if isinstance(self.moving, str):
                pair = self._pairs[step]
                self._pair, self.at = step, [pair.first, pair.second]
            else:
                self.walks[self.moving].steps[step]
                self.at[self.moving] = step
            self._paint(self._status_text())

    def go_to_difference(self) -> None:
        """Show the first step at which the two searches differ."""
        step = next((i for i, pair in enumerate(self._pairs) if pair.difference), None)
        with self.board.lock:
            self.moving = BOTH
            if step is None:
                self._paint(
                    "No difference: both searches visit the same nodes in the same order "
                    "and return the same values."
                )
            else:
                self.go_to(step)

    def _climb(self, way: str) -> None:
        """Go to the node above the current one, or to the first node below it."""
        number = 0 if isinstance(self.moving, str) else self.moving
        here = self.walks[number].steps[self.at[number]].node
        there = here.parent if way == "up" else next(iter(here.children), None)
        if there is not None:
            self._go_to_node(number, there.number)

    def _move_only(self, moving: Literal["both"] | int) -> None:
        if moving == BOTH and isinstance(self.moving, int):
            self._pair = self._pair_at(self.moving, self.at[self.moving])
        self.moving = moving
        self.go_to(self.step)

    def _go_to_node(self, number: int, node: int) -> None:
        entered = self.walks[number].nodes[node - 1].entered
        if isinstance(self.moving, int):
            self.moving = number
        self.go_to(self._pair_at(number, entered) if isinstance(self.moving, str) else entered)

    def _pair_at(self, number: int, step: int) -> int:
        """The number of the first pair in which a search is at that step."""
        return bisect_left(
            self._pairs, step, key=lambda pair: pair.second if number else pair.first
        )

    def _paint(self, status: str) -> None:
        self.playback.running &= self.step < self.last
        buttons = BUTTONS | self.playback.buttons()
        if self._pairs:
            buttons["difference"] = "First difference"
            choices = {
                BOTH: "both",
                **{f"only {i}": f"only {walk.name}" for i, walk in enumerate(self.walks)},
            }
            moving = BOTH if isinstance(self.moving, str) else f"only {self.moving}"
            buttons |= {
                move: ("✓ " if move == moving else "") + f"Step {label}"
                for move, label in choices.items()
            }
        self.board.show(
            draw_walks(self.walks, self.at, self._opened),
            self.alt(),
            status,
            buttons,
            (self.step, self.last),
            arrows=ARROWS,
            auto=self.playback.auto(self.step),
            compact=draw_walks(self.walks, self.at, self._opened_compact, compact=True),
        )

    def _status_text(self) -> str:
        """The step in words."""
        parts = [f"Step {self.step} of {self.last}."]
        if isinstance(self.moving, str) and self._pairs[self._pair].difference:
            parts.append(f"Difference: {self._pairs[self._pair].difference}.")
        shown_walks = (
            range(len(self.walks))
            if isinstance(self.moving, str) or not self._pairs
            else [self.moving]
        )
        for i in shown_walks:
            walk = self.walks[i]
            name = f"{walk.name}: " if self._pairs else ""
            parts.append(name + sentence(walk, walk.steps[self.at[i]]))
            if walk.error_text and self.at[i] == len(walk.steps) - 1:
                parts.append(f"Here the search stopped. {walk.error_text}.")
        large = [f"{len(walk.nodes):,}" for walk in self.walks if not fits(walk)]
        if large:
            parts.append(
                f"The tree is too large to draw in full ({' and '.join(large)} nodes): you see the "
                "path to the current node and the nodes that you open."
            )
        return " ".join(parts)

    def alt(self) -> str:
        """The alternative text: a summary of each search."""
        return " ".join(summary(walk) for walk in self.walks)

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        bundle, metadata = self.board._repr_mimebundle_(**kwargs)
        ends = [len(walk.steps) - 1 for walk in self.walks]
        snapshot = image(draw_walks(self.walks, ends, self._opened), self.alt(), shrink=True)
        text = [self.alt(), *(walk.error_text for walk in self.walks if walk.error_text)]
        return bundle | {
            "text/html": snapshot + "".join(map(table, self.walks)),
            "text/plain": "\n".join(text),
        }, metadata

    def _ipython_display_(self) -> None:
        self.board.publish(self._repr_mimebundle_()[0], stays=True)  # the whole tree and its table

    def __repr__(self) -> str:
        return f"<Explorer at step {self.step} of {self.last}: {self.alt()}>"


def explore(search: Any, state: State, against: Any = None, most: int = MAX_NODES) -> Explorer:
    """Step through a search from `state`; end a notebook cell with it to show it.

    `search` is an agent with a `@counted` value function, or a recorded search (a `Trace` or a
    `Visit`). If `against` is another agent or recorded search, the two are shown together, step by
    step, and a button jumps to the first difference. At most `most` nodes of each are recorded.

    Errors that the agent raises before its first node are passed on, as is every
    NotImplementedError. Raises ValueError if no counted function was called.
    """
    searches = [search] if against is None else [search, against]
    return Explorer([record(each, state, most) for each in searches])
