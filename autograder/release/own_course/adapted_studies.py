"""Makes a course's own versions of the kit's studies, from the table `course.toml`.

For each study with changes, `my_course/studies/` gets a copy of the kit's two folders in which the
changes are made. It is a folder of studies like those in `COURSE_STUDIES`, and its studies replace
the kit's, so all commands use them. Studies that an instructor wrote or copied are in the same place
and are left alone; files that an instructor edited are replaced only on request.
"""

import json
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import jupytext
import tomli_w

from autograder.course_folder import CourseFolder
from autograder.course_folder.table import CourseTable, StudyChanges, TextChange, read_course_table
from autograder.errors import UserError
from autograder.release import derive
from autograder.release.notebooks import check_id, notebook_texts
from autograder.release.own_course import variants
from autograder.release.own_course.edited_files import (
    digests_of_files,
    edited_files,
    files_below,
    folders_of,
)
from autograder.studies.hidden_cases import cases_file
from autograder.studies.mutants import LEFT_OUT, mutants_file
from common.command_lines import advice
from course.checks import (
    Study,
    StudyTableError,
    digest_of,
    load_study,
    read_table,
    studies,
    table_error,
)
from course.checks.study_paths import PUBLIC, STAFF, use_studies

OWN_CASES = "hidden"  # the folder of positions that replace the kit's hidden ones, by study
RECORD = "adapted.json"  # in my_course/studies: of what each study was made
ANSWER = re.compile(r'answer="([^"]+)"')
EXTRA_CREDIT = re.compile(r" \((?:optional, )?extra credit\)")  # how the kit's notebooks mark it
Tick = Callable[[str], object]


