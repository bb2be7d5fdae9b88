"""A study in a folder of its own: nothing in the packages counts studies or knows one by name."""

import csv
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.mutants import load_mutants
from autograder.tests.support.needs import need_isolation
from autograder.workspace import answer_path, module_texts
from course.probes import homes, load_study, studies
from course.probes.homes import VARIABLE

NUMBER = 1 + max(int(name.removeprefix("study")) for name in studies())
NAME = f"study{NUMBER}"
ASSIGNMENT = f"{NAME}_windows"
QUESTION = '''"""A kind of question that only this study asks."""

from course.probes.positions import read_position
from course.probes.question import Question, call, get


def _first_child(module, on):
    state = read_position(on)
    after = state.after(state.legal_moves()[0])
    yield ("value",), lambda: [get(module, "AlphaBeta")().search(after).value]


QUESTIONS = {"first_child": Question(_first_child, ("value",), lambda case: call("search", case))}
'''


@pytest.fixture
def home(tmp_path) -> Path:
    """A home with one study: study 2 under another number and name, and a question of its own."""
    study, made = load_study("study2"), tmp_path / "more studies"
    for source, target in {
        study.folder / "02_alpha_beta.py": f"course/{ASSIGNMENT}/20_windows.py",
        study.table: f"course/probes/{NAME}.toml",
        homes.KIT / "autograder/verdicts/study2.toml": f"autograder/verdicts/{NAME}.toml",
        homes.KIT / "autograder/mutants/study2.toml": f"autograder/mutants/{NAME}.toml",
        answer_path(study): f"autograder/answers/{ASSIGNMENT}/{study.module}",
    }.items():
        path = made / target
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            source.read_text("utf-8")
            .replace("study2_alpha_beta", ASSIGNMENT)
            .replace("study2", NAME)
            .replace("Study 2", f"Study {NUMBER}"),
            "utf-8",
        )
    table, hidden = (
        made / "course/probes" / f"{NAME}.toml",
        made / "autograder/verdicts" / f"{NAME}.toml",
    )
    text = table.read_text("utf-8")
    counts = text[text.index("[counts]") : text.index("[checks.alpha_beta]")]
    table.write_text(
        text.replace(counts, "").replace("[points]", "[points]\nfirst_child = { value = 1 }")
        + '\n[checks.first_child]\nask = "first_child"\ncases = [{ on = "xoxxoo_x_" }]\n',
        "utf-8",
    )
    hidden.write_text(hidden.read_text("utf-8") + 'first_child = [{ on = "oxxxoo__x" }]\n', "utf-8")
    notebook = made / "course" / ASSIGNMENT / "20_windows.py"
    notebook.write_text(
        notebook.read_text("utf-8") + f'\n# %%\ncheck("{NAME}.first_child")\n', "utf-8"
    )
    (made / "course/probes/questions").mkdir()
    (made / "course/probes/questions" / f"{ASSIGNMENT}.py").write_text(QUESTION, "utf-8")
    return made


@pytest.fixture
def autograder(home):
    """Runs the command where the environment names that home."""

    def run(*arguments: str) -> subprocess.CompletedProcess:
        return subprocess.run(
            [sys.executable, "-P", "-m", "autograder", *map(str, arguments)],
            text=True,
            check=False,
            capture_output=True,
            env={**os.environ, VARIABLE: str(home), "COLUMNS": "200"},
        )

    return run


@pytest.mark.slow
def test_a_study_in_a_folder_of_its_own_goes_the_whole_way(home, autograder, tmp_path):
    """Build, doctor, release, kit, grade, feedback and report take it without a word about it."""
    need_isolation()
    study = load_study("study2")
    slip = next(m for m in load_mutants("study2") if "nodes" in m.loses["alpha_beta"])
    built = autograder("build", NAME)
    assert built.returncode == 0, built.stderr
    examined = autograder("doctor", NAME)
    assert examined.returncode == 0, examined.stdout + examined.stderr
    assert f"{NAME}: {len(load_mutants('study2'))} mutants, 0 modules" in examined.stdout
    course = tmp_path / "class"
    released = autograder("release", NAME, "--course", course)
    assert released.returncode == 0, released.stderr
    kit = autograder("release", NAME, "--kit", "--output", tmp_path / "kit.zip")
    assert kit.returncode == 0, kit.stderr
    for student, text in {"ada": "reference", "ben": "stub", "cy": slip.name}.items():
        folder = course / "submitted" / student / ASSIGNMENT
        shutil.copytree(course / "release" / ASSIGNMENT, folder)
        (folder / study.module).write_text(module_texts(study)[text], "utf-8")
    graded = autograder("grade", NAME, "--course", course)
    assert graded.returncode in (0, 1), graded.stderr
    assert autograder("feedback", NAME, "--course", course).returncode == 0
    page = (course / "feedback" / "cy" / ASSIGNMENT / "20_windows.html").read_text("utf-8")
    assert slip.sentence.split("'")[0][:40] in page
    reported = autograder("report", NAME, "--course", course)
    assert reported.returncode == 0, reported.stderr
    with (course / "reports" / f"{ASSIGNMENT}.csv").open(encoding="utf-8") as file:
        marks = {row["student"]: row for row in csv.DictReader(file)}
    assert set(marks) == {"ada", "ben", "cy"}
    earned = {name: float(row["score"]) for name, row in marks.items()}
    assert earned["ben"] == 0 < earned["cy"] < earned["ada"] == 16


def test_the_next_number_comes_last(home):
    """Studies are in the order of their numbers, and each is found by any of its three names."""
    code = (
        "from course.probes import load_study, studies\n"
        "print(*studies(), sep='\\n')\n"
        f"for name in ('windows', '{NAME}', '{ASSIGNMENT}'): print(load_study(name).folder)"
    )
    told = subprocess.run(
        [sys.executable, "-P", "-c", code],
        text=True,
        capture_output=True,
        check=True,
        env={**os.environ, VARIABLE: str(home)},
    ).stdout.split("\n")
    assert told == [*studies(), NAME, *3 * [str(home / "course" / ASSIGNMENT)], ""]
    numbers = [int(name.removeprefix("study")) for name in told[:-4]]
    assert numbers == sorted(numbers)


def test_a_name_in_two_homes_is_refused(home, monkeypatch):
    """Two studies of one name would share marks: the sentence names both places."""
    monkeypatch.setenv(VARIABLE, str(home))
    (home / "course/probes" / f"{NAME}.toml").rename(home / "course/probes/study3.toml")
    with pytest.raises(ValueError, match="two studies study3"):
        studies()


def test_a_folder_that_is_no_home_is_told(autograder, home):
    """A wrong name in the environment is one sentence, and no command goes on without it."""
    shutil.rmtree(home / "course")
    done = autograder("release", "study2", "--course", home / "class")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert f"{VARIABLE} names {home}, which has no folder" in done.stderr
