"""The book: self-contained pages with alternative text for every picture and without answers."""

import base64
import hashlib
import json
import os
import re
import signal
import subprocess
import sys
from dataclasses import dataclass
from importlib import import_module

import nbformat
import psutil
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from typer.testing import CliRunner

from autograder.commands.cli import app
from autograder.commands.stopping import exit_status, stoppable
from autograder.release import book
from autograder.release.book import MARK, Source, count_cells, sources, write_book
from autograder.release.book.pages import (
    FOLDED_SUMMARY,
    PICTURES,
    STATIC_NOTICE,
    BookError,
    Renderer,
    chapter,
    markdown,
    plain,
)
from autograder.release.book.reference import documented
from autograder.release.leaks import find_leaks
from autograder.tests.support.pages.static_site import broken_links, outside, read_site
from autograder.workspace import answer_path
from autograder.workspace.strip import solutions
from course.checks import load_study, studies
from tictactoe.boards.static_snapshot import SNAPSHOT_HINT

SMALL = "03_lane_heuristic"  # fast to run; has checks, boards and plots
STUDY = load_study("study3")
BESIDE = {
    "student.html",
    "league.html",
    "node-counts.html",
    "packages.html",
    "statistics.html",
    "glossary.html",
    "bibliography.html",
}
SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="90pt" height="60pt"></svg>'
DATA = f"data:image/svg+xml;base64,{base64.b64encode(SVG.encode()).decode()}"


def site_of(folder):
    """The bytes of every file of a site, by path."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def index_of(site):
    """The entries of a site's search index."""
    text = (site / book.INDEX).read_text("utf-8")
    return json.loads(text.removeprefix(book.INDEX_BEGINS).rstrip().removesuffix(";"))


def complaints_about(site):
    """The problems of a site that any reader could notice."""
    pages = read_site(site)
    wrong = [
        f"{name}: a picture without words"
        for name, page in pages.items()
        for alt in page.alts
        if not (alt or "").strip()
    ]
    wrong += [
        f"{name}: an id twice"
        for name, page in pages.items()
        if len(page.ids) != len(set(page.ids))
    ]
    wrong += [f"loaded from elsewhere: {url}" for url in outside(site)]
    wrong += [f"leads nowhere: {link}" for link in broken_links(site)]
    files = [path for path in site.rglob("*") if path.is_file()]
    wrong += [leak for name in studies() for leak in find_leaks(load_study(name), files)]
    unused = {path.name for path in (site / PICTURES).iterdir()} - {
        url.rpartition("/")[2] for page in pages.values() for url in page.loads
    }
    return wrong + [f"on no page: {name}" for name in sorted(unused)]


# ---- The book itself


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A book with one notebook."""
    site = tmp_path_factory.mktemp("small") / "book"
    write_book(site, sources([SMALL]))
    return site


@pytest.mark.slow
@pytest.mark.xdist_group("book")
def test_a_small_book_stands_by_itself(small):
    """Links have targets, pictures have alternative text, and nothing is loaded or leaked."""
    assert complaints_about(small) == []
    assert set(read_site(small)) == {"index.html", f"{SMALL}.html", *BESIDE}
    assert read_site(small)[f"{SMALL}.html"].alts


@pytest.mark.xdist_group("book")
def test_the_pages_show_what_the_notebook_shows(small):
    """Pages have the text, coloured code and the output of cells and checks, but no local paths."""
    page = (small / f"{SMALL}.html").read_text("utf-8")
    assert "study3.lane_counts: 3 of 3 points - all correct" in page
    assert "In 1950 Claude Shannon asked how a machine could play chess." in page
    assert "<strong>Type A</strong>" in page
    assert '<span class="nb">print</span>' in page
    assert "largest 10\n</pre>" in page
    assert "Write your answer here" not in page
    assert page.count('class="answer"') == 2
    assert "workspace" not in page
    assert "ipykernel" not in page


@pytest.mark.xdist_group("book")
def test_the_search_index_finds_words_of_every_section(small):
    """A word leads to the sections that contain it, and each entry to an existing place."""
    entries = index_of(small)
    found = [entry["page"] for entry in entries if "histogram" in entry["text"].lower()]
    assert found == [f"{SMALL}.html#why-ten"]
    assert [entry["title"] for entry in entries if "microsecond" in entry["text"]] == [
        "Too many games"
    ]
    pages = read_site(small)
    for entry in entries:
        name, _, anchor = entry["page"].partition("#")
        assert not anchor or anchor in pages[name].ids


@pytest.mark.slow
@pytest.mark.xdist_group("book")
def test_the_first_page_says_what_is_taught_and_how_to_start(small):
    """The page has the study, its module, the beginning of the notebook, and the command."""
    page = " ".join(plain((small / "index.html").read_text("utf-8")).split())
    assert "Study 3: Shannon's Type A" in page
    assert "You write heuristic.py" in page
    assert "who is likely to win? We want an answer without searching." in page
    assert "python3 run.py lab" in page


@pytest.mark.xdist_group("book")
def test_the_node_counts_are_there(small):
    """The page has both tables and the rules."""
    page = (small / "node-counts.html").read_text("utf-8")
    assert '<th scope="row">minimax</th><td class="n">549,946</td><td class="n">549,945' in page
    assert '<code>x________</code></th><td class="n">59,705</td><td class="n">2,338</td>' in page
    assert "One entry into the search's value function" in page


@pytest.mark.xdist_group("book")
def test_the_guides_are_pages(small):
    """Their links and pictures work, and the search finds their sections."""
    pages = read_site(small)
    assert "pictures/student-start.png" in pages["student.html"].loads
    assert (small / "pictures" / "student-start.png").read_bytes().startswith(b"\x89PNG")
    assert (small / "my_agent.py").is_file()
    assert "student.html#boards-trees-and-replays" in {entry["page"] for entry in index_of(small)}


@pytest.mark.slow
def test_pages_of_packages_have_all_public_names():
    """This includes names that are imported lazily and have not been used here."""
    done = subprocess.run(
        [
            sys.executable,
            "-W",
            "error",
            "-c",
            """
