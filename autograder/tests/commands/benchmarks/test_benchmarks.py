"""Benchmarks: the list, the table for readers, the JSON for programs, and unknown names."""

import json
import subprocess
import sys
from inspect import signature

import pytest

from autograder import benchmarks
from autograder.benchmarks import Result
from autograder.benchmarks.agents import search
from autograder.benchmarks.grading import positions
from autograder.benchmarks.support import journal

FAKE = '''"""A fake that measures nothing.

More about it.
"""

from autograder.benchmarks import Result


def run():
    print("some noise")
    return [
        Result("speed", 2.5, "times", ">= 1.5", "Peer [1]"),
        Result("size", 12_345, "bytes", "<= 10_000"),
        Result("missing", None, "times", 4),
        Result("remark", 0.25, "s", "soon"),
        Result("plain", 3.0, "s"),
    ]
'''
FAKE_RESULTS = [
    {"name": "speed", "value": 2.5, "unit": "times", "target": ">= 1.5", "peer": "Peer [1]"},
    {"name": "size", "value": 12_345, "unit": "bytes", "target": "<= 10_000", "peer": None},
    {"name": "missing", "value": None, "unit": "times", "target": 4, "peer": None},
    {"name": "remark", "value": 0.25, "unit": "s", "target": "soon", "peer": None},
    {"name": "plain", "value": 3.0, "unit": "s", "target": None, "peer": None},
]


@pytest.fixture
def fake(tmp_path, monkeypatch):
    """A benchmark named `fake_one` in addition to the real ones, removed after the test."""
    (tmp_path / "fakes").mkdir()
    (tmp_path / "fakes" / "fake_one.py").write_text(FAKE)
    monkeypatch.setattr(benchmarks, "__path__", [*benchmarks.__path__, str(tmp_path)])
    yield "fake_one"
    for name in ("autograder.benchmarks.fakes", "autograder.benchmarks.fakes.fake_one"):
        sys.modules.pop(name, None)
    if hasattr(benchmarks, "fakes"):
        del benchmarks.fakes


def test_a_new_module_is_a_new_benchmark(fake):
    """A module in the package is found automatically and listed with its first docstring line."""
    found = benchmarks.available()
    assert found[fake] == "A fake that measures nothing."
    assert found["search"] == search.__doc__.partition("\n")[0]