class Adaptation:
    """The studies that one course changes; `update` makes the copies that are out of date."""

    def __init__(self, folder: CourseFolder) -> None:
        self.folder, self.table = folder, read_course_table(folder.root)
        self.home = folder.studies_home
        self.studies = dict(self.table.studies)
        for file in sorted((folder.root / OWN_CASES).glob("*.toml")):
            changes = self.studies.get(file.stem, StudyChanges())
            self.studies[file.stem] = replace(changes, drawn_cases=read_table(file)["cases"])
        self._record = self.home / RECORD

    def outdated(self) -> dict[str, str]:
        """Return the studies whose copies must be made again, each with the reason."""
        made = self._made()
        reasons = {}
        for name, changes in self.studies.items():
            study, record = _kit_study(name, self.table), made.get(name)
            if record is None:
                reasons[name] = "it is new in the table"
            elif record["changes"] != _digest_of_changes(changes):
                reasons[name] = "its changes in the table are different"
            elif record["kit"] != digest_of_study(study):
                reasons[name] = "the kit's study is different"
            elif not folders_of(self.home, name):
                reasons[name] = "its files were deleted"
        for name in made.keys() - self.studies.keys():
            if not self.edited(name):
                reasons[name] = "it is no longer in the table"
        return reasons

    def edited(self, name: str) -> list[str]:
        """Return the files of a copy that the instructor edited since it was made."""
        record = self._made().get(name, {})
        if "files" not in record:  # an earlier version of the kit made it
            return []
        return edited_files(self.home, folders_of(self.home, name), record["files"])

    def is_own(self, name: str) -> bool:
        """Whether the course has a version of a study that `update` neither made nor replaces.

        The instructor copied it from the kit, or edited a version that is no longer in the table.
        """
        if name in self._made():
            return name not in self.studies and bool(self.edited(name))
        return bool(folders_of(self.home, name))

    def kept(self) -> dict[str, list[str]]:
        """Return the studies that are kept although the table no longer changes them, because files
        were edited, with these files.
        """
        unused = self._made().keys() - self.studies.keys()
        return {name: files for name in sorted(unused) if (files := self.edited(name))}

    def conflicts(self, replace: Sequence[str] = ()) -> list[str]:
        """Return a message for each study whose update would lose an instructor's work.

        Edits of the studies in `replace` may be lost.
        """
        outdated = self.outdated().keys() & self.studies.keys() - {*replace}
        return [message for name in sorted(outdated) if (message := self._conflict(name))]

    def _conflict(self, name: str) -> str:
        if self.is_own(name):
            folders = (str(path.relative_to(self.home)) for path in folders_of(self.home, name))
            problem = f"{' and '.join(folders)} are your own version"
        elif files := self.edited(name):
            problem = f"you edited {', '.join(files)}"
        else:
            return ""
        sources = [f"the table [{name}] from {self.table.file.name}"] * (name in self.table.studies)
        if own_cases_file(self.folder, name).is_file():
            sources.append(f"the file {OWN_CASES}/{name}.toml")
        return (
            f"{name} cannot be adapted without losing your work: in {self.home}, {problem}. To keep "
            f"this version, remove {' and '.join(sources)}. To replace it, run "
            f"{advice('adapt', '--replace', name, course=self.folder.root)}"
        )

    def problems(self) -> list[str]:
        """Return why the course's changes cannot be applied to the present kit; nothing is changed."""
        problems = self.conflicts()
        for name in self.studies:
            try:
                with tempfile.TemporaryDirectory() as folder:
                    study = _kit_study(name, self.table)
                    _copy_with_changes(study, self.studies[name], self.table.file, Path(folder))
            except StudyTableError as error:
                problems.append(str(error))
        return problems

    @contextmanager
    def preview(self, name: str) -> Iterator[None]:
        """Use the version of a study that `update` would make, without expected replies; the course
        is unchanged.

        Raises `StudyTableError` if the course's changes do not fit the kit's study.
        """
        if name not in self.outdated():
            yield
            return
        with tempfile.TemporaryDirectory() as folder:
            homes = []
            if name in self.studies:
                homes.append(Path(folder))
                study = _kit_study(name, self.table)
                _copy_with_changes(study, self.studies[name], self.table.file, *homes)
            with use_studies(*homes):
                if homes:
                    derive.build_quick_files(load_study(name))
                yield

    def update(self, tick: Tick = lambda step: None, replace: Sequence[str] = ()) -> list[str]:
        """Make the copies that are out of date, and those to `replace`; return their studies.

        Raises `StudyTableError` or `UserError`; the former copy is then unchanged.
        """
        for name in replace:
            if name not in self.studies.keys() | self._made().keys():
                raise UserError(
                    f"--replace {name}: {self.table.file} does not change this study. To use the "
                    f"kit's, remove its folders from {self.home}"
                )
        if conflicts := self.conflicts(replace):
            raise UserError("\n".join(conflicts))
        updated = []
        for name in dict.fromkeys([*self.outdated(), *replace]):
            tick(f"{name} of {self.folder.root.name}")
            made = self._made()
            if name in self.studies:
                study, changes = _kit_study(name, self.table), self.studies[name]
                _adapt(study, changes, self.table.file, self.home, tick)
                made[name] = {
                    "changes": _digest_of_changes(changes),
                    "kit": digest_of_study(study),
                    "files": digests_of_files(self.home, folders_of(self.home, name)),
                }
            else:
                _remove(name, self.home)
                made.pop(name)
            self._record.write_text(json.dumps(made, indent=1) + "\n", "utf-8")
            updated.append(name)
        return updated

    def _made(self) -> dict[str, dict[str, Any]]:
        try:
            return dict(json.loads(self._record.read_text("utf-8")))
        except FileNotFoundError:
            return {}
        except ValueError as error:
            raise UserError(f"{self._record} cannot be read ({error}): delete it") from error


def own_cases_file(folder: CourseFolder, study: str) -> Path:
    """Return the file of the hidden positions that replace the kit's in this course."""
    return folder.root / OWN_CASES / f"{study}.toml"


def _digest_of_changes(changes: StudyChanges) -> str:
    return digest_of([*vars(changes).values()])


def digest_of_study(study: Study) -> str:
    """Return a digest of all files of a study, except files that Python and Jupyter write."""
    return digest_of(
        {
            str(path.relative_to(study.home)): path.read_text("utf-8", "replace")
            for path in _files_of(study)
        }
    )


def _files_of(study: Study) -> Iterator[Path]:
    for folder in (study.folder, study.staff_folder):
        yield from files_below(folder)


def _kit_study(name: str, table: CourseTable) -> Study:
    """Return the kit's own version of a study."""
    with use_studies():
        if name not in studies():
            raise table_error(table.file, name, f"the kit has only {', '.join(studies())}")
        return load_study(name)


