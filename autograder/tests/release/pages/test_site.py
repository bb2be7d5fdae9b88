"""The live site, without a browser: downloads, the students' part of the kit, and no leaks."""

import base64
import hashlib
import inspect
import io
import json
import sys
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output
from typer.testing import CliRunner

from autograder.commands.cli import app
from autograder.release import site
from autograder.release.kit import contents
from autograder.release.site import prerendered_outputs, refuse_leaks
from autograder.release.site.fetch import LOCKS, SiteError, _once, fetch, run
from autograder.release.site.live import LISTING, write_files
from autograder.release.site.wheels import install_wheels, kit_wheel
from autograder.workspace import answer_path
from course.checks import load_study
from course.lab.prerendered import key

STUDY = load_study("study3")
ANSWER = answer_path(STUDY).read_bytes()
SERVER = "https://pyodide.example/v1"


@pytest.fixture(scope="module")
def kit():
    """The files given to students of study 3."""
    return contents([STUDY])


@dataclass
class Nothing:
    """Download nothing; use these bytes."""

    known: set[bytes] = field(default_factory=set)

    def digests(self):
        """The SHA-256 digests of files."""
        return {hashlib.sha256(data).digest() for data in self.known}


# ---- Downloads


def test_without_npm_the_command_says_what_to_install(monkeypatch, tmp_path):
    """The message appears before anything is created."""
    monkeypatch.setattr("shutil.which", lambda name: None)
    done = CliRunner().invoke(app, ["site", str(tmp_path / "site"), "--study", "study3"])
    assert done.exit_code == 2
    assert done.stderr == (
        "autograder: the live site needs npm, which brings Python for the browser: install it (on "
        "Debian and Ubuntu: sudo apt install npm) and run this again\n"
    )
    assert list(tmp_path.iterdir()) == []


def test_a_folder_with_something_else_is_left_alone(monkeypatch, tmp_path):
    """Nothing is downloaded in that case."""
    monkeypatch.setattr(site, "fetch", None)
    (tmp_path / "mine.txt").write_text("mine", "utf-8")
    done = CliRunner().invoke(app, ["site", str(tmp_path), "--study", "study3"])
    assert done.exit_code == 2
    assert "is not empty and does not contain a book" in done.stderr


def test_a_failing_command_is_reported_with_its_last_lines():
    """The message also has advice."""
    with pytest.raises(
        SiteError, match=r"no network\? .* ends with: two / three / four\. To continue"
    ):
        run(sys.executable, "-c", "print('one\\ntwo\\nthree\\nfour'); raise SystemExit(1)")


def test_what_was_fetched_is_fetched_again_only_for_another_lock(tmp_path):
    """Another lock or an incomplete download causes a new one, which removes the old files."""
    lock, folder, made = tmp_path / "a.lock", tmp_path / "cache" / "a", []
    lock.write_text("one", "utf-8")

    def make(place):
        made.append(lock.read_text("utf-8"))
        (place / made[-1]).touch()
        if made[-1] == "broken":
            raise SiteError("no network")

    for text in ("one", "one", "two"):
        lock.write_text(text, "utf-8")
        _once(folder, [lock], make)
    assert made == ["one", "two"]
    assert not (folder / "one").exists()
    lock.write_text("broken", "utf-8")
    for _ in range(2):
        with pytest.raises(SiteError):
            _once(folder, [lock], make)
    assert made == ["one", "two", "broken", "broken"]


def test_two_who_fetch_at_once_do_it_once(monkeypatch, tmp_path):
    """The second process waits for the first, and then finds all files."""
    made = []

    def slowly(*command, cwd=None):
        made.append(command[1:4])
        time.sleep(0.01)

    monkeypatch.setitem(vars(inspect.getmodule(fetch)), "run", slowly)
    monkeypatch.setattr("shutil.which", lambda name: name)
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(fetch, [tmp_path / "cache"] * 2)
    assert first == second
    assert len(made) == len(set(made)) == 4


