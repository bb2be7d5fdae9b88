"""`upgrade` lists the files of a course folder that the present version cannot use unchanged."""

import json
import os
import shutil
from pathlib import Path

import pytest

from autograder.commands.course_commands import outdated_translations
from autograder.course_folder import CONFIG_FILE, CONFIG_TEXT, CourseFolder
from autograder.course_folder.kit_imports import KitModules, imports_of
from autograder.course_folder.outdated_files import FORMER_OPTIONS, outdated_files
from autograder.dashboard.overview import CALL, WELCOME, overview
from autograder.grading.run.nbgrader_steps import GradingStep
from autograder.release.assignments import generate_assignment
from autograder.release.own_course import message_extraction, translation
from autograder.release.own_course.adapted_studies import Adaptation
from autograder.release.own_course.message_extraction import messages_of
from autograder.tests.support.commands import autograder
from common.syntax import parse_python
from course.checks import load_study
from course.checks.study_paths import KIT, PUBLIC, STAFF, VARIABLE
from course.lab.start_page import MADE_BY, write_page

FORMER = "from course.hand_in import hand_in\n"
MISSING = "imports course.hand_in, which this version of the kit does not have"

FORMAT = "it does not have the format of notebooks"
DAMAGED = {  # the name of a file, its content, and the reason why it cannot be read
    "truncated": ("a.ipynb", '{"cells": [', "Expecting value: line 1 column 12 (char 11)"),
    "empty": ("a.ipynb", "", "Expecting value: line 1 column 1 (char 0)"),
    "Latin-1": ("a.ipynb", b'{"cells": "\xff"}', "'utf-8' codec can't decode byte 0xff"),
    "deep": ("a.ipynb", "[" * 100_000, ""),
    "list": ("a.ipynb", "[]", FORMAT),
    "former format": ("a.ipynb", '{"worksheets": []}', FORMAT),
    "number as cell": ("a.ipynb", '{"cells": [1]}', FORMAT),
    "cell without text": ("a.ipynb", '{"cells": [{"cell_type": "code"}]}', FORMAT),
    "syntax": ("a.py", "x = 1\ndef f(:\n", "line 2: invalid syntax"),
    "null byte": ("a.py", "x = '\0'", "source code string cannot contain null bytes"),
    "Latin-1 module": ("a.py", b"x = '\xff'", "line 1: (unicode error) 'utf-8' codec can't"),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CourseFolder:
    """A new course folder; the variable that lists studies is restored afterwards."""
    monkeypatch.setenv(VARIABLE, "")
    return CourseFolder.create(tmp_path / "course")


def write(folder: CourseFolder, name: str, content: str | bytes) -> None:
    """Write a file of the course folder."""
    path = folder.root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)


def notebook(*cells: str, **metadata: str) -> str:
    """The text of a notebook with these code cells."""
    code = [{"cell_type": "code", "source": cell.splitlines(keepends=True)} for cell in cells]
    return json.dumps({"cells": code, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5})


def upgrade(folder: CourseFolder) -> tuple[int, str]:
    """The exit status and the output of the command."""
    done = autograder("upgrade", "--course", str(folder.root))
    return done.exit_code, done.stdout + done.stderr


def own_sentence(folder: CourseFolder) -> str:
    """The only sentence about the folder."""
    (sentence,) = outdated_files(folder)
    return sentence


# ---- Imports


@pytest.mark.parametrize(
    ("code", "missing"),
    [
        ("import tictactoe.show.tree", "tictactoe.show"),
        ("from tictactoe.show.tree import draw_tree", "tictactoe.show"),
        ("from tictactoe import show", "tictactoe.show"),
        ("from tictactoe.solver import value, worth", "tictactoe.solver.worth"),
        ("from tictactoe.solver.tables import value", "tictactoe.solver.tables"),
        ("def f():\n    if f:\n        import autograder.desk", "autograder.desk"),
        ("from sequence import Greedily", "sequence.Greedily"),
        ("try:\n    import course.start\nexcept OSError:\n    pass", "course.start"),
        ("from sequence import Greedy, ISMCTS", ""),  # imported on first use
        ("from sequence.agents import worth", ""),  # a former name that still exists
        ("from course import study2_alpha_beta, checks", ""),  # a folder, and a package
        ("from course import __doc__\nfrom course.checks import *", ""),
        ("from .course.start import run\nimport numpy.nothing\nimport tictactoes", ""),
        (
            "try:\n    import course.start\nexcept (OSError, ImportError):\n    import course.lab",
            "",
        ),
    ],
)
def test_imports_are_resolved_without_importing(code, missing):
    """The first part of a name that does not exist is reported, as Python does."""
    kit = KitModules()
    assert {kit.missing(*each) for each in imports_of(parse_python(code))} - {""} == (
        {missing} if missing else set()
    )


