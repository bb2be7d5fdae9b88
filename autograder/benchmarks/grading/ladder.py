"""Study 10: the effect of chance on the marks of the ladder.

Each agent climbs the graded ladder once for every secret, as it would in twenty different courses.
The agents run in this process without a clock, which does not change their choices. They are the
reference, the agents of studies 6 to 8, and two built-in ones that are too weak. The marks of
disguised built-in players are measured once, in the sandbox. An interrupted run continues with the
stored measurements.
"""

import statistics
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import sequence
from autograder.benchmarks import Result
from autograder.benchmarks.agents.agents import numbered
from autograder.benchmarks.support.journal import Journal
from autograder.studies import hidden_cases
from autograder.workspace import answer_path, answers_folder, run_checks
from course.checks import Check, load_study
from course.checks.marking.outcome import mark
from course.checks.matches import match
from course.checks.matches.match import AGENT, play_ladder
from course.checks.replies import Replies
from sequence.league.players.specs import Spec, parse
from sequence.league.players.trusted import InProcessPlayer

SECRETS = 20
NO_LIMIT = 86_400.0  # seconds
ROOT = Path(__file__).parents[3]
WRAPPED = "from sequence import {0}\n\n\nclass MyAgent({0}):\n    pass\n"
DISGUISED = {f"{name}, wrapped": WRAPPED.format(name) for name in sequence.LAZY_PLAYERS} | {
    f"{name}, copied": f"{module.replace('.', '/')}.py"
    for name, module in sequence.LAZY_PLAYERS.items()
}


def run() -> list[Result]:
    """Climb the ladder with every agent and every secret."""
    study = hidden_cases.hidden_study("study10")
    check = study.checks["ladder"]
    measured: list[Result] = []
    for name, agent in agents().items():
        measured += results(name, marks(check, name, agent), check)
    _journal().close()
    for name, text in DISGUISED.items():
        source = text if "\n" in text else _renamed(name.partition(",")[0], ROOT / text)
        earned = points(check, run_checks(study, source)["ladder"])
        measured.append(Result(name, earned, "points", f"<= {check.max_points / 10}"))
    return measured


def agents() -> Mapping[str, Spec]:
    """Return the agents that climb, by name."""

    def agent(study: str, name: str) -> Spec:
        return parse(f"{answer_path(load_study(study))}:{name}")

    return {
        "reference": agent("study10", AGENT), "Random": parse("Random"),
        "docs/my_agent.py": parse(f"{ROOT}/docs/my_agent.py:{AGENT}"),
        numbered("SARSA", "sarsa"): agent("sarsa", "SarsaAgent"),
        numbered("Evaluator", "evaluator"): agent("evaluator", "Evaluator"),
        numbered("LookAhead", "lookahead"): agent("lookahead", "LookAhead(cards='known')"),
    }  # fmt: skip


def marks(check: Check, name: str, agent: Spec, secrets: int = SECRETS) -> list[float]:
    """Return the points that the agent earns with each of the secrets."""
    journal, earned = _journal(), []

    def climb(number: int) -> float:
        return points(
            check,
            play_ladder(
                check,
                partial(InProcessPlayer, agent),
                NO_LIMIT,
                answers_folder(load_study("study10")),
                secret=f"bench {number}",
            ),
        )

    for number in range(secrets):
        earned.append(journal.measured((name, number), partial(climb, number)))
        print(
            f"\r{name}: {' '.join(f'{points:g}' for points in earned)}",
            end="",
            file=sys.stderr,
            flush=True,
        )
    print(file=sys.stderr)
    return earned


def _journal() -> Journal:
    """Return the climbs of an interrupted run of the same agents."""
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
    """Return the points for these replies."""
    return mark(check, replies, [{"strength": 1.0, "legal": True}] * len(check.cases), []).earned


def results(name: str, marks: list[float], check: Check) -> list[Result]:
    """Return the spread of an agent's marks, with the targets."""
    max_points = check.max_points
    lowest = f">= {max_points}" if name == "reference" else None
    highest = f"<= {max_points / 10}" if name in ("Random", "docs/my_agent.py") else None
    return [
        Result(f"{name}, mean", statistics.mean(marks), "points"),
        Result(f"{name}, lowest", min(marks), "points", lowest),
        Result(f"{name}, highest", max(marks), "points", highest),
        Result(
            f"{name}, standard deviation",
            100 * statistics.pstdev(marks) / max_points,
            "% of the points",
            "<= 3",
        ),
    ]


def _renamed(name: str, path: Path) -> str:
    return path.read_text("utf-8").replace(f"class {name}", f"class {AGENT}")
