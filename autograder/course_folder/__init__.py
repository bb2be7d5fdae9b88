"""The course folder: an nbgrader course folder, used by nbgrader's tools and by ours.

```
nbgrader_config.py   two lines that call `configure`
source/ release/ submitted/ autograded/ feedback/   nbgrader's: {stage}/{student}/{assignment}
exchange/   where students fetch and submit assignments, unless configured elsewhere
results/{assignment}/{student}/   the outcome of each check, as JSON; the grading ledger
reports/   a page and a CSV per assignment
canvas.json   the columns by which Canvas identifies students, if the roster is from Canvas
lms.json   columns, participants and names of other systems (see `autograder.lms.store`)
late.json   the late penalty, if our command has set one
attempts/{assignment}/{student}/   every version of a submission, and its marks once it is replaced
marks/{assignment}.jsonl   every change of a mark (see `autograder.grading.mark_history`)
regrade_requests.json   students' regrade requests and their answers
people.json   sections, groups, dropped students and extensions (see `people.py`)
course.toml   the course's name, and what it changes in the kit's studies (see `table.py`)
hidden/{study}.toml   the course's own hidden positions, from `draw-positions`
messages/   translations for students: de.po, and de.mo, which is compiled from it
generated.json   the version of each study that was generated
studies/   the course's own studies, and its versions of the kit's studies
secret   the seed of the deals of graded games
gradebook.db   unless the configuration names a database on a server
```

May import only modules for times and errors, and the public packages.
"""

import json
import logging
import os
import secrets
import sys
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from traceback import walk_tb
from typing import Any

from traitlets.config import Config, PyFileConfigLoader

from autograder.course_folder.people import People, read_people
from autograder.course_folder.table import ENGLISH, read_course_table
from autograder.errors import UserError
from autograder.nbgrader_times import read_times_strictly, submission_time
from autograder.times import TimeError, course_zone, machine_zone
from common.command_lines import advice
from common.messages import english
from course.checks import Study, StudyTableError, UnknownCheck, load_study, modules
from course.checks.questions import load_questions
from course.checks.study_paths import PUBLIC, VARIABLE
from course.lab.progress import ANSWER_STUB

CONFIG_FILE = "nbgrader_config.py"
CONFIG_TEXT = '''"""nbgrader's configuration of this course; add your own settings below."""

from autograder.course_folder import configure

c = get_config()
configure(c, __file__)

# c.GradingStep.check_seconds = 30   # for one check of one submission
# c.GradingStep.cell_seconds = 10    # for one cell of a notebook
# c.CourseDirectory.db_url = "postgresql+psycopg://HOST/DATABASE"   # see docs/scale.md
# c.Exchange.root = "/srv/exchange"   # writable by students; by default exchange/ in this folder

# The course's time zone, for due dates and times of submission that name none.
c.Exchange.timezone = c.NbGraderAPI.timezone = "ZONE"
'''
STUDIES = "studies"
MESSAGES = "messages"
EXCHANGE = "exchange"
PREPARED = {"course.toml", MESSAGES, STUDIES}  # may be there before the folder is created
SECRET = "secret"
MIN_SECRET_CHARACTERS = 16
LATE_FILE = "late.json"
STUDENT_FILE = "nbgrader_config.json"  # nbgrader's settings for a student's folder


class CourseFolderError(UserError):
    """The folder is not a course folder, or cannot become one."""


