"""The tables that instructors edit: a mistake in one is told in a sentence that names its place."""

import re
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from autograder import workspace
from autograder.commands.cli import app
from autograder.mutants import load_mutants, mutants_file
from autograder.release import derive
from autograder.verdicts import hidden_study
from course.probes import StudyTableError, homes, load_study, studies
from course.probes.ask import reply
from course.probes.question import positions_of
from course.probes.questions import MATCHES, QUESTIONS

PLACES = {
    "probes": "course/probes",
    "verdicts": "autograder/verdicts",
    "mutants": "autograder/mutants",
}


@pytest.fixture
def edit(tmp_path, monkeypatch):
    """Work on copies of all tables; the function replaces a text in one of them, once."""
    for name in ("course", "autograder/answers", *PLACES.values()):
        shutil.copytree(homes.KIT / name, tmp_path / name, dirs_exist_ok=True)
    monkeypatch.setattr(homes, "KIT", tmp_path)

    def replace(table: str, old: str, new: str) -> None:
        place, _, study = table.partition("/")
        path = tmp_path / PLACES[place] / f"{study}.toml"
        text = path.read_text("utf-8")
        assert text.count(old) >= 1
        path.write_text(text.replace(old, new, 1), "utf-8")

    return replace


def load_all(name: str) -> None:
    """Load everything that is known of a study, as `build` and `doctor` do."""
    hidden_study(name)
    workspace.module_texts(load_study(name))


