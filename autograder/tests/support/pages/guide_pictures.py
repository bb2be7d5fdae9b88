"""Makes the guides' small pictures, `docs/pictures/*.png`, from screenshots of the browser tests.

After `python3 run.py test -n0 autograder/tests/browser`: `.venv/bin/python -m
autograder.tests.support.pages.guide_pictures`. The guides determine which pictures are made.
"""

import re
import sys
from pathlib import Path

from PIL import Image

from autograder.benchmarks.support.browser.harness import KIT, SCREENSHOTS

DOCS = KIT / "docs"
SHOWN = re.compile(r"!\[([^\]]*)\]\(pictures/([a-z-]+)\.png\)")
COLOURS = 256  # enough for a window of text, at a third of the bytes
MAX_BYTES = 120_000


def shown() -> dict[str, str]:
    """The pictures used in the guides, by name, with their alternative texts."""
    return {
        name: text
        for guide in sorted(DOCS.glob("*.md"))
        for text, name in SHOWN.findall(guide.read_text("utf-8"))
    }


def picture(name: str) -> Path:
    """The path of a picture in the guides."""
    return DOCS / "pictures" / f"{name}.png"


def main() -> int:
    """Write each picture that the guides use; the exit status is 1 if a screenshot is missing."""
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
