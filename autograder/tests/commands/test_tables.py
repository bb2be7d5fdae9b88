"""Tables in a terminal and in a pipe: readable at 80 columns, and one line per row in a pipe."""

import io

from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from autograder.tables import print_table

WORDS = st.text(st.sampled_from("abc xyz"), max_size=200)
ROWS = st.lists(
    st.tuples(
        st.text("0123456789,", min_size=1, max_size=9),
        st.text("abc", min_size=1, max_size=20),
        WORDS,
    ),
    min_size=1,
    max_size=8,
)


def printed(rows, terminal: bool) -> list[str]:
    """The lines printed at 80 columns, or into a pipe."""
    file = io.StringIO()
    print_table(
        ("value", "unit", "what"),
        rows,
        right=[0],
        console=Console(file=file, force_terminal=terminal, width=80, color_system=None),
    )
    return file.getvalue().splitlines()


@given(ROWS)
def test_a_terminal_gets_no_line_beyond_its_width(rows):
    """Only text is wrapped: each number stays with its unit on one line, in its row."""
    lines = printed(rows, True)
    assert all(len(line) <= 80 for line in lines)
    for value, unit, _ in rows:
        assert any(line.split()[:2] == [value, unit] for line in lines)


@given(ROWS)
def test_a_pipe_gets_a_line_for_each_row(rows):
    """Piped rows have no frame, wrapping or trailing blanks, as `grep` and `awk` require."""
    lines = printed(rows, False)
    assert len(lines) == 1 + len(rows)
    assert [line.split()[:2] for line in lines[1:]] == [[value, unit] for value, unit, _ in rows]
    assert all(line == line.rstrip() for line in lines)
