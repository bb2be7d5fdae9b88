"""Benchmarks: modules that measure something, each with a function `run() -> list[Result]`.

A benchmark is a module in one of the folders `grading`, `agents` and `studies`. It is called by the
name of the module, and the first line of the module's docstring describes it. To add a benchmark,
add a module; it does not have to be registered. May import everything except the commands.
"""

import argparse
import ast
import contextlib
import importlib
import inspect
import json
import operator
import re
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from autograder.processes.interrupts import raise_when_interrupted
from autograder.tables import print_table
from common.syntax import parse_python

COMPARISONS = {">=": operator.ge, "<=": operator.le, "==": operator.eq}
SUPPORT = "support"  # the folder of the helpers


@dataclass(frozen=True)
class Result:
    """One measured number.

    `value` is None if it could not be measured. `target` is a comparison such as ">= 1.5", a number
    (a lower bound), any other text (printed but not evaluated) or None. `peer` names the program
    with which the number is compared, if any.
    """

    name: str
    value: float | None
    unit: str
    target: str | float | None = None
    peer: str | None = None

    @property
    def met(self) -> bool | None:
        """Whether the target is met; None if there is no value, or no target that can be evaluated.

        >>> Result("speed", 2.0, "times", ">= 1.5").met, Result("speed", 2.0, "times").met
        (True, None)
        """
        if self.value is None or self.target is None:
            return None
        target = f">= {self.target}" if isinstance(self.target, int | float) else self.target
        comparison = re.fullmatch(r"(>=|<=|==)\s*(-?\d[\d_]*(?:\.\d+)?(?:e-?\d+)?)", target.strip())
        if comparison is None:
            return None
        return COMPARISONS[comparison[1]](self.value, float(comparison[2]))


def available() -> dict[str, str]:
    """Return the name of each benchmark and the first line of its docstring.

    The docstrings are read from the source files, because importing all benchmarks takes seconds.
    """
    return {
        name: (ast.get_docstring(parse_python(path.read_text("utf-8"))) or "").partition("\n")[0]
        for name, path in sorted(_source_files().items())
    }


def _source_files() -> dict[str, Path]:
    """Return the source file of each benchmark, by the benchmark's name."""
    return {
        path.stem: path
        for root in __path__
        for path in Path(root).glob("*/*.py")
        if path.parent.name != SUPPORT and not path.name.startswith("_")
    }


def run(name: str, size: int | None = None, scheduler: str | None = None) -> list[Result]:
    """Run a benchmark. A size and the scheduler of a cluster can be given if the benchmark has
    these options.

    Raises LookupError for an unknown name, an option that the benchmark does not have, or a size
    below 1.
    """
    if name not in available():
        raise LookupError(f"there is no benchmark {name!r}; there are: {', '.join(available())}")
    measure = _module(name).run
    parameters = inspect.signature(measure).parameters
    if size is not None and "size" not in parameters:
        raise LookupError(f"the benchmark {name!r} has only one size")
    if size is not None and size < 1:  # without measurements, every target would be met
        raise LookupError(f"--size must be at least 1, not {size}")
    if scheduler is not None and "scheduler" not in parameters:
        raise LookupError(f"the benchmark {name!r} does not accept --scheduler")
    return measure(
        **{
            option: value
            for option, value in (("size", size), ("scheduler", scheduler))
            if value is not None
        }
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command `bench`, which lists the benchmarks or runs one; return the exit status."""
    parser = argparse.ArgumentParser(
        prog="bench",
        description="Run a benchmark; without a name, list the benchmarks.",
        epilog="Example: python3 run.py bench grading --json. Exit status: 0, 1 if a target is not "
        "met, 2 for an unknown name, 130 if stopped.",
    )
    parser.add_argument("name", nargs="?", help="which benchmark to run")
    parser.add_argument(
        "--size",
        type=int,
        metavar="N",
        help="number of submissions, deals or seeds, for a benchmark of variable size",
    )
    parser.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="address of a Dask scheduler, for example tcp://host:8786, for a "
        "benchmark that can play and train on a cluster",
    )
    parser.add_argument(
        "--json",
        action="store_true",
        help="print only JSON, an array of objects: the results of a benchmark "
        "(name, value, unit, target, peer; null for a missing value) or "
        "the entries of the list (name, description)",
    )
    options = parser.parse_args(argv)
    if options.name is None:
        _print_listing(options.json)
        return 0
    try:
        raise_when_interrupted()
        with contextlib.redirect_stdout(sys.stderr):  # stdout is for the results only
            results = run(options.name, options.size, options.scheduler)
    except LookupError as error:
        if type(error) is not LookupError:  # an error of the benchmark itself
            raise
        print(f"bench: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(
            "\nbench: stopped; the next run continues with the stored measurements", file=sys.stderr
        )
        return 130
    if options.json:
        print(json.dumps([asdict(result) for result in results], indent=2, allow_nan=False))
    else:
        _print_table(options.name, results)
    return 1 if any(result.met is False for result in results) else 0


def _module(name: str):
    return importlib.import_module(f"{__name__}.{_source_files()[name].parent.name}.{name}")


def _print_listing(as_json: bool) -> None:
    if as_json:
        print(
            json.dumps(
                [
                    {"name": name, "description": description}
                    for name, description in available().items()
                ],
                indent=2,
            )
        )
        return
    width = max(map(len, available()), default=0)
    for name, description in available().items():
        print(f"{name:<{width}}  {description}")


def _print_table(title: str, results: Sequence[Result]) -> None:
    print(title)
    print_table(
        ("value", "unit", "what"),
        [
            (
                _number(result.value),
                result.unit,
                result.name + (f" (compared with {result.peer})" if result.peer else ""),
            )
            for result in results
        ],
        right=[0],
    )
    for result in results:
        if result.target is not None:
            print(_statement(result))


def _statement(result: Result) -> str:
    if result.value is None:
        return f"{result.name}: not measured (target {result.target})."
    verdict = {True: "met", False: "NOT met", None: "not judged"}[result.met]
    return (
        f"{result.name}: target {result.target} {verdict}, "
        f"measured {_number(result.value)} {result.unit}."
    )


def _number(value: float | None) -> str:
    """Format counts with separators, other numbers with three or four digits."""
    if value is None:
        return "-"
    if value == int(value) or abs(value) >= 1_000:
        return f"{value:,.0f}"
    return f"{value:.2f}" if abs(value) >= 1 else f"{value:.3g}"
