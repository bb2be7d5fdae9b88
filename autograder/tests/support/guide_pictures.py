"""Makes the guides' pictures of the browser tests' screenshots: `docs/pictures/*.png`, small.

After `python3 run.py test -n0 autograder/tests/browser`:
`.venv/bin/python -m autograder.tests.support.guide_pictures`. Which ones, the guides themselves say.
"""

import re
import sys
from pathlib import Path

from PIL import Image

from autograder.benchmarks._browser.harness import KIT, SCREENSHOTS

DOCS = KIT / "docs"
SHOWN = re.compile(r"!\[([^\]]*)\]\(pictures/([a-z-]+)\.png\)")
COLOURS = 256  # enough for a window of text, and a third of the bytes
MAX_BYTES = 120_000


def shown() -> dict[str, str]:
    """The pictures that the guides show, by name, with their text alternatives."""
    return {
        name: text
        for guide in sorted(DOCS.glob("*.md"))
        for text, name in SHOWN.findall(guide.read_text("utf-8"))
    }


def picture(name: str) -> Path:
    """Where a picture of the guides is."""
    return DOCS / "pictures" / f"{name}.png"


def main() -> int:
    """Write each picture that is shown; the exit status is 1 if a screenshot is missing."""
    missing = [name for name in shown() if not (SCREENSHOTS / f"{name}.png").is_file()]
    for name in missing:
        print(f"there is no {SCREENSHOTS / name}.png: run the browser tests", file=sys.stderr)
    for name in shown().keys() - set(missing):
        picture(name).parent.mkdir(exist_ok=True)
        image = Image.open(SCREENSHOTS / f"{name}.png").convert("RGB")
        image = image.quantize(COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
        image.save(picture(name), optimize=True)
        print(f"{picture(name)}: {picture(name).stat().st_size} bytes")
    return bool(missing)


if __name__ == "__main__":
    sys.exit(main())
