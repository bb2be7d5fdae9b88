"""The files of a study, which are in two folders of the same name.

```
course/study3_type_a/                   public: the stub and the notebooks
course/study3_type_a/_check/            what `check` reads
    checks.toml                         title, module, points, questions, public positions
    expected.json                       derived: the replies of the reference and of each mutant
    questions.py                        kinds of question that only this study has, if any
autograder/studies/study3_type_a/       for instructors
    heuristic.py                        the reference answer, which has the same name as the stub
    independent_solution.py             a second answer, written independently of the first
    hidden_cases.toml                   the hidden positions
    hidden_expected.json                derived: the expected replies to them
    mutants.toml, outsiders.toml        known mistakes: edits of the answer and of the second answer
    generated_mutants.json              derived: the replies of generated mutants
    fresh_cases.py                      how new positions are drawn, if not in the default way
    written.md, oral.md, teaching.md    rubrics, questions about the code, notes for the instructor
    outsiders/                          correct modules, written with only the student kit
```

The folder has the name of the nbgrader assignment; the part before the first "_" is the study's name.
Both folders are in the kit or in a folder that the environment variable `COURSE_STUDIES` lists, in
the format of PATH. A study in a listed folder replaces the kit's study of the same assignment.
"""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

VARIABLE = "COURSE_STUDIES"
KIT = Path(__file__).parents[2]
PUBLIC = Path("course")
STAFF = Path("autograder", "studies")
CHECKS = Path("_check", "checks.toml")
QUESTIONS = "questions.py"


def study_roots() -> list[Path]:
    """The kit, then the folders that `COURSE_STUDIES` lists, as absolute paths."""
    return [KIT, *(home for home in _listed() if (home / PUBLIC).is_dir())]


@contextmanager
def use_studies(*homes: Path) -> Iterator[None]:
    """List only these folders in `COURSE_STUDIES`; without any, only the kit's studies are used."""
    former = os.environ.get(VARIABLE)
    os.environ[VARIABLE] = os.pathsep.join(map(str, homes))
    try:
        yield
    finally:
        del os.environ[VARIABLE]
        if former is not None:
            os.environ[VARIABLE] = former


def _listed() -> list[Path]:
    names = os.environ.get(VARIABLE, "").split(os.pathsep)
    return [Path(name).resolve() for name in names if name]


def tables() -> dict[str, Path]:
    """The table of each study by the study's name, sorted by number: study2 before study9.

    Raises ValueError if two studies have the same name and neither replaces the other, or if a
    listed folder contains no studies.
    """
    for home in _listed():
        if not (home / PUBLIC).is_dir():
            raise ValueError(
                f"{VARIABLE} names {home}, which has no folder {PUBLIC}: put the "
                "study's folder there, or remove the name"
            )
    tables: dict[str, Path] = {}
    for home in study_roots():
        for table in (home / PUBLIC).glob(f"study*/{CHECKS}"):
            name = table.parents[1].name.partition("_")[0]
            other = tables.setdefault(name, table)
            replaces_kit = home != KIT and other.is_relative_to(KIT / PUBLIC)
            if replaces_kit and other.parents[1].name == table.parents[1].name:
                tables[name] = table
            elif other != table:
                raise ValueError(
                    f"there are two studies {name}, {other.parents[1]} and "
                    f"{table.parents[1]}: rename one"
                )
    return dict(sorted(tables.items(), key=lambda item: natural_sort_key(item[0])))


def question_modules() -> list[str]:
    """The names of the modules with the questions of single studies, ready to be imported."""
    import course

    for home in study_roots()[1:]:
        if (folder := str(home / PUBLIC)) not in course.__path__:
            course.__path__.append(folder)
    modules = {
        path.relative_to(home).with_suffix("")
        for home in study_roots()
        for path in (home / PUBLIC).glob(f"study*/_check/{QUESTIONS}")
    }
    return [".".join(path.parts) for path in sorted(modules)]


def natural_sort_key(name: str) -> list[Any]:
    """A sort key that orders the numbers in names by value: study2 before study10."""
    return [int(part) if part.isdecimal() else part for part in re.split(r"(\d+)", name)]
