"""Every study is solved in one kernel, function by function: the next cell uses what is saved."""

import shutil

import pytest

from autograder.tests.support.kernels import kernel_in
from autograder.workspace import answer_path
from autograder.workspace.strip import stub, written_functions
from course.probes import load_study, studies

# What was made while nothing was written: the names, and everything that they stood for.
BEGIN = """%load_ext course.notebook
import random
from types import ModuleType, SimpleNamespace
from course.probes import load_study
from course.probes.ask import reply
from course.probes.questions import MATCHES
from course.probes.syntax import text_of
study = load_study("{study}")
import {module} as whole
before = SimpleNamespace(**vars(whole))
from {module} import *
names = [name for name in vars(whole) if not name.startswith("_") and name in globals()]
"""
# Asks all of them, and the module in a fresh namespace, a question of each check.
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
    """After each save the next cell finds what a fresh kernel finds, in whatever it has: names that
    were imported, the module, and the classes and functions of the first version."""
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
