"""Names of assignments that work in all of nbgrader's commands and pages."""

import re
import unicodedata

NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_.-]*[A-Za-z0-9_-])?", re.ASCII)
LONGEST = 100  # characters; a folder in the exchange has the student and the time in its name too
RULE = (
    f"use letters from A to Z, digits, '_', '-' and '.', beginning with a letter or a digit, "
    f"not ending with '.', and at most {LONGEST} characters"
)


def name_problem(name: str) -> str:
    """Why an assignment should not have this name, with another one that it may have; or ""."""
    if len(name) <= LONGEST and NAME.fullmatch(name):
        return ""
    return (
        f"the assignment name {name!r} does not work in all of nbgrader's commands and pages: "
        f"{RULE}; for example {suggested(name)!r}"
    )


def suggested(name: str) -> str:
    """A name like this one that follows the rule."""
    parts = unicodedata.normalize("NFKD", name.replace("ß", "ss"))
    plain = parts.encode("ascii", "ignore").decode()
    return re.sub(r"[^A-Za-z0-9.-]+", "_", plain).strip("_.-")[:LONGEST].rstrip("_.-") or "week1"
