"""A study in a separate folder: the packages do not count studies or refer to one by name."""

import csv
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.studies.hidden_cases import cases_file
from autograder.studies.mutants import load_mutants, mutants_file
from autograder.tests.support.needs import need_isolation
from autograder.workspace import answer_path, module_texts
from course.checks import load_study, studies, study_paths
from course.checks.study_paths import VARIABLE

NUMBER = 1 + max(int(name.removeprefix("study")) for name in studies())
NAME = f"study{NUMBER}"
ASSIGNMENT = f"{NAME}_windows"
QUESTION = '''"""A kind of question that only this study asks."""

from course.checks.positions import read_position
from course.checks.question import Question, call, get


def _first_child(module, on):
    state = read_position(on)
    after = state.after(state.legal_moves()[0])
    yield ("value",), lambda: [get(module, "AlphaBeta")().search(after).value]


QUESTIONS = {"first_child": Question(_first_child, ("value",), lambda case: call("search", case))}
'''


@pytest.fixture
def home(tmp_path) -> Path:
    """A home with one study: study 2 with another number and name, and one additional question."""
    study, made = load_study("study2"), tmp_path / "more studies"
    public, staff = made / "course" / ASSIGNMENT, made / "autograder/studies" / ASSIGNMENT
    table, hidden = public / "_check/checks.toml", staff / "hidden_cases.toml"
    notebook = public / "20_windows.py"
    for source, path in {
        study.folder / "02_alpha_beta.py": notebook,
        study.table: table,
        cases_file(study): hidden,
        mutants_file(study): staff / "mutants.toml",
        answer_path(study): staff / study.module,
    }.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            source.read_text("utf-8")
            .replace("study2_alpha_beta", ASSIGNMENT)
            .replace("study2", NAME)
            .replace("Study 2", f"Study {NUMBER}"),
            "utf-8",
        )
    text = table.read_text("utf-8")
    counts = text[text.index("[counts]") : text.index("[checks.alpha_beta]")]
    table.write_text(
        text.replace(counts, "").replace("[points]", "[points]\nfirst_child = { value = 1 }")
        + '\n[checks.first_child]\nask = "first_child"\ncases = [{ on = "xoxxoo_x_" }]\n',
        "utf-8",
    )
    hidden.write_text(hidden.read_text("utf-8") + 'first_child = [{ on = "oxxxoo__x" }]\n', "utf-8")
    notebook.write_text(
        notebook.read_text("utf-8") + f'\n# %%\ncheck("{NAME}.first_child")\n', "utf-8"
    )
    table.with_name("questions.py").write_text(QUESTION, "utf-8")
    return made


@pytest.fixture
def autograder(home):
    """Runs the command with the environment variable set to that home."""

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
    """Build, doctor, release, kit, grade, feedback and report process it without special messages."""
    need_isolation()
    study = load_study("study2")
    mistake = next(m for m in load_mutants("study2") if "nodes" in m.loses["alpha_beta"])
    built = autograder("build", NAME)
    assert built.returncode == 0, built.stderr
    examined = autograder("doctor", NAME)
    assert examined.returncode == 0, examined.stdout + examined.stderr
    assert f"{NAME}: {len(load_mutants('study2'))} mutants, 0 modules" in examined.stdout
    course = tmp_path / "class"
    released = autograder("generate", NAME, "--course", course)
    assert released.returncode == 0, released.stderr
    kit = autograder("generate", NAME, "--kit", "--output", tmp_path / "kit.zip")
    assert kit.returncode == 0, kit.stderr
    for student, text in {"ada": "reference", "ben": "stub", "cy": mistake.name}.items():
        folder = course / "submitted" / student / ASSIGNMENT
        shutil.copytree(course / "release" / ASSIGNMENT, folder)
        (folder / study.module).write_text(module_texts(study)[text], "utf-8")
    graded = autograder("grade", NAME, "--course", course)
    assert graded.returncode in (0, 1), graded.stderr
    assert autograder("feedback", NAME, "--course", course).returncode == 0
    page = (course / "feedback" / "cy" / ASSIGNMENT / "20_windows.html").read_text("utf-8")
    assert mistake.sentence.split("'")[0][:40] in page
    reported = autograder("report", NAME, "--course", course)
    assert reported.returncode == 0, reported.stderr
    with (course / "reports" / f"{ASSIGNMENT}.csv").open(encoding="utf-8") as file:
        marks = {row["student"]: row for row in csv.DictReader(file)}
    assert set(marks) == {"ada", "ben", "cy"}
    earned = {name: float(row["score"]) for name, row in marks.items()}
    assert earned["ben"] == 0 < earned["cy"] < earned["ada"] == 16


def test_the_next_number_comes_last(home):
    """Studies are ordered by number, and each is found by any of its three names."""
    code = (
        "from course.checks import load_study, studies\n"
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
    """Two studies with one name would share marks, so the message gives both locations."""
    monkeypatch.setenv(VARIABLE, str(home))
    (home / "course" / ASSIGNMENT).rename(home / "course/study3_other")
    with pytest.raises(ValueError, match="two studies study3"):
        studies()


def test_a_folder_that_is_no_home_is_reported(autograder, home):
    """A wrong path in the environment variable is an error, and every command stops."""
    shutil.rmtree(home / "course")
    done = autograder("generate", "study2", "--course", home / "class")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert f"{VARIABLE} names {home}, which has no folder" in done.stderr


def test_every_study_is_in_two_folders():
    """All files whose paths name a study are below its public folder or its staff folder."""
    listed = subprocess.run(
        ["git", "ls-files"], cwd=study_paths.KIT, text=True, capture_output=True, check=False
    ).stdout.split()
    if not listed:
        pytest.skip("this is no git checkout")
    for study in map(load_study, studies()):
        places = {study.folder, study.staff_folder}
        named = [study_paths.KIT / path for path in listed if study.assignment in Path(path).parts]
        assert {place for place in places for path in named if place in path.parents} == places
        assert [path for path in named if not places & {*path.parents}] == []


def test_a_study_that_is_removed_is_gone(tmp_path):
    """Without its two folders, the kit has one study fewer and no other change."""
    kept = [name for name in studies() if name != "study4"]
    for package in ("autograder", "common", "course", "sequence", "tictactoe"):
        shutil.copytree(
            study_paths.KIT / package,
            tmp_path / package,
            ignore=shutil.ignore_patterns("tests", "__pycache__", "study4_*"),
        )
    code = (
        "from autograder.studies.fresh_cases import require_drawable\n"
        "from autograder.studies.hidden_cases import hidden_study\n"
        "from course.checks import studies\n"
        "for name in studies():\n"
        "    study = hidden_study(name)\n"
        "    print(name)\n"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", code],
        text=True,
        capture_output=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )
    assert (done.stdout.split(), done.stderr) == (kept, "")
