"""A course's own versions of the kit's studies, made from `course.toml`."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook
from typer.testing import CliRunner

from autograder.commands.cli import app
from autograder.commands.course_commands import is_own_study
from autograder.course_folder import CourseFolder
from autograder.course_folder.table import COURSE_ID, read_course_table
from autograder.dashboard.overview import overview
from autograder.release import derive
from autograder.release.assignments import generate_assignment
from autograder.release.notebooks import EXTRA_CREDIT, check_id
from autograder.release.own_course import upgrade
from autograder.release.own_course.adapted_studies import Adaptation
from autograder.release.own_course.variants import read_variants
from autograder.reporting.report import write_report
from autograder.studies.mutants import load_mutants
from autograder.tests.support.needs import need_isolation
from course.checks import StudyTableError, load_study, studies
from course.checks.study_paths import KIT, VARIABLE

TABLE = """
name = "Search and games"
id = "search_2027"

[study3]
leave_out = ["type_a_plus", "why-ten"]
points = { lane_counts = { two = 4 }, whose-move = 7 }

[[study3.text]]
notebook = "03_lane_heuristic"
after = "We want an answer without searching."
text = '''
Read section 5.3 first.
Then continue.
'''

[[study3.text]]
notebook = "03_lane_heuristic"
replace = "At the end of a game, minimax only needs to know who has won."
text = "Minimax needs the end of a game."
"""


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CourseFolder:
    """A new course folder; the variable that lists studies is restored afterwards."""
    monkeypatch.setenv(VARIABLE, "")
    return CourseFolder.create(tmp_path / "my course")


def write_table(course: CourseFolder, text: str) -> None:
    (course.root / "course.toml").write_text(text, "utf-8")


def adapt(course: CourseFolder, text: str) -> list[str]:
    """Apply a table to the course, as a command does that opens the course."""
    write_table(course, text)
    updated = Adaptation(course).update()
    CourseFolder.open(course.root)
    return updated


def test_without_a_table_nothing_changes(course):
    """The course has the kit's studies and the usual id."""
    assert Adaptation(course).update() == []
    assert not course.studies_home.exists()
    assert read_course_table(course.root).id == COURSE_ID == course.course_id()
    assert load_study("study3").home == KIT


def test_points_checks_questions_and_texts_change_in_the_course_only(course):
    """The kit's own files stay as they are, and the student version has the changes."""
    before = load_study("study3")
    assert adapt(course, TABLE) == ["study3"]
    study = load_study("study3")
    assert study.home == course.studies_home
    assert study.checks["lane_counts"].points == {**before.checks["lane_counts"].points, "two": 4}
    assert "type_a_plus" not in study.checks
    assert study.written == {
        **{name: points for name, points in before.written.items() if name != "why-ten"},
        "whose-move": 7,
    }
    generate_assignment(course, study)
    released = course.release(study.assignment)
    texts = [
        cell.source
        for path in sorted(released.glob("*.ipynb"))
        for cell in nbformat.read(path, as_version=4).cells
    ]
    joined = "\n".join(texts)
    assert "Read section 5.3 first.\nThen continue." in texts
    assert "Minimax needs the end of a game. This notebook asks" in joined
    assert "study3.type_a_plus" not in joined
    assert "## Write `TypeAPlus` (optional, extra credit)" in joined
    assert "a classmate divides by 2" not in joined
    assert "study3.lane_counts" in joined
    assert course.config().CourseDirectory.course_id == "search_2027"
    os.environ[VARIABLE] = ""
    assert load_study("study3").checks == before.checks


