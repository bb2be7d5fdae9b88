"""Modules that need a newer Python than grading uses: the stated version is never wrong."""

import importlib
import json
import subprocess
from pathlib import Path

import pytest

from autograder.tests.support.needs import need_python
from course.check import check
from course.checks.running.newer_python import (
    RUNNING,
    _additions,
    explain_error,
    grading_version,
    needed_by_error,
    version_text,
    warning,
)
from course.checks.running.newer_syntax import newer_forms

OLD = (3, 11)
NEWER = {
    'f"{", ".join(x)}"': (3, 12),
    "f'{x['a']}'": (3, 12),
    "f\"{'\\n'.join(x)}\"": (3, 12),
    'f"{x!r:>{w}}" + f"{f"{1}"}"': (3, 12),
    'f"""{\nx # c\n}"""': (3, 12),
    'f"{\nx}"': (3, 12),
    'f"{x!r}" f"{"a"}"': (3, 12),
    'print(f"{d["k"]:.2f}")': (3, 12),
    'f"{"a" = }"': (3, 12),
    'f"{a["b"] != 3}"': (3, 12),
    'rf"{d["k"]}"': (3, 12),
    'f"{x}" + f"{x:{d["w"]}}"': (3, 12),
    "type X = int": (3, 12),
    "type X[T] = list[T]": (3, 12),
    "if x: type A = int": (3, 12),
    "def f[T](x: T) -> T: return x": (3, 12),
    "async def f[T](): pass": (3, 12),
    "class A[T: int, *Ts, **P](B): pass": (3, 12),
    "def f[\n  T,  # c\n](x): pass": (3, 12),
    "def f[T = int](x): pass": (3, 13),
    "class A[*Ts = *tuple[int]]: pass": (3, 13),
    "type X[T = int] = list[T]": (3, 13),
    "try:\n    pass\nexcept ValueError, TypeError:\n    pass": (3, 14),
    "try:\n    pass\nexcept* ValueError, socket.Error:\n    pass": (3, 14),
    't"{x}"': (3, 14),
    'rt"{x:{y}}"': (3, 14),
    "x = t'''{x}'''": (3, 14),
    "lazy import json": (3, 15),
    "lazy from json import loads": (3, 15),
    "x = [*a for a in b]": (3, 15),
    "y = {**a for a in b}": (3, 15),
}
OLDER = [
    "x = 1",
    "type = 3",
    "type(x)",
    "x: type = 3",
    'f"{x}"',
    "f'{x:%H:%M}'",
    'rf"\\d{x}"',
    'f"\\N{DASH}{x}"',
    "[*a, *b]",
    "{**a, **b}",
    "match x:\n    case [*a]: pass",
    "lazy = 3",
    'f"{x:{w}.{p}}"',
    'f"""{x["a"]} "b" """',
    'f"{(lambda x: 1)}"',
    'x = {"type": 1}',
    "f\"{d['a']:>{w}}\"",
    'f"{{", ".join(x)}}"',
    'x = 1 # f"{", ".join(x)}"',
    "def f(x): pass",
    "try:\n    pass\nexcept* ValueError:\n    pass",
    "f'{x = }'",
    "'''f\"{\", \"}\"'''",
]
INVALID = [
    'f"{x y}"',
    'f"{", ".join(x}"',
    "def f(:",
    "f'{x!z}'",
    'f"{","',
    "type X int",
    "def f[](x): pass",
    "try:\n    pass\nexcept ValueError, e:\n    pass",
    "class A[1]: pass",
    'f"{}"',
    'print "x"',
    'f"{x',
    "def f[T(x): pass",
    'f"{\'a}"',
    "x = (",
    "type X[] = 1",
    "def f[*](): pass",
    'f"{", ".join(x)}"\ndef f(:',
    "lazy json",
]


@pytest.mark.parametrize(("text", "version"), NEWER.items())
def test_newer_syntax_is_recognised(text, version):
    """The result is the first version that can parse the text, whichever Python runs."""
    needs = newer_forms(f"import os\n{text}\n")
    assert max(need.version for need in needs) == version
    assert {need.line for need in needs} == {2} or "\n" in text
    if version > RUNNING:
        with pytest.raises(SyntaxError):
            compile(text, "module", "exec")
    else:
        compile(text, "module", "exec")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("text", OLDER)
