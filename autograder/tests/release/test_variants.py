"""The variants of a study: parameters, the texts that follow, and last year's answer."""

import json
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from autograder.commands.cli import app
from autograder.course_folder import CourseFolder
from autograder.course_folder.table import read_course_table
from autograder.doctor import examine, examine_variant, stub_coverage
from autograder.release.own_course.adapted_studies import Adaptation
from autograder.release.own_course.variants import (
    RECORD,
    VariantTable,
    _kit_file,
    answer_to,
    described,
    make_variant,
    read_record,
    read_variants,
)
from autograder.reporting.report import answers_of_another_year
from autograder.studies.mutants import ANOTHER_YEAR, Mutant, mutants_file
from autograder.workspace import outcomes_of
from course.checks import Study, StudyTableError, load_study, studies
from course.checks.study_paths import VARIABLE

WITH_VARIANTS = [name for name in studies() if read_variants(load_study(name)).parameters]
SEEDS = {"study3": ("1", "2")}  # by default only 1, because an adaptation takes minutes
CALLED = {"study4", "study6", "study7", "study8"}  # other checks call functions with these numbers
TABLE = """
valid = "weight < 9"

[parameters.weight]
meaning = "the weight"
kit = 3
values = [4, 9]
affects = { heuristic = ["value"] }

[[edit]]
file = "a.py"
times = "all"
text = "{weight} times {weight / 2:.2f}"

[[edit]]
file = "a.py"
when = "weight != 3"
old = "a set {{3}}"
new = "a set {{{weight}}}, and more"
"""


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CourseFolder:
    """A new course folder; the variable that lists studies is restored afterwards."""
    monkeypatch.setenv(VARIABLE, "")
    return CourseFolder.create(tmp_path / "my course")


def variant_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> VariantTable:
    """The table that a study would have with this text in its `variants.toml`."""
    file = tmp_path / "variants.toml"
    file.write_text(text, "utf-8")
    monkeypatch.setattr("autograder.release.own_course.variants.variants_file", lambda study: file)
    return read_variants(load_study("study3"))


def run(*arguments: object) -> tuple[int, str]:
    """The exit status and the output of a command."""
    result = CliRunner().invoke(app, list(map(str, arguments)))
    return result.exit_code, " ".join(result.output.split())


def test_texts_follow_the_values(tmp_path, monkeypatch):
    """Expressions are evaluated, line breaks are kept, and numbers that only begin alike are not
    replaced.
    """
    table = variant_table(tmp_path, monkeypatch, TABLE)
    text = "# 3 times\n# 1.50, 3 times 1.501, 13 times 1.50, a\n# set {3}"
    assert table.variants() == [{"weight": 4}]
    assert table.apply("a.py", text, {"weight": 3}) == text
    assert (
        table.apply("a.py", text, {"weight": 4})
        == "# 4 times\n# 2.00, 3 times 1.501, 13 times 1.50, a set {4}, and more"
    )


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('times = "all"', "times = 2", "'3 times 1.50' occurs 1 times, but must occur 2 times"),
        ("{weight} times", "{weight} Times", "'3 Times 1.50' occurs 0 times, but must occur at"),
        ("a set", "{weight}", "'3 {3}' occurs 0 times, but must occur 1 times"),
        ("{weight / 2:", "{height / 2:", "'height / 2': name 'height' is not defined"),
        ("{weight / 2:", "{weight.real:", "Attribute is not allowed"),
        ("{weight / 2:", "{weight /:", "the expression 'weight /'"),
        ('old = "a set {{3}}"', 'old = "1.50, a set"', "two edits overlap"),
    ],
)
def test_an_edit_that_does_not_fit_is_an_error(tmp_path, monkeypatch, old, new, message):
    """So a change of the kit cannot leave a variant half made."""
    table = variant_table(tmp_path, monkeypatch, TABLE.replace(old, new))
    with pytest.raises(StudyTableError) as raised:
        table.apply("a.py", "3 times 1.50, a set {3}", {"weight": 4})
    assert message in str(raised.value)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("heuristic =", "heuristics =", "there is no check 'heuristics'"),
        ('["value"]', '["values"]', "heuristic has no aspect 'values'"),
        ("kit = 3", "kit = 4", "`kit` must be the kit's value, which is not in `values`"),
        ("meaning =", "means =", "there is no key 'means'"),
        ('times = "all"', 'times = "twice"', "`times` must be a number or 'all'"),
        ('file = "a.py"', 'files = "a.py"', "edit 1: there is no key 'files'"),
    ],
)
def test_mistakes_in_the_list_of_parameters_name_their_place(
    tmp_path, monkeypatch, old, new, message
):
    """Each gives one sentence."""
    with pytest.raises(StudyTableError) as raised:
        variant_table(tmp_path, monkeypatch, TABLE.replace(old, new))
    assert message in str(raised.value)


