"""The results of a league, with a row for each agent: as a table, as files and as pictures.

Results that the seed determines are separate from the times, which differ in every run: `times.csv`
contains the times, and the other files are identical, byte for byte, when the same league is played
again with agents that do not use the clock.
"""

import csv
import html
import io
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sequence.league.records import pictures
from sequence.league.records.journal import Record, write_atomically
from sequence.league.records.ratings import Rating, ratings
from sequence.league.records.standing import Standing
from tictactoe.games.play import Match

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.table import Table

WIDTH = 140  # width in characters of a table that is not for a terminal


TIMES = ("mean", "p99", "first")
HEADINGS = (
    "#",
    "agent",
    "rating",
    "W-T-L",
    "score (95 %)",
    "mean s",
    "p99 s",
    "warnings",
    "forfeits",
)
NARROW = {
    "mean s": "mean\ns",
    "p99 s": "p99\ns",
    "warnings": "warn-\nings",
    "forfeits": "for-\nfeits",
}  # short, so that a table with short names fits into 80 characters


@dataclass(frozen=True, repr=False)
class Results:
    """A finished league: the names of its agents, the records of its games and its seed."""

    agents: tuple[str, ...]
    records: tuple[Record, ...]
    seed: int

    @cached_property
    def pairings(self) -> dict[tuple[str, str], Match]:
        """The match of each pair, from the view of the pair's first agent."""
        return {
            pair: _match(self._games[frozenset(pair)], pair[0])
            for pair in combinations(self.agents, 2)
        }

    @cached_property
    def _games(self) -> dict[frozenset[str], list[Record]]:
        """The games of each pair."""
        games: dict[frozenset[str], list[Record]] = {
            frozenset(pair): [] for pair in combinations(self.agents, 2)
        }
        for record in self.records:
            games[frozenset(record.agents)].append(record)
        return games

    @cached_property
    def ratings(self) -> dict[str, Rating]:
        """The rating of each agent with its 95 % interval; see `sequence.league.records.ratings`."""
        return ratings(self.agents, self.pairings)

    @cached_property
    def rows(self) -> tuple[Standing, ...]:
        """A row for each agent, the best rating first."""
        order = sorted(self.agents, key=lambda agent: -self.ratings[agent].elo)
        return tuple(self._row(rank, agent) for rank, agent in enumerate(order, start=1))

    @property
    def warnings(self) -> tuple[str, ...]:
        """All warnings, one sentence each."""
        return tuple(
            f"deal {record.deal} ({' - '.join(record.agents)}), action {warning.action}: "
            f"{record.agents[warning.player]} {warning.sentence}"
            for record in self.records
            for warning in record.warnings
        )

    def table(self) -> "Table":
        """The table for a terminal, made by rich."""
        from rich import box
        from rich.table import Table
        from rich.text import Text

        table = Table(
            caption=self._caption, box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 0, 0, 1)
        )
        for heading in HEADINGS:
            table.add_column(
                NARROW.get(heading, heading), justify="left" if heading == "agent" else "right"
            )
        for row in self.rows:
            table.add_row(*(Text(cell) for cell in _cells(row)))
        return table

    def plot(self) -> "Figure":
        """The ratings with their intervals, as a matplotlib figure."""
        return pictures.rating_plot(self.rows)

    def heat_map(self) -> "Figure":
        """The score of each agent against each other agent, as a matplotlib figure."""
        return pictures.heat_map([row.agent for row in self.rows], self.pairings)

    def as_csv(self) -> str:
        """The table without the times, as comma-separated values with a header."""
        return _csv(_timeless(row) for row in self.rows)

    def times_as_csv(self) -> str:
        """The times of each agent in seconds, as comma-separated values with a header."""
        return _csv(
            {"agent": row.agent, **{name: getattr(row, name) for name in TIMES}}
            for row in self.rows
        )

    def as_json(self) -> str:
        """The table without the times, with the pairings, the games and the warnings, as JSON."""
        plain = {
            "table": [_timeless(row) for row in self.rows],
            "pairings": [
                {"agents": pair, "wins": match.wins, "ties": match.draws, "losses": match.losses}
                for pair, match in self.pairings.items()
            ],
            "games": [
                {
                    "deal": record.deal,
                    "agents": record.agents,
                    "winner": record.winner,
                    "forfeit": record.forfeit,
                    "sequences": record.sequences,
                    "actions": record.actions,
                }
                for record in self.records
            ],
            "warnings": self.warnings,
        }
        return json.dumps(plain, indent=1) + "\n"

    def write(self, folder: Path) -> None:
        """Write table.csv, times.csv, results.json and the pictures into an existing folder."""
        write_atomically(folder / "table.csv", self.as_csv())
        write_atomically(folder / "times.csv", self.times_as_csv())
        write_atomically(folder / "results.json", self.as_json())
        pictures.save(self.plot(), folder / "ratings")
        pictures.save(self.heat_map(), folder / "pairings")

    def __str__(self) -> str:
        from rich.console import Console

        text = io.StringIO()
        Console(file=text, width=WIDTH).print(self.table())
        return text.getvalue().rstrip("\n")

    def __repr__(self) -> str:
        return f"<Results of {len(self.records)} games between {', '.join(self.agents)}>"

    def _repr_html_(self) -> str:
        def line(tag: str, cells: Sequence[str]) -> str:
            return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells)

        rows = "".join(line("td", _cells(row)) for row in self.rows)
        return (
            f"<table><caption>{html.escape(self._caption)}</caption><thead>"
            f"{line('th', HEADINGS)}</thead><tbody>{rows}</tbody></table>"
        )

    @property
    def _caption(self) -> str:
        return (
            f"{len(self.records)} games; ratings are Elo points above the league's average, "
            "± 95 % interval"
        )

    def _row(self, rank: int, agent: str) -> Standing:
        mine = [record for pair, games in self._games.items() if agent in pair for record in games]
        match, (elo, margin) = _match(mine, agent), self.ratings[agent]
        seats = [record.agents.index(agent) for record in mine]
        times = [record.seconds[seat] for record, seat in zip(mine, seats, strict=True)]
        later = sorted(second for game in times for second in game[1:])
        low, high = match.interval
        return Standing(
            rank,
            agent,
            round(elo, 1),
            round(margin, 1),
            match.wins,
            match.draws,
            match.losses,
            round(match.score, 4),
            round(low, 4),
            round(high, 4),
            warnings=sum(
                warning.player == seat
                for record, seat in zip(mine, seats, strict=True)
                for warning in record.warnings
            ),
            forfeits=sum(record.forfeit == seat for record, seat in zip(mine, seats, strict=True)),
            mean=round(sum(later) / len(later), 6) if later else None,
            p99=later[math.ceil(0.99 * len(later)) - 1] if later else None,
            first=max((game[0] for game in times if game), default=0.0),
        )


def _match(records: Sequence[Record], agent: str) -> Match:
    wins = sum(
        record.winner is not None and record.agents[record.winner] == agent for record in records
    )
    ties = sum(record.winner is None for record in records)
    return Match(wins, ties, len(records) - wins - ties)


def _timeless(row: Standing) -> dict[str, Any]:
    return {key: value for key, value in row._asdict().items() if key not in TIMES}


def _cells(row: Standing) -> tuple[str, ...]:
    return (
        str(row.rank),
        row.agent,
        f"{row.rating:+.0f} ± {row.margin:.0f}",
        f"{row.wins}-{row.ties}-{row.losses}",
        f"{row.score:.2f} ({row.low:.2f} to {row.high:.2f})",
        _seconds(row.mean),
        _seconds(row.p99),
        str(row.warnings),
        str(row.forfeits),
    )


def _seconds(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _csv(rows: Iterable[Mapping[str, Any]]) -> str:
    lines, text = list(rows), io.StringIO()
    writer = csv.DictWriter(text, list(lines[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    return text.getvalue()