def test_older_syntax_needs_nothing(text):
    """Code that Python 3.11 can parse is never reported as needing a newer one."""
    assert newer_forms(text) == []
    assert "DASH" in text or compile(text, "module", "exec")


@pytest.mark.parametrize("text", INVALID)
def test_nothing_is_claimed_of_a_mistake(text):
    """A text that no version can parse keeps its plain SyntaxError."""
    assert newer_forms(text) == []
    message = "SyntaxError: invalid syntax (line 1 of module.py)"
    assert explain_error(message, text, "grading uses Python") == message


def _exists(name: str) -> bool:
    """Whether the running library has this."""
    parts = name.split(".")
    for number in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:number]))
        except ModuleNotFoundError:
            continue
        for part in parts[number:]:
            if not hasattr(found, part):
                return False
            found = getattr(found, part)
        return True
    return False


@pytest.mark.parametrize("kind", ["names", "modules"])
def test_the_table_is_true_of_the_python_that_runs(kind):
    """Additions of later versions are missing, and additions of earlier ones are present."""
    wrong = [
        name
        for name, version in _additions()[kind].items()
        if _exists(name) != (version <= RUNNING)
    ]
    assert wrong == []


@pytest.mark.parametrize(
    ("message", "text", "version"),
    [
        (
            "ImportError: cannot import name 'batched' from 'itertools' (unknown location)",
            "",
            (3, 12),
        ),
        ("ImportError: cannot import name 'override' from 'typing' (/lib/typing.py)", "", (3, 12)),
        ("ImportError: cannot import name 'deprecated' from 'warnings' (x)", "", (3, 13)),
        ("AttributeError: module 'math' has no attribute 'sumprod' (line 3 of a.py)", "", (3, 12)),
        ("AttributeError: module 'copy' has no attribute 'replace'", "", (3, 13)),
        ("AttributeError: 'PosixPath' object has no attribute 'walk'", "import pathlib", (3, 12)),
        (
            "AttributeError: type object 'Path' has no attribute 'walk'",
            "from pathlib import Path",
            (3, 12),
        ),
        ("ModuleNotFoundError: No module named 'compression'", "", (3, 14)),
        ("NameError: name 'PythonFinalizationError' is not defined", "", (3, 13)),
        (
            "TypeError: Path.glob() got an unexpected keyword argument 'case_sensitive'",
            "from pathlib import Path",
            (3, 12),
        ),
        (
            "TypeError: 'steps' is an invalid keyword argument for nextafter()",
            "import math",
            (3, 12),
        ),
        (
            "TypeError: reduce() got an unexpected keyword argument 'initial'",
            "import functools",
            (3, 14),
        ),
    ],
)
def test_a_missing_part_of_the_library_is_recognised(message, text, version):
    """The error names what is missing, and the table has the version that added it."""
    assert needed_by_error(message, text, OLD).version == version
    assert needed_by_error(message, text, version) is None


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ("ImportError: cannot import name 'batch' from 'itertools'", ""),
        ("ImportError: cannot import name 'batched' from 'helper'", ""),
        ("AttributeError: 'Path' object has no attribute 'walk'", "class Path: pathlib = 1"),
        ("AttributeError: 'Path' object has no attribute 'walk'", "Path = 1"),
        ("AttributeError: 'list' object has no attribute 'walk'", "import pathlib"),
        (
            "TypeError: reduce() got an unexpected keyword argument 'initial'",
            "import functools\ndef reduce(x): pass",
        ),
        ("ModuleNotFoundError: No module named 'helper'", ""),
        ("ValueError: cannot import name 'batched' from 'itertools'", ""),
    ],
)
def test_other_errors_say_nothing_of_versions(message, text):
    """A newer Python would not help if the student's own code is wrong."""
    assert needed_by_error(message, text, OLD) is None


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("from itertools import batched", "`itertools.batched` (line 1) needs Python 3.12"),
        (
            "import itertools as it\nx = it.batched",
            "`itertools.batched` (line 2) needs Python 3.12",
        ),
        ("import math\nmath.nextafter(1, 2, steps=3)", "`math.nextafter(steps=...)` (line 2)"),
        ("from pathlib import Path\nPath.walk", "`pathlib.Path.walk` (line 2)"),
        ("import concurrent.interpreters", "`concurrent.interpreters` (line 1) needs Python 3.14"),
        (
            'x = f"{", ".join("ab")}"',
            "an f-string with the string's own quotes between braces (line",
        ),
    ],
)
def test_a_module_that_runs_only_here_is_warned_about(text, what):
    """A newer Python on the student's machine hides features that grading lacks."""
    said = warning(text.encode(), OLD, (3, 14))
    assert said.startswith(what)
    assert "grading uses 3.11" in said
    assert warning(text.encode(), None, (3, 14)) == ""
    assert warning(text.encode(), (3, 14), (3, 14)) == ""


