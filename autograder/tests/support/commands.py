"""What commands print."""

import re


def is_one_sentence(output: str) -> bool:
    """Whether this is one line by the autograder, and no more."""
    return re.fullmatch(r"autograder: [^\n]+\n", output) is not None
