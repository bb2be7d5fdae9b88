"""A signal to `grade` ends all its processes, and the next run gives an undisturbed run's results."""

import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from autograder.benchmarks.support.classes import booked, generated_class
from autograder.benchmarks.support.signals import Command, adopting
from autograder.course_folder import CourseFolder
from autograder.tests.support.content import CLASSES
from common.clock import measure_speed_factor
from course.checks import load_study

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="adopts orphans, which only Linux can"),
]

CONTENT = pytest.mark.content(inputs=CLASSES)
SIGNALS = tuple(
    number
    for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGINT, signal.SIGHUP)
    if signal.getsignal(number) is not signal.SIG_IGN  # nohup ignores SIGHUP
)
STUDENTS = {"minimax": 3, "type_a": 3, "league": 1}
# The ladder takes minutes, so it uses the stub as the module and has fewer runs.
LONG = "league"
SEED = 7
# Seconds of CPU time in which all processes end, independent of load. A worker that continued would
# play or start a sandbox, and would need more.
COMPUTING = 3.0
PATIENCE = 600
ROOT = Path(__file__).parents[4]


def command(folder: CourseFolder, study: str, jobs: int) -> list[str]:
    """The command that grades a class."""
    return [
        sys.executable,
        "-m",
        "autograder",
        "grade",
        study,
        "--course",
        str(folder.root),
        "--jobs",
        str(jobs),
    ]


@pytest.fixture(scope="module")
def undisturbed(request, tmp_path_factory):
    """An ungraded class, its study, its gradebook after grading, and the seconds that grading
    takes.
    """
    study = request.param
    folder = generated_class(tmp_path_factory.mktemp(study) / "fresh", study, STUDENTS[study])
    if study == LONG:
        table = load_study(study)
        shutil.copy(
            folder.release(table.assignment) / table.module,
            folder.submission(table.assignment, "s00000"),
        )
    calm = CourseFolder(shutil.copytree(folder.root, folder.root.with_name("calm")))
    begun = time.monotonic()
    subprocess.run(command(calm, study, 2), cwd=ROOT, check=False, capture_output=True)
    return folder, study, booked(calm), time.monotonic() - begun


@pytest.mark.parametrize(
    "undisturbed, jobs",
    [
        *((study, jobs) for study in STUDENTS if study != LONG for jobs in (1, 2)),
        pytest.param(LONG, 2, marks=CONTENT),
    ],
    indirect=["undisturbed"],
)
def test_a_signal_ends_all_processes_and_the_next_run_continues(undisturbed, tmp_path, jobs):
    """After any signal at any moment, no process continues and no mark is lost or wrong."""
    fresh, study, wanted, seconds = undisturbed
    folder = CourseFolder(shutil.copytree(fresh.root, tmp_path / "course"))
    chance = random.Random(f"{SEED} {study} {jobs}")
    with adopting():
        for number in SIGNALS[:2] if study == LONG else SIGNALS:
            grading = Command(
                command(folder, study, jobs),
                cwd=ROOT,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            time.sleep(chance.uniform(0, 0.7 * seconds))
            ending = grading.end(number, COMPUTING * measure_speed_factor(), PATIENCE)
            assert not ending.left, f"{number.name} after {ending.computed:.1f} s of computing"
    done = subprocess.run(
        command(folder, study, jobs), cwd=ROOT, check=False, text=True, capture_output=True
    )
    assert done.returncode in (0, 1), done.stderr  # 1: a submission needs review
    assert booked(folder) == wanted