@dataclass(frozen=True)
class CourseFolder:
    """A course folder; `create` makes a new one, `open` checks an existing one."""

    root: Path

    @classmethod
    def create(cls, root: Path) -> "CourseFolder":
        """Create a course folder at `root`, unless it exists.

        A new folder may contain what an instructor writes or copies before: `course.toml`, messages
        and studies. Raises `CourseFolderError` for a folder that contains other files, and for a
        path that nbgrader cannot handle.
        """
        root = root.resolve()
        _require_plain_path(root)
        if root.exists() and not root.is_dir():
            raise CourseFolderError(f"{root} is not a folder")
        _require_no_pipes(root)
        if not (root / CONFIG_FILE).exists():
            if root.exists() and {path.name for path in root.iterdir()} - PREPARED:
                raise CourseFolderError(
                    f"{root} is not empty and has no {CONFIG_FILE}: "
                    "name a new or an empty folder for the course"
                )
            root.mkdir(parents=True, exist_ok=True)
            root.chmod(0o700)  # marks, answers and submissions are private
            (root / CONFIG_FILE).write_text(CONFIG_TEXT.replace("ZONE", machine_zone()), "utf-8")
            (root / EXCHANGE).mkdir()
        _use_studies_of(root)
        return cls(root)

    @classmethod
    def open(cls, root: Path) -> "CourseFolder":
        """Return the course folder at `root`; raises `CourseFolderError` if there is none."""
        if not (root / CONFIG_FILE).is_file():
            raise CourseFolderError(
                f"{root.resolve()} is not a course folder (no {CONFIG_FILE}); "
                f"{advice('generate', course=root)} creates one"
            )
        _require_plain_path(root.resolve())
        _require_no_pipes(root.resolve())
        _use_studies_of(root.resolve())
        return cls(root.resolve())

    def config(self) -> Config:
        """Return nbgrader's configuration, which is read from the folder's own file as nbgrader
        reads it.

        Raises `CourseFolderError` for an error in that file.
        """
        put_environment_on_path()
        path = self.root / CONFIG_FILE
        try:
            config = PyFileConfigLoader(str(path)).load_config()  # a full path, without a search
        except (UserError, OSError):
            raise
        except StudyTableError as error:
            raise CourseFolderError(str(error)) from error
        except Exception as error:
            raise CourseFolderError(_config_error(path, error)) from error
        if "root" not in config.CourseDirectory:
            raise CourseFolderError(
                f"{path} does not set up this course: it needs the lines `from "
                "autograder.course_folder import configure` and `configure(c, __file__)`"
            )
        for name in ("CourseDirectory.db_url", "Exchange.root"):  # nbgrader checks the others
            section, setting = name.split(".")
            if not isinstance(value := config[section].get(setting, ""), str):
                raise CourseFolderError(
                    f"{path}: c.{name} must be a string in quotes, not {value!r}"
                )
        if (root := config.Exchange.get("root", "")).startswith("~/"):
            config.Exchange.root = str(Path.home() / root.removeprefix("~/"))
        return config

    @property
    def studies_home(self) -> Path:
        """The folder of the course's own studies, in the form that `study_paths` describes."""
        return self.root / STUDIES

    def use_studies(self) -> None:
        """Let this process and its children use the studies of this course, and of no other one."""
        _use_studies_of(self.root)

    def course_name(self) -> str:
        """Return the name of this course, or ""; raises `StudyTableError`."""
        return read_course_table(self.root).name

    def course_id(self) -> str:
        """Return nbgrader's id of this course; raises `StudyTableError`."""
        return read_course_table(self.root).id

    def translations(self) -> Path | None:
        """Return the file with the course's translations, which may be missing; None for a course in
        English. Raises `StudyTableError`.
        """
        language = read_course_table(self.root).language
        return None if language == ENGLISH else self.root / MESSAGES / f"{language}.po"

    def compiled_translations(self) -> Path | None:
        """Return the compiled form of the same file, for `common.messages`."""
        file = self.translations()
        return file and file.with_suffix(".mo")

    def secret(self) -> str:
        """The course's own random seed. It is created on first use, and students never see it.

        It determines the deals of graded games. So students cannot predict them, and all
        submissions of the course play the same deals whenever they are graded. Raises
        `CourseFolderError` for a file that is empty, too short or not text.
        """
        path = self.root / SECRET
        if not path.is_file():
            new = self.root / f".{SECRET}-{os.getpid()}"
            new.touch(0o600)
            new.write_text(secrets.token_hex(32) + "\n", "ascii")
            new.chmod(0o600 | self.root.stat().st_mode & 0o040)  # readable by all graders
            with suppress(FileExistsError):  # another worker has created it first
                os.link(new, path)
            new.unlink()
        secret = path.read_bytes().decode("ascii", "replace").strip()
        if len(secret) < MIN_SECRET_CHARACTERS or not secret.isprintable() or "\ufffd" in secret:
            raise CourseFolderError(
                f"{path} must contain a secret of at least {MIN_SECRET_CHARACTERS} characters; "
                "otherwise students could predict the deals of graded games. Restore the file from "
                "your backup. Without a backup, delete it: the next grading run creates a new "
                "secret, with other deals"
            )
        return secret

    def exchange(self) -> Path:
        """nbgrader's exchange, where assignments are released and submissions are collected."""
        return Path(self.config().Exchange.root)

    def student_settings(self) -> str:
        """The text of the `nbgrader_config.json` with which a student's nbgrader assignment list
        finds this course.
        """
        return (
            json.dumps(
                {
                    "Exchange": {"root": str(self.exchange())},
                    "CourseDirectory": {"course_id": self.course_id()},
                },
                indent=1,
            )
            + "\n"
        )

    def assignment(self, name: str) -> Study:
        """Return a study of the kit, or an assignment that the instructor wrote and released here.

        Raises `UnknownCheck`.
        """
        try:
            return load_study(name)
        except UnknownCheck as unknown:
            if not self.release(name).is_dir():
                raise UnknownCheck(
                    f"{unknown}; and no assignment {name!r} was generated in {self.root}"
                ) from None
        return Study(
            name, title=name, assignment=name, module="", checks={}, written={}, home=self.root
        )

    def people(self) -> People:
        """Return the sections, groups, dropped students and extensions; raises `PeopleError`."""
        return read_people(self.root)

    def submitted(self, assignment: str) -> dict[str, Path]:
        """Return the submissions to one assignment, by student, without those of dropped students
        and of students who are not on the roster.

        All members of a group have the same submission, the last one of the group.
        """
        people, own = self.people(), self._by_student(assignment)
        submitted = {name: path for name, path in own.items() if people.is_active(name)}
        for members in people.groups().values():
            if paths := [own[name] for name in members if name in own]:
                counts = self._last(paths)
                submitted |= {name: counts for name in members if people.is_active(name)}
        return submitted if submitted.keys() <= own.keys() else dict(sorted(submitted.items()))

    def owners(self, assignment: str) -> dict[str, str]:
        """Return, for each student with a submission, the student in whose folder it is, which is
        another one only in a group.
        """
        return {name: nfc(path.parent.name) for name, path in self.submitted(assignment).items()}

    def describe_group(self, assignment: str, student: str) -> str:
        """Return a student's group, with the member whose submission counts if that is another one."""
        group = self.people().person(student).group
        owner = nfc(self.submission(assignment, student).parent.name)
        return f"{group} (submitted by {owner})" if group and owner != student else group

    def rival_submissions(self, assignment: str) -> dict[str, str]:
        """Return a sentence for each group in which several members have submitted, by the student
        whose submission counts.
        """
        own, sentences = self._by_student(assignment), {}
        for group, members in self.people().groups().items():
            if len(names := [name for name in members if name in own]) > 1:
                owner = nfc(self._last([own[name] for name in names]).parent.name)
                sentences[owner] = english(
                    f"several members of group {group} have submitted ({', '.join(names)}); the last "
                    f"submission is {owner}'s"
                )
        return sentences

    def _last(self, submissions: list[Path]) -> Path:
        """Return the submission with the latest time; one without a time counts as the earliest."""
        if len(submissions) == 1:
            return submissions[0]
        zone = course_zone(self.config())

        def key(path: Path) -> tuple[float, str]:
            with suppress(TimeError):
                if time := submission_time(path, zone):
                    return time.timestamp(), path.parent.name
            return 0, path.parent.name

        return max(submissions, key=key)

    def _by_student(self, assignment: str) -> dict[str, Path]:
        paths = [path for path in self._submissions(assignment) if _is_name(path.parent.name)]
        # If several folders have the same name in NFC, the one that is in NFC comes last and counts.
        return {
            nfc(path.parent.name): path
            for path in sorted(
                paths, key=lambda path: (path.parent.name == nfc(path.parent.name), path)
            )
        }

    def submitters(self) -> set[str]:
        """Return the names of all folders in `submitted` that can be a student's."""
        return {
            nfc(path.parent.name) for path in self._submissions("*") if _is_name(path.parent.name)
        }

    def skipped(self, assignment: str) -> dict[str, str]:
        """Return the reasons why folders below `submitted` are not graded, by their names: they are
        misnamed, or the student is not on the roster.
        """
        return self.misnamed(assignment) | self.not_on_roster(assignment)

    def not_on_roster(self, assignment: str) -> dict[str, str]:
        """Return the reasons why submissions of students who are not on the roster are skipped."""
        people = self.people()
        return {
            student: f"the folder submitted/{student} was skipped: {student} is not on the roster; "
            "import the roster with this student, or remove the folder"
            for student in self._by_student(assignment)
            if people.is_unknown(student)
        }

    def misnamed(self, assignment: str) -> dict[str, str]:
        """Return the reasons why folders below `submitted` do not belong to a student, by their
        printable names.
        """
        return {
            repr(path.parent.name): f"the folder submitted/{path.parent.name!r} was skipped: its "
            "name cannot be a student's, because it begins or ends with a "
            "space or has characters that cannot be printed or wildcards "
            "(* ? [); rename it"
            for path in self._submissions(assignment)
            if not _is_name(path.parent.name)
        } | {
            ascii(path.parent.name): f"the folder submitted/{path.parent.name!a} was "
            "skipped: another one has the same name in another Unicode form (NFC); remove one"
            for path in self._submissions(assignment)
            if _is_name(path.parent.name)
            and path.parent.name != nfc(path.parent.name)
            and (self.root / "submitted" / nfc(path.parent.name) / assignment).is_dir()
        }

    def _submissions(self, assignment: str) -> list[Path]:
        return sorted(self.root.glob(f"submitted/*/{assignment}"))

    def submission(self, assignment: str, student: str) -> Path:
        """Return the folder of one student's submission, whatever the Unicode form of its name; that
        of the group if the student has one.
        """
        members = self.people().members(nfc(student))
        paths = [self.own_submission(assignment, name) for name in members]
        if paths := [path for path in paths if path.is_dir()]:
            return self._last(paths)
        return self.own_submission(assignment, student)

    def own_submission(self, assignment: str, student: str) -> Path:
        """Return the folder in which a student submits, without regard to groups."""
        path = self.root / "submitted" / nfc(student) / assignment
        if path.exists() or student.isascii():
            return path
        return next(
            (
                other
                for other in self._submissions(assignment)
                if nfc(other.parent.name) == nfc(student)
            ),
            path,
        )

    def release(self, assignment: str) -> Path:
        """Return the released assignment, that is, the folder that students receive."""
        return self.root / "release" / assignment

    def require_release(self, study: Study) -> None:
        """Raise `CourseFolderError` unless `study` has been released here, as files and folders."""
        release = self.release(study.assignment)
        if not release.is_dir():
            raise CourseFolderError(
                f"{study.assignment} has not been generated in {self.root}: "
                f"run {advice('generate', study.name, course=self.root)} first"
            )
        special = next(
            (
                path
                for path in sorted(release.rglob("*"))
                if not path.is_file() and not path.is_dir()
            ),
            None,
        )
        if special is not None:  # reading a pipe would block
            raise CourseFolderError(
                f"{special} is neither a file nor a folder: remove it, and run "
                f"{advice('generate', study.name, course=self.root)}"
            )

    def results(self, assignment: str, student: str) -> Path:
        """Return the folder of one submission's results: the outcome of each check, and the ledger."""
        return self.root / "results" / assignment / student


