"""Draws hidden positions from a seed, and keeps a small set of them that sees every mutant twice.

The mutants are those of `autograder/mutants/`, outsiders' wrong modules among them, and those that
a machine makes. First come as many fresh cases as a check has now. Mutants that fewer than two of
them see are asked more, portion by portion, until two see them or the sample is used up. What no
fresh case shows, an old case may: some are made by hand, of what chance hardly ever draws; and what
none shows alone, all old cases of a check together may, as for a module that remembers. Of all
these cases the fewest are kept that see as much, once every mutant was asked them; choosing is
greedy, as for any set cover.
"""

import random
import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import NamedTuple

from autograder import verdicts, workspace
from autograder.doctor.by_machine import LEAST, SLOWER, prove_by_machine
from autograder.doctor.fresh_cases import fresh_cases, require_drawable
from autograder.doctor.machine_mutants import machine_mutants
from autograder.errors import Refused
from autograder.mutants import Mutant, load_mutants, load_outsiders
from autograder.release.leaks import public_files
from autograder.workspace.reach import Reach
from course.probes import Case, Check, Observation, Study, load_study
from course.probes.outcome import is_right
from course.probes.question import texts_of
from course.probes.questions import MATCHES

WANTED = 2  # cases that see a mutant, where there are as many
AT_ONCE = 20  # fresh cases of each check in the second portion; each later one is twice as large
SAMPLE = 400  # fresh cases of each check, at most
BESIDE = 3  # more sets that would do, asked together with one that was asked in part
NODES_OF_A_CASE = 20  # which a module may search in the time that any case takes
REASON = "sees "  # how the reason for a case begins
Need = tuple[str, str]  # the mutant, and "" or the "check.aspect" that it must lose


@dataclass(frozen=True)
class Chosen:
    """The cases of one check, each with what it alone is there for."""

    check: Check
    cases: Sequence[Case]
    reasons: Sequence[str]


@dataclass(frozen=True)
class Choice:
    """What a seed gave: the cases, and the mutants that no case or only one sees."""

    study: str
    seed: int
    checks: Sequence[Chosen]
    mutants: int
    once: Sequence[str]  # seen by one case only
    unseen: Sequence[str]  # machine-made and seen by none: equivalent, as far as the sample goes
    missing: Sequence[str]  # losses of named mutants that no case shows: the set cannot be used
    drawn: int


@dataclass
class _Seen:
    """Which needs each case meets: the cases of all checks, in the order in which they came."""

    cases: list[tuple[str, Case]] = field(default_factory=list)
    meets: list[set[Need]] = field(default_factory=list)
    nodes: list[int] = field(default_factory=list)  # that a right search visits
    taken: set[int] = field(default_factory=set)  # numbers of cases that were taken out

    def numbers(self, checks: Mapping[str, Check]) -> list[int]:
        """The numbers of the cases that these checks have, without those that were taken out."""
        return [
            number
            for number, (name, case) in enumerate(self.cases)
            if number not in self.taken and case in checks[name].cases
        ]

    def take(self, numbers: Iterable[int], checks: Mapping[str, Check]) -> dict[str, Check]:
        """Take these cases out, to be asked again; returns their checks with them alone."""
        cases = defaultdict(list)
        for number in numbers:
            name, case = self.cases[number]
            cases[name].append(case)
            self.taken.add(number)
            self.meets[number] = set()
        return {name: replace(checks[name], cases=cases[name]) for name in checks if name in cases}

    def counts(self) -> Counter[Need]:
        return Counter(need for needs in self.meets for need in needs)


class _Tried(NamedTuple):
    """A mutant's text, and the checks that reach what it changes, the one it belongs to first."""

    text: str
    checks: Sequence[str]


