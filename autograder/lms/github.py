"""GitHub Classroom: the roster, the grades and the repositories of an assignment.

The formats are those of GitHub's documentation, of its command-line tool and of a public script:

- "Manage classrooms" and the glossary of GitHub Classroom: a roster identifies students by an
  identifier that the teacher chooses.
  https://docs.github.com/en/education/manage-coursework-with-github-classroom/teach-with-github-classroom/manage-classrooms
  https://docs.github.com/en/education/manage-coursework-with-github-classroom/get-started-with-github-classroom/glossary
- The downloaded file `classroom_roster.csv` has the columns identifier, github_username, github_id and
  name. GitHub does not document them; this script reads them (October 2019):
  https://gist.github.com/stevecassidy/03156eb816959c98c3da62890940ed6f
- `gh classroom clone student-repos` clones every repository of an assignment into
  `ASSIGNMENT-submissions/REPOSITORY`, and a repository is called `ASSIGNMENT-USERNAME`.
  https://github.com/github/gh-classroom/blob/08b078eec0e2b0a8c48d7afd523bbf7e77c5c342/cmd/gh-classroom/clone/student-repos/student-repos.go
- `gh classroom assignment-grades`, like *Download grades*, writes a CSV with github_username,
  roster_identifier and submission_timestamp.
  https://github.com/github/gh-classroom/blob/39c1390dd5c36e45a93d900f14e8617e1527e708/cmd/gh-classroom/assignment-grades/assignment_grades.go

Times of commits are not used, because students choose them; the timestamp in the grades is GitHub's.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping

from autograder.lms.tables import Table
from autograder.lms.uploads import Directory, FilePart, Hint, Upload

ROSTER = ("identifier", "github_username")
USERNAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?")


def is_roster(head: Iterable[str]) -> bool:
    """Whether the column names are those of GitHub Classroom's roster."""
    return {*ROSTER} <= {*head}


def roster_fields(row: Mapping[str, str]) -> dict[str, str]:
    """Return the id and the names of a student. The identifier of the roster is the id.

    >>> roster_fields({"identifier": "ada", "github_username": "countess", "name": "Ada Byron"})
    {'id': 'ada', 'first_name': 'Ada', 'last_name': 'Byron'}
    """
    first, _, last = row.get("name", "").strip().rpartition(" ")
    return {
        "id": row["identifier"].strip(),
        "first_name": first.strip(),
        "last_name": last.strip(),
    }


def usernames(table: Table) -> dict[str, str]:
    """Return the identifiers of the students on a roster, by their names on GitHub.

    Students who have not linked their accounts have no name on GitHub.
    """
    return {
        row["github_username"].strip().lower(): row["identifier"].strip()
        for _, row in table.records()
        if row["github_username"].strip() and row["identifier"].strip()
    }


def read_uploads(parts: Iterable[FilePart], directory: Directory) -> list[Upload]:
    """Return the submissions in a folder of cloned repositories, or in an archive of it."""
    listed = [part for part in parts if len(part.name.parts) > 1]
    assignments = _assignments(listed, directory)
    uploads: dict[str, Upload] = {}
    for part in listed:
        repository, *inside = part.name.parts
        if inside[0] == ".git" or not repository.startswith(tuple(f"{a}-" for a in assignments)):
            continue
        unique = len(assignments) == 1  # otherwise the owner is uncertain, and none is named
        username = repository.removeprefix(f"{assignments[0]}-") if unique else ""
        hint = Hint("github", username, username)
        upload = uploads.setdefault(repository, Upload(repository, ((hint,),)))
        upload.add("/".join(inside), part)
    return list(uploads.values())


def _assignments(parts: Iterable[FilePart], directory: Directory) -> list[str]:
    """Return the possible names of the assignment, with which most repositories of known students
    begin.

    Both names may contain hyphens: `hw-1-ada-b` may be Ada-B's or B's, so there may be several names.
    """
    beginnings: Counter[str] = Counter()
    for repository in {part.name.parts[0] for part in parts}:
        pieces = repository.split("-")
        for cut in range(1, len(pieces)):
            username = "-".join(pieces[cut:])
            if directory.find((Hint("github", username),)):
                beginnings["-".join(pieces[:cut])] += 1
    most = max(beginnings.values(), default=0)
    return [name for name, count in beginnings.items() if count == most]
