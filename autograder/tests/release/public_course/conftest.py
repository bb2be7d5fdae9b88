"""A small kit, and repositories that are made from it."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from autograder.release.public_course import Publication, Site, publish
from autograder.tests.support.public_course import KIT, VERSION, WANTED, Publish


@pytest.fixture(autouse=True)
def author(monkeypatch: pytest.MonkeyPatch) -> None:
    """git knows the author of commits, and uses no settings of this machine."""
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "Ada")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "ada@example.org")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of the public repository, which does not exist yet."""
    return tmp_path / "public course"


@pytest.fixture
def published(folder: Path) -> Publish:
    """Publishes the small kit with some changes; None deletes a file."""

    def run(
        changed: Mapping[str, bytes | None] | None = None, site: Site | None = None, **options
    ) -> Publication:
        kit = {**KIT, **(changed or {})}
        files = {path: data for path, data in sorted(kit.items()) if data is not None}
        return publish(folder, files, WANTED, VERSION, site, **options)

    return run
