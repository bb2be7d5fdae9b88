"""No style or HTML written by a student makes a marker's browser load anything."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.reporting.pages.safe_html import STYLES, clean, markdown_of

FETCHES = [
    "cursor: url(http://x.invalid/a.cur), auto",
    "cursor:URL('//x.invalid')",
    "background: url(data:image/png;base64,AA)",
    "cursor: u\\72l(http://x.invalid)",
    "cursor: \\75 rl(http://x.invalid)",
    "cursor: url/**/(http://x.invalid)",
    "background-image: image-set('http://x.invalid/a' 1x)",
    "border-image: url(http://x.invalid)",
    "cursor: -webkit-image-set(url(http://x.invalid) 1x)",
    "cursor: image(http://x.invalid)",
    "cursor: src('http://x.invalid')",
    "cursor: cross-fade(url(http://x.invalid), red)",
    "color: attr(data-x url)",
    "color: var(--x)",
    "width: expression(alert(1))",
    "color: red; cursor: url(\n'http://x.invalid'",
    "cursor: url(http://x.invalid",
    "x{cursor:url(a)}",
    "@import url(http://x.invalid)",
    "color: red !important; cursor: url(a) !important",
]
KEPT = [
    "color: red",
    "color: rgb(1, 2, 3)",
    "width: calc(1px + 2%)",
    'font-family: "A B", serif',
    "margin: 1px 2px",
    "border: 1px solid #abc",
]
TAGS = [
    "img",
    "a",
    "div",
    "svg",
    "image",
    "use",
    "video",
    "audio",
    "source",
    "track",
    "object",
    "embed",
    "iframe",
    "link",
    "meta",
    "base",
    "script",
    "style",
    "form",
    "input",
    "button",
    "body",
    "table",
]
ATTRIBUTES = [
    "style",
    "src",
    "srcset",
    "href",
    "xlink:href",
    "poster",
    "data",
    "background",
    "action",
    "formaction",
    "ping",
    "content",
    "http-equiv",
    "lowsrc",
    "dynsrc",
    "imagesrcset",
    "onload",
]
ADDRESS = "http://x.invalid/p"


@pytest.mark.parametrize("style", FETCHES)
def test_a_style_that_fetches_is_left_out(style):
    """Any spelling is recognised, and the rest of the style stays."""
    found = clean(f'<p style="{style}">Text</p>'.replace('"Text', "Text"))
    assert "invalid" not in found and "(" not in found.replace("Text", "")
    assert ("red" in found) == ("color: red" in style)


@pytest.mark.parametrize("style", KEPT)
def test_other_styles_stay(style):
    """Examples are colours, sizes and font names."""
    assert STYLES.sanitize_css(style) == style


@given(
    st.lists(
        st.sampled_from(
            [
                *"url(:;\\\"'){}@/*, \n-",
                "cursor",
                "color",
                "75 ",
                "\\75",
                "red",
                "image-set",
                "src",
                "http://x",
                "1px",
                "rgb",
            ]
        ),
        max_size=14,
    )
)
def test_no_style_calls_what_may_fetch(parts):
    """A second parser finds no other function in the result, whatever the first one reads."""
    found = STYLES.sanitize_css("cursor: red; " + "".join(parts))
    outside_strings = re.sub(r"\"(?:[^\"\\\\]|\\\\.)*\"", "", found)
    assert set(re.findall(r"([\w\\\\-]+)\(", outside_strings)) <= {"rgb"}
    assert "@" not in outside_strings


@given(
    st.lists(
        st.tuples(
            st.sampled_from(TAGS),
            st.sampled_from(ATTRIBUTES),
            st.sampled_from(
                [
                    ADDRESS,
                    f"{ADDRESS} 2x",
                    f"0;url={ADDRESS}",
                    f"cursor:url({ADDRESS})",
                    "//x.invalid/p",
                ]
            ),
            st.sampled_from(['"', "'", ""]),
        ),
        min_size=1,
        max_size=4,
    )
)
def test_no_html_fetches(tags):
    """Only a link may contain an external URL, which a person has to click."""
    text = "".join(
        f"<{tag} {name}={quote}{value.replace(' ', '') if not quote else value}{quote}>t"
        for tag, name, value, quote in tags
    )
    for found in (clean(text), markdown_of(text)):
        without_links = re.sub(r'<a href="[^"]*">', "<a>", found)
        assert not re.search(r"<[^>]*x\.invalid", without_links), found
