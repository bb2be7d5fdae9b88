"""Arbitrary submissions and messages cause no exception and cost no other student a mark."""

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys

import nbformat
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from nbformat.v4 import new_code_cell, new_notebook

from autograder.course_folder import CourseFolder
from autograder.grading.run import submission as grading
from autograder.grading.run.nbgrader_steps import outputs, write_outputs
from autograder.grading.verdict.answer_key import load_answer_key
from autograder.grading.verdict.reply_collection import SubmissionContext, TimeLimits
from autograder.grading.verdict.verdict import decide
from autograder.reporting.export import FORMATS, export, read_marks
from autograder.reporting.pages import feedback
from autograder.reporting.report import write_report
from autograder.sandbox.client import Job, Sandbox
from autograder.sandbox.inside.frames import LENGTH
from autograder.sandbox.limits import SandboxLimits
from autograder.studies import hidden_cases
from autograder.tests.support.courses.classes import (
    CHECK,
    MODULES,
    NOTEBOOK,
    STUDY,
    make_course,
    score,
    submit,
)
from autograder.tests.support.courses.intake import places
from autograder.tests.support.needs import need_isolation

pytestmark = [
    pytest.mark.xdist_group("fuzz"),
    pytest.mark.skipif(sys.platform != "linux", reason="the sandbox and such names are Linux's"),
]
NOTEBOOK_FILE = f"{NOTEBOOK}.ipynb"
PLAIN = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(),
        st.just(10**4000),
        st.text(st.characters(), max_size=8),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)

# ---- Submissions

NAMES = st.binary(min_size=1, max_size=40).filter(
    lambda name: not {b"/"[0], 0} & set(name) and name not in (b".", b"..")
)
HARMLESS = {NOTEBOOK_FILE, "timestamp.txt", ".hidden", "a.ipynb", "ends in a blank "}
KNOWN = st.sampled_from([*sorted(HARMLESS), STUDY.module, "nbformat.py", "sitecustomize.py"]).map(
    os.fsencode
)
CONTENTS = {
    "bytes": st.binary(max_size=200).map(lambda data: lambda path: path.write_bytes(data)),
    "folder": st.just(lambda path: path.mkdir()),
    "pipe": st.just(os.mkfifo),
    "link": st.sampled_from(["../../../gradebook.db", "/etc/passwd", ".", "nowhere"]).map(
        lambda target: lambda path: path.symlink_to(target)
    ),
    "sparse": st.integers(0, 2**40).map(
        lambda size: lambda path: (path.touch(), os.truncate(path, size))
    ),
}
FILES = st.lists(st.tuples(st.one_of(KNOWN, NAMES), st.one_of(*CONTENTS.values())), max_size=4)


def put(data, place: tuple, value) -> None:
    """Put a value into plain data, if the location still exists."""
    with contextlib.suppress(LookupError, TypeError):
        for key in place[:-1]:
            data = data[key]
        data[place[-1]] = value


@pytest.fixture(scope="module")
def course(tmp_path_factory) -> CourseFolder:
    """A course with two correct submissions."""
    need_isolation()
    folder = make_course(tmp_path_factory.mktemp("fuzz") / "course", STUDY)
    for student in ("ann", "zoe"):
        submit(folder, student, MODULES["reference"])
    return folder