def _adapt(study: Study, changes: StudyChanges, file: Path, home: Path, tick: Tick) -> None:
    """Make the copy of a study in a temporary folder, and then replace the former copy."""
    home.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=home, prefix=".new-") as folder:
        temporary = Path(folder)
        _copy_with_changes(study, changes, file, temporary)
        is_variant = bool(changes.variant or changes.former)
        with use_studies(temporary):
            if changes.drawn_cases or changes.hidden_cases or changes.mutants or is_variant:
                derive.build(study.name, tick)
                if is_variant:
                    variants.update_losses(load_study(study.name))
            derive.build_quick_files(load_study(study.name))
        for part in (PUBLIC, STAFF):
            target = home / part / study.assignment
            shutil.rmtree(target, ignore_errors=True)
            target.parent.mkdir(parents=True, exist_ok=True)
            (temporary / part / study.assignment).rename(target)


def _copy_with_changes(study: Study, changes: StudyChanges, file: Path, home: Path) -> None:
    for path in _files_of(study):
        target = home / path.relative_to(study.home)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, target)
    if changes.variant or changes.former:
        _make_variant(study, changes, file, home)
    _change_tables(study, changes, file, home)
    for path in notebook_texts(home / PUBLIC / study.assignment):
        path.write_text(_changed_notebook(path, study, changes, file), "utf-8")


def _make_variant(study: Study, changes: StudyChanges, file: Path, home: Path) -> None:
    table, where = variants.read_variants(study), f"{study.name}.variant"
    values = table.complete(changes.variant, file, where)
    former = [table.complete(each, file, f"{study.name}.former") for each in changes.former]
    others = [each for each in (table.kit, *former) if each != values]
    variants.make_variant(study, home, table, values, others)


def _remove(name: str, home: Path) -> None:
    for folder in folders_of(home, name):
        shutil.rmtree(folder)


def _change_tables(study: Study, changes: StudyChanges, file: Path, home: Path) -> None:
    """Write the changed tables of checks, hidden cases, variants and mutants."""
    left_out = {*changes.leave_out}
    _validate_names(study, changes, file)
    checks_file = home / study.table.relative_to(study.home)
    checks_file.write_text(
        tomli_w.dumps(_changed_checks(checks_file, study, changes, file)), "utf-8"
    )
    hidden_file = home / cases_file(study).relative_to(study.home)
    hidden = dict(changes.drawn_cases or read_table(hidden_file)["cases"])
    for check, cases in changes.hidden_cases.items():
        if check not in hidden or check in left_out or not isinstance(cases, list):
            raise table_error(
                file,
                f"{study.name}.hidden_cases",
                f"{check!r} must be a check with a list of cases",
            )
        hidden[check] = [*hidden[check], *cases]
    hidden_file.write_text(tomli_w.dumps({"cases": _without(hidden, left_out)}), "utf-8")
    variants_path = home / variants.variants_file(study).relative_to(study.home)
    if left_out and variants_path.is_file():
        table = read_table(variants_path)
        for parameter in table["parameters"].values():
            parameter["affects"] = _without(parameter["affects"], left_out)
        variants_path.write_text(tomli_w.dumps(table), "utf-8")
    mutants_path = home / mutants_file(study).relative_to(study.home)
    mutants = _changed_mutants(read_table(mutants_path), changes)
    mutants_path.write_text(tomli_w.dumps(mutants), "utf-8")


def _validate_names(study: Study, changes: StudyChanges, file: Path) -> None:
    """Raise `StudyTableError` for an unknown name, or for a check that is in both lists."""
    for key, names, known, kind in (
        ("leave_out", changes.leave_out, [*study.checks, *study.written], "check or question"),
        ("extra_credit", changes.extra_credit or (), [*study.checks], "check"),
    ):
        for name in names:
            if name not in known:
                raise table_error(
                    file,
                    f"{study.name}.{key}",
                    f"there is no {kind} {name!r}; there are {', '.join(known)}",
                )
            if key == "extra_credit" and name in changes.leave_out:
                raise table_error(
                    file, f"{study.name}.{key}", f"{name!r} is also in leave_out: name it only once"
                )


def _extra_credit(study: Study, changes: StudyChanges) -> list[str]:
    """Return the checks for extra credit in the course's version of a study."""
    if changes.extra_credit is not None:
        return [*changes.extra_credit]
    return [
        name
        for name, check in study.checks.items()
        if check.extra_credit and name not in changes.leave_out
    ]


