"""Collects what two submissions share besides their code: rare names and comments, lines that are
not Python, and wrong replies to the checks.
"""

import json
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from autograder.reporting.similarity.normal_form import Code

MAX_SHARE = 0.05  # of all people: what more people share is no hint
MIN_NAMES = 3
NAME = re.compile(r"[^\W\d]\w{3,}")
COMMENT = re.compile(r"#(.{15,})")
SENTENCES = {
    "error": "the same line that is not Python: {}",
    "reply": "the same wrong reply to {}",
    "name": "the same names and comments: {}",
}
MAX_LISTED = 5


class Mark(NamedTuple):
    """A feature of one submission, and the text that describes it on the page."""

    kind: str  # a key of SENTENCES
    key: str
    text: str


def marks_of(
    text: str, code: Code, outcomes: Sequence[Mapping[str, Any]], handout: Collection[str]
) -> set[Mark]:
    """Return the features of a submission. Words in `handout` are none."""
    marks = {Mark("error", line, line[:80]) for _, line in code.errors}
    for name in {*NAME.findall(re.sub(r"(?s)\"\"\".*?\"\"\"|#[^\n]*", "", text))} - {*handout}:
        marks.add(Mark("name", name, name[:80]))
    for comment in COMMENT.findall(text):
        words = " ".join(NAME.findall(comment.lower()))
        if len(words) > 15 and words not in handout:
            marks.add(Mark("name", words, f"# {comment.strip()[:80]}"))
    return marks | set(_wrong_replies(outcomes))


def given_words(texts: Sequence[str]) -> set[str]:
    """Return the names in texts that every student has, and the words of their comments."""
    words = {name for text in texts for name in NAME.findall(text)}
    comments = (comment for text in texts for comment in COMMENT.findall(text))
    return words | {" ".join(NAME.findall(comment.lower())) for comment in comments}


def _wrong_replies(outcomes: Sequence[Mapping[str, Any]]) -> Iterator[Mark]:
    """Yield the wrong reply that the feedback explains, for each check that has one."""
    for outcome in outcomes:
        case = outcome.get("case")
        if outcome.get("stopped") or not isinstance(case, dict) or not case.get("got"):
            continue
        if all(value is None for value in case["got"].values()):
            continue
        try:
            key = json.dumps([outcome["check"], case], sort_keys=True)
        except (TypeError, ValueError):
            continue
        yield Mark("reply", key, str(outcome["check"]))


class Hints:
    """What rarely occurs, by the people in whose submissions it occurs."""

    def __init__(self, marks: Sequence[set[Mark]], origins: Sequence[str]) -> None:
        people: dict[tuple[str, str], set[str]] = defaultdict(set)
        for own, origin in zip(marks, origins, strict=True):
            for mark in own:
                people[mark.kind, mark.key].add(origin)
        most = max(2, MAX_SHARE * len({*origins}))
        self._rare = [
            {mark for mark in own if len(people[mark.kind, mark.key]) <= most} for own in marks
        ]

    def shared(self, one: int, other: int) -> tuple[str, ...]:
        """Return a sentence about each kind of feature that two submissions share."""
        texts: dict[str, list[str]] = defaultdict(list)
        for mark in sorted(self._rare[one] & self._rare[other]):
            texts[mark.kind].append(mark.text)
        return tuple(
            SENTENCES[kind].format(", ".join(dict.fromkeys(entries[:MAX_LISTED])))
            for kind, entries in texts.items()
            if kind != "name" or len(entries) >= MIN_NAMES
        )
