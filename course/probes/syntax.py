"""Python texts as trees, one at a time.

CPython counts the depth of the tree that it makes once for all threads, up to 3.11 at least: where
the collector runs Python code halfway and another thread parses, `ast.parse` raises a SystemError
(gh-106905).
"""

import ast
import re
from threading import RLock

FOR_THE_SHELL = re.compile(r"^[%!].*$", re.MULTILINE)  # lines of a cell that are not Python
_alone = RLock()


def parsed(text: str, name: str = "<unknown>") -> ast.Module:
    """The tree of a module's text.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: as `ast.parse` does.
    """
    with _alone:
        return ast.parse(text, name)  # noqa: TID251