from autograder.release.book.reference import documented
for name, page in documented().items():
    shown = {member.name for member in page.own_members}
    print(name, {*getattr(page.obj, "__all__", ())} - shown)
""",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "sequence set()\n" in done.stdout
    assert {line.partition(" ")[2] for line in done.stdout.splitlines()} == {"set()"}


@pytest.mark.xdist_group("book")
def test_every_given_module_that_is_used_has_a_page(small):
    """Each module named in notebooks, stubs and guides has a page with its docstrings and nothing
    else.
    """
    pages = {path.relative_to(small).as_posix() for path in (small / "packages").rglob("*.html")}
    assert pages == {f"packages/{name.replace('.', '/')}.html" for name in documented()}
    assert {
        "tictactoe.nodes",
        "tictactoe.boards.play_board",
        "sequence.widget",
        "course.check",
    } <= {*documented()}
    links = {link for link in read_site(small)["packages.html"].links if "/" in link}
    assert pages <= links
    for name in documented():
        assert name.split(".")[0] in ("common", "tictactoe", "sequence", "course")
        page = (small / "packages" / f"{name.replace('.', '/')}.html").read_text("utf-8")
        first = import_module(name).__doc__.split()[0].strip("`")
        assert first in page
        assert '<script src="' + "../" * (1 + name.count(".")) + 'theme.js">' in page
    told = (small / "packages" / "tictactoe" / "boards" / "play_board.html").read_text("utf-8")
    assert "play_against" in told
    assert "View Source" not in plain(re.sub(r"<style>.*?</style>", "", told, flags=re.DOTALL))


def test_the_search_engine_is_the_one_that_npm_has():
    """The file of MiniSearch 7.2.0 is unchanged, and the book includes its licence."""
    script = (book.SEARCH_ENGINE / "index.js").read_bytes()
    assert hashlib.sha256(script).hexdigest() == (
        "03c27931eb603af1d3358579e9885eafdb6a2f5fa9929557b3e77d7e99d06d03"
    )


@pytest.mark.xdist_group("book")
def test_sources_and_rights_are_there(small):
    """A notebook links to the bibliography, and every page states its licence."""
    pages = read_site(small)
    assert "bibliography.html" in pages[f"{SMALL}.html"].links
    sources = plain((small / "bibliography.html").read_text("utf-8"))
    assert 'Shannon 1950. C. E. Shannon, "Programming a computer for playing chess"' in sources
    assert "https://doi.org/10.1080/14786445008521796" in pages["bibliography.html"].links
    for name in pages:
        text = " ".join(plain((small / name).read_text("utf-8")).split())
        assert "Texts: CC BY 4.0" in text
        assert "Sequence is a trade mark; this course is not made or approved" in text


@pytest.mark.content
@pytest.mark.slow
@pytest.mark.xdist_group("book")
def test_the_same_notebook_makes_the_same_pages(small, tmp_path):
    """A notebook that prints no times always gives the same bytes."""
    write_book(tmp_path / "again", sources([SMALL]))
    assert site_of(tmp_path / "again") == site_of(small)


@pytest.mark.slow
@pytest.mark.content
@pytest.mark.xdist_group("whole book")
def test_the_whole_book_stands_by_itself(whole_book):
    """The book has every notebook of every study, and the command makes it."""
    assert whole_book.command.exit_code == 0, whole_book.command.stderr
    assert all("is not in the book" in line for line in whole_book.command.stderr.splitlines())
    assert complaints_about(whole_book.folder) == []
    pages = read_site(whole_book.folder)
    assert set(pages) == {"index.html", *BESIDE, *(f"{source.name}.html" for source in sources())}
    assert all(name in pages["index.html"].links for name in pages)
    for source in sources():
        page = (whole_book.folder / f"{source.name}.html").read_text("utf-8")
        assert f"You write <code>{source.study.module}</code>" in page


@pytest.mark.content
@pytest.mark.slow
def test_previous_and_next_go_through_all_pages(tmp_path, monkeypatch):
    """The links lead from the first page through all others in turn, and back again."""
    monkeypatch.setattr(book, "run", lambda source, folder, tick: source.read())
    write_book(tmp_path / "book", sources())
    pages = read_site(tmp_path / "book")
    texts = {name: (tmp_path / "book" / name).read_text("utf-8") for name in pages}

    def walk(name, rel):
        seen = [name]
        while found := re.search(rf'<a rel="{rel}" href="([^"]+)"', texts[seen[-1]]):
            seen.append(found[1])
        return seen

    forward = walk("index.html", "next")
    assert forward[1 : -len(BESIDE)] == [f"{source.name}.html" for source in sources()]
    assert set(forward) == set(pages)
    assert walk(forward[-1], "prev") == forward[::-1]


# ---- Refusals


@dataclass(frozen=True)
class Given(Source):
    """A notebook that is passed in unchanged."""

    notebook: NotebookNode = None

    def read(self) -> NotebookNode:
        """The given notebook."""
        return self.notebook


def given(tmp_path, *cells):
    """A notebook with these cells, as a chapter of study 3."""
    return Given(
        STUDY,
        tmp_path / "99_given.ipynb",
        new_notebook(cells=[new_markdown_cell("# Given"), *cells]),
    )


def not_run(monkeypatch):
    """Use notebooks without running them."""
    monkeypatch.setattr(book, "run", lambda source, folder, tick: source.read())


def answer_lines():
    """Some lines of the reference answer."""
    return max(solutions(answer_path(STUDY).read_text("utf-8")), key=len)


@pytest.mark.content
@pytest.mark.slow
@pytest.mark.parametrize(
    "make",
    [
        lambda text: new_markdown_cell(f"```\n{text}\n```"),
        new_code_cell,  # tags separate the letters of its lines
        lambda text: new_code_cell("show()", outputs=[new_output("stream", text=text)]),
        lambda text: new_code_cell(
            "show()", outputs=[new_output("display_data", {"text/html": f"<pre>{text}</pre>"})]
        ),
    ],
    ids=["words", "code", "printed", "shown"],
)
def test_an_answer_on_a_page_is_refused(tmp_path, monkeypatch, make):
    """If any part of a notebook discloses the answer, the book is not written and the earlier one
    stays.
    """
    not_run(monkeypatch)
    site = tmp_path / "book"
    write_book(site, [given(tmp_path)])
    before = site_of(site)
    with pytest.raises(BookError, match=r"99_given\.html holds lines of the answer"):
        write_book(site, [given(tmp_path, make(answer_lines()))])
    assert site_of(site) == before
    assert [path.name for path in tmp_path.iterdir()] == ["book"]


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (
            {"text/html": f'<img src="{DATA}">'},
            "cell 2 shows a picture without an alternative text",
        ),
        ({"text/html": f'<p><img alt=" " src="{DATA}"></p>'}, "without an alternative text"),
        ({"image/png": "iVBORw0KGgo=", "text/plain": "<Figure>"}, "cell 2 shows a picture without"),
    ],
    ids=["no alt", "empty alt", "no HTML"],
)
def test_a_picture_without_words_is_refused(tmp_path, monkeypatch, data, problem):
    """The message names the notebook and the cell."""
    not_run(monkeypatch)
    shown = new_code_cell("show()", outputs=[new_output("display_data", data)])
    with pytest.raises(BookError, match=f"99_given.ipynb, .*{problem}"):
        write_book(tmp_path / "book", [given(tmp_path, shown)])


@pytest.mark.content
@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "seconds", "problem"),
    [
        ("1 / 0", 300, "cell 3: with the reference answers .* raised ZeroDivisionError"),
        ("import os\nos._exit(1)", 300, "cell 3: it ended the Python process"),
        ("while True: pass", 5, "cell 3: it did not finish within 5 s"),
    ],
)
def test_a_cell_that_fails_is_named(tmp_path, monkeypatch, code, seconds, problem):
    """No book is made from a failing notebook, and the message gives the cell."""
    monkeypatch.setattr(book, "CELL_SECONDS", seconds)
    broken = given(tmp_path, new_code_cell("print(1)"), new_code_cell(code))
    with pytest.raises(BookError, match=f"99_given.ipynb, {problem}"):
        write_book(tmp_path / "book", [broken])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="Windows has no such signals")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_the_book(tmp_path, number):
    """`KeyboardInterrupt` is raised, the kernel ends, and no book or traceback appears."""
    work = given(tmp_path, new_code_cell("import os"), new_code_cell("while True: pass"))
    before = [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)]
    with pytest.raises(KeyboardInterrupt) as stop, stoppable():
        write_book(tmp_path / "book", [work], lambda _name: os.kill(os.getpid(), number))
    assert exit_status(stop.value) == 128 + number
    assert [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)] == before
    assert not (tmp_path / "book").exists()
    kernels = [p for p in psutil.Process().children() if "ipykernel_launcher" in p.cmdline()]
    assert not psutil.wait_procs(kernels, timeout=10)[1]


@pytest.mark.content
@pytest.mark.slow
def test_output_on_stderr_is_excluded_and_reported(tmp_path):
    """Warnings, which contain local paths, do not appear in the book."""
    cell = new_code_cell("import sys\nprint('seen')\nprint('careful', file=sys.stderr)")
    told = []
    write_book(tmp_path / "book", [given(tmp_path, cell)], warn=told.append)
    page = (tmp_path / "book" / "99_given.html").read_text("utf-8")
    assert "<pre>seen" in page
    assert page.count("careful") == 1  # in the code
    assert told == ["99_given.ipynb, cell 2: its output to stderr is not in the book"]


@pytest.mark.parametrize("kind", ["file", "other folder", "link"])
def test_a_folder_that_is_no_book_is_left_alone(tmp_path, kind):
    """Other files in the folder are not deleted."""
    place = tmp_path / "place"
    if kind == "file":
        place.write_text("mine", "utf-8")
    elif kind == "other folder":
        place.mkdir()
        (place / "mine.txt").write_text("mine", "utf-8")
    else:
        (tmp_path / "target").mkdir()
        place.symlink_to(tmp_path / "target")
    before = sorted(tmp_path.rglob("*"))
    done = CliRunner().invoke(app, ["book", str(place), "--notebook", SMALL])
    assert done.exit_code == 2
    assert done.stderr.startswith(f"autograder: {place} ")
    assert done.stderr.count("\n") == 1
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.content
@pytest.mark.slow
def test_a_book_takes_the_place_of_an_earlier_one(tmp_path, monkeypatch):
    """No file of the earlier book remains; an empty folder is also accepted."""
    not_run(monkeypatch)
    site = tmp_path / "book"
    site.mkdir()
    write_book(site, [given(tmp_path)])
    assert (site / MARK).is_file()
    (site / "old.html").touch()
    write_book(site, [given(tmp_path)])
    assert not (site / "old.html").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["book"]


def test_an_unknown_notebook_is_named(tmp_path):
    """The message lists the existing notebooks."""
    done = CliRunner().invoke(app, ["book", str(tmp_path / "book"), "--notebook", "12_dice"])
    assert done.exit_code == 2
    assert done.stderr.startswith("autograder: there is no notebook 12_dice; there are 01_minimax")


def test_ctrl_c_leaves_the_earlier_book(tmp_path, monkeypatch):
    """The command ends as interrupted and names the existing book."""

    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(book, "run", stop)
    done = CliRunner().invoke(app, ["book", str(tmp_path / "book"), "--notebook", SMALL])
    assert done.exit_code == 130
    assert done.stderr == (
        "autograder: stopped; no book was written, an earlier one is unchanged\n"
    )
    assert list(tmp_path.iterdir()) == []


# ---- Chapters


def test_pictures_become_files_that_are_shared():
    """A picture that is shown twice is one file with unchanged bytes and a size."""
    page = f'<img alt="a board" style="max-width:none;" src="{DATA}"/>'
    cells = [
        new_code_cell("board", outputs=[new_output("display_data", {"text/html": page})])
        for _ in range(2)
    ]
    pictures = {}
    made = chapter(STUDY, "given", new_notebook(cells=cells), pictures)
    ((name, content),) = pictures.items()
    assert content == SVG.encode()
    shown = f'<img class="fits" width="120" height="80" alt="a board" src="{PICTURES}/{name}"/>'
    assert made.body.count(shown) == 2


@pytest.mark.parametrize(
    ("limit", "width", "tag"),
    [
        ("none", 300, '<img class="fits" width="300"'),
        (
            "none",
            700,
            '<img class="fits" width="700" height="60" alt="tree" style="min-width:490px;"',
        ),
        (
            "100%",
            900,
            '<img class="fits" width="900" height="60" alt="tree" style="min-width:630px;"',
        ),
        ("none", 900, '<img class="scrolls" width="900" height="60" alt="tree" src='),
    ],
)
def test_pictures_shrink_only_as_far_as_they_can_be_read(limit, width, tag):
    """Scalable pictures keep 0.7 of their size, whatever their width; others are scrolled."""
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="60"></svg>'
    data = base64.b64encode(svg.encode()).decode()
    page = f'<img alt="tree" style="max-width:{limit};" src="data:image/svg+xml;base64,{data}"/>'
    cell = new_code_cell("tree", outputs=[new_output("display_data", {"text/html": page})])
    assert tag in chapter(STUDY, "given", new_notebook(cells=[cell]), {}).body


def test_folded_code_can_be_opened():
    """The output of the cell is always visible."""
    cell = new_code_cell("print(1)", outputs=[new_output("stream", text="one")])
    cell.metadata.tags = ["hide-input"]
    body = chapter(STUDY, "given", new_notebook(cells=[cell]), {}).body
    code, output = body.split("</details>")
    assert f"<details><summary>{FOLDED_SUMMARY}</summary>" in code
    assert "print" in plain(code)
    assert "one" in output


def test_headings_have_different_anchors():
    """Repeated headings get different anchors."""
    text = "# One\n\n## Write `f`\n\nFirst.\n\n## Write `f`\n\nSecond."
    made = chapter(STUDY, "given", new_notebook(cells=[new_markdown_cell(text)]), {})
    assert [s.anchor for s in made.sections] == ["one", "write-f", "write-f-2"]
    assert [s.text for s in made.sections] == ["", "First.", "Second."]
    assert made.title == "One"


@pytest.mark.parametrize(
    ("text", "teaches"),
    [
        ("# T\n\nA short word.\n\nMore.", "<p>A short word.</p>"),
        ("# T\n\nYou will write:\n\n* one\n* two\n\nMore.", "<p>You will write:</p> one two"),
        ("# T\n\nA word.\n\n* one\n", "<p>A word.</p>"),
        ("# T", ""),
    ],
)
def test_what_a_chapter_teaches_is_how_it_begins(text, teaches):
    """The summary is the first paragraph and the list that it introduces."""
    made = chapter(STUDY, "given", new_notebook(cells=[new_markdown_cell(text)]), {})
    assert plain(made.teaches) == plain(teaches)


def test_a_still_board_is_not_to_be_run():
    """A page cannot run cells, so the text refers to a place where the board can be clicked."""
    output = new_output("display_data", {"text/html": f"<div><p>{SNAPSHOT_HINT}</p></div>"})
    made = chapter(STUDY, "given", new_notebook(cells=[new_code_cell("b", outputs=[output])]), {})
    assert SNAPSHOT_HINT not in made.body
    assert STATIC_NOTICE in made.body


def test_a_table_can_be_scrolled():
    """A table in the text has its own scrollable box."""
    page = markdown("| a | b |\n|---|---|\n| 1 | 2 |", Renderer())
    assert page.startswith('<div class="wide"><table>')
    assert page.strip().endswith("</table></div>")


def test_every_code_cell_counts_as_progress():
    """The progress bar ends with the last cell."""
    wanted = sources([SMALL])
    cells = nbformat.read(wanted[0].path, as_version=4).cells
    assert count_cells(wanted) == sum(cell.cell_type == "code" for cell in cells)
