"""Positions: what twenty seeds give, for every study; takes hours.

`autograder positions` is to find a small set that sees all mutants whatever the seed is. Named
mutants must lose all that their tables list; of the machine-made ones those that no fresh case
sees count as equivalent.
"""

import sys
import time

from autograder.benchmarks import Result
from autograder.doctor.choose import Choice, choose_cases
from course.probes import load_study, studies
from course.probes.questions import MATCHES

SEEDS = 20


def run() -> list[Result]:
    """Draw the positions of every study from every seed."""
    found: list[Result] = []
    for name in studies():
        if any(check.ask not in MATCHES for check in load_study(name).checks.values()):
            found += of_study(name, range(1, SEEDS + 1))
    return found


def of_study(name: str, seeds: range) -> list[Result]:
    """What the seeds give for one study."""
    choices: list[Choice] = []
    begun = time.monotonic()
    for seed in seeds:
        choices.append(choose_cases(name, seed))
        print(f"{name}: {len(choices)} of {len(seeds)} seeds", file=sys.stderr)
    sizes = [sum(len(chosen.cases) for chosen in choice.checks) for choice in choices]
    return [
        Result(f"{name}, mutants", choices[0].mutants, "mutants"),
        Result(f"{name}, losses of named mutants that a set does not show, at most",
               max(len(choice.missing) for choice in choices), "losses", "== 0"),
        Result(f"{name}, mutants that one position alone sees, at most",
               max(len(choice.once) for choice in choices), "mutants"),
        Result(f"{name}, machine-made mutants that no fresh case sees, at most",
               max(len(choice.unseen) for choice in choices), "mutants"),
        Result(f"{name}, smallest set", min(sizes), "cases"),
        Result(f"{name}, largest set", max(sizes), "cases"),
        Result(f"{name}, one seed", (time.monotonic() - begun) / len(choices), "s"),
    ]
