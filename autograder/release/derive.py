"""Builds the derived files: stubs, notebooks, expected replies, node counts and teaching pages.

`derived_files()` returns the expected content of each file. `build` writes it, and a test compares it
byte for byte with the committed file.
"""

import json
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import nbformat

import course
from autograder import workspace
from autograder.release.notebooks import build_notebook, notebook_texts, require_graded_cells
from autograder.release.teaching import overview, teaching_pages
from autograder.studies import hidden_cases
from autograder.studies.mutants import load_mutants
from autograder.workspace.affected_checks import AffectedChecks
from autograder.workspace.strip import stub
from common.clock import measure_slowdown
from course.checks import (
    MAX_SECONDS,
    TIMES_REFERENCE,
    Check,
    Observation,
    Study,
    load_study,
    studies,
    table_error,
)
from course.checks.marking.comparison import error_kind, is_right
from course.checks.positions import read_position
from course.checks.questions import MATCHES
from course.checks.questions.searches import agent_options, options_of
from course.checks.replies import Replies
from course.published import FOLDER, search_text
from tictactoe import Board, Trace
from tictactoe.solver import values

COURSE = Path(course.__file__).parent
MAX_PUBLISHED_NODES = 300  # nodes of a reference search that students can inspect
MIN_TIMES = 8  # a limit must be at least this many times the reference's time
Tick = Callable[[str], object]


def build(only: str | None = None, tick: Tick = lambda step: None) -> list[Path]:
    """Write all derived files that are out of date; return their paths."""
    return _write(derived_files(only, tick))


def outdated_files(only: str | None = None, tick: Tick = lambda step: None) -> list[Path]:
    """Return the derived files that `build` would write."""
    return [
        path
        for path, text in derived_files(only, tick)
        if not path.exists() or path.read_text("utf-8") != text
    ]


def build_quick_files(study: Study) -> list[Path]:
    """Write the stub, the notebooks and the teaching page of a study if they are out of date; return
    their paths.
    """
    return _write([*_public_files(study), *teaching_pages(study)])


def _write(files: Iterable[tuple[Path, str]]) -> list[Path]:
    written = []
    for path, text in files:
        if not path.exists() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")
            written.append(path)
    return written


def derived_files(
    only: str | None = None, tick: Tick = lambda step: None
) -> Iterator[tuple[Path, str]]:
    """Yield the path and text of every derived file, for all studies or for `only` one."""
    for name in [load_study(only).name] if only else studies():
        study = load_study(name)
        tick(f"{study.name}: stub and notebooks")
        yield from _public_files(study)
        tick(f"{study.name}: expected replies of the reference and the mutants")
        yield from _expected_files(study)
        yield from teaching_pages(study)
    if only is None:
        yield from files_of_all(tick)


def files_of_all(tick: Tick = lambda step: None) -> Iterator[tuple[Path, str]]:
    """Yield the path and text of the derived files that belong to all studies."""
    yield from overview(COURSE.parent)
    tick("node counts")
    yield FOLDER / "node_counts.json", _json(node_counts())
    tick("reference searches")
    yield FOLDER / "reference_searches.json", _json(reference_searches())


def _require_time(study: Study, table: Path, check: Check, computed: float) -> None:
    """Raise `StudyTableError` if the limit of a check is much too low.

    `computed` is the computing time of the reference, in seconds of the idle server (see
    `common.clock`): this machine may be slower, or busy.
    """
    if MIN_TIMES * computed <= check.time_limit or check.ask in MATCHES:
        return
    wanted = math.ceil(TIMES_REFERENCE * computed)
    advice = f"set `seconds = {min(wanted, MAX_SECONDS):g}` in {study.table.name}"
    if wanted > MAX_SECONDS:
        advice += ", which is the maximum, and ask about fewer or smaller positions"
    raise table_error(
        table,
        check.name,
        f"the reference computes for {computed:.2f} s, so the limit of {check.time_limit:g} s is "
        f"too low: {advice}",
    )


