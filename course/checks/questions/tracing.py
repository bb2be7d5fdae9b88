"""Records the trees that an agent's searches visit, to explain a wrong reply.

A recorder is a function `recorder(module, **case)` that repeats the searches of a question by a new
agent. Modules of questions define `RECORDERS`, with one for each question that can be explained.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from types import ModuleType
from typing import Any, NamedTuple

from course.checks.question import Part, Question
from course.checks.trees import SEPARATOR, node_texts, window_texts
from tictactoe.nodes import Trace, Visit

MAX_TRACE = 5_000  # nodes of a trace
CHUNK = 10  # nodes in each string of a reply, whose length is limited


class SearchStep(NamedTuple):
    """One of the searches that a recorder repeats.

    `place` is the end of the sentence "the first difference is ...", or "" for the first search.
    """

    place: str
    search: Callable[[], Any]
    limit: int | None = None  # its depth limit; None if there is none, or if it increases from 1


@dataclass
class Recording:
    """The trees of one or more searches by the same agent, and the first result."""

    agent: Any
    steps: list[SearchStep] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)  # the number of trees after each step
    trees: list[Visit] = field(default_factory=list)
    first_result: Any = None  # of the first step
    is_complete: bool = False  # whether all searches ended and none visited too many nodes


Recorder = Callable[..., Recording]


def record(agent: Any, steps: Iterable[SearchStep]) -> Recording:
    """Run the searches one after another, until one of them visits too many nodes."""
    recording = Recording(agent)
    with Trace(most=MAX_TRACE) as trace, suppress(RuntimeError):
        for step in steps:
            recording.steps.append(step)
            result = step.search()
            if not recording.ends:
                recording.first_result = result
            recording.ends.append(len(trace.roots))
        recording.is_complete = True
    recording.trees = trace.roots
    return recording


def trace_question(recorders: Mapping[str, Recorder]) -> Question:
    """The question that repeats the searches of another question, `of`, and replies with the trees:
    the nodes, the arguments of each, the number of trees after each search, and the first result.
    """

    def trace(module: ModuleType, of: str, **case: Any) -> Iterator[Part]:
        recording: Recording | None = None

        def nodes() -> tuple[list[str], list[int], Any]:
            nonlocal recording
            recording = recorders[of](module, **case)
            return _chunks(node_texts(recording.trees)), recording.ends, recording.first_result

        def windows() -> tuple[list[str]]:
            return (_chunks(window_texts(recording.trees)) if recording else [],)

        yield ("trace", "ends", "found"), nodes
        yield ("windows",), windows

    return Question(trace, ("trace", "ends", "found", "windows"), lambda case: f"trace of {case}")


def _chunks(texts: Iterator[str]) -> list[str]:
    texts, chunks = islice(texts, MAX_TRACE), []
    while chunk := list(islice(texts, CHUNK)):
        chunks.append(SEPARATOR.join(chunk))
    return chunks
