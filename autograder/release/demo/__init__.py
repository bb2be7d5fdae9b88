"""The bundled class of fictitious students, whose submissions are made from `class.toml`.

May import the rest of `release` and the layers below it.
"""

import json
import shutil
import tomllib
from pathlib import Path

import nbformat

from autograder.course_folder import CONFIG_FILE, CourseFolder, CourseFolderError
from autograder.release.assignments import add_students
from autograder.release.notebooks import answer_id
from autograder.studies.mutants import Mutant, load_mutants
from autograder.workspace import answer_path
from autograder.workspace.strip import stub
from course.checks import Study, load_study

HERE = Path(__file__).parent
SUBMITTED_AT = "2026-03-02 10:00:00 UTC"
MARK_FILE = "made_by_the_demo.txt"
MARK_TEXT = """The command `demo` made this folder, and the next demo deletes everything in it.

Do not keep your own files here. Without this file, the demo does not touch the folder.
"""
LIMITS = """
# One submission of the bundled class never ends, so it is stopped earlier than by default.
c.GradingStep.cell_seconds = 6
"""


def clear_target(course: Path) -> None:
    """Create a course folder for the demo, replacing an earlier demo.

    Raises `CourseFolderError` for a folder with any other content, which is left unchanged.
    """
    mark = course / MARK_FILE
    if course.is_symlink():
        raise CourseFolderError(f"{course} is a symbolic link: name a real folder")
    if mark.is_file():
        for path in course.iterdir():
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            elif path != mark:
                path.unlink()
        mark.unlink()  # removed last, so that a demo that was stopped can continue
    elif course.exists() and any(course.iterdir()):
        raise CourseFolderError(
            f"{course} is not empty and was not made by the demo, so it is "
            "left unchanged: choose another folder"
        )
    CourseFolder.create(course)
    mark.write_text(MARK_TEXT, "utf-8")


def submit_work(folder: CourseFolder) -> int:
    """Add the class to the roster and its submissions to `submitted/`; return the size of the
    class.
    """
    with (folder.root / CONFIG_FILE).open("a", encoding="utf-8") as config:
        config.write(LIMITS)
    students = read_students()
    add_students(folder, [(s["id"], s["first"], s["last"]) for s in students])
    for student in students:
        for name, work in student["work"].items():
            study = load_study(name)
            target = folder.root / "submitted" / student["id"] / study.assignment
            target.mkdir(parents=True)
            if work["module"] != "empty folder":
                _submit(folder, study, work, target)
    return len(students)


def read_students() -> list[dict]:
    """Return the students in `class.toml`, each with the table of its work."""
    return tomllib.loads((HERE / "class.toml").read_text("utf-8"))["student"]


def _submit(folder: CourseFolder, study: Study, work: dict, target: Path) -> None:
    shutil.copytree(folder.release(study.assignment), target, dirs_exist_ok=True)
    (target / "timestamp.txt").write_text(SUBMITTED_AT, "utf-8")
    module = target / study.module
    text = module_text(study, work)
    if text is None:
        module.unlink()
    else:
        module.write_bytes(text.encode(work.get("encoding", "utf-8")))
    for path in sorted(target.glob("*.ipynb")):
        notebook = nbformat.read(path, as_version=4)
        for cell in notebook.cells:
            grade_id = cell.metadata.get("nbgrader", {}).get("grade_id")
            for written, answer in work.get("answers", {}).items():
                if grade_id == answer_id(written):
                    cell.source = answer
        nbformat.write(notebook, path)
    for change in work.get("notebooks", []):
        _damage(target, change)


def module_text(study: Study, work: dict) -> str | None:
    """Return the text of the submitted module, or None if there is none."""
    answer = answer_path(study).read_text("utf-8")
    kind, _, name = work["module"].partition(": ")
    match kind:
        case "none" | "empty folder":
            return None
        case "reference":
            text = answer
        case "stub":
            return stub(answer, study.module)
        case "mutant":
            text = next(m for m in load_mutants(study.name) if m.name == name).apply(answer)
        case "edit":
            text = Mutant("edit", "", {}, [(work["old"], work["new"])], HERE).apply(answer)
        case "file":
            text = (HERE / name).read_text("utf-8")
        case _:
            raise ValueError(f"class.toml: there is no module of the kind {work['module']!r}")
    return stub(text, study.module, keep=work["written"]) if "written" in work else text


def _damage(target: Path, change: dict) -> None:
    """Damage a notebook in one of the ways in which notebooks are damaged before submission."""
    path = target / change["notebook"]
    match change["what"]:
        case "cut off":
            path.write_text(path.read_text("utf-8")[:2000], "utf-8")
        case "missing":
            path.unlink()
        case "renamed":
            path.rename(path.with_stem(path.stem + " (1)"))
        case "check deleted" | "check twice" as what:
            data = json.loads(path.read_text("utf-8"))
            checks = [c for c in data["cells"] if "".join(c["source"]).startswith("check(")]
            if what == "check deleted":
                data["cells"].remove(checks[0])
            else:
                data["cells"].append({**checks[0], "id": "copied"})
            path.write_text(json.dumps(data), "utf-8")
        case what:
            raise ValueError(f"class.toml: there is no change to notebooks named {what!r}")