def test_the_checks_for_extra_credit_change_in_the_course_only(course):
    """They do not raise the maximum, and a comment in the notebook marks them."""
    kit = load_study("study1")
    assert not any(check.extra_credit for check in kit.checks.values())
    adapt(course, '[study1]\nextra_credit = ["tabular"]')
    study = load_study("study1")
    assert [name for name, check in study.checks.items() if check.extra_credit] == ["tabular"]
    assert study.max_points == kit.max_points - kit.checks["tabular"].max_points
    generate_assignment(course, study)
    (path,) = course.release(study.assignment).glob("*.ipynb")
    cells = {
        check: cell for cell in nbformat.read(path, as_version=4).cells if (check := check_id(cell))
    }
    assert cells["study1.tabular"].source == f'{EXTRA_CREDIT}\ncheck("study1.tabular")'
    assert cells["study1.minimax"].source == 'check("study1.minimax")'
    with Gradebook(course.config().CourseDirectory.db_url) as book:
        assert book.find_assignment(study.assignment).max_score == study.max_points
    os.environ[VARIABLE] = ""
    assert load_study("study1").checks == kit.checks


@pytest.mark.parametrize(
    "name",
    [name for name in studies() if any(c.extra_credit for c in load_study(name).checks.values())],
)
def test_no_text_calls_a_required_check_extra_credit(course, name):
    """An empty list makes every check required; the kit's texts state that one of them is not."""
    kit = load_study(name)
    adapt(course, f"[{name}]\nextra_credit = []")
    study = load_study(name)
    assert not any(check.extra_credit for check in study.checks.values())
    assert study.max_points == kit.max_points + sum(
        check.max_points for check in kit.checks.values() if check.extra_credit
    )
    for version in (kit, study):
        paths = [version.folder / version.module, *version.folder.glob("*.ipynb")]
        texts = " ".join(" ".join(path.read_text("utf-8").split()) for path in paths)
        assert ("extra credit" in texts.lower()) == (version is kit)


def test_the_name_of_the_course_is_shown(course):
    """It heads the overview and the report, as text."""
    write_table(course, 'name = "Search <& games>"')
    generate_assignment(course, load_study("study2"))
    page, _ = write_report(course, load_study("study2"))
    shown = "Search &lt;&amp; games&gt;"
    assert shown in page.read_text("utf-8")
    assert shown in overview(course.root)._repr_html_()
    write_table(course, "")
    assert shown not in overview(course.root)._repr_html_()


def test_only_what_is_out_of_date_is_made_again(course):
    """A copy is made again if its changes are different, and removed with its last change."""
    assert adapt(course, TABLE) == ["study3"]
    assert Adaptation(course).outdated() == {}
    write_table(course, TABLE.replace("whose-move = 7", "whose-move = 8"))
    assert Adaptation(course).outdated() == {"study3": "its changes in the table are different"}
    assert adapt(course, 'name = "Search and games"') == ["study3"]
    assert load_study("study3").home == KIT
    assert not list(course.studies_home.glob("*/study3*"))


def test_checks_that_are_left_out_are_not_expected_of_variants(course):
    """`doctor` reads which checks depend on the parameters of the course's version."""
    adapt(course, TABLE)
    affects = read_variants(load_study("study3")).parameters["divisor"].affects
    assert list(affects) == ["heuristic", "type_a"]


def test_an_own_study_is_left_alone(course):
    """Only studies that were made from the table are removed."""
    own = course.studies_home / "course" / "study42_nim"
    own.mkdir(parents=True)
    (own / "nim.py").write_text("", "utf-8")
    adapt(course, TABLE)
    adapt(course, "")
    assert (own / "nim.py").is_file()


def test_a_copy_of_a_study_replaces_it(course):
    """The guide's commands make the course's own version, in which every file can be changed.

    A change of `course.toml` for another study leaves it alone.
    """
    guide = (KIT / "docs" / "instructor_reference.md").read_text("utf-8")
    (commands,) = re.findall(r"```\n(mkdir -p my_course/studies/course .+?)```", guide, re.DOTALL)
    for command in commands.splitlines():
        words = command.replace("my_course", str(course.root).replace(" ", "\\ "))
        subprocess.run(shlex.split(words), cwd=KIT, check=True)
    table = course.studies_home / "course" / "study3_type_a" / "_check" / "checks.toml"
    text = table.read_text("utf-8")
    course.use_studies()
    study = load_study("study3")
    assert study.home == course.studies_home
    extra = {name for name, check in study.checks.items() if check.extra_credit}
    optional = text.replace("extra_credit = [", 'extra_credit = ["lane_counts", ')
    table.write_text(optional, "utf-8")
    study = load_study("study3")
    assert {n for n, check in study.checks.items() if check.extra_credit} == extra | {"lane_counts"}
    adapt(course, "[study2]\npoints = { equal-or-at-most = 4 }")
    adapt(course, "")
    assert table.read_text("utf-8") == optional