@pytest.mark.slow
@pytest.mark.parametrize("name", WITH_VARIANTS)
def test_variants_can_be_made(name, tmp_path):
    """Every edit fits the kit's files, with the kit's values nothing changes, and every mutant fits
    the new answer without being an answer to any variant.
    """
    study = load_study(name)
    table = read_variants(study)
    some = [table.variants()[0], table.variants()[-1]]
    for file in {file for edit in table.edits for file in edit.files}:
        text = _kit_file(study, table, file).read_text("utf-8")
        assert table.apply(file, text, table.kit) == text
        for variant in some:
            assert table.apply(file, text, variant) != "", (file, variant)
    answers = {answer_to(study, table, variant) for variant in [table.kit, *table.variants()]}
    mutants = mutants_file(study).read_text("utf-8")
    for variant in some:
        changed = table.apply("mutants.toml", mutants, variant)
        for entry in tomllib.loads(changed)["mutant"]:
            edits = [(edit["old"], edit["new"]) for edit in entry["edit"]]
            mutant = Mutant(entry["name"], "", {}, edits, table.file)
            assert mutant.apply(answer_to(study, table, variant)) not in answers
    assert len(answers) == 1 + len(table.variants())


def test_the_same_seed_draws_the_same_variant():
    """A variant that was used is drawn again only if there is no other."""
    table = read_variants(load_study("study3"))
    first = table.draw("2027", "study3")
    assert first is not None
    assert first == table.draw("2027", "study3")
    assert table.draw("2027", "study3", [first]) != first
    assert table.draw("2027", "study3", table.variants()) in table.variants()
    assert len({str(table.draw(str(seed), "study3")) for seed in range(50)}) == 6


def test_next_year_writes_variants_into_the_table(course):
    """The rest of the table stays as it is, and the present variant becomes a former one."""
    table = course.root / "course.toml"
    table.write_text('name = "Games" # our course\n\n[study3.hidden_cases]\n', "utf-8")
    assert run("next-year", "study3", "--seed", 1, "-c", course.root, "--show")[0] == 0
    assert "variant" not in table.read_text("utf-8")
    status, output = run("next-year", "study3", "--seed", 1, "-c", course.root)
    assert status == 0
    assert "study3: the weight of a lane with two marks is" in output
    first = read_course_table(course.root).studies["study3"].variant
    assert table.read_text("utf-8").startswith('name = "Games" # our course\n\n[study3]\nvariant')
    assert run("next-year", "--seed", 1, "-c", course.root)[0] == 0
    written = read_course_table(course.root).studies
    assert list(written) == ["study3", *(name for name in WITH_VARIANTS if name != "study3")]
    assert written["study3"].variant != first
    assert written["study3"].former == [first]


def test_a_table_that_cannot_be_changed_stays_as_it_is(course):
    """The message gives the line to add."""
    table = course.root / "course.toml"
    text = "[study3]\nformer = [\n  { divisor = 20 },\n]\n"
    table.write_text(text, "utf-8")
    status, output = run("next-year", "study3", "--seed", 1, "-c", course.root)
    assert status == 2
    assert "course.toml is unchanged: put `variant = {" in output
    assert table.read_text("utf-8") == text


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("[study3]\nvariant = 3", "study3.variant: 3 has the wrong type"),
        ("[study3]\nvariant = { weight = 3 }", "no parameter 'weight'; there are pair_weight, div"),
        (
            "[study3]\nvariant = { divisor = 11 }",
            "study3.variant: divisor = 11 must be one of 10, 20, 40",
        ),
        ("[study3]\nvariant = { pair_weight = 6 }", "pair_weight 6, divisor 10 is not possible"),
        (
            "[study3]\nvariant = { divisor = 20 }\nformer = [{ x = 1 }]",
            "study3.former: there is no",
        ),
        ("[study10]\nvariant = { x = 1 }", "this study has no variants"),
    ],
)
def test_mistakes_in_a_variant_name_their_place(course, table, message):
    """Each gives one sentence, and the exit status is 2."""
    (course.root / "course.toml").write_text(table, "utf-8")
    status, output = run("adapt", "-c", course.root)
    assert status == 2
    assert message in output