def test_the_kit_s_own_files_are_up_to_date(folder):
    """All notebooks, stubs, answers and outsiders' modules, as a course's own versions."""
    for part in (PUBLIC, STAFF):
        for study in (KIT / part).glob("study*_*"):
            shutil.copytree(study, folder.studies_home / part / study.name)
    assert len(list(folder.root.rglob("*.ipynb"))) >= 20
    assert list(outdated_files(folder)) == []


# ---- Files, and what renews them


def test_nothing_is_outdated_in_a_new_course(folder):
    """The overview, a generated assignment and the configuration are those of this version."""
    generate_assignment(folder, load_study("study2"))
    assert write_page(folder.root, WELCOME, CALL, overview(folder.root), folded=True)
    assert len(list(folder.root.rglob("*.ipynb"))) == 3
    assert upgrade(folder) == (0, f"{folder.root}: nothing changes\n")


@pytest.mark.parametrize(
    ("name", "renewed"),
    [
        ("source/study2_alpha_beta/02_alpha_beta.ipynb", "generate study2 --course {} makes the"),
        ("release/study2_alpha_beta/a/b.ipynb", "generate study2 --course {} makes the"),
        ("release/week 7/a.ipynb", "nbgrader generate_assignment 'week 7' --force in {} makes"),
        ("source/week 7/a.ipynb", "edit it"),
        ("source/header.ipynb", "edit it"),
        ("studies/course/study3_type_a/03_lane_heuristic.ipynb", "adapt --course {} makes"),
        ("studies/course/study4_deepening/06_deepening.ipynb", "build study4 --course {} writes"),
        ("studies/course/study99_nim/20_nim.ipynb", "edit it"),
        ("start.ipynb", "edit it"),  # it is not the overview, because it lacks the mark
    ],
)
def test_a_notebook_is_reported_with_what_renews_it(folder, name, renewed):
    """An instructor's own files are not generated."""
    (folder.root / "course.toml").write_text('[study3]\nleave_out = ["type_a_plus"]\n', "utf-8")
    write(folder, name, notebook("1 + 1", FORMER))
    sentence = list(outdated_files(folder, Adaptation(folder).studies))[-1].replace("`", "")
    assert sentence.startswith(f"{name} {MISSING}: ")
    assert renewed.format(folder.root) in sentence


@pytest.mark.parametrize(
    ("name", "renewed"),
    [
        ("nbgrader_config.py", "edit it"),
        ("release/study2_alpha_beta/alphabeta.py", "generate study2 --course {} makes the"),
        ("studies/course/study4_deepening/deepening.py", "build study4 --course {} writes it"),
        ("studies/course/study4_deepening/06_deepening.py", "edit it"),
        ("studies/autograder/studies/study4_deepening/deepening.py", "edit it"),
        ("studies/autograder/studies/study3_type_a/heuristic.py", "adapt --course {} makes"),
    ],
)
def test_a_module_is_reported_with_what_renews_it(folder, name, renewed):
    """Stubs are derived, and answers and texts of notebooks are not."""
    write(folder, name, FORMER)
    (sentence,) = outdated_files(folder, {"study3"})
    assert sentence.replace("`", "").startswith(f"{name} {MISSING}: ")
    assert renewed.format(folder.root) in sentence.replace("`", "")


def test_the_command_lists_the_overview_of_an_earlier_version(folder):
    """The exit status is 1, and `lab` writes the page again."""
    write(folder, "start.ipynb", notebook("from autograder.desk import desk", **{MADE_BY: "page"}))
    status, output = upgrade(folder)
    assert status == 1
    assert output.startswith("start.ipynb imports autograder.desk, which this version of the kit")
    assert f" lab {folder.root}` writes it again\n" in output and output.count("\n") == 1
    write_page(folder.root, WELCOME, CALL, overview(folder.root), folded=True)
    assert list(outdated_files(folder)) == []


def test_extensions_and_cells_with_commands_are_examined(folder):
    """IPython's syntax is not Python, and a text of a notebook has its commands as comments."""
    write(
        folder,
        "source/a/a.ipynb",
        notebook("%load_ext course.unwritten\n!ls\nimport course.hand_in"),
    )
    write(folder, "source/a/b.ipynb", notebook(f"files = !ls\nif files:\n    {FORMER}"))
    write(folder, "studies/course/study11_nim/20_nim.py", "# %load_ext course.unwritten\n")
    first, second, third = outdated_files(folder)
    assert first.startswith("source/a/a.ipynb imports course.hand_in, course.unwritten, which")
    assert second.startswith(f"source/a/b.ipynb {MISSING}")
    assert third.startswith("studies/course/study11_nim/20_nim.py imports course.unwritten, which")


