"""What the text of a study promises is asked: a list names the mutants that break each sentence."""

import shutil

import pytest

from autograder import promises
from autograder.doctor import broken_promises
from course.probes import StudyTableError, homes, load_study, studies

LISTED = [name for name in studies() if promises.promises_file(load_study(name)).is_file()]
PLACES = ("course", "autograder/mutants", "autograder/promises", "autograder/verdicts")


@pytest.mark.parametrize("name", LISTED)
def test_what_the_text_promises_is_asked(name):
    """Each sentence of the stub is listed, and nothing else; mutants break those that are asked."""
    assert promises.faults(load_study(name)) == []


def test_every_study_lists_what_its_text_promises():
    """None of the kit's own studies goes without."""
    assert studies() == LISTED


TEXT = '''"""First line. It has two: `this` and that, e.g. here."""

def lanes(state):
    """How many (see
    figure 5). Is that all? Yes!

    Hint: count. This is no promise.

    Returned as a "pair".
    >>> lanes(2)
    The output.

    1: one. 2: two.
    """

class Agent:
    def choose(self):
        """It says: "Draws."
        """
'''


def test_sentences_are_told_apart():
    """By capital letters, quotes and backquotes after a stop; hints and examples are left out."""
    assert list(promises.sentences(TEXT)) == [
        ("module", "First line."),
        ("module", "It has two:"),
        ("module", "`this` and that, e.g. here."),
        ("lanes", "How many (see figure 5)."),
        ("lanes", "Is that all?"),
        ("lanes", "Yes!"),
        ("lanes", 'Returned as a "pair".'),
        ("lanes", "1: one. 2: two."),
        ("Agent.choose", "It says:"),
        ("Agent.choose", '"Draws."'),
    ]


@pytest.fixture
def study(tmp_path, monkeypatch):
    """A copy of the kit's tables in which study 2 promises two things, and its list of promises."""
    for name in PLACES:
        shutil.copytree(
            homes.KIT / name,
            tmp_path / name,
            ignore=shutil.ignore_patterns("*.ipynb", "study[0-9]*_*"),
        )
    monkeypatch.setattr(homes, "KIT", tmp_path)
    found = load_study("study2")
    found.folder.mkdir()
    (found.folder / found.module).write_text('"""It counts. It is good."""\n', "utf-8")
    return found


GOOD = """
[[promise]]
of = "module"
says = "It counts."
asked = ["alpha_beta.nodes"]
broken_by = ["root_not_counted"]
[[promise]]
of = "module"
says = "It is good."
asked = []
because = "who can say?"
"""


def test_a_whole_list_has_no_faults(study):
    """And its numbers are told."""
    promises.promises_file(study).write_text(GOOD, "utf-8")
    assert broken_promises(study) == (
        "study2: 2 sentences of its text, 1 are asked and broken by mutants, 1 cannot be asked",
        [],
    )


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        (GOOD, "promise = []", "the text says of module, but the list does not: It counts."),
        ("counts.", "counts!", "the list has of module, but the text does not: It counts!"),
        ("[[promise]]\nof", GOOD + "[[promise]]\nof", "but the text does not: It is good."),
        ('= "module"\nsays = "It c', '= "Agent"\nsays = "It c', "the list has of Agent"),
        ("alpha_beta.nodes", "alpha_beta.node", "there are no points for 'alpha_beta.node'"),
        (
            "alpha_beta.nodes",
            "alpha_beta.move",
            "root_not_counted loses nothing of alpha_beta.move",
        ),
        ("root_not_counted", "root_lost", "there is no mutant 'root_lost'"),
        ('["root_not_counted"]', "[]", "either mutants break it"),
        ('because = "who can say?"', "", "either mutants break it"),
        ('because = "who can say?"', 'because = "?"\nbroken_by = ["no_cut"]', "either mutants"),
    ],
    ids=range(10),
)
def test_a_fault_is_told(study, old, new, fault):
    """What is missing, too much, not asked, or not broken."""
    assert old in GOOD
    promises.promises_file(study).write_text(GOOD.replace(old, new, 1), "utf-8")
    assert any(fault in told for told in broken_promises(study)[1])


def test_a_mistake_in_the_list_names_its_place(study):
    """As in the other tables that people edit."""
    promises.promises_file(study).write_text(GOOD.replace("asked = []", 'asked = "none"'), "utf-8")
    with pytest.raises(StudyTableError, match=r"promises/study2.toml, promise 2: 'asked'"):
        promises.load_promises("study2")


def test_a_study_need_not_have_a_list(study):
    """An instructor's own may go without, and the doctor says so."""
    promises.promises_file(study).unlink(missing_ok=True)
    assert broken_promises(study) == ("study2: what its text promises is not listed", [])