def _public_files(study: Study) -> Iterator[tuple[Path, str]]:
    folder = study.folder
    answer = workspace.answer_path(study)
    yield folder / study.module, stub(answer.read_text("utf-8"), answer.name)
    texts = {
        path: build_notebook(path.read_text("utf-8"), path.stem, study)
        for path in notebook_texts(folder)
    }
    require_graded_cells([nbformat.reads(t, as_version=4) for t in texts.values()], study)
    for path, text in texts.items():
        yield path.with_suffix(".ipynb"), text


def _expected_files(study: Study) -> Iterator[tuple[Path, str]]:
    """Yield the files of the expected replies to the public and to the hidden cases.

    The replies for each file are collected in a separate run, like those in checking and grading.
    """
    hidden = hidden_cases.hidden_study(study.name)
    texts = workspace.module_texts(study)
    del texts["stub"]
    checks = _relevant_checks(study, hidden, texts)
    yield study.expected_file, _expected(study, study.table, texts, checks)
    yield (
        hidden_cases.expected_file(study),
        _expected(hidden, hidden_cases.cases_file(study), texts, checks),
    )


def _expected(
    study: Study, table: Path, texts: Mapping[str, str], checks: Mapping[str, Collection[str]]
) -> str:
    """Return the text of the file with the expected replies to the cases of a study in this table."""
    slowdown: dict[str, float] = {}

    def ask(name: str) -> Mapping[str, Replies]:
        answers = workspace.run_checks(study, texts[name], 60, checks[name])
        if name == "reference":
            slowdown[name] = measure_slowdown()
        return answers

    with ThreadPoolExecutor(workspace.max_parallel()) as pool:
        replies = dict(zip(texts, pool.map(ask, texts), strict=True))
    for check, reply in replies["reference"].items():
        for case, seen in zip(study.checks[check].cases, reply.observations, strict=True):
            observed_reply = seen or {"errors": {"reply": "it gives none"}}
            if reply.broken or reply.stopped or "errors" in observed_reply:
                problem = (
                    reply.broken or reply.stopped or next(iter(observed_reply["errors"].values()))
                )
                raise table_error(
                    table, check, f"the reference fails on the case {case}: {problem}"
                )
        _require_time(study, table, study.checks[check], reply.computed / slowdown["reference"])
    if "second" in replies:
        _confirm(study, table, replies["reference"], replies["second"])

    def observed(name: str) -> dict:
        return {check: list(reply.observations) for check, reply in replies[name].items()}

    expected = observed("reference")
    mutants = []
    for mutant in load_mutants(study.name):
        differing = {
            check: seen
            for check, seen in observed(mutant.name).items()
            if _loses(study.checks[check], expected[check], seen)
        }
        differing = {check: [*map(_with_error_kinds, seen)] for check, seen in differing.items()}
        mutants.append({"name": mutant.name, "sentence": mutant.sentence, "observed": differing})
    return _json(
        {
            "digests": {name: check.digest for name, check in study.checks.items()},
            "expected": expected,
            "mistakes": mutants,
        }
    )


def _with_error_kinds(reply: Observation | None) -> Observation | None:
    """Return a reply with the kind of each error instead of its message, which depends on line
    numbers and on the version of Python.
    """
    if not reply or "errors" not in reply:
        return reply
    return {**reply, "errors": {name: error_kind(text) for name, text in reply["errors"].items()}}


def _confirm(
    study: Study, table: Path, first: Mapping[str, Replies], second: Mapping[str, Replies]
) -> None:
    """Raise an error if the independent solution gives a different reply."""
    for name, replies in second.items():
        check = study.checks[name]
        for case, ours, theirs in zip(
            check.cases, first[name].observations, replies.observations, strict=True
        ):
            wrong = [
                a for a in check.points if not is_right(check.ask, ours or {}, theirs or {}, a)
            ]
            if wrong:
                raise table_error(
                    table,
                    name,
                    f"the two answers disagree on {', '.join(wrong)} in the case {case}: the case "
                    "is invalid, the text is ambiguous, or one of them is wrong",
                )


