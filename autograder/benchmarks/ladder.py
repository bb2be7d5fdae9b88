"""Study 10: how much luck is in the marks of the ladder.

Each agent climbs the graded ladder once for every secret, as in twenty courses. Agents are objects
in this process and play without a clock, which does not change what they play; they are the
reference, the agents of studies 6 to 8, and two given ones that are not recognised but too weak.
What is left of a given player behind the walls is measured on the real way, once. The climbs of a
run that was interrupted are not made again.
"""

import statistics
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import sequence
from autograder import verdicts
from autograder.benchmarks import Result
from autograder.benchmarks._journal import Journal
from autograder.benchmarks.agents import numbered
from autograder.workspace import answer_path, answers_folder, ask_all
from course.probes import Check, load_study, match
from course.probes.match import AGENT, play_ladder
from course.probes.outcome import mark
from course.probes.replies import Replies
from sequence.league.players.specs import Spec, parse
from sequence.league.players.trusted import TrustedPlayer

SECRETS = 20
DAY = 86_400.0  # seconds: here nobody is stopped
ROOT = Path(__file__).parents[2]
WRAPPED = "from sequence import {0}\n\n\nclass MyAgent({0}):\n    pass\n"
GIVEN = {f"{name}, wrapped": WRAPPED.format(name) for name in sequence.GIVEN} | {
    f"{name}, copied": f"{module.replace('.', '/')}.py" for name, module in sequence.GIVEN.items()
}


def run() -> list[Result]:
    """Climb the ladder with every agent and every secret."""
    study = verdicts.hidden_study("study10")
    check = study.checks["ladder"]
    found: list[Result] = []
    for name, agent in agents().items():
        found += results(name, marks(check, name, agent), check)
    _journal().close()
    for name, text in GIVEN.items():
        source = text if "\n" in text else _renamed(name.partition(",")[0], ROOT / text)
        earned = points(check, ask_all(study, source)["ladder"])
        found.append(Result(name, earned, "points", f"<= {check.max_points / 10}"))
    return found


def agents() -> Mapping[str, Spec]:
    """The agents that climb, by name."""

    def of(study: str, what: str) -> Spec:
        return parse(f"{answer_path(load_study(study))}:{what}")

    return {
        "reference": of("study10", AGENT), "Random": parse("Random"),
        "docs/my_agent.py": parse(f"{ROOT}/docs/my_agent.py:{AGENT}"),
        numbered("SARSA", "sarsa"): of("sarsa", "SarsaAgent"),
        numbered("Evaluator", "evaluator"): of("evaluator", "Evaluator"),
        numbered("LookAhead", "lookahead"): of("lookahead", "LookAhead(cards='known')"),
    }  # fmt: skip


def marks(check: Check, name: str, agent: Spec, secrets: int = SECRETS) -> list[float]:
    """The points that the agent earns with each of the secrets."""
    journal, found = _journal(), []

    def climb(number: int) -> float:
        return points(
            check,
            play_ladder(
                check,
                partial(TrustedPlayer, agent),
                DAY,
                answers_folder(load_study("study10")),
                secret=f"bench {number}",
            ),
        )

    for number in range(secrets):
        found.append(journal.measured((name, number), partial(climb, number)))
        print(
            f"\r{name}: {' '.join(f'{earned:g}' for earned in found)}",
            end="",
            file=sys.stderr,
            flush=True,
        )
    print(file=sys.stderr)
    return found


def _journal() -> Journal:
    """The climbs of an interrupted run of the same agents."""
    return Journal(
        "ladder",
        [
            Path(sequence.__file__).parent,
            Path(match.__file__),
            answers_folder(load_study("study10")),
            ROOT / "docs/my_agent.py",
        ],
    )


def points(check: Check, replies: Replies) -> float:
    """What these replies earn."""
    return mark(check, replies, [{"strength": 1.0, "legal": True}] * len(check.cases), []).earned


def results(name: str, found: list[float], check: Check) -> list[Result]:
    """The spread of an agent's marks, with the targets."""
    most = check.max_points
    lowest = f">= {most}" if name == "reference" else None
    highest = f"<= {most / 10}" if name in ("Random", "docs/my_agent.py") else None
    return [
        Result(f"{name}, mean", statistics.mean(found), "points"),
        Result(f"{name}, lowest", min(found), "points", lowest),
        Result(f"{name}, highest", max(found), "points", highest),
        Result(
            f"{name}, standard deviation",
            100 * statistics.pstdev(found) / most,
            "% of the points",
            "<= 3",
        ),
    ]


def _renamed(name: str, path: Path) -> str:
    return path.read_text("utf-8").replace(f"class {name}", f"class {AGENT}")
