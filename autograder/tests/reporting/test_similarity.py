"""Similar submissions: disguises are found, independent modules are not listed, pages are safe."""

import ast
import csv
import json
import shutil
from pathlib import Path

import nbformat
import pytest
from typer.testing import CliRunner

from autograder.benchmarks.studies import similarity as benchmark
from autograder.benchmarks.support.disguises import DISGUISES, disguise, reword
from autograder.commands.cli import app
from autograder.course_folder import CourseFolder
from autograder.release import demo
from autograder.reporting.similarity.findings import Modules, answer_pairs, clusters
from autograder.reporting.similarity.normal_form import normal_form
from autograder.reporting.similarity.page import find_similar, write_similarity
from autograder.reporting.similarity.sources import (
    CLASS,
    Source,
    given_texts,
    public_sources,
    staff_sources,
)
from autograder.reporting.similarity.stored import stored_findings
from course.checks import Study, load_study
from course.checks.study_paths import use_studies
from tictactoe import Board

ROOT = Path(__file__).parents[3]
STUDY = load_study("study3")
STAFF = staff_sources(STUDY)
INDEPENDENT = next(s for s in STAFF if s.name == "the independent solution").module
BIT_MASKS = next(s for s in STAFF if s.name.endswith("bit_masks")).module
FIXED = benchmark._fixed_names(STUDY)
HANDOUT = given_texts(STUDY.folder, STUDY)
NOTEBOOK = "03_lane_heuristic"
ANSWER = (
    "The estimate is only an average over many games, so a single lucky game must not replace it. "
    "A small rate moves the average slowly, and a large one follows the last game. After ten games "
    "with different results, the two agents therefore disagree about the corner on the left."
)


def student(name: str, module: str, **answers: str) -> Source:
    """The submission of one student."""
    return Source(name, CLASS, name, module, answers, name)


def listed(*sources: Source, **options) -> list[tuple[str, str]]:
    """The names in each listed pair of modules."""
    return [(p.one.name, p.other.name) for p in Modules(sources, HANDOUT, **options).pairs()]


def course(root: Path) -> CourseFolder:
    """A course folder in which study 3 is released."""
    folder = CourseFolder.create(root)
    release = folder.release(STUDY.assignment)
    release.mkdir(parents=True)
    for path in STUDY.folder.glob("*.ipynb"):
        shutil.copy(path, release)
    release.joinpath(STUDY.module).write_text(HANDOUT.stub, "utf-8")
    return folder


def submit(folder: CourseFolder, name: str, module: str | bytes, answer: str = "") -> None:
    """Submit a module, and an answer to the question why-ten."""
    target = folder.root / "submitted" / name / STUDY.assignment
    shutil.copytree(folder.release(STUDY.assignment), target)
    raw = module if isinstance(module, bytes) else module.encode()
    target.joinpath(STUDY.module).write_bytes(raw)
    path = target / f"{NOTEBOOK}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if answer and cell.metadata.get("nbgrader", {}).get("grade_id") == "answer-why-ten":
            cell.source = answer
    nbformat.write(notebook, path)


def run(*arguments: str | Path):
    """Run the command `similarity` for study 3."""
    return CliRunner().invoke(app, ["similarity", "study3", *map(str, arguments)])


@pytest.mark.parametrize("how", DISGUISES)
def test_a_copy_in_disguise_is_listed(how):
    """A copy is listed in every disguise, and only together with its original."""
    copy = disguise(BIT_MASKS, how, FIXED)
    assert copy != BIT_MASKS
    others = [student("ben", INDEPENDENT), student("cleo", STAFF[0].module)]
    assert listed(student("ada", BIT_MASKS), student("dov", copy), *others) == [("ada", "dov")]


def test_names_layout_and_order_do_not_matter():
    """Two modules that differ only in the ways that a disguise changes have the same tokens."""
    one = "def f(a, b):\n    'Text.'\n    for x in a:  # each\n        if not x == b: b += x"
    two = "def g(p, q):\n\n    for i in p:\n        if q != i: q = i + q\n"
    units = [[t.text for t in normal_form(text).units[0]] for text in (one, two)]
    assert units[0] == units[1]


