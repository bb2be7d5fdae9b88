"""Python texts as trees, one at a time.

CPython counts the depth of the tree that it makes once for all threads, up to 3.11 at least: where
the collector runs Python code halfway and another thread parses, `ast.parse` raises a SystemError
(gh-106905).
"""

import ast
import codecs
import io
import re
import tokenize
from contextlib import suppress
from threading import RLock

FOR_THE_SHELL = re.compile(r"^[%!].*$", re.MULTILINE)  # lines of a cell that are not Python
SLOW = "punycode"  # with which Python reads a text of megabytes for hours
_alone = RLock()


def text_of(module: bytes) -> str:
    """A module's text as Python reads it, with a byte order mark or in the encoding that it names;
    what cannot be read becomes a question mark."""
    with suppress(SyntaxError, LookupError, UnicodeError):  # where Python cannot read it either
        named, _ = tokenize.detect_encoding(io.BytesIO(module).readline)
        if codecs.lookup(named).name != SLOW:
            return module.decode(named, "replace")
    return module.decode("utf-8", "replace")


def parsed(text: str | bytes, name: str = "<unknown>") -> ast.Module:
    """The tree of a module's text.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: as `ast.parse` does.
    """
    with _alone:
        return ast.parse(text, name)  # noqa: TID251
