"""Firefox, driven by puppeteer, because Playwright cannot drive distributions' packages.

puppeteer is downloaded from npm once and kept in `build/puppeteer/`, which git ignores.
"""

import json
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from autograder.benchmarks.support.browser.harness import KIT, SCREENSHOTS, SECONDS
from autograder.tests.support.needs import need, need_program

VERSION = "24.43.1"
PUPPETEER = KIT / "build" / "puppeteer" / VERSION / "node_modules"  # node needs this exact name
SCRIPT = Path(__file__).with_suffix(".mjs")
WHY = "Firefox stays unchecked"
PATIENCE = 300  # seconds for npm, which takes ten
STUCK = 30_000  # milliseconds before npm retries; its default is as long as our limit


def in_firefox(**given: Any) -> dict[str, Any]:
    """The script's results for the given pages; skips the test without Firefox."""
    node, npm = need_program("node", WHY), need_program("npm", WHY)
    program = need_program("firefox-esr", WHY)
    if not PUPPETEER.is_dir():
        PUPPETEER.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=PUPPETEER.parent) as own:  # not a partial download
            why = f"npm could not bring puppeteer-core {VERSION}: {WHY}"
            try:  # without a network, npm would retry each package for half an hour
                done = subprocess.run(
                    [
                        npm,
                        "install",
                        "--silent",
                        f"--fetch-timeout={STUCK}",
                        "--prefix",
                        own,
                        f"puppeteer-core@{VERSION}",
                    ],
                    check=False,
                    timeout=PATIENCE,
                )
            except subprocess.TimeoutExpired:
                need(False, f"{why} (within {PATIENCE} s)")
            need(done.returncode == 0, why)
            (Path(own) / "node_modules").replace(PUPPETEER)
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    module = PUPPETEER / "puppeteer-core" / "lib" / "esm" / "puppeteer" / "puppeteer-core.js"
    given |= {
        "puppeteer": module.as_uri(),
        "program": program,
        "limit": SECONDS * 1000,
        "pictures": str(SCREENSHOTS),
    }
    done = subprocess.run(
        [node, SCRIPT, json.dumps(given)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
