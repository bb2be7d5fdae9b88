"""Similarity: copies that are found, and false alarms.

The stored correct modules of a study, by people who had only the student kit, are a class. No two of
them should be listed, unless one is a version of the other: both are stored as versions of the same
answer, or most of the lines of one are in the other. Then each module is submitted once more in each
disguise, and the pair should be listed. The constants of the comparison were chosen with
these modules in view, so the rates of a new class will differ. The submissions of the bundled class
are compared like a real class, and functions of public files are submitted in a disguise.
Written answers are measured with the sample answers of the studies, which differ, and with copies in
which words are replaced. The results are written to docs/similarity.md.
"""

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path

from autograder.benchmarks import Result
from autograder.benchmarks.support.disguises import DISGUISES, FUNCTIONS, disguise, reword
from autograder.release import demo
from autograder.reporting.questions import sections
from autograder.reporting.similarity.findings import Modules, Pair, answer_pairs
from autograder.reporting.similarity.sources import (
    CLASS,
    STAFF,
    TASKS,
    Handout,
    Source,
    given_texts,
    public_sources,
    staff_sources,
)
from autograder.workspace import answer_path
from autograder.workspace.strip import stub
from common.syntax import parse_python
from course.checks import Study, load_study, studies

PAGE = Path(__file__).parents[3] / "docs" / "similarity.md"
CALLED = {"choose", "reset"}  # methods that the games call, even if the stub does not have them
VERSION = (
    0.67  # of a module's own lines: with more in common, two modules are versions of each other
)
MIN_CHARACTERS = 12  # of a line that can identify its author
COPY = "copy of "
PUBLIC_DISGUISES = ("other names", "all of these")
COPIED = ("sequence/agents/", "docs/")  # the public files whose functions are copied
MIN_LINES = 10  # of a function that is copied
STATEMENTS = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)
HEAD = """# How reliable the comparison of submissions is

`python3 run.py bench similarity` writes this page.
[The guide for graders](grader.md#similar-submissions) explains the command that is measured here.

## Modules

The modules are the reference, the independent solution and the stored correct modules by people who
had only the student kit. *Listed* counts the pairs of independent modules that the command lists. Two
modules are not independent if more than two thirds of the lines of one are in the other, names
included, or if both are stored as versions of the same answer. The other columns show how many copies
in a disguise are listed together with their original.

The constants of the comparison were chosen with these modules and disguises in view, so expect worse
rates in your class.

"""
CLASS_HEAD = """
## The demo class

The command `demo` grades a class of fictitious students, whose submissions are compared here with
each other and with the answers of the staff, as in a real class. Almost all students have submitted
the reference, often with a known mistake or with only some of its functions. *Changed copies* are the
pairs of such submissions whose texts differ, *identical* those with the same text. All other pairs
are independent, unless the rule of the first table says otherwise. *With the staff* counts the pairs
of a submission and an independent answer of the staff. What many students share counts little, so
copies are harder to find in a class in which almost every module is a copy.

"""
PUBLIC_HEAD = """
## Public code

*Modules* are the reference, the independent solution, the stored correct modules and the submissions
of the demo class. *Listed* counts those that the command lists with a public file. *Functions* are
the functions and methods with at least {} lines in `sequence/agents` and `docs`, without those that
the assignment gives. Each was copied into the stub in two disguises of the first table. The last
columns show how many are listed with their file.

"""
PROSE_HEAD = """
## Written answers

The sample answers to each question are independent. In the copies, one of eight or one of four words
is replaced, and the sentences are in another order.

"""


@dataclass(frozen=True)
class Rates:
    """The measurements of one study."""

    study: str
    modules: int
    pairs: int  # of independent modules
    listed: Sequence[tuple[str, str]]  # of these
    detected: Mapping[str, int]  # disguise -> copies found
    versions: int = 0  # listed pairs that are not independent


@dataclass(frozen=True)
class ClassRates:
    """The pairs of submissions of the demo class to one study, each with the number listed."""

    study: str
    submissions: int  # with code that can be compared
    independent: tuple[int, int]
    staff: tuple[int, int]  # a submission and an independent answer of the staff
    changed: tuple[int, int]
    identical: tuple[int, int]


@dataclass(frozen=True)
class PublicRates:
    """The measurements with public code of one study."""

    study: str
    modules: int
    listed: Sequence[tuple[str, str]]  # of these, with a public file
    functions: int
    detected: Mapping[str, int]  # disguise -> functions found


