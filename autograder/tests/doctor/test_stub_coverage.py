"""Each sentence of a stub is broken by a mutant, is about given code, or is listed as untested."""

import shutil

import pytest

from autograder.doctor import stub_coverage
from autograder.doctor.stub_coverage import sentences
from autograder.studies.mutants import mutants_file
from autograder.workspace import answer_path
from course.checks import StudyTableError, load_study, studies, study_paths


@pytest.mark.parametrize("name", studies())
def test_stubs_are_covered(name):
    """Mutants of the kit break the statements in its stubs, and each quotation is from one
    sentence.
    """
    summary, problems = stub_coverage(load_study(name))
    assert problems == []
    assert summary.endswith(", 0 not covered")


TEXT = '''"""The title. It has two sentences.

First line. It has: `this` and that, e.g. here.
"""

def lanes(state):
    """How many (see
    figure 5). Is that all? Yes!

    Hint: count. This states no requirement.

    Returned as a "pair".
    >>> lanes(2)
    The output.

    1: one. 2: two.
    """

class Agent:
    def choose(self):
        """It draws. "Twice."
        """
'''


def test_sentences_are_distinguished():
    """A sentence starts with a capital letter, quote or backquote after a full stop; titles, hints
    and examples are excluded.
    """
    assert list(sentences(TEXT)) == [
        ("module", "First line."),
        ("module", "It has: `this` and that, e.g. here."),
        ("lanes", "How many (see figure 5)."),
        ("lanes", "Is that all?"),
        ("lanes", "Yes!"),
        ("lanes", 'Returned as a "pair".'),
        ("lanes", "1: one. 2: two."),
        ("Agent.choose", "It draws."),
        ("Agent.choose", '"Twice."'),
    ]


ANSWER = '''"""Study 2."""

class Agent:
    """It is good. It counts."""

    def choose(self, state):
        """It chooses."""
        return 1

    def search(self, state):
        """It searches. It returns moves."""
        ### BEGIN SOLUTION
        return 2
        ### END SOLUTION
'''
MUTANTS = """
[untested]
"it is an opinion" = ["Agent: It is good"]
[[mutant]]
name = "first"
sentence = "The first."
loses = { alpha_beta = ["nodes"] }
breaks = ["Agent: counts", "Agent.search: searches"]
edit = []
[[mutant]]
name = "second"
sentence = "The second."
loses = { alpha_beta = ["move"] }
breaks = ["Agent.search: It returns"]
edit = []
"""


@pytest.fixture
def study(tmp_path, monkeypatch):
    """Study 2 with another answer and with two mutants."""
    original = load_study("study2")
    for folder in (original.folder, original.staff_folder):
        shutil.copytree(folder, tmp_path / folder.relative_to(study_paths.KIT))
    monkeypatch.setattr(study_paths, "KIT", tmp_path)
    copied = load_study("study2")
    answer_path(copied).write_text(ANSWER, "utf-8")
    mutants_file(copied).write_text(MUTANTS, "utf-8")
    return copied


def test_coverage_is_counted(study):
    """The report counts the sentences that mutants break and the sentences that need no mutant."""
    assert stub_coverage(study) == (
        "study2: 5 sentences in the stub: 3 broken by mutants, 1 about given code, "
        "1 listed as untested, 0 not covered",
        [],
    )


@pytest.mark.parametrize(
    ("old", "new", "problems"),
    [
        (
            '"Agent: It is good"',
            "",
            ["Agent: It is good. (no mutant breaks this sentence)"],
        ),
        (
            '"Agent: counts", ',
            "",
            ["Agent: It counts. (no mutant breaks this sentence)"],
        ),
        (
            "Agent.search: It returns",
            "Agent.search: It",
            [
                "mutant second: 'Agent.search: It' matches 2 sentences of the stub",
                "Agent.search: It returns moves. (no mutant breaks this sentence)",
            ],
        ),
        (
            "Agent: It is good",
            "module: It is good",
            [
                "untested, 'it is an opinion': 'module: It is good' matches no sentence of the stub",
                "Agent: It is good. (no mutant breaks this sentence)",
            ],
        ),
        (
            '"Agent: It is good"',
            '"Agent: It is good", "Agent: It counts"',
            ["Agent: It counts. (listed as untested, but broken by mutants)"],
        ),
        (
            '"Agent: It is good"',
            '"Agent: It is good", "Agent.choose: It chooses"',
            ["Agent.choose: It chooses. (listed as untested, but about given code)"],
        ),
        (
            '{ alpha_beta = ["move"] }',
            "{}",
            ["mutant second: it breaks a sentence of the stub but loses no marks"],
        ),
    ],
    ids=range(7),
)
def test_a_problem_is_reported(study, old, new, problems):
    """A problem is an uncovered sentence, or a quotation that does not identify a sentence."""
    assert old in MUTANTS
    mutants_file(study).write_text(MUTANTS.replace(old, new, 1), "utf-8")
    assert stub_coverage(study)[1] == problems


def test_given_code_may_be_quoted(study):
    """A mutant can be an edit of the code that students are given."""
    mutants_file(study).write_text(
        MUTANTS.replace("Agent: counts", 'Agent: counts", "Agent.choose: It chooses'), "utf-8"
    )
    summary, problems = stub_coverage(study)
    assert problems == []
    assert "4 broken by mutants, 0 about given code" in summary


def test_quotations_are_optional(study):
    """A study whose mutants quote nothing has no problems."""
    lines = MUTANTS.split("\n")
    mutants_file(study).write_text(
        "\n".join(line for line in lines[3:] if not line.startswith("breaks")), "utf-8"
    )
    assert stub_coverage(study) == ("study2: no mutant quotes a sentence of the stub", [])


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            '["Agent.search: It returns"]',
            '"all"',
            "mutant second: 'breaks' is required and must be",
        ),
        ('["Agent: It is good"]', '"all"', "untested: 'it is an opinion' is required and must be"),
        (
            '"Agent.search: It returns"',
            '"It returns"',
            "mutant second: a sentence of the stub must be quoted as 'function: phrase', "
            "not as 'It returns'",
        ),
        (
            '["Agent: It is good"]',
            "[1]",
            "untested, 'it is an opinion': a sentence of the stub must",
        ),
        ("[untested]", "[untestable]", "at the top: there is no key 'untestable'"),
    ],
    ids=range(5),
)
def test_a_mistake_in_the_table_names_its_place(study, old, new, message):
    """The message resembles those for the other tables that instructors edit."""
    mutants_file(study).write_text(MUTANTS.replace(old, new, 1), "utf-8")
    with pytest.raises(StudyTableError) as error:
        stub_coverage(study)
    assert f"study2_alpha_beta/mutants.toml, {message}" in str(error.value)