def _use_studies_of(root: Path) -> None:
    """Let this process and its children use the studies of this course, and of no other one."""
    listed = [Path(name) for name in os.environ.get(VARIABLE, "").split(os.pathsep) if name]
    homes = [home for home in listed if not (home.parent / CONFIG_FILE).is_file()]
    if (root / STUDIES / PUBLIC).is_dir():
        homes.append(root / STUDIES)
    if homes != listed:
        os.environ[VARIABLE] = os.pathsep.join(map(str, homes))
    if homes:
        load_questions()


def nfc(name: str) -> str:
    """Return a name in Unicode's composed form (NFC), because macOS writes decomposed names."""
    return unicodedata.normalize("NFC", name)


def _is_name(name: str) -> bool:
    """Whether a folder's name is usable as a student's id in nbgrader and in all files and pages."""
    return name.isprintable() and name == name.strip() and not set("*?[") & set(name)


def _config_error(path: Path, error: Exception) -> str:
    """Return a sentence about an error that occurred while a configuration was read."""
    place: Path | str = path
    line, why = None, (str(error).splitlines() or [""])[0]
    if isinstance(error, SyntaxError) and error.filename:
        place, line, why = error.filename, error.lineno, error.msg
    else:
        for step, number in walk_tb(error.__traceback__):
            if step.f_code.co_filename == str(path):
                line = number
    where = f"line {line} of {place}" if line else str(place)
    return (
        f"{where} cannot be used ({type(error).__name__}: {why}): fix it, and run the same "
        "command again"
    )