def copy_of_study3(course: CourseFolder) -> str:
    """An instructor's copy of study 3, with an edited rubric; the message about it."""
    kit = load_study("study3")
    for folder in (kit.folder, kit.staff_folder):
        shutil.copytree(folder, course.studies_home / folder.relative_to(KIT))
    rubric = course.studies_home / "autograder" / "studies" / "study3_type_a" / "written.md"
    rubric.write_text("my own rubric\n", "utf-8")
    write_table(course, TABLE)
    return (
        f"in {course.studies_home}, course/study3_type_a and autograder/studies/study3_type_a are "
        "your own version."
    )


def edited_study3(course: CourseFolder) -> str:
    """A version of study 3 that `adapt` made, with an edited and a new file; the message about it."""
    adapt(course, TABLE)
    staff = load_study("study3").staff_folder
    (staff / "written.md").write_text("my own rubric\n", "utf-8")
    (staff / "notes.md").write_text("my notes\n", "utf-8")
    write_table(course, TABLE.replace("whose-move = 7", "whose-move = 8"))
    return (
        f"in {course.studies_home}, you edited autograder/studies/study3_type_a/notes.md, "
        "autograder/studies/study3_type_a/written.md."
    )


def files_in(folder: Path) -> dict[Path, bytes]:
    """The contents of all files in a folder, by path."""
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def autograder(*arguments: object) -> tuple[int, str]:
    """The exit status and the output of a command."""
    result = CliRunner().invoke(app, list(map(str, arguments)))
    return result.exit_code, " ".join(result.output.split())


@pytest.mark.parametrize("prepare", [copy_of_study3, edited_study3])
def test_no_command_replaces_files_that_an_instructor_edited(course, prepare, tmp_path):
    """Each command that adapts the studies names the files, and the ways out."""
    message = prepare(course)
    before = files_in(course.studies_home)
    for command in (
        ["adapt"],
        ["adapt", "--messages"],
        ["generate", "study2"],
        ["generate", "--kit", "--output", tmp_path / "kit.zip"],
        ["doctor", "study3"],
        ["plan", "6", "--first-day", "2027-01-11"],
        ["publish", tmp_path / "public"],
    ):
        status, output = autograder(*command, "--course", course.root)
        assert status == 2, (command, output)
        assert f"study3 cannot be adapted without losing your work: {message}" in output, command
        assert "remove the table [study3] from course.toml" in output
        assert "adapt --replace study3 --course" in output
        assert files_in(course.studies_home) == before, command
    assert not course.release("study2_alpha_beta").exists()
    status, output = autograder("upgrade", "--course", course.root)
    assert status == 1
    assert message in output
    write_table(course, "")
    assert autograder("adapt", "--course", course.root)[0] == 0
    assert files_in(course.studies_home) == before
    assert load_study("study3").home == course.studies_home


@pytest.mark.parametrize("prepare", [copy_of_study3, edited_study3])
def test_edited_files_are_replaced_on_request(course, prepare):
    """The table applies again. Without a table, the kit's study is used."""
    prepare(course)
    status, output = autograder("adapt", "--replace", "study3_type_a", "--course", course.root)
    assert status == 0, output
    study = load_study("study3")
    assert study.checks["lane_counts"].points["two"] == 4
    assert "my own" not in (study.staff_folder / "written.md").read_text("utf-8")
    assert Adaptation(course).outdated() == {}
    (study.staff_folder / "written.md").unlink()
    write_table(course, "")
    status, output = autograder("adapt", "--course", course.root)
    assert status == 0
    assert "is kept, because you edited autograder/studies/study3_type_a/written.md;" in output
    status, output = autograder("adapt", "--replace", "study3", "--course", course.root)
    assert (status, output) == (0, "study3: the kit's study is used again")
    assert load_study("study3").home == KIT
    status, output = autograder("adapt", "--replace", "study3", "--course", course.root)
    assert status == 2
    assert "course.toml does not change this study" in output


