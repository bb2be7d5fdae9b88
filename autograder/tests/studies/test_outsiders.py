"""Modules by people who had only the students' kit: right ones lose nothing, wrong ones something.

The right ones are in `outsiders/`, many as patches of an answer, the wrong ones in
`autograder/mutants/`. A wrong one that still gets full marks is marked `accepted = true` there:
these are what the checks have yet to ask.
"""

import pytest

from autograder import workspace
from autograder.tests.support import outsiders
from autograder.tests.support.needs import need_isolation
from course.probes import load_study, studies
from course.probes.questions import MATCHES

RIGHT = {path: outsiders.study_of(path) for path in sorted(outsiders.RIGHT.glob("study*"))}


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
    earned, points = marks(RIGHT[path], outsiders.whole(path))
    assert earned == points


@pytest.mark.slow
@pytest.mark.usefixtures("asked_once")
@pytest.mark.xdist_group("outsiders")
@pytest.mark.parametrize(
    ("name", "module"),
    [
        pytest.param(name, module, id=f"{name}-{module.name}", marks=pytest.mark.content(name))
        for name, module in outsiders.WRONG
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
    [([name for name, _ in outsiders.WRONG], 60), ([*RIGHT.values()], 30)],
    ids=["wrong", "right"],
)
def test_there_are_outsiders_enough(names, least):
    """At least 60 wrong modules and 30 right ones for each half of the course."""
    early = sum(name in studies()[:3] for name in names)
    assert early >= least
    assert len(names) - early >= least


def test_every_patch_fits_and_makes_the_same_module_again(tmp_path, monkeypatch):
    """All modules can be written out, and what is stored of them makes them again."""
    outsiders.unpack(tmp_path / "written")
    monkeypatch.setattr(outsiders, "RIGHT", tmp_path / "stored")
    outsiders.RIGHT.mkdir()
    outsiders.pack(tmp_path / "written")
    stored = {path.stem: outsiders.whole(path) for path in outsiders.RIGHT.iterdir()}
    assert stored == {path.stem: outsiders.whole(path) for path in RIGHT}


def test_a_patch_of_another_answer_is_refused(tmp_path):
    """Its lines would come to lie anywhere."""
    path = next(path for path in RIGHT if path.suffix == ".patch")
    answer, _, rest = path.read_text("utf-8").partition(" ")
    other = tmp_path / path.name
    other.write_text(f"{answer} 0{rest}", "utf-8")
    with pytest.raises(ValueError, match=r"CONTRIBUTING\.md"):
        outsiders.whole(other)