def _require_no_pipes(root: Path) -> None:
    """Raise `CourseFolderError` if a file of the course itself is a named pipe, since a program that
    opens one waits until another program opens its other side.
    """
    for folder in (root, root / "hidden", root / "marks", root / MESSAGES):
        for path in folder.glob("*"):
            if path.is_fifo():
                raise CourseFolderError(f"{path} is a named pipe: remove it, or restore the file")


def _require_plain_path(root: Path) -> None:
    """Raise `CourseFolderError` for a path that nbgrader would interpret as a pattern, or that
    cannot be part of a gradebook's address.
    """
    if not str(root).isprintable():
        raise CourseFolderError(
            f"{str(root)!r} cannot be a course folder, because its path has "
            "characters that cannot be printed: rename it, or choose another"
        )
    if patterns := sorted(set("*?[") & set(str(root))):
        raise CourseFolderError(
            f"{root} cannot be a course folder, because nbgrader would interpret "
            f"{' '.join(patterns)} in its path as a pattern and use another folder: "
            "rename it, or choose another"
        )


def configure(c: Config, config_file: str) -> None:
    """Configure nbgrader for this course. The configuration applies to our commands, to nbgrader's
    and to formgrader.
    """
    put_environment_on_path()
    read_times_strictly(c)
    if "nbgrader.api" in sys.modules:  # true in nbgrader's commands; importing it takes seconds
        import_module("autograder.gradebook")
    if "nbgrader.server_extensions.formgrader.apihandlers" in sys.modules:
        import_module("autograder.formgrader")
        import_module("autograder.grading.mark_history.formgrader_marks")
    root = Path(config_file).resolve().parent
    _use_studies_of(root)
    c.CourseDirectory.root = str(root)
    gradebook = str(root / "gradebook.db").replace("%", "%25")  # in an address, %41 means A
    c.CourseDirectory.db_url = (
        f"sqlite:///{gradebook}?timeout=10"  # seconds to wait for other writers
    )
    c.CourseDirectory.course_id = read_course_table(root).id
    c.Exchange.root = str(root / EXCHANGE)
    c.ExchangeFactory.collect = "autograder.grading.intake.exchange_collect.SafeCollect"
    c.ClearSolutions.text_stub = ANSWER_STUB
    c.Autograde.exclude_overwriting = {
        assignment: [module] for assignment, module in modules().items()
    }
    c.Autograde.create_student = not read_people(root).roster  # no rows for unknown students
    # nbgrader's own steps and two of ours. One tries the generated tests; the other removes remains
    # of solutions, first before cells are saved and again after regions are removed.
    ours = {
        "RefuseUngradable": "autograder.release.refuse_ungradable.RefuseUngradable",
        "MarkInProcessTests": "autograder.grading.run.instructor_tests.MarkInProcessTests",
        "ClearRemains": "autograder.release.remains.ClearRemains",
        "RemoveSolutionFiles": "autograder.release.remains.RemoveSolutionFiles",
    }
    c.GenerateAssignment.preprocessors = [
        ours.get(name, f"nbgrader.preprocessors.{name}")
        for name in (
            "RefuseUngradable",
            "IncludeHeaderFooter",
            "InstantiateTests",
            "MarkInProcessTests",
            "LockCells",
            "ClearSolutions",
            "ClearOutput",
            "ClearRemains",
            "CheckCellMetadata",
            "ComputeChecksums",
            "SaveCells",
            "ClearHiddenTests",
            "ClearMarkScheme",
            "ClearRemains",
            "RemoveSolutionFiles",
            "ComputeChecksums",
            "CheckCellMetadata",
        )
    ]
    c.Autograde.exporter_class = "autograder.grading.intake.safe_exporter.StagingExporter"
    # nbgrader's own steps without `ClearOutput`: cells that run get new outputs, and other cells
    # keep the submitted ones.
    c.Autograde.sanitize_preprocessors = [
        "autograder.grading.run.nbgrader_steps.RestoreCells",
        "nbgrader.preprocessors.DeduplicateIds",
        "nbgrader.preprocessors.OverwriteKernelspec",
        "nbgrader.preprocessors.OverwriteCells",
        "nbgrader.preprocessors.CheckCellMetadata",
    ]
    # nbgrader's own steps, with `Execute` and `SaveAutoGrades` replaced, and a step that saves the
    # outcomes of checks.
    c.Autograde.autograde_preprocessors = [
        "autograder.grading.run.nbgrader_steps.GradingStep",
        "nbgrader.preprocessors.IgnorePattern",
        "nbconvert.preprocessors.ClearMetadataPreprocessor",
        "nbgrader.preprocessors.LimitOutput",
        "autograder.grading.records.saved_grades.SaveGrades",
        "autograder.grading.run.nbgrader_steps.SaveOutcomes",
        "autograder.grading.run.nbgrader_steps.LatePenalties",
        "nbgrader.preprocessors.CheckCellMetadata",
    ]
    if rule := late_rule(CourseFolder(root)):  # unless the course configures a plugin
        c.AssignLatePenalties.plugin_class = "autograder.grading.records.late.ShareADay"
        c.ShareADay.update(rule)
    # The intake has validated the submitted notebooks; one validation after all steps is enough.
    c.NotebookExporter.optimistic_validation = True
    # Students' HTML must not run in the graders' pages (see
    # `autograder.reporting.pages.safe_html`).
    c.HTMLExporter.sanitize_html = True
    c.HTMLExporter.filters = {
        "clean_html": "autograder.reporting.pages.safe_html.clean_output",
        "markdown2html": "autograder.reporting.pages.safe_html.markdown",
    }
    # Pages must work offline, so our two templates are nbgrader's without network requests.
    # Feedback has its own exporter, because HTMLExporter makes formgrader's pages.
    templates = [
        str(Path(__file__).parents[1] / "reporting" / "templates"),
        str(_nbgrader() / "server_extensions" / "formgrader" / "templates"),
    ]
    c.HTMLExporter.template_name = "offline_formgrade"
    c.HTMLExporter.extra_template_basedirs = templates
    c.GenerateFeedback.preprocessors = [
        "autograder.reporting.pages.safe_html.HideTests",
        "autograder.reporting.summary.Summarise",
    ]
    c.GenerateFeedback.exporter_class = "autograder.reporting.pages.feedback_page.FeedbackExporter"
    c.FeedbackExporter.template_name = "offline_feedback"
    c.FeedbackExporter.optimistic_validation = True  # validate only once, after all steps
    c.FeedbackExporter.extra_template_basedirs = templates