def test_files_that_commands_write_are_not_edits(course):
    """`build` writes what `adapt` has written, and the replies that it measures are not compared."""
    adapt(course, TABLE)
    study = load_study("study3")
    derive.build_quick_files(study)
    study.expected_file.write_text("{}", "utf-8")
    (study.staff_folder / "__pycache__").mkdir(exist_ok=True)
    (study.staff_folder / "__pycache__" / "heuristic.pyc").write_text("", "utf-8")
    assert Adaptation(course).edited("study3") == []
    assert adapt(course, TABLE.replace("whose-move = 7", "whose-move = 8")) == ["study3"]
    shutil.rmtree(study.folder)
    shutil.rmtree(study.staff_folder)
    assert Adaptation(course).outdated() == {"study3": "its files were deleted"}


def test_generate_keeps_edited_source_files(course):
    """Cells that an instructor added are replaced only on request."""
    assert autograder("generate", "study2", "study5", "--course", course.root)[0] == 0
    assert autograder("generate", "study2", "--course", course.root)[0] == 0
    source = course.root / "source" / "study2_alpha_beta"
    (source / ".ipynb_checkpoints").mkdir()
    (source / ".ipynb_checkpoints" / "copy.ipynb").write_text("", "utf-8")
    (notebook,) = source.glob("*.ipynb")
    notebook.write_text(notebook.read_text("utf-8").replace("alpha", "my alpha"), "utf-8")
    (source / "data.csv").write_text("1\n", "utf-8")
    before = files_in(course.root / "source")
    released = files_in(course.root / "release")
    for names in ([], ["study2"], ["study5", "study2"], ["study2", "--replace", "study5"]):
        status, output = autograder("generate", *names, "--course", course.root)
        assert status == 2, (names, output)
        assert (
            f"you edited study2_alpha_beta/{notebook.name}, study2_alpha_beta/data.csv. To make"
        ) in output
        assert "`nbgrader generate_assignment study2_alpha_beta --force`" in output
        assert "generate study2 --replace study2 --course" in output
        assert files_in(course.root / "source") == before
        assert files_in(course.root / "release") == released
    replace = ["generate", "study2", "--replace", "study2_alpha_beta", "--course", course.root]
    assert autograder(*replace)[0] == 0
    assert "my alpha" not in notebook.read_text("utf-8")
    assert autograder("generate", "study2", "--course", course.root)[0] == 0


def test_an_own_version_needs_no_variant_and_no_other_positions(course):
    """`next-year` skips it, and `draw-positions` writes into it instead of `hidden/`."""
    copy_of_study3(course)
    write_table(course, "")
    status, output = autograder("next-year", "--seed", "1", "--course", course.root)
    assert status == 0
    assert "contains your own version, so no variant is drawn" in output
    assert "study3" not in read_course_table(course.root).studies
    assert "study2" in read_course_table(course.root).studies
    status, output = autograder("next-year", "study3", "--seed", "1", "--course", course.root)
    assert status == 2
    assert "so `adapt` cannot make a variant of the kit's study" in output
    assert is_own_study(course, "study3")
    assert not is_own_study(course, "study2")


def test_the_new_check_can_be_left_out(course):
    """The table in the guide removes it from study 7, with its two points."""
    guide = (KIT / "docs" / "instructor.md").read_text("utf-8")
    (table,) = re.findall(r"```toml\n(\[study7\].+?)```", guide, re.DOTALL)
    before = load_study("study7")
    adapt(course, table)
    after = load_study("study7")
    assert before.checks.keys() - after.checks.keys() == {"strategy_value"}
    assert before.checks["strategy_value"].max_points == 2


