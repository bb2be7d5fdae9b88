"""A terminal or pipe with a limited encoding: messages get through, and data is UTF-8."""

import pytest
from typer.testing import CliRunner

from autograder.commands import roster
from autograder.commands.cli import app
from autograder.course_folder import CourseFolder
from autograder.reporting import export


@pytest.fixture
def folder(tmp_path) -> CourseFolder:
    """A course whose name contains a non-ASCII letter."""
    return CourseFolder.create(tmp_path / "Übung")


def test_what_a_terminal_cannot_show_is_spelt_out(folder, tmp_path, monkeypatch):
    """A character that stdout cannot encode is escaped, and the command does its work."""
    monkeypatch.setattr(roster, "add_roster", lambda *arguments: None)
    table = tmp_path / "class.csv"
    table.write_text("id\nada\n", "utf-8")
    done = CliRunner(charset="ascii").invoke(app, ["roster", str(table), "-c", str(folder.root)])
    assert done.exit_code == 0, done.exception
    assert r"\xdcbung: 1" in done.stdout


def test_marks_are_utf_8_on_any_pipe(folder, monkeypatch):
    """Data written to a file is complete UTF-8, whatever the terminal's encoding."""
    monkeypatch.setattr(export, "read_marks", lambda folder: export.Roster(folder, []))
    monkeypatch.setattr(export, "export", lambda marks, kind: "student,Zoë\n")
    done = CliRunner(charset="ascii").invoke(
        app, ["export", "-c", str(folder.root), "--output", "-"]
    )
    assert done.exit_code == 0, done.exception
    assert done.stdout_bytes == "student,Zoë\n".encode()