def test_a_study_without_variants_is_an_error(course):
    """The message names it."""
    status, output = run("next-year", "study10", "--seed", 1, "-c", course.root)
    assert status == 2
    assert "study10 has no variants" in output


def test_the_answers_of_other_years_are_known_mistakes(tmp_path):
    """The sentence, which students see, states only which numbers differ."""
    study = load_study("study3")
    table = read_variants(study)
    values, former = table.variants()[:2]
    for part in (study.folder, study.staff_folder):
        for path in part.rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                target = tmp_path / path.relative_to(study.home)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(path.read_bytes())
    make_variant(study, tmp_path, table, values, [table.kit, former])
    staff = tmp_path / study.staff_folder.relative_to(study.home)
    assert not (staff / "outsiders").exists()
    assert json.loads((staff / RECORD).read_text("utf-8"))["values"] == values
    mutants = (staff / "mutants.toml").read_text("utf-8")
    assert (
        "These are the replies to another year's version of this study. In this version, the weight "
        "of a lane with two marks is 4, not 3; the number by which H is divided is 20, not 10."
    ) in mutants
    assert f'name = "{ANOTHER_YEAR}_2"' in mutants
    assert "4*P2 + P1" in (staff / "heuristic.py").read_text("utf-8")


def test_the_report_lists_the_answer_to_another_year():
    """It names the checks that show it."""
    outcomes = {
        "study3.heuristic": {"matching": ["not_divided", ANOTHER_YEAR]},
        "study3.type_a": {"matching": [f"{ANOTHER_YEAR}_2"]},
        "study3.priority": {"matching": ["block_not_seen"]},
    }
    assert list(answers_of_another_year(outcomes)) == [
        "the answer to another year's version of the study: study3.heuristic, study3.type_a"
    ]
    assert list(answers_of_another_year({"study3.priority": outcomes["study3.priority"]})) == []


def adapted(course: CourseFolder, name: str, seed: str) -> tuple[Study, list[str]]:
    """The variant of a study that belongs to a seed, in a course, and the doctor's notes about it.

    Its reference gets full marks, and every known mistake loses what is listed.
    """
    assert run("next-year", name, "--seed", seed, "-c", course.root)[0] == 0
    assert Adaptation(course).update() == [name]
    CourseFolder.open(course.root)
    study = load_study(name)
    assert study.home == course.studies_home
    findings = examine(study)
    assert [finding.name for finding in findings if not finding.healthy] == []
    notes, problems = examine_variant(study, findings)
    assert problems == []
    assert stub_coverage(study)[1] == []
    return study, notes


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "seed"),
    [
        pytest.param(name, seed, marks=[pytest.mark.xdist_group(name), pytest.mark.content(name)])
        for name in WITH_VARIANTS
        for seed in SEEDS.get(name, ("1",))
    ],
)
def test_last_years_answer_loses_marks_and_is_recognised(course, name, seed):
    """It loses the aspects that depend on the parameters and is recognised there. It has full marks in
    all other checks that call none of these functions.
    """
    kit = load_study(name)
    last_year = (kit.staff_folder / kit.module).read_text("utf-8")
    study, notes = adapted(course, name, seed)
    table, record = read_variants(kit), read_record(study)
    assert record is not None
    assert f"another year's version ({described(table.kit)}) is recognised; it loses" in notes[1]
    affected = table.affected(record[0], table.kit)
    assert affected
    for outcome in outcomes_of(study, last_year):
        lost = {aspect.name for aspect in outcome.aspects if aspect.right < aspect.cases}
        check = outcome.check.partition(".")[2]
        if check in affected:
            assert lost >= {*affected[check]}, outcome.check
            assert ANOTHER_YEAR in outcome.matching
        elif name not in CALLED:
            assert outcome.full, outcome.check
