"""Modules by people with only the student kit: correct ones keep all marks, wrong ones lose some.

The correct ones are in each study's folder `outsiders/`, many as patches of an answer, and the
wrong ones in `outsiders.toml`. A wrong one that still gets full marks is marked `accepted = true`
there, because the checks do not detect it yet.
"""

from collections.abc import Sequence

import pytest

from autograder import workspace
from autograder.tests.support.modules import outsiders
from autograder.tests.support.needs import need_isolation
from course.checks import load_study, studies
from course.checks.questions import MATCHES

RIGHT = {path: outsiders.study_of(path) for path in outsiders.stored()}


def marks(name: str, text: str, without: Sequence[str] = ()) -> tuple[float, float]:
    """The marks of a module in the hidden checks of a study without games, and the maximum;
    `without` are checks for extra credit that do not count.
    """
    study = load_study(name)
    asked = [
        check.name
        for check in study.checks.values()
        if check.ask not in MATCHES and not (check.extra_credit and check.name in without)
    ]
    outcomes = workspace.outcomes_of(study, text, asked)
    return sum(o.earned for o in outcomes), sum(o.points for o in outcomes)


@pytest.mark.slow
@pytest.mark.parametrize(
    "path",
    [
        pytest.param(
            path,
            id=outsiders.name_of(path),
            marks=pytest.mark.content(name),
        )
        for path, name in RIGHT.items()
    ],
)
def test_no_right_module_loses_anything(path):
    """A module that follows the text gets full marks, whatever its implementation."""
    need_isolation()
    text = outsiders.whole(path)
    earned, points = marks(RIGHT[path], text, without=outsiders.left_out(text))
    assert earned == points


@pytest.mark.slow
@pytest.mark.usefixtures("cached_replies")
@pytest.mark.xdist_group("outsiders")
@pytest.mark.parametrize(
    ("name", "module"),
    [
        pytest.param(name, module, id=f"{name}-{module.name}", marks=pytest.mark.content(name))
        for name, module in outsiders.WRONG
    ],
)
def test_a_wrong_module_loses_something(name, module):
    """Each one loses marks, unless it is listed as accepted."""
    need_isolation()
    second = workspace.answer_path(load_study(name)).with_name(workspace.INDEPENDENT_SOLUTION)
    earned, points = marks(name, module.apply(second.read_text("utf-8")))
    assert (earned == points) == module.accepted


@pytest.mark.parametrize(
    ("names", "least"),
    [([name for name, _ in outsiders.WRONG], 60), ([*RIGHT.values()], 30)],
    ids=["wrong", "right"],
)
def test_there_are_outsiders_enough(names, least):
    """There are at least 60 wrong and 30 correct modules for each half of the course."""
    early = sum(name in studies()[:3] for name in names)
    assert early >= least
    assert len(names) - early >= least


def test_every_patch_fits_and_makes_the_same_module_again(tmp_path, monkeypatch):
    """All modules can be unpacked and packed again without a change."""
    outsiders.unpack(tmp_path / "written")
    monkeypatch.setattr(outsiders, "STUDIES", tmp_path / "stored")
    outsiders.pack(tmp_path / "written")
    stored = {outsiders.name_of(path): outsiders.whole(path) for path in outsiders.stored()}
    assert stored == {outsiders.name_of(path): outsiders.whole(path) for path in RIGHT}


def test_a_patch_of_another_answer_is_refused(tmp_path):
    """Its lines would be inserted in arbitrary places."""
    path = next(path for path in RIGHT if path.suffix == ".patch")
    answer, _, rest = path.read_text("utf-8").partition(" ")
    other = tmp_path / path.parents[1].name / "outsiders" / path.name
    other.parent.mkdir(parents=True)
    other.write_text(f"{answer} 0{rest}", "utf-8")
    with pytest.raises(ValueError, match=r"CONTRIBUTING\.md"):
        outsiders.whole(other)
