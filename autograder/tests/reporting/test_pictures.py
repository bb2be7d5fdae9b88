"""Pictures in written answers appear for the marker and on pages, or the reason appears.

Every kind of reference comes from an editor or from a student's own typing.
"""

import base64
import os
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.reporting.pages.pictures import (
    MAX_PAGE,
    MAX_PICTURES,
    MAX_PIXELS,
    Budget,
    PictureError,
    Pictures,
    as_uri,
    extract_inline_pictures,
    kind_of,
)
from autograder.reporting.pages.safe_html import clean, clean_output, markdown, markdown_of
from autograder.sandbox.limits import MAX_BYTES
from autograder.tests.support.pages.images import DATA, DOT, base64_of, png

IMAGE = f'src="data:image/png;base64,{DATA}"'
SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9">'
    '<circle cx="4" cy="4" r="3" fill="green"/></svg>'
)
DECOMPOSED = unicodedata.normalize("NFD", "Bäume.png")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("tree.png", "![t](attachment:tree.png)"),
        ("tree.png", '![t](attachment:tree.png "with a title")'),
        ("tree.png", "![t](ATTACHMENT:tree.png)"),
        ("tree.PNG", "![t](attachment:tree.png)"),
        ("tree.png", "![t](attachment:Tree.PNG)"),
        ("tree.png", "[![t](attachment:tree.png)](https://example.org)"),
        ("tree.png", "| a |\n|---|\n| ![t](attachment:tree.png) |"),
        ("Screen%20Shot.png", "![t](attachment:Screen%20Shot.png)"),
        ("Screen Shot.png", "![t](attachment:Screen%20Shot.png)"),
        ("Screen Shot.png", "![t](<attachment:Screen Shot.png>)"),
        ("Screen Shot.png", "![t](attachment:Screen Shot.png)"),
        ("Screen Shot (1).png", "![t](attachment:Screen Shot (1).png)"),
        ("shot(1).png", "![t](attachment:shot(1).png)"),
        ("Screenshot\u202f9.png", "![t](attachment:Screenshot\u202f9.png)"),  # in macOS's spelling
        ("Screen Shot.png", "See\n![t][shot]\n\n[shot]: <attachment:Screen Shot.png>"),
        ("tree.png", "![t][tree]\n\n[tree]: attachment:tree.png"),
        ("tree.png", "![tree]\n\n[tree]: attachment:tree.png"),
        ("Bäume.png", "![t](attachment:Bäume.png)"),
        ("Bäume.png", "![t](attachment:B%C3%A4ume.png)"),
        (DECOMPOSED, "![t](attachment:Bäume.png)"),
        ("Bäume.png", f"![t](attachment:{DECOMPOSED})"),
        ("木.png", "![t](attachment:木.png)"),
        ("tree.png", '<img src="attachment:tree.png">'),
        ("tree.png", "<IMG SRC='attachment:tree.png' width=300 />"),
        ("Screen Shot.png", 'A <img src="attachment:Screen Shot.png"> here'),
        ("a&b.png", '<img src="attachment:a&amp;b.png">'),
        ("tree.png", '<div align="center">\n<img src="attachment:tree.png">\n</div>'),
    ],
)
def test_an_attached_picture_is_shown(name, text):
    """The name may be written in any way, by any editor."""
    assert IMAGE in markdown_of(text, {name: {"image/png": DATA}})


@pytest.mark.parametrize(
    "bundle",
    [
        {"image/png": DATA},
        {"image/jpeg": DATA},
        {"application/octet-stream": DATA},
        {"image/png": [DATA[:20], DATA[20:]]},
        {"image/png": f"{DATA[:20]}\n{DATA[20:]}\n"},
        {"image/png": f"data:image/png;base64,{DATA}".partition(",")[2]},
    ],
)
def test_what_a_picture_is_follows_from_its_content(bundle):
    """The name in the notebook and the line breaks do not matter."""
    assert IMAGE in markdown_of("![t](attachment:x)", {"x": bundle})


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("tree.png", "![t](tree.png)"),
        ("tree.png", "![t](./tree.png)"),
        ("tree.png", '<img src="tree.png">'),
        ("tree.PNG", "![t](tree.png)"),
        ("tree.png", "![t](files/tree.png)"),
        ("my tree.png", "![t](my%20tree.png)"),
        ("my tree.png", "![t](my tree.png)"),
        ("my tree.png", "![t](<my tree.png>)"),
        ("img/tree.png", "![t](img/tree.png)"),
        ("img/a b/tree.png", "![t](img\\a b\\tree.png)"),
        ("Bäume.png", f"![t]({DECOMPOSED})"),
        (DECOMPOSED, "![t](Bäume.png)"),
        ("tree.txt", "![t](tree.txt)"),
        ("tree.png", "![t](tree.png?raw=true)"),
        ("tree.png", "![t][x]\n\n[x]: tree.png"),
    ],
)
def test_a_picture_alongside_the_notebook_is_shown(tmp_path, file, text):
    """The file was submitted in the folder of the notebook or below it."""
    (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / file).write_bytes(DOT)
    assert IMAGE in markdown_of(text, {}, tmp_path)


