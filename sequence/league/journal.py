"""The folder of a league while it is played: its settings, a line and a replay for each game.

    settings.json   what must be the same when the league is taken up again
    games.jsonl     a line for each finished game, written at once, with its times
    replays/        the games themselves

A league that was stopped at any moment goes on from these; a last line that was cut off is dropped
and its game played again.
"""

import json
import threading
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sequence.league.agents import LeagueError
from sequence.league.game import Warned

SETTINGS, GAMES, REPLAYS = "settings.json", "games.jsonl", "replays"


@dataclass(frozen=True)
class Record:
    """What is kept of a game: everything but its states.

    `agents` are the names in the order of their turns, `winner` is the number of a side or None for
    a tie, `forfeit` that of a player or None; `seconds` are the thinking times by player.
    """

    deal: int
    agents: tuple[str, ...]
    winner: int | None
    forfeit: int | None
    sequences: tuple[int, ...]
    actions: int
    warnings: tuple[Warned, ...]
    seconds: tuple[tuple[float, ...], ...]

    @property
    def key(self) -> tuple:
        """Which game of the league it is."""
        return self.deal, self.agents

    @classmethod
    def from_line(cls, line: str) -> "Record":
        """The record of a line of the journal; raises ValueError for any other text."""
        try:
            plain = json.loads(line)
            return cls(**plain | {
                "agents": tuple(plain["agents"]), "sequences": tuple(plain["sequences"]),
                "warnings": tuple(Warned(*warned) for warned in plain["warnings"]),
                "seconds": tuple(tuple(times) for times in plain["seconds"])})
        except (TypeError, KeyError, AttributeError) as error:
            raise ValueError(f"no record of a game: {line!r:.80}") from error


class Journal:
    """The finished games of a league, in a folder or, where that is None, only in memory.

    Raises `LeagueError` for a folder that holds a league with other settings, or a broken one.
    """

    def __init__(self, folder: Path | None, settings: dict[str, Any]) -> None:
        self._folder = folder
        self._records: dict[tuple, Record] = {}
        self._lock = threading.Lock()
        if folder is None:
            return
        try:
            (folder / REPLAYS).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise LeagueError(f"{folder} cannot be a league's folder: {error.strerror}") from error
        if (folder / SETTINGS).exists():
            self._take_up(folder, settings)
        else:
            write_whole(folder / SETTINGS, json.dumps(settings, indent=2) + "\n")

    def __contains__(self, key: tuple) -> bool:
        return key in self._records

    def __len__(self) -> int:
        return len(self._records)

    @property
    def records(self) -> tuple[Record, ...]:
        """All finished games, by deal and agents, in whatever order they were played."""
        return tuple(self._records[key] for key in sorted(self._records))

    def add(self, record: Record, replay: str, name: str) -> None:
        """Keep a finished game; `name` is that of its replay."""
        with self._lock:
            if self._folder is not None:
                (self._folder / REPLAYS / f"{name}.txt").write_text(replay, encoding="utf-8")
                with (self._folder / GAMES).open("a", encoding="utf-8") as file:
                    file.write(json.dumps(asdict(record)) + "\n")
            self._records[record.key] = record

    def _take_up(self, folder: Path, settings: dict[str, Any]) -> None:
        try:
            before = json.loads((folder / SETTINGS).read_text(encoding="utf-8"))
        except ValueError as error:
            raise LeagueError(f"{folder / SETTINGS} is not a league's") from error
        if before != settings:
            unlike = [key for key in settings if before.get(key) != settings[key]]
            raise LeagueError(f"{folder} holds a league with other settings "
                              f"({', '.join(unlike)}): give another folder")
        path = folder / GAMES
        lines = path.read_text(encoding="utf-8").splitlines(True) if path.exists() else []
        if lines and not lines[-1].endswith("\n"):  # the league was stopped while it was written
            lines.pop()
            write_whole(path, "".join(lines))
        for number, line in enumerate(lines, start=1):
            try:
                record = Record.from_line(line)
            except ValueError as error:
                raise LeagueError(f"line {number} of {path} is not a game") from error
            self._records[record.key] = record


def write_whole(path: Path, text: str) -> None:
    """Write a file so that it is never seen half written."""
    part = path.with_name(path.name + ".part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)
