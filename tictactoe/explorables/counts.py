"""Compare how many nodes searches visit, on a position set up by clicking in JupyterLab.

from tictactoe.explorables.counts import compare_counts
compare_counts({"minimax": Minimax(), "alpha-beta": AlphaBeta()})
"""

import html
import re
from collections.abc import Callable, Mapping
from functools import partial
from math import ceil, log10
from typing import Any, NamedTuple

from common.errors import describe
from tictactoe.boards.agent_requests import AgentRequests, Request
from tictactoe.boards.click_board import BoardDisplay, ClickBoard
from tictactoe.boards.rendering import describe_move, describe_state, draw_state
from tictactoe.contract import Agent, State
from tictactoe.explorables.svg_canvas import DARK, label, svg_document, translated
from tictactoe.games.board import Board
from tictactoe.games.pictures import BLUE, ORANGE, image
from tictactoe.nodes import NodeCounter

BACK, EMPTY, AGAIN = "take back", "from the start", "count again"
GAP = 16  # the space around elements, in pixels
ROW, BAR = 38, 22  # heights of an agent's row, without its name, and of its bar
POWERS = 6  # factors of ten on the axis
MIDDLE, END = 'text-anchor="middle"', 'text-anchor="end"'
BOLD = 'font-weight="700"'
ON_WHITE = 'stroke="white" stroke-width="4" paint-order="stroke"'  # for text on top of the lines
# Each bar has a pattern in addition to its colour: (colour, stripes as a path in a square of 8).
BAR_STYLES = (
    (BLUE, ""),
    (ORANGE, "M0 8L8 0"),
    ("#009E73", "M4 0V8"),
    ("#CC79A7", "M0 4H8"),
    ("#56B4E9", "M0 0L8 8M0 8L8 0"),
    ("#D55E00", "M0 0L8 8"),
)


def _short(number: int) -> str:
    """A large power of ten as a short text.

    >>> [_short(number) for number in (100, 10_000, 10**7)]
    ['100', '10k', '10M']
    """
    return re.sub("000$", "k", re.sub("000000$", "M", str(number)))


class CountsLayout(NamedTuple):
    """The layout of the picture: widths and heights in pixels.

    `names` is the width of the column of names; if it is only a gap, the names are above the bars.
    `ten` is the width of a factor of ten, and `letters` the maximum length of the text next to a
    bar.
    """

    width: int
    board: int
    names: int
    ten: int
    row: int
    letters: int
    number: Callable[[int], str]


WIDE = CountsLayout(952, 210, 120, 85, ROW, 70, "{:,}".format)
COMPACT = CountsLayout(300, 380, GAP, 36, ROW + 18, 38, _short)


