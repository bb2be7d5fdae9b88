"""Files that other users of a machine can read are listed, in any location."""

import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder import doctor
from autograder.course_folder import CourseFolder
from autograder.doctor.environment_checks import readable

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there are no such modes")
MODES = st.sampled_from([0o700, 0o750, 0o711, 0o744, 0o755, 0o777])


@pytest.fixture
def place():
    """A folder that every user can reach, with a name that needs quotes in a shell."""
    with tempfile.TemporaryDirectory(suffix=" it's") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder).resolve()


def test_a_new_course_is_closed_to_others(place):
    """No other user can read the gradebook, the answers or the submissions."""
    folder = CourseFolder.create(place / "course")
    (folder.root / "gradebook.db").touch(0o644)
    assert list(readable(folder.root)) == []
    assert stat.S_IMODE(folder.root.stat().st_mode) == 0o700


def test_an_open_course_is_named_with_the_remedy(place):
    """The message has the first files, the number of others and a command that fixes it; the exchange
    is not listed."""
    folder = CourseFolder.create(place / "course")
    for number in range(5):
        (folder.root / f"gradebook{number}.db").touch(0o644)
        (folder.exchange() / f"handed{number}").touch(0o644)
    assert list(doctor.read_by_others(folder)) == []
    folder.root.chmod(0o755)
    (said,) = doctor.read_by_others(folder)
    assert "gradebook0.db" in said
    assert "and 3 more files" in said  # nbgrader_config.py among them
    cure = said.rpartition("run `")[2].removesuffix("`")
    subprocess.run(["sh", "-c", cure], check=True)
    assert stat.S_IMODE(folder.root.stat().st_mode) == 0o700
    assert list(doctor.read_by_others(folder)) == []


def test_answers_that_others_can_read_are_named(place, monkeypatch):
    """The answers in the kit are checked as well as the course folder."""
    answer = place / "answers" / "minimax.py"
    answer.parent.mkdir(mode=0o755)
    answer.touch(0o644)
    monkeypatch.setattr("autograder.doctor.environment_checks.STAFF_ONLY", [answer.parent])
    (said,) = doctor.answers_read_by_others()
    assert str(answer) in said


@given(
    names=st.lists(
        st.text(
            st.characters(exclude_characters="/\0", codec="utf-8"), min_size=1, max_size=8
        ).filter(lambda name: name not in (".", "..")),
        min_size=1,
        max_size=4,
    ),
    modes=st.lists(MODES, min_size=4, max_size=4),
    mode=st.sampled_from([0o600, 0o640, 0o644]),
)
def test_a_file_is_named_if_every_folder_above_lets_others_in(names, modes, mode):
    """Another user can find a file if every folder above it can be listed and entered."""
    with tempfile.TemporaryDirectory() as base:
        root = Path(base).resolve()
        root.chmod(0o755)
        folder = root
        for name in names[:-1]:
            folder /= name
            folder.mkdir()
        file = folder / names[-1]
        file.touch()
        file.chmod(mode)
        above = [each for each in file.parents if each.is_relative_to(root) and each != root]
        for each, chosen in zip(above, modes, strict=False):
            each.chmod(chosen)
        open_to_all = mode & stat.S_IROTH and all(
            each.stat().st_mode & 0o005 == 0o005 for each in above
        )
        assert (list(readable(root)) == [file]) == bool(open_to_all)