def test_common_code_is_not_listed():
    """The stub, code that only given parts fill, and a very short function are not listed."""
    short = "def heuristic(state, player):\n    return 0\n"
    assert listed(student("ada", HANDOUT.stub), student("ben", HANDOUT.stub)) == []
    assert listed(student("ada", short), student("ben", short)) == []


def test_groups_and_own_earlier_work_are_not_listed():
    """Members of one group, and a student who repeats the course, are not listed."""
    ada, ben = student("ada", BIT_MASKS), student("ben", BIT_MASKS)
    assert listed(ada, ben) == [("ada", "ben")]
    assert listed(ada, ben, groups={"ada": "1", "ben": "1"}) == []
    assert listed(ada, ben, groups={"ada": "1", "ben": "2"}) == [("ada", "ben")]
    earlier = Source("ada (2026)", "previous", "2026/ada", BIT_MASKS, {}, "ada")
    assert listed(ada, earlier) == []


def test_a_module_with_a_syntax_error_is_compared():
    """A line that does not parse is left out, and is a hint if two submissions share it."""
    broken = BIT_MASKS.replace("def priority(", "deff priority(")
    pairs = Modules([student("ada", broken), student("ben", broken)], HANDOUT).pairs()
    assert len(pairs) == 1 and any("not Python: deff priority(" in hint for hint in pairs[0].hints)
    assert normal_form("x = (" * 5000).units == ()
    assert normal_form("\0").units == ()


def public_pairs(study: Study, *modules: str) -> list[tuple[str, str]]:
    """The number of each module that contains public code, and the public file."""
    handout = given_texts(study.folder, study)
    sources = [student(str(number), module) for number, module in enumerate(modules)]
    public = public_sources(study, handout)
    return [(p.one.name, p.other.name) for p in Modules(sources, handout).public_pairs(public)]


def test_a_copy_of_public_code_is_listed_with_its_source():
    """Copies of an agent and of a function in `docs` are listed in disguise, once for each file; an
    independent module and the stub are not.
    """
    agent, guide = "sequence/agents/ismcts.py", "docs/my_agent.py"
    text = (ROOT / agent).read_text("utf-8")
    longest = next(
        node
        for node in ast.parse((ROOT / guide).read_text("utf-8")).body
        if isinstance(node, ast.FunctionDef)
    )
    both = f"{HANDOUT.stub}\n{disguise(text, 'all of these')}\n{ast.unparse(longest)}"
    pairs = public_pairs(STUDY, both, BIT_MASKS, HANDOUT.stub)
    assert sorted(pairs) == [("0", guide), ("0", agent)]


def test_given_modules_are_not_public_code_of_a_study():
    """What the stub imports may be copied, here the module that study 7 tells students to read."""
    given = "sequence/board/links.py"
    text = (ROOT / given).read_text("utf-8")
    assert ("0", given) in public_pairs(STUDY, text)
    assert public_pairs(load_study("study7"), text) == []


def test_public_files_of_a_course(tmp_path):
    """The public part of the course's own studies is compared; its tests are not."""
    place = tmp_path / "course" / "study11_own"
    (place / "tests").mkdir(parents=True)
    for path in (place / "helpers.py", place / "tests" / "helpers.py"):
        path.write_text(INDEPENDENT, "utf-8")
    with use_studies(tmp_path):
        assert ("0", "course/study11_own/helpers.py") in public_pairs(STUDY, INDEPENDENT)


