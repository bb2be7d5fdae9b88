"""The tables that instructors edit: every mistake is reported with its location."""

import re
import shutil
from importlib import import_module
from pathlib import Path

import pytest
from typer.testing import CliRunner

from autograder import workspace
from autograder.commands.cli import app
from autograder.release import derive
from autograder.studies.hidden_cases import hidden_study
from autograder.studies.mutants import load_mutants, mutants_file
from common import clock
from course.checks import StudyTableError, load_study, studies, study_paths
from course.checks.question import positions_of
from course.checks.questions import MATCHES, QUESTIONS, SHARED
from course.checks.running.queries import reply
from course.checks.study_paths import question_modules

ASSIGNMENTS = {name: load_study(name).assignment for name in studies()}


def place_of(table: str, study: str) -> Path:
    """The path of a study's table, below the folder of the kit."""
    folder = ASSIGNMENTS[study]
    if table == "checks":
        return Path("course", folder, "_check", "checks.toml")
    return Path("autograder", "studies", folder, f"{table}.toml")


@pytest.fixture
def edit(tmp_path, monkeypatch):
    """Work on copies of all tables; the returned function replaces one text in one of them."""
    for name in ("course", "autograder/studies"):
        shutil.copytree(study_paths.KIT / name, tmp_path / name, dirs_exist_ok=True)
    monkeypatch.setattr(study_paths, "KIT", tmp_path)

    def replace(table: str, old: str, new: str) -> None:
        name, _, study = table.partition("/")
        path = tmp_path / place_of(name, study)
        text = path.read_text("utf-8")
        assert text.count(old) >= 1
        path.write_text(text.replace(old, new, 1), "utf-8")

    return replace


def load_all(name: str) -> None:
    """Load everything about a study, as `build` and `doctor` do."""
    hidden_study(name)
    workspace.module_texts(load_study(name))


# For study 3: the file, its text, the instructor's replacement, and the location and text of the
# error.
MISTAKES = [
    ("checks", "value = 2 }", "value = 2", "which cannot be read", "line"),
    ("checks", "value = 2 }", "valeu = 2 }", "heuristic", "'valeu'; the aspects are value"),
    ("checks", "value = 2 }", 'value = "2" }', "heuristic", "above 0, not '2'"),
    ("checks", "value = 2 }", "value = 0 }", "heuristic", "'value' must be a number above 0"),
    ("checks", "value = 2 }", "value = true }", "heuristic", "above 0, not True"),
    ("checks", "value = 2 }", "value = inf }", "heuristic", "above 0, not inf"),
    ("checks", "value = 2 }", "value = nan }", "heuristic", "above 0, not nan"),
    ("checks", "{ value = 2 }", "2", "heuristic", "must be a table of aspects"),
    ("checks", "{ value = 2 }", "{}", "heuristic", "must be a table of aspects"),
    ("checks", "heuristic = { value = 2 }\n", "", "heuristic", "is missing in [points]"),
    ("checks", "[checks.heuristic]", "[checks.heuristics]", "heuristic", "missing in [checks]"),
    ("checks", "why-ten = 2", 'why-ten = "2"', "[written]", "the points of 'why-ten' must be"),
    ("checks", '["type_a_plus"]', '["type_a_puls"]', "extra_credit", "no check 'type_a_puls'"),
    ("checks", "extra_credit =", "extra_credits =", "at the top", "no key 'extra_credits'"),
    ("checks", "title =", "# title =", "at the top", "'title' is required and must be a text"),
    ("checks", 'ask = "heuristic"', 'ask = "heurisitc"', "heuristic", "'ask' must be one of"),
    ("checks", "seconds = 5", 'seconds = "5"', "type_a", "above 0 and at most 30, not '5'"),
    ("checks", "seconds = 5", "seconds = 31", "type_a", "above 0 and at most 30, not 31"),
    ("checks", "seconds = 5", "seconds = 0", "type_a", "above 0 and at most 30, not 0"),
    ("checks", 'agent = "TypeA"\n', "", "type_a", "missing a required argument: 'agent'"),
    ("checks", '"oo__oxxx_"', '"oo__oxxx"', "heuristic", "oo__oxxx"),
    ("hidden_cases", "heuristic = [", "heuristics = [", "heuristic", "has no cases in the table"),
    ("hidden_cases", "[cases]", "[cases]\nother = []", "other", "is not a check of study3"),
    (
        "hidden_cases",
        "[cases]",
        "[case]",
        "at the top",
        "there is no key 'case'; the keys are cases",
    ),
    ("hidden_cases", '"x_x_x_oo_"', '"x_x_x_xx_"', "heuristic", "unreachable board, x begins"),
    ("hidden_cases", '{ on = "x_x_x_oo_" }', '"x_x_x_oo_"', "heuristic", "x_x_x_oo_"),
    ("hidden_cases", '{ on = "x_x_x_oo_" }', '{ no = "x_x_x_oo_" }', "heuristic", "'on'"),
    ("hidden_cases", "limit = 3 },", "limit = 3", "which cannot be read", "line"),
    (
        "mutants",
        "if own + marks",
        "if one + marks",
        "mutant blocked_lanes_counted",
        "must occur once in the answer, but 'if one + marks.count(EMPTY) == len(marks):' occurs 0",
    ),
    (
        "mutants",
        "loses = { lane_counts",
        "loses = { lane_count",
        "mutant blocked_lanes_counted",
        "there is no check 'lane_count'",
    ),
    (
        "mutants",
        '["two", "one"]',
        '["tow", "one"]',
        "mutant blocked_lanes_counted",
        "must be a list of some of two, one, but is ['tow', 'one']",
    ),
    ("mutants", "sentence =", "sentense =", "mutant blocked_lanes_counted", "no key 'sentense'"),
    ("mutants", "old =", "odl =", "mutant blocked_lanes_counted", "there is no key 'odl'"),
    (
        "mutants",
        '"blocked_lanes_count_as_one"',
        '"blocked_lanes_counted"',
        "mutant blocked_lanes_counted",
        "there are two mutants of this name",
    ),
    ("mutants", "[[mutant]]", "[mutant]", "which cannot be read", "line"),
]


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_reported_with_its_location(edit, tmp_path, mistake):
    """One line contains the file, the check and the error."""
    table, old, new, where, what = mistake
    edit(f"{table}/study3", old, new)
    with pytest.raises(StudyTableError) as error:
        load_all("study3")
    path = "/".join(place_of(table, "study3").parts[-3:])
    assert str(error.value).startswith(f"{path}, {where}: ")
    assert what in str(error.value)
    assert "\n" not in str(error.value)