def choose_cases(
    study_name: str,
    seed: int,
    sample: int = SAMPLE,
    *,
    keep: bool = False,
    equivalent: Container[str] = (),
    done: Callable[[str], None] = lambda said: None,
) -> Choice:
    """Draw the cases of a study from `seed` and choose among them; `done` is told of each mutant.

    With `keep` the present cases stay, and the drawn ones are what they lack. Mutants that are
    known to be `equivalent` are asked the first portion only. Checks that are games keep their
    cases; raises `Refused` if a study has no others.
    """
    study, hidden = load_study(study_name), verdicts.hidden_study(study_name)
    asked = {name: check for name, check in hidden.checks.items() if check.ask not in MATCHES}
    if not asked:
        raise Refused(
            f"{study.name} has no positions to draw: its checks are games, whose deals "
            "come from the course's own secret"
        )
    for name, check in asked.items():
        require_drawable(check, [*check.cases, *study.checks[name].cases])
    texts, named, outside = _mutants(study)
    rng = random.Random(f"cases of {study.name} {seed}")
    public = b"\0".join(path.read_bytes() for path in public_files())
    fresh = {
        name: _untold(public, fresh_cases(check, [*check.cases, *study.checks[name].cases], rng))
        for name, check in asked.items()
    }
    seen, answers = _Seen(), _answers(study)
    reach = Reach(replace(hidden, checks=asked), answers[0])
    tried = {
        name: _Tried(text, sorted(reach.checks(text), key=reach.size))
        for name, text in texts.items()
    }
    first = (
        asked
        if keep
        else {
            name: replace(check, cases=list(islice(fresh[name], len(check.cases))))
            for name, check in asked.items()
        }
    )  # as many as now
    _look(replace(hidden, checks=first), answers, tried, named, seen, done)
    present, whole = [*range(len(seen.cases) if keep else 0)], set(range(len(seen.cases)))
    unlike = {name: tried[name] for name in texts if name not in equivalent}
    sizes, again, asked_old, held = _portions(sample), tried, tried if keep else {}, keep
    while True:
        left = _seen_by_fewer(WANTED, unlike, named, seen)
        if portion := _portion(asked, fresh, left, next(sizes, 0) if left else 0):
            _look(replace(hidden, checks=portion), answers, left, named, seen, done)
        elif partly := set(kept := _fewest(seen, present)) - whole:
            if not again:  # few are left to be asked: others that would do go with them
                partly |= _others(seen, partly, whole)
            portion, before = seen.take(partly, asked), len(seen.cases)
            again = again or {name: tried[name] for name in named} | _seen_by_fewer(
                WANTED, unlike, named, seen
            )
            _look(replace(hidden, checks=portion), answers, again, named, seen, done)
            whole.update(range(before, len(seen.cases)))
            again = {}
        elif (left := _seen_by_fewer(1, unlike, named, seen)).keys() - asked_old.keys():
            asked_old = asked_old | left  # with those of before: an old case that was asked, too
            seen.take(seen.numbers(asked), asked)
            _look(replace(hidden, checks=asked), answers, asked_old, named, seen, done)
        elif not held and (
            lacking := {
                check
                for need in _missing(named, outside, seen)
                for check in _checks_of(need, tried)
            }
        ):
            # A module that remembers shows some things only on a case that follows another.
            held, before = True, len(seen.cases)
            portion = {name: check for name, check in asked.items() if name in lacking}
            seen.take(
                [number for number in seen.numbers(asked) if seen.cases[number][0] in lacking],
                asked,
            )
            _look(
                replace(hidden, checks=portion),
                answers,
                {name: tried[name] for name in named} | _seen_by_fewer(WANTED, unlike, named, seen),
                named,
                seen,
                done,
            )
            present = [*range(before, len(seen.cases))]
            whole.update(present)
        else:
            break
    counts = seen.counts()
    once = Counter(need for number in kept for need in seen.meets[number])
    return Choice(
        study.name,
        seed,
        [_chosen(hidden.checks[name], kept, seen) for name in asked],
        len(texts),
        [name for name in texts if once[name, ""] == 1],
        [
            name
            for name in texts
            if name not in named and name not in outside and not counts[name, ""]
        ],
        [" in ".join(filter(None, need)) for need in _missing(named, outside, seen)],
        len(seen.cases),
    )