def _nbgrader() -> Path:
    """Return the folder of nbgrader without importing it, which would take a second."""
    spec = find_spec("nbgrader")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("No module named 'nbgrader'", name="nbgrader")
    return Path(spec.origin).parent


def late_rule(folder: CourseFolder) -> dict[str, Any]:
    """Return the options of the late penalty that the course has set; empty if there is none.

    The table [late] of `course.toml` replaces the penalty that a command has set. Raises
    `CourseFolderError` for a file that does not contain a penalty rule.
    """
    options = read_course_table(folder.root).late
    return {**({} if fixed_penalty(folder) else saved_late_rule(folder)), **options}


def fixed_penalty(folder: CourseFolder) -> bool:
    """Whether `course.toml` sets the late penalty, so that no command can change it."""
    options = read_course_table(folder.root).late
    return bool(options.keys() & {"percent_a_day", "percent_an_hour", "at_most"})


def saved_late_rule(folder: CourseFolder) -> dict[str, float]:
    """Return the late penalty that a command has set; empty if there is none."""
    path = folder.root / LATE_FILE
    if not os.path.lexists(path):
        return {}
    study = min((path.name for path in folder.root.glob("release/*/")), default="study1")
    percent = ("--percent-a-day", "10")
    command = advice("late-penalties", study, *percent, course=folder.root)
    mend = f"set the rule again, for example with {command}"
    if not path.is_file():
        raise CourseFolderError(f"{path} is not a regular file: remove it, and {mend}")
    try:
        rule = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise CourseFolderError(f"{path} cannot be read ({error}): {mend}") from error
    if (
        not isinstance(rule, dict)
        or not rule.keys() <= {"percent_a_day", "at_most"}
        or not all(isinstance(value, int | float) and 0 <= value <= 100 for value in rule.values())
    ):
        raise CourseFolderError(
            f"{path} must contain only the percentages percent_a_day and at_most: {mend}"
        )
    return rule


