"""The book: pages that stand by themselves, with words for every picture and without an answer."""

import base64
import hashlib
import json
import re
import subprocess
import sys
from dataclasses import dataclass
from importlib import import_module

import nbformat
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from typer.testing import CliRunner

from autograder.commands.cli import app
from autograder.release import book
from autograder.release.book import MARK, Source, count_cells, sources, write_book
from autograder.release.book.pages import (
    IN_BOOK,
    PICTURES,
    BookError,
    Renderer,
    chapter,
    markdown,
    plain,
)
from autograder.release.book.reference import documented
from autograder.release.leaks import find_leaks
from autograder.tests.support.static_site import broken_links, outside, read_site
from autograder.workspace import answer_path
from autograder.workspace.strip import solutions
from course.probes import load_study, studies
from tictactoe.show.still import GO_ON

SMALL = "03_lane_heuristic"  # quick to run; checks, boards and plots
STUDY = load_study("study3")
BESIDE = {"student.html", "league.html", "node-counts.html", "packages.html", "bibliography.html"}
SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="90pt" height="60pt"></svg>'
DATA = f"data:image/svg+xml;base64,{base64.b64encode(SVG.encode()).decode()}"


def site_of(folder):
    """Every file of a site: its bytes by its path."""
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
    """What is wrong with a site that anybody could see."""
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
    """A book of one notebook."""
    site = tmp_path_factory.mktemp("small") / "book"
    write_book(site, sources([SMALL]))
    return site


@pytest.mark.xdist_group("book")
def test_a_small_book_stands_by_itself(small):
    """One notebook: links lead somewhere, pictures have words, nothing is loaded or leaks."""
    assert complaints_about(small) == []
    assert set(read_site(small)) == {"index.html", f"{SMALL}.html", *BESIDE}
    assert read_site(small)[f"{SMALL}.html"].alts


@pytest.mark.xdist_group("book")
def test_the_pages_show_what_the_notebook_shows(small):
    """Text, coloured code, what cells print and what checks say; nothing of this machine."""
    page = (small / f"{SMALL}.html").read_text("utf-8")
    assert "study3.lane_counts: 3 of 3 points - all right" in page
    assert "In 1950 Claude Shannon asked how a machine could play chess." in page
    assert "<strong>Type A</strong>" in page
    assert '<span class="nb">print</span>' in page
    assert "greatest 10\n</pre>" in page
    assert "Write your answer here" not in page
    assert page.count('class="answer"') == 2
    assert "workspace" not in page
    assert "ipykernel" not in page


@pytest.mark.xdist_group("book")
def test_the_search_index_finds_words_of_every_section(small):
    """A word leads to the sections that have it, and each entry to a place that is there."""
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


@pytest.mark.xdist_group("book")
def test_the_first_page_says_what_is_taught_and_how_to_start(small):
    """The study, its module, how the notebook begins, and the command."""
    page = " ".join(plain((small / "index.html").read_text("utf-8")).split())
    assert "Study 3: Shannon's Type A" in page
    assert "You write heuristic.py" in page
    assert "who is going to win? We want an answer without searching." in page
    assert "python3 run.py lab" in page


@pytest.mark.xdist_group("book")
def test_the_node_counts_are_there(small):
    """Both tables and the rules."""
    page = (small / "node-counts.html").read_text("utf-8")
    assert '<th scope="row">minimax</th><td class="n">549,946</td><td class="n">549,945' in page
    assert '<code>x________</code></th><td class="n">59,705</td><td class="n">2,338</td>' in page
    assert "One entry into the search's value function" in page


@pytest.mark.xdist_group("book")
def test_the_guides_are_pages(small):
    """What they link to is there, their pictures too, and the search knows their sections."""
    pages = read_site(small)
    assert "pictures/student-start.png" in pages["student.html"].loads
    assert (small / "pictures" / "student-start.png").read_bytes().startswith(b"\x89PNG")
    assert (small / "my_agent.py").is_file()
    assert "student.html#boards-trees-and-replays" in {entry["page"] for entry in index_of(small)}


