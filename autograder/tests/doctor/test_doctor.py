"""The doctor: full marks for the reference, none for the stub, the right losses for mutants."""

import json
import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from autograder import doctor, workspace
from autograder.course_folder import CourseFolder
from autograder.doctor import proof
from autograder.grading.run.nbgrader_steps import GradingStep
from autograder.grading.run.submission import SelfTestFailed, run_self_test
from autograder.release import leaks
from autograder.release.assignments import assignment_files
from autograder.release.leaks import find_leaks, public_files
from autograder.studies import hidden_cases
from autograder.studies.mutants import Mutant, load_mutants
from course.checks import StudyTableError, load_study, studies


@pytest.mark.slow
@pytest.mark.usefixtures("cached_replies")
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.xdist_group(name), pytest.mark.content(name)])
        for name in studies()
    ],
)
def test_every_study_is_healthy(name):
    """Every module of the study gets exactly its expected marks, and no secret is public."""
    study = load_study(name)
    findings = doctor.examine(study)
    assert [f for f in findings if not f.healthy] == []
    assert {f.name: f.earned for f in findings if f.name in ("reference", "stub")} == {
        "reference": findings[0].points,
        "stub": 0,
    }
    assert doctor.leaks(study) == []


def test_there_are_mutants_enough():
    """Studies 1 to 3 have at least 25 mutants and the others at least 30, each with a description."""
    mutants = [mutant for name in studies() for mutant in load_mutants(name)]
    assert sum(len(load_mutants(name)) for name in studies()[:3]) >= 25
    assert sum(len(load_mutants(name)) for name in studies()[3:]) >= 30
    assert all(m.sentence.endswith(".") and m.loses for m in mutants)


@pytest.mark.parametrize("name", studies())
def test_mutants_lose_only_what_there_is(name):
    """The expected losses of a mutant are checks and aspects of its study, and no mutant loses
    nothing.
    """
    study = load_study(name)
    answer = workspace.answer_path(study).read_text("utf-8")
    for mutant in load_mutants(name):
        assert mutant.apply(answer) != answer
        for check, aspects in mutant.loses.items():
            assert set(aspects) <= set(study.checks[check].points), mutant.name


def test_a_mutant_that_fits_nowhere_is_an_error():
    """An edit whose old text does not occur exactly once in the answer is refused, with its name."""
    with pytest.raises(StudyTableError, match="mutant odd: the text to replace must occur once"):
        Mutant("odd", "Odd.", {}, [("return", "yield")], Path("odd.toml")).apply(
            "return 1\nreturn 2\n"
        )


def test_an_unhealthy_mutant_is_found(monkeypatch):
    """A mutant that loses marks unexpectedly is unhealthy."""
    study = load_study("study2")
    harmless = [replace(m, loses={}) for m in load_mutants("study2") if m.name == "strict_cut"]
    monkeypatch.setattr(proof, "load_mutants", lambda name: harmless)
    texts = workspace.module_texts(study)
    monkeypatch.setattr(
        workspace,
        "module_texts",
        lambda _: {
            "reference": texts["reference"],
            "stub": texts["stub"],
            "strict_cut": texts["strict_cut"],
        },
    )
    findings = {f.name: f.healthy for f in doctor.examine(study)}
    assert findings == {"reference": True, "stub": True, "strict_cut": False}


@pytest.mark.parametrize("name", ["reference", "stub"])
def test_no_student_is_graded_if_the_self_test_fails(monkeypatch, tmp_path, name):
    """If the reference does not get full marks or the stub gets any, grading does not start."""
    study = load_study("study2")
    texts = workspace.module_texts(study)
    other = {"reference": "stub", "stub": "reference"}[name]
    monkeypatch.setattr(workspace, "module_texts", lambda _: {**texts, name: texts[other]})
    with pytest.raises(SelfTestFailed, match=f"the {name} gets"):
        run_self_test(GradingStep(isolation="process"), CourseFolder(tmp_path), study)


@pytest.mark.parametrize("secret", ["position", "solution", "marker", "lines"])
def test_leaks_are_found(tmp_path, secret):
    """A hidden position, a solution, a marker and two solution lines in a notebook are all
    detected.
    """
    study = load_study("study3")
    answer = workspace.answer_path(study).read_text("utf-8")
    hidden = hidden_cases.hidden_study("study3").checks["type_a"].cases[0]["on"]
    lines = answer.split("### BEGIN SOLUTION\n")[1].splitlines()[1:4]
    text = {
        "position": f'print("{hidden}")',
        "solution": answer,
        "marker": "### BEGIN SOLUTION",
        "lines": ",\n".join(f'   "{line}\\n"' for line in lines),
    }[secret]
    path = tmp_path / "notes.ipynb"
    path.write_text(text, "utf-8")
    assert find_leaks(study, [path])
    assert find_leaks(study, assignment_files(study)) == []