def test_a_missing_table_is_reported(edit, tmp_path):
    """A study without hidden positions gets an error that names the missing file."""
    (tmp_path / place_of("hidden_cases", "study3")).unlink()
    with pytest.raises(
        StudyTableError, match=r"study3_type_a/hidden_cases\.toml, which cannot be read: "
    ):
        load_all("study3")


def test_tables_without_mistakes_are_taken(edit):
    """Instructors may change points, remove aspects and change cases."""
    edit("checks/study3", "two = 1.5, one = 1.5", "two = 3")
    edit("hidden_cases/study3", '"x_x_x_oo_"', '"x_x_o____"')
    load_all("study3")
    check = hidden_study("study3").checks["lane_counts"]
    assert (check.points, check.max_points) == ({"two": 3}, 3)
    first = load_mutants("study3")[0]
    assert (first.name, first.loses["lane_counts"]) == ("blocked_lanes_counted", ["two"])


def test_a_case_on_which_the_reference_fails_is_reported(edit):
    """`build` also reports in one line an error that shows only when the case runs."""
    edit("hidden_cases/study2", '"_o__xxox_" }', '"_o__xxox_", limt = 2 }')
    with pytest.raises(StudyTableError) as error:
        list(derive.derived_files("study2"))
    assert str(error.value).endswith(
        "/study2_alpha_beta/hidden_cases.toml, alpha_beta: the reference fails on the case "
        "{'on': '_o__xxox_', 'limt': 2}: TypeError: AlphaBeta() takes no arguments"
    )


@pytest.mark.parametrize("command", ["build", "build --check", "doctor"])
def test_commands_tell_a_mistake(edit, command):
    """The command prints the message and ends with the exit status for invalid input."""
    edit("checks/study2", "at_min = 1 }", "nodse = 7 }")
    done = CliRunner().invoke(app, [*command.split(), "study2"])
    assert (done.exit_code, done.stdout) == (2, "")
    assert "_check/checks.toml, alpha_beta: there is no aspect 'nodse'" in done.stderr


