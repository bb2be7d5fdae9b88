"""Measures what one mistake costs at its own place and in checks that build on it.

A module with one mistake loses marks in the checks that call the wrong function. In all other
checks, errors are carried forward (see `error_carried_forward`), so they should lose almost
nothing. This measures every named mutant, every stored wrong module, the generated mutants (in the
table of costs, a sample of them), and the reference without each of the functions that students
write.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from autograder import workspace
from autograder.doctor.mutant_generator import generate_mutants
from autograder.grading.verdict.answer_key import AnswerKey, load_answer_key
from autograder.grading.verdict.reply_collection import SubmissionContext, TimeLimits, collect
from autograder.studies import hidden_cases
from autograder.studies.mutants import load_mutants, load_outsiders
from autograder.workspace.affected_checks import AffectedChecks
from autograder.workspace.fault_places import FaultPlaces
from autograder.workspace.strip import stub, written_functions
from course.checks import Check, Study, read_table, validate_keys
from course.checks.questions import MATCHES
from course.checks.replies import SECONDS, Replies

MAX_SHARE = 0.1  # of a study's points that a mistake may cost elsewhere without a listed reason
SAMPLE = 20  # generated mutants of each study in its table of costs
KINDS = NAMED, OUTSIDER, GENERATED, LEFT_OUT = "named", "by students", "generated", "left out"
COMMAND = "python3 run.py doctor {study} --costs"
# Reasons that are measured; all others are listed in `costs.toml`. There are too many generated
# mutants to list, and a variant of a study has others, so more of their reasons are measured.
NOT_WRITTEN = "it was not written, so code that calls it has no reply"
RAISES = "it raises errors, so code that calls it has no reply"
NO_ATTEMPT = "no reply to its own checks is right, so it is no attempt"
ARBITRARY = "its values do not follow the right ones, so it is no attempt"
LIMIT = "a search needs more of its values than the limit"


@dataclass(frozen=True)
class Variant:
    """A module with one mistake, and the correct module from which it differs."""

    kind: str
    name: str
    text: str
    base: str
    in_table: bool = True  # False for generated mutants that are not in the sample


@dataclass(frozen=True)
class Cost:
    """The points that one mistake costs: in the checks that call its functions, and elsewhere."""

    kind: str
    name: str
    functions: tuple[str, ...]  # those with the mistake
    own: float
    elsewhere: float
    points: float  # of the study
    losses: Mapping[str, float]  # elsewhere, by the check's name
    reason: str = ""  # why it costs something elsewhere, if that is known
    in_table: bool = True  # see `Variant`

    @property
    def share(self) -> float:
        """The share of the study's points that the mistake costs elsewhere."""
        return self.elsewhere / self.points

    @property
    def is_excessive(self) -> bool:
        """Whether the mistake costs too much elsewhere, without a reason."""
        return self.share > MAX_SHARE and not self.reason


def mutant_costs(
    study: Study,
    kinds: Sequence[str] = KINDS,
    progress: Callable[[str], None] = lambda name: None,
    *,
    everything: bool = False,
) -> list[Cost]:
    """Return the costs of the variants of these kinds. Matches are excluded.

    If not `everything`, only a sample of the generated mutants is measured.
    """
    key = load_answer_key(hidden_cases.hidden_study(study.name))
    listed = load_reasons(study)
    variants = [each for each in variants_of(study, kinds) if everything or each.in_table]
    bases = {base: _Base(key.study, base) for base in {variant.base for variant in variants}}

    def cost_of(variant: Variant) -> Cost:
        cost = _cost(key, variant, bases[variant.base])
        progress(variant.name)
        return replace(cost, reason=listed.get(variant.name, cost.reason))

    with ThreadPoolExecutor(workspace.max_parallel()) as pool:
        return list(pool.map(cost_of, variants))


