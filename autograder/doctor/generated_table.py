"""Writes the table of the replies of generated mutants to the hidden checks (`generated_mutants`).

This takes some minutes for a large study, so it is a separate step. It updates only the checks
whose cases, expected replies or answer have changed since the last time.
"""

import inspect
import json
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import chain
from pathlib import Path
from textwrap import dedent

from autograder import workspace
from autograder.code_meaning import meaning
from autograder.doctor.mutant_generator import GeneratedMutant, generate_mutants
from autograder.studies import hidden_cases
from autograder.studies.generated_mutants import (
    GeneratedMutants,
    digest,
    digest_of,
    generated_mutants_file,
    load_generated_mutants,
)
from autograder.workspace.affected_checks import AffectedChecks
from course.checks import Check, Study, load_expected
from course.checks.questions import MATCHES, QUESTIONS
from course.checks.replies import Replies

# The time limit of a mutant, as a multiple of the reference's time, and its minimum in seconds.
MAX_SLOWDOWN, MIN_SECONDS = 20, 2.0
Tick = Callable[[GeneratedMutant], None]


def stale_checks(study: Study) -> list[str]:
    """Return the checks whose part of the table is missing or out of date."""
    made_of = load_generated_mutants(generated_mutants_file(study)).made_of
    return [name for name, now in _made_of(study).items() if made_of.get(name) != now]


def write_generated_mutants(study: Study, progress: Tick = lambda mutant: None) -> Path | None:
    """Update the table of a study; return its path, or None if the table was up to date.

    `progress` is called with each mutant.
    """
    stale = stale_checks(study)
    if not stale:
        return None
    hidden = hidden_cases.hidden_study(study.name)
    hidden = replace(hidden, checks={name: hidden.checks[name] for name in stale})
    old = load_generated_mutants(generated_mutants_file(study))
    kept = [name for name in _made_of(study) if name not in stale]
    replies = {name: _mistakes_by_reply(old, name) for name in kept} | _run_mutants(
        hidden, progress
    )
    mutants = sorted(
        {
            mutant
            for by_reply in replies.values()
            for mutant in chain.from_iterable(by_reply.values())
        }
    )
    number = {mutant: index for index, mutant in enumerate(mutants)}
    made_of = _made_of(study)
    data = {
        "mutants": mutants,
        "made_of": made_of,
        "replies": {
            name: {
                key: sorted(number[mutant] for mutant in replies[name][key])
                for key in sorted(replies[name])
            }
            for name in made_of
        },
    }
    path = generated_mutants_file(study)
    path.write_text(_json(data), "utf-8")
    load_generated_mutants.cache_clear()
    return path


def _mistakes_by_reply(table: GeneratedMutants, check: str) -> dict[str, set[tuple[str, str]]]:
    return {
        key: {table.mutants[number] for number in numbers}
        for key, numbers in table.replies.get(check, {}).items()
    }


def _run_mutants(hidden: Study, progress: Tick) -> dict[str, dict[str, set[tuple[str, str]]]]:
    """Return the mistakes that lead to each wrong reply, by check and digest."""
    answer = workspace.answer_path(hidden).read_text("utf-8")
    expected, _ = load_expected(hidden_cases.expected_file(hidden), hidden.checks.values())
    right = workspace.run_checks(hidden, answer, 60)
    mistakes: dict[str, dict[str, set[tuple[str, str]]]] = {
        name: defaultdict(set) for name in hidden.checks
    }

    affected = AffectedChecks(hidden, answer)

    def run(mutant: GeneratedMutant) -> None:
        affected_checks = affected.checks(mutant.text)
        for name, check in hidden.checks.items():
            if name not in affected_checks:  # the check is not affected, so the replies are right
                continue
            (reply,) = workspace.run_checks(
                hidden,
                mutant.text,
                checks=[name],
                max_seconds=max(MIN_SECONDS, MAX_SLOWDOWN * right[name].seconds),
            ).values()
            if reply.broken or reply.stopped:
                break
            if _is_complete(check, reply):
                key = digest(check, reply.observations, expected[name])
                mistakes[name][key].add((mutant.function, mutant.mistake))
        progress(mutant)

    with ThreadPoolExecutor(workspace.max_parallel()) as pool:
        list(pool.map(run, generate_mutants(answer)))
    for name, check in hidden.checks.items():
        mistakes[name].pop(digest(check, right[name].observations, expected[name]), None)
    return mistakes


def _is_complete(check: Check, reply: Replies) -> bool:
    """Whether no call raised an error. Errors are reported with their line and need no explanation."""
    return all(
        observation is not None and name in observation
        for observation in reply.observations
        for name in check.points
    )


def _made_of(study: Study) -> dict[str, str]:
    """Return, for each check except matches, a digest of everything that determines the replies to
    it.
    """
    hidden = hidden_cases.hidden_study(study.name)
    if not hidden.checks:
        return {}
    answer = meaning(workspace.answer_path(study).read_text("utf-8"))
    expected, _ = load_expected(hidden_cases.expected_file(study), hidden.checks.values())
    return {
        name: digest_of(
            [
                answer,
                check.settings,
                check.cases,
                list(check.points),
                expected[name],
                meaning(dedent(inspect.getsource(QUESTIONS[check.ask].ask))),
            ]
        )
        for name, check in hidden.checks.items()
        if check.ask not in MATCHES
    }


def _json(data: dict) -> str:
    """Return JSON with one line per mistake and per check."""
    mutants = ",\n  ".join(map(json.dumps, data["mutants"]))
    checks = ",\n  ".join(
        f"{json.dumps(name)}: {json.dumps(mistakes, separators=(',', ':'))}"
        for name, mistakes in data["replies"].items()
    )
    return (
        f'{{"mutants": [\n  {mutants}\n ],\n "made_of": {json.dumps(data["made_of"], indent=2)},\n'
        f' "replies": {{\n  {checks}\n }}\n}}\n'
    )
