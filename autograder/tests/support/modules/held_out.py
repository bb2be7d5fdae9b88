"""Two classes that were held out: correct and wrong modules, written with only the student kit.

The correct ones are in each study's folder `outsiders/`; the wrong ones are in `held_out.toml`, each
as an edit of a correct one, with its mistake and the checks that must lose marks. Unlike those in
`outsiders.toml`, they do not influence the choice of cases. To grade all of them, and to write the
rates and the modules to a page, which takes ten minutes on two cores:

    python -m autograder.tests.support.modules.held_out FOLDER

Whether a statement on a page is false, only a reader can decide. The texts of the pages are written to
the folder, after the mistake of each module. Pages that have changed since somebody read them are
listed, and also go to `FOLDER/unread`. When they have been read and contain no false statement, run
the command again with `--read`. Under load, the page of a module that needs nearly the time limit can
change as well.
"""

import argparse
import hashlib
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from autograder import workspace
from autograder.tests.support.modules import outsiders
from autograder.tests.support.modules.graded import explanations, grade, key_of
from course.checks import load_study, read_table, studies
from course.checks.marking.explain import as_text
from course.checks.marking.outcome import Outcome

PAGE = Path(__file__).with_suffix(".md")
READ = Path(__file__).with_name("held_out_read.json")
HALVES = {"studies 1 to 5": studies()[:5], "studies 6 to 9": studies()[5:9]}


@dataclass(frozen=True)
class HeldOut:
    """A wrong module: its mistake, the sentence of the stub that it breaks, and the checks that must
    lose marks."""

    study: str
    name: str
    wrong: str
    sentence: str
    must: Sequence[str]
    text: str


def held_out(name: str) -> list[HeldOut]:
    """The wrong modules for a study; none if it has no file of them."""
    file = load_study(name).staff_folder / "held_out.toml"
    if not file.is_file():
        return []
    stored = {path.stem: path for path in outsiders.stored() if outsiders.study_of(path) == name}
    return [_module(name, entry, stored) for entry in read_table(file)["module"]]


def _module(study: str, entry: Mapping, stored: Mapping[str, Path]) -> HeldOut:
    text = outsiders.whole(stored[entry["base"]])
    for edit in entry["edit"]:
        if text.count(edit["old"]) != 1:
            raise ValueError(f"{study}, {entry['name']}: {edit['old']!r} must occur once")
        text = text.replace(edit["old"], edit["new"])
    return HeldOut(
        study, entry["name"], entry["wrong"], entry["sentence"], tuple(entry["must"]), text
    )


def is_explained(outcomes: Mapping[str, Outcome]) -> bool:
    """Whether a page of a module names the cause of a loss or leads to it."""
    return any(explanations(outcome for outcome in outcomes.values() if not outcome.full))


def loses(outcomes: Mapping[str, Outcome], without: Sequence[str] = ()) -> bool:
    """Whether a module loses marks, except in checks for extra credit that it leaves out."""
    return any(
        not outcome.full
        for check, outcome in outcomes.items()
        if not (outcome.extra_credit and check.partition(".")[2] in without)
    )


def pages_read() -> dict[str, str]:
    """The digests of the pages that were read and contain no false statement, by "study1 name"."""
    return json.loads(READ.read_text("utf-8")) if READ.exists() else {}


def _page(module: HeldOut, outcomes: Mapping[str, Outcome]) -> str:
    """A module's mistake, and the texts of its page about checks below full marks."""
    texts = [f"{check}\n{as_text(each)}" for check, each in outcomes.items() if not each.full]
    title = f"## {module.name}: {module.wrong} It must lose marks in {', '.join(module.must)}."
    return "\n\n".join((title, *texts, ""))


def _rows(
    half: str, folder: Path, known: Mapping[str, str], digests: dict[str, str]
) -> Iterator[str]:
    """The lines of the page about one half of the course; write the modules' pages to `folder`, and
    add their digests to `digests`. Pages whose digests are `known` have been read.
    """
    accepted, unexplained, rejected, unread = [], [], [], []
    right = wrong = 0
    with ThreadPoolExecutor(workspace.max_parallel()) as pool:
        for study in HALVES[half]:
            key = key_of(study)
            modules = held_out(study)
            outcomes = [*pool.map(partial(grade, key), [module.text for module in modules])]
            pages = [*map(_page, modules, outcomes)]
            (folder / f"{study}.txt").write_text("\n".join(pages), "utf-8")
            for module, results, page in zip(modules, outcomes, pages, strict=True):
                wrong += 1
                name = f"{study} {module.name}"
                digests[name] = hashlib.sha256(page.encode()).hexdigest()[:12]
                if known.get(name) != digests[name]:
                    unread.append(name)
                    (folder / "unread" / f"{name}.txt").write_text(page, "utf-8")
                if not loses(results, outsiders.left_out(module.text)):
                    accepted.append(f"{study} {module.name}")
                elif not is_explained(results):
                    unexplained.append(f"{study} {module.name}")
            paths = [path for path in outsiders.stored() if outsiders.study_of(path) == study]
            texts = [outsiders.whole(path) for path in paths]
            for path, text, results in zip(
                paths, texts, pool.map(partial(grade, key), texts), strict=True
            ):
                right += 1
                if loses(results, outsiders.left_out(text)):
                    rejected.append(f"{study} {path.stem}")
            print(f"{study}: done", file=sys.stderr)
    explained = wrong - len(accepted) - len(unexplained)
    yield (
        f"| {half} | {right} | {len(rejected)} | {wrong} | {len(accepted)} "
        f"({len(accepted) / wrong:.2%}) | {explained} of {wrong - len(accepted)} "
        f"({explained / (wrong - len(accepted)):.2%}) |"
    )
    for title, names in (
        ("correct modules that lose marks", rejected),
        ("wrong modules with full marks", accepted),
        ("not explained", unexplained),
        ("pages that have changed since they were read", unread),
    ):
        yield f"{half}, {title}: {', '.join(names) or 'none'}"


def main() -> None:
    """Grade all modules and write the pages."""
    parser = argparse.ArgumentParser(description="Grade the held-out classes.")
    parser.add_argument("folder", type=Path, help="folder to which the pages are written")
    parser.add_argument("--read", action="store_true", help="record that all pages were read")
    options = parser.parse_args()
    (options.folder / "unread").mkdir(parents=True, exist_ok=True)
    digests: dict[str, str] = {}
    known = digests if options.read else pages_read()
    rows = [row for half in HALVES for row in _rows(half, options.folder, known, digests)]
    if options.read:
        READ.write_text(json.dumps(digests, indent=0) + "\n", "utf-8")
    table = [row for row in rows if row.startswith("|")]
    lists = [f"* {row}" for row in rows if not row.startswith("|")]
    text = [
        "# The held-out classes",
        "",
        "Derived by `python -m autograder.tests.support.modules.held_out FOLDER`. Do not edit.",
        "",
        "| half | correct modules | rejected | wrong modules | accepted | cause named or led to |",
        "|---|--:|--:|--:|--:|--:|",
        *table,
        "",
        *lists,
    ]
    PAGE.write_text("\n".join(text) + "\n", "utf-8")
    print(PAGE.read_text("utf-8"))


if __name__ == "__main__":
    main()
