"""Mistakes in a course's own files are reported with their location and without a traceback."""

import pytest
from click.testing import Result
from traitlets import Float, HasTraits
from typer.testing import CliRunner

from autograder.commands.cli import app
from autograder.course_folder import CONFIG_FILE, CONFIG_TEXT, LATE_FILE, CourseFolder

LAST = CONFIG_TEXT.count("\n") + 1


@pytest.fixture
def folder(tmp_path) -> CourseFolder:
    """A new course."""
    return CourseFolder.create(tmp_path / "course")


def export(folder: CourseFolder) -> Result:
    """Run a command that reads the configuration."""
    return CliRunner().invoke(app, ["export", "-c", str(folder.root)])


@pytest.mark.parametrize(("mistake", "why"), [
    ("c.Exchange.root = ", "SyntaxError: invalid syntax"),
    ("import nothing_such", "ModuleNotFoundError: No module named 'nothing_such'"),
    ("c.Exchange.root = Path('x')", "NameError: name 'Path' is not defined"),
    ("c.CourseDirectory = 3", "ValueError: values whose keys begin with an uppercase char"),
    ("raise Exception", "Exception: "),
], ids=["syntax", "module", "name", "section", "silent"])  # fmt: skip
def test_a_mistake_in_the_configuration_is_reported_with_its_line(folder, mistake, why):
    """The message has the file, the line and the reason."""
    (folder.root / CONFIG_FILE).write_text(f"{CONFIG_TEXT}{mistake}\n# the end\n", "utf-8")
    done = export(folder)
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert done.stderr.startswith(
        f"autograder: line {LAST} of {folder.root / CONFIG_FILE} cannot be used ({why}"
    )


@pytest.mark.parametrize("name", ["Exchange.root", "CourseDirectory.db_url"])
def test_a_setting_that_is_no_text_is_reported(folder, name):
    """Settings that we read ourselves are type-checked as nbgrader checks the others."""
    (folder.root / CONFIG_FILE).write_text(f"{CONFIG_TEXT}c.{name} = 7\n", "utf-8")
    done = export(folder)
    assert done.exit_code == 2
    assert done.stderr == (
        f"autograder: {folder.root / CONFIG_FILE}: c.{name} must be a string in quotes, not 7\n"
    )


def test_a_configuration_without_configure_is_refused(folder):
    """An empty file is an example: nbgrader's defaults would apply to the course."""
    (folder.root / CONFIG_FILE).write_text("c = get_config()\n", "utf-8")
    done = export(folder)
    assert done.exit_code == 2
    assert "needs the lines" in done.stderr and done.stderr.count("\n") == 1


def test_a_late_rule_that_is_no_file_is_refused(folder):
    """An invalid file must not count as "no rule", which would remove penalties."""
    (folder.root / LATE_FILE).symlink_to("nowhere")
    done = export(folder)
    assert done.exit_code == 2
    assert "is not a regular file" in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.parametrize(("text", "where"), [
    ("", "line 1 column 1"), ('{"at_most": 50,\n "percent', "line 2 column 2"),
    ("[10]", "must contain only"), ('{"percent_a_day": "10"}', "must contain only"),
    ('{"percent_a_day": 110}', "must contain only"), ('{"percent": 10}', "must contain only"),
], ids=["empty", "cut off", "list", "text", "too much", "name"])  # fmt: skip
def test_a_mistake_in_the_late_rule_is_reported(folder, text, where):
    """The message names the file and the command that rewrites it, and that command repairs it."""
    (folder.root / LATE_FILE).write_text(text, "utf-8")
    done = export(folder)
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert done.stderr.startswith(f"autograder: {folder.root / LATE_FILE} ")
    assert where in done.stderr
    folder.release("study2_alpha_beta").mkdir(parents=True)
    CliRunner().invoke(
        app, ["late-penalties", "study2", "--percent-a-day", "10", "-c", str(folder.root)]
    )
    assert "there is no gradebook" in export(folder).stderr


def test_a_setting_of_a_wrong_kind_is_reported(folder, monkeypatch):
    """nbgrader's message about a setting is printed in one line, with the name of the file."""

    class Step(HasTraits):
        seconds = Float()

    monkeypatch.setattr(CourseFolder, "open", lambda root: Step(seconds="ten"))
    done = export(folder)
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert (
        f"the course's {CONFIG_FILE} has a setting of the wrong type: The 'seconds'" in done.stderr
    )
