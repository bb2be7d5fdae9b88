"""The guides show pictures that are there, small, and described in words."""

import pytest

from autograder.tests.support.guide_pictures import DOCS, MAX_BYTES, picture, shown


def test_every_picture_is_shown_and_every_shown_one_is_there():
    """No guide points at nothing, and no picture lies about."""
    assert {path.stem for path in DOCS.glob("pictures/*")} == set(shown())


@pytest.mark.parametrize("name", shown())
def test_a_picture_is_small_and_has_words(name):
    """It loads fast, and whoever cannot see it reads what it shows."""
    assert picture(name).stat().st_size < MAX_BYTES
    assert len(shown()[name].split()) >= 4