def _relevant_checks(
    study: Study, hidden: Study, texts: Mapping[str, str]
) -> dict[str, Collection[str]]:
    """Return the checks to run for each module; for a mutant, the checks that reach the changed code.

    Only the reference plays games, because they do not identify a mistake.
    """
    questions = {
        name: replace(check, cases=[*check.cases, *hidden.checks[name].cases])
        for name, check in study.checks.items()
        if check.ask not in MATCHES
    }
    affected = AffectedChecks(replace(study, checks=questions), texts["reference"])
    whole = {"reference": study.checks, "second": questions}
    return {
        name: whole[name] if name in whole else affected.checks(text)
        for name, text in texts.items()
    }


def _loses(
    check: Check, expected: Sequence[Observation], seen: Sequence[Observation | None]
) -> bool:
    """Whether a mutant loses an aspect that has points in this check."""
    return any(
        not is_right(check.ask, right, got or {}, aspect)
        for right, got in zip(expected, seen, strict=True)
        for aspect in check.points
    )


def node_counts() -> dict:
    """Return the number of nodes, including the root, that each search in a study's table [counts]
    visits.

    There is a total over all non-terminal boards with each number of marks from 0 to 8. With
    `by_board`, the counts for every board with at most two marks are included.
    """
    published = {
        name: (study, table)
        for study in map(load_study, studies())
        for name, table in study.counts.items()
    }
    boards = [board for board in values() if not board.is_terminal()]
    counts: dict = {"totals": {name: [0] * 9 for name in published}}
    for name, (study, table) in published.items():
        options = {k: v for k, v in table.items() if k not in ("agent", "by_board")}
        made = getattr(workspace.load_answer(study.name), table["agent"])
        agent = made(**agent_options(options))
        nodes = {board: agent.search(board).nodes for board in boards}
        for board in boards:
            counts["totals"][name][_marks(board)] += nodes[board]
        if table.get("by_board"):
            counts[name] = {
                b.text: nodes[b] for b in sorted(boards, key=lambda b: b.text) if _marks(b) <= 2
            }
    return counts


def reference_searches() -> list[dict]:
    """Return the reference's searches in the public cases, if they are small."""
    searches = []
    for study in map(load_study, studies()):
        for case in (
            {**check.settings, **case}
            for check in study.checks.values()
            if check.ask == "search"
            for case in check.cases
        ):
            options = options_of(case)
            agent = getattr(workspace.load_answer(study.name), case["agent"])
            with Trace(most=MAX_PUBLISHED_NODES) as trace, suppress(RuntimeError):  # too many nodes
                agent(**agent_options(options)).search(read_position(case["on"]))
                searches.append(
                    {
                        "agent": case["agent"],
                        "on": case["on"],
                        "options": options,
                        "search": search_text(trace.roots[0]),
                    }
                )
    return searches


def _marks(board: Board) -> int:
    return 9 - board.text.count("_")


def _json(data: object) -> str:
    """Return JSON with one line per observation, so that diffs are readable."""
    return _indented(data, "\n") + "\n"


def _indented(data: object, newline: str) -> str:
    """Put each item of a dict or of a list of dicts on its own line, and each other list on one
    line.
    """
    inner = newline + " "
    if isinstance(data, dict) and data:
        items = [f"{json.dumps(key)}: {_indented(value, inner)}" for key, value in data.items()]
        return "{" + inner + f",{inner}".join(items) + newline + "}"
    if isinstance(data, (list, tuple)) and any(isinstance(item, dict) for item in data):
        items = [
            _indented(item, inner)
            if isinstance(item, dict) and "observed" in item
            else json.dumps(item)
            for item in data
        ]  # a mutant's entry contains observations
        return "[" + inner + f",{inner}".join(items) + newline + "]"
    return json.dumps(data)