def test_the_list_is_made_without_importing_a_benchmark():
    """A new process that lists the benchmarks imports only the package and shows the docstrings."""
    code = (
        "import sys; from autograder import benchmarks; found = benchmarks.available(); "
        "print({name.rpartition('.')[2] for name in sys.modules "
        "if name.startswith('autograder.benchmarks.')} & found.keys(), len(found))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    found = benchmarks.available()
    assert done.stdout == f"set() {len(found)}\n"
    for name, line in found.items():
        module = benchmarks._module(name)
        assert line == module.__doc__.partition("\n")[0] != ""


def test_without_a_name_the_benchmarks_are_listed(fake, capsys):
    """`bench` alone prints one line per benchmark that fits into a terminal."""
    assert benchmarks.main([]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert ["fake_one", "A", "fake"] in [line.split()[:3] for line in lines]
    assert len(lines) == len(benchmarks.available())
    assert max(map(len, lines)) <= 80


def test_the_list_is_there_for_programs_too(fake, capsys):
    """With --json the list is an array of objects, like the results."""
    assert benchmarks.main(["--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert {"name": fake, "description": "A fake that measures nothing."} in listed
    assert [set(entry) for entry in listed] == [{"name", "description"}] * len(listed)


def test_json_is_the_results_and_nothing_else(fake, capsys):
    """Programs get a list of objects with five keys; a benchmark's own output goes to stderr."""
    assert benchmarks.main([fake, "--json"]) == 1
    out, err = capsys.readouterr()
    assert json.loads(out) == FAKE_RESULTS
    assert list(json.loads(out)[0]) == ["name", "value", "unit", "target", "peer"]
    assert err == "some noise\n"


def test_people_get_a_table_and_a_statement_for_each_target(fake, capsys):
    """Each target is reported as met, not met, not measured or not judged."""
    assert benchmarks.main([fake]) == 1
    out = capsys.readouterr().out
    assert "Peer [1]" in out
    assert "some noise" not in out
    assert out.splitlines()[-4:] == [
        "speed: target >= 1.5 met, measured 2.50 times.",
        "size: target <= 10_000 NOT met, measured 12,345 bytes.",
        "missing: not measured (target 4).",
        "remark: target soon not judged, measured 0.25 s.",
    ]


@pytest.mark.parametrize(("results", "status"), [
    ([], 0), ([Result("it", 2, "s", ">= 1")], 0), ([Result("it", 0, "s", ">= 1")], 1),
    ([Result("it", None, "s", ">= 1"), Result("it", 1, "s", "soon"), Result("it", 1, "s")], 0),
    ([Result("it", 0, "s", "== 1"), Result("it", 2, "s", 1)], 1),
])  # fmt: skip
@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_target_that_is_not_met_is_an_exit_status(monkeypatch, capsys, results, status, options):
    """A missed target gives exit status 1; targets that could not be measured or judged do not."""
    monkeypatch.setattr(search, "run", lambda: results)
    assert benchmarks.main(["search", *options]) == status


def test_help_describes_both_kinds_of_json(capsys):
    """The help lists the keys of results and of the list, the exit status and an example."""
    with pytest.raises(SystemExit, match="0"):
        benchmarks.main(["--help"])
    text = " ".join(capsys.readouterr().out.split())
    assert "Example: python3 run.py bench grading --json." in text
    assert "grading" in benchmarks.available()
    assert "(name, value, unit, target, peer;" in text
    assert "(name, description)" in text
    assert "1 if a target is not met" in text


def test_an_unknown_name_is_one_sentence(fake, capsys):
    """The error names the unknown benchmark and the available ones; the exit status is 2."""
    assert benchmarks.main(["nonsense", "--json"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert "there is no benchmark 'nonsense'; there are: " in err and "fake_one" in err


def test_run_gives_results_or_a_lookup_error(fake):
    """`run` gives Python programs the same results or raises LookupError."""
    assert [result.name for result in benchmarks.run(fake)] == [
        "speed",
        "size",
        "missing",
        "remark",
        "plain",
    ]
    with pytest.raises(LookupError, match="no benchmark 'nonsense'"):
        benchmarks.run("nonsense")


@pytest.mark.parametrize(("value", "target", "met"), [
    (1.5, ">= 1.5", True), (1.49, ">= 1.5", False), (4, 4, True), (3.9, 4, False),
    (60, "<= 60", True), (60.1, "<= 60", False), (18_297, "== 18297", True),
    (18_296, "== 18297", False), (0.001, "<= 1e-2", True), (1, "soon", None), (1, None, None),
    (None, ">= 1.5", None), (1, ">= 1.5 times", None),
])  # fmt: skip
def test_targets_are_judged(value, target, met):
    """A number is a minimum, a text contains its comparison, and anything else has no verdict."""
    assert Result("it", value, "times", target).met is met


def test_results_cannot_be_changed():
    """Results are immutable."""
    with pytest.raises(AttributeError):
        Result("it", 1, "s").value = 2


def test_pairs_alternate_and_give_the_median_ratio(monkeypatch):
    """Timings alternate, and the ratio is above 1 if ours is faster."""
    order = []
    durations = {"ours": 0.002, "theirs": 0.006}

    def fake_seconds(call, repeats=1, warm_up=False):
        call()
        return durations[order[-1]]

    monkeypatch.setattr(search, "seconds", fake_seconds)
    ratio, ours, theirs = search.time_pairs(
        lambda: order.append("ours"), lambda: order.append("theirs")
    )
    assert (ratio, ours, theirs) == pytest.approx((3, 0.002, 0.006))
    timed = order[2:]  # after one warm-up each
    assert timed[:4] == ["ours", "theirs", "theirs", "ours"]
    assert timed.count("ours") == timed.count("theirs") == search.PAIRS >= 7


def test_ratios_are_taken_pair_by_pair():
    """A slow phase that affects both sides of a pair does not change the ratio."""
    assert search.medians([1, 9, 1], [2, 18, 8]) == (2, 1, 8)
    assert search.medians([1, 9, 2], None) == (None, 2, None)


def test_without_open_spiel_there_are_no_made_up_numbers(monkeypatch, capsys):
    """Without OpenSpiel, ratios are None with an explanation, and the other numbers are measured."""
    monkeypatch.setitem(sys.modules, "pyspiel", None)  # its import fails
    monkeypatch.setattr(search, "time_pairs", lambda ours, theirs=None: (None, 0.5, None))
    monkeypatch.setattr(search, "cold_pairs", lambda ours, theirs=None: (None, 0.25, None))
    results = search.run()
    assert capsys.readouterr().err.count("OpenSpiel is not installed") == 1
    against = [result for result in results if result.peer]
    assert against
    assert all(result.value is None for result in against)
    assert all(result.value is not None for result in results if not result.peer)
    targets = [result.target for result in against if "times as fast" in result.name]
    assert targets == [">= 1.5", None, ">= 4"]


def test_counting_open_spiels_nodes_leaves_it_as_it_was():
    """The wrapper counts every call of the recursive function and is removed afterwards."""

    class Module:
        @staticmethod
        def _alpha_beta(depth):
            return 0 if depth == 0 else Module._alpha_beta(depth - 1)

    original = Module._alpha_beta
    assert search.count_alpha_beta(Module, lambda: Module._alpha_beta(4)) == (0, 5)
    assert Module._alpha_beta is original


def test_time_of_a_fresh_process_is_that_of_the_statement():
    """Only the second text is timed, in a process that has run nothing else."""
    assert 0.01 < search.first_seconds("time.sleep(0)", "time.sleep(0.01)") < 60


def test_the_page_of_agents_names_them_all():
    """The table of agents has a row and a column for each agent, and every row is complete."""
    from autograder.benchmarks.agents import agents

    names = list(agents.agents(lambda: None))
    lines = agents.PAGE.read_text("utf-8").splitlines()
    rows = [line for line in lines if line.startswith("| **")]
    assert [row.split("**")[1] for row in rows] == names
    assert lines[4] == f"| | {' | '.join(names)} | ms per move | 99th percentile |"
    assert all(
        row.count("(") >= len(names) - 1 and row.count("|") == len(names) + 4 for row in rows
    )


def test_the_page_of_positions_says_what_is_kept():
    """The table lists every seed that was drawn, and it would report what a set missed."""
    assert positions.PAGE.read_text("utf-8") == positions.page()


def test_a_long_benchmark_goes_on_where_it_stopped(tmp_path, monkeypatch):
    """A rerun keeps earlier measurements, except a truncated line and those of different code."""
    monkeypatch.setattr(journal, "FOLDER", tmp_path / "build")
    code = tmp_path / "agent.py"
    code.write_text("strength = 1\n", "utf-8")

    def measured(value: float) -> list:
        measurements = journal.Journal("long", [code])
        return [measurements.measured((name, 1), lambda: [value]) for name in ("first", "second")]

    assert measured(1) == [[1], [1]]
    path = journal.Journal("long", [code]).path
    path.write_text(path.read_text("utf-8")[:-3], "utf-8")
    assert measured(2) == [[1], [2]]
    code.write_text("strength = 2\n", "utf-8")
    assert measured(3) == [[3], [3]]
    journal.Journal("long", [code]).close()
    assert measured(4) == [[4], [4]]


DOCUMENTED = '''"""A module."""

STRENGTH = 1


class A:
    """A class."""

    def f(self):
        """A function."""
        return "1"
'''


@pytest.mark.parametrize(
    ("old", "new", "is_other"),
    [
        ('"""A module."""', '"""Ä\n\nmodule."""', False),
        ('"""A class."""', "r'''Ä'''", False),
        ('"""A function."""', '"""A\n        function."""', False),
        ("def f(self):", "def f(self) -> str:", False),
        ('return "1"', "return (  # a comment\n            '1'\n        )", False),
        ('"1"', '"2"', True),
        ("STRENGTH = 1", "STRENGTH = 2", True),
        ('class."""', 'class."""; SIZE = 1', True),
        ('module."""', 'module."""\n"""Another."""', True),
        ("class A", "class B", True),
    ],
)
def test_only_what_code_does_decides(tmp_path, old, new, is_other):
    """A change of docstrings, annotations or formatting does not repeat any measurement."""
    code = tmp_path / "agent.py"
    code.write_text(DOCUMENTED, "utf-8")
    journal.Journal("long", [code], folder=tmp_path).measured((1,), lambda: 2)
    assert DOCUMENTED.count(old) == 1
    code.write_text(DOCUMENTED.replace(old, new), "utf-8")
    assert ((1,) not in journal.Journal("long", [code], folder=tmp_path)) == is_other


def test_a_size_is_for_those_that_have_several(fake, capsys):
    """Benchmarks that have one size report that."""
    assert benchmarks.main(["fake_one", "--size", "5"]) == 2
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", "bench: the benchmark 'fake_one' has only one size\n")


@pytest.mark.parametrize(
    "name",
    [
        name
        for name in benchmarks.available()
        if "size" in signature(benchmarks._module(name).run).parameters
    ],
)
@pytest.mark.parametrize("size", [0, -1])
def test_no_benchmark_is_of_nothing(capsys, name, size):
    """With nothing to measure, every target would be met; so every benchmark has something to
    measure.
    """
    assert benchmarks.main([name, "--size", str(size)]) == 2
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", f"bench: --size must be at least 1, not {size}\n")
