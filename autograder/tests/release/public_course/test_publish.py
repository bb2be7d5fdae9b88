"""`publish` makes and updates a public repository, and loses no work there."""

import json
import shutil
from pathlib import Path

import pytest

from autograder.release import public_course
from autograder.release.derive import COURSE
from autograder.release.public_course import PublishError, refuse_untracked, site_files
from autograder.release.public_course.files import RECORD
from autograder.tests.support.public_course import (
    KIT,
    PAGES,
    VERSION,
    commit,
    git,
    site_of,
    state,
)

OWN = {".gitattributes", ".gitignore", ".github/workflows/check.yml", RECORD}


@pytest.fixture(autouse=True)
def no_search(monkeypatch):
    """The search for leaks has its own tests."""
    monkeypatch.setattr(public_course, "refuse_leaks", lambda *arguments: 0)


# ---- Commits


def test_a_new_folder_becomes_a_repository_with_the_kit_only(published, folder):
    """The commit has exactly the files of the kit and those for GitHub, byte by byte."""
    done = published()
    assert done.branches == ["main"]
    assert set(git(folder, "ls-files").splitlines()) == OWN | KIT.keys()
    assert {path: (folder / path).read_bytes() for path in KIT} == KIT
    assert (
        git(folder, "log", "--format=%an %s") == f"Ada Publish version {VERSION} of the student kit"
    )
    assert git(folder, "status", "--porcelain") == ""
    assert git(folder, "ls-files", "-s", "run.py").startswith("100755")
    assert done.push_command() == ["git", "-C", str(folder), "push", "-u", "origin", "main"]


def test_nothing_new_makes_no_commit(published, folder):
    """The site is not made again, either."""
    published(site=site_of())
    before = state(folder)
    site = public_course.Site("1", lambda: pytest.fail("the site was made again"))
    assert published(site=site).branches == []
    assert published(site=None).branches == []
    assert state(folder) == before


def test_the_site_has_its_own_branch_and_every_new_one_changes_the_record(published, folder):
    """The workflow on the main branch starts when the record changes."""
    done = published(site=site_of())
    assert done.branches == ["site", "main"]
    assert git(folder, "ls-tree", "-r", "--name-only", "site").splitlines() == sorted(PAGES)
    assert not PAGES.keys() & set(git(folder, "ls-files").splitlines())
    assert "paths: [published.json]" in (folder / ".github/workflows/pages.yml").read_text("utf-8")
    before = (folder / RECORD).read_bytes()
    pages = {**PAGES, "new.html": b"<p>new</p>"}
    assert published(site=site_of(pages, "2")).branches == ["site", "main"]
    assert (folder / RECORD).read_bytes() != before
    assert git(folder, "rev-list", "--count", "site") == "2"
    assert done.push_command()[-2:] == ["main", "site"]


def test_a_site_made_from_other_sources_with_the_same_pages_is_no_new_commit(published, folder):
    """Only the record says that it was made again."""
    published(site=site_of())
    assert published(site=site_of(made_from="2")).branches == ["main"]
    assert git(folder, "rev-list", "--count", "site") == "1"


def test_a_publish_that_was_stopped_between_the_branches_continues(published, folder):
    """The site is there, and the main branch still has the former record."""
    published(site=site_of())
    published(site=site_of({**PAGES, "new.html": b"<p>new</p>"}, "2"))
    git(folder, "reset", "-q", "--hard", "HEAD~1")
    assert published(site=site_of({**PAGES, "new.html": b"<p>new</p>"}, "2")).branches == ["main"]
    site = json.loads((folder / RECORD).read_text("utf-8"))["site"]
    assert site == {"made_from": "2", "tree": git(folder, "rev-parse", "site^{tree}")}


def test_an_empty_clone_is_filled_and_can_be_pushed(published, folder):
    """The instructor may create the repository at GitHub first."""
    remote = folder.with_name("remote.git")
    git(folder.parent, "init", "-q", "--bare", "-b", "trunk", str(remote))
    git(folder.parent, "clone", "-q", str(remote), str(folder))
    done = published(site=site_of())
    assert done.branches == ["site", "trunk"]
    assert "branches: [trunk]" in (folder / ".github/workflows/pages.yml").read_text("utf-8")
    git(folder, *done.push_command()[3:])
    for branch in ("trunk", "site"):
        assert git(remote, "rev-parse", branch) == git(folder, "rev-parse", branch)