def test_a_mistake_keeps_the_former_version(course):
    """The message gives the place, and nothing is lost."""
    adapt(course, TABLE)
    write_table(course, TABLE.replace('"why-ten"', '"why-eleven"'))
    with pytest.raises(StudyTableError, match="no check or question 'why-eleven'; there are lane_"):
        Adaptation(course).update()
    assert load_study("study3").checks["lane_counts"].points["two"] == 4


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("naem = 'x'", "at the top: there is no key 'naem'; the keys are name, id"),
        ("id = 'a b'", "id: 'a b' may contain only letters from A to Z"),
        ("id = 3", "id: 3 has the wrong type"),
        ("study3 = 1", "study3: 1 is not a table"),
        ("[study3]\nleave_out = 'type_a'", "study3.leave_out: 'type_a' has the wrong type"),
        ("[study3]\nleave = []", "study3: there is no key 'leave'; the keys are leave_out"),
        ("[study1]\nextra_credit = 'tabular'", "study1.extra_credit: 'tabular' has the wrong type"),
        ("[study1]\nextra_credit = [1]", "study1.extra_credit: 1 is not a name"),
        (
            "[study1]\nextra_credit = ['whose-view']",
            "study1.extra_credit: there is no check 'whose-view'; there are minimax, tabular",
        ),
        (
            "[study1]\nleave_out = ['tabular']\nextra_credit = ['tabular']",
            "study1.extra_credit: 'tabular' is also in leave_out",
        ),
        ("[study99]", "study99: the kit has only study1, "),
        ("[study3]\npoints = { type_a = 3 }", "study3.points: 'type_a' must be a check with"),
        ("[study3]\npoints = { type_a = { counts = 3 } }", "type_a has no aspect 'counts'; it has"),
        (
            "[study3]\npoints = { type_a = { move = -3 } }",
            "points of 'move' must be a number above",
        ),
        ("[study3.hidden_cases]\nfoo = []", "study3.hidden_cases: 'foo' must be a check"),
        (
            "[[study3.text]]\nnotebook = '03_lane_heuristic'\ntext = 'x'",
            "study3.text: it needs one of replace, before, after",
        ),
        (
            "[[study3.text]]\nnotebook = '99_x'\ntext = 'x'\nafter = 'y'",
            "there is no notebook '99_x'; there are 03_lane_heuristic",
        ),
        (
            "[[study3.text]]\nnotebook = '03_lane_heuristic'\ntext = 'x'\nafter = 'not there'",
            "'not there' occurs 0 times in 03_lane_heuristic, but must occur once",
        ),
        ("x = [", "course.toml, which cannot be read"),
    ],
)
def test_mistakes_in_the_table_name_their_place(course, table, message):
    """Each gives one sentence."""
    write_table(course, table)
    with pytest.raises(StudyTableError) as raised:
        Adaptation(course).update()
    assert message in str(raised.value)


def test_the_lines_in_the_teaching_pages_fit_the_kit(course):
    """Pages of studies and plans quote lines for `course.toml`, each with its study."""
    pages = [*KIT.glob("autograder/studies/*/teaching.md"), *KIT.glob("docs/teaching/*.md")]
    lines = [
        match.groups()
        for page in pages
        for match in re.finditer(
            r"`((?:leave_out|extra_credit) = \[[^`]+)`\s+under\s+`(\[study\d+\])`",
            page.read_text("utf-8"),
        )
    ]
    assert len(lines) == sum(
        page.read_text("utf-8").count(key)
        for page in pages
        for key in ("leave_out = ", "extra_credit = ")
    )
    assert lines
    for line, study in lines:
        write_table(course, f"{study}\n{line}")
        assert Adaptation(course).problems() == [], (study, line)