@pytest.mark.parametrize("name", studies())
def test_aspects_are_those_that_the_questions_reply(name):
    """The table lists the aspects of the reference's replies, for each question."""
    answer = workspace.load_answer(name)
    for check in load_study(name).checks.values():
        if check.ask in MATCHES:  # played, not queried
            continue
        for case in check.cases:
            observation = reply(answer, check.ask, {**check.settings, **case})
            assert tuple(observation) == QUESTIONS[check.ask].aspects


def test_every_question_has_its_aspects():
    """Every question has a line in the table and is used by a study. Questions of courses that other
    tests have opened are left out.
    """
    modules = map(import_module, (*SHARED, *question_modules()))
    asked = {check.ask for name in studies() for check in load_study(name).checks.values()}
    assert {name for module in modules for name in module.QUESTIONS} == asked


@pytest.mark.parametrize("name", studies())
def test_every_case_can_be_described(name):
    """Pages can describe every public and hidden case in words, including its position."""
    public, hidden = load_study(name), hidden_study(name)
    asked = [
        (QUESTIONS[check.ask], {**check.settings, **case})
        for study in (public, hidden)
        for check in study.checks.values()
        for case in check.cases
    ]
    assert asked
    for question, case in asked:
        said = question.describe(case)
        assert [text for text in positions_of(case) if text not in said] == [], said
        assert all(labels(case) for labels in question.labels.values())


@pytest.mark.parametrize("name", studies())
def test_written_questions_have_model_answers(name):
    """written.md has each written question of the study once, in order, with one line per point.

    The study's table has the points of each question. The rubric has as many lines, and there are
    sample answers with full, middling and low marks in whole points.
    """
    study = load_study(name)
    text = Path(workspace.answer_path(study).parent, "written.md").read_text("utf-8")
    questions = dict(re.findall(r"(?ms)^## (.+?)\n(.+?)(?=^## |\Z)", text))
    assert list(questions) == list(study.written)
    for question, part in questions.items():
        points = study.written[question]
        rubric = re.search(r"(?m)^\*\*Points\.\*\*\n\n((?:\* .+\n)+)", part)[1]
        assert rubric.count("\n") == points, question
        samples = re.findall(r"(?m)^\* (Full|Middle|Low), (\d+): \S", part)
        assert [mark for mark, _ in samples] == ["Full", "Middle", "Low"], question
        full, middle, low = (int(number) for _, number in samples)
        assert full == points > middle > low >= 0, question
        assert not re.search(r"[Hh]alf (?:of )?(?:this item|a point)", part), question


def test_mutants_are_read_in_order():
    """Mutants have the order of their file."""
    text = mutants_file(load_study("study1")).read_text("utf-8")
    assert [m.name for m in load_mutants("study1")] == re.findall(r'(?m)^name = "(.+)"$', text)


@pytest.mark.slow
def test_a_line_that_is_none_is_refused(edit):
    """Two cells that are not the ends of a line of five make the table invalid."""
    edit("hidden_cases/study6", '"5,5-9,9"', '"6,6-9,9"')
    with pytest.raises(StudyTableError, match=r"line_cost: .*6,6-9,9 are not the ends of a line"):
        list(derive.derived_files("study6"))


# ---- Time limits


@pytest.mark.parametrize(
    ("times", "advice"),
    [
        (derive.MIN_TIMES, None),
        (derive.MIN_TIMES - 1, "set `seconds = 15` in checks.toml"),
        (2, "set `seconds = 30` in checks.toml, which is the maximum, and ask about fewer or"),
    ],
)
def test_a_limit_that_is_much_too_low_is_refused(times, advice):
    """The message gives a limit that is about twenty times the time, if that is allowed."""
    study = load_study("study3")
    check = study.checks["type_a"]
    computed = check.time_limit / times
    if advice is None:
        derive._require_time(study, study.table, check, computed)
        return
    with pytest.raises(StudyTableError) as error:
        derive._require_time(study, study.table, check, computed)
    assert advice in str(error.value)
    assert f"the reference computes for {computed:.2f} s" in str(error.value)


def test_a_slow_machine_does_not_change_the_time_that_is_compared(monkeypatch):
    """Its computing time is divided by the factor by which it is slower than the idle server."""
    for slowdown in (0.5, 1, 4):
        monkeypatch.setattr(
            clock, "time_fixed_work", lambda slowdown=slowdown: [clock.IDLE_SECONDS * slowdown] * 5
        )
        assert clock.measure_slowdown() == pytest.approx(slowdown)
