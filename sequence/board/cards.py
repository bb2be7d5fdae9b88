"""Cards, the deck, the jacks, and piles: a hand, a draft row or any other cards as one int.

A card's name is its rank and its suit in lower case, "2d" to "as". Inside the engine it has a
number: 0 to 47 are the cards that are on the board, suit by suit (d, c, h, s) and within a suit
from 2 to ace; 48 to 51 are the jacks jd, jc, jh, js. This is *card order*.

A pile is an int of 104 bits: bit 2k is set if there is at least one copy of card k, and bit 2k + 1
if there are two. The number of set bits is therefore the number of cards.
"""

from collections.abc import Iterable
from itertools import chain
from random import Random
from typing import Any

RANKS = "23456789tjqka"
SUITS = "dchs"
TWO_EYED = ("jd", "jc")  # wild: place a chip on any empty cell
ONE_EYED = ("jh", "js")  # remove an opponent's chip
BOARD_CARDS = tuple(rank + suit for suit in SUITS for rank in RANKS if rank != "j")
CARDS = BOARD_CARDS + TWO_EYED + ONE_EYED
COPIES = 2  # copies of each card
NO_CARD = ""  # used if an action plays or takes no card
NUMBER = {name: number for number, name in enumerate(CARDS)}
# The number of a card that is given by name or number.
NUMBER_OF: dict[str | int, int] = dict(chain(NUMBER.items(), enumerate(range(len(CARDS)))))
DECK = tuple(number for number in range(len(CARDS)) for _ in range(COPIES))  # card order

ONE = tuple(1 << 2 * number for number in range(len(CARDS)))  # the bit of the first copy
BOTH = tuple(2 << 2 * number for number in range(len(CARDS)))  # the bit of the second copy
FULL_PILE = (1 << len(DECK)) - 1
BOARD_KINDS = sum(ONE[: len(BOARD_CARDS)])  # one bit for each card that is on the board


def is_jack(card: str) -> bool:
    """Whether a card is a jack; jacks are on no cell of the board and never dead.

    >>> is_jack("jd"), is_jack("2s")
    (True, False)
    """
    return card in TWO_EYED or card in ONE_EYED


def with_card(pile: int, number: int) -> int:
    """The pile with another copy of a card, which must not already contain two."""
    return pile | (BOTH[number] if pile & ONE[number] else ONE[number])


def without_card(pile: int, number: int) -> int:
    """The pile with one copy fewer of a card, which it must contain."""
    return pile ^ (BOTH[number] if pile & BOTH[number] else ONE[number])


def pile_of(cards: Iterable[str | int]) -> int:
    """The pile of some cards, given by name or number.

    Raises ValueError for something that is not a card, and for a third copy.
    """
    pile = 0
    for card in cards:
        number = NUMBER_OF.get(card)
        if number is None:
            raise ValueError(
                f"{card!r} is not a card; cards are a rank of {RANKS} and a suit of "
                f"{SUITS}, like '2s' or 'jd'"
            )
        if pile & BOTH[number]:
            raise ValueError(f"there are two copies of {CARDS[number]}, not three")
        pile = with_card(pile, number)
    return pile


def numbers(pile: int) -> tuple[int, ...]:
    """The numbers of a pile's cards in card order; a card with two copies is listed twice."""
    return tuple(bit >> 1 for bit in range(len(DECK)) if pile >> bit & 1)


def names(pile: int) -> tuple[str, ...]:
    """The names of a pile's cards in card order; a card with two copies is listed twice.

    >>> names(pile_of(["jd", "2s", "2d", "2s"]))
    ('2d', '2s', '2s', 'jd')
    """
    return tuple(CARDS[number] for number in numbers(pile))


def shuffle(cards: list[Any], rng: Random) -> None:
    """Shuffle a list in place; every order has the same probability.

    For each seed, the result is that of the current `random.shuffle`, but it will not change with
    the version of Python, and the function takes half the time (Fisher and Yates; Knuth, TAOCP,
    volume 2, algorithm P).
    """
    getrandbits = rng.getrandbits
    for last in range(len(cards) - 1, 0, -1):
        size = (last + 1).bit_length()
        other = getrandbits(size)
        while other > last:
            other = getrandbits(size)
        cards[last], cards[other] = cards[other], cards[last]


def unseen(*seen: int) -> int:
    """The pile of all cards of the deck that are in none of the given piles.

    Raises ValueError if the piles contain more than two copies of a card.
    """
    held = pile_of(number for pile in seen for number in numbers(pile))
    rest = FULL_PILE
    for number in numbers(held):
        rest = without_card(rest, number)
    return rest