def test_the_same_wrong_reply_is_a_hint():
    """The same rare wrong reply is shown with a pair; correct and missing replies are not."""
    case = {"question": {"on": "x"}, "expected": {"value": 1}, "got": {"value": 7}}
    outcome = {"check": "study3.type_a", "stopped": False, "case": case}
    replies = {"ada": [outcome], "ben": [outcome]}
    sources = [student(name, BIT_MASKS) for name in ("ada", "ben")]
    (pair,) = Modules(sources, HANDOUT, replies).pairs()
    assert "the same wrong reply to study3.type_a" in pair.hints
    (pair,) = Modules(sources, HANDOUT, {"ada": [outcome]}).pairs()
    assert not any("reply" in hint for hint in pair.hints)


def test_written_answers():
    """A copied answer is listed even if some words differ, text of the question is not."""
    key = "03#answer-why-ten"
    ada, ben = (
        Source(n, CLASS, n, "", {key: t}, n)
        for n, t in [("ada", ANSWER), ("ben", reword(ANSWER, 8))]
    )
    empty = benchmark.Handout((), "", ())
    assert [p.question for p in answer_pairs([ada, ben], [], empty)] == [key]
    assert answer_pairs([ada, ben], [], benchmark.Handout((), "", (ANSWER,))) == []
    model = Source("the model answer", "staff", "model", answers={"answer-why-ten": ANSWER})
    pairs = answer_pairs([ada, ben], [model], empty)
    assert {p.other.name for p in pairs} == {"the model answer"}


def test_clusters():
    """People who are connected by pairs form one cluster; the staff connects nobody."""
    pairs = Modules(
        [*STAFF[:1], *(student(name, BIT_MASKS) for name in "abc"), student("d", STAFF[0].module)],
        HANDOUT,
    ).pairs()
    assert ("d", STAFF[0].name) in {(p.one.name, p.other.name) for p in pairs}
    assert clusters(pairs) == [["a", "b", "c"]]


def test_the_command(tmp_path):
    """The command writes a page, CSV and JSON, with last year's submissions and safe text."""
    now, before = course(tmp_path / "now"), course(tmp_path / "spring 2026")
    attack = "<script>alert(1)</script></li>"
    submit(now, "ada", BIT_MASKS + f"\n# {attack}\n", ANSWER + attack)
    submit(now, "=1+1", disguise(BIT_MASKS, "all of these", FIXED), ANSWER)
    submit(now, "cleo", disguise(INDEPENDENT.replace("lane", "row"), "other loops", FIXED))
    submit(now, "dov", "x" * 300_000)
    submit(now, "fay", (ROOT / "sequence" / "agents" / "ismcts.py").read_bytes())
    submit(now, "eve", b"\xff\xfe\x00 = 'lone \\ud800'\n")
    submit(before, "zoe", INDEPENDENT)
    result = run("--course", now.root, "--previous", before.root)
    assert result.exit_code == 0, result.output
    assert "not compared: dov, because heuristic.py has 300,000 bytes" in result.output
    page, table, data = (
        now.root / "reports" / f"study3_type_a_similarity.{s}" for s in ("html", "csv", "json")
    )
    text = page.read_text("utf-8")
    assert "never changes a mark" in text and attack not in text and "&lt;script&gt;" in text
    assert text.count("<script") == 1
    rows = list(csv.DictReader(table.read_text("utf-8").splitlines()))
    assert any(row["student"] == "'=1+1" or row["similar to"] == "'=1+1" for row in rows)
    assert any(row["similar to"] == "zoe (spring 2026)" for row in rows)
    (copied,) = [row for row in rows if row["who"] == "public"]
    assert (copied["student"], copied["similar to"]) == ("fay", "sequence/agents/ismcts.py")
    assert not any("fay" in cluster for cluster in json.loads(data.read_text("utf-8"))["clusters"])
    assert {row["part"] for row in rows} == {"module", f"{NOTEBOOK}: answer-why-ten"}
    assert json.loads(data.read_text("utf-8"))["clusters"][0]
    (line,) = stored_findings(now, STUDY)["fay"]
    assert line.startswith("similar to sequence/agents/ismcts.py: module")
    assert any("similar to ada" in line for line in stored_findings(now, STUDY)["=1+1"])
    findings = find_similar(now, STUDY)
    write_similarity(now, findings)
    assert not any(pair.other.kind == "previous" for pair in findings.pairs)