def run() -> list[Result]:
    """Measure all studies and write the page; takes a few minutes."""
    wanted = [load_study(name) for name in studies() if staff_sources(load_study(name))]
    rates = [rate for rate in map(measure, wanted) if rate.pairs]
    in_class, public = list(map(measure_class, wanted)), list(map(measure_public, wanted))
    answers = prose()
    PAGE.write_text(page(rates, in_class, public, answers), "utf-8")
    modules = sum(rate.modules for rate in rates)
    independent = sum(rate.pairs for rate in rates)
    results = [
        Result(
            "independent modules that are listed",
            sum(len(rate.listed) for rate in rates) / independent,
            f"of {independent} pairs",
            "<= 0.01",
        )
    ]
    for how in DISGUISES:
        detected = sum(rate.detected[how] for rate in rates)
        results.append(
            Result(f"copies found: {how}", detected / modules, f"of {modules}", ">= 0.7")
        )
    results += _class_results(in_class, public)
    targets = ("<= 0.01", ">= 0.7", None)
    for (what, number, total), target in zip(answers, targets, strict=True):
        results.append(Result(f"written answers: {what}", number / total, f"of {total}", target))
    return results


def measure(study: Study, hows: Sequence[str] = tuple(DISGUISES)) -> Rates:
    """Return the measurements of one study."""
    handout = given_texts(study.folder, study)
    originals = [replace(s, kind=CLASS, student=s.name) for s in staff_sources(study)]
    own = {source.name: _own_lines(source.module, handout) for source in originals}
    independent = {
        frozenset((one.name, other.name))
        for number, one in enumerate(originals)
        for other in originals[:number]
        if one.origin != other.origin and not _are_versions(own[one.name], own[other.name])
    }
    pairs = Modules(originals, handout).pairs()
    listed = [(p.one.name, p.other.name) for p in pairs if _names(p) in independent]
    versions = len(pairs) - len(listed)
    fixed = _fixed_names(study)
    detected = {}
    for how in hows:
        copies = [_copy(source, disguise(source.module, how, fixed)) for source in originals]
        copied = {_names(pair) for pair in Modules([*originals, *copies], handout).pairs()}
        detected[how] = sum(
            frozenset((source.name, COPY + source.name)) in copied for source in originals
        )
    return Rates(study.name, len(originals), len(independent), listed, detected, versions)


def measure_class(study: Study) -> ClassRates:
    """Return the measurements of the demo class."""
    handout = given_texts(study.folder, study)
    students = _demo_class(study)
    compared = Modules([*students, *staff_sources(study)], handout)
    sources = [
        source for number, source in enumerate(compared.sources) if not compared.is_empty(number)
    ]
    listed = {_names(pair) for pair in compared.pairs()}
    bases = {source.name: source.origin for source in staff_sources(study)} | _bases(study)
    own = {source.name: _own_lines(source.module, handout) for source in sources}
    kinds: dict[str, list[bool]] = {
        "independent": [], "staff": [], "changed": [], "identical": []
    }  # fmt: skip
    for one, other in combinations(sources, 2):
        if one.kind == STAFF:
            continue
        names = frozenset((one.name, other.name))
        if bases[one.name] != bases[other.name]:
            if not _are_versions(own[one.name], own[other.name]):
                kinds["staff" if other.kind == STAFF else "independent"].append(names in listed)
        elif other.kind != STAFF:
            kinds["identical" if one.module == other.module else "changed"].append(names in listed)
    return ClassRates(
        study.name,
        sum(source.kind == CLASS for source in sources),
        **{kind: (len(pairs), sum(pairs)) for kind, pairs in kinds.items()},
    )


def measure_public(study: Study) -> PublicRates:
    """Return the measurements with public code."""
    handout = given_texts(study.folder, study)
    public = public_sources(study, handout)
    originals = [replace(s, kind=CLASS, student=s.name) for s in staff_sources(study)]
    sources = [*originals, *_demo_class(study)]
    pairs = Modules(sources, handout).public_pairs(public)
    functions = list(_public_functions(public))
    fixed, detected = _fixed_names(study), {}
    for how in PUBLIC_DISGUISES:
        copies = [
            _copy(
                Source(f"{file} {number}", CLASS, ""),
                f"{handout.stub}\n\n{disguise(text, how, fixed)}",
            )
            for number, (file, text) in enumerate(functions)
        ]
        listed = {
            _names(pair) for pair in Modules([*sources, *copies], handout).public_pairs(public)
        }
        detected[how] = sum(
            frozenset((copy.name, file)) in listed
            for copy, (file, _) in zip(copies, functions, strict=True)
        )
    return PublicRates(
        study.name,
        len(sources),
        [(pair.one.name, pair.other.name) for pair in pairs],
        len(functions),
        detected,
    )


