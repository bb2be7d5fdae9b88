"""Modules by people who had only the students' kit: right ones lose nothing, wrong ones something.

The right ones are in `outsiders/`, the wrong ones in `autograder/mutants/`. A wrong one that still
gets full marks is marked `accepted = true` there: these are what the checks have yet to ask.
"""

from pathlib import Path

import pytest

from autograder import workspace
from autograder.tests.support.needs import need_isolation
from autograder.tests.support.outsiders import WRONG
from course.probes import load_study, studies
from course.probes.questions import MATCHES

RIGHT = {
    path: path.stem.partition("__")[0]
    for path in sorted(Path(__file__).with_name("outsiders").joinpath("right").glob("*.py"))
}


def marks(name: str, text: str) -> tuple[float, float]:
    """What a module earns in the hidden checks of a study, games left out, and what there is."""
    study = load_study(name)
    asked = [check.name for check in study.checks.values() if check.ask not in MATCHES]
    outcomes = workspace.outcomes_of(study, text, asked)
    return sum(o.earned for o in outcomes), sum(o.points for o in outcomes)


@pytest.mark.slow
@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=path.stem, marks=pytest.mark.content(name))
        for path, name in RIGHT.items()
    ],
)
def test_no_right_module_loses_anything(path):
    """However it is built, a module that does what the text says gets full marks."""
    need_isolation()
    earned, points = marks(RIGHT[path], path.read_text("utf-8"))
    assert earned == points


@pytest.mark.slow
@pytest.mark.usefixtures("asked_once")
@pytest.mark.xdist_group("outsiders")
@pytest.mark.parametrize(
    ("name", "module"),
    [
        pytest.param(name, module, id=f"{name}-{module.name}", marks=pytest.mark.content(name))
        for name, module in WRONG
    ],
)
def test_a_wrong_module_loses_something(name, module):
    """Each loses marks, unless it is on the list of those that are still accepted."""
    need_isolation()
    second = workspace.answer_path(load_study(name)).with_name(workspace.SECOND)
    earned, points = marks(name, module.apply(second.read_text("utf-8")))
    assert (earned == points) == module.accepted


@pytest.mark.parametrize(
    ("names", "least"),
    [([name for name, _ in WRONG], 60), ([*RIGHT.values()], 30)],
    ids=["wrong", "right"],
)
def test_there_are_outsiders_enough(names, least):
    """At least 60 wrong modules and 30 right ones for each half of the course."""
    early = sum(name in studies()[:3] for name in names)
    assert early >= least
    assert len(names) - early >= least
