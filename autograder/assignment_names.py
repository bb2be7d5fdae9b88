"""Names of assignments that work in all of nbgrader's commands and pages."""

import re
import unicodedata

NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_.-]*[A-Za-z0-9_-])?", re.ASCII)
MAX_LENGTH = 100  # characters; folder names in the exchange also contain the student and the time
RULE = (
    f"use letters from A to Z, digits, '_', '-' and '.', beginning with a letter or a digit, "
    f"not ending with '.', and at most {MAX_LENGTH} characters"
)


def name_problem(name: str) -> str:
    """Explain why an assignment cannot have this name, and suggest a valid one; "" if it can."""
    if len(name) <= MAX_LENGTH and NAME.fullmatch(name):
        return ""
    return (
        f"the assignment name {name!r} does not work in all of nbgrader's commands and pages: "
        f"{RULE}; for example {suggest_name(name)!r}"
    )


def suggest_name(name: str) -> str:
    """Return a similar name that follows the rule."""
    parts = unicodedata.normalize("NFKD", name.replace("ß", "ss"))
    plain = parts.encode("ascii", "ignore").decode()
    return re.sub(r"[^A-Za-z0-9.-]+", "_", plain).strip("_.-")[:MAX_LENGTH].rstrip("_.-") or "week1"
