"""Grading on a Dask cluster gives the marks of local grading, whatever happens to the cluster.

The workers are real and have only the worker kit, which must therefore be sufficient.
"""

import contextlib
import itertools
import operator
import os
import random
import shutil
import subprocess
import sys
import threading
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from autograder import workspace
from autograder.benchmarks.support.cluster import START, LocalCluster, free_port, local_cluster
from autograder.course_folder import CONFIG_FILE, CourseFolder
from autograder.grading.records.ledger import read_results
from autograder.grading.run.batch import grade
from autograder.reporting.export import read_marks
from autograder.sandbox import cluster as sandbox_cluster
from autograder.sandbox.client import Sandbox, SandboxFault
from autograder.sandbox.cluster import (
    Cluster,
    ClusterSandbox,
    ClusterUnavailable,
    worker_requirements,
)
from autograder.sandbox.limits import SandboxLimits
from autograder.sandbox.watch import watch_cluster
from autograder.sandbox.worker import worker_kit_digest
from autograder.studies import hidden_cases
from autograder.tests.support.content import CLASSES
from autograder.tests.support.courses.classes import make_course
from autograder.tests.support.needs import need_isolation, need_module, need_program
from common.clock import WaitBudget
from course.checks import Check, load_study
from sequence import Greedy
from sequence.league import LeagueError, league
from sequence.league import cluster as league_cluster
from sequence.league.cluster import executor

need_module("distributed", "grading on a cluster")
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("cluster")]  # one cluster for all tests

CONTENT = pytest.mark.content(inputs=CLASSES)
STUDY = load_study("study2")
MODULES = workspace.module_texts(STUDY)
CLASS = {
    "ann": "reference",
    "bea": "stub",
    "cem": "second",
    "dora": [*MODULES][3],
    "ed": [*MODULES][4],
    "flo": "endless",
    "gus": "broken",
}
TEXTS = MODULES | {"endless": "while True:\n    pass\n", "broken": "def AlphaBeta(:\n"}
LADDER = Check(
    "study10",
    "ladder",
    "match",
    {"deals": 2},
    {"strength": 6, "legal": 2},
    False,
    [{"against": "Random", "agent": "Random", "rates": [0.1, 0.6], "seed": 1}],
    seconds=600,
)
QUICK = """
import random
from sequence.agents.beliefs import sample
from sequence.agents.evaluation import best_action

class MyAgent:
    def choose(self, observation):
        return best_action(sample(observation, random.Random(1)))
"""
RAISES = "class MyAgent:\n    def choose(self, observation):\n        raise ZeroDivisionError\n"
NO_BWRAP = """
import autograder.sandbox.launch

autograder.sandbox.launch.bubblewrap = lambda: "/nowhere/bwrap"
"""


@pytest.fixture(scope="module")
def course_template(tmp_path_factory) -> CourseFolder:
    """A course with the class's submissions, ungraded, shared and never modified."""
    folder = make_course(tmp_path_factory.mktemp("released") / "course", STUDY)
    for student, name in CLASS.items():
        target = folder.submission(STUDY.assignment, student)
        shutil.copytree(folder.release(STUDY.assignment), target)
        (target / STUDY.module).write_text(TEXTS[name], "utf-8")
    return folder


@pytest.fixture
def course(course_template, tmp_path) -> CourseFolder:
    """A copy of that course for one test."""
    return CourseFolder.open(shutil.copytree(course_template.root, tmp_path / "course"))


@pytest.fixture(scope="module")
def here(course_template, tmp_path_factory) -> list:
    """The results of local grading."""
    need_isolation()
    folder = CourseFolder.open(
        shutil.copytree(course_template.root, tmp_path_factory.mktemp("here") / "course")
    )
    return booked(folder, grade(folder, STUDY))


@pytest.fixture(scope="module")
def cluster(tmp_path_factory) -> LocalCluster:
    """A cluster with two workers."""
    need_isolation()
    with local_cluster(tmp_path_factory.mktemp("cluster")) as cluster:
        yield cluster


@pytest.fixture
def connection(cluster) -> Cluster:
    """A connection to the cluster."""
    with contextlib.closing(Cluster(cluster.address)) as connection:
        yield connection


def booked(folder: CourseFolder, graded: list) -> list:
    """Everything reported about a class: marks, outcomes and problems, without times."""
    outcomes = {
        (student, name): [outcome | {"seconds": 0} for outcome in found["outcomes"]]
        for student in CLASS
        for name, found in read_results(folder.results(STUDY.assignment, student)).items()
    }
    return [
        replace(read_marks(folder), folder=None),
        [replace(result, seconds=0) for result in graded],
        outcomes,
    ]