def test_a_marker_in_a_sentence_is_no_leak(tmp_path):
    """Prose may mention nbgrader's marker; only a line that starts with it begins a solution
    region.
    """
    path = tmp_path / "settings.toml"
    path.write_text('"E266", # ### BEGIN SOLUTION is a marker\n', "utf-8")
    assert find_leaks(load_study("study1"), [path]) == []


@pytest.mark.parametrize("without", ['",', '"\\'])
def test_squeezing_leaves_out_what_an_expression_would(without):
    r"""The result equals removing every match of `\s`, for all characters."""
    everything = "".join(map(chr, range(sys.maxunicode + 1)))
    assert leaks.strip_separators(everything, without) == re.sub(
        rf"[\s{re.escape(without)}]+", "", everything
    )


@pytest.mark.parametrize(
    ("text", "leaks"),
    [
        ('"{}"', True),
        ("Board('{}')", True),
        ("on = four {}\n", True),
        ("x,{},o", True),
        ("four __{}_xo", False),
        ("{}x", False),
        ("_{}", False),
        ("xo{}, {}", True),
    ],
)
def test_a_position_is_no_piece_of_a_larger_board(tmp_path, text, leaks):
    """The nine cells of a hidden board may appear in another game's board by chance."""
    hidden = hidden_cases.hidden_study("study3").checks["type_a"].cases[0]["on"]
    path = tmp_path / "cases.toml"
    path.write_text(text.replace("{}", hidden), "utf-8")
    assert bool(find_leaks(load_study("study3"), [path])) is leaks


WAYS = {
    "as they are": json.dumps,
    "indented": lambda replies: json.dumps(replies, indent=1),
    "in Python": lambda replies: "\n".join(f"Search{tuple(r.values())}," for r in replies),
    "some of them": lambda replies: json.dumps(replies[1:5]),
    "nodes": lambda replies: str([reply["nodes"] for reply in replies]),
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("check", ["study1.minimax", "study2.alpha_beta", "study3.type_a_plus"])
def test_expected_replies_are_found(tmp_path, check, way):
    """Replies to hidden positions are detected in any notation."""
    study, _, name = check.partition(".")
    expected = json.loads(hidden_cases.expected_file(load_study(study)).read_text("utf-8"))[
        "expected"
    ]
    path = tmp_path / "notes.md"
    path.write_text(f"Expected:\n\n{way(expected[name])}\n", "utf-8")
    assert find_leaks(load_study(study), [path]) == [
        f"notes.md contains expected replies to the hidden positions of {name}"
    ]


def test_a_worktrees_way_to_its_repository_is_not_public(tmp_path):
    """In a worktree `.git` is a file that contains a local path."""
    for name in (".git", "LICENSE"):
        (tmp_path / name).touch()
    assert list(leaks.shipped(tmp_path)) == [tmp_path / "LICENSE"]


def test_all_but_the_staffs_is_searched():
    """Guides, scripts and locks are searched as well as the packages; files ignored by git are not."""
    root = Path(__file__).parents[3]
    found = {path.relative_to(root).as_posix() for path in public_files()}
    assert {
        "README.md",
        "run.py",
        "docs/student.md",
        ".ci/run",
        "requirements.lock",
        "course/check.py",
        "tictactoe/tests/games/test_board.py",
    } <= found
    parts = {part for name in found for part in name.split("/")}
    assert not parts & {"autograder", ".venv", ".git", "build", "__pycache__", ".hypothesis"}


def test_what_is_made_in_the_checkout_is_not_searched(tmp_path, monkeypatch):
    """Environments, caches and course folders with submissions are recognised by their contents and
    skipped.
    """
    wanted = ["pyproject.toml", "docs/guide.md", "course/__init__.py", "course/autograder/x.py"]
    others = [
        "autograder/studies/study1_minimax/a.py",
        "build/demo/x",
        ".git/config",
        "course/__pycache__/x.pyc",
        "env/pyvenv.cfg",
        "env/lib/x.py",
        "class/nbgrader_config.py",
        "class/submitted/x.py",
        ".ruff_cache/x",
    ]
    for name in (*wanted, *others):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    monkeypatch.setattr(leaks, "COURSE", tmp_path / "course")
    found = [path.relative_to(tmp_path).as_posix() for path in public_files()]
    assert sorted(found) == sorted(wanted)


def test_without_a_repository_the_public_packages_are_searched(tmp_path, monkeypatch):
    """Other packages installed in the same place are not searched."""
    monkeypatch.setattr(leaks, "COURSE", tmp_path / "course")
    found = {path.relative_to(Path(__file__).parents[3]).parts[0] for path in public_files()}
    assert found == {"common", "course", "sequence", "tictactoe"}


@pytest.mark.parametrize("name", studies())
def test_nothing_public_leaks(name):
    """No public file of the repository contains hidden positions, their replies or solutions."""
    assert find_leaks(load_study(name), public_files()) == []
