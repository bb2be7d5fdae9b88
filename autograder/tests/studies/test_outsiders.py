"""Modules by people who had only the students' kit: right ones lose nothing, wrong ones something.

They are in `outsiders/`. A wrong one that still gets full marks is marked `accepted = true` there:
these are what the checks have yet to ask.
"""

import tomllib
from pathlib import Path

import pytest

from autograder import workspace
from autograder.mutants import Mutant
from autograder.tests.needs import need_isolation
from course.probes import load_study
from course.probes.questions import MATCHES

OUTSIDERS = Path(__file__).with_name("outsiders")
RIGHT = sorted((OUTSIDERS / "right").glob("*.py"))
WRONG = [(path.stem, module) for path in sorted(OUTSIDERS.glob("study*.toml"))
         for module in tomllib.loads(path.read_text("utf-8"))["module"]]


def marks(name: str, text: str) -> tuple[float, float]:
    """What a module earns in the hidden checks of a study, games left out, and what there is."""
    study = load_study(name)
    asked = [check.name for check in study.checks.values() if check.ask not in MATCHES]
    outcomes = workspace.outcomes_of(study, text, asked)
    return sum(o.earned for o in outcomes), sum(o.points for o in outcomes)


@pytest.mark.slow
@pytest.mark.parametrize("path", RIGHT, ids=lambda path: path.stem)
def test_no_right_module_loses_anything(path):
    """However it is built, a module that does what the text says gets full marks."""
    need_isolation()
    earned, points = marks(path.stem.partition("__")[0], path.read_text("utf-8"))
    assert earned == points


@pytest.mark.slow
@pytest.mark.parametrize(("name", "module"), WRONG, ids=[f"{n}-{m['name']}" for n, m in WRONG])
def test_a_wrong_module_loses_something(name, module):
    """Each loses marks, unless it is on the list of those that are still accepted."""
    need_isolation()
    second = workspace.answer_path(load_study(name)).with_name(workspace.SECOND)
    wrong = Mutant(module["name"], module["wrong"], {},
                   [(edit["old"], edit["new"]) for edit in module["edit"]], OUTSIDERS)
    earned, points = marks(name, wrong.apply(second.read_text("utf-8")))
    assert (earned == points) == module.get("accepted", False)