# ---- The instructor's own files


def test_files_that_are_gone_are_deleted_and_own_files_stay(published, folder):
    """New, changed and deleted files of the kit arrive; the instructor's files are unchanged."""
    published()
    (folder / "syllabus.md").write_text("Monday\n", "utf-8")
    (folder / "sequence" / "own.py").write_text("OWN = 1\n", "utf-8")
    commit(folder)
    done = published(
        {"sequence/old.py": None, "sequence/new.py": b"NEW = 1\n", "LICENSE": b"MIT 2\n"}
    )
    assert sorted(done.changes.written) == ["LICENSE", RECORD, "sequence/new.py"]
    assert done.changes.deleted == ["sequence/old.py"]
    assert not (folder / "sequence" / "old.py").exists()
    assert (folder / "sequence" / "new.py").read_text("utf-8") == "NEW = 1\n"
    assert (folder / "syllabus.md").read_text("utf-8") == "Monday\n"
    assert (folder / "sequence" / "own.py").read_text("utf-8") == "OWN = 1\n"


def test_additions_to_the_readme_are_kept_and_merged(published, folder):
    """They are kept while the kit's README stays the same, and merged when it changes."""
    published()
    readme = folder / "README.md"
    readme.write_text(readme.read_text("utf-8") + "\nRoom 101.\n", "utf-8")
    commit(folder)
    assert published().branches == []
    done = published({"README.md": KIT["README.md"].replace(b"One.", b"Eins.")})
    assert done.changes.kept == ["README.md"]
    assert readme.read_text("utf-8") == "# The kit\n\nEins.\n\nTwo.\n\nThree.\n\nRoom 101.\n"
    again = KIT["README.md"].replace(b"One.", b"Uno.")
    published({"README.md": again})
    assert readme.read_text("utf-8") == again.decode() + "\nRoom 101.\n"


def test_a_file_that_the_instructor_deleted_stays_deleted(published, folder):
    """For example a workflow that the course does not need."""
    published()
    (folder / ".github/workflows/check.yml").unlink()
    commit(folder)
    done = published({"LICENSE": b"MIT 2\n"})
    assert done.changes.kept == [".github/workflows/check.yml"]
    assert not (folder / ".github/workflows/check.yml").exists()


def test_a_changed_file_that_is_gone_from_the_kit_is_kept(published, folder):
    """It belongs to the instructor from then on."""
    published()
    (folder / "sequence" / "old.py").write_text("OLD = 2\n", "utf-8")
    commit(folder)
    assert published({"sequence/old.py": None}).changes.kept == ["sequence/old.py"]
    assert published({"sequence/old.py": None}).branches == []
    assert (folder / "sequence" / "old.py").read_text("utf-8") == "OLD = 2\n"


@pytest.mark.parametrize(
    ("own", "changed", "message"),
    [
        ("new.py", {"new.py": b"kit\n"}, "new.py in .* you added it, and the kit has such a file"),
        ("LICENSE", {"LICENSE": b"kit\n"}, "LICENSE in .* you changed it, and it is different"),
        ("README.md", {"README.md": b"kit\n"}, "README.md in .* you changed it, and it is differ"),
        (
            "notes",
            {"notes/a.md": b"kit\n"},
            "notes in .* you added it, and the kit needs this name",
        ),
        ("notes/a.md", {"notes": b"kit\n"}, "notes/a.md in .* the kit needs this name"),
    ],
)
def test_conflicts_are_refused_and_nothing_changes(published, folder, own, changed, message):
    """The message names the file and the reason."""
    published()
    (folder / own).parent.mkdir(exist_ok=True)
    (folder / own).write_text("mine\n", "utf-8")
    commit(folder)
    before = state(folder)
    with pytest.raises(PublishError, match=message):
        published(changed)
    assert state(folder) == before


# ---- Refusals


def _changed(folder: Path) -> None:
    (folder / "LICENSE").write_text("mine\n", "utf-8")


def _untracked(folder: Path) -> None:
    (folder / "notes.md").write_text("mine\n", "utf-8")


def _staged(folder: Path) -> None:
    git(folder, "rm", "-q", "--cached", "LICENSE")


def _detached(folder: Path) -> None:
    git(folder, "checkout", "-q", "--detach")


def _on_site(folder: Path) -> None:
    git(folder, "checkout", "-q", "site")


