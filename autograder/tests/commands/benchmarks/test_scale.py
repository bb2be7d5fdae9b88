"""The cost of grading a class: the page's numbers follow from its table; a small class is measured."""

import socket
import socketserver
import subprocess
import sys
import threading

import psutil
import pytest

from autograder.benchmarks.grading import _scale_page, scale
from autograder.benchmarks.grading._scale_page import PAGE, part, read, section, with_section
from autograder.benchmarks.support import journal
from autograder.benchmarks.support.classes import _longer
from autograder.benchmarks.support.relay import relay
from autograder.benchmarks.support.watch import Use
from autograder.tests.support.needs import need_isolation, need_module
from autograder.workspace import module_texts
from course.checks import load_study

LOCAL = {
    "trusted",
    "sandboxes",
    "time",
    "gradebook",
    "files",
    "memory",
    "files open",
    "sandbox memory",
}
SPENT = 0.3  # seconds of CPU time
BUSY = f"import sys, time\nwhile time.process_time() < {SPENT} + 0.02:\n    pass\n"


def made_up(case: scale.Case) -> dict[str, float]:
    """Numbers for a case, in the form that `scale.measured` returns."""
    found = dict.fromkeys(_scale_page.ROWS, case.students / 7)
    for name in ("dask", "sent", "received") if not case.cluster else ("sandbox memory",):
        del found[name]
    for name in ("feedback", "pages") if not case.feedback else ():
        del found[name]
    return found


def test_the_numbers_on_the_page_follow_from_its_table():
    """The text on the page is generated from its table."""
    found = read(PAGE.read_text("utf-8"))
    assert section(found) == part(PAGE.read_text("utf-8"))
    sizes = [title for title in found if title.endswith(" submissions")]
    assert len(sizes) >= 2
    assert all(set(found[title]) >= LOCAL for title in sizes)
    assert {"sent", "received", "dask"} <= set([*found.values()][-1])


def test_the_table_is_read_as_it_was_written():
    """Small and large numbers and empty cells survive a round trip; text around the section is
    kept.
    """
    found = {title: made_up(case) for title, case in scale.cases(10_000).items()}
    text = section(found)
    page = with_section(f"before\n{_scale_page.BEGIN}\n{_scale_page.END}\nafter\n", text)
    assert part(page) == text
    assert page.startswith("before\n") and page.endswith("\nafter\n")
    assert section(read(page)) == text
    assert [[*column] for column in read(page).values()] == [
        [name for name in _scale_page.ROWS if name in column] for column in found.values()
    ]


def test_what_follows_is_computed():
    """The extrapolation is 100,000 times the CPU time, bytes and time of a submission, with units."""
    known = {"trusted": 0.36, "sandboxes": 0.72, "gradebook": 2, "files": 50}
    found = {title: made_up(case) | known for title, case in scale.cases(1_000).items()}
    text = section(found)
    assert "20 core-hours in sandboxes" in text and "10 for the trusted side" in text
    assert "0.2 GB in the gradebook and 5 GB in the course folder" in text
    assert "more than 10,000 submissions an hour, which makes 10 hours in total on one core" in text


def test_classes_by_size():
    """All classes up to the requested size are measured, with the variants for the smallest class."""
    assert [case.students for case in scale.cases(10_000).values()] == [
        100,
        1_000,
        10_000,
        100,
        100,
        100,
    ]
    assert [case.students for case in scale.cases(1_000).values()] == [100, 1_000, 100, 100, 100]
    assert [case.students for case in scale.cases(2).values()] == [2, 2, 2, 2]
    with pytest.raises(LookupError, match="two or more"):
        scale.run(1)


def test_a_run_writes_the_page_and_goes_on_where_it_stopped(tmp_path, monkeypatch):
    """A rerun does not repeat measurements; a small class is not written to the page."""
    need_module("distributed", "what a cluster is sent")
    page, done = tmp_path / "scale.md", []
    page.write_text(f"x\n{_scale_page.BEGIN}\n{_scale_page.END}\ny\n", "utf-8")
    monkeypatch.setattr(scale, "PAGE", page)
    monkeypatch.setattr(journal, "FOLDER", tmp_path / "build")

    def measure(case: scale.Case) -> dict[str, float]:
        done.append(case)
        if len(done) == 3:
            raise KeyboardInterrupt
        return made_up(case)

    monkeypatch.setattr(scale, "measured", measure)
    with pytest.raises(KeyboardInterrupt):
        scale.run(1_000)
    results = scale.run(1_000)
    assert [*dict.fromkeys(done)] == [*scale.cases(1_000).values()] and len(done) == 6
    assert {result.name for result in results if result.target} == {
        "peak memory, ratio",
        "open files, ratio",
        "time per submission, ratio",
    }
    written = page.read_text("utf-8")
    assert [*read(written)] == [*scale.cases(1_000)]
    scale.run(4)
    assert page.read_text("utf-8") == written


def test_computing_is_that_of_all_processes():
    """CPU time includes child processes that have ended, and excludes sandboxes."""
    child = f"{BUSY}sys.stdout.write('x')\nsys.stdout.flush()\nsys.stdin.readline()\n"
    process = psutil.Popen(
        [
            sys.executable,
            "-c",
            f"import subprocess, sys\nsubprocess.run(sys.argv[1:])\n{child}",
            sys.executable,
            "-c",
            child,
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    use = Use(process)
    for _ in range(2):
        process.stdout.read(1)  # it has used CPU time and waits
        use.sample()
        process.stdin.write(b"\n")
        process.stdin.flush()
    process.communicate()
    assert 2 * SPENT <= use.seconds < 4 * SPENT
    assert use.sandbox_seconds == use.sandbox_memory == 0
    assert use.memory > 1e6 and use.files > 0


def test_a_relay_counts_both_ways():
    """The relay forwards and counts the bytes of both the client and the server."""

    class Doubled(socketserver.StreamRequestHandler):
        def handle(self):
            self.wfile.write(2 * self.rfile.readline())

    with socketserver.TCPServer(("127.0.0.1", 0), Doubled) as server:
        thread = threading.Thread(target=server.handle_request)
        thread.start()
        with relay(f"tcp://127.0.0.1:{server.server_address[1]}") as between:
            port = int(between.address.rpartition(":")[2])
            with (
                socket.create_connection(("127.0.0.1", port)) as client,
                client.makefile("rb") as answer,
            ):
                client.sendall(b"hello\n")
                assert answer.read() == b"hello\nhello\n"
            assert (between.sent, between.received) == (6, 12)
        thread.join()


def test_longer_modules_are_the_same_modules():
    """The modules are ten times as long and still define the same names."""
    text = module_texts(load_study(scale.STUDY))["reference"]
    long = _longer(text, 10)
    assert long.startswith(text) and _longer(text, 1) == text
    assert 9.5 * len(text) < len(long) < 10.5 * len(text)
    compile(long, "module", "exec")


@pytest.mark.slow
def test_a_small_class_is_measured_on_a_cluster():
    """Every row has its number, and both sides used CPU time."""
    need_module("distributed", "what a cluster is sent")
    need_isolation()
    case = scale.Case(2, cluster=True, feedback=True)
    found = scale.measured(case)
    assert set(found) == set(made_up(case))
    assert all(found[name] > 0 for name in set(found) - {"gradebook", "time"})
    assert found["sent"] > 1  # kB: at least a module
