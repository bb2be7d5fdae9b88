"""The full state of a game: the table, all hands and the deck."""

import random
from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from sequence.board.actions import PASS, PLACE, Action, IllegalAction, LegalActions
from sequence.board.cards import CARDS, DECK, NUMBER_OF, names, pile_of, shuffle, unseen
from sequence.board.layout import PLAYABLE
from sequence.board.rules import DRAFT, Rules, winner_of
from sequence.engine.observation import Observation
from sequence.engine.state_builder import (
    StateBuilder,
    exchange,
    next_state,
    place,
    put_on_top,
    remove,
)
from sequence.pictures.text import cards_text, chip_at, position_text, turn_text
from sequence.pictures.view import as_html


class State(StateBuilder):
    """A position of the game, immutable: `after(action)` gives the next one.

    `State.deal(rules, seed)` is the start of a game. `to_move` is the player whose turn it is,
    `sequences` contains the number of completed sequences by side, and `winner` is the side that
    has won. Fields that end in `_mask` are bitboards, and fields that end in `_pile` are piles of
    cards (`sequence.board.layout`, `sequence.board.cards`). Their readable forms are `draft_row`,
    `hand(player)`, `draw_pile`, `discards` and `state[row, col]`.

    The order of the undealt cards, and therefore chance, is part of the state. `after(action,
    draw="2s")` draws that card instead of the next one, and `draws()` lists the cards that may be
    drawn.

    Two states are equal if they have the same possible futures, regardless of how they were reached
    (`history`). Agents get an `Observation`, which does not contain what they cannot know.

    >>> state = State.deal(seed=1)
    >>> state.to_move, state.hand(0), state.draft_row
    (0, ('4d', 'kd', '6c', '8c', '4h', '8s'), ('6d', '7d', 'ad', '9c', 'jh'))
    >>> len(state.legal_actions()), str(state.legal_actions()[0])
    (60, 'place 4d at 2,4 take 6d')
    """

    __slots__ = ()

    def __new__(cls, *_args: object, **_kwargs: object) -> "State":
        raise TypeError(
            "a State is made by State.deal(rules, seed) or State.from_deck(rules, deck)"
        )

    @classmethod
    def deal(cls, rules: Rules = DRAFT, seed: int = 0) -> "State":
        """The start of a game with a shuffled deck; the same seed deals the same cards."""
        rng = random.Random(seed)
        deck = list(DECK)
        shuffle(deck, rng)
        return _dealt(rules, tuple(deck), rng.getrandbits(64))

    @classmethod
    def from_deck(cls, rules: Rules, deck: Iterable[int | str], reshuffle_seed: int = 0) -> "State":
        """The start of a game with a given deck: 104 cards by name or number, the top card first.

        The first cards form the draft row, the next ones the hand of each player in turn, and the
        rest will be drawn. `reshuffle_seed` determines how discards are shuffled, if the rules
        require it.

        Raises ValueError unless the deck contains every card twice.
        """
        cards = list(deck)
        order = tuple([NUMBER_OF.get(card, -1) for card in cards])
        if len(order) != len(DECK):
            raise ValueError(f"a deck has {len(DECK)} cards, not {len(order)}")
        if Counter(order) != _WHOLE_DECK:
            pile_of(cards)  # raises an error that states the reason
        return _dealt(rules, order, reshuffle_seed)

    # The rules.

    def legal_actions(self) -> LegalActions:
        """ACTIONS(s): the legal actions, each once, in the order of `sequence.board.actions`.

        The actions are counted and indexed lazily. A player without another legal action has
        `PASS`; there are none when the game is over.
        """
        legal = self._legal
        if legal is None:
            if self.is_over:
                return LegalActions.none()
            rules, player, empty = self.rules, self.to_move, self.empty_mask
            own = self.chip_masks[player % rules.teams]
            legal = LegalActions(
                self.hand_piles[player],
                self.row_pile,
                empty,
                PLAYABLE ^ (empty | own | self.locked_mask),
                not self.traded,
                rules.forgo,
            )
            _set_legal(self, legal)
        return legal

    legal_moves = legal_actions  # the name of the method in tictactoe.contract.State

    def is_terminal(self) -> bool:
        """IS-TERMINAL(s): a side has enough sequences, the draft row is empty, or no player can
        move.

        No player can move if every player in turn has passed.
        """
        return self.is_over

    def after(self, action: Action, draw: str | None = None) -> "State":
        """RESULT(s, a): the state after the player to move plays `action`.

        `draw` names the undealt card to draw, by default the next one of the deck.

        Raises `IllegalAction` if the rules forbid the action, and ValueError if the named card has
        been dealt or the action draws no card.
        """
        legal = self._legal
        if legal is None:
            legal = self.legal_actions()
        located = legal.locate(action)
        if located is None:
            raise IllegalAction(self._illegal_reason(action))
        action, card, take, bit = located
        new, rules, player = next_state(self, action), self.rules, self.to_move
        if draw is not None:
            put_on_top(new, draw, draws=card >= 0)
        if card >= 0:
            exchange(new, player, card, take)
        if bit >= 0:
            if action[0] == PLACE:
                place(new, player % rules.teams, bit)
            else:
                remove(new, bit)
        if bit >= 0 or action == PASS:
            new.traded, new.to_move = False, (player + 1) % rules.players
        else:
            new.traded, new.to_move = True, player
        # A turn without a play or a trade changes nothing, even if a trade was forgone in it.
        passes = new.passes = 0 if card >= 0 else self.passes + (action == PASS)
        new.is_over = (
            passes == rules.players
            or (not new.row_pile and rules.row > 0)
            or (new.sequences is not self.sequences and max(new.sequences) >= rules.sequences)
        )
        # Changing the class makes the object immutable. If the fields were set with
        # `object.__setattr__` instead, a complete random game would take 1.5 times as many
        # instructions (callgrind).
        new.__class__ = State
        return new  # type: ignore[return-value]  # its class has become State

    def draws(self) -> tuple[tuple[str, Fraction], ...]:
        """The possible next draws: each undealt card, in card order, with its probability."""
        rest = names(pile_of(self.deck[self.dealt :]))
        return tuple((card, Fraction(rest.count(card), len(rest))) for card in dict.fromkeys(rest))

    @property
    def winner(self) -> int | None:
        """The side with the most sequences; None for a tie and before the end."""
        return winner_of(self.sequences) if self.is_over else None

    def utility(self, player: int) -> int:
        """UTILITY(s, p): +1 if the player's side has won, -1 if another has, 0 for a tie.

        Raises ValueError if the game is not over.
        """
        if not self.is_over:
            raise ValueError(f"{self!r} is not terminal: it has no utility yet")
        if self.winner is None:
            return 0
        return 1 if self.rules.side(player) == self.winner else -1

    def observation(self, player: int | None = None) -> Observation:
        """A player's observation of this state, by default that of the player to move.

        Raises ValueError for a player who is not in the game.
        """
        player = self.to_move if player is None else self.rules.seat(player)
        return Observation(
            rules=self.rules,
            player=player,
            to_move=self.to_move,
            traded=self.traded,
            passes=self.passes,
            is_over=self.is_over,
            sequences=self.sequences,
            hand_pile=self.hand_piles[player],
            row_pile=self.row_pile,
            chip_masks=self.chip_masks,
            locked_mask=self.locked_mask,
            history=self.history,
            reshuffled=self.reshuffled,
            deck_size=len(self.deck) - self.dealt,
        )

    # Cards and chips by name, in readable form.

    def hand(self, player: int) -> tuple[str, ...]:
        """The cards in a player's hand, in card order; raises ValueError for an unknown player."""
        return names(self.hand_piles[self.rules.seat(player)])

    @property
    def draft_row(self) -> tuple[str, ...]:
        """The face-up draft cards in card order; none if cards are drawn blind."""
        return names(self.row_pile)

    @property
    def draw_pile(self) -> tuple[str, ...]:
        """The cards that will be drawn, the next one first."""
        return tuple(CARDS[number] for number in self.deck[self.dealt :])

    @property
    def discards(self) -> tuple[str, ...]:
        """The discarded cards in card order."""
        return names(unseen(*self.hand_piles, self.row_pile, pile_of(self.deck[self.dealt :])))

    def __getitem__(self, cell: tuple[int, int]) -> str:
        """The chip on a cell, as in the board's text; raises KeyError if the cell does not exist."""
        return chip_at(cell, self.chip_masks, self.locked_mask)

    def __str__(self) -> str:
        hands = {player: self.hand(player) for player in range(self.rules.players)}
        return position_text(self, hands, len(self.deck) - self.dealt, turn_text(self))

    def __repr__(self) -> str:
        return (
            f"<State of {self.rules} after {len(self.history)} actions: {turn_text(self)}, "
            f"hand {cards_text(self.hand(self.to_move))}, "
            f"draft row {cards_text(self.draft_row)}>"
        )

    def _repr_html_(self) -> str:
        return as_html(self)

    def _illegal_reason(self, action: object) -> str:
        if self.is_over:
            reason = "the game is over"
        else:
            legal = self.legal_actions()
            reason = f"it is not among the {len(legal)} legal actions, like {tuple(legal[0])}"
        return f"illegal action {action!r} for player {self.to_move} in {self!r}: {reason}"

    # Equality, hashing, copying and immutability.

    def _key(self) -> tuple[object, ...]:
        return (
            self.rules,
            self.chip_masks,
            self.locked_mask,
            self.sequences,
            self.hand_piles,
            self.row_pile,
            self.deck[self.dealt :],
            self.to_move,
            self.traded,
            self.passes,
            self.reshuffle_seed,
        )

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, State) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a State is immutable: use after(action) to get the next one")

    def __delattr__(self, name: str) -> None:
        raise AttributeError("a State is immutable: its attributes cannot be deleted")

    def __reduce__(self) -> tuple[Any, tuple[dict[str, Any]]]:
        return _restore, ({name: getattr(self, name) for name in _NAMES},)

    def __copy__(self) -> "State":
        return self

    def __deepcopy__(self, memo: dict[int, object]) -> "State":
        return self