def _foreign_site(folder: Path) -> None:
    git(folder, "checkout", "-q", "site")
    (folder / "index.html").write_text("mine\n", "utf-8")
    commit(folder)
    git(folder, "checkout", "-q", "main")


def _behind(folder: Path) -> None:
    remote = folder.with_name("remote.git")
    git(folder.parent, "clone", "-q", "--bare", str(folder), str(remote))
    git(folder, "remote", "add", "origin", str(remote))
    git(folder, "commit", "-q", "--allow-empty", "-m", "At GitHub")
    git(folder, "push", "-q", "-u", "origin", "main")
    git(folder, "reset", "-q", "--hard", "HEAD~1")


def _broken_record(folder: Path) -> None:
    (folder / RECORD).write_text("{", "utf-8")
    commit(folder)


def _no_record(folder: Path) -> None:
    (folder / RECORD).unlink()
    commit(folder)


def _no_repository(folder: Path) -> None:
    shutil.rmtree(folder / ".git")


@pytest.mark.parametrize(
    ("prepare", "message"),
    [
        (_changed, r"changes that are not committed \(LICENSE\): commit them first"),
        (_untracked, r"changes that are not committed \(notes\.md\)"),
        (_staged, r"changes that are not committed \(LICENSE, LICENSE\)"),
        (_detached, "has no branch checked out"),
        (_on_site, "is a git repository without published.json"),
        (_foreign_site, "the branch site of .* has a commit that publish did not make"),
        (_behind, "lacks commits of its remote repository: run `git pull` there first"),
        (_broken_record, "published.json cannot be read"),
        (_no_record, "is a git repository without published.json"),
        (_no_repository, "is not empty and not a git repository"),
    ],
)
def test_a_folder_in_which_work_could_be_lost_is_refused(published, folder, prepare, message):
    """Files, branches and stored objects stay the same."""
    published(site=site_of())
    prepare(folder)
    before = state(folder)
    with pytest.raises(PublishError, match=message):
        published({"LICENSE": b"MIT 2\n"}, site_of(made_from="2"))
    assert state(folder) == before


@pytest.mark.parametrize("place", [".", "course/public", "docs"])
def test_folders_of_the_kit_are_refused(place):
    """Otherwise the next kit would contain the repository."""
    with pytest.raises(PublishError, match="is in the folder of the kit: name a folder outside"):
        public_course.refuse_unusable(COURSE.parent / place)


def test_without_an_author_the_message_says_what_to_do(published, folder, monkeypatch):
    """Nothing is created."""
    for role in ("AUTHOR", "COMMITTER"):
        for part in ("NAME", "EMAIL"):
            monkeypatch.setenv(f"GIT_{role}_{part}", "")
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "user.useConfigOnly")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "true")
    with pytest.raises(PublishError, match="git does not know who you are"):
        published()
    assert not folder.exists()


def test_variables_of_a_hook_do_not_lead_to_another_repository(published, folder, monkeypatch):
    """Within a hook, git sets GIT_DIR."""
    monkeypatch.setenv("GIT_DIR", str(folder.with_name("elsewhere")))
    assert published().branches == ["main"]
    monkeypatch.delenv("GIT_DIR")
    assert git(folder, "rev-list", "--count", "main") == "1"


def test_untracked_files_of_the_checkout_are_not_published(monkeypatch, tmp_path):
    """They may be the instructor's notes."""
    git(tmp_path, "init", "-q")
    (tmp_path / "course").mkdir()
    (tmp_path / "course" / "notes.md").write_text("mine\n", "utf-8")
    monkeypatch.setattr(public_course, "checkout", lambda: tmp_path)
    with pytest.raises(PublishError, match=r"course/notes\.md in .* is not tracked by git"):
        refuse_untracked({"course/notes.md": b"mine\n"})
    git(tmp_path, "add", "course")
    refuse_untracked({"course/notes.md": b"mine\n"})


def test_only_a_finished_site_is_published(published, tmp_path):
    """Another folder may contain anything."""
    (tmp_path / "index.html").write_text("mine\n", "utf-8")
    with pytest.raises(PublishError, match="is not a site that `site` or `book` made"):
        site_files(tmp_path)
    with pytest.raises(PublishError, match="has no file made_by_the_book"):
        published(site=site_of({"index.html": b"mine\n"}))
