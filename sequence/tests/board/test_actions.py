"""Tests of actions: dictionaries, documented order, and choosing among them without a list."""

import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sequence import DRAFT, FORGO, OFFICIAL, PASS, Action, State, card_at
from sequence.board.cards import CARDS, NUMBER
from sequence.board.layout import BIT, CELLS
from sequence.tests.support.positions import as_tuple, state_from
from sequence.tests.support.slow_rules import CARD, SlowGame

KINDS = ("place", "remove", "trade", "pass")
ANY_ACTION = st.builds(
    Action,
    st.sampled_from(KINDS),
    st.sampled_from(("", *CARDS)),
    st.sampled_from(("", *CARDS)),
    st.sampled_from(((), *CELLS)),
)


@given(ANY_ACTION)
def test_dictionaries_go_there_and_back(action):
    """An action that is read from its own dictionary is equal to the original."""
    assert Action.from_dict(action.as_dict()) == action


def test_dictionary_form():
    """The dictionary has the four keys, with None for missing parts."""
    assert Action("place", "2s", "jd", (0, 1)).as_dict() == {
        "play_card": "2s",
        "draft_card": "jd",
        "type": "place",
        "coords": (0, 1),
    }
    assert FORGO.as_dict() == {
        "play_card": None,
        "draft_card": None,
        "type": "trade",
        "coords": None,
    }
    assert Action.from_dict(PASS.as_dict()) is not PASS
    assert Action.from_dict(PASS.as_dict()) == PASS


@pytest.mark.parametrize(
    "change",
    [
        {"type": "jump"},
        {"type": []},
        {"coords": (1, 2, 3)},
        {"coords": ("a", None)},
        {"coords": 3},
        {"coords": "12"},
        {"coords": (1.0, 2)},
        {"play_card": 7},
        {"draft_card": ["2s"]},
        {"more": 1},
    ],
)
def test_wrong_dictionaries_are_errors(change):
    """A dictionary of another form raises ValueError."""
    with pytest.raises(ValueError, match=r"action|coords"):
        Action.from_dict(FORGO.as_dict() | change)


@pytest.mark.parametrize("wrong", [3, None, "play_card", [*FORGO.as_dict()], {}])
def test_no_dictionaries_are_errors(wrong):
    """Anything that is not the dictionary of an action raises ValueError."""
    with pytest.raises(
        ValueError, match="an action has the keys play_card, draft_card, type, coords"
    ):
        Action.from_dict(wrong)


def test_actions_are_ordered_and_frozen():
    """Any two actions can be compared, even if parts are missing, and none can be changed."""
    actions = [PASS, FORGO, Action("place", "2s", "jd", (0, 1)), Action("trade", "2s", "jd")]
    assert sorted(actions) == sorted({*actions})
    assert len({*actions, PASS}) == 4
    with pytest.raises(AttributeError):
        PASS.kind = "place"


def test_actions_in_words():
    """The text of an action is readable."""
    assert [str(action) for action in (Action("place", "2s", "jd", (0, 1)), FORGO, PASS)] == [
        "place 2s at 0,1 take jd",
        "forgo",
        "pass",
    ]


def order(action, state):
    """The documented place of an action, computed directly."""
    last = action in (FORGO, PASS)
    group = ("place", "remove", "trade").index(action.kind) if not last else 9
    jack = action.play_card[:1] == "j"
    bit = BIT[action.coords] if action.coords else -1
    number = NUMBER.get(action.play_card, -1)
    take = NUMBER.get(action.draft_card, -1)
    return (group, jack, number if jack or group == 2 else 0, bit, take)


def check_sequence(state):
    """Check that the lazy sequence of legal actions is consistent and in the documented order."""
    legal = state.legal_actions()
    listed = list(legal)
    assert len(listed) == len(legal) == len(set(listed))
    assert [legal[i] for i in range(len(legal))] == listed
    assert legal[-1] == listed[-1]
    assert legal[1:4] == tuple(listed[1:4])
    assert all(action in legal for action in listed)
    assert listed == sorted(listed, key=lambda action: order(action, state))
    with pytest.raises(IndexError):
        legal[len(legal)]
    return listed


