"""Keeps a league's folder while it is played: its settings, and a line and a replay per game.

    settings.json   settings that must be the same when the league is resumed
    games.jsonl     a line for each finished game, written immediately, with its times
    replays/        the games themselves

A league that was stopped at any time continues from these files; an incomplete last line is
dropped, and its game is played again. An agent that knows the seed in settings.json knows all the
cards, so in a competition, keep the folder where agents cannot read it.
"""

import json
import os
import secrets
import threading
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sequence.league.game import GameWarning
from sequence.league.players.specs import LeagueError

SEED_BITS = 128  # bits of a new seed; too many to guess
SETTINGS, GAMES, REPLAYS = "settings.json", "games.jsonl", "replays"

Key = tuple[int, tuple[str, ...]]  # key of a game in its league: the deal and the agents


@dataclass(frozen=True)
class Record:
    """The record of a finished game: everything except its states.

    `agents` contains the names in the order of their turns. `winner` is the number of a side, or
    None for a tie; `forfeit` is the number of a player, or None. `seconds` contains the thinking
    times by player.
    """

    deal: int
    agents: tuple[str, ...]
    winner: int | None
    forfeit: int | None
    sequences: tuple[int, ...]
    actions: int
    warnings: tuple[GameWarning, ...]
    seconds: tuple[tuple[float, ...], ...]

    @property
    def key(self) -> Key:
        """The key that identifies the game in the league."""
        return self.deal, self.agents

    @classmethod
    def from_line(cls, line: bytes) -> "Record":
        """The record in a line of the journal; raises ValueError for any other bytes."""
        try:
            plain = json.loads(line.decode())
            record = cls(
                **plain
                | {
                    "agents": tuple(plain["agents"]),
                    "sequences": tuple(plain["sequences"]),
                    "warnings": tuple(GameWarning(*warning) for warning in plain["warnings"]),
                    "seconds": tuple(tuple(times) for times in plain["seconds"]),
                }
            )
            fits = record._is_valid()
        except (TypeError, KeyError, AttributeError) as error:
            raise ValueError(f"this is not the record of a game: {line!r:.80}") from error
        if not fits:
            raise ValueError(f"this is not the record of a game: {line!r:.80}")
        return record

    def _is_valid(self) -> bool:
        """Whether all fields have valid values."""
        numbers = (self.deal, self.actions, *self.sequences)
        return (
            all(type(number) is int and number >= 0 for number in numbers)
            and all(type(name) is str for name in self.agents)
            and len(self.agents) == len(self.sequences) == len(self.seconds) == 2
            and {self.winner, self.forfeit} <= {0, 1, None}
            and all(
                warning.player in (0, 1)
                and type(warning.action) is int
                and type(warning.sentence) is str
                for warning in self.warnings
            )
            and all(type(time) in (int, float) for times in self.seconds for time in times)
        )


class Journal:
    """The finished games of a league, in a folder or, if the folder is None, only in memory.

    A seed of None in the settings means the seed of the league in the folder or, if there is none,
    a new seed; the attribute `seed` is the seed to play with. A larger number of deals than in the
    folder does not count as a difference in settings: the additional deals are played.

    Raises `LeagueError` for a folder that contains a damaged league or one with other settings, or
    that cannot be written to.
    """

    def __init__(self, folder: Path | None, settings: dict[str, Any]) -> None:
        self._folder = folder
        self._records: dict[Key, Record] = {}
        self._lock = threading.Lock()
        self.seed = secrets.randbits(SEED_BITS) if settings["seed"] is None else settings["seed"]
        if folder is None:
            return
        try:
            (folder / REPLAYS).mkdir(parents=True, exist_ok=True)
            has_games = (folder / GAMES).exists()
            if has_games or (folder / SETTINGS).exists():
                self._check_settings(folder, settings)
            if has_games:
                self._resume(folder / GAMES)
            write_atomically(
                folder / SETTINGS, json.dumps(settings | {"seed": self.seed}, indent=2) + "\n"
            )
        except OSError as error:
            raise LeagueError(f"{folder} cannot be a league's folder: {error.strerror}") from error

    def __contains__(self, key: Key) -> bool:
        return key in self._records

    def __len__(self) -> int:
        return len(self._records)

    @property
    def records(self) -> tuple[Record, ...]:
        """All finished games, sorted by deal and agents."""
        return tuple(self._records[key] for key in sorted(self._records))

    def add(self, record: Record, replay: str, name: str) -> None:
        """Store a finished game; `name` is the file name of its replay, without the suffix."""
        with self._lock:
            if self._folder is not None:
                try:
                    self._write(self._folder, record, replay, name)
                except OSError as error:
                    raise LeagueError(
                        f"a game cannot be written to {self._folder}: {error.strerror}"
                    ) from error
            self._records[record.key] = record

    def _write(self, folder: Path, record: Record, replay: str, name: str) -> None:
        (folder / REPLAYS / f"{name}.txt").write_text(replay, encoding="utf-8")
        with (folder / GAMES).open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(record)) + "\n")

    def _check_settings(self, folder: Path, settings: dict[str, Any]) -> None:
        """Adopt the seed of the league in the folder if the other settings agree."""
        try:
            before = json.loads((folder / SETTINGS).read_text(encoding="utf-8"))
            deals, seed = int(before["deals"]), int(before["seed"])
        except (KeyError, TypeError, ValueError) as error:
            raise LeagueError(
                f"{folder / SETTINGS} does not contain a league's settings"
            ) from error
        if settings["seed"] is None:
            self.seed = seed
        wanted = settings | {"seed": self.seed}
        unlike = [key for key in wanted if before.get(key) != wanted[key]]
        if deals < settings["deals"]:
            unlike.remove("deals")
        if unlike:
            raise LeagueError(
                f"{folder} contains a league with other settings ({', '.join(unlike)}): use "
                "another folder"
            )

    def _resume(self, path: Path) -> None:
        """Read the games and drop an incomplete last line."""
        lines = path.read_bytes().splitlines(True)
        if lines and not lines[-1].endswith(b"\n"):  # the league was stopped while writing it
            lines.pop()
            os.truncate(path, sum(map(len, lines)))
        for number, line in enumerate(lines, start=1):
            try:
                record = Record.from_line(line)
            except ValueError as error:
                raise LeagueError(f"line {number} of {path} is not a game") from error
            self._records[record.key] = record


def write_atomically(path: Path, text: str) -> None:
    """Write a file atomically."""
    part = path.with_name(path.name + ".part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)