def _missing(named: Mapping[str, Mutant], outside: Iterable[str], seen: _Seen) -> list[Need]:
    """The losses that tables list, and the outsiders' modules, of which no case shows anything."""
    counts = seen.counts()
    return [
        need
        for mutant in (*named, *outside)
        for need in _needs(mutant, named)
        if not counts[need] and (need[1] or mutant in outside)
    ]


def _checks_of(need: Need, tried: Mapping[str, _Tried]) -> Sequence[str]:
    """The checks that may meet a need."""
    mutant, aspect = need
    return [aspect.partition(".")[0]] if aspect else tried[mutant].checks


def _untold(public: bytes, cases: Iterable[Case]) -> Iterator[Case]:
    """Those of the cases whose positions stand nowhere in what students are given."""
    return (case for case in cases if not any(text.encode() in public for text in texts_of(case)))


def _portions(sample: int) -> Iterator[int]:
    """How many fresh cases of each check come in each portion, until the sample is used up."""
    size = AT_ONCE
    while sample > 0:
        yield min(size, sample)
        size, sample = 2 * size, sample - size


def _portion(
    asked: Mapping[str, Check],
    fresh: Mapping[str, Iterator[Case]],
    left: Mapping[str, _Tried],
    size: int,
) -> dict[str, Check]:
    """So many fresh cases of each check that one of the mutants is asked, while there are any."""
    wanted = set().union(*(tried.checks for tried in left.values()))
    return {
        name: replace(check, cases=cases)
        for name, check in asked.items()
        if name in wanted and (cases := list(islice(fresh[name], size)))
    }


def _seen_by_fewer(
    than: int, left: Mapping[str, _Tried], named: Mapping[str, Mutant], seen: _Seen
) -> dict[str, _Tried]:
    """The mutants of which fewer cases than this see something, with the checks that may see it."""
    counts, found = seen.counts(), {}
    for name, tried in left.items():
        needs = [aspect for _, aspect in _needs(name, named) if counts[name, aspect] < than]
        if needs:
            listed = {aspect.partition(".")[0] for aspect in needs}
            found[name] = _Tried(
                tried.text,
                tried.checks
                if "" in needs
                else [check for check in tried.checks if check in listed],
            )
    return found


def equivalent_mutants(study_name: str) -> set[str]:
    """The machine-made mutants that no present case sees: equivalent, as doctor has proved."""
    return {mutant.name for mutant in prove_by_machine(load_study(study_name), sample=0).equivalent}


def _mutants(study: Study) -> tuple[dict[str, str], dict[str, Mutant], list[str]]:
    """The text of each mutant by name, those among them that are named, and the outsiders'."""
    answer = workspace.answer_path(study).read_text("utf-8")
    named = {mutant.name: mutant for mutant in load_mutants(study.name)}
    texts = {name: mutant.apply(answer) for name, mutant in named.items()}
    texts |= {mutant.name: mutant.text for mutant in machine_mutants(answer)}
    outside = {
        f"outsider's {wrong.name}": wrong.apply(_answers(study)[-1])
        for wrong in load_outsiders(study)
        if not wrong.accepted
    }
    return texts | outside, named, list(outside)


def _needs(name: str, named: Mapping[str, Mutant]) -> Iterable[Need]:
    """What must be seen of a mutant: that it is wrong, and each loss that its table lists."""
    yield name, ""
    if name in named:
        yield from (
            (name, f"{check}.{aspect}")
            for check, aspects in named[name].loses.items()
            for aspect in aspects
        )


def _answers(study: Study) -> list[str]:
    """The texts of the right answers: the reference and, where there is one, the second."""
    path = workspace.answer_path(study)
    second = path.with_name(workspace.SECOND)
    return [file.read_text("utf-8") for file in (path, second) if file.is_file()]


