"""A check has the same time limit at home and in grading, and texts name it."""

from dataclasses import replace

import pytest

from autograder import workspace
from autograder.grading.records.reference_timing import DEFAULT_FACTOR, MIN_SECONDS
from autograder.grading.run.nbgrader_steps import GradingStep
from autograder.studies import hidden_cases
from common.clock import IDLE_SECONDS, Clock, speed_factor, time_fixed_work
from course.check import Explanation, explain_check
from course.checks import MAX_SECONDS, Check, load_study, studies
from course.checks.marking.explain import why_stopped
from course.checks.marking.outcome import NO_ANSWER
from course.checks.questions import MATCHES
from course.checks.replies import Replies
from course.checks.running import in_process, process

CHECKS = [check for name in studies() for check in load_study(name).checks.values()]
RUNS = 3  # the shortest one counts: other work on the machine only adds computing time
SLOW = "from time import process_time\nwhile process_time() < {}:\n    pass\n"


class _Started(Exception):
    """Raised when a clock is started, with the limit."""


@pytest.fixture
def _clocks_report(monkeypatch):
    """The clock of a check raises an error with its limit instead of starting."""

    class Reporting(Clock):
        def __init__(self, meter, seconds, *rest, **options):
            raise _Started(seconds)

    for module in (process, in_process):
        monkeypatch.setattr(module, "Clock", Reporting)


def home_limit(query, check: Check, path) -> float:
    with pytest.raises(_Started) as error:
        query(path, check)
    return error.value.args[0]


@pytest.mark.usefixtures("_clocks_report")
@pytest.mark.parametrize("name", studies())
def test_every_check_has_the_same_limit_at_home_and_in_grading(name, monkeypatch, tmp_path):
    """Grading without options of the instructor uses the limit of `check`, on any machine."""
    asked: dict[str, float] = {}

    def ask(_step, _folder, _study, check, seconds):
        asked.setdefault(check.id, seconds)
        return Replies((None,) * len(check.cases), broken="not run")

    monkeypatch.setattr(GradingStep, "_ask", ask)
    study, hidden = load_study(name), hidden_cases.hidden_study(name)
    module = tmp_path / study.module
    module.write_text("", "utf-8")
    for check in study.checks.values():
        GradingStep(isolation="process", needed={check.id: 60}).mark(check.id, tmp_path)
        assert hidden.checks[check.name].time_limit == check.time_limit
        assert asked[check.id] == check.time_limit
        if check.ask not in MATCHES:  # games have a clock of their own
            assert MIN_SECONDS <= check.time_limit <= MAX_SECONDS
            assert home_limit(in_process.query_module, check, module) == check.time_limit
    first = next(check for check in study.checks.values())
    if first.ask not in MATCHES:
        assert home_limit(process.query_module, first, module) == first.time_limit


@pytest.mark.slow
@pytest.mark.content
@pytest.mark.parametrize("name", studies())
def test_limits_are_about_twenty_times_the_time_of_the_reference(name):
    """Limits leave room for slow code. Ten times is enough here, because measured times vary.

    The times are those of an idle server (see `common.clock`), because this machine may be slower.
    """
    for study in (load_study(name), hidden_cases.hidden_study(name)):
        checks = [check.name for check in study.checks.values() if check.ask not in MATCHES]
        text = workspace.module_texts(study)["reference"]
        runs, fixed = [], time_fixed_work()
        for _ in range(RUNS):
            runs.append(workspace.run_checks(study, text, 60, checks))
            fixed += time_fixed_work()
        for check in checks:
            needed = min(run[check].computed for run in runs) / min(fixed) * IDLE_SECONDS
            assert DEFAULT_FACTOR / 2 * needed <= study.checks[check].time_limit, check


def test_a_stopped_check_names_the_limit_of_grading_only_if_it_is_the_same():
    """A limit that was given to `check`, or set by an instructor, is not called that of grading."""
    stopped = f"stopped after 2 s of computing time{NO_ANSWER}f(1)"
    assert "at home and in grading" in why_stopped(stopped, 2.0)
    assert "at home and in grading" not in why_stopped(stopped, 3.0)
    assert "at home and in grading" not in why_stopped(stopped)


def test_a_module_that_may_still_be_loading_is_not_said_to_compute():
    """If no question was answered, the module's own statements may have taken the time."""
    stopped = f"stopped after 2 s of computing time{NO_ANSWER}f(1)"
    assert "while your code was being loaded or computed" in why_stopped(stopped, 2.0, True)
    assert "loaded" not in why_stopped(stopped, 2.0, False)


@pytest.mark.parametrize(("seconds", "is_near"), [(0.05, False), (1.2, True)])
def test_slow_code_is_warned_at_home(seconds, is_near, tmp_path):
    """Hidden positions may take longer, so `check` shows the limit before it is reached."""
    study = load_study("study3")
    check = study.checks["lane_counts"]
    module = tmp_path / study.module
    answer = workspace.module_texts(study)["reference"]
    module.write_text(answer + SLOW.format(seconds * speed_factor()), "utf-8")
    found = explain_check(replace(check), module)
    assert isinstance(found, Explanation)
    assert found.outcome.full
    assert ("The limit is 2 s, also in grading" in repr(found)) == is_near