@pytest.mark.parametrize(
    "folder, message",
    [("nothing", "it has no folder submitted"), ("now", "this course's own folder")],
)
def test_a_wrong_earlier_folder(tmp_path, folder, message):
    """A folder that is no earlier course is reported in one sentence."""
    now = course(tmp_path / "now")
    submit(now, "ada", BIT_MASKS)
    result = run("--course", now.root, "--previous", tmp_path / folder)
    assert result.exit_code == 2 and message in result.output
    other = course(tmp_path / "other")
    (other.root / "submitted").mkdir()
    result = run("--course", now.root, "--previous", other.root)
    assert result.exit_code == 2 and "has no submissions to study3_type_a" in result.output


def test_the_demo_class():
    """The bundled class: versions of the reference are listed, the independent module is not."""
    work = {s["id"]: s["work"]["study3"] for s in demo.read_students() if "study3" in s["work"]}
    texts = {name: demo.module_text(STUDY, each) for name, each in work.items()}
    sources = [student(name, text) for name, text in texts.items() if text]
    pairs = listed(*sources, *STAFF)
    assert not any("ben" in pair for pair in pairs)  # bitboards.py
    assert {"eve", "fay", "hal"} <= {name for pair in pairs for name in pair}
    assert {("ada", "max"), ("dov", "lea")} <= {*pairs}  # identical texts


def test_disguises_do_not_change_the_behaviour():
    """A disguised module still gives the right results."""
    for how in DISGUISES:
        spaces = [{}, {}]
        for space, text in zip(
            spaces, (INDEPENDENT, disguise(INDEPENDENT, how, FIXED)), strict=True
        ):
            exec(compile(text, "module", "exec"), space)
        one, other = (space["TypeA"](2).search(Board("xx_oo____")) for space in spaces)
        assert one == other


def stated_rows(title: str) -> list[list[str]]:
    """The rows of the table in one section of the benchmark's page, the first one with the names."""
    section = benchmark.PAGE.read_text("utf-8").partition(f"## {title}")[2].partition("\n## ")[0]
    lines = [line for line in section.splitlines() if line[:1] == "|"]
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]


def test_the_page_of_the_benchmark():
    """The page has one line for each study, and the measurements of one study are as stated."""
    rows = stated_rows("Modules")
    assert rows[0] == ["study", "modules", "independent pairs", "listed", *DISGUISES]
    table = {row[0]: row for row in rows}
    how = "other names"
    rate = benchmark.measure(load_study("study2"), [how])
    stated = table["2"]
    assert [rate.modules, rate.pairs, len(rate.listed)] == [int(n) for n in stated[1:4]]
    assert rate.detected[how] == int(stated[4])
    assert float(table["share"][3].removesuffix(" %")) <= 1


def test_the_demo_class_on_the_page():
    """The measurements of one study are as stated; no independent pair of any study is listed, and
    all identical modules are.
    """
    rows = {row[0]: row for row in stated_rows("The demo class")}
    rate = benchmark.measure_class(STUDY)
    counts = [*rate.independent, *rate.staff, *rate.changed, *rate.identical]
    assert list(map(int, rows["3"][1:])) == [rate.submissions, *counts]
    assert rate.independent[0] > 0
    listed_pairs = dict(zip(rows["study"][2::2], rows["all"][3::2], strict=True))
    assert listed_pairs["independent pairs"] == listed_pairs["with the staff"] == "0"
    assert listed_pairs["identical"] == rows["all"][-2]


@pytest.mark.slow
def test_public_code_on_the_page():
    """The measurements of one study are as stated, and no stored module of any study is listed."""
    rows = {row[0]: row for row in stated_rows("Public code")}
    rate = benchmark.measure_public(load_study("study9"))
    counts = [rate.modules, len(rate.listed), rate.functions, *rate.detected.values()]
    assert list(map(int, rows["9"][1:])) == counts
    assert rows["all"][2] == "0"
