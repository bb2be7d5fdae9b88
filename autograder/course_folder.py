"""The course folder: one nbgrader course folder that both nbgrader's tools and ours work in.

```
nbgrader_config.py   two lines that call `configure`
source/ release/ submitted/ autograded/ feedback/   nbgrader's: {stage}/{student}/{assignment}
exchange/   where students fetch assignments and hand in, unless configured elsewhere
results/{assignment}/{student}/   the outcome of each check, as JSON; the ledger of what was graded
reports/   a page and a CSV per assignment
canvas.json   the columns by which Canvas identifies students, if the roster came from there
late.json   what late submissions lose, if the course has set a rule by our command
secret   the number from which the deals of graded games are drawn
gradebook.db   unless the configuration names a database that a server has
```
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

from traitlets.config import Config, PyFileConfigLoader

from autograder.errors import Refused
from autograder.nbgrader_times import read_times_strictly
from autograder.times import machine_zone
from course.probes import Study, UnknownCheck, load_study, modules
from course.progress import ANSWER_STUB

CONFIG_FILE = "nbgrader_config.py"
CONFIG_TEXT = '''"""nbgrader's configuration of this course; add settings of your own below."""

from autograder.course_folder import configure

c = get_config()
configure(c, __file__)

# c.GradingStep.probe_seconds = 10   # for one check of one submission
# c.GradingStep.cell_seconds = 10         # for one cell of a notebook
# c.CourseDirectory.db_url = "postgresql+psycopg://HOST/DATABASE"   # see docs/scale.md
# c.Exchange.root = "/srv/exchange"   # writable by students; by default exchange/ in this folder

