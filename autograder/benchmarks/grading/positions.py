"""Positions: hidden positions drawn from twenty seeds (takes hours).

For any seed, the command must find a small set of positions that detects all mutants. Named mutants
must lose all points that their tables list; a generated mutant is equivalent if no current position
detects it, as `doctor --all` proves. `--size` is the number of seeds. The results of each seed are
stored in `drawn/` and measured again only if the study, its mutants or the command change;
docs/positions.md is generated from them.
"""

import json
import sys
import time
from functools import partial
from pathlib import Path

from autograder import doctor
from autograder.benchmarks import Result
from autograder.benchmarks.support.journal import Journal
from autograder.doctor.case_selection import choose_cases, equivalent_mutants
from autograder.studies import hidden_cases, mutants
from autograder.workspace import answer_path
from course.checks import load_study, questions, studies
from course.checks.questions import MATCHES

SEEDS = 20
PAGE = Path(__file__).parents[3] / "docs" / "positions.md"
STORED = (
    Path(__file__).parent / "drawn"
)  # for staff only: names of mutants contain lines of answers
HEAD = """# Positions from any seed

`autograder draw-positions STUDY --seed S` draws new hidden positions, as an instructor does each year.
The table shows the results of several seeds for each study:

* **mutants**: the number of hand-written and generated mutants, and how many are **equivalent** to
  the answer;
* **not detected**: other mutants, and losses listed for named mutants, that a set did not detect;
  **not equivalent**: mutants that a new position distinguished from the answer after all;
* **one position**: mutants that only one position detects;
* **positions**: the size of a set, and the number of **old** positions, which are reused if new ones
  are not sufficient.

Each figure is the worst over all seeds, except the time, which is the mean. `python3 run.py bench
positions` writes this page from the results in autograder/benchmarks/grading/drawn/.

"""
COLUMNS = (
    "study",
    "seeds",
    "mutants",
    "equivalent",
    "not detected",
    "not equivalent",
    "one position",
    "positions",
    "old",
    "s per seed",
)


def run(size: int = SEEDS) -> list[Result]:
    """Draw the positions of every study from this number of seeds."""
    measured: list[Result] = []
    for name in studies():
        if any(check.ask not in MATCHES for check in load_study(name).checks.values()):
            measured += results_of_study(name, range(1, size + 1))
            PAGE.write_text(page(), "utf-8")
    return measured


def page() -> str:
    """Return the page, generated from the stored results."""
    rows = [_row(path) for path in sorted(STORED.glob("*.jsonl"), key=lambda path: path.name)]
    table = [COLUMNS, ["-", *["-:"] * (len(COLUMNS) - 1)], *filter(None, rows)]
    return HEAD + "".join(f"| {' | '.join(map(str, row))} |\n" for row in table)


def _row(path: Path) -> list | None:
    """Return a study's row of the table; None if no set was drawn."""
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    same, *drawn = [value for _, _, value in lines]
    if not drawn:
        return None
    largest = {what: round(max(choice[what] for choice in drawn)) for what in drawn[0]}
    smallest, seconds = (
        min(choice["cases"] for choice in drawn),
        sum(choice["seconds"] for choice in drawn) / len(drawn),
    )
    return [
        path.stem,
        len(drawn),
        largest["mutants"],
        len(same),
        largest["missing"],
        largest["alive"],
        largest["once"],
        f"{smallest} to {largest['cases']}",
        largest["old"],
        round(seconds),
    ]


def results_of_study(name: str, seeds: range) -> list[Result]:
    """Return the results of all seeds for one study."""
    journal, drawn = _journal(name), []
    same = set(journal.measured(("equivalent",), lambda: sorted(equivalent_mutants(name))))
    for seed in seeds:
        drawn.append(journal.measured((seed,), partial(_drawn, name, seed, same)))
        print(f"{name}: {len(drawn)} of {len(seeds)} seeds", file=sys.stderr)

    def largest(what: str) -> float:
        return max(choice[what] for choice in drawn)

    return [
        Result(f"{name}, mutants", largest("mutants"), "mutants"),
        Result(f"{name}, equivalent ones among them", len(same), "mutants"),
        Result(
            f"{name}, mutants and losses that a set does not detect, at most",
            largest("missing"),
            "of them",
            "== 0",
        ),
        Result(
            f"{name}, equivalent mutants that a new case distinguishes, at most",
            largest("alive"),
            "mutants",
            "== 0",
        ),
        Result(
            f"{name}, mutants that only one position detects, at most", largest("once"), "mutants"
        ),
        Result(f"{name}, cases that are old, at most", largest("old"), "cases"),
        Result(f"{name}, smallest set", min(choice["cases"] for choice in drawn), "cases"),
        Result(f"{name}, largest set", largest("cases"), "cases"),
        Result(f"{name}, one seed", sum(choice["seconds"] for choice in drawn) / len(drawn), "s"),
    ]


def _drawn(name: str, seed: int, same: set[str]) -> dict[str, float]:
    """Return statistics on the set that one seed draws and on the mutants that the set detects."""
    begun, choice = time.monotonic(), choose_cases(name, seed, equivalent=same)
    present = hidden_cases.hidden_study(name).checks
    return {
        "mutants": choice.mutants,
        "missing": len(choice.missing) + len(set(choice.unseen) - same),
        "alive": len(same - set(choice.unseen)),
        "once": len(choice.once),
        "old": sum(
            case in present[chosen.check.name].cases
            for chosen in choice.checks
            for case in chosen.cases
        ),
        "cases": sum(len(chosen.cases) for chosen in choice.checks),
        "seconds": time.monotonic() - begun,
    }


def _journal(name: str) -> Journal:
    """Return the stored results of a study."""
    study = load_study(name)
    return Journal(
        name,
        [
            answer_path(study).parent,
            Path(doctor.__file__).parent,
            Path(mutants.__file__).parent,
            hidden_cases.cases_file(study),
            study.table,
            Path(questions.__file__).parent,
        ],
        folder=STORED,
    )