# Of study 3: the file, what stands in it, what an instructor puts there, where the mistake is told
# to be, and what.
MISTAKES = [
    ("probes", "value = 2 }", "value = 2", "which cannot be read", "line"),
    ("probes", "value = 2 }", "valeu = 2 }", "heuristic", "'valeu'; the aspects are value"),
    ("probes", "value = 2 }", 'value = "2" }', "heuristic", "above 0, not '2'"),
    ("probes", "value = 2 }", "value = 0 }", "heuristic", "'value' must be a number above 0"),
    ("probes", "value = 2 }", "value = true }", "heuristic", "above 0, not True"),
    ("probes", "value = 2 }", "value = inf }", "heuristic", "above 0, not inf"),
    ("probes", "value = 2 }", "value = nan }", "heuristic", "above 0, not nan"),
    ("probes", "{ value = 2 }", "2", "heuristic", "must be a table of aspects"),
    ("probes", "{ value = 2 }", "{}", "heuristic", "must be a table of aspects"),
    ("probes", "heuristic = { value = 2 }\n", "", "heuristic", "is missing in [points]"),
    ("probes", "[checks.heuristic]", "[checks.heuristics]", "heuristic", "missing in [checks]"),
    ("probes", "why-ten = 2", 'why-ten = "2"', "[written]", "the points of 'why-ten' must be"),
    ("probes", '["type_a_plus"]', '["type_a_puls"]', "extra_credit", "no check 'type_a_puls'"),
    ("probes", "extra_credit =", "extra_credits =", "at the top", "no key 'extra_credits'"),
    ("probes", "title =", "# title =", "at the top", "'title' is required and must be a text"),
    ("probes", 'ask = "heuristic"', 'ask = "heurisitc"', "heuristic", "'ask' must be one of"),
    ("probes", 'agent = "TypeA"\n', "", "type_a", "missing a required argument: 'agent'"),
    ("probes", '"oo__oxxx_"', '"oo__oxxx"', "heuristic", "oo__oxxx"),
    ("verdicts", "heuristic = [", "heuristics = [", "heuristic", "has no cases in the table"),
    ("verdicts", "[cases]", "[cases]\nother = []", "other", "is not a check of study3"),
    ("verdicts", "[cases]", "[case]", "at the top", "there is no key 'case'; the keys are cases"),
    ("verdicts", '"x_x_x_oo_"', '"x_x_x_xx_"', "heuristic", "unreachable board, x begins"),
    ("verdicts", '{ on = "x_x_x_oo_" }', '"x_x_x_oo_"', "heuristic", "x_x_x_oo_"),
    ("verdicts", '{ on = "x_x_x_oo_" }', '{ no = "x_x_x_oo_" }', "heuristic", "'on'"),
    ("verdicts", "limit = 3 },", "limit = 3", "which cannot be read", "line"),
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
def test_a_mistake_is_told_with_its_place(edit, tmp_path, mistake):
    """File, check and what is wrong stand in one line."""
    folder, old, new, where, what = mistake
    edit(f"{folder}/study3", old, new)
    with pytest.raises(StudyTableError) as error:
        load_all("study3")
    path = f"{PLACES[folder]}/study3.toml"
    assert str(error.value).startswith(f"{path}, {where}: ")
    assert what in str(error.value)
    assert "\n" not in str(error.value)


def test_a_missing_table_is_told(edit, tmp_path):
    """A study without hidden positions says which file is not there."""
    (tmp_path / PLACES["verdicts"] / "study3.toml").unlink()
    with pytest.raises(StudyTableError, match=r"verdicts/study3\.toml, which cannot be read: "):
        load_all("study3")


def test_tables_without_mistakes_are_taken(edit):
    """Other points, fewer aspects and other cases are what the tables are there for."""
    edit("probes/study3", "two = 1.5, one = 1.5", "two = 3")
    edit("verdicts/study3", '"x_x_x_oo_"', '"x_x_o____"')
    load_all("study3")
    check = hidden_study("study3").checks["lane_counts"]
    assert (check.points, check.max_points) == ({"two": 3}, 3)
    first = load_mutants("study3")[0]
    assert (first.name, first.loses["lane_counts"]) == ("blocked_lanes_counted", ["two"])


def test_a_case_on_which_the_reference_fails_is_told(edit):
    """What only the asking shows, such as an unknown option, is told by `build` in a line too."""
    edit("verdicts/study2", '"_o__xxox_" }', '"_o__xxox_", limt = 2 }')
    with pytest.raises(StudyTableError) as error:
        list(derive.derived_files("study2"))
    assert str(error.value).endswith(
        "/verdicts/study2.toml, alpha_beta: the reference fails on the case "
        "{'on': '_o__xxox_', 'limt': 2}: TypeError: AlphaBeta() takes no arguments"
    )


@pytest.mark.parametrize("command", ["build", "build --check", "doctor"])
def test_commands_tell_a_mistake(edit, command):
    """The command line prints the sentence and ends with the exit status of bad input."""
    edit("probes/study2", "at_min = 1 }", "nodse = 7 }")
    done = CliRunner().invoke(app, [*command.split(), "study2"])
    assert (done.exit_code, done.stdout) == (2, "")
    assert "probes/study2.toml, alpha_beta: there is no aspect 'nodse'" in done.stderr


@pytest.mark.parametrize("name", studies())
def test_aspects_are_those_that_the_questions_reply(name):
    """The table of aspects is what the reference's replies hold, question by question."""
    answer = workspace.load_answer(name)
    for check in load_study(name).checks.values():
        if check.ask in MATCHES:  # is played, not asked
            continue
        for case in check.cases:
            observation = reply(answer, check.ask, {**check.settings, **case})
            assert tuple(observation) == QUESTIONS[check.ask].aspects


def test_every_question_has_its_aspects():
    """A new question needs a line in the table, and some study must ask it."""
    asked = {check.ask for name in studies() for check in load_study(name).checks.values()}
    assert QUESTIONS.keys() == asked


@pytest.mark.parametrize("name", studies())
def test_every_case_can_be_told(name):
    """Pages can say in words what any case asks, public or hidden, and no position is left out."""
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
    """written.md has each written question of the study once, in order, with a line for each point.

    How many points a question is worth stands in the study's table; the rubric has as many lines,
    and sample answers with full, middling and low marks in whole points.
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
    """The mutants come as their file has them."""
    text = mutants_file(load_study("study1")).read_text("utf-8")
    assert [m.name for m in load_mutants("study1")] == re.findall(r'(?m)^name = "(.+)"$', text)


@pytest.mark.slow
def test_a_line_that_is_none_is_refused(edit):
    """Two cells that are not the ends of a line of five are no question: the table is refused."""
    edit("verdicts/study6", '"5,5-9,9"', '"6,6-9,9"')
    with pytest.raises(StudyTableError, match=r"line_cost: .*6,6-9,9 are not the ends of a line"):
        list(derive.derived_files("study6"))