@pytest.mark.parametrize(
    "text",
    [
        "try:\n    from itertools import batched\nexcept ImportError:\n    batched = None",
        "import sys\nif sys.version_info >= (3, 12):\n    from itertools import batched",
        "import math\nif hasattr(math, 'sumprod'):\n    f = math.sumprod",
        "from helper import batched",
        "import math\ndef f(math): return math.sumprod",
        "x = 1",
        "def f(:",
        "from itertools import chain",
    ],
)
def test_a_module_with_a_fallback_is_not_warned_about(text):
    """A module without newer features gets no warning either."""
    assert warning(text.encode(), OLD, (3, 14)) == ""


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ('{"python": "3.11"}', (3, 11)),
        ('{"python": "3.13.2"}', (3, 13)),
        ("{}", None),
        ("[", None),
        ('{"python": 3.11}', None),
        ("[]", None),
        ('{"python": "new"}', None),
    ],
)
def test_the_grading_version_is_read_from_the_kit(tmp_path, text, version):
    """A file without a version states none."""
    (tmp_path / "grading.json").write_text(text, "utf-8")
    assert grading_version(tmp_path / "grading.json") == version
    assert grading_version(tmp_path / "none.json") is None


@pytest.mark.skipif(RUNNING >= (3, 15), reason="this Python knows the syntax")
def test_check_states_it_with_the_line(tmp_path, capsys):
    """A student whose Python is too old is shown the version that the module needs."""
    (tmp_path / "heuristic.py").write_text("lazy import json\n", "utf-8")
    check("study3.lane_counts", tmp_path)
    said = " ".join(capsys.readouterr().out.split())
    assert (
        "(line 1 of heuristic.py): `lazy import` needs Python 3.15; this is Python "
        f"{version_text(RUNNING)}"
    ) in said


def test_check_warns_of_an_older_grader(tmp_path, capsys, monkeypatch):
    """One line after the result, if the course states an older version than this one."""
    statement = tmp_path / "grading.json"
    statement.write_text(json.dumps({"python": "3.10"}), "utf-8")
    monkeypatch.setattr("course.check.grading_version", lambda: grading_version(statement))
    module = tmp_path / "heuristic.py"
    module.write_text("def f():\n    return f'{1}'\n", "utf-8")
    check("study3.lane_counts", tmp_path)
    assert "Warning:" not in capsys.readouterr().out
    module.write_text("from itertools import batched\n", "utf-8")
    check("study3.lane_counts", tmp_path)
    assert (
        capsys.readouterr()
        .out.rstrip()
        .endswith(
            "Warning: `itertools.batched` (line 1) needs Python 3.12; grading uses 3.10, where the "
            "module cannot run"
        )
    )


AGREE = """
import json, sys
from course.checks.running.newer_syntax import newer_forms

def compiles(text):
    try:
        compile(text, "module", "exec")
    except SyntaxError:
        return False
    return True

texts = json.load(sys.stdin)
needs = [max((need.version for need in newer_forms(text)), default=None) for text in texts]
print(json.dumps([needs, list(map(compiles, texts))]))
"""


@pytest.mark.parametrize("minor", [11, 12, 13, 14])
def test_other_pythons_agree(minor):
    """Another interpreter has the same results for the same texts, and compiles the expected ones."""
    python = need_python(minor)
    texts = [*(f"{text}\n" for text in NEWER), *OLDER, *INVALID]
    done = subprocess.run(
        [python, "-W", "ignore", "-c", AGREE],
        cwd=Path(__file__).parents[3],
        capture_output=True,
        input=json.dumps(texts),
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    needs, compiled = json.loads(done.stdout)
    assert needs == [*map(list, NEWER.values()), *[None] * (len(OLDER) + len(INVALID))]
    for text, version, worked in zip(NEWER, NEWER.values(), compiled, strict=False):
        assert worked == (version <= (3, minor)), text
