"""axe-core, which finds obstacles for people with assistive technology.

It is downloaded from npm once (`npm pack`) and kept in `build/axe-core/`, which git ignores.
"""

import subprocess
import tarfile
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from autograder.benchmarks.support.browser.harness import KIT
from autograder.tests.support.needs import need, need_program

VERSION = "4.14.1"
CACHE = KIT / "build" / "axe-core"
GRAVE = ("serious", "critical")


@dataclass(frozen=True)
class Finding:
    """A rule that a page violates, its severity, and the number of places."""

    rule: str
    impact: str
    places: int
    first: str  # the first of them, as HTML


def axe_core() -> str:
    """The source of axe-core's script; without it, skips the test, or fails it in CI."""
    script = CACHE / f"axe-{VERSION}.min.js"
    if not script.exists():
        why = "accessibility stays unchecked"
        npm = need_program("npm", why)
        CACHE.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=CACHE) as own:  # another process may download it simultaneously
            done = subprocess.run(
                [npm, "pack", f"axe-core@{VERSION}"],
                cwd=own,
                capture_output=True,
                text=True,
                check=False,
            )
            need(done.returncode == 0, f"npm could not bring axe-core {VERSION}: {why}")
            with tarfile.open(Path(own) / f"axe-core-{VERSION}.tgz") as files:
                packed = files.extractfile("package/axe.min.js")
                assert packed is not None, "it is no regular file"
                (Path(own) / script.name).write_bytes(packed.read())
            (Path(own) / script.name).replace(script)
    return script.read_text("utf-8")


def findings(frame: Any, where: str | None = None) -> list[Finding]:
    """axe's findings for a page or frame, or for the part of it that a selector chooses."""
    if not frame.evaluate("() => Boolean(window.axe)"):
        frame.evaluate("text => { (0, eval)(text) }", axe_core())
    result = frame.evaluate(
        "where => axe.run(where || document, {resultTypes: ['violations']})", where
    )
    return [
        Finding(v["id"], v["impact"], len(v["nodes"]), v["nodes"][0]["html"])
        for v in result["violations"]
    ]


def table(found: dict[str, list[Finding]]) -> str:
    """The findings of several pages as a Markdown table."""
    lines = [f"axe-core {VERSION}", "", "| page | rule | impact | places |", "|---|---|---|---|"]
    for page, broken in found.items():
        lines += [f"| {page} | {f.rule} | {f.impact} | {f.places} |" for f in broken] or [
            f"| {page} | none broken | | |"
        ]
    return "\n".join(lines) + "\n"