def _other_studies(folder: Path) -> Path:
    """A folder of studies that gives a worker another version of the kit."""
    questions = folder / "course" / "study99_other" / "_check"
    questions.mkdir(parents=True)
    (questions / "questions.py").write_text("'''Another study.'''\n\nQUESTIONS = {}\n", "utf-8")
    return folder


def test_the_marks_are_those_of_this_machine(course, cluster, here):
    """Correct, blank, wrong, endless and broken submissions have equal marks, causes and problems."""
    assert booked(course, grade(course, STUDY, overrides={"scheduler": cluster.address})) == here


@CONTENT
def test_a_run_goes_on_whatever_the_cluster_goes_through(course, tmp_path, here):
    """Workers are killed during their work and the scheduler stops for a while: nothing is lost or
    marked twice.
    """
    with local_cluster(tmp_path) as cluster:
        over = threading.Event()

        def disturb() -> None:
            for kind in ("worker", "scheduler", "worker", "worker"):
                if over.wait(4):
                    return
                if kind == "scheduler":
                    cluster.restart_scheduler(away=2)
                else:
                    cluster.kill_worker(-1)

        trouble = threading.Thread(target=disturb)
        trouble.start()
        done = []
        try:
            graded = grade(
                course, STUDY, overrides={"scheduler": cluster.address}, done=done.append
            )
        finally:
            over.set()
            trouble.join()
    assert sorted(result.student for result in done) == sorted(CLASS)
    assert [result for result in graded if result.status == "fault"] == []
    assert booked(course, graded) == here


@CONTENT
def test_every_thread_gets_its_own_replies_whatever_the_cluster_goes_through(tmp_path, monkeypatch):
    """Many short tasks return their results and errors while workers and scheduler are killed at
    random and the connection is checked repeatedly; every caller gets its own task's result.
    """
    monkeypatch.setattr(sandbox_cluster, "CLUSTER_POLL_SECONDS", 0.02)
    rng, over, wrong = random.Random(1), threading.Event(), []

    def disturb() -> None:
        for kind in rng.sample(["worker"] * 3 + ["scheduler"] * 2, 5):
            if over.wait(rng.uniform(0.5, 4)):
                return
            if kind == "scheduler":
                cluster.restart_scheduler(away=rng.uniform(0, 3))
            else:
                cluster.kill_worker(rng.randrange(2))

    def work(thread: int) -> None:
        for number in itertools.count():
            if over.is_set():
                return
            try:
                given = connection.run(
                    *[
                        (operator.mul, number, thread),
                        (time.sleep, 0.5),
                        (operator.truediv, number, 0),
                    ][number % 3]
                )
            except Exception as error:
                given = type(error)
            if given != [number * thread, None, ZeroDivisionError][number % 3]:
                wrong.append((number, given))

    with (
        local_cluster(tmp_path) as cluster,
        contextlib.closing(Cluster(cluster.address)) as connection,
        ThreadPoolExecutor(4) as threads,
    ):
        working = [threads.submit(work, thread) for thread in range(4)]
        try:
            disturb()
        finally:
            over.set()
        for thread in working:
            thread.result(120)
    assert wrong == []


def test_a_ladder_is_played_here_with_an_agent_there(connection):
    """The deals, and therefore the replies, equal those of a ladder in a local sandbox."""
    for text in (QUICK, RAISES):
        files = {"my_agent.py": text.encode()}
        with Sandbox(SandboxLimits()) as sandbox:
            ours = sandbox.run_check(files, "my_agent.py", LADDER, 600, secret="s")
        theirs = ClusterSandbox(connection, SandboxLimits()).run_check(
            files, "my_agent.py", LADDER, 600, secret="s"
        )
        assert theirs == ours


def test_other_modules_run_there(connection):
    """The test covers output, a missing function, and other files of the module's folder."""
    check = hidden_cases.hidden_study(STUDY.name).checks["alpha_beta"]
    sandbox = ClusterSandbox(connection, SandboxLimits())
    assert sandbox.run_check({}, STUDY.module, check, 5).broken == f"{STUDY.module} is missing"
    with Sandbox(SandboxLimits()) as ours:
        for text in (MODULES["reference"], "import os\nos._exit(0)\n"):
            files = {STUDY.module: text.encode()}
            assert sandbox.run_check(files, STUDY.module, check, 20) == ours.run_check(
                files, STUDY.module, check, 20
            )


