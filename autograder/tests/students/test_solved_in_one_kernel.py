"""Every study is solved in one kernel, function by function: the next cell uses the saved module."""

import shutil

import pytest

from autograder.tests.support.pages.kernels import kernel_in
from autograder.workspace import answer_path
from autograder.workspace.strip import stub, written_functions
from course.checks import load_study, studies

# Objects made before anything is written: the names, and the objects that they refer to.
BEGIN = """%load_ext course.notebook
import random
from types import ModuleType, SimpleNamespace
from course.checks import load_study
from course.checks.running.queries import reply
from course.checks.questions import MATCHES
from common.syntax import text_of
study = load_study("{study}")
import {module} as whole
before = SimpleNamespace(**vars(whole))
from {module} import *
names = [name for name in vars(whole) if not name.startswith("_") and name in globals()]
"""
# Queries all these objects, and the module in a fresh namespace, with one case per check.
COMPARE = """
fresh = ModuleType(whole.__name__)
code = compile(open(whole.__file__, encoding="utf-8").read(), whole.__file__, "exec")
exec(code, vars(fresh))
imported = SimpleNamespace(**{name: globals()[name] for name in names if name in globals()})

def ask(module, check):
    random.seed(20)
    return reply(module, check.ask, {**check.settings, **check.cases[0]})

checks = [check for check in study.checks.values() if check.ask not in MATCHES]
for check in checks:
    expected = ask(fresh, check)
    for way, module in {"names": imported, "module": whole, "before": before}.items():
        found = ask(module, check)
        if found != expected:
            print(check.id, way, found, expected)

def of_stubs(module):
    found = set()
    for kind in [module, *(c for c in vars(module).values() if isinstance(c, type))]:
        for name, value in vars(kind).items():
            value = getattr(value, "__wrapped__", getattr(value, "__func__", value))
            if any("write this" in str(const) for const in getattr(
                    getattr(value, "__code__", None), "co_consts", ())):
                found.add(name)
    return found

if of_stubs(whole) != of_stubs(fresh) or of_stubs(imported) - of_stubs(fresh):
    print(of_stubs(whole), of_stubs(fresh), of_stubs(imported))
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.content(name)) for name in studies()]
)
def test_a_study_is_solved_function_by_function(name, tmp_path):
    """After each save the next cell has a fresh kernel's results through imported names, the
    module, and the classes and functions of the first version.
    """
    study = load_study(name)
    shutil.copytree(study.folder, tmp_path, dirs_exist_ok=True)
    answer = answer_path(study).read_text("utf-8")
    module, solved = tmp_path / study.module, []
    with kernel_in(tmp_path) as kernel:
        assert kernel.run(BEGIN.format(study=name, module=module.stem)) == ("ok", "")
        for function in sorted(written_functions(answer)):
            solved.append(function)
            module.write_text(stub(answer, study.module, keep=solved), "utf-8")
            assert kernel.run(COMPARE) == ("ok", ""), solved
        assert kernel.run("print(of_stubs(whole))") == ("ok", "set()\n")