def prose() -> list[tuple[str, int, int]]:
    """Return what was measured with written answers, how many were listed, and of how many."""
    answers = [
        Source(f"{study} {name} {number}", CLASS, f"{study} {name} {number}", "", {key: text}, "")
        for study in studies()
        for name, texts in _sample_answers(load_study(study)).items()
        for key in [f"{study}{TASKS}{name}"]
        for number, text in enumerate(texts)
    ]
    handout = Handout((), "", ())
    questions = [next(iter(source.answers)) for source in answers]
    pairs = sum(questions.count(name) * (questions.count(name) - 1) // 2 for name in {*questions})
    rows = [
        ("independent answers to the same question", len(answer_pairs(answers, [], handout)), pairs)
    ]
    for every in (8, 4):
        copies = [
            replace(
                _copy(source, ""), answers={q: reword(t, every) for q, t in source.answers.items()}
            )
            for source in answers
        ]
        detected = {_names(pair) for pair in answer_pairs([*answers, *copies], [], handout)}
        number = sum(frozenset((each.name, COPY + each.name)) in detected for each in answers)
        rows.append((f"copies with one of {every} words replaced", number, len(answers)))
    return rows


def page(
    rates: Sequence[Rates],
    in_class: Sequence[ClassRates],
    public: Sequence[PublicRates],
    answers: Sequence[tuple[str, int, int]],
) -> str:
    """Return the text of the page."""
    rows = [["what", "listed", "of", "share"], ["---", "---:", "---:", "---:"]]
    rows += [[what, str(n), str(total), _percent(n, total)] for what, n, total in answers]
    parts = [HEAD, _modules(rates), CLASS_HEAD, _table(list(_class_lines(in_class)))]
    parts += [PUBLIC_HEAD.format(MIN_LINES), _table(list(_public_lines(public)))]
    return "".join([*parts, PROSE_HEAD, _table(rows)])


def _modules(rates: Sequence[Rates]) -> str:
    head = ["study", "modules", "independent pairs", "listed", *DISGUISES]
    lines = [head, ["---", *["---:"] * (len(head) - 1)]]
    for rate in rates:
        counts = (rate.modules, rate.pairs, len(rate.listed), *rate.detected.values())
        lines.append([rate.study.removeprefix("study"), *map(str, counts)])
    modules = sum(rate.modules for rate in rates)
    pairs, listed = sum(rate.pairs for rate in rates), sum(len(rate.listed) for rate in rates)
    detected = [sum(rate.detected[how] for rate in rates) for how in DISGUISES]
    lines.append(["all", *map(str, (modules, pairs, listed, *detected))])
    shares = [_percent(listed, pairs), *(_percent(number, modules) for number in detected)]
    lines.append(["share", "", "", *shares])
    excluded = sum(rate.modules * (rate.modules - 1) // 2 for rate in rates) - pairs
    versions = sum(rate.versions for rate in rates)
    note = (
        f"\nAnother {excluded} pairs are not independent by this rule, and {versions} of them are "
        "listed. Some of their authors\nmay not have known each other's module, so *listed* is a "
        "lower bound.\n"
    )
    names = "".join(
        f"\nListed although independent, in {rate.study}: {one} and {other}.\n"
        for rate in rates
        for one, other in rate.listed
    )
    return _table(lines) + note + names


def _class_lines(rates: Sequence[ClassRates]) -> Iterator[list[str]]:
    head = ["independent pairs", "with the staff", "changed copies", "identical"]
    head = [cell for name in head for cell in (name, "listed")]
    yield ["study", "submissions", *head]
    yield ["---", *["---:"] * (len(head) + 1)]
    rows = [
        (rate.submissions, *rate.independent, *rate.staff, *rate.changed, *rate.identical)
        for rate in rates
    ]
    yield from _with_sums([rate.study for rate in rates], rows)


def _public_lines(rates: Sequence[PublicRates]) -> Iterator[list[str]]:
    yield ["study", "modules", "listed", "functions", *PUBLIC_DISGUISES]
    yield ["---", *["---:"] * (3 + len(PUBLIC_DISGUISES))]
    rows = [
        (rate.modules, len(rate.listed), rate.functions, *rate.detected.values()) for rate in rates
    ]
    yield from _with_sums([rate.study for rate in rates], rows)


def _with_sums(names: Sequence[str], rows: Sequence[Sequence[int]]) -> Iterator[list[str]]:
    """Yield the lines of a table, with the study of each line, and a line with the sums."""
    for name, row in zip(names, rows, strict=True):
        yield [name.removeprefix("study"), *map(str, row)]
    yield ["all", *(str(sum(column)) for column in zip(*rows, strict=True))]


def _table(lines: Sequence[Sequence[str]]) -> str:
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _percent(number: int, total: int) -> str:
    return f"{100 * number / total:.1f} %"


def _class_results(in_class: Sequence[ClassRates], public: Sequence[PublicRates]) -> list[Result]:
    """Return the results of the demo class and of public code."""
    results = [
        _share("independent pairs of the demo class that are listed", "<= 0.01",
               [pair for rate in in_class for pair in (rate.independent, rate.staff)]),
        _share("identical modules of the demo class that are listed", "== 1",
               [rate.identical for rate in in_class]),
        _share("changed copies of the demo class that are listed", ">= 0.7",
               [rate.changed for rate in in_class]),
        _share("modules that are listed with public code", "<= 0.01",
               [(rate.modules, len(rate.listed)) for rate in public]),
    ]  # fmt: skip
    results += [
        _share(f"copied public functions found: {how}", ">= 0.7",
               [(rate.functions, rate.detected[how]) for rate in public])
        for how in PUBLIC_DISGUISES
    ]  # fmt: skip
    return results


def _share(what: str, target: str, counts: Sequence[tuple[int, int]]) -> Result:
    """Return the result that a share of all these pairs was listed."""
    total = sum(number for number, _ in counts)
    return Result(what, sum(listed for _, listed in counts) / total, f"of {total}", target)


def _demo_class(study: Study) -> list[Source]:
    """Return the submissions of the demo class that contain a module."""
    texts = {name: demo.module_text(study, work) for name, work in _demo_work(study).items()}
    return [Source(name, CLASS, name, text, {}, name) for name, text in texts.items() if text]


def _demo_work(study: Study) -> dict[str, dict]:
    """Return the table of each student's work in the demo class, by student."""
    return {
        student["id"]: student["work"][study.name]
        for student in demo.read_students()
        if study.name in student["work"]
    }


def _bases(study: Study) -> dict[str, str]:
    """Return the file from which each submission of the demo class was made, by student."""
    reference = answer_path(study).name
    return {
        name: work["module"].removeprefix("file: ")
        if work["module"].startswith("file: ")
        else reference
        for name, work in _demo_work(study).items()
    }


def _public_functions(public: Sequence[Source]) -> Iterator[tuple[str, str]]:
    """Yield a copy of each public file for each of its functions and methods, with the name of the
    file. A copy contains that function, the imports, and the others without their bodies.
    """
    for source in public:
        if source.name.startswith(COPIED):
            count = len(_long_functions(parse_python(source.module)))
            for number in range(count):
                tree = parse_python(source.module)
                tree.body = [node for node in tree.body if isinstance(node, STATEMENTS)]
                copied = _long_functions(tree)[number]
                for node in ast.walk(tree):
                    if (
                        isinstance(node, FUNCTIONS)
                        and copied not in ast.walk(node)
                        and node not in ast.walk(copied)
                    ):
                        node.body = [ast.Pass()]
                yield source.name, ast.unparse(tree)


def _long_functions(tree: ast.Module) -> list[ast.FunctionDef]:
    return [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
        and (node.end_lineno or 0) - node.lineno >= MIN_LINES - 1
    ]


def _copy(source: Source, module: str) -> Source:
    name = COPY + source.name
    return replace(source, name=name, origin=name, student=name, module=module)


def _names(pair: Pair) -> frozenset[str]:
    return frozenset((pair.one.name, pair.other.name))


def _fixed_names(study: Study) -> set[str]:
    """Return the names of functions and methods that students must not change."""
    tree = parse_python(stub(answer_path(study).read_text("utf-8"), study.module))
    kinds = (ast.FunctionDef, ast.ClassDef)
    return CALLED | {node.name for node in ast.walk(tree) if isinstance(node, kinds)}


def _own_lines(text: str, handout: Handout) -> set[str]:
    return {*_lines(text)} - {*_lines(handout.stub)}


def _lines(text: str) -> Iterator[str]:
    for line in text.splitlines():
        words = " ".join(line.split())
        if len(words) >= MIN_CHARACTERS and not words.startswith("#"):
            yield words


def _are_versions(one: set[str], other: set[str]) -> bool:
    return len(one & other) > VERSION * min(len(one), len(other))


def _sample_answers(study: Study) -> dict[str, list[str]]:
    """Return the sample answers to each written question, without their marks."""
    detected = {}
    for name, section in sections(study).items():
        samples = section.partition("**Sample answers.**")[2].partition("For the grader:")[0]
        texts = [part.partition(": ")[2].strip() for part in samples.split("\n* ")]
        detected[name] = [text for text in texts if text]
    return detected