CHIPS = st.lists(st.sampled_from(["", "", "0", "1", "0!", "1!"]), min_size=96, max_size=96)
FULL = st.lists(st.sampled_from(["0", "1", "0", "1!", "0", "1", ""]), min_size=96, max_size=96)


@settings(max_examples=200, deadline=None)
@given(
    CHIPS | FULL,
    st.integers(0, 1 << 32),
    st.booleans(),
    st.sampled_from([DRAFT, OFFICIAL]),
    st.integers(0, 4),
)
def test_legal_actions_of_any_position(chips, seed, traded, rules, jacks):
    """Both implementations agree on random boards and hands, with jacks and dead cards."""
    board = dict.fromkeys(CARD, "") | dict(zip(CELLS, chips, strict=False))
    deck = [card for card in CARDS for _ in "12"]
    random.Random(seed).shuffle(deck)
    deck.sort(key=lambda card: card[0] != "j") if jacks == 4 else None
    slow = SlowGame(rules, deck)
    slow.board, slow.traded = board, traded
    state = state_from(board, slow.hands, slow.row, rules, deck=slow.deck, traded=traded)
    listed = check_sequence(state)
    assert {as_tuple(action) for action in listed} == slow.legal()
    assert len(listed) == len(slow.legal())


class Scripted:
    """A random generator that returns the given numbers."""

    def __init__(self, numbers):
        self.numbers = list(numbers)

    def getrandbits(self, size):
        """The next number, for any number of bits."""
        assert self.numbers[0] < 1 << size
        return self.numbers.pop(0)


def test_choice_is_exactly_uniform():
    """Each number below the count gives a different action, and all others are rejected."""
    state, chance, checked = State.deal(seed=5), random.Random(5), 0
    while not state.is_terminal():
        legal = state.legal_actions()
        top = 1 << len(legal).bit_length()
        for number in range(len(legal)):
            beyond = [*range(len(legal), top)][:3]
            assert legal.choose(Scripted([*beyond, number])) == legal[number]
            checked += 1
        state = state.after(legal.choose(chance))
    assert checked > 1_000


def test_choice_in_the_long_run():
    """In 60,000 seeded choices, each of 60 actions occurs 850 to 1,150 times (over 4.7 sigma)."""
    legal, chance = State.deal(seed=1).legal_actions(), random.Random(7)
    assert len(legal) == 60
    counts = Counter(legal.choose(chance) for _ in range(60_000))
    assert set(counts) == set(legal)
    assert all(850 <= count <= 1_150 for count in counts.values())


def test_random_choice_works_too():
    """The standard library's `choice` accepts the lazy sequence."""
    legal = State.deal(seed=1).legal_actions()
    assert random.Random(1).choice(legal) in legal


@pytest.mark.parametrize(
    "wrong",
    [
        None,
        3,
        "place",
        (),
        ("place",),
        ("place", "2s", "jd", [0, 1]),
        ("place", [], "jd", (0, 1)),
        Action("place", "xx", "6d", (2, 4)),
        Action("place", "4d", "6d", (2, 5)),
        Action("place", "4d", "2s", (2, 4)),
        Action("place", "4d", "", (2, 4)),
        Action("remove", "4d", "6d", (2, 4)),
        Action("trade", "4d", "6d"),
        PASS,
        FORGO,
        Action("place", "4d", "6d"),
        Action("place", "", "6d", (2, 4)),
    ],
)
def test_what_is_not_legal_is_not_in(wrong):
    """The legal actions contain neither wrong actions nor other objects."""
    legal = State.deal(seed=1).legal_actions()
    assert Action("place", "4d", "6d", (2, 4)) in legal
    assert wrong not in legal


def test_canonical_copy():
    """The history contains the engine's own copy, not the equal action that was played."""

    class Sly(str):
        __slots__ = ("secret",)

    state = State.deal(seed=1)
    sly = Sly("4d")
    after = state.after(("place", sly, "6d", (2.0, 4)))
    action = after.history[0]
    assert type(action) is Action
    assert type(action.play_card) is str
    assert [type(number) for number in action.coords] == [int, int]
    assert card_at(action.coords) == "4d"