def test_pages_of_packages_have_all_public_names():
    """Also those that are imported when they are first used: here, nothing has used them."""
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
    """What notebooks, stubs and guides name; with the words of the docstrings, and nothing else."""
    pages = {path.relative_to(small).as_posix() for path in (small / "packages").rglob("*.html")}
    assert pages == {f"packages/{name.replace('.', '/')}.html" for name in documented()}
    assert {"tictactoe.nodes", "tictactoe.show.play_board", "sequence.widget", "course.check"} <= {
        *documented()
    }
    links = {link for link in read_site(small)["packages.html"].links if "/" in link}
    assert pages <= links
    for name in documented():
        assert name.split(".")[0] in ("tictactoe", "sequence", "course")
        page = (small / "packages" / f"{name.replace('.', '/')}.html").read_text("utf-8")
        first = import_module(name).__doc__.split()[0].strip("`")
        assert first in page
        assert '<script src="' + "../" * (1 + name.count(".")) + 'theme.js">' in page
    told = (small / "packages" / "tictactoe" / "show" / "play_board.html").read_text("utf-8")
    assert "play_against" in told
    assert "View Source" not in plain(re.sub(r"<style>.*?</style>", "", told, flags=re.DOTALL))


def test_the_search_engine_is_the_one_that_npm_has():
    """The file of MiniSearch 7.2.0 is unchanged, and the book carries its licence."""
    script = (book.SEARCH_ENGINE / "index.js").read_bytes()
    assert hashlib.sha256(script).hexdigest() == (
        "03c27931eb603af1d3358579e9885eafdb6a2f5fa9929557b3e77d7e99d06d03"
    )


@pytest.mark.xdist_group("book")
def test_sources_and_rights_are_there(small):
    """A notebook leads to the bibliography; every page says what may be done with it."""
    pages = read_site(small)
    assert "bibliography.html" in pages[f"{SMALL}.html"].links
    sources = plain((small / "bibliography.html").read_text("utf-8"))
    assert 'Shannon 1950. C. E. Shannon, "Programming a computer for playing chess"' in sources
    assert "https://doi.org/10.1080/14786445008521796" in pages["bibliography.html"].links
    for name in pages:
        text = " ".join(plain((small / name).read_text("utf-8")).split())
        assert "Texts: CC BY 4.0" in text
        assert "Sequence is a trade mark; this course is not made or approved" in text


@pytest.mark.slow
@pytest.mark.xdist_group("book")
def test_the_same_notebook_makes_the_same_pages(small, tmp_path):
    """A notebook that prints no times makes the same bytes again."""
    write_book(tmp_path / "again", sources([SMALL]))
    assert site_of(tmp_path / "again") == site_of(small)


@pytest.mark.slow
@pytest.mark.content
@pytest.mark.xdist_group("whole book")
def test_the_whole_book_stands_by_itself(whole_book):
    """Every notebook of every study, made by the command."""
    assert whole_book.command.exit_code == 0, whole_book.command.stderr
    assert all("left out of the book" in line for line in whole_book.command.stderr.splitlines())
    assert complaints_about(whole_book.folder) == []
    pages = read_site(whole_book.folder)
    assert set(pages) == {"index.html", *BESIDE, *(f"{source.name}.html" for source in sources())}
    assert all(name in pages["index.html"].links for name in pages)
    for source in sources():
        page = (whole_book.folder / f"{source.name}.html").read_text("utf-8")
        assert f"You write <code>{source.study.module}</code>" in page


@pytest.mark.slow
def test_previous_and_next_go_through_all_pages(tmp_path, monkeypatch):
    """From the first page every other one is reached, one after another, and back again."""
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


# ---- What is refused


@dataclass(frozen=True)
class Given(Source):
    """A notebook that is given as it is."""

    notebook: NotebookNode = None

    def read(self) -> NotebookNode:
        """The given notebook."""
        return self.notebook


def given(tmp_path, *cells):
    """A notebook of these cells, as a chapter of study 3."""
    return Given(
        STUDY,
        tmp_path / "99_given.ipynb",
        new_notebook(cells=[new_markdown_cell("# Given"), *cells]),
    )


def not_run(monkeypatch):
    """Let notebooks be taken as they are."""
    monkeypatch.setattr(book, "run", lambda source, folder, tick: source.read())


def answer_lines():
    """A piece of the reference answer."""
    return max(solutions(answer_path(STUDY).read_text("utf-8")), key=len)