def _look(
    portion: Study,
    answers: Sequence[str],
    left: Mapping[str, _Tried],
    named: Mapping[str, Mutant],
    seen: _Seen,
    done: Callable[[str], None],
) -> None:
    """Ask the mutants that are left the cases of a portion, and add what each case sees.

    A named mutant is asked all checks that reach it, as its table has to be right. Another is
    asked check by check until `WANTED` cases have seen it.

    A case on which the reference fails, or the second answer differs, is no question, and one on
    which a named mutant loses what its table does not list would make the table wrong: none of
    these is kept.
    """
    with ThreadPoolExecutor(workspace.at_once()) as pool:
        ours, *theirs = pool.map(lambda answer: workspace.ask_all(portion, answer, 60), answers)
    most = {name: max(LEAST, SLOWER * replies.seconds) for name, replies in ours.items()}
    sound = {
        check.name: [
            _is_sound(check, *replies)
            for replies in zip(
                ours[check.name].observations,
                *(second[check.name].observations for second in theirs),
                strict=True,
            )
        ]
        for check in portion.checks.values()
    }

    def losses(name: str) -> dict[str, list[set[str]]]:
        done(name)
        found = {check.name: [set() for _ in check.cases] for check in portion.checks.values()}
        for check in filter(None, map(portion.checks.get, left[name].checks)):
            (replies,) = workspace.ask_all(
                portion, left[name].text, checks=[check.name], most=most[check.name]
            ).values()
            found[check.name] = [
                _lost(check, expected, got) if good else set()
                for good, expected, got in zip(
                    sound[check.name],
                    ours[check.name].observations,
                    replies.observations,
                    strict=True,
                )
            ]
            if name not in named and sum(map(bool, chain(*found.values()))) >= WANTED:
                break
        return found

    with ThreadPoolExecutor(workspace.at_once()) as pool:
        lost = dict(zip(left, pool.map(losses, left), strict=True))
    for check in portion.checks.values():
        for number, case in enumerate(check.cases):
            if not sound[check.name][number]:
                continue
            meets = set()
            for name in left:
                aspects = lost[name][check.name][number]
                if name in named and aspects - set(named[name].loses.get(check.name, ())):
                    break
                meets |= (
                    {(name, ""), *((name, f"{check.name}.{a}") for a in aspects if name in named)}
                    if aspects
                    else set()
                )
            else:
                seen.cases.append((check.name, case))
                seen.meets.append(meets)
                seen.nodes.append(ours[check.name].observations[number].get("nodes") or 0)


def _is_sound(check: Check, expected: Observation | None, *theirs: Observation | None) -> bool:
    """Whether the reference answers a case, and the second answer answers it alike."""
    return (
        expected is not None
        and "errors" not in expected
        and not any(_lost(check, expected, second) for second in theirs)
    )


def _lost(check: Check, expected: Observation | None, got: Observation | None) -> set[str]:
    return {
        aspect
        for aspect in check.points
        if aspect in (expected or {}) and not is_right(check.ask, expected, got or {}, aspect)
    }


def _others(seen: _Seen, partly: Container[int], whole: Iterable[int]) -> set[int]:
    """Cases that would be kept if these could not be, nor those kept in their place, and so on.

    What spoils a case often spoils the next best, too.
    """
    found: set[int] = set()
    for _ in range(BESIDE):
        rest = replace(
            seen,
            meets=[
                set() if number in partly or number in found else needs
                for number, needs in enumerate(seen.meets)
            ],
        )
        found |= set(_fewest(rest)) - set(whole)
    return {number for number in found if seen.meets[number]}