@CONTENT
def test_the_budget_of_waiting_holds_there(connection):
    """A submission's modules, notebooks and games share one budget; the next submission has a new
    one.
    """
    budget, sleeps = WaitBudget(1), b"import time\ntime.sleep(600)\n"
    sandbox = ClusterSandbox(connection, SandboxLimits(), waiting=budget)
    check = STUDY.checks["alpha_beta"]
    for _ in range(2):
        found = sandbox.run_check({STUDY.module: sleeps}, STUDY.module, check, 2)
        assert found.stopped == budget.reason
    assert 1 < budget.spent < 10
    assert sandbox.run_cells({}, [sleeps.decode()], 2, 2, 2).stopped == budget.reason
    spent = budget.spent
    games = sandbox.run_check({"my_agent.py": sleeps}, "my_agent.py", LADDER, 60)
    assert "waiting, for example" in str(games)
    assert spent < budget.spent < 20
    reference = MODULES["reference"].encode()
    assert not sandbox.run_check({STUDY.module: reference}, STUDY.module, check, 60).stopped
    other = ClusterSandbox(connection, SandboxLimits())
    ran = other.run_cells({}, ["import time\ntime.sleep(1.5)"], 2, 2, 2)
    assert (ran.stopped, ran.late) == (None, {})


@CONTENT
def test_workers_that_do_not_fit_are_named_and_not_used(cluster, connection, tmp_path):
    """One has another kit, one has none and one cannot isolate; the others do all the work."""
    preload = tmp_path / "preload.py"
    preload.write_text(NO_BWRAP, "utf-8")
    (tmp_path / "other").mkdir()
    for name in ("autograder", "sequence"):  # a stranger's worker: the kit cannot be imported
        (tmp_path / "other" / f"{name}.py").touch()
    strangers = [
        cluster.add_worker("--name", "stranger", COURSE_STUDIES=str(_other_studies(tmp_path))),
        cluster.add_worker("--name", "empty", PYTHONPATH=str(tmp_path / "other")),
        cluster.add_worker("--name", "open", "--preload", str(preload)),
    ]
    try:
        cluster.wait(5)
        said = []
        with contextlib.closing(Cluster(cluster.address, said.append)) as watched:
            assert watched.slots(worker_requirements(SandboxLimits())) == 2
            check = hidden_cases.hidden_study(STUDY.name).checks["alpha_beta"]
            files = {STUDY.module: MODULES["reference"].encode()}
            for _ in range(6):
                assert (
                    not ClusterSandbox(watched, SandboxLimits())
                    .run_check(files, STUDY.module, check, 20)
                    .broken
                )
        assert len(said) == 3
        assert any("PYTHONPATH" in line and "'autograder' is not" in line for line in said)
        assert any("another version of the kit" in line for line in said)
        assert any("cannot be isolated" in line and "bwrap" in line for line in said)
        with (
            pytest.raises(LeagueError, match=r"lacks the kit .*PYTHONPATH"),
            executor(cluster.address),
        ):
            pass
        # A worker that has not been checked reports this itself when it receives work.
        work = ClusterSandbox(connection, SandboxLimits())
        for _ in range(8):
            assert not work.run_check(files, STUDY.module, check, 20).broken
    finally:
        for stranger in strangers:
            stranger.terminate()
            stranger.wait()


def test_a_scheduler_without_the_kit_is_named(tmp_path):
    """The scheduler deserialises messages; the workers are not blamed."""
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "autograder.py").touch()
    with contextlib.closing(LocalCluster(tmp_path, workers=1)) as cluster:
        cluster.start_scheduler(PYTHONPATH=str(tmp_path / "other"))
        cluster.add_worker()
        cluster.wait(1)
        with contextlib.closing(Cluster(cluster.address)) as connection:
            for ask in (
                lambda: connection.slots(worker_requirements(SandboxLimits())),
                lambda: connection.run(worker_kit_digest),
            ):
                with pytest.raises(ClusterUnavailable, match=r"the scheduler at .* lacks this kit"):
                    ask()


@CONTENT
def test_the_dashboard_shows_what_the_cluster_does(tmp_path):
    """It works with the extra `cluster` and the settings of the worker kit."""
    place = f"127.0.0.1:{free_port()}"
    with (
        local_cluster(tmp_path, workers=1, dashboard=place),
        urllib.request.urlopen(f"http://{place}/status", timeout=START) as page,
    ):
        assert b"bokeh" in (text := page.read()).lower() and b"needs bokeh" not in text.lower()


