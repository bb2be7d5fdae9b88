"""Positions: what twenty seeds give, for every study; takes hours.

`autograder positions` is to find a small set that sees all mutants whatever the seed is. Named
mutants must lose all that their tables list; of the machine-made ones those are equivalent that
no present position sees, as `doctor --all` proves. `--size` says how many seeds; what an
interrupted run has drawn is not drawn again.
"""

import sys
import time
from pathlib import Path

from autograder import doctor, mutants, verdicts
from autograder.benchmarks import Result
from autograder.benchmarks._journal import Journal
from autograder.doctor.choose import choose_cases, equivalent_mutants
from autograder.workspace import answer_path
from course.probes import load_study, questions, studies
from course.probes.questions import MATCHES

SEEDS = 20


def run(size: int = SEEDS) -> list[Result]:
    """Draw the positions of every study from so many seeds."""
    found: list[Result] = []
    for name in studies():
        if any(check.ask not in MATCHES for check in load_study(name).checks.values()):
            found += of_study(name, range(1, size + 1))
    for name in studies():
        _journal(name).close()
    return found


def of_study(name: str, seeds: range) -> list[Result]:
    """What the seeds give for one study."""
    journal, drawn = _journal(name), []
    same = set(journal.measured(("equivalent",), lambda: sorted(equivalent_mutants(name))))
    for seed in seeds:
        drawn.append(journal.measured((seed,), lambda seed=seed: _drawn(name, seed, same)))
        print(f"{name}: {len(drawn)} of {len(seeds)} seeds", file=sys.stderr)

    def most(what: str) -> float:
        return max(choice[what] for choice in drawn)

    return [
        Result(f"{name}, mutants", most("mutants"), "mutants"),
        Result(f"{name}, equivalent ones among them", len(same), "mutants"),
        Result(f"{name}, mutants and losses that a set does not show, at most", most("missing"),
               "of them", "== 0"),
        Result(f"{name}, equivalent mutants that a fresh case tells apart, at most",
               most("alive"), "mutants", "== 0"),
        Result(f"{name}, mutants that one position alone sees, at most", most("once"), "mutants"),
        Result(f"{name}, cases that are old, at most", most("old"), "cases"),
        Result(f"{name}, smallest set", min(choice["cases"] for choice in drawn), "cases"),
        Result(f"{name}, largest set", most("cases"), "cases"),
        Result(f"{name}, one seed", sum(choice["seconds"] for choice in drawn) / len(drawn), "s"),
    ]


def _drawn(name: str, seed: int, same: set[str]) -> dict[str, float]:
    """How many mutants a seed's set sees, and how it sees them."""
    begun, choice = time.monotonic(), choose_cases(name, seed, equivalent=same)
    present = verdicts.hidden_study(name).checks
    return {"mutants": choice.mutants,
            "missing": len(choice.missing) + len(set(choice.unseen) - same),
            "alive": len(same - set(choice.unseen)), "once": len(choice.once),
            "old": sum(case in present[chosen.check.name].cases
                       for chosen in choice.checks for case in chosen.cases),
            "cases": sum(len(chosen.cases) for chosen in choice.checks),
            "seconds": time.monotonic() - begun}


def _journal(name: str) -> Journal:
    """What an interrupted run has drawn for a study."""
    study = load_study(name)
    return Journal(f"positions-{name}", [
        answer_path(study).parent, Path(doctor.__file__).parent, Path(mutants.__file__).parent,
        verdicts.cases_file(study), study.table, Path(questions.__file__).parent])