@pytest.fixture(scope="module")
def grade_one(course):
    """Grade one student of the course in this process."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(grading, "run_self_test", lambda *arguments: None)
        with grading.grader(course, STUDY, False) as grade:
            assert {grade(student).status for student in ("ann", "zoe")} == {"graded"}
            yield grade


@pytest.mark.slow
@settings(max_examples=25, suppress_health_check=list(HealthCheck))
@given(FILES, st.lists(st.tuples(st.integers(0, 10_000), PLAIN), max_size=3))
def test_any_submission_costs_itself_only(course, grade_one, files, changes):
    """Odd files and values in a notebook stop no command and affect no other student.

    Only modules can cost the marks of a module.
    """
    shutil.rmtree(course.root / "submitted" / "odd", ignore_errors=True)
    submission = submit(course, "odd", MODULES["reference"])
    data = json.loads((submission / NOTEBOOK_FILE).read_text("utf-8"))
    known = [place for place in places(data) if place]
    for number, value in changes:
        put(data, known[number % len(known)], value)
    (submission / NOTEBOOK_FILE).write_text(json.dumps(data), "utf-8")
    spoilt = False
    for name, make in files:
        path = submission / os.fsdecode(name)
        if path.is_file() and not path.is_symlink():
            path.unlink()
        if not os.path.lexists(path):
            make(path)
            spoilt |= path.name not in HARMLESS  # it may be a module, or replace one
    result = grade_one("odd")
    assert result.status in ("graded", "unchanged", "nothing to grade")
    assert all(problem.encode("utf-8") and len(problem) < 1000 for problem in result.problems)
    if not spoilt:
        assert score(course, "odd") == CHECK.max_points
    with feedback._writer(course, STUDY.assignment) as write:
        if result.status != "nothing to grade":
            write(("odd", ""))
    write_report(course, STUDY)
    for kind in FORMATS:
        assert export(read_marks(course), kind).encode("utf-8")
    for student in ("ann", "zoe"):
        assert grade_one(student).status == "unchanged"
        assert score(course, student) == CHECK.max_points


# ---- Messages from the sandbox


class Said(Sandbox):
    """A sandbox in which every process sends the messages chosen by the test."""

    def __init__(self, said: bytes) -> None:
        self.limits, self._said = SandboxLimits(), said

    @contextlib.contextmanager
    def job(self, kind, files, request, max_bytes):
        """A job whose messages have arrived, and whose process waits to be killed."""
        ours, theirs = socket.socketpair()
        with ours, theirs, subprocess.Popen(["sleep", "600"]) as process:
            job = Job(ours, os.pidfd_open(process.pid), self.limits, max_bytes)
            try:
                theirs.sendall(self._said)
                theirs.shutdown(socket.SHUT_WR)
                yield job
            finally:
                job.kill()


def framed(frame) -> bytes:
    """A message with the protocol's framing."""
    data = frame if isinstance(frame, bytes) else json.dumps(frame).encode()
    return LENGTH.pack(len(data)) + data


OUTPUT = st.fixed_dictionaries(
    {"output_type": st.sampled_from(["stream", "error", "display_data", "execute_result"])},
    optional={
        "name": st.sampled_from(["stdout", "stderr"]),
        "text": PLAIN,
        "ename": PLAIN,
        "evalue": PLAIN,
        "traceback": st.lists(st.text(max_size=5), max_size=2),
        "data": st.dictionaries(st.text(max_size=8), PLAIN, max_size=3),
        "execution_count": PLAIN,
        "metadata": PLAIN,
    },
)
END = st.fixed_dictionaries(
    {"end": st.integers(0, 2)},
    optional={
        "outputs": st.one_of(PLAIN, st.lists(st.one_of(OUTPUT, PLAIN), max_size=3)),
        "execution_count": PLAIN,
    },
)
OBSERVED = st.dictionaries(
    st.sampled_from(["move", "value", "nodes", "visited", "errors", "case"]), PLAIN, max_size=4
)
REPLY = st.fixed_dictionaries(
    {"case": st.integers(-1, 12)},
    optional={"observation": st.one_of(OBSERVED, PLAIN), "broken": PLAIN, "errors": PLAIN},
)
RAW = st.binary(max_size=30)


def stream(frames: st.SearchStrategy) -> st.SearchStrategy[bytes]:
    """A sequence of messages, some of them malformed."""
    return st.lists(
        st.one_of(frames.map(framed), PLAIN.map(framed), RAW.map(framed), RAW), max_size=6
    ).map(b"".join)


@pytest.mark.slow
@settings(max_examples=100, suppress_health_check=list(HealthCheck))
@given(stream(END))
@example(
    framed({"end": 0, "outputs": [{"output_type": "stream", "name": "stdout", "text": "\ud800"}]})
)
@example(LENGTH.pack(2**64 - 1))
@example(framed({"end": 0, "execution_count": -1}))
def test_any_message_of_cells_makes_a_notebook(said):
    """Any messages give valid outputs that can be written into a valid notebook."""
    cells = [new_code_cell("1"), new_code_cell("2")]
    ran = Said(said).run_cells({}, ["1", "2"], 5, 5, 5)
    write_outputs(cells, ran)
    nbformat.validate(new_notebook(cells=cells))
    assert nbformat.writes(new_notebook(cells=cells)).encode("utf-8")


@settings(max_examples=100, suppress_health_check=list(HealthCheck))
@given(stream(REPLY))
def test_any_message_of_a_module_makes_an_outcome(said):
    """Any messages can be marked, and the outcome can be written and shown."""
    key = load_answer_key(hidden_cases.hidden_study(STUDY.name))
    outcome = decide(
        SubmissionContext(key),
        key.study.checks[CHECK.name],
        lambda study, check, most: Said(said).run_check(
            {study.module: b""}, study.module, check, most
        ),
        TimeLimits(None, 5, 5),
    )
    assert 0 <= outcome.earned <= outcome.points
    assert json.dumps(outcome.to_json()).encode("utf-8")
    for output in outputs(outcome):
        assert json.dumps(output).encode("utf-8")
