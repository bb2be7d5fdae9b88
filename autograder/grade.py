"""Grades a class: each submission is taken in, run by nbgrader, and entered in a ledger.

A submission that was graded and has not changed since is left alone; a run that was stopped goes on
where it was. What goes wrong with one submission is told of that one, and the others are graded.
"""

import hashlib
import json
import os
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from nbgrader.converters import Autograde
from nbgrader.coursedir import CourseDirectory
from sqlalchemy.exc import SAWarning

from autograder import verdicts, workspace
from autograder.course_folder import CourseFolder, quiet_log
from autograder.intake import fingerprint, take_in
from autograder.step import write_json
from autograder.workers import Failed, run_tasks
from course.probes import HERE, Study, load_expected
from course.probes.outcome import Outcome, mark

LEDGER = "submission.json"


class GradingError(RuntimeError):
    """Nothing can be graded: the class is missing, or the machinery cannot be trusted."""


@dataclass(frozen=True)
class Graded:
    """What became of one submission.

    `status`: "graded"; "unchanged" (graded before, and nothing has changed since); "nothing to
    grade"; "fault" (the machinery failed: no marks were given). `problems` are sentences about what
    was handed in.
    """

    student: str
    status: str
    problems: tuple[str, ...] = ()
    seconds: float = 0.0

    @property
    def needs_a_look(self) -> bool:
        """Whether a person should look at what was handed in, or at the machinery."""
        return bool(self.problems) or self.status in ("nothing to grade", "fault")


def grade(folder: CourseFolder, study: Study, students: Iterable[str] | None = None, *,
          force: bool = False, jobs: int | None = None,
          done: Callable[[Graded], None] = lambda graded: None) -> list[Graded]:
    """Grade the submissions to `study`, all or those of `students`; `done` hears of each.

    Before anybody is graded, the reference must get full marks and the stub none. Raises
    `GradingError` if they do not, or if there is nothing to grade.
    """
    if not folder.release(study.assignment).is_dir():
        raise GradingError(f"{study.assignment} has not been released in {folder.root}: "
                           f"run `autograder release {study.name}` first")
    submitted = folder.submitted(study.assignment)
    if students is not None:
        unknown = sorted(set(students) - set(submitted))
        if unknown:
            raise GradingError(f"nothing was handed in to {study.assignment} by "
                               + ", ".join(unknown))
        submitted = {student: submitted[student] for student in students}
    if not submitted:
        raise GradingError(f"there are no submissions to {study.assignment} in "
                           f"{folder.root / 'submitted'} (submitted/STUDENT/{study.assignment}/)")
    prove_by_canaries(study)
    graded = []
    tasks = ((folder, study.name, student, force) for student in submitted)
    for task, result in run_tasks(grade_one, tasks, jobs or os.cpu_count() or 1,
                                  preload=["autograder.grade"]):
        graded.append(Graded(task[2], "fault", (result.reason,))  # a fault is never a mark
                      if isinstance(result, Failed) else result)
        done(graded[-1])
    return sorted(graded, key=lambda g: g.student)


def grade_one(folder: CourseFolder, study_name: str, student: str, force: bool) -> Graded:
    """Grade one submission, unless the ledger says that it is graded and has not changed."""
    start = time.perf_counter()
    study = verdicts.hidden_study(study_name)
    submission = folder.submitted(study.assignment)[student]
    results = folder.results(study.assignment, student)
    ledger = results / LEDGER
    state = {"submission": fingerprint(submission), "grader": grader_digest(study)}
    if not force and (old := read_ledger(ledger)) and old["state"] == state:
        return Graded(student, "unchanged", tuple(old["problems"]))
    ledger.unlink(missing_ok=True)  # a run that is stopped from here on grades it again
    with tempfile.TemporaryDirectory(prefix="intake-") as temporary:
        staged = Path(temporary) / student / study.assignment
        intake = take_in(submission, study, folder.release(study.assignment), staged)
        if not intake.gradable:
            result = Graded(student, "nothing to grade", intake.problems)
        else:
            try:
                _autograde(folder, study, student, Path(temporary), results / "grade.log")
            except Exception as error:
                return Graded(student, "fault", (
                    *intake.problems, f"{type(error).__name__}: {error}".splitlines()[0]
                    + f" (see {results / 'grade.log'})"))
            result = Graded(student, "graded", intake.problems,
                            round(time.perf_counter() - start, 2))
    write_json(ledger, {"state": state, **asdict(result)})
    return result


def read_ledger(path: Path) -> dict | None:
    """The ledger's entry of one submission, or None if it has not been graded to the end."""
    try:
        return json.loads(path.read_text("utf-8"))
    except (FileNotFoundError, json.JSONDecodeError):
        return None


def grader_digest(study: Study) -> str:
    """A digest of what decides the marks: when an instructor changes it, the class is regraded."""
    files = [verdicts.expected_file(study), verdicts.HERE / f"{study.name}.toml",
             HERE / f"{study.name}.toml"]
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in files)).hexdigest()


def prove_by_canaries(study: Study) -> None:
    """Raise `GradingError` unless the reference gets full marks here and now, and the stub none."""
    texts = workspace.module_texts(study)
    for name, wanted in (("reference", 1), ("stub", 0)):
        for outcome in outcomes_of(study, texts[name]):
            if outcome.earned != wanted * outcome.points:
                raise GradingError(
                    f"nothing was graded: the {name} gets {outcome.earned:g} of "
                    f"{outcome.points:g} points for {outcome.check}"
                    + (f" ({outcome.problem})" if outcome.problem else "")
                    + "; if answers or positions were edited, run `autograder build`")


def outcomes_of(study: Study, text: str, checks: Iterable[str] | None = None) -> list[Outcome]:
    """How a module with this text does in the hidden checks of a study."""
    hidden = verdicts.hidden_study(study.name)
    expected, slips = load_expected(verdicts.expected_file(study))
    replies = workspace.ask_all(hidden, text, checks=checks)
    return [mark(hidden.checks[name], reply, expected[name], slips)
            for name, reply in replies.items()]


def _autograde(folder: CourseFolder, study: Study, student: str, staging: Path, log: Path) -> None:
    """nbgrader's own autograde of one submission, reading what the intake has staged."""
    config = folder.config()
    config.CourseDirectory.assignment_id = study.assignment
    config.CourseDirectory.student_id = student
    config.CourseDirectory.submitted_directory = str(staging)
    converter = Autograde(coursedir=CourseDirectory(config=config), config=config)
    converter.force = True
    converter.log = quiet_log(log)
    with warnings.catch_warnings():  # nbgrader's models make SQLAlchemy warn on every submission
        warnings.simplefilter("ignore", SAWarning)
        converter.start()