@pytest.mark.slow
@pytest.mark.parametrize(
    "make",
    [
        lambda text: new_markdown_cell(f"```\n{text}\n```"),
        new_code_cell,  # tags stand between the letters of its lines
        lambda text: new_code_cell("show()", outputs=[new_output("stream", text=text)]),
        lambda text: new_code_cell(
            "show()", outputs=[new_output("display_data", {"text/html": f"<pre>{text}</pre>"})]
        ),
    ],
    ids=["words", "code", "printed", "shown"],
)
def test_an_answer_on_a_page_is_refused(tmp_path, monkeypatch, make):
    """Wherever a notebook lets it out, the book is not written and an earlier one stays."""
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
    """The sentence names the notebook and the cell."""
    not_run(monkeypatch)
    shown = new_code_cell("show()", outputs=[new_output("display_data", data)])
    with pytest.raises(BookError, match=f"99_given.ipynb, .*{problem}"):
        write_book(tmp_path / "book", [given(tmp_path, shown)])


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
    """No book is made of a notebook that does not run, and one sentence says where it stopped."""
    monkeypatch.setattr(book, "CELL_SECONDS", seconds)
    broken = given(tmp_path, new_code_cell("print(1)"), new_code_cell(code))
    with pytest.raises(BookError, match=f"99_given.ipynb, {problem}"):
        write_book(tmp_path / "book", [broken])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_what_is_written_to_stderr_is_left_out_and_told(tmp_path):
    """A warning is none of the reader's business; it quotes paths of this machine."""
    cell = new_code_cell("import sys\nprint('seen')\nprint('careful', file=sys.stderr)")
    told = []
    write_book(tmp_path / "book", [given(tmp_path, cell)], complain=told.append)
    page = (tmp_path / "book" / "99_given.html").read_text("utf-8")
    assert "<pre>seen" in page
    assert page.count("careful") == 1  # in the code
    assert told == ["99_given.ipynb, cell 2: what it wrote to stderr is left out of the book"]


@pytest.mark.parametrize("kind", ["file", "other folder", "link"])
def test_a_folder_that_is_no_book_is_left_alone(tmp_path, kind):
    """Nothing that somebody else has put there is deleted."""
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


@pytest.mark.slow
def test_a_book_takes_the_place_of_an_earlier_one(tmp_path, monkeypatch):
    """Of the earlier one nothing is left; an empty folder will do too."""
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
    """The sentence lists those that there are."""
    done = CliRunner().invoke(app, ["book", str(tmp_path / "book"), "--notebook", "12_dice"])
    assert done.exit_code == 2
    assert done.stderr.startswith("autograder: there is no notebook 12_dice; there are 01_minimax")


def test_ctrl_c_leaves_the_earlier_book(tmp_path, monkeypatch):
    """It ends as a stopped program does, and says what is there."""

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
    """A picture that is shown twice is one file, which keeps its bytes and says how large it is."""
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
    """What may shrink keeps 0.7 of its size, however wide it is; what may not is scrolled."""
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="60"></svg>'
    data = base64.b64encode(svg.encode()).decode()
    page = f'<img alt="tree" style="max-width:{limit};" src="data:image/svg+xml;base64,{data}"/>'
    cell = new_code_cell("tree", outputs=[new_output("display_data", {"text/html": page})])
    assert tag in chapter(STUDY, "given", new_notebook(cells=[cell]), {}).body


def test_headings_have_different_anchors():
    """The same heading twice has two places to go to."""
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
    """The first paragraph, and the list that it announces."""
    made = chapter(STUDY, "given", new_notebook(cells=[new_markdown_cell(text)]), {})
    assert plain(made.teaches) == plain(teaches)


def test_a_still_board_is_not_to_be_run():
    """A page has no cells to run: it says where the board can be clicked instead."""
    output = new_output("display_data", {"text/html": f"<div><p>{GO_ON}</p></div>"})
    made = chapter(STUDY, "given", new_notebook(cells=[new_code_cell("b", outputs=[output])]), {})
    assert GO_ON not in made.body
    assert IN_BOOK in made.body


def test_a_table_can_be_scrolled():
    """A table in the text is in a box of its own."""
    page = markdown("| a | b |\n|---|---|\n| 1 | 2 |", Renderer())
    assert page.startswith('<div class="wide"><table>')
    assert page.strip().endswith("</table></div>")


def test_every_code_cell_counts_as_progress():
    """The bar ends where the work ends."""
    wanted = sources([SMALL])
    cells = nbformat.read(wanted[0].path, as_version=4).cells
    assert count_cells(wanted) == sum(cell.cell_type == "code" for cell in cells)
