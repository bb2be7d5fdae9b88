"""Writes the table of what machine-made mutants reply to the hidden checks (`machine_made`).

It takes some minutes for a large study, so it is made by itself, and only what is out of date:
the checks whose questions, right replies or answer are no longer those it was made of.
"""

import inspect
import json
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from textwrap import dedent

from autograder import verdicts, workspace
from autograder.code_meaning import meaning
from autograder.doctor.machine_mutants import MachineMutant, machine_mutants
from autograder.mutants.machine_made import (
    MachineSlips,
    digest,
    digest_of,
    load_machine_slips,
    machine_file,
)
from autograder.workspace.reach import Reach
from course.probes import Check, Study, load_expected
from course.probes.questions import MATCHES, QUESTIONS
from course.probes.replies import Replies

SLOWER, LEAST = 20, 2.0  # times as long as the reference, and seconds: then a mutant is given up
Done = Callable[[MachineMutant], None]


def stale_checks(study: Study) -> list[str]:
    """The checks whose part of the table is missing or was made of something else."""
    made_of = load_machine_slips(machine_file(study)).made_of
    return [name for name, now in _made_of(study).items() if made_of.get(name) != now]


def write_machine_table(study: Study, done: Done = lambda mutant: None) -> Path | None:
    """Write what is out of date in the table of a study; returns its path, or None if nothing is.

    `done` is told of each mutant.
    """
    stale = stale_checks(study)
    if not stale:
        return None
    hidden = verdicts.hidden_study(study.name)
    hidden = replace(hidden, checks={name: hidden.checks[name] for name in stale})
    old = load_machine_slips(machine_file(study))
    kept = [name for name in _made_of(study) if name not in stale]
    replies = {name: _in_words(old, name) for name in kept} | _ask_mutants(hidden, done)
    slips = sorted(
        {slip for of_check in replies.values() for found in of_check.values() for slip in found}
    )
    number = {slip: place for place, slip in enumerate(slips)}
    made_of = _made_of(study)
    data = {
        "slips": slips,
        "made_of": made_of,
        "replies": {
            name: {
                key: sorted(number[slip] for slip in replies[name][key])
                for key in sorted(replies[name])
            }
            for name in made_of
        },
    }
    path = machine_file(study)
    path.write_text(_json(data), "utf-8")
    load_machine_slips.cache_clear()
    return path


def _in_words(table: MachineSlips, check: str) -> dict[str, set[tuple[str, str]]]:
    return {
        key: {table.slips[number] for number in numbers}
        for key, numbers in table.replies.get(check, {}).items()
    }


def _ask_mutants(hidden: Study, done: Done) -> dict[str, dict[str, set[tuple[str, str]]]]:
    """The slips that give each wrong reply, by check and digest."""
    answer = workspace.answer_path(hidden).read_text("utf-8")
    expected, _ = load_expected(verdicts.expected_file(hidden), hidden.checks.values())
    right = workspace.ask_all(hidden, answer, 60)
    found: dict[str, dict[str, set[tuple[str, str]]]] = {
        name: defaultdict(set) for name in hidden.checks
    }

    reach = Reach(hidden, answer)

    def ask(mutant: MachineMutant) -> None:
        reached = reach.checks(mutant.text)
        for name, check in hidden.checks.items():
            if name not in reached:  # what it replies there is right
                continue
            (reply,) = workspace.ask_all(
                hidden, mutant.text, checks=[name], most=max(LEAST, SLOWER * right[name].seconds)
            ).values()
            if reply.broken or reply.stopped:
                break
            if _answers(check, reply):
                key = digest(check, reply.observations, expected[name])
                found[name][key].add((mutant.function, mutant.slip))
        done(mutant)

    with ThreadPoolExecutor(workspace.at_once()) as pool:
        list(pool.map(ask, machine_mutants(answer)))
    for name, check in hidden.checks.items():
        found[name].pop(digest(check, right[name].observations, expected[name]), None)
    return found


def _answers(check: Check, reply: Replies) -> bool:
    """Whether nothing raised: an error is told with its line, and needs no other explanation."""
    return all(
        observation is not None and name in observation
        for observation in reply.observations
        for name in check.points
    )


def _made_of(study: Study) -> dict[str, str]:
    """A digest of what the replies to each check depend on; games are left out."""
    hidden = verdicts.hidden_study(study.name)
    if not hidden.checks:
        return {}
    answer = meaning(workspace.answer_path(study).read_text("utf-8"))
    expected, _ = load_expected(verdicts.expected_file(study), hidden.checks.values())
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
    """JSON with a line for each slip and each check."""
    slips = ",\n  ".join(map(json.dumps, data["slips"]))
    checks = ",\n  ".join(
        f"{json.dumps(name)}: {json.dumps(found, separators=(',', ':'))}"
        for name, found in data["replies"].items()
    )
    return (
        f'{{"slips": [\n  {slips}\n ],\n "made_of": {json.dumps(data["made_of"], indent=2)},\n'
        f' "replies": {{\n  {checks}\n }}\n}}\n'
    )
