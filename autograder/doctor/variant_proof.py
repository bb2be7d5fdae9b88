"""Verifies a course's variant of a study: last year's answer loses marks and is recognised."""

from collections.abc import Sequence

from autograder.doctor.proof import Finding
from autograder.release.own_course.variants import described, read_record, read_variants
from autograder.studies.mutants import ANOTHER_YEAR
from course.checks import Study


def examine_variant(study: Study, findings: Sequence[Finding]) -> tuple[list[str], list[str]]:
    """Return sentences about a variant, and its problems; nothing if the study is no variant.

    The reference must get full marks. The answer to another year's version must lose marks in every
    check that depends on the parameters that differ, and must be recognised.
    """
    record = read_record(study)
    if record is None:
        return [], []
    values, others = record
    table, by_name = read_variants(study), {finding.name: finding for finding in findings}
    notes, problems = [f"variant: {described(values)}"], []
    if by_name["reference"].loses:
        problems.append("the variant's reference does not get full marks")
    for number, other in enumerate(others, 1):
        finding = by_name[ANOTHER_YEAR if number == 1 else f"{ANOTHER_YEAR}_{number}"]
        affected = table.affected(values, other).keys() & study.checks.keys()
        full = sorted(affected - finding.loses.keys())
        who = f"the answer to another year's version ({described(other)})"
        if full:
            problems.append(f"{who} gets full marks in {', '.join(full)}")
        if not finding.named:
            problems.append(f"{who} is not recognised in a check in which it loses marks")
        if not (full or not finding.named):
            losses = "; ".join(f"{name} ({', '.join(a)})" for name, a in finding.loses.items())
            lost = finding.points - finding.earned
            notes.append(f"{who} is recognised; it loses {lost:g} points: {losses}")
    return notes, problems
