"""Reports what a new version of the kit changes for a course, before anything is changed.

`generate` records the version of each study that it generated, in `my_course/generated.json`.
`changes` compares these records with the kit that runs now.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from autograder.course_folder import CourseFolder, CourseFolderError
from autograder.release.notebooks import notebook_texts
from autograder.release.own_course.edited_files import digests_of_files, edited_files
from autograder.studies.hidden_cases import hidden_study
from common.command_lines import DISTRIBUTION
from course.checks import Study, StudyTableError, UnknownCheck, load_study

FILE = "generated.json"
SOURCE = "source"  # nbgrader's folder of the instructor's versions
Snapshot = Mapping[str, Any]
Preview = Callable[[str], AbstractContextManager[object]]


def record(folder: CourseFolder, study: Study) -> None:
    """Record the version of a study that has just been generated."""
    source = folder.root / SOURCE
    files = digests_of_files(source, [source / study.assignment])
    versions = {**recorded(folder), study.name: {**snapshot(study), SOURCE: files}}
    path = folder.root / FILE
    temporary = path.with_suffix(".new")
    temporary.write_text(json.dumps(versions, indent=1) + "\n", "utf-8")
    temporary.replace(path)


def edited_source(folder: CourseFolder, study: Study) -> list[str]:
    """Return the files in `my_course/source` that were edited since `generate` wrote them."""
    made = recorded(folder).get(study.name, {}).get(SOURCE)  # None if an earlier version wrote them
    source = folder.root / SOURCE
    return [] if made is None else edited_files(source, [source / study.assignment], made)


def recorded(folder: CourseFolder) -> dict[str, Snapshot]:
    """Return the recorded versions by study; raises `CourseFolderError` for a damaged file."""
    try:
        return dict(json.loads((folder.root / FILE).read_text("utf-8")))
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise CourseFolderError(
            f"{folder.root / FILE} cannot be read ({error}): delete it, and generate the "
            "assignments again"
        ) from error


def snapshot(study: Study) -> Snapshot:
    """Return what students and graders notice of a study, as plain data."""
    hidden = hidden_study(study.name)
    return {
        "kit": _kit_version(),
        "files": {
            path.name: hashlib.sha256(path.read_bytes()).hexdigest()[:16]
            for path in (
                study.folder / study.module,
                *(text.with_suffix(".ipynb") for text in notebook_texts(study.folder)),
            )
        },
        "checks": {
            name: {
                "points": dict(check.points),
                "extra_credit": check.extra_credit,
                "public": check.digest,
                "hidden": hidden.checks[name].digest,
            }
            for name, check in study.checks.items()
        },
        "written": dict(study.written),
    }


def changes(folder: CourseFolder, preview: Preview = nullcontext) -> dict[str, list[str]]:
    """Return, for each generated study that differs from the present one, a sentence per change.

    Within `preview(name)`, a study is loaded as the course would make it now. A study to which the
    course's table does not apply is left out: the message is one of the adaptation's problems.
    """
    differing = {}
    for name, then in recorded(folder).items():
        try:
            with preview(name):
                now = snapshot(load_study(name))
        except StudyTableError:
            continue
        except UnknownCheck:
            differing[name] = ["the kit no longer has this study"]
            continue
        if sentences := list(_differences(then, now)):
            differing[name] = sentences
    return differing


def not_recorded(folder: CourseFolder) -> list[str]:
    """Return the generated assignments whose version is unknown, because an earlier kit made them."""
    known = {load_study(name).assignment for name in recorded(folder) if _exists(name)}
    generated = sorted(path.name for path in folder.root.glob("release/*") if path.is_dir())
    return [name for name in generated if name not in known and _exists(name)]


def _exists(name: str) -> bool:
    try:
        load_study(name)
    except UnknownCheck:
        return False
    return True


def _differences(then: Snapshot, now: Snapshot) -> Iterator[str]:
    """Yield a sentence for each difference between two versions of a study."""
    for kind, one in (("checks", "check"), ("written", "written question"), ("files", "file")):
        for name in sorted(now[kind].keys() - then[kind].keys()):
            yield f"there is a new {one}, {name}"
        for name in sorted(then[kind].keys() - now[kind].keys()):
            yield f"the {one} {name} no longer exists"
    for name in sorted(now["checks"].keys() & then["checks"].keys()):
        former, present = then["checks"][name], now["checks"][name]
        if former["points"] != present["points"]:
            yield f"{name}: {_points(present['points'])} instead of {_points(former['points'])}"
        if former.get("extra_credit", present["extra_credit"]) != present["extra_credit"]:
            yield f"{name} is {'now' if present['extra_credit'] else 'no longer'} extra credit"
        if former["public"] != present["public"]:
            yield f"{name}: the public positions are different"
        if former["hidden"] != present["hidden"]:
            yield f"{name}: the hidden positions are different, so marks may change"
    for name in sorted(now["written"].keys() & then["written"].keys()):
        if now["written"][name] != then["written"][name]:
            yield f"{name}: {now['written'][name]:g} points instead of {then['written'][name]:g}"
    for name in sorted(now["files"].keys() & then["files"].keys()):
        if now["files"][name] != then["files"][name]:
            yield f"{name} is different: students who have begun keep theirs"


def _points(points: Mapping[str, float]) -> str:
    parts = ", ".join(f"{aspect} {number:g}" for aspect, number in points.items())
    return f"{sum(points.values()):g} points ({parts})"


def _kit_version() -> str:
    try:
        return version(DISTRIBUTION)
    except PackageNotFoundError:
        return ""
