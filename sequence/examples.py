"""Example positions, from a seeded game or described in one line of text."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from sequence.agents.players import Random
from sequence.board.cards import pile_of, unseen
from sequence.board.layout import CORNERS, mask_of
from sequence.board.rules import DRAFT, RULE_SETS, Rules
from sequence.engine.observation import Observation
from sequence.engine.play import Game, play
from sequence.engine.state import State

CHIPS = {
    "x": (0, False),
    "o": (1, False),
    "X": (0, True),
    "O": (1, True),
}  # side, and whether in a sequence
SETTINGS: Mapping[str, Mapping[str, Any]] = {
    "player": {"0": 0, "1": 1, "2": 2, "3": 3},
    "players": {"2": 2, "4": 4},  # because a sketch has two sides
    "rules": RULE_SETS,
    "traded": {"": True},
}  # the values of a part by the words after its name


def example(text: str) -> Observation:
    """The observation of the player to move after some actions of a seeded game: "7/23".

    The seed is before the slash, the number of actions after it. Player 0 is `Greedy` and player 1
    is `Random`, which gives varied boards with many chips.

    Raises ValueError for a text in another form, and if the game has fewer actions.

    >>> print(str(example("7/3")).splitlines()[-1])
    player 1 to move
    """
    return _state(text).observation()


@lru_cache(maxsize=4096)  # checks use the same examples repeatedly
def _state(text: str) -> State:
    seed, stroke, actions = text.partition("/")
    if not (stroke and seed.isdecimal() and actions.isdecimal()):
        raise ValueError(f"an example is a seed and a number of actions like '7/23', not {text!r}")
    states = _game(int(seed)).states
    if int(actions) >= len(states) - 1:
        raise ValueError(
            f"there is no example {text!r}: that game ends after {len(states) - 1} actions"
        )
    return states[int(actions)]


@lru_cache(maxsize=320)  # a game takes 100 kB, and some tests use thousands
def _game(seed: int) -> Game:
    from sequence.agents.greedy import Greedy  # graded agents run without this module

    return play([Greedy(), Random()], seed)


def sketch(text: str) -> Observation:
    """A position described by a text, as seen by the player to move.

    Slashes separate the parts, and each part begins with its name: "x" and "o" are the sides' chips
    by row and column, "X" and "O" those in completed sequences, "score" lists the numbers of
    sequences, and "hand" and "row" list cards. By default, player 0 (x) is to move, under the rules
    `DRAFT` for two players. "player 1" changes the player, "players 4" the number of players and
    "rules official" the rules; "traded" means that the player has traded or forgone a trade in this
    turn. The actions that led to the position and the discards are unknown: all other cards are
    undealt or in another hand.

    Raises ValueError for a text that is not a sketch, for too many cards, for a player who is not
    in the game, and for a score that would have ended the game.

    >>> drawn = sketch("x 2,1 4,2 / o 6,1 / hand 2s jd / row 3c jh")
    >>> drawn.hand, drawn.draft_row, drawn.chip_masks[1].bit_count()
    (('2s', 'jd'), ('3c', 'jh'), 1)
    """
    chips, locked, score = [0, 0], 0, (0, 0)
    piles = {"hand": 0, "row": 0}
    settings: dict[str, Any] = {"player": 0, "players": 2, "rules": DRAFT, "traded": False}
    for part in filter(None, map(str.split, text.split("/"))):
        name, words = part[0], part[1:]
        if name in piles:
            piles[name] = pile_of(words)
        elif name == "score" and len(words) == 2 and all(map(str.isdecimal, words)):
            score = (int(words[0]), int(words[1]))
        elif name in SETTINGS and " ".join(words) in SETTINGS[name]:
            settings[name] = SETTINGS[name][" ".join(words)]
        elif name in CHIPS:
            side, completed = CHIPS[name]
            mask = _cells(words, text)
            if mask & (chips[0] | chips[1] | CORNERS):
                raise ValueError(f"a cell of {part} is a corner, or already has a chip")
            chips[side] |= mask
            locked |= mask if completed else 0
        else:
            raise ValueError(
                f"a sketch has the parts {', '.join(CHIPS)}, hand, row, score, player, players, "
                f"rules and traded, like 'score 1 0', not {' '.join(part)!r}"
            )
    rules: Rules = settings["rules"].for_players(settings["players"])
    rules.seat(settings["player"])
    for name, most in (("hand", rules.hand), ("row", rules.row)):
        if piles[name].bit_count() > most:
            raise ValueError(f"a {name} has at most {most} cards, and there are more in {text!r}")
    if max(score) >= rules.sequences:
        raise ValueError(
            f"{rules.sequences} sequences end the game, so no player is to move in {text!r}"
        )
    deck_size = unseen(*piles.values()).bit_count() - (rules.players - 1) * rules.hand
    return Observation(
        rules=rules,
        player=settings["player"],
        to_move=settings["player"],
        traded=settings["traded"],
        passes=0,
        is_over=False,
        sequences=score,
        hand_pile=piles["hand"],
        row_pile=piles["row"],
        chip_masks=tuple(chips),
        locked_mask=locked,
        history=(),
        reshuffled=0,
        deck_size=deck_size,
    )


def _cells(words: list[str], text: str) -> int:
    try:
        cells = (map(int, word.split(",")) for word in words)
        return mask_of((row, col) for row, col in cells)
    except (ValueError, KeyError) as error:
        raise ValueError(f"cells are written like '4,2', unlike in {text!r}") from error
