"""The league on the command line: `python -m sequence.league --help`."""

import argparse
import signal
import sys
from contextlib import nullcontext
from pathlib import Path

from sequence.board.rules import RULE_SETS
from sequence.league.cluster import executor
from sequence.league.game import Limits
from sequence.league.players import specs as agents
from sequence.league.players.process import ProcessPlayer
from sequence.league.players.specs import LeagueError
from sequence.league.players.trusted import InProcessPlayer
from sequence.league.progress import print_line
from sequence.league.schedule import league

DEFAULTS = Limits()
MAX_WARNINGS = 10  # number of warnings to print
DESCRIPTION = """Play a round robin of Sequence agents: every pair plays each deal from both seats.

Agents are
""" + (agents.__doc__ or "").partition("\n\n")[2]
EPILOG = """An agent that is late, raises an error or plays an illegal action gets a warning, and a
random legal action is played instead; the last warning forfeits the game. The folder --out gets
table.csv, times.csv, results.json, the pictures ratings and pairings (png, svg), a replay of each
game, and games.jsonl, from which the same command continues after a stop, or with more deals.

In a competition leave --seed out: an agent that guesses the seed knows all the cards. The seed that
is drawn instead is written to settings.json in the folder --out. An agent's process contains
accidents, not spies: it runs as the same user and can read everything that this user can read,
including settings.json and a seed on the command line.

example: python -m sequence.league Random Greedy mine=my_agent.py --deals 10 --out build/league
"""


def parser() -> argparse.ArgumentParser:
    """The parser of the command line."""
    command_line = argparse.ArgumentParser(
        prog="python -m sequence.league",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = command_line.add_argument
    add("agents", nargs="+", metavar="AGENT", help="two or more, see above")
    add("--deals", type=int, default=10, help="deals of each pair, each played twice (%(default)s)")
    add(
        "--seed",
        type=int,
        help="decides the deals and all chance (default: that of --out, or a new one, printed)",
    )
    add("--out", type=Path, metavar="DIR", help="folder for results, replays and resuming")
    add("--rules", choices=sorted(RULE_SETS), default="draft", help="the rule set (%(default)s)")
    add(
        "--jobs",
        type=int,
        default=1,
        help="games side by side, best as many as there are cores (%(default)s)",
    )
    add(
        "--scheduler",
        metavar="ADDRESS",
        help="a Dask scheduler whose workers play the games, like tcp://host:8786",
    )
    add(
        "--first",
        type=float,
        default=DEFAULTS.first,
        metavar="SECONDS",
        help="computing time for a player's first action, loading included (%(default)s)",
    )
    add(
        "--action",
        type=float,
        default=DEFAULTS.action,
        metavar="SECONDS",
        help="computing time for every other action (%(default)s)",
    )
    add(
        "--warnings",
        type=int,
        default=DEFAULTS.warnings,
        help="number of the warning that forfeits a game (%(default)s)",
    )
    add(
        "--memory",
        type=int,
        default=DEFAULTS.memory,
        metavar="MB",
        help="address space of an agent's process (%(default)s; Linux only)",
    )
    add(
        "--cpu",
        type=int,
        default=DEFAULTS.cpu,
        metavar="SECONDS",
        help="CPU time of an agent in one game (%(default)s; Linux only)",
    )
    add(
        "--trusted",
        action="store_true",
        help="run the agents in this process: fast, but nothing stops one that hangs or cheats",
    )
    return command_line


def main(arguments: list[str] | None = None) -> int:
    """Play the league and print its table; returns the exit status, 2 for bad input."""
    options = vars(parser().parse_args(arguments))
    is_drawn = options["seed"] is None
    options["rules"] = RULE_SETS[options["rules"]]
    options["transport"] = InProcessPlayer if options.pop("trusted") else ProcessPlayer
    scheduler = options.pop("scheduler")
    try:
        if hasattr(signal, "pthread_sigmask"):  # run.py blocks Ctrl-C until this point
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        with executor(scheduler) if scheduler else nullcontext(options["jobs"]) as jobs:
            results = league(**options | {"jobs": jobs})
    except LeagueError as error:
        print_line(f"league: {error}")
        return 2
    except KeyboardInterrupt:
        print_line("league: stopped; with --out, the same command continues from here")
        return 130
    if sys.stdout.isatty():
        from rich import print as rich_print

        rich_print(results.table())
    else:
        print(results)
    if is_drawn:
        print_line(f"league: seed {results.seed}")
    for sentence in results.warnings[:MAX_WARNINGS]:
        print_line(f"warning: {sentence}")
    if len(results.warnings) > MAX_WARNINGS:
        print_line(
            f"league: and {len(results.warnings) - MAX_WARNINGS} more warnings, see results.json"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
