"""`python3 run.py check study3`: the checks of a study at a terminal."""

from pathlib import Path

import pytest

from autograder.workspace import answer_path
from course import check as checking
from course.checks import load_study

STUDY = load_study("study1")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A student's folder that contains the reference answer, as the current folder."""
    (tmp_path / STUDY.module).write_text(answer_path(STUDY).read_text("utf-8"), "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_correct_module_has_status_0_and_prints_what_notebooks_print(folder, capsys):
    """The texts of all checks of the study are printed, then the total."""
    assert checking.main(["study1"]) == 0
    printed = capsys.readouterr().out
    for check in STUDY.checks.values():
        assert f"{check.id}: {check.max_points:g} of {check.max_points:g} points - all" in printed
    assert printed.endswith(
        "3 of 3 checks have full marks: 21 of 21 points on the public positions\n"
    )
    checking.check("study1.minimax")
    assert capsys.readouterr().out in printed + "\n"


def test_a_wrong_module_has_status_1(folder, capsys):
    """Only the checks that are named are run."""
    module = folder / STUDY.module
    module.write_text("class Minimax:\n    pass\n", "utf-8")
    assert checking.main(["study1.minimax"]) == 1
    printed = capsys.readouterr().out
    assert "study1.tabular" not in printed
    assert "0 of 1 checks have full marks: 0 of 10 points" in printed


def test_extra_credit_does_not_count(folder, capsys):
    """An optional part that is not written does not change the exit status."""
    study = load_study("study8")
    text = answer_path(study).read_text("utf-8")
    text += "\n\ndef discard_features(*arguments):\n    raise NotImplementedError\n"
    (folder / study.module).write_text(text, "utf-8")
    optional = [check.id for check in study.checks.values() if check.extra_credit]
    assert optional
    assert checking.main(["study8.rays", *optional]) == 0
    assert "1 of 1 checks have full marks" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["study99"], "check: there is no study 'study99'; the studies are study1, "),
        (["study1.mini"], "check: there is no check 'study1.mini'; study1 has study1.minimax"),
        (["study1", "--folder", "nowhere"], "check: minimax.py is not in "),
    ],
)
def test_bad_input_gives_one_line_and_status_2(folder, capsys, arguments, message):
    """Nothing is run."""
    assert checking.main(arguments) == 2
    printed = capsys.readouterr()
    assert not printed.out
    assert printed.err.startswith(message)
    assert printed.err.count("\n") == 1


def test_the_module_of_the_current_folder_comes_before_the_one_of_the_kit(folder, tmp_path):
    """`--folder` names another one; the kit's own stub earns nothing."""
    assert checking.main(["study1.tabular"]) == 0
    assert checking.main(["study1.tabular", "--folder", str(STUDY.folder)]) == 1