def test_every_lock_has_digests_and_names_no_server():
    """pip's locks have hashes and npm's integrity fields; the user's configuration chooses the
    server.
    """
    for name in ("build", "browser"):
        assert "--hash=sha256:" in (LOCKS / f"{name}.lock").read_text("utf-8")
    packages = json.loads((LOCKS / "package-lock.json").read_text("utf-8"))["packages"]
    assert packages["node_modules/pyodide"]["integrity"].startswith("sha512-")
    assert all("resolved" not in package for package in packages.values())


# ---- Contents


def test_the_wheel_holds_the_packages_and_neither_tests_nor_studies(kit):
    """The same kit gives the same bytes, and another kit a different name."""
    name, data = kit_wheel(kit)
    with zipfile.ZipFile(io.BytesIO(data)) as wheel:
        names = set(wheel.namelist())
    assert {
        "course/check.py",
        "course/study3_type_a/_check/expected.json",
        "tictactoe/solver.py",
        "tictactoe/boards/click_board.js",
        "sequence/widget/game.py",
    } <= names
    assert not [n for n in names if "/tests/" in n]
    assert not [n for n in names if n.startswith("course/study") and "/_check/" not in n]
    assert {n.partition("/")[0] for n in names if ".dist-info/" not in n} == {
        "common",
        "course",
        "sequence",
        "tictactoe",
    }
    assert kit_wheel(dict(kit)) == (name, data)
    assert kit_wheel({**kit, "course/more.py": b""})[0] != name