@pytest.mark.parametrize("name", ["common.py", "common/__init__.py"])
def test_a_module_next_to_the_notebook_is_not_the_kit_s(folder, name):
    """Python finds it first."""
    write(folder, "source/a/a.ipynb", notebook("from common import helper"))
    assert "imports common.helper, which" in own_sentence(folder)
    write(folder, f"source/a/{name}", "helper = 1")
    assert list(outdated_files(folder)) == []


@pytest.mark.parametrize(("name", "content", "reason"), DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_file_is_reported_in_a_sentence(folder, name, content, reason):
    """The other files are still examined."""
    write(folder, f"source/own/{name}", content)
    write(folder, "source/own/b.ipynb", notebook(FORMER))
    first, second = outdated_files(folder)
    assert first.startswith(f"source/own/{name} cannot be read ({reason}")
    assert first.endswith("): repair or delete it") and "\n" not in first
    assert second.startswith("source/own/b.ipynb imports ")
    write(folder, f"release/study2_alpha_beta/{name}", content)
    assert list(outdated_files(folder))[-1].endswith("without cells that you added")


def test_odd_names_and_special_files(folder):
    """A name that cannot be printed is escaped; editors' copies, folders and pipes are ignored."""
    source = folder.root / "source" / "own"
    for name in (
        "two\nlines.py",
        "caf\N{LATIN SMALL LETTER E WITH ACUTE}.py",
        os.fsdecode(b"\xff.py"),
    ):
        write(folder, f"source/own/{name}", FORMER)
    for name in (".ipynb_checkpoints/a.py", "__pycache__/a.py", "a.txt", "folder.py/a.txt"):
        write(folder, f"source/own/{name}", FORMER)
    (source / "link.py").symlink_to("nowhere")
    (source / "loop").symlink_to(source)
    os.mkfifo(source / "pipe.ipynb")
    assert [sentence.partition(" imports ")[0] for sentence in outdated_files(folder)] == [
        "source/own/caf\N{LATIN SMALL LETTER E WITH ACUTE}.py",
        r"'source/own/two\nlines.py'",
        r"'source/own/\udcff.py'",
    ]
    assert upgrade(folder)[0] == 1


# ---- Options and translations


def test_all_former_options_are_known():
    """The table has the options whose help says that they are former names."""
    former = {
        name: trait.help.split("`")[1]
        for name, trait in GradingStep.class_traits(config=True).items()
        if trait.help.startswith("The former name of")
    }
    assert former == FORMER_OPTIONS


@pytest.mark.parametrize(
    "setting",
    [
        "c.GradingStep.probe_seconds = 5",
        'c["GradingStep"]["probe_seconds"] = 5',
        "c.GradingStep.update(probe_seconds=5)",
    ],
)
def test_an_option_under_a_former_name_is_reported(folder, setting):
    """A comment is not a setting."""
    write(folder, CONFIG_FILE, f"# c.GradingStep.probe_seconds = 5\n{CONFIG_TEXT}{setting}\n")
    assert own_sentence(folder) == (
        f"nbgrader_config.py, line {CONFIG_TEXT.count(chr(10)) + 2}: probe_seconds still has its "
        "effect, but its name is now check_seconds: edit it"
    )


def test_a_file_for_translators_of_another_version_is_reported(folder, monkeypatch):
    """New messages are missing, and former ones are no longer used."""
    messages = messages_of([load_study("study2")])  # those of all studies take seconds
    for module in (message_extraction, translation):
        monkeypatch.setattr(module, "messages_of", lambda studies: messages)
    assert list(outdated_translations(folder)) == []
    write(folder, "course.toml", 'language = "de"\n')
    (missing,) = outdated_translations(folder)
    assert "messages/de.po is missing" in missing and "adapt --messages" in missing
    translation.update_messages(folder)
    assert list(outdated_translations(folder)) == []
    file = folder.root / "messages" / "de.po"
    text = file.read_text("utf-8")
    former = text.replace('msgid "all correct"', 'msgid "everything correct"')
    assert former != text
    file.write_text(former, "utf-8")
    assert upgrade(folder) == (
        1,
        "messages/de.po does not have the messages of this version (new: 1, no longer used: 1); "
        f"`autograder adapt --messages --course {folder.root}` updates it\n",
    )
    assert file.read_text("utf-8") == former
    translation.update_messages(folder)
    assert list(outdated_translations(folder)) == []
    file.write_text(text.replace('msgid "all correct"', "nonsense"), "utf-8")
    (damaged,) = outdated_translations(folder)
    assert "de.po, line" in damaged and "nonsense" in damaged


def test_one_command_updates_the_studies_and_their_messages(folder):
    """The messages are those of the studies after they were adapted."""
    table = 'language = "de"\n'
    write(folder, "course.toml", table)
    translation.update_messages(folder)
    write(folder, "course.toml", f'{table}[study1]\nleave_out = ["mixed_tabular"]\n')
    assert autograder("adapt", "--messages", "--course", str(folder.root)).exit_code == 0
    assert list(outdated_translations(folder)) == []