# The course's time zone, for due dates and times of submission that name none.
c.Exchange.timezone = c.NbGraderAPI.timezone = "ZONE"
'''
COURSE_ID = "adversarial_search"
EXCHANGE = "exchange"
SECRET = "secret"
LEAST_SECRET = 16  # characters
LATE_FILE = "late.json"
STUDENT_FILE = "nbgrader_config.json"  # nbgrader's settings for a student's folder


class CourseFolderError(Refused):
    """The folder is not a course folder, or cannot be made one."""


@dataclass(frozen=True)
class CourseFolder:
    """A course folder by its path; `create` makes a new one, `open` checks an existing one."""

    root: Path

    @classmethod
    def create(cls, root: Path) -> "CourseFolder":
        """Make `root` a course folder, or leave it as it is if it is one already.

        Raises `CourseFolderError` for a folder that holds other things, and for one in whose path
        nbgrader would be lost.
        """
        root = root.resolve()
        _require_plain_path(root)
        if root.exists() and not root.is_dir():
            raise CourseFolderError(f"{root} is not a folder")
        if not (root / CONFIG_FILE).exists():
            if root.exists() and any(root.iterdir()):
                raise CourseFolderError(
                    f"{root} is not empty and has no {CONFIG_FILE}: "
                    "name a new or an empty folder for the course"
                )
            root.mkdir(parents=True, exist_ok=True)
            root.chmod(0o700)  # marks, answers and what students handed in are nobody else's
            (root / CONFIG_FILE).write_text(CONFIG_TEXT.replace("ZONE", machine_zone()), "utf-8")
            (root / EXCHANGE).mkdir()
        return cls(root)

    @classmethod
    def open(cls, root: Path) -> "CourseFolder":
        """The course folder at `root`; raises `CourseFolderError` if there is none."""
        if not (root / CONFIG_FILE).is_file():
            raise CourseFolderError(
                f"{root.resolve()} is not a course folder (no {CONFIG_FILE}); "
                "`autograder release` creates one"
            )
        _require_plain_path(root.resolve())
        return cls(root.resolve())

    def config(self) -> Config:
        """nbgrader's configuration, read from the folder's own file as nbgrader reads it.

        Raises `CourseFolderError` for a mistake in that file.
        """
        put_environment_on_path()
        path = self.root / CONFIG_FILE
        try:
            config = PyFileConfigLoader(str(path)).load_config()  # no search: $ in it
        except (Refused, OSError):
            raise
        except Exception as error:
            raise CourseFolderError(_slip(path, error)) from error
        if "root" not in config.CourseDirectory:
            raise CourseFolderError(
                f"{path} does not set up this course: it needs the lines `from "
                "autograder.course_folder import configure` and `configure(c, __file__)`"
            )
        for name in ("CourseDirectory.db_url", "Exchange.root"):  # nbgrader looks at the others
            section, setting = name.split(".")
            if not isinstance(value := config[section].get(setting, ""), str):
                raise CourseFolderError(f"{path}: c.{name} must be a text in quotes, not {value!r}")
        if (root := config.Exchange.get("root", "")).startswith("~/"):
            config.Exchange.root = str(Path.home() / root.removeprefix("~/"))
        return config

    def secret(self) -> str:
        """The course's own random number, made when it is first asked for; students never see it.

        The deals of graded games follow from it: nobody can know them, and every submission of the
        course plays the same ones, today and when it is graded again. Raises `CourseFolderError`
        for a file that is empty, too short or no text.
        """
        path = self.root / SECRET
        if not path.is_file():
            new = self.root / f".{SECRET}-{os.getpid()}"
            new.touch(0o600)
            new.write_text(secrets.token_hex(32) + "\n", "ascii")
            new.chmod(0o600 | self.root.stat().st_mode & 0o040)  # for all who grade here
            with suppress(FileExistsError):  # another worker was quicker
                os.link(new, path)
            new.unlink()
        secret = path.read_bytes().decode("ascii", "replace").strip()
        if len(secret) < LEAST_SECRET or not secret.isprintable() or "\ufffd" in secret:
            raise CourseFolderError(
                f"{path} does not hold a secret of {LEAST_SECRET} characters or more, so anybody "
                "could work out the deals of graded games: put back the file of your backup. "
                "Without one, delete it: the next grading draws a new secret, with other deals"
            )
        return secret

    def exchange(self) -> Path:
        """The folder through which nbgrader hands assignments out and takes submissions in."""
        return Path(self.config().Exchange.root)

    def student_settings(self) -> str:
        """The text of a student's `nbgrader_config.json`, by which nbgrader's list of assignments
        finds this course."""
        return (
            json.dumps(
                {
                    "Exchange": {"root": str(self.exchange())},
                    "CourseDirectory": {"course_id": COURSE_ID},
                },
                indent=1,
            )
            + "\n"
        )

    def assignment(self, name: str) -> Study:
        """A study of the kit, or an assignment of the instructor's own that was released here.

        Raises `UnknownCheck`.
        """
        try:
            return load_study(name)
        except UnknownCheck as unknown:
            if not self.release(name).is_dir():
                raise UnknownCheck(
                    f"{unknown}; nor was an assignment {name!r} released in {self.root}"
                ) from None
        return Study(
            name, title=name, assignment=name, module="", checks={}, written={}, home=self.root
        )

    def submitted(self, assignment: str) -> dict[str, Path]:
        """The submissions to one assignment, by student."""
        found = [path for path in self._handed_in(assignment) if _is_name(path.parent.name)]
        # A folder whose name is NFC already comes last, and counts.
        return {
            nfc(path.parent.name): path
            for path in sorted(
                found, key=lambda path: (path.parent.name == nfc(path.parent.name), path)
            )
        }

    def misnamed(self, assignment: str) -> dict[str, str]:
        """Why folders below `submitted` are no student's, by their names as they can be shown."""
        return {
            repr(path.parent.name): f"the folder submitted/{path.parent.name!r} was left out: "
            "its name cannot be a student's, as it has blanks at an end or characters that "
            "cannot be printed, or that stand for others (* ? [); rename it"
            for path in self._handed_in(assignment)
            if not _is_name(path.parent.name)
        } | {
            ascii(path.parent.name): f"the folder submitted/{path.parent.name!a} was left "
            "out: another one has the same name in another Unicode form (NFC); remove one"
            for path in self._handed_in(assignment)
            if _is_name(path.parent.name)
            and path.parent.name != nfc(path.parent.name)
            and (self.root / "submitted" / nfc(path.parent.name) / assignment).is_dir()
        }

    def _handed_in(self, assignment: str) -> list[Path]:
        return sorted(self.root.glob(f"submitted/*/{assignment}"))

    def submission(self, assignment: str, student: str) -> Path:
        """The folder that one student handed in, whatever the Unicode form of its name."""
        path = self.root / "submitted" / nfc(student) / assignment
        if path.exists() or student.isascii():
            return path
        return next(
            (
                other
                for other in self._handed_in(assignment)
                if nfc(other.parent.name) == nfc(student)
            ),
            path,
        )

    def release(self, assignment: str) -> Path:
        """The released assignment: the folder that students receive."""
        return self.root / "release" / assignment

    def require_release(self, study: Study) -> None:
        """Raise `CourseFolderError` unless `study` has been released here, as files and folders."""
        release = self.release(study.assignment)
        if not release.is_dir():
            raise CourseFolderError(
                f"{study.assignment} has not been released in {self.root}: "
                f"run `autograder release {study.name}` first"
            )
        odd = next(
            (
                path
                for path in sorted(release.rglob("*"))
                if not path.is_file() and not path.is_dir()
            ),
            None,
        )
        if odd is not None:  # a pipe would block whoever reads it
            raise CourseFolderError(
                f"{odd} is neither a file nor a folder: remove it, and run "
                f"`autograder release {study.name}`"
            )

    def results(self, assignment: str, student: str) -> Path:
        """The folder of one submission's results: the outcome of each check, and the ledger."""
        return self.root / "results" / assignment / student


def nfc(name: str) -> str:
    """A name in Unicode's composed form: macOS writes others, for the same student."""
    return unicodedata.normalize("NFC", name)


def _is_name(name: str) -> bool:
    """Whether a folder's name can be a student's, for nbgrader and in every file and page."""
    return name.isprintable() and name == name.strip() and not set("*?[") & set(name)


def _slip(path: Path, error: Exception) -> str:
    """A sentence for what went wrong while a configuration was read."""
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
        f"{where} cannot be used ({type(error).__name__}: {why}): mend it, and give the same "
        "command again"
    )


def _require_plain_path(root: Path) -> None:
    """Raise `CourseFolderError` for a path that nbgrader takes for a pattern, or that no address
    of a gradebook can hold."""
    if not str(root).isprintable():
        raise CourseFolderError(
            f"{str(root)!r} cannot be a course folder, as its path has "
            "characters that cannot be printed: rename it, or name another"
        )
    if patterns := sorted(set("*?[") & set(str(root))):
        raise CourseFolderError(
            f"{root} cannot be a course folder, as nbgrader takes "
            f"{' '.join(patterns)} in its path for a pattern and would look "
            "elsewhere: rename it, or name another"
        )


def configure(c: Config, config_file: str) -> None:
    """Set up nbgrader for this course: the same for our commands, nbgrader's and formgrader's."""
    put_environment_on_path()
    read_times_strictly(c)
    if "nbgrader.api" in sys.modules:  # as in nbgrader's commands; importing it takes seconds
        import_module("autograder.gradebook")
    if "nbgrader.server_extensions.formgrader.apihandlers" in sys.modules:
        import_module("autograder.formgrader")
    root = Path(config_file).resolve().parent
    c.CourseDirectory.root = str(root)
    gradebook = str(root / "gradebook.db").replace("%", "%25")  # %41 in an address is an A
    c.CourseDirectory.db_url = f"sqlite:///{gradebook}?timeout=10"  # seconds that others may write
    c.CourseDirectory.course_id = COURSE_ID
    c.Exchange.root = str(root / EXCHANGE)
    c.ExchangeFactory.collect = "autograder.grading.collecting.CarefulCollect"
    c.ClearSolutions.text_stub = ANSWER_STUB
    c.Autograde.exclude_overwriting = {
        assignment: [module] for assignment, module in modules().items()
    }
    # nbgrader's own steps; one of ours tries the tests that they generate, one clears what they
    # leave of solutions: at first before cells are saved, and again after regions are removed.
    ours = {
        "RefuseUngradable": "autograder.release.refuse_ungradable.RefuseUngradable",
        "TellInside": "autograder.grading.own_tests.TellInside",
        "ClearRemains": "autograder.release.remains.ClearRemains",
        "RemoveSolutionFiles": "autograder.release.remains.RemoveSolutionFiles",
    }
    c.GenerateAssignment.preprocessors = [
        ours.get(name, f"nbgrader.preprocessors.{name}")
        for name in (
            "RefuseUngradable",
            "IncludeHeaderFooter",
            "InstantiateTests",
            "TellInside",
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
    c.Autograde.exporter_class = "autograder.grading.careful_exporter.CarefulExporter"
    # nbgrader's own steps without `ClearOutput`: what is run gets new outputs, and what is not run
    # keeps those that were handed in.
    c.Autograde.sanitize_preprocessors = [
        "autograder.grading.nbgrader_steps.RestoreCells",
        "nbgrader.preprocessors.DeduplicateIds",
        "nbgrader.preprocessors.OverwriteKernelspec",
        "nbgrader.preprocessors.OverwriteCells",
        "nbgrader.preprocessors.CheckCellMetadata",
    ]
    # nbgrader's own steps, with `Execute` and `SaveAutoGrades` replaced and one that keeps what the
    # checks saw.
    c.Autograde.autograde_preprocessors = [
        "autograder.grading.nbgrader_steps.GradingStep",
        "nbgrader.preprocessors.IgnorePattern",
        "nbconvert.preprocessors.ClearMetadataPreprocessor",
        "nbgrader.preprocessors.LimitOutput",
        "autograder.grading.saved_grades.SaveGrades",
        "autograder.grading.nbgrader_steps.SaveOutcomes",
        "autograder.grading.nbgrader_steps.LatePenalties",
        "nbgrader.preprocessors.CheckCellMetadata",
    ]
    if rule := rule_of(CourseFolder(root)):  # a plugin that the course names itself counts instead
        c.AssignLatePenalties.plugin_class = "autograder.grading.late.ShareADay"
        c.ShareADay.update(rule)
    # The intake has validated what comes in; once more after all steps is enough.
    c.NotebookExporter.optimistic_validation = True
    # Students' HTML must not run in the pages of whoever grades, see
    # `autograder.telling.safe_html`.
    c.HTMLExporter.sanitize_html = True
    c.HTMLExporter.filters = {
        "clean_html": "autograder.telling.safe_html.clean_output",
        "markdown2html": "autograder.telling.safe_html.markdown",
    }
    # Pages are read without a network: our two templates are nbgrader's, less what asks for one.
    # Feedback has an exporter of its own, because formgrader's pages are made by HTMLExporter.
    templates = [
        str(Path(__file__).parent / "telling" / "templates"),
        str(_nbgrader() / "server_extensions" / "formgrader" / "templates"),
    ]
    c.HTMLExporter.template_name = "offline_formgrade"
    c.HTMLExporter.extra_template_basedirs = templates
    c.GenerateFeedback.preprocessors = [
        "autograder.telling.safe_html.HideTests",
        "autograder.telling.summary.Summarise",
    ]
    c.GenerateFeedback.exporter_class = "autograder.telling.feedback_page.FeedbackExporter"
    c.FeedbackExporter.template_name = "offline_feedback"
    c.FeedbackExporter.optimistic_validation = True  # once, after all steps
    c.FeedbackExporter.extra_template_basedirs = templates


def _nbgrader() -> Path:
    """The folder of nbgrader, which takes a second to import."""
    spec = find_spec("nbgrader")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("No module named 'nbgrader'", name="nbgrader")
    return Path(spec.origin).parent


def rule_of(folder: CourseFolder) -> dict[str, float]:
    """What late submissions lose by the rule that `autograder late` keeps; empty without one.

    Raises `CourseFolderError` for a file that holds no such rule.
    """
    path = folder.root / LATE_FILE
    if not os.path.lexists(path):
        return {}
    mend = "set the rule again with `autograder late STUDY --percent-a-day P`"
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
    """The folders of a course that no submission may see."""
    found = (config.CourseDirectory.get("root"), config.Exchange.get("root"))
    return [Path(folder).resolve() for folder in found if folder]


def put_environment_on_path() -> None:
    """Put the environment's programs on PATH, because nbgrader calls `alembic` by name."""
    programs = str(Path(sys.executable).parent)
    if programs not in os.environ.get("PATH", "").split(os.pathsep):
        os.environ["PATH"] = programs + os.pathsep + os.environ.get("PATH", "")


def run_quietly(converter, log_file: Path) -> None:
    """Run one of nbgrader's converters, with its log in a file instead of the terminal.

    Raises what went wrong first, not nbgrader's error that names the log.
    """
    log_file.parent.mkdir(parents=True, exist_ok=True)
    handler = _Log(log_file, mode="w", encoding="utf-8", errors="backslashreplace")
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    converter.log = logging.Logger("autograder", logging.INFO)  # in no registry: it is let go
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
    """A log that keeps the first error which it is told of: nbgrader's own only says to look there."""

    cause: BaseException | None = None

    def emit(self, record: logging.LogRecord) -> None:
        """Write a line; nbgrader reports errors while it handles them."""
        if record.levelno >= logging.ERROR:
            self.cause = self.cause or sys.exc_info()[1]
        super().emit(record)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - logging's name
        """Keep what kept the line from being written; a log is no reason to stop."""
        self.cause = self.cause or sys.exc_info()[1]


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder, which is made if need be: another process, perhaps of a run that
    was killed, may still be writing to it."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("a") as file:
        if os.name == "posix":
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX)
        yield
