"""The tree explorer: step through a search node by node in JupyterLab, or compare two searches.

    from tictactoe.show.explorer import explore
    explore(AlphaBeta(), Board("xoox__ox_"), against=Minimax())

The search is recorded once (`tictactoe.show.explorer.walk`), and every step is drawn from the
record. Nothing has to be added to the agent: the `@counted` that counts its nodes is enough.

May import what stands beside this folder.
"""

from bisect import bisect_left
from typing import Any, Final, Literal

from tictactoe.contract import State
from tictactoe.games.pictures import image
from tictactoe.show.click_board import ClickBoard, OnBoard
from tictactoe.show.explorer.view import draw_walks, fits
from tictactoe.show.explorer.walk import MOST, Walk, record, together
from tictactoe.show.explorer.words import sentence, summary, table
from tictactoe.show.pace import Pace

BUTTONS = {"first": "First", "back": "Back", "next": "Next", "last": "Last"}
BOTH: Final = "both"
# The search is followed back and forth, the tree up and down; Shift and an arrow go to any node.
ARROWS = {
    "ArrowLeft": "back",
    "ArrowRight": "next",
    "ArrowUp": "up",
    "ArrowDown": "down",
    "Home": "first",
    "End": "last",
}


class Explorer(OnBoard):
    """Steps through one recorded search, or two together; end a notebook cell with it to show it.

    `explore` makes it. A step enters a node, or leaves it with its value; a leaf is entered and
    left in one step. `walks` are the searches, `at` the current step of each of them. Two searches
    move on together, or one moves while the other stands still: `moving` is "both" or the number
    of a walk.
    """

    def __init__(self, walks: list[Walk]) -> None:
        self.walks = walks
        self.at = [0] * len(walks)
        # By the number of a node whether its moves are drawn: in the usual picture, and narrow.
        self._opened, self._opened_narrow = (
            [
                dict.fromkeys((node.number for node in walk.nodes), fits(walk, narrow=narrow))
                for walk in walks
            ]
            for narrow in (False, True)
        )
        self._pairs = together(*walks) if len(walks) == 2 else []
        self._pair = 0  # the pair of steps that is shown while both move
        self.moving: Literal["both"] | int = BOTH if self._pairs else 0
        self.pace = Pace()
        self.board = ClickBoard(self.click)
        self.go_to(self._first_value())

    def _first_value(self) -> int:
        """The step at which the first leaf has its value: there is something to see there."""
        leaf = next(node for node in self.walks[0].nodes if not node.children).left
        return self._pair_at(0, leaf) if self._pairs else leaf

    @property
    def step(self) -> int:
        """The number of the step that is shown, from 0: of both searches, or of the moving one."""
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
        the first one below), a button of the pace, "difference" (jump to the first one),
        "both", "only 0" or "only 1" (which search moves), "go aN" (to the step at which node N of
        the first search is entered, "bN" of the second), or "fold aN" (open or close a subtree).
        """
        with self.board.lock:
            word, _, rest = move.partition(" ")
            steps = {"first": 0, "back": self.step - 1, "next": self.step + 1, "last": self.last}
            if self.pace.click(move):
                self.go_to(0 if move == "play" and self.step == self.last else self.step)
            elif word == "tick":
                if rest == str(self.step) and self.pace.running:  # and not from an older picture
                    self.go_to(min(self.step + 1, self.last))
            elif word in ("up", "down"):
                self._climb(word)
            elif word in steps or word == "step":
                self.go_to(min(max(steps[word] if word in steps else int(rest), 0), self.last))
            elif word == "difference":
                self.go_to_difference()
            elif word in (BOTH, "only"):
                self._move_only(BOTH if word == BOTH else int(rest))
            elif word == "go":
                self._go_to_node("ab".index(rest[0]), int(rest[1:]))
            elif word == "fold":
                for opened in (self._opened, self._opened_narrow):
                    opened["ab".index(rest[0])][int(rest[1:])] ^= True
                self._paint(self.board.shown["status"])

    def go_to(self, step: int) -> None:
        """Show a step of what is moving; raises IndexError if there is no such step."""
        with self.board.lock:
            if isinstance(self.moving, str):
                pair = self._pairs[step]
                self._pair, self.at = step, [pair.first, pair.second]
            else:
                self.walks[self.moving].steps[step]
                self.at[self.moving] = step
            self._paint(self._sentence())

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
        """Go to the node above the current one, or to the first one below it."""
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
        """The first pair in which a search is at that step."""
        return bisect_left(
            self._pairs, step, key=lambda pair: pair.second if number else pair.first
        )

    def _paint(self, status: str) -> None:
        self.pace.running &= self.step < self.last
        buttons = BUTTONS | self.pace.buttons()
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
            auto=self.pace.auto(self.step),
            narrow=draw_walks(self.walks, self.at, self._opened_narrow, narrow=True),
        )

    def _sentence(self) -> str:
        """The step in words."""
        parts = [f"Step {self.step} of {self.last}."]
        if isinstance(self.moving, str) and self._pairs[self._pair].difference:
            parts.append(f"Difference: {self._pairs[self._pair].difference}.")
        told = (
            range(len(self.walks))
            if isinstance(self.moving, str) or not self._pairs
            else [self.moving]
        )
        for i in told:
            walk = self.walks[i]
            name = f"{walk.name}: " if self._pairs else ""
            parts.append(name + sentence(walk, walk.steps[self.at[i]]))
            if walk.trouble and self.at[i] == len(walk.steps) - 1:
                parts.append(f"Here the search stopped. {walk.trouble}.")
        large = [f"{len(walk.nodes):,}" for walk in self.walks if not fits(walk)]
        if large:
            parts.append(
                f"The tree is too large to be drawn whole ({' and '.join(large)} nodes): "
                "you see the path to the current node and what you open."
            )
        return " ".join(parts)

    def alt(self) -> str:
        """The alternative text: a summary of each search."""
        return " ".join(summary(walk) for walk in self.walks)

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        bundle, metadata = self.board._repr_mimebundle_(**kwargs)
        ends = [len(walk.steps) - 1 for walk in self.walks]
        still = image(draw_walks(self.walks, ends, self._opened), self.alt(), shrink=True)
        text = [self.alt(), *(walk.trouble for walk in self.walks if walk.trouble)]
        return bundle | {
            "text/html": still + "".join(map(table, self.walks)),
            "text/plain": "\n".join(text),
        }, metadata

    def _ipython_display_(self) -> None:
        self.board.publish(self._repr_mimebundle_()[0], stays=True)  # the whole tree and its table

    def __repr__(self) -> str:
        return f"<Explorer at step {self.step} of {self.last}: {self.alt()}>"


def explore(search: Any, state: State, against: Any = None, most: int = MOST) -> Explorer:
    """Step through a search from `state`; end a notebook cell with it to show it.

    `search` is an agent with a `@counted` value function, or a recorded search (a `Trace` or a
    `Visit`). With `against`, another one of these, the two are shown together, step by step, and
    a button jumps to the first difference. At most `most` nodes of each are recorded.

    An error that the agent raises before its first node is passed on, and NotImplementedError
    always; raises ValueError if no counted function was called.
    """
    searches = [search] if against is None else [search, against]
    return Explorer([record(each, state, most) for each in searches])