def test_the_lock_lists_the_wheels_and_plotting_only_if_needed(kit, tmp_path):
    """Each wheel has its digest; Pyodide's own packages for plotting are listed by URL only if
    needed.
    """
    pyodide, wheels = tmp_path / "pyodide", tmp_path / "wheels"
    for folder in (pyodide, wheels):
        folder.mkdir()
    entries = {
        name: {"name": name, "depends": depends, "file_name": f"{name}.whl"}
        for name, depends in (
            ("numpy", []),
            ("matplotlib", ["numpy", "six"]),
            ("six", []),
            ("scipy", ["numpy"]),
        )
    }
    (pyodide / "pyodide-lock.json").write_text(json.dumps({"packages": entries}), "utf-8")
    for name in ("pyodide.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "README.md"):
        (pyodide / name).write_text(name, "utf-8")
    for name in ("comm-0.2.3", "widgetsnbextension-3.6.999", "widgetsnbextension-4.0.999"):
        (wheels / f"{name}-py3-none-any.whl").write_text(name, "utf-8")

    def laid(folder, server):
        folder.mkdir()
        loaded = install_wheels(folder, pyodide, wheels.iterdir(), kit_wheel(kit), server)
        return loaded, json.loads((folder / "pyodide-lock.json").read_text("utf-8"))["packages"]

    loaded, lock = laid(tmp_path / "without", None)
    assert loaded == sorted(lock) == ["adversarial-search-course", "comm", "widgetsnbextension"]
    for entry in lock.values():
        data = (tmp_path / "without" / entry["file_name"]).read_bytes()
        assert entry["sha256"] == hashlib.sha256(data).hexdigest()
    assert not (tmp_path / "without" / "README.md").exists()
    loaded, lock = laid(tmp_path / "with", SERVER)
    assert loaded == sorted(lock)
    assert {name: entry["file_name"] for name, entry in lock.items() if name in entries} == {
        name: f"{SERVER}/{name}.whl" for name in ("numpy", "matplotlib", "six")
    }


def test_stub_and_notebooks_are_there_and_listed(kit, tmp_path):
    """They are the kit's, with a start page that lists nothing else, and the bytes are
    reproducible.
    """
    for name in ("one", "two"):
        write_files(tmp_path / name, [STUDY], kit)
    one, two = (
        {
            path.relative_to(tmp_path / name): path.read_bytes()
            for path in (tmp_path / name).rglob("*")
            if path.is_file()
        }
        for name in ("one", "two")
    )
    assert one == two
    live = tmp_path / "one"
    place = live / "files" / STUDY.assignment
    assert {path.name: path.read_bytes() for path in place.iterdir()} == {
        name.rpartition("/")[2]: data
        for name, data in kit.items()
        if name.startswith(f"course/{STUDY.assignment}/")
    }
    assert "Not in this folder yet" not in (live / "files" / "start.ipynb").read_text("utf-8")
    listed = json.loads((live / "api/contents" / STUDY.assignment / LISTING).read_text("utf-8"))
    assert {entry["name"] for entry in listed["content"]} == {p.name for p in place.iterdir()}
    top = json.loads((live / "api/contents" / LISTING).read_text("utf-8"))
    assert {entry["path"] for entry in top["content"]} == {
        STUDY.assignment,
        "start.ipynb",
        "bibliography.md",
        "glossary.md",
        "statistics.md",
    }


def test_pictures_by_matplotlib_are_kept_with_their_words_by_cell():
    """Pictures of boards are not stored, because they need no matplotlib."""

    def shows(svg, alt):
        data = base64.b64encode(svg.encode()).decode()
        return new_output(
            "execute_result",
            {"text/html": f'<img alt="{alt}" src="data:image/svg+xml;base64,{data}"/>'},
        )

    plot = "<svg><!-- https://matplotlib.org/ --></svg>"
    notebook = new_notebook(
        cells=[
            new_code_cell("picture(a, b)\n", outputs=[shows(plot, "x &gt; y")]),
            new_code_cell("Board()", outputs=[shows("<svg></svg>", "a board")]),
        ]
    )
    assert prerendered_outputs([notebook]) == {
        "pictures": {key("picture(a, b)"): [("x > y", plot)]},
        "outputs": {},
    }


def test_all_outputs_of_a_notebook_that_needs_numpy_are_kept():
    """Text and pictures are stored; the output of checks is not, because these can be run."""
    said = [
        new_output("stream", name="stdout", text="1 < 2"),
        new_output("stream", name="stderr", text="a warning"),
        new_output("execute_result", {"text/plain": "3"}),
    ]
    notebook = new_notebook(
        cells=[
            new_code_cell("import numpy as np"),
            new_code_cell("np.ones(3)", outputs=said),
            new_code_cell('check("study3.lane_counts")', outputs=said),
        ]
    )
    assert prerendered_outputs([notebook])["outputs"] == {
        key("np.ones(3)"): ["<pre>1 &lt; 2</pre>", "<pre>3</pre>"]
    }


# ---- Leaks


@pytest.mark.parametrize("where", ["files/study3_type_a/heuristic.py", "lab/index.html"])
def test_an_answer_anywhere_in_the_live_course_is_found(tmp_path, where):
    """The search covers every location and file name."""
    path = tmp_path / where
    path.parent.mkdir(parents=True)
    path.write_bytes(ANSWER)
    with pytest.raises(SiteError, match=f"the site was not written: .*{path.name}"):
        refuse_leaks(tmp_path, Nothing())


@pytest.mark.slow
def test_an_answer_inside_the_kits_wheel_is_found(kit, tmp_path):
    """The wheel is unpacked for the search; without the answer it passes."""
    for extra, leaks in (({}, False), ({"course/mine.py": ANSWER}, True)):
        name, data = kit_wheel({**kit, **extra})
        folder = tmp_path / str(leaks)
        folder.mkdir()
        (folder / name).write_bytes(data)
        if leaks:
            with pytest.raises(SiteError, match=r"course/mine\.py"):
                refuse_leaks(folder, Nothing())
        else:
            refuse_leaks(folder, Nothing())


def test_what_was_fetched_is_not_searched_but_a_changed_copy_is(tmp_path):
    """Downloads are recognised by their bytes, not by their names."""
    (tmp_path / "fetched.js").write_bytes(ANSWER)
    refuse_leaks(tmp_path, Nothing({ANSWER}))
    (tmp_path / "fetched.js").write_bytes(ANSWER + b"\n")
    with pytest.raises(SiteError, match=r"fetched\.js"):
        refuse_leaks(tmp_path, Nothing({ANSWER}))
