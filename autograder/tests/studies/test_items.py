"""Only differing items are shown, each with a label."""

import pytest

from autograder.studies import hidden_cases
from course.checks import load_expected, load_study, studies
from course.checks.marking.comparison import equal
from course.checks.marking.items import MAX_LISTED, Item, differing
from course.checks.questions import QUESTIONS

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
    """The differing item of a long list is shown with its label."""
    names = [[f"move {number}" for number in LONG]]
    assert items(LONG, [*LONG[:7], 0, *LONG[8:]], names) == [Item("move 7", "7", "0")]


def test_without_names_items_are_numbered():
    """Items of a long list without labels are counted from 1."""
    assert items(LONG, [*LONG[:7], 0, *LONG[8:]]) == [Item("item 8", "7", "0")]


def test_lists_in_lists_have_both_names():
    """The label of an inner item follows that of its list."""
    names = [["for x", "for o"], ["twos", "ones"]]
    assert items([[1, 2], [3, 4]], [[1, 2], [3, 5]], names) == [Item("for o, ones", "4", "5")]


def test_a_text_with_names_is_a_list_of_letters():
    """The differing cells of a board with 64 cells are shown."""
    names = [[f"cell {number}" for number in range(64)]]
    assert items("_" * 64, "_" * 9 + "x" + "_" * 54, names) == [Item("cell 9", '"_"', '"x"')]


def test_short_lists_without_names_are_shown_whole():
    """A list that is short enough to compare by eye is unchanged."""
    assert items([1, 2], [2, 1]) == [Item("", "[1, 2]", "[2, 1]")]
    assert items([1, 2], None) == [Item("", "[1, 2]", "null")]


def test_a_list_of_another_length_shows_the_missing_items():
    """Both lengths are shown, and the items that only one list has."""
    assert items(LONG, LONG[1:]) == [Item("", "40 items, including 0", "39 items")]


def test_equal_numbers_of_another_type_are_not_called_missing():
    """1.0 and 1 are equal, so only the item that one list lacks is shown."""
    floats = [float(number) for number in LONG]
    assert items(floats, [*LONG, 99]) == [Item("", "40 items", "41 items, including 99")]
    assert items([*floats, 1.0], LONG) == [Item("", "41 items, including 1.0", "40 items")]
    rounded = [number + 1e-10 for number in floats]
    assert items(rounded, [*LONG, 99]) == [Item("", "40 items", "41 items, including 99")]


def test_words_in_another_order_are_recognised():
    """The message gives the first position at which the same items have another order."""
    words = [f"place {number}" for number in LONG]
    (found,) = items(words, [words[0], *words[:0:-1]])
    assert found == Item(
        "the same items in another order, from item 2 on", '"place 1"', '"place 39"'
    )


def test_other_words_are_summarised():
    """Many differing words are summarised."""
    words = [f"place {number}" for number in LONG]
    (found,) = items(words, [f"remove {number}" for number in LONG])
    assert found.expected.startswith('with "place 0", ')
    assert found.expected.endswith(f" and {40 - MAX_LISTED} more")


@pytest.mark.parametrize(
    ("study", "check", "aspect"), LABELLED, ids=lambda value: getattr(value, "name", value)
)
def test_every_item_of_a_right_reply_has_a_name(study, check, aspect):
    """In every public and hidden case, there are as many labels as items on all levels."""
    hidden = hidden_cases.hidden_study(study.name).checks[check.name]
    for asked, file in ((check, study.expected_file), (hidden, hidden_cases.expected_file(study))):
        expected, _ = load_expected(file, [asked])
        for case, right in zip(asked.cases, expected[check.name], strict=True):
            levels = QUESTIONS[check.ask].labels[aspect]({**check.settings, **case})
            assert_named(right[aspect], levels)


def assert_named(value, levels):
    """Assert that each item has a unique label."""
    if levels:
        names = levels[0][: len(value)]
        assert len(set(names)) == len(value)
        for item in value:
            assert_named(item, levels[1:])
