"""The files of the findings on one assignment, and the sentences about them in the report."""

from pathlib import Path

from autograder.course_folder import CourseFolder
from autograder.grading.records.ledger import read_object
from course.checks import Study

COLUMNS = (
    "part", "student", "similar to", "who", "share", "threshold", "evidence", "hints", "lines",
)  # fmt: skip


def report_paths(folder: CourseFolder, study: Study) -> tuple[Path, Path, Path]:
    """Return the paths of the page, the CSV file and the JSON file."""
    page = folder.root / "reports" / f"{study.assignment}_similarity.html"
    return page, page.with_suffix(".csv"), page.with_suffix(".json")


def stored_findings(folder: CourseFolder, study: Study) -> dict[str, list[str]]:
    """Return a sentence about each pair in the stored findings, by student; empty without any."""
    data = read_object(report_paths(folder, study)[2], {"pairs": list})
    sentences: dict[str, list[str]] = {}
    for entry in (data or {"pairs": []})["pairs"]:
        if isinstance(entry, dict) and {*COLUMNS} <= entry.keys():
            names = [str(entry["student"])]
            if entry["who"] == "class":
                names.append(str(entry["similar to"]))
            for name, other in zip(names, (str(entry["similar to"]), names[0]), strict=False):
                sentences.setdefault(name, []).append(
                    f"similar to {other}: {entry['part']} (see the page on similarity)"
                )
    return sentences