def _changed_mutants(table: Mapping[str, Any], changes: StudyChanges) -> dict[str, Any]:
    """Return the table without the mutants that can be detected only by a check that is left out.

    The sentences of the stub that they break are listed as untested.
    """
    left_out, kept, unbroken = {*changes.leave_out}, [], []
    for entry in [*table["mutant"], *changes.mutants]:
        loses = _without(entry["loses"], left_out)
        if loses or not entry["loses"]:
            kept.append({**entry, "loses": loses})
        else:
            unbroken += entry.get("breaks", [])
    untested = dict(table.get("untested", {}))
    if unbroken:
        untested[LEFT_OUT] = list(dict.fromkeys(unbroken))
    return {"untested": untested, "mutant": kept}


def _changed_checks(
    checks_file: Path, study: Study, changes: StudyChanges, file: Path
) -> dict[str, Any]:
    left_out = {*changes.leave_out}
    table = {**read_table(checks_file), "extra_credit": _extra_credit(study, changes)}
    for part in ("points", "written", "checks"):
        table[part] = _without(table[part], left_out)
    for name, points in changes.points.items():
        place = f"{study.name}.points"
        if name in table["written"] and not isinstance(points, dict):
            table["written"][name] = points
        elif name in table["points"] and isinstance(points, dict):
            for aspect in points.keys() - table["points"][name].keys():
                raise table_error(
                    file,
                    place,
                    f"{name} has no aspect {aspect!r}; it has {', '.join(table['points'][name])}",
                )
            table["points"][name] = {**table["points"][name], **points}
        else:
            raise table_error(
                file,
                place,
                f"{name!r} must be a check with points for its aspects, such as "
                "{ counts = 2 }, or a written question with a number of points",
            )
    return table


def _without(table: Mapping[str, Any], names: set[str]) -> dict[str, Any]:
    return {name: value for name, value in table.items() if name not in names}


def _changed_notebook(path: Path, study: Study, changes: StudyChanges, file: Path) -> str:
    """Return the text of a notebook without what is left out, and with the texts of the course."""
    text = _without_cells(path.read_text("utf-8"), study, {*changes.leave_out})
    optional = {*changes.leave_out, *_extra_credit(study, changes)}
    if any(check.extra_credit for name, check in study.checks.items() if name not in optional):
        text = EXTRA_CREDIT.sub("", text)
    for change in changes.texts:
        if change.notebook == path.stem:
            text = _with_text(text, change, file, study.name)
        elif change.notebook not in [p.stem for p in notebook_texts(study.folder)]:
            raise table_error(
                file,
                f"{study.name}.text",
                f"there is no notebook {change.notebook!r}; there are "
                f"{', '.join(p.stem for p in notebook_texts(study.folder))}",
            )
    return text


def _without_cells(text: str, study: Study, left_out: set[str]) -> str:
    """Return a notebook without the cells of these checks, and without these questions.

    A question is in the cell before its answer, which begins with "**Question".
    """
    header, *cells = re.split(r"(?m)^(?=# %%)", text)
    kept: list[str] = []
    for cell in cells:
        answer = ANSWER.search(cell.partition("\n")[0])
        if answer and answer[1] in left_out:
            if kept and kept[-1].partition("\n")[2].lstrip("# \n").startswith("**Question"):
                kept.pop()
        elif not _runs(cell, study, left_out):
            kept.append(cell)
    return header + "".join(kept)


def _runs(cell: str, study: Study, checks: set[str]) -> bool:
    """Whether a cell only runs one of these checks."""
    (parsed,) = jupytext.reads(cell, fmt="py:percent").cells
    name = check_id(parsed)
    return name is not None and name in {f"{study.name}.{check}" for check in checks}


def _with_text(text: str, change: TextChange, file: Path, study: str) -> str:
    """Return a notebook in which one text is replaced, or with a new cell before or after a cell.

    Line breaks in the quoted text need not be those of the notebook.
    """
    words = r"\s+(?:#\s+)?".join(map(re.escape, change.quoted.split()))
    matches = list(re.finditer(words, text))
    if len(matches) != 1:
        raise table_error(
            file,
            f"{study}.text",
            f"{change.quoted!r} occurs {len(matches)} times in {change.notebook}, but must occur "
            "once",
        )
    start, end = matches[0].span()
    comment = "\n".join(f"# {line}".rstrip() for line in change.text.strip().split("\n"))
    if change.place == "replace":
        return text[:start] + comment.removeprefix("# ") + text[end:]
    at = text.rfind("\n# %%", 0, start) + 1
    if change.place == "after":
        following = text.find("\n# %%", end)
        at = len(text) if following < 0 else following + 1
    return f"{text[:at].rstrip()}\n\n# %% [markdown]\n{comment}\n\n{text[at:]}".rstrip() + "\n"