@CONTENT
def test_work_goes_to_workers_that_come_later(tmp_path, monkeypatch):
    """One task can run on only one worker, since the other is unsuitable; that worker leaves for
    good.
    """
    monkeypatch.setattr(sandbox_cluster, "CLUSTER_POLL_SECONDS", 0.5)
    with (
        local_cluster(tmp_path, workers=1) as cluster,
        contextlib.closing(Cluster(cluster.address)) as connection,
        ThreadPoolExecutor(1) as thread,
    ):
        cluster.add_worker(COURSE_STUDIES=str(_other_studies(tmp_path)))
        cluster.wait(2)
        assert connection.slots(worker_requirements(SandboxLimits())) == 1
        task = thread.submit(connection.run, time.sleep, 6)
        cluster.end_worker(0)
        cluster.add_worker()
        assert task.result(120) is None


def test_a_cluster_without_a_worker_that_fits_is_refused(connection):
    """The message names each worker with the reason."""
    other = replace(worker_requirements(SandboxLimits()), kit="another")
    with pytest.raises(ClusterUnavailable, match=r"no usable worker; tcp://.*another version"):
        connection.slots(other)


def test_what_ends_workers_is_a_fault_of_its_own(cluster, connection):
    """A task that kills one worker after another is not repeated for ever."""
    with pytest.raises(SandboxFault, match="one after another"):
        connection.run(os._exit, 1)
    cluster.wait(2)


@CONTENT
def test_a_cluster_is_watched(tmp_path, monkeypatch):
    """A message reports a scheduler that disappears and returns, and about an unsuitable
    worker.
    """
    monkeypatch.setattr(sandbox_cluster, "CONNECT_SECONDS", 3.0)  # shorter absences do not count
    said: list[str] = []

    def wait_for(words: str) -> None:
        end = time.monotonic() + START
        while not any(words in line for line in said):
            assert time.monotonic() < end, said
            time.sleep(0.1)

    with (
        local_cluster(tmp_path, workers=1) as cluster,
        watch_cluster(
            cluster.address,
            worker_requirements(SandboxLimits()),
            said.append,
            max_outage_seconds=77,
            poll_seconds=0.5,
        ) as slots,
    ):
        assert slots == 1
        cluster.add_worker(COURSE_STUDIES=str(_other_studies(tmp_path)))
        wait_for("another version of the kit")
        cluster.restart_scheduler(away=10)
        wait_for("waiting for it for at most 77 s")
        wait_for("is available again")
    assert len(said) < 6  # not one per check


