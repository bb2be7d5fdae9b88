"""Compare how many nodes searches visit, on a position set up by clicking in JupyterLab.

from tictactoe.show.counts import compare_counts
compare_counts({"minimax": Minimax(), "alpha-beta": AlphaBeta()})
"""

import html
import re
from collections.abc import Callable, Mapping
from functools import partial
from math import ceil, log10
from typing import Any, NamedTuple

from tictactoe.contract import Agent, State
from tictactoe.errors import describe
from tictactoe.games.board import Board
from tictactoe.games.pictures import BLUE, ORANGE, image
from tictactoe.nodes import NodeCounter
from tictactoe.show.asking import Asking, Question
from tictactoe.show.click_board import ClickBoard, OnBoard
from tictactoe.show.drawn import draw_state, move_words, words
from tictactoe.show.sheet import DARK, label, moved, sheet

BACK, EMPTY, AGAIN = "take back", "from the start", "count again"
GAP = 16  # the space around things, in pixels
ROW, BAR = 38, 22  # height of an agent's row, without a line for its name, and of its bar
POWERS = 6  # factors of ten that there is room for
MIDDLE, END = 'text-anchor="middle"', 'text-anchor="end"'
BOLD = 'font-weight="700"'
ON_WHITE = 'stroke="white" stroke-width="4" paint-order="stroke"'  # above the lines
# A bar has a pattern of its own beside its colour: (colour, stripes as a path in a square of 8).
LOOKS = (
    (BLUE, ""),
    (ORANGE, "M0 8L8 0"),
    ("#009E73", "M4 0V8"),
    ("#CC79A7", "M0 4H8"),
    ("#56B4E9", "M0 0L8 8M0 8L8 0"),
    ("#D55E00", "M0 0L8 8"),
)


def _short(number: int) -> str:
    """A large power of ten in few letters.

    >>> [_short(number) for number in (100, 10_000, 10**7)]
    ['100', '10k', '10M']
    """
    return re.sub("000$", "k", re.sub("000000$", "M", str(number)))


class Room(NamedTuple):
    """What there is room for in the picture: widths and heights in pixels.

    `names` is the room left of the bars; where it is but a gap, names stand above their bars.
    `ten` is a factor of ten, `letters` as many as may stand beside a bar.
    """

    width: int
    board: int
    names: int
    ten: int
    row: int
    letters: int
    number: Callable[[int], str]


WIDE = Room(952, 210, 120, 85, ROW, 70, "{:,}".format)
NARROW = Room(300, 380, GAP, 36, ROW + 18, 38, _short)


