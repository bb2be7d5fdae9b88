"""Where studies live: in this kit, and in folders laid out like it that the environment names.

All that belongs to a study is found from its name alone, below its home:

```
course/probes/study3.toml               its title, module, points, questions, public positions
course/probes/study3.expected.json      derived: what a right answer and each slip reply there
course/probes/questions/study3_*.py     its own kinds of question, if it has any
course/study3_type_a/                   stub and notebooks
autograder/answers/study3_type_a/       the answer, and model answers in words
autograder/mutants/study3.toml          the known slips
autograder/verdicts/study3.toml         the hidden positions, study3.expected.json beside them
autograder/promises/study3.toml         where each sentence of the stub is asked, if it is listed
```

`COURSE_STUDIES` names further homes, separated like the folders of PATH.
"""

import os
import re
from pathlib import Path
from typing import Any

VARIABLE = "COURSE_STUDIES"
KIT = Path(__file__).parents[2]
TABLES = Path("course", "probes")


def homes() -> list[Path]:
    """The kit, then the homes that `COURSE_STUDIES` names, as absolute paths."""
    return [KIT, *(home for home in _named() if (home / TABLES).is_dir())]


def _named() -> list[Path]:
    names = os.environ.get(VARIABLE, "").split(os.pathsep)
    return [Path(name).resolve() for name in names if name]


def tables() -> dict[str, Path]:
    """The home of each study by its name, in the order of the numbers: study2 before study9.

    Raises ValueError if two homes hold a study of the same name, and for a folder that is no home.
    """
    for home in _named():
        if not (home / TABLES).is_dir():
            raise ValueError(
                f"{VARIABLE} names {home}, which has no folder {TABLES}: put the "
                "study's table there, or take the name out"
            )
    found: dict[str, Path] = {}
    for home in homes():
        for path in (home / TABLES).glob("study*.toml"):
            if found.setdefault(path.stem, home) != home:
                raise ValueError(
                    f"there are two studies {path.stem}, in {found[path.stem]} and in "
                    f"{home}: rename one"
                )
    return dict(sorted(found.items(), key=lambda item: in_order(item[0])))


def question_folders() -> list[str]:
    """The folders below the homes that hold modules of questions, the kit's own left out."""
    folders = (home / TABLES / "questions" for home in homes()[1:])
    return [str(folder) for folder in folders if folder.is_dir()]


def in_order(name: str) -> list[Any]:
    """A key that sorts numbers in a name by size."""
    return [int(part) if part.isdecimal() else part for part in re.split(r"(\d+)", name)]
