"""The guides show pictures that are there, small, and described in words."""

import re
from pathlib import Path

import pytest

from autograder.tests.support.guide_pictures import DOCS, MAX_BYTES, picture, shown


def test_every_picture_is_shown_and_every_shown_one_is_there():
    """No guide points at nothing, and no picture lies about."""
    readme = (DOCS.parent / "README.md").read_text("utf-8")
    in_readme = {Path(name) for name in re.findall(r'src="docs/pictures/([^"]+)"', readme)}
    there = {Path(path.name) for path in DOCS.glob("pictures/*")}
    assert there == {Path(f"{name}.png") for name in shown()} | in_readme


@pytest.mark.parametrize("name", shown())
def test_a_picture_is_small_and_has_words(name):
    """It loads fast, and whoever cannot see it reads what it shows."""
    assert picture(name).stat().st_size < MAX_BYTES
    assert len(shown()[name].split()) >= 4
