"""Plots of a league: the ratings with their intervals, and a heat map of the pairings."""

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sequence.league.records.standing import Standing
from tictactoe.games.play import Match

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BLUE = "#0072B2"  # from the palette of Okabe and Ito
COLOURS = "PuOr_r"  # orange above one half, purple below; distinguishable for colour-blind readers
LUMINANCE = (0.2126, 0.7152, 0.0722)  # luminance of red, green and blue light (WCAG 2.2)
DARK = 0.18  # below this luminance, a colour has more contrast with white than with black
NOTHING = "0.85"  # the grey for an agent against itself
KINDS = ("png", "svg")
DPI = 150


def rating_plot(rows: Sequence["Standing"]) -> "Figure":
    """A point with its 95 % interval for each agent, with the best on top."""
    figure = _figure(6.5, 1.2 + 0.4 * len(rows))
    axes = figure.subplots()
    places = range(len(rows), 0, -1)
    axes.axvline(0, color="0.6", linewidth=1, linestyle="--", zorder=0)
    axes.errorbar(
        [row.rating for row in rows],
        places,
        xerr=[row.margin for row in rows],
        fmt="o",
        color=BLUE,
        capsize=4,
    )
    for row, place in zip(rows, places, strict=True):
        axes.annotate(
            f"{row.rating:+.0f}",
            (row.rating, place),
            xytext=(0, 5),
            textcoords="offset points",
            ha="center",
            fontsize=8,
        )
    axes.set_yticks(places, [row.agent for row in rows])
    axes.set_ylim(0.4, len(rows) + 0.7)
    axes.set_xlabel("Elo points above the league's average, with 95 % intervals")
    axes.spines[["top", "right"]].set_visible(False)
    return figure


def heat_map(agents: Sequence[str], pairings: Mapping[tuple[str, str], Match]) -> "Figure":
    """The score of each agent (row) against each other agent (column), in per cent."""
    size = 2.2 + 0.75 * len(agents)
    figure = _figure(size + 1, size)
    axes = figure.subplots()
    scores = [[_score(pairings, row, column) for column in agents] for row in agents]
    image = axes.imshow(scores, cmap=COLOURS, vmin=0, vmax=1)
    axes.set_facecolor(NOTHING)
    for y, line in enumerate(scores):
        for x, score in enumerate(line):
            if x != y:
                rgba: Any = image.to_rgba(score)  # type: ignore[arg-type]  # it also accepts a number
                colour = "white" if _luminance(rgba) < DARK else "black"
                axes.text(x, y, f"{100 * score:.0f}", ha="center", va="center", color=colour)
    axes.set_xticks(range(len(agents)), agents, rotation=35, ha="right", rotation_mode="anchor")
    axes.set_yticks(range(len(agents)), agents)
    axes.set_xlabel("against")
    axes.set_title("score in per cent (a tie is half a win)", fontsize=10)
    bar = figure.colorbar(image, ax=axes, shrink=0.8, ticks=[0, 0.5, 1])
    bar.ax.set_yticklabels(["0 %", "50 %", "100 %"])
    return figure


def save(figure: "Figure", stem: Path) -> None:
    """Write the picture as PNG and SVG; the same data give the same bytes."""
    import matplotlib

    for kind in KINDS:
        with matplotlib.rc_context({"svg.hashsalt": "sequence.league"}):
            figure.savefig(
                stem.with_suffix(f".{kind}"),
                dpi=DPI,
                metadata={"Date": None} if kind == "svg" else None,
            )


def _figure(width: float, height: float) -> "Figure":
    from matplotlib.figure import Figure

    class Picture(Figure):
        """A figure that does not need pyplot to be shown in a notebook."""

        def _repr_png_(self) -> bytes:
            data = io.BytesIO()
            self.savefig(data, dpi=DPI)
            return data.getvalue()

    return Picture(figsize=(width, height), layout="constrained")


def _luminance(rgba: Sequence[float]) -> float:
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in rgba[:3]
    ]
    return sum(weight * part for weight, part in zip(LUMINANCE, linear, strict=True))


def _score(pairings: Mapping[tuple[str, str], Match], row: str, column: str) -> float:
    if (row, column) in pairings:
        return pairings[row, column].score
    if (column, row) in pairings:
        return 1 - pairings[column, row].score
    return float("nan")  # an agent against itself, which is not coloured