@pytest.mark.parametrize(
    "text",
    [
        f"![t](data:image/png;base64,{DATA})",
        f'<img src="data:image/png;base64,{DATA}">',
        f"![t][x]\n\n[x]: data:image/png;base64,{DATA}",  # in Colab's form
        f"![t](data:image/jpeg;base64,{DATA})",
    ],
)
def test_a_picture_that_is_written_out_is_shown(text):
    """The picture is a `data:` URI."""
    assert IMAGE in markdown_of(text)


def test_a_long_answer_keeps_a_picture_that_is_written_out():
    """Its characters do not count when the text is truncated."""
    large = base64_of(png(filling=50_000))
    short, lifted = extract_inline_pictures(f"![t](data:image/png;base64,{large}) and words")
    assert len(short) < 100
    assert f"base64,{large}" in markdown_of(short, lifted)


def test_the_form_that_vs_code_keeps_in_metadata_is_shown():
    """Notebooks converted by its extension have attachments below `metadata`."""
    cell = {"metadata": {"attachments": {"x.png": {"image/png": DATA}}}}
    assert IMAGE in markdown({"cell": cell}, "![t](attachment:x.png)")


# ---- Pictures that are not shown have a reason


def outside(folder):
    """A picture next to the submission, not in it."""
    (folder.parent / "secret.png").write_bytes(DOT)
    return "![t](../secret.png)"


def linked(folder):
    """A link to a picture next to the submission."""
    outside(folder)
    (folder / "link.png").symlink_to(folder.parent / "secret.png")
    return "![t](link.png)"


def linked_folder(folder):
    """A picture in a folder that is a link."""
    outside(folder)
    (folder / "img").symlink_to(folder.parent)
    return "![t](img/secret.png)"


def hard_link(folder):
    """A hard link to a file next to the submission."""
    outside(folder)
    os.link(folder.parent / "secret.png", folder / "hard.png")
    return "![t](hard.png)"


def written(name: str, content: bytes):
    """A file that refers to itself."""

    def write(folder):
        (folder / name).write_bytes(content)
        return f"![t]({name})"

    return write


REASONS = {
    "missing file": (lambda _: "![my tree](tree.png)", r"no such file"),
    "missing attachment": (lambda _: "![t](attachment:a%20b.png)", r"not attached"),
    "another site": (lambda _: "![t](https://example.org/x.png)", "load nothing from the web"),
    "no scheme": (lambda _: "![t](//example.org/x.png)", "load nothing from the web"),
    "absolute": (lambda folder: f"![t]({folder}/x.png)", "computer on which it was written"),
    "a drive": (lambda _: "<img src='C:\\me\\x.png'>", "computer on which it was written"),
    "a file's address": (lambda _: "<img src='file:///etc/x.png'>", "computer on which"),
    "a script": (lambda _: "<img src='javascript:attack()'>", "computer on which"),
    "no source": (lambda _: "<img alt='x'>", "no file is named"),
    "outside": (outside, "outside the folder"),
    "link": (linked, "is a link"),
    "linked folder": (linked_folder, "no such file|is a link"),
    "hard link": (hard_link, "is a link"),
    "folder": (lambda folder: (folder / "x.png").mkdir() or "![t](x.png)", "not a file"),
    "page": (written("x.png", b"<html><script>attack()</script>"), "not a PNG"),
    "text": (written("x.png", b"attack"), "not a PNG"),
    "empty": (written("x.png", b""), "empty"),
    "PDF": (written("x.pdf", b"%PDF-1.7"), "not a PNG"),
    "large": (written("x.png", DOT + bytes(MAX_BYTES)), "bytes, and at most"),
    "many pixels": (written("x.png", png(60_000, 60_000)), "60,000 by 60,000 pixels"),
    "broken SVG": (
        written("x.svg", b"<svg xmlns='http://www.w3.org/2000/svg'><g></svg>"),
        "not valid SVG",
    ),
    "hidden": (written(".x.png", DOT), "no such file"),
}