_WHOLE_DECK = Counter(DECK)
_new = object.__new__
# The fields are set through their descriptors, because the instance's __setattr__ raises an error.
_set_legal = StateBuilder.__dict__["_legal"].__set__
_NAMES = tuple(name for name in StateBuilder.__slots__ if name != "_legal")


def state_of(**fields: Any) -> State:
    """The `State` with these fields, except `_legal`, without validation; only for this package."""
    state = _new(StateBuilder)
    for name in _NAMES:
        setattr(state, name, fields[name])
    state._legal = None
    state.__class__ = State
    return state  # type: ignore[return-value]  # its class has become State


def _dealt(rules: Rules, deck: tuple[int, ...], reshuffle_seed: int) -> State:
    """The start of a game with a complete deck."""
    dealt, hands = rules.row, []
    for _ in range(rules.players):
        hands.append(pile_of(deck[dealt : dealt + rules.hand]))
        dealt += rules.hand
    return state_of(
        rules=rules,
        chip_masks=(0,) * rules.teams,
        empty_mask=PLAYABLE,
        locked_mask=0,
        sequences=(0,) * rules.teams,
        hand_piles=tuple(hands),
        row_pile=pile_of(deck[: rules.row]),
        deck=deck,
        dealt=dealt,
        to_move=0,
        traded=False,
        passes=0,
        history=(),
        reshuffled=0,
        reshuffle_seed=None if rules.row else reshuffle_seed,
        is_over=False,
    )


def _restore(fields: dict[str, Any]) -> State:
    return state_of(**fields)