@pytest.mark.parametrize("jobs", [[], ["--jobs", "1"]])
def test_there_is_no_scheduler(course, jobs):
    """One message is shown and no submission is marked, however many run in parallel."""
    command = [
        sys.executable,
        "-P",
        "-m",
        "autograder",
        "grade",
        STUDY.name,
        "--course",
        str(course.root),
        "--scheduler",
        "tcp://127.0.0.1:9",
        *jobs,
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "no scheduler can be reached at tcp://127.0.0.1:9" in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(course.root.glob("results/*/*/submission.json"))


def test_a_cluster_and_no_isolation_are_not_combined(course):
    """With both, submissions would run locally next to the gradebook."""
    command = [
        sys.executable,
        "-P",
        "-m",
        "autograder",
        "grade",
        STUDY.name,
        "--course",
        str(course.root),
        "--scheduler",
        "tcp://127.0.0.1:9",
        "--isolation",
        "process",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, "use only one of" in done.stderr) == (2, True), done.stderr


@CONTENT
def test_waiting_has_a_limit(tmp_path):
    """Waiting for a scheduler or a worker ends with a message after the given time."""
    gone = Cluster("tcp://127.0.0.1:9", max_outage_seconds=0)
    with pytest.raises(ClusterUnavailable, match="no scheduler can be reached"):
        gone.run(os.getpid)
    with (
        local_cluster(tmp_path, workers=0) as empty,
        contextlib.closing(Cluster(empty.address, max_outage_seconds=0)) as connection,
        pytest.raises(ClusterUnavailable, match="no usable worker for 0 s"),
    ):
        connection.run(os.getpid)


@CONTENT
def test_a_cluster_that_stays_away_leaves_the_rest_for_later(course):
    """The first task reports the problem, the others are not started, and nothing is marked."""
    with (course.root / CONFIG_FILE).open("a", encoding="utf-8") as file:
        file.write("c.GradingStep.cluster_seconds = 0\n")
    graded = grade(course, STUDY, overrides={"scheduler": "tcp://127.0.0.1:9"}, jobs=1)
    assert [result.status for result in graded].count("fault") == 1
    assert {result.status for result in graded} == {"fault", "left"}
    assert any(
        "no scheduler can be reached" in line for result in graded for line in result.problems
    )
    assert not list(course.root.glob("results/*/*/submission.json"))


def test_an_encrypted_cluster_takes_only_who_has_a_key(tmp_path):
    """TLS set up with the guide's commands: it works with the key and refuses without it."""
    need_program("openssl", "TLS between scheduler and workers")
    guide = (Path(__file__).parents[4] / "docs" / "scale.md").read_text("utf-8")
    (commands,) = (block for block in guide.split("```\n") if "openssl req" in block)
    home = {**os.environ, "HOME": str(tmp_path)}
    subprocess.run(["/bin/sh", "-e", "-c", commands], env=home, check=True, capture_output=True)
    code = (
        "import sys\nfrom autograder.sandbox.cluster import Cluster\nimport os\n"
        "print(Cluster(sys.argv[1], max_outage_seconds=0).run(os.getpid) > 0)"
    )
    with local_cluster(tmp_path, workers=1, protocol="tls", environment=home) as cluster:
        for environment, said in ((home, "True"), (os.environ, "no scheduler can be reached")):
            done = subprocess.run(
                [sys.executable, "-P", "-c", code, cluster.address],
                env=environment,
                capture_output=True,
                text=True,
                check=False,
            )
            assert said in done.stdout + done.stderr


def test_the_doctor_asks_there(connection):
    """Thousands of mutants can use many machines, and their replies are the same as locally."""
    study = hidden_cases.hidden_study(STUDY.name)
    ours = [workspace.run_checks(study, MODULES[name]) for name in ("reference", CLASS["dora"])]
    with workspace.use_cluster(connection):
        assert workspace.max_parallel() == 2
        assert [
            workspace.run_checks(study, MODULES[name]) for name in ("reference", CLASS["dora"])
        ] == ours
    assert workspace.max_parallel() == (os.cpu_count() or 1)


@CONTENT
def test_a_league_there_is_the_league_here(cluster, tmp_path):
    """All games are identical, including the last replay; an agent's file and its imports are sent
    along.
    """
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "helper.py").write_text(
        "def first(actions):\n    return actions[0]\n", "utf-8"
    )
    agent = tmp_path / "mine" / "agent.py"
    agent.write_text(
        "from helper import first\n\n\nclass First:\n    def choose(self, observation):\n"
        "        return first(list(observation.legal_actions()))\n",
        "utf-8",
    )
    names = ["Random", "Greedy", f"mine={agent}"]
    ours = league(names, deals=2, seed=5, out=tmp_path / "ours")
    with executor(cluster.address) as elsewhere:
        theirs = league(names, deals=2, seed=5, out=tmp_path / "theirs", jobs=elsewhere)
    assert [[row.agent, row.rating, row.wins, row.ties, row.warnings] for row in theirs.rows] == [
        [row.agent, row.rating, row.wins, row.ties, row.warnings] for row in ours.rows
    ]
    replays = {path.name: path.read_text("utf-8") for path in tmp_path.glob("ours/replays/*")}
    assert len(replays) == 12
    assert {
        path.name: path.read_text("utf-8") for path in tmp_path.glob("theirs/replays/*")
    } == replays
    with (
        pytest.raises(LeagueError, match="give its module or its file"),
        executor(cluster.address) as elsewhere,
    ):
        league([Greedy, "Random"], deals=1, jobs=elsewhere)


@CONTENT
def test_a_league_whose_workers_are_all_lost_ends(tmp_path, monkeypatch):
    """It waits a while for other workers, and reports that the same league can be continued."""
    monkeypatch.setattr(league_cluster, "WORKER_TIMEOUT", 2.0)
    monkeypatch.setattr(league_cluster, "CLUSTER_POLL_SECONDS", 0.5)
    out = tmp_path / "out"

    def end_workers() -> None:
        while not list(out.glob("replays/*")):
            time.sleep(0.1)
        cluster.end_workers()

    with local_cluster(tmp_path, workers=1) as cluster, executor(cluster.address) as elsewhere:
        ending = threading.Thread(target=end_workers)
        ending.start()
        with pytest.raises(LeagueError, match="the connection to the cluster was lost"):
            league(["Random", "Greedy"], deals=2_000, seed=5, out=out, jobs=elsewhere)
        ending.join()