@pytest.mark.parametrize("case", REASONS)
def test_what_is_not_shown_has_a_reason(tmp_path, case):
    """The reason replaces the picture, and nothing refers to another host."""
    folder = tmp_path / "submission"
    folder.mkdir()
    write, reason = REASONS[case]
    shown = markdown_of(f"Before {write(folder)} after", {}, folder)
    assert re.search(rf"\[The picture .* is not shown: .*(?:{reason}).*\.\]", shown), shown
    assert "<img" not in shown and "src=" not in shown and "Before" in shown and "after" in shown


def test_the_pictures_of_a_page_have_a_limit():
    """One attachment displayed many times does not create a page of gigabytes."""
    attached = {"x": {"image/png": base64_of(png(filling=3_000_000))}}
    shown = markdown_of("![t](attachment:x)\n\n" * 20, attached)
    assert shown.count("<img") == MAX_PAGE // (4 * 3_000_100 // 3) == 4
    assert "of one page may have at most" in shown
    assert len(shown) < MAX_PAGE + 10_000


def test_the_number_of_pictures_of_a_page_has_a_limit(tmp_path):
    """Thousands of missing pictures do not cause thousands of searches or fill pages."""
    shown = markdown_of("<img src='x.png'>" * 5_000, {}, tmp_path)
    assert shown.count("no such file") == MAX_PICTURES
    assert shown.count("a page shows at most") == 1


def test_all_cells_of_a_page_share_the_limit():
    """The outputs of the page share it as well."""
    resources = {"metadata": {}, "pictures": Budget(len(IMAGE) - len('src=""'))}
    cell = {"attachments": {"x": {"image/png": DATA}}}
    context = {"resources": resources, "cell": cell}
    assert IMAGE in markdown(context, "![t](attachment:x)")
    assert "may have at most" in markdown(context, "![t](attachment:x)")
    assert "may have at most" in clean_output(context, f"<img {IMAGE}>")


def test_what_is_quoted_stays_text():
    """A picture in code stays as typed."""
    for text in ("`![t](my tree.png)`", "```\n![t](my tree.png)\n```"):
        assert "![t](my tree.png)" in markdown_of(text) and "not shown" not in markdown_of(text)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("![my tree](tree.png)", "tree.png (my tree)"),
        ("![](attachment:a%20b.png)", "a b.png"),
        ('<img src="attachment:a&amp;b.png" alt="&lt;b>">', "a&amp;b.png (&lt;b&gt;)"),
        ("<img src='%3Cscript%3E'>", "&lt;script&gt;"),
        ("![](data:text/html,x)", "written out in"),
        (f"![]({'x' * 500}.png)", f"{'x' * 100}..."),
    ],
)
def test_what_is_not_shown_is_named(text, name):
    """The name appears as text, with the student's description."""
    assert f"[The picture {name}" in markdown_of(text)
    assert "<script" not in markdown_of(text)


# ---- SVG


@pytest.mark.parametrize("data", [SVG, [SVG[:30], SVG[30:]], base64_of(SVG.encode())])
def test_an_attached_drawing_is_shown(data):
    """The drawing is text, which some editors write, or base64."""
    shown = markdown_of("![t](attachment:x.svg)", {"x.svg": {"image/svg+xml": data}})
    assert "<circle" in drawing_in(shown)


def drawing_in(page: str) -> str:
    """The source of the drawing that a page shows."""
    return base64.b64decode(
        re.search(r'src="data:image/svg\+xml;base64,([^"]+)"', page)[1]
    ).decode()


HEAD = (
    "<svg xmlns='http://www.w3.org/2000/svg' xmlns:xlink='http://www.w3.org/1999/xlink'"
    " xmlns:x='http://www.w3.org/1999/xhtml' onload='attack()'>"
)
ATTACKS = [
    "<script>attack()</script>",
    "<g onclick='attack()'/>",
    "<x:script>attack()</x:script>",
    "<foreignObject><x:body onload='attack()'/></foreignObject>",
    "<a href='javascript:attack()'><rect/></a>",
    "<a xlink:href='https://evil.example'><rect/></a>",
    "<image href='https://evil.example/x.png'/>",
    "<use xlink:href='https://evil.example/x#a'/>",
    "<image href='data:text/html,attack()'/>",
    "<image href='data:image/svg+xml,attack()'/>",
    "<style>@import 'https://evil.example';</style>",
    "<style>* { fill: url(https://evil.example) }</style>",
    "<rect style='fill: url( &quot;//evil.example&quot;)'/>",
    "<rect fill='\\75rl(//evil.example)'/>",
    "<set attributeName='href' to='javascript:attack()'/>",
    "<animate onbegin='attack()'/>",
    "<iframe src='https://evil.example'/>",
    "<?xml-stylesheet href='https://evil.example'?>",
    "<text><![CDATA[</svg><script>attack()</script>]]></text>",
]


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_drawing_neither_runs_nor_fetches_anything(attack):
    """The rest of the drawing is shown."""
    text = f"{HEAD}{attack}<circle r='3'/></svg>"
    shown = drawing_in(clean(f'<img src="data:image/svg+xml;base64,{base64_of(text.encode())}">'))
    assert '<circle r="3">' in shown
    shown = re.sub("<text>[^<]*</text>", "", shown)  # escaped letters
    assert not re.search(r"attack\(|evil|<script|\son\w+=|iframe|foreignObject|javascript", shown)


