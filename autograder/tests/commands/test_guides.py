"""The pictures in the guides exist, are small and have alternative text."""

import re
from pathlib import Path

import pytest

from autograder.tests.support.pages.guide_pictures import DOCS, MAX_BYTES, picture, shown


def test_every_picture_is_shown_and_every_shown_one_is_there():
    """No reference is broken, and no picture is unused."""
    readme = (DOCS.parent / "README.md").read_text("utf-8")
    in_readme = {Path(name) for name in re.findall(r'src="docs/pictures/([^"]+)"', readme)}
    there = {Path(path.name) for path in DOCS.glob("pictures/*")}
    assert there == {Path(f"{name}.png") for name in shown()} | in_readme


@pytest.mark.parametrize("name", shown())
def test_a_picture_is_small_and_has_words(name):
    """Pictures load fast and have an alternative text."""
    assert picture(name).stat().st_size < MAX_BYTES
    assert len(shown()[name].split()) >= 4
