"""Only the items that differ are shown, and each is named by what it belongs to."""

import pytest

from autograder import verdicts
from course.probes import load_expected, load_study, studies
from course.probes.items import FEW, Item, differing
from course.probes.outcome import equal
from course.probes.questions import QUESTIONS

LONG = list(range(40))
LABELLED = [
    (study, check, aspect)
    for study in map(load_study, studies())
    for check in study.checks.values()
    for aspect in QUESTIONS[check.ask].labels
]


def items(expected, got, levels=()):
    """The items that differ."""
    return differing(expected, got, levels, equal)


def test_one_of_forty_is_shown_by_its_name():
    """Of a long list the item that differs is shown, with the name that it has."""
    names = [[f"move {number}" for number in LONG]]
    assert items(LONG, [*LONG[:7], 0, *LONG[8:]], names) == [Item("move 7", "7", "0")]


def test_without_names_items_are_numbered():
    """A long list without names is counted from 1, as people do."""
    assert items(LONG, [*LONG[:7], 0, *LONG[8:]]) == [Item("item 8", "7", "0")]


def test_lists_in_lists_have_both_names():
    """The name of an inner item comes after that of the list that it is in."""
    names = [["for x", "for o"], ["twos", "ones"]]
    assert items([[1, 2], [3, 4]], [[1, 2], [3, 5]], names) == [Item("for o, ones", "4", "5")]


def test_a_text_with_names_is_a_list_of_letters():
    """Of a board of 64 cells the cells that differ are shown."""
    names = [[f"cell {number}" for number in range(64)]]
    assert items("_" * 64, "_" * 9 + "x" + "_" * 54, names) == [Item("cell 9", '"_"', '"x"')]


def test_short_lists_without_names_are_shown_whole():
    """What can be compared by eye is left as it is."""
    assert items([1, 2], [2, 1]) == [Item("", "[1, 2]", "[2, 1]")]
    assert items([1, 2], None) == [Item("", "[1, 2]", "null")]


def test_a_list_of_another_length_tells_what_is_missing():
    """Both lengths are shown, and what only one of them has."""
    assert items(LONG, LONG[1:]) == [Item("", "40 items, among them 0", "39 items")]


def test_words_in_another_order_are_told_as_that():
    """The first place is shown from which the same items stand in another order."""
    words = [f"place {number}" for number in LONG]
    (found,) = items(words, [words[0], *words[:0:-1]])
    assert found == Item(
        "the same items in another order, from item 2 on", '"place 1"', '"place 39"'
    )


def test_other_words_are_told():
    """Many words that differ are summed up."""
    words = [f"place {number}" for number in LONG]
    (found,) = items(words, [f"remove {number}" for number in LONG])
    assert found.expected.startswith('with "place 0", ')
    assert found.expected.endswith(f" and {40 - FEW} more")


@pytest.mark.parametrize(
    ("study", "check", "aspect"), LABELLED, ids=lambda value: getattr(value, "name", value)
)
def test_every_item_of_a_right_reply_has_a_name(study, check, aspect):
    """For every public and hidden case, labels are as many as the items, on all levels."""
    hidden = verdicts.hidden_study(study.name).checks[check.name]
    for asked, file in ((check, study.expected_file), (hidden, verdicts.expected_file(study))):
        expected, _ = load_expected(file, [asked])
        for case, right in zip(asked.cases, expected[check.name], strict=True):
            levels = QUESTIONS[check.ask].labels[aspect]({**check.settings, **case})
            assert_named(right[aspect], levels)


def assert_named(value, levels):
    """Each item has a name, and no two the same."""
    if levels:
        names = levels[0][: len(value)]
        assert len(set(names)) == len(value)
        for item in value:
            assert_named(item, levels[1:])