def test_references_within_a_drawing_and_pictures_in_it_stay():
    """Matplotlib's output has reused glyphs, clipping and a pixel array."""
    text = (
        f"{HEAD}<defs><path id='a' d='M0 0'/><clipPath id='c'><rect/></clipPath></defs>"
        "<style type='text/css'>*{stroke-linejoin: round}</style>"
        f"<g clip-path='url(#c)'><use xlink:href='#a'/>"
        f"<image xlink:href='data:image/png;base64,{DATA}'/></g></svg>"
    )
    shown = drawing_in(clean(f'<img src="data:image/svg+xml;base64,{base64_of(text.encode())}">'))
    for part in ('clip-path="url(#c)"', 'xlink:href="#a"', f"base64,{DATA}", "stroke-linejoin"):
        assert part in shown


ENDLESS = {
    "entities": "<!DOCTYPE svg [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;'>]>" + HEAD + "&b;</svg>",
    "itself": f"{HEAD}<g id='a'><use href='#a'/></g></svg>",
    "doubling": HEAD
    + "<rect id='a0'/>"
    + "".join(
        f"<g id='a{n}'>{f'<use xlink:href=%#a{n - 1}%/>' * 2}</g>".replace("%", "'")
        for n in range(1, 40)
    )
    + "</svg>",
    "patterns": HEAD
    + "".join(
        f"<pattern id='p{n}'>{f'<rect fill=%url(#p{n - 1})%/>' * 9}</pattern>".replace("%", "'")
        for n in range(1, 12)
    )
    + "</svg>",
    "depth": HEAD + "<g>" * 100_000 + "</g>" * 100_000 + "</svg>",
}


@pytest.mark.parametrize("kind", ENDLESS)
def test_a_drawing_that_would_take_for_ever_is_refused(kind):
    """It is detected without rendering."""
    with pytest.raises(PictureError, match=r"entities|endlessly|too many|too deeply"):
        as_uri(ENDLESS[kind].encode())


@given(
    st.binary(max_size=200),
    st.sampled_from(
        [
            b"",
            DOT[:24],
            b"\xff\xd8\xff\xe0",
            b"GIF89a",
            b"RIFFxxxxWEBPVP8X",
            b"BM\0\0\0\0\0\0\0\0",
            b"<svg ",
            HEAD.encode(),
        ]
    ),
)
def test_no_content_is_an_error(tail, head):
    """Any bytes give a picture or a reason."""
    content = head + tail
    try:
        uri = as_uri(content)
    except PictureError:
        return
    assert uri.startswith(f"data:{kind_of(content)};base64,")


@given(st.text(max_size=60))
def test_no_reference_is_an_error(reference):
    """Any text is accepted as the source of a picture."""
    with pytest.raises(PictureError):
        Pictures({"tree": {"image/png": DATA}}).uri(f"attachment:x{reference}")
    try:
        Pictures().uri(reference)
    except PictureError:
        return


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"GIF89a" + (60_000).to_bytes(2, "little") * 2, "image/gif"),
        (b"\xff\xd8\xff\xe0\0\x04ab\xff\xc0\0\x11\x08\xff\xff\xff\xff" + bytes(9), "image/jpeg"),
        (b"RIFFxxxxWEBPVP8X" + bytes(8) + b"\xff\xff\0\xff\xff\0", "image/webp"),
        (b"BM" + bytes(16) + (60_000).to_bytes(4, "little") * 2, "image/bmp"),
    ],
)
def test_the_size_of_each_kind_is_read(content, kind):
    """A picture that would need gigabytes in a browser is not shown."""
    assert kind_of(content) == kind
    with pytest.raises(PictureError, match=f"at most {MAX_PIXELS:,}"):
        as_uri(content)
