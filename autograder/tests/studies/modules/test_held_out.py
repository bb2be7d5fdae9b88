"""A sample of the modules of the held-out classes; the page next to them has the rates of all."""

import pytest

from autograder.tests.support.modules.graded import grade, key_of
from autograder.tests.support.modules.held_out import PAGE, held_out, is_explained, loses
from autograder.tests.support.needs import need_isolation
from course.checks import load_study, studies

EVERY = 25  # of the modules, one is graded here
MODULES = [module for name in studies() for module in held_out(name)]
EXCEPTIONS = PAGE.read_text("utf-8")


def test_there_are_enough_modules_for_each_half():
    """Names are unique in a study, and each module names a sentence and a check."""
    early = [module for module in MODULES if module.study in studies()[:5]]
    assert min(len(early), len(MODULES) - len(early)) >= 80
    assert len({(module.study, module.name) for module in MODULES}) == len(MODULES)
    for module in MODULES:
        assert module.must
        assert {*module.must} <= load_study(module.study).checks.keys()
        assert module.wrong.endswith(".")
        compile(module.text, module.name, "exec")


@pytest.mark.slow
@pytest.mark.parametrize(
    "module",
    [
        pytest.param(m, id=f"{m.study}-{m.name}", marks=pytest.mark.content(m.study))
        for m in MODULES[::EVERY]
    ],
)
def test_a_wrong_module_loses_marks_and_is_explained(module):
    """The exceptions are listed on the page."""
    need_isolation()
    outcomes = grade(key_of(module.study), module.text)
    if f"{module.study} {module.name}" not in EXCEPTIONS:
        assert loses(outcomes)
        assert is_explained(outcomes)
