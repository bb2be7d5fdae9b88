"""Course folders with unusual names: they work, or are refused before anything is created."""

import pytest

from autograder.course_folder import CONFIG_FILE, CourseFolder
from autograder.database import db_url, engine, sqlite_path
from autograder.tests.support.commands import autograder

NAMES = ["my course", "#1", "50%41", "100%", "it's \"mine\"", "Übung für Ärzte", "日本語",
         "{course}", "C++ (2)", "a&b=c;d", "$HOME", "~", "-c", "back\\slash"]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_the_gradebook_lies_in_the_course_whatever_its_name(tmp_path, name):
    """The gradebook's URL opens the file in the course folder."""
    folder = CourseFolder.create(tmp_path / name / "course")
    engine(db_url(folder)).connect().close()
    assert (folder.root / "gradebook.db").is_file()
    assert sqlite_path(db_url(folder)) == str(folder.root / "gradebook.db")
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_study_is_released_into_a_folder_with_brackets(tmp_path):
    """nbgrader treats its step folders as patterns; a name with (2)+ is still found."""
    root = tmp_path / "C++ (2)"
    done = autograder("generate", "study1", "-c", str(root))
    assert done.exit_code == 0, done.output
    assert list(CourseFolder.open(root).release("study1_minimax").glob("*.ipynb"))


@pytest.mark.parametrize(("name", "why"), [
    ("year [1]", "nbgrader would interpret [ in its path as a pattern"),
    ("why?", "nbgrader would interpret ? in its path as a pattern"),
    ("*all*", "nbgrader would interpret * in its path as a pattern"),
    ("two\nlines", "characters that cannot be printed"),
    ("latin-\udce4", "characters that cannot be printed"),
], ids=["bracket", "question mark", "star", "line end", "byte"])  # fmt: skip
def test_a_path_in_which_nbgrader_is_lost_is_refused(tmp_path, name, why):
    """A new or existing folder is refused with an explanation, and nothing is created."""
    root = tmp_path / name
    done = autograder("generate", "study1", "-c", str(root / "new"))
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert why in done.stderr
    assert list(tmp_path.iterdir()) == []
    plain = CourseFolder.create(tmp_path / "plain").root
    plain.rename(root)
    done = autograder("export", "-c", str(root))
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert why in done.stderr


def test_a_link_to_an_odd_folder_is_no_way_around(tmp_path):
    """The target of a link is checked, because nbgrader follows the link."""
    odd = tmp_path / "[x]"
    odd.mkdir()
    link = tmp_path / "link"
    link.symlink_to(odd)
    assert autograder("generate", "study1", "-c", str(link)).exit_code == 2


# ---- ~


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home folder."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("command", "where"),
    [
        ("export --course=~/course", "there is no gradebook in {home}/course yet"),
        ("solutions study2 --course=~/none", "{home}/none is not a course folder"),
        ("solutions study2 --output=~/none/page.html", "there is no folder {home}/none"),
        ("roster ~/none.csv --course=~/new", "there is no file {home}/none.csv"),
        ("plan 6 --first-day 2027-01-11 --roster=~/none.csv --course=~/new", "{home}/none.csv"),
        ("doctor study2 --course=~/none", "{home}/none is not a course folder"),
        ("demo --course=~/full", "{home}/full is not empty"),
        ("export --course=~who-is-this/course", "there is no home folder ~who-is-this"),
    ],
)
def test_a_tilde_is_the_home_folder(home, command, where):
    """The tilde is expanded even if the shell leaves it, and no folder with that name is created."""
    CourseFolder.create(home / "course")
    (home / "full").mkdir()
    (home / "full" / "thesis.txt").touch()
    done = autograder(*command.split())
    assert done.exit_code == 2
    assert where.format(home=home) in " ".join(done.stderr.replace("│", " ").split())
    assert sorted(path.name for path in home.iterdir()) == ["course", "full"]


def test_a_tilde_in_the_configuration_is_the_home_folder(home):
    """The configuration may name the exchange as in a shell."""
    folder = CourseFolder.create(home / "course")
    with (folder.root / CONFIG_FILE).open("a", encoding="utf-8") as file:
        file.write("c.Exchange.root = '~/exchange'\n")
    assert folder.exchange() == home / "exchange"