def hidden_folders(config: Config) -> list[Path]:
    """Return the folders of a course that submissions must not see."""
    folders = (config.CourseDirectory.get("root"), config.Exchange.get("root"))
    return [Path(folder).resolve() for folder in folders if folder]


def put_environment_on_path() -> None:
    """Put the environment's programs on PATH, because nbgrader calls `alembic` by name."""
    programs = str(Path(sys.executable).parent)
    if programs not in os.environ.get("PATH", "").split(os.pathsep):
        os.environ["PATH"] = programs + os.pathsep + os.environ.get("PATH", "")


def run_quietly(converter, log_file: Path) -> None:
    """Run one of nbgrader's converters, with its log in a file instead of the terminal.

    Raises the first error, not nbgrader's final error, which only refers to the log.
    """
    log_file.parent.mkdir(parents=True, exist_ok=True)
    handler = _Log(log_file, mode="w", encoding="utf-8", errors="backslashreplace")
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    converter.log = logging.Logger("autograder", logging.INFO)  # not registered, so it can be freed
    converter.log.addHandler(handler)
    try:
        converter.start()
    except Exception:
        if handler.cause is None:
            raise
        raise handler.cause from (handler.cause.__cause__ or handler.cause.__context__)
    finally:
        handler.close()


class _Log(logging.FileHandler):
    """A log that keeps the first error, because nbgrader's own error only refers to the log."""

    cause: BaseException | None = None

    def emit(self, record: logging.LogRecord) -> None:
        """Write a line, and keep the exception that nbgrader is handling while it logs an error."""
        if record.levelno >= logging.ERROR:
            self.cause = self.cause or sys.exc_info()[1]
        super().emit(record)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - logging's name
        """Keep the error that prevented writing the line; grading continues."""
        self.cause = self.cause or sys.exc_info()[1]


@contextmanager
def folder_lock(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder, which is created if necessary.

    Another process, perhaps of a run that was killed, may still be writing to the folder. Raises
    `CourseFolderError` if the lock is not a file; a pipe would wait for a reader forever.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / ".lock"
    if path.exists() and not path.is_file():
        raise CourseFolderError(f"{path} is not a regular file: remove it")
    with path.open("a") as file:
        if os.name == "posix":
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX)
        yield