class Counts(BoardDisplay):
    """Node counts of several searches on a position that the user sets up; see `compare_counts`.

    `counts` maps each agent's name to its node count, or to the reason why there is none.
    """

    def __init__(self, agents: Mapping[str, Agent], state: State | None = None) -> None:
        self.agents = dict(agents)
        self.states: list[State] = [Board() if state is None else state]
        self.counts: dict[str, int | str] = {}
        self.off: set[str] = set()  # agents that are switched off
        self._known: dict[tuple[str, State], int | str] = {}
        self.board = ClickBoard(self.click)
        self._requests = AgentRequests(self.board.lock, self._next_request)
        self._requests.run()

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
                self._requests.invalidate()
            elif move.startswith("agent "):
                self.off ^= {move.removeprefix("agent ")} & set(self.agents)
        self._requests.run()

    def _next_request(self) -> Request | None:
        """The first search without a count; the picture shows the counts known so far."""
        state, self.counts = self.state, {}
        for name, agent in self.agents.items():
            if name in self.off or state.is_terminal():
                continue
            if (name, state) not in self._known:
                self._paint(f"{name} is searching …", busy=True)
                return partial(_search, name, agent, state), self._receive_count
            self.counts[name] = self._known[name, state]
        over = "The game is over here, so there is nothing to search. "
        self._paint((over if state.is_terminal() else "") + self._result())
        return None

    def _receive_count(self, result: "_SearchCount") -> None:
        if self.agents.get(result.name) is result.agent:
            self._known[result.name, result.state] = result.outcome

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
            self._svg(WIDE), self._alt(), status, buttons, busy=busy, compact=self._svg(COMPACT)
        )

    def _alt(self) -> str:
        counts = [f"{name} {_count_text(count)}" for name, count in self.counts.items()]
        return (
            f"Nodes visited, on a logarithmic scale, from the position {describe_state(self.state)}. "
            f"{'; '.join(counts) or 'No search'}."
        )

    def _svg(self, layout: "CountsLayout") -> str:
        clicks = {str(m): describe_move(self.state, m) for m in self.state.legal_moves()}
        board = draw_state(
            self.state,
            clicks,
            None,
            layout.board,
            layout.width - 2 * GAP,
            compact=layout == COMPACT,
        )
        beside = board.width + 2 * GAP + layout.names + POWERS * layout.ten < layout.width
        left, top = (board.width + 2 * GAP, 0) if beside else (0, board.height + GAP)
        most = max([n for n in self.counts.values() if isinstance(n, int)], default=1)
        powers = max(POWERS, ceil(log10(max(most, 1) + 1)))
        ten = layout.ten * POWERS / powers  # pixels for a factor of ten
        zero, bottom = left + layout.names, top + GAP + layout.row * max(len(self.counts), 2)
        parts = [translated(GAP, GAP, board.svg), _patterns()]
        for power in range(powers + 1):
            x = zero + power * ten
            parts += [
                f'<path d="M{x:g} {top + GAP}V{bottom}" stroke="#bbb"/>',
                label(x, bottom + 16, layout.number(10**power), MIDDLE),
            ]
        for row, (name, count) in enumerate(self.counts.items()):
            foot = top + GAP + (row + 1) * layout.row - (ROW - BAR) / 2  # the bar's lower edge
            number = count if isinstance(count, int) else 0
            length = max(log10(number) * ten if number > 0 else 0, 1)
            parts += [
                label(zero - 8, foot - 6, f"{name:.17}", END)
                if layout.names > GAP
                else label(zero, foot - BAR - 5, f"{name:.40}", ON_WHITE),
                f'<rect x="{zero:g}" y="{foot - BAR:g}" width="{length:g}" height="{BAR}" '
                f'fill="url(#look{list(self.agents).index(name) % len(BAR_STYLES)})" '
                f'stroke="{DARK}"/>',
                label(zero + length + 6, foot - 6, f"{_count_text(count):.{layout.letters}}", BOLD),
            ]
        parts.append(label(zero, bottom + 36, "nodes visited (logarithmic scale)"))
        height = max(bottom + 46, board.height + 2 * GAP)
        return svg_document(max(layout.width, board.width + 2 * GAP), height, parts)

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        bundle, metadata = self.board._repr_mimebundle_(**kwargs)
        rows = "".join(
            f"<tr><td>{html.escape(name)}</td><td>{html.escape(_count_text(count))}</td></tr>"
            for name, count in self.counts.items()
        )
        snapshot = image(self.board.content["svg"], self._alt(), shrink=True)
        return bundle | {
            "text/html": f'{snapshot}<table><thead><tr><th scope="col">search</th>'
            f'<th scope="col">nodes</th></tr></thead><tbody>{rows}'
            "</tbody></table>"
        }, metadata

    def __repr__(self) -> str:
        return f"<Counts: {self._alt()}>"


def compare_counts(agents: Mapping[str, Agent], state: State | None = None) -> Counts:
    """Show how many nodes several agents visit on one position; end a notebook cell with it.

    `agents` maps the names in the picture to the agents; `state` is the first position, by default
    the empty board. Click an open cell to continue from there. Counts are kept until you press
    "Count again". If an agent fails, the reason is shown instead of its bar.
    """
    return Counts(agents, state)


class _SearchCount(NamedTuple):
    """The result of a search: the number of nodes visited, or the reason why it is unknown."""

    name: str
    agent: Agent
    state: State
    outcome: int | str  # not `count`, which is a method of tuples


def _search(name: str, agent: Agent, state: State) -> _SearchCount:
    return _SearchCount(name, agent, state, _count_visited(agent, state))


def _count_visited(agent: Agent, state: State) -> int | str:
    """The number of nodes that the agent visits, or the reason why it is unknown."""
    with NodeCounter() as nodes:
        try:
            (agent.search if hasattr(agent, "search") else agent.choose)(state)
        except NotImplementedError:
            return "not written yet"
        except KeyboardInterrupt:  # the kernel's Interrupt button
            return "interrupted"
        except Exception as error:  # show any error of the agent in its row
            return describe(error)
    return nodes.visited


def _count_text(count: int | str) -> str:
    return f"{count:,}" if isinstance(count, int) else count


def _patterns() -> str:
    return (
        "<defs>"
        + "".join(
            f'<pattern id="look{i}" width="8" height="8" patternUnits="userSpaceOnUse">'
            f'<rect width="8" height="8" fill="{colour}"/>'
            f'<path d="{stripes}" stroke="white" stroke-width="2" fill="none"/></pattern>'
            for i, (colour, stripes) in enumerate(BAR_STYLES)
        )
        + "</defs>"
    )
