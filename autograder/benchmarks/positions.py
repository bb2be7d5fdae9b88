"""Positions: what twenty seeds give, for every study; takes hours.

`autograder positions` is to find a small set that sees all mutants whatever the seed is. Named
mutants must lose all that their tables list; of the machine-made ones those are equivalent that
no present position sees, as `doctor --all` proves. `--size` says how many seeds. What each seed
gave is kept in `drawn/`, and is not drawn again until the study, its mutants or the
command have changed; docs/positions.md is made of it.
"""

import json
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
PAGE = Path(__file__).parents[2] / "docs" / "positions.md"
KEPT = Path(__file__).parent / "drawn"  # with the staff: names of mutants show lines of answers
HEAD = """# Positions from any seed

`autograder positions STUDY --seed S` draws new hidden positions, as an instructor does each year.
What so many seeds gave, of each study that has been drawn so far:

* **mutants**, made by hand and by machine, and how many of them are **equivalent** to the answer;
* what a drawn set did **not see** of the others, and of the losses that are listed by name, and
  equivalent ones that a fresh position **told apart** after all;
* how many mutants **one position alone** sees;
* how many **positions** a set has, and how many of them are **old** ones, where fresh ones would
  not do.

Each figure is that of the worst seed, but for the time, which is the mean. `python3 run.py bench
positions` writes this page, from what it keeps in autograder/benchmarks/drawn/.

"""
COLUMNS = (
    "study",
    "seeds",
    "mutants",
    "equivalent",
    "not seen",
    "told apart",
    "one alone",
    "positions",
    "old",
    "s a seed",
)


def run(size: int = SEEDS) -> list[Result]:
    """Draw the positions of every study from so many seeds."""
    found: list[Result] = []
    for name in studies():
        if any(check.ask not in MATCHES for check in load_study(name).checks.values()):
            found += of_study(name, range(1, size + 1))
            PAGE.write_text(page(), "utf-8")
    return found


def page() -> str:
    """The page, of what is kept."""
    rows = [_row(path) for path in sorted(KEPT.glob("*.jsonl"), key=lambda path: path.name)]
    table = [COLUMNS, ["-", *["-:"] * (len(COLUMNS) - 1)], *filter(None, rows)]
    return HEAD + "".join(f"| {' | '.join(map(str, row))} |\n" for row in table)


def _row(path: Path) -> list | None:
    """A study's row of the table, if there are sets that were drawn."""
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    same, *drawn = [value for _, _, value in lines]
    if not drawn:
        return None
    most = {what: round(max(choice[what] for choice in drawn)) for what in drawn[0]}
    least, seconds = (
        min(choice["cases"] for choice in drawn),
        sum(choice["seconds"] for choice in drawn) / len(drawn),
    )
    return [
        path.stem,
        len(drawn),
        most["mutants"],
        len(same),
        most["missing"],
        most["alive"],
        most["once"],
        f"{least} to {most['cases']}",
        most["old"],
        round(seconds),
    ]


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
        Result(
            f"{name}, mutants and losses that a set does not show, at most",
            most("missing"),
            "of them",
            "== 0",
        ),
        Result(
            f"{name}, equivalent mutants that a fresh case tells apart, at most",
            most("alive"),
            "mutants",
            "== 0",
        ),
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
    """What was drawn for a study so far."""
    study = load_study(name)
    return Journal(
        name,
        [
            answer_path(study).parent,
            Path(doctor.__file__).parent,
            Path(mutants.__file__).parent,
            verdicts.cases_file(study),
            study.table,
            Path(questions.__file__).parent,
        ],
        folder=KEPT,
    )
