"""Benchmarks: each module of this package measures something and has a `run() -> list[Result]`.

A new benchmark is a new module here; its name is the module's, its description the first line of
the module's docstring. Nothing else needs to know of it. May import everything but the commands.
"""

import argparse
import ast
import contextlib
import importlib
import inspect
import json
import operator
import pkgutil
import re
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.abc import InspectLoader
from importlib.util import find_spec

from autograder.interrupts import raise_when_interrupted
from autograder.tables import print_table
from course.probes.syntax import parsed

COMPARISONS = {">=": operator.ge, "<=": operator.le, "==": operator.eq}


@dataclass(frozen=True)
class Result:
    """One measured number.

    `value` is None where it could not be measured. `target` is a text like ">= 1.5", a number
    (which means at least that much), any other text (shown, not judged) or None. `peer` names what
    it was measured against, if anything.
    """

    name: str
    value: float | None
    unit: str
    target: str | float | None = None
    peer: str | None = None

    @property
    def met(self) -> bool | None:
        """Whether the target is met; None without a value, or a target that can be judged.

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
    """The available benchmarks: the name of each and the first line of its docstring.

    The docstrings are read from the source files: importing all benchmarks takes seconds.
    """
    found = sorted(module.name for module in pkgutil.iter_modules(__path__))
    return {
        name: (ast.get_docstring(parsed(_source(name))) or "").partition("\n")[0]
        for name in found
        if not name.startswith("_")
    }


def _source(name: str) -> str:
    """The text of a module of this package, which is not imported."""
    spec = find_spec(f"{__name__}.{name}")
    if spec is None or not isinstance(spec.loader, InspectLoader):
        return ""
    return spec.loader.get_source(spec.name) or ""


def run(name: str, size: int | None = None, scheduler: str | None = None) -> list[Result]:
    """Run the benchmark of that name, of that size where it has several, and by the workers of the
    cluster with this scheduler where it can.

    Raises LookupError if there is none or it cannot, and for a size that it cannot have.
    """
    if name not in available():
        raise LookupError(f"there is no benchmark {name!r}; there are: {', '.join(available())}")
    measure = _module(name).run
    can = inspect.signature(measure).parameters
    if size is not None and "size" not in can:
        raise LookupError(f"the benchmark {name!r} has one size only")
    if size is not None and size < 1:  # of nothing every target would be met
        raise LookupError(f"--size must be at least 1, not {size}")
    if scheduler is not None and "scheduler" not in can:
        raise LookupError(f"the benchmark {name!r} takes no --scheduler")
    return measure(
        **{
            option: value
            for option, value in (("size", size), ("scheduler", scheduler))
            if value is not None
        }
    )


def main(argv: Sequence[str] | None = None) -> int:
    """The command `bench`: list the benchmarks, or run one. Returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="bench",
        description="Run a benchmark; without a name, list the benchmarks.",
        epilog="Exit status: 0, 1 if a target is not met, 2 for an unknown name, 130 if stopped.",
    )
    parser.add_argument("name", nargs="?", help="which benchmark to run")
    parser.add_argument(
        "--size",
        type=int,
        metavar="N",
        help="how many submissions, deals or seeds, for a benchmark that can be smaller or larger",
    )
    parser.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="a Dask scheduler whose workers play matches and train, like "
        "tcp://host:8786, for a benchmark that can use it",
    )
    parser.add_argument(
        "--json",
        action="store_true",
        help="print only JSON, an array of objects: for a benchmark its results "
        "(name, value, unit, target, peer; null where there is none), for "
        "the list its entries (name, description)",
    )
    options = parser.parse_args(argv)
    if options.name is None:
        _print_listing(options.json)
        return 0
    try:
        raise_when_interrupted()
        with contextlib.redirect_stdout(sys.stderr):  # what a benchmark says is not a result
            results = run(options.name, options.size, options.scheduler)
    except LookupError as error:
        if type(error) is not LookupError:  # the benchmark's own
            raise
        print(f"bench: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\nbench: stopped; what it has kept is not measured again", file=sys.stderr)
        return 130
    if options.json:
        print(json.dumps([asdict(result) for result in results], indent=2, allow_nan=False))
    else:
        _print_table(options.name, results)
    return 1 if any(result.met is False for result in results) else 0


def _module(name: str):
    return importlib.import_module(f"{__name__}.{name}")


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
                result.name + (f" (beside {result.peer})" if result.peer else ""),
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
    """Counts in full with separators, other numbers to three or four digits."""
    if value is None:
        return "-"
    if value == int(value) or abs(value) >= 1_000:
        return f"{value:,.0f}"
    return f"{value:.2f}" if abs(value) >= 1 else f"{value:.3g}"