def test_an_upgrade_is_described_before_it_happens(course):
    """Compared are the version that was generated and the present one; nothing is changed."""
    adapt(course, TABLE)
    generate_assignment(course, load_study("study3"))
    assert upgrade.changes(course) == {}
    assert upgrade.not_recorded(course) == []
    generated = course.root / "generated.json"
    versions = json.loads(generated.read_text("utf-8"))
    former = versions["study3"]
    former["checks"]["type_b"] = former["checks"].pop("heuristic")
    former["checks"]["lane_counts"]["points"]["two"] = 1
    former["checks"]["lane_counts"]["extra_credit"] = True
    del former["checks"]["type_a"]["extra_credit"]  # as a former version recorded it
    former["checks"]["priority"]["hidden"] = "another"
    former["written"]["whose-move"] = 5
    former["files"]["heuristic.py"] = "another"
    generated.write_text(json.dumps(versions), "utf-8")
    assert upgrade.changes(course)["study3"] == [
        "there is a new check, heuristic",
        "the check type_b no longer exists",
        "lane_counts: 5.5 points (two 4, one 1.5) instead of 2.5 points (two 1, one 1.5)",
        "lane_counts is no longer extra credit",
        "priority: the hidden positions are different, so marks may change",
        "whose-move: 7 points instead of 5",
        "heuristic.py is different: students who have begun keep theirs",
    ]
    generated.unlink()
    assert upgrade.not_recorded(course) == ["study3_type_a"]


def test_an_upgrade_is_described_before_the_own_version_is_made_again(course):
    """The generated version is compared with the one that `adapt` would make."""
    adapt(course, TABLE)
    generate_assignment(course, load_study("study3"))
    table = TABLE.replace("two = 4", "two = 5").replace('"why-ten"', '"type-b"')
    table = table.replace("leave_out", 'extra_credit = ["priority"]\nleave_out')
    write_table(course, table)
    adaptation = Adaptation(course)
    assert upgrade.changes(course) == {}
    assert upgrade.changes(course, adaptation.preview)["study3"] == [
        "there is a new written question, why-ten",
        "the written question type-b no longer exists",
        "lane_counts: 6.5 points (two 5, one 1.5) instead of 5.5 points (two 4, one 1.5)",
        "priority is now extra credit",
        "03_lane_heuristic.ipynb is different: students who have begun keep theirs",
        "05_move_ordering.ipynb is different: students who have begun keep theirs",
    ]
    assert load_study("study3").checks["lane_counts"].points["two"] == 4
    write_table(course, table.replace("two = 5", "three = 5"))
    assert upgrade.changes(course, Adaptation(course).preview) == {}


def test_changes_that_no_longer_fit_are_reported_before_they_are_made(course):
    """A quoted text may be missing from the notebooks of a new kit."""
    adapt(course, TABLE)
    assert Adaptation(course).problems() == []
    write_table(course, TABLE.replace("We want an answer", "We no longer want an answer"))
    (problem,) = Adaptation(course).problems()
    assert "occurs 0 times in 03_lane_heuristic" in problem


@pytest.mark.slow
def test_own_positions_and_mistakes_are_verified_by_the_doctor(course):
    """A course's hidden positions and known mistakes are in its derived files, and the doctor uses
    them.
    """
    need_isolation()
    write_table(
        course,
        '''
[study1]
leave_out = ["mixed_tabular"]
extra_credit = ["tabular"]

[study1.hidden_cases]
minimax = [{ on = "xo_x_____" }]

[[study1.mutant]]
name = "nodes_doubled_here"
sentence = "`search` counts every node twice."
loses = { minimax = ["nodes"] }
[[study1.mutant.edit]]
old = """
            value, move = self.value(state, state.to_move)
        return Search(move, value, nodes.visited)"""
new = """
            value, move = self.value(state, state.to_move)
        return Search(move, value, 2 * nodes.visited)"""
''',
    )
    ran = subprocess.run(
        [sys.executable, "-P", "-m", "autograder", "doctor", "study1", "-c", str(course.root)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "COLUMNS": "200"},
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    CourseFolder.open(course.root)
    assert "nodes_doubled_here" in [mutant.name for mutant in load_mutants("study1")]