def variants_of(study: Study, kinds: Sequence[str] = KINDS) -> Iterator[Variant]:
    """Yield the modules with one mistake of these kinds."""
    texts = workspace.module_texts(study)
    answer = texts["reference"]
    if NAMED in kinds:
        for mutant in load_mutants(study.name):
            yield Variant(NAMED, mutant.name, texts[mutant.name], answer)
    if OUTSIDER in kinds:
        for module in load_outsiders(study):
            yield Variant(OUTSIDER, module.name, module.apply(texts["second"]), texts["second"])
    if GENERATED in kinds:
        generated = generate_mutants(answer)
        distance = max(1, len(generated) // SAMPLE)
        for number, made in enumerate(generated):
            name = f"line {made.line}: {made.description}"
            yield Variant(GENERATED, name, made.text, answer, number % distance == 0)
    if LEFT_OUT in kinds:
        written = written_functions(answer)
        for function in sorted(written):
            text = stub(answer, study.module, keep=written - {function})
            kept = stub(answer, study.module, keep=written)
            yield Variant(LEFT_OUT, function, text, kept)


class _Base:
    """A correct module."""

    def __init__(self, study: Study, text: str) -> None:
        self.affected = AffectedChecks(study, text)
        self.places = FaultPlaces(study, text)


def _cost(key: AnswerKey, variant: Variant, base: _Base) -> Cost:
    affected = base.affected.checks(variant.text)

    def query(study: Study, check: Check, seconds: float) -> Replies:
        if check.name not in affected and check == key.study.checks[check.name]:
            return Replies(tuple(key.expected[check.name]))
        return workspace.run_check(study, variant.text, check, seconds)

    context, limits = SubmissionContext(key), TimeLimits(None, SECONDS, SECONDS)
    checks = {name: each for name, each in key.study.checks.items() if each.ask not in MATCHES}
    lost = {}
    for name, check in checks.items():
        outcome = collect(context, check, query, limits).marked
        if not outcome.full:
            lost[name] = outcome.points - outcome.earned
    functions = base.places.changed_functions(variant.text)
    own = base.places.own_checks(functions) or set(lost)
    elsewhere = {name: points for name, points in lost.items() if name not in own}
    own_lost = {name: lost.get(name, 0.0) for name in own}
    return Cost(
        variant.kind,
        variant.name,
        functions,
        sum(own_lost.values()),
        sum(elsewhere.values()),
        sum(check.max_points for check in key.study.checks.values()),
        elsewhere,
        _measured_reason(variant, functions, context, own_lost, elsewhere) if elsewhere else "",
        variant.in_table,
    )


def _measured_reason(
    variant: Variant,
    functions: Collection[str],
    context: SubmissionContext,
    own: Mapping[str, float],
    elsewhere: Iterable[str],
) -> str:
    """Return a reason that follows from the module's replies and values, for costs elsewhere."""
    checks = context.key.study.checks
    if variant.kind == LEFT_OUT:
        is_optional = all(checks[name].extra_credit for name in own)
        return "" if is_optional else NOT_WRITTEN
    if any(_lacks_replies(checks[name], context) for name in elsewhere):
        return RAISES
    if all(own[name] == checks[name].max_points for name in own):
        return NO_ATTEMPT
    return _obstacle(functions, context) if variant.kind == GENERATED else ""


def _obstacle(functions: Collection[str], context: SubmissionContext) -> str:
    """Return what kept the values of these functions from being carried forward, if anything did."""
    if not context.obstacles.not_attempts.isdisjoint(functions):
        return ARBITRARY
    return LIMIT if context.obstacles.limits else ""


def _lacks_replies(check: Check, context: SubmissionContext) -> bool:
    """Whether the module gives no reply to some aspect in some case."""
    return any(
        not check.points.keys() <= (observation or {}).keys()
        for observation in context.replies[check.id].observations
    )


# ---- Reasons, and the table


def load_reasons(study: Study) -> Mapping[str, str]:
    """Return the listed reasons for costs elsewhere, by the name of the mistake.

    `costs.toml` lists the names by the reason. Raises `StudyTableError`.
    """
    file = study.staff_folder / "costs.toml"
    if not file.is_file():
        return {}
    table = read_table(file)
    validate_keys(table, {"elsewhere": dict}, file, "at the top")
    validate_keys(table["elsewhere"], dict.fromkeys(table["elsewhere"], list), file, "elsewhere")
    return {name: reason for reason, names in table["elsewhere"].items() for name in names}


def costs_file(study: Study) -> Path:
    """Return the file of the table of costs of a study."""
    return study.staff_folder / "costs.md"


def costs_table(study: Study, costs: Sequence[Cost]) -> str:
    """Return the table of these costs in Markdown."""
    command = COMMAND.format(study=study.name)
    counts = ", ".join(f"{sum(cost.kind == kind for cost in costs)} {kind}" for kind in KINDS)
    lines = [
        f"# {study.title}: the cost of each mistake",
        "",
        f"Derived by `{command}`. Do not edit. A mistake costs marks in the checks that call its",
        "function most directly, and should cost almost nothing elsewhere, where errors are carried",
        f"forward. More than {MAX_SHARE:.0%} of the study's points elsewhere needs a reason.",
        "",
        f"{len(costs)} modules: {counts}. {sum(not cost.elsewhere for cost in costs)} cost nothing",
        f"elsewhere, and {sum(cost.share > MAX_SHARE for cost in costs)} cost more than "
        f"{MAX_SHARE:.0%} there.",
        "",
        "| mistake | kind | function | own checks | elsewhere | share | where | reason |",
        "|---|---|---|--:|--:|--:|---|---|",
    ]
    return "\n".join([*lines, *map(_row, costs)]) + "\n"


def _row(cost: Cost) -> str:
    cells = [
        cost.name.replace("|", "\\|"),
        cost.kind,
        ", ".join(cost.functions),
        f"{cost.own:.2f}",
        f"{cost.elsewhere:.2f}",
        f"{cost.share:.0%}",
        ", ".join(f"{name} {points:.2f}" for name, points in cost.losses.items()),
        cost.reason,
    ]
    return f"| {' | '.join(cells)} |"