class Counts(OnBoard):
    """Node counts of several searches on a position set up by clicking; see `compare_counts`.

    `counts` maps each agent's name to the nodes it visited, or to the reason why there are none.
    """

    def __init__(self, agents: Mapping[str, Agent], state: State | None = None) -> None:
        self.agents = dict(agents)
        self.states: list[State] = [Board() if state is None else state]
        self.counts: dict[str, int | str] = {}
        self.off: set[str] = set()  # agents that are not asked
        self._known: dict[tuple[str, State], int | str] = {}
        self.board = ClickBoard(self.click)
        self._asking = Asking(self.board.lock, self._question)
        self._asking.go_on()

    @property
    def state(self) -> State:
        """The position that is searched."""
        return self.states[-1]

    def click(self, move: str) -> None:
        """Handle a click: a legal move as text, "agent NAME" (switch it on or off), or a button's
        name."""
        with self.board.lock:
            legal = {str(m): m for m in self.state.legal_moves()}
            if move in legal:
                self.states.append(self.state.after(legal[move]))
            elif move == BACK:
                del self.states[1 if len(self.states) == 1 else -1 :]
            elif move == EMPTY:
                del self.states[1:]
            elif move == AGAIN:
                self._known.clear()
                self._asking.renew()
            elif move.startswith("agent "):
                self.off ^= {move.removeprefix("agent ")} & set(self.agents)
        self._asking.go_on()

    def _question(self) -> Question | None:
        """The first search that is not known yet; the picture shows those that are."""
        state, self.counts = self.state, {}
        for name, agent in self.agents.items():
            if name in self.off or state.is_terminal():
                continue
            if (name, state) not in self._known:
                self._paint(f"{name} is searching …", busy=True)
                return partial(_search, name, agent, state), self._take
            self.counts[name] = self._known[name, state]
        over = "The game is over here: there is nothing to search. "
        self._paint((over if state.is_terminal() else "") + self._result())
        return None

    def _take(self, found: "_Found") -> None:
        if self.agents.get(found.name) is found.agent:
            self._known[found.name, found.state] = found.outcome

    def _result(self) -> str:
        numbers = {name: n for name, n in self.counts.items() if isinstance(n, int) and n}
        if len(numbers) < 2:
            return "Click an open cell to continue from there."
        most, least = max(numbers, key=numbers.__getitem__), min(numbers, key=numbers.__getitem__)
        return (
            f"{most} visits {numbers[most] / numbers[least]:,.1f} times as many nodes as "
            f"{least}. Click an open cell to continue from there."
        )

    def _paint(self, status: str, busy: bool = False) -> None:
        buttons = {
            f"agent {name}": f"{'☐' if name in self.off else '☑'} {name}" for name in self.agents
        }
        buttons |= {BACK: "Take back", EMPTY: "From the start", AGAIN: "Count again"}
        if not hasattr(self.state, "boxes"):
            buttons = {str(m): str(m) for m in self.state.legal_moves()} | buttons
        self.board.show(
            self._svg(WIDE), self._alt(), status, buttons, busy=busy, narrow=self._svg(NARROW)
        )

    def _alt(self) -> str:
        told = [f"{name} {_told(count)}" for name, count in self.counts.items()]
        return (
            f"Nodes visited, on a logarithmic scale, from the position {words(self.state)}. "
            f"{'; '.join(told) or 'No search'}."
        )

    def _svg(self, room: "Room") -> str:
        clicks = {str(m): move_words(self.state, m) for m in self.state.legal_moves()}
        board = draw_state(
            self.state, clicks, None, room.board, room.width - 2 * GAP, narrow=room == NARROW
        )
        beside = board.width + 2 * GAP + room.names + POWERS * room.ten < room.width
        left, top = (board.width + 2 * GAP, 0) if beside else (0, board.height + GAP)
        most = max([n for n in self.counts.values() if isinstance(n, int)], default=1)
        powers = max(POWERS, ceil(log10(max(most, 1) + 1)))
        ten = room.ten * POWERS / powers  # pixels for a factor of ten
        zero, bottom = left + room.names, top + GAP + room.row * max(len(self.counts), 2)
        parts = [moved(GAP, GAP, board.svg), _patterns()]
        for power in range(powers + 1):
            x = zero + power * ten
            parts += [
                f'<path d="M{x:g} {top + GAP}V{bottom}" stroke="#bbb"/>',
                label(x, bottom + 16, room.number(10**power), MIDDLE),
            ]
        for row, (name, count) in enumerate(self.counts.items()):
            foot = top + GAP + (row + 1) * room.row - (ROW - BAR) / 2  # of the bar
            number = count if isinstance(count, int) else 0
            length = max(log10(number) * ten if number > 0 else 0, 1)
            parts += [
                label(zero - 8, foot - 6, f"{name:.17}", END)
                if room.names > GAP
                else label(zero, foot - BAR - 5, f"{name:.40}", ON_WHITE),
                f'<rect x="{zero:g}" y="{foot - BAR:g}" width="{length:g}" height="{BAR}" '
                f'fill="url(#look{list(self.agents).index(name) % len(LOOKS)})" '
                f'stroke="{DARK}"/>',
                label(zero + length + 6, foot - 6, f"{_told(count):.{room.letters}}", BOLD),
            ]
        parts.append(label(zero, bottom + 36, "nodes visited (each line: ten times as many)"))
        height = max(bottom + 46, board.height + 2 * GAP)
        return sheet(max(room.width, board.width + 2 * GAP), height, parts)

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        bundle, metadata = self.board._repr_mimebundle_(**kwargs)
        rows = "".join(
            f"<tr><td>{html.escape(name)}</td><td>{html.escape(_told(count))}</td></tr>"
            for name, count in self.counts.items()
        )
        still = image(self.board.shown["svg"], self._alt(), shrink=True)
        return bundle | {
            "text/html": f'{still}<table><thead><tr><th scope="col">search</th>'
            f'<th scope="col">nodes</th></tr></thead><tbody>{rows}'
            "</tbody></table>"
        }, metadata

    def __repr__(self) -> str:
        return f"<Counts: {self._alt()}>"


def compare_counts(agents: Mapping[str, Agent], state: State | None = None) -> Counts:
    """Show how many nodes several agents visit on one position; end a notebook cell with it.

    `agents` maps the names in the picture to the agents; `state` is the first position, by default
    the empty board. Click an open cell to continue from there. Counts are kept until you press
    "Count again". If an agent fails, the reason stands in place of its bar.
    """
    return Counts(agents, state)


class _Found(NamedTuple):
    """What came of a search: the nodes visited, or why there are none."""

    name: str
    agent: Agent
    state: State
    outcome: int | str  # not `count`, which is a method of tuples


def _search(name: str, agent: Agent, state: State) -> _Found:
    return _Found(name, agent, state, _visited(agent, state))


def _visited(agent: Agent, state: State) -> int | str:
    """The number of nodes that the agent visits, or why there is none."""
    with NodeCounter() as nodes:
        try:
            (agent.search if hasattr(agent, "search") else agent.choose)(state)
        except NotImplementedError:
            return "not written yet"
        except KeyboardInterrupt:  # the kernel's Interrupt button
            return "interrupted"
        except Exception as error:  # show any mistake of the agent in its row
            return describe(error)
    return nodes.visited


def _told(count: int | str) -> str:
    return f"{count:,}" if isinstance(count, int) else count


def _patterns() -> str:
    return (
        "<defs>"
        + "".join(
            f'<pattern id="look{i}" width="8" height="8" patternUnits="userSpaceOnUse">'
            f'<rect width="8" height="8" fill="{colour}"/>'
            f'<path d="{stripes}" stroke="white" stroke-width="2" fill="none"/></pattern>'
            for i, (colour, stripes) in enumerate(LOOKS)
        )
        + "</defs>"
    )
