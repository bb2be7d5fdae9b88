"""Positions to think about: taken from a seeded game, or drawn by hand in one line of text."""

from functools import lru_cache

from sequence.agents.players import Random
from sequence.board.cards import pile_of, unseen
from sequence.board.layout import CORNERS, mask_of
from sequence.board.rules import DRAFT
from sequence.engine.observation import Observation
from sequence.engine.play import Game, play
from sequence.engine.state import State

CHIPS = {"x": (0, False), "o": (1, False), "X": (0, True), "O": (1, True)}  # side, in a sequence


def example(text: str) -> Observation:
    """What the player to move sees after so many actions of a seeded game: "7/23".

    The seed stands before the slash, the number of actions after it. Player 0 is `Greedy`,
    player 1 `Random`, so that the board is neither orderly nor empty.

    Raises ValueError for a text of another form, and if the game was over by then.

    >>> print(str(example("7/3")).splitlines()[-1])
    player 1 to move
    """
    return _state(text).observation()


@lru_cache(maxsize=4096)  # checks ask about the same ones again and again
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


@lru_cache(maxsize=64)  # a game is 100 kB, and proofs ask for thousands
def _game(seed: int) -> Game:
    from sequence.agents.greedy import Greedy  # a graded agent runs without it

    return play([Greedy(), Random()], seed)


def sketch(text: str) -> Observation:
    """A board drawn by hand, as player 0 (x), who is to move, sees it under the rules `DRAFT`.

    Slashes separate the parts, and each part begins with its name: "x" and "o" are the chips of the
    sides by row and column, "X" and "O" those in completed sequences, "score" the number of
    sequences, "hand" and "row" cards. Nothing is known of the actions that led there, nor of the
    discards: all other cards are undealt or in the other hand.

    Raises ValueError for a text that is not a sketch, for more cards than exist or can be held, and
    for a score that would have ended the game.

    >>> drawn = sketch("x 2,1 4,2 / o 6,1 / hand 2s jd / row 3c jh")
    >>> drawn.hand, drawn.draft_row, drawn.chip_masks[1].bit_count()
    (('2s', 'jd'), ('3c', 'jh'), 1)
    """
    chips, locked, score = [0, 0], 0, (0, 0)
    piles = {"hand": 0, "row": 0}
    for part in filter(None, map(str.split, text.split("/"))):
        name, words = part[0], part[1:]
        if name in piles:
            piles[name] = pile_of(words)
        elif name == "score" and len(words) == 2 and all(map(str.isdecimal, words)):
            score = (int(words[0]), int(words[1]))
        elif name in CHIPS:
            side, completed = CHIPS[name]
            mask = _cells(words, text)
            if mask & (chips[0] | chips[1] | CORNERS):
                raise ValueError(f"a cell of {part} is a corner, or has a chip already")
            chips[side] |= mask
            locked |= mask if completed else 0
        else:
            raise ValueError(
                f"a sketch has the parts {', '.join(CHIPS)}, hand, row and score, "
                f"like 'score 1 0', not {' '.join(part)!r}"
            )
    for name, most in (("hand", DRAFT.hand), ("row", DRAFT.row)):
        if piles[name].bit_count() > most:
            raise ValueError(f"a {name} has at most {most} cards, and there are more in {text!r}")
    if max(score) >= DRAFT.sequences:
        raise ValueError(
            f"{DRAFT.sequences} sequences end the game, so that nobody is to move in {text!r}"
        )
    undealt = unseen(*piles.values()).bit_count() - DRAFT.hand
    return Observation(
        rules=DRAFT,
        player=0,
        to_move=0,
        traded=False,
        passes=0,
        is_over=False,
        sequences=score,
        hand_pile=piles["hand"],
        row_pile=piles["row"],
        chip_masks=tuple(chips),
        locked_mask=locked,
        history=(),
        reshuffled=0,
        undealt=undealt,
    )


def _cells(words: list[str], text: str) -> int:
    try:
        cells = (map(int, word.split(",")) for word in words)
        return mask_of((row, col) for row, col in cells)
    except (ValueError, KeyError) as error:
        raise ValueError(f"cells are written like '4,2', unlike in {text!r}") from error