def _fewest(seen: _Seen, first: Iterable[int] = ()) -> list[int]:
    """The numbers of the cases that are kept, in their order; the `first` are among them.

    Greedily: the case comes next that meets most of what is still wanted for what it costs, as
    everybody's module has to make its search.
    """
    wanted = Counter({need: min(WANTED, count) for need, count in seen.counts().items()})
    kept = list(first)
    for number in kept:
        wanted.subtract(seen.meets[number])
    left = {number: needs for number, needs in enumerate(seen.meets) if number not in kept}
    while needed := {need for need, more in wanted.items() if more > 0}:
        left = {number: needs for number, needs in left.items() if not needed.isdisjoint(needs)}
        best = max(
            left,
            key=lambda number: len(needed & left[number]) / (NODES_OF_A_CASE + seen.nodes[number]),
        )
        kept.append(best)
        wanted.subtract(left.pop(best))
    checks = Counter(seen.cases[number][0] for number in kept)
    for missing in {name for name, _ in seen.cases} - checks.keys():
        kept.append(
            next(
                number
                for number, (name, _) in enumerate(seen.cases)
                if name == missing and number not in seen.taken
            )
        )
        checks[missing] += 1
        wanted.subtract(seen.meets[kept[-1]])
    for number in sorted(set(kept) - set(first), key=lambda number: -seen.nodes[number]):
        check, _ = seen.cases[number]
        if checks[check] > 1 and all(wanted[need] < 0 for need in seen.meets[number]):
            kept.remove(number)  # the others see as much
            checks[check] -= 1
            wanted.update(seen.meets[number])
    return sorted(kept)


def _chosen(check: Check, kept: Sequence[int], seen: _Seen) -> Chosen:
    numbers = [number for number in kept if seen.cases[number][0] == check.name]
    counts = Counter(need for number in kept for need in seen.meets[number])
    reasons = []
    for number in numbers:
        mutants = {name for name, aspect in seen.meets[number] if not aspect}
        rare = sorted(
            {name for name, aspect in seen.meets[number] if counts[name, aspect] <= WANTED}
        )
        told = ", ".join(rare[:2]) + (f" and {len(rare) - 2} more" if len(rare) > 2 else "")
        reasons.append(
            f"{REASON}{len(mutants)} mutant{'s' * (len(mutants) != 1)}"
            + (f", few others see {told}" if rare else "")
        )
    return Chosen(check, [seen.cases[number][1] for number in numbers], reasons)


def as_table(choice: Choice) -> str:
    """The choice as the text of `verdicts/studyN.toml`; checks that are games keep their cases.

    What the present table says of a case, in a comment on its line, is kept too.
    """
    lines = [
        f"# Study {choice.study.removeprefix('study')}: the positions that marks are given "
        "on. They stay with the staff.",
        f"# Chosen by `autograder positions {choice.study}`. Each line says how many mutants",
        "# it sees, and which of them hardly another one does.",
        "",
        "[cases]",
    ]
    chosen = {found.check.name: found for found in choice.checks}
    study = verdicts.hidden_study(choice.study)
    notes = _notes(verdicts.cases_file(study).read_text("utf-8"))
    for name, check in study.checks.items():
        cases = chosen[name].cases if name in chosen else check.cases
        reasons = chosen[name].reasons if name in chosen else [""] * len(cases)
        lines.append(f"{name} = [")
        for case, reason in zip(cases, reasons, strict=True):
            said = "; ".join(filter(None, (notes.get(_toml(case)), reason)))
            lines.append(f"    {_toml(case)},{f' # {said}' if said else ''}")
        lines += ["]", ""]
    return "\n".join(lines)


def _notes(table: str) -> dict[str, str]:
    """What a table says of its cases, by the case in TOML, without what a choice said of them."""
    found = re.finditer(r"^ *(\{.*\}), *# *(.*)$", table, re.MULTILINE)
    said = {_toml(tomllib.loads(f"case = {match[1]}")["case"]): match[2] for match in found}
    return {
        case: words
        for case, comment in said.items()
        if (words := "; ".join(part for part in comment.split("; ") if not part.startswith(REASON)))
    }


def _toml(value: object) -> str:
    """A case, or what is in one, as TOML on one line."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {_toml(item)}" for key, item in value.items()) + " }"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_toml, value)) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    return (
        '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
        if isinstance(value, str)
        else repr(value)
    )
