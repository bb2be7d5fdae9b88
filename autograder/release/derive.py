"""Builds the derived files: stubs, notebooks, expected replies, node counts, teaching pages.

`derived_files()` says what each file must hold; `build` writes it, and a test compares it byte for
byte with what is committed.
"""

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import nbformat

import course
from autograder import verdicts, workspace
from autograder.mutants import load_mutants
from autograder.release.notebooks import build_notebook, complain_about_graded_cells, notebook_texts
from autograder.release.teaching import overview, teaching_pages
from autograder.workspace.reach import Reach
from autograder.workspace.strip import stub
from course.probes import Study, load_study, studies, table_error
from course.probes.outcome import is_right, same
from course.probes.positions import read_position
from course.probes.questions import MATCHES
from course.probes.questions.searches import agent_options, options_of
from course.probes.replies import Replies
from course.recorded import FOLDER, search_text
from tictactoe import Board, Trace
from tictactoe.solver import values

COURSE = Path(course.__file__).parent
MOST_PUBLISHED = 300  # nodes of a reference search that students may look at
Tick = Callable[[str], object]


def build(only: str | None = None, tick: Tick = lambda step: None) -> list[Path]:
    """Write every derived file that is out of date; returns those that were written."""
    written = []
    for path, text in derived_files(only, tick):
        if not path.exists() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")
            written.append(path)
    return written


def derived_files(
    only: str | None = None, tick: Tick = lambda step: None
) -> Iterator[tuple[Path, str]]:
    """Path and text of every derived file, of all studies or of `only` one."""
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
    """Path and text of the derived files that all studies have in common."""
    yield from overview(COURSE.parent)
    tick("node counts")
    yield FOLDER / "node_counts.json", _json(node_counts())
    tick("reference searches")
    yield FOLDER / "reference_searches.json", _json(reference_searches())


def _public_files(study: Study) -> Iterator[tuple[Path, str]]:
    folder = study.folder
    answer = workspace.answer_path(study)
    yield folder / study.module, stub(answer.read_text("utf-8"), answer.name)
    texts = {
        path: build_notebook(path.read_text("utf-8"), path.stem, study)
        for path in notebook_texts(folder)
    }
    complain_about_graded_cells([nbformat.reads(t, as_version=4) for t in texts.values()], study)
    for path, text in texts.items():
        yield path.with_suffix(".ipynb"), text


def _expected_files(study: Study) -> Iterator[tuple[Path, str]]:
    """The expected replies to the public and to the hidden cases.

    Those of each file are asked for by themselves, as checking and grading ask.
    """
    hidden = verdicts.hidden_study(study.name)
    texts = workspace.module_texts(study)
    del texts["stub"]
    asked = _asked(study, hidden, texts)
    yield study.expected_file, _expected(study, study.table, texts, asked)
    yield verdicts.expected_file(study), _expected(hidden, verdicts.cases_file(study), texts, asked)


def _expected(
    study: Study, table: Path, texts: Mapping[str, str], asked: Mapping[str, Collection[str]]
) -> str:
    """The file of expected replies to the cases of this study, which stand in that table."""
    with ThreadPoolExecutor(workspace.at_once()) as pool:
        replies = dict(
            zip(
                texts,
                pool.map(
                    lambda name: workspace.ask_all(study, texts[name], 60, asked[name]), texts
                ),
                strict=True,
            )
        )
    for check, reply in replies["reference"].items():
        for case, seen in zip(study.checks[check].cases, reply.observations, strict=True):
            given = seen or {"errors": {"reply": "it gives none"}}
            if reply.broken or reply.stopped or "errors" in given:
                why = reply.broken or reply.stopped or next(iter(given["errors"].values()))
                raise table_error(table, check, f"the reference fails on the case {case}: {why}")
    if "second" in replies:
        _confirm(study, table, replies["reference"], replies["second"])

    def observed(name: str) -> dict:
        return {check: list(reply.observations) for check, reply in replies[name].items()}

    expected = observed("reference")
    slips = []
    for mutant in load_mutants(study.name):
        differing = {
            check: seen
            for check, seen in observed(mutant.name).items()
            if _differs(study.checks[check].ask, expected[check], seen)
        }
        slips.append({"name": mutant.name, "sentence": mutant.sentence, "observed": differing})
    return _json(
        {
            "digests": {name: check.digest for name, check in study.checks.items()},
            "expected": expected,
            "slips": slips,
        }
    )


def _confirm(
    study: Study, table: Path, first: Mapping[str, Replies], second: Mapping[str, Replies]
) -> None:
    """Refuse an expected reply that the second answer, written from the text alone, denies."""
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
                    "is no question, the text is ambiguous, or one of them is wrong",
                )


def _asked(study: Study, hidden: Study, texts: Mapping[str, str]) -> dict[str, Collection[str]]:
    """The checks that each module is asked: the mutants those that reach what they change.

    Games are played by the reference alone, as they identify no slip.
    """
    questions = {
        name: replace(check, cases=[*check.cases, *hidden.checks[name].cases])
        for name, check in study.checks.items()
        if check.ask not in MATCHES
    }
    reach = Reach(replace(study, checks=questions), texts["reference"])
    whole = {"reference": study.checks, "second": questions}
    return {
        name: whole[name] if name in whole else reach.checks(text) for name, text in texts.items()
    }


def _differs(ask: str, expected: Sequence[dict], seen: Sequence[dict | None]) -> bool:
    return any(
        s is None or set(e) != set(s) or not all(same(ask, a, e[a], s[a]) for a in e)
        for e, s in zip(expected, seen, strict=True)
    )


def node_counts() -> dict:
    """Nodes visited, root counted, by each search that a study's table [counts] names: in total
    over all non-terminal boards with 0, 1, ... 8 marks and, where it says `by_board`, for every
    board with at most two marks."""
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
    """The reference's searches that the public cases ask for, if they are small."""
    found = []
    for study in map(load_study, studies()):
        for case in (
            {**check.settings, **case}
            for check in study.checks.values()
            if check.ask == "search"
            for case in check.cases
        ):
            options = options_of(case)
            agent = getattr(workspace.load_answer(study.name), case["agent"])
            with Trace(most=MOST_PUBLISHED) as trace, suppress(RuntimeError):  # too many nodes
                agent(**agent_options(options)).search(read_position(case["on"]))
                found.append(
                    {
                        "agent": case["agent"],
                        "on": case["on"],
                        "options": options,
                        "search": search_text(trace.roots[0]),
                    }
                )
    return found


def _marks(board: Board) -> int:
    return 9 - board.text.count("_")


def _json(data: object) -> str:
    """JSON with one line per observation, so that a change can be read in a diff."""
    return _indented(data, "\n") + "\n"


def _indented(data: object, newline: str) -> str:
    """Dicts and lists of dicts take a line per item; observations and other lists are a line."""
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
        ]  # a slip holds observations
        return "[" + inner + f",{inner}".join(items) + newline + "]"
    return json.dumps(data)
