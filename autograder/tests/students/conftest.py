"""A notebook fixture shared by several modules of tests."""

import builtins
import sys

import pytest

from autograder.tests.support.pages.shells import notebook_in


@pytest.fixture(params=[sys.platform, "emscripten"])
def notebook(request, tmp_path, capsys, monkeypatch):
    """A notebook in a new folder, in Lab and in the live site, with no extension loaded."""
    monkeypatch.setattr(builtins, "__import__", builtins.__import__)  # restored afterwards
    with notebook_in(tmp_path, capsys) as made:
        monkeypatch.setattr(sys, "platform", request.param)
        yield made
