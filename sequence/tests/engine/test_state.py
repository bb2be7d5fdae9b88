"""Tests of states: random games against the slow implementation, endings, errors and chance."""

import copy
import pickle
import random
from collections import Counter
from fractions import Fraction

import pytest

from sequence import DRAFT, FORGO, OFFICIAL, PASS, Action, IllegalAction, State
from sequence.board.cards import CARDS, DECK, NUMBER, numbers
from sequence.board.layout import PLAYABLE, mask_of
from sequence.tests.support.positions import as_tuple, board_of, slow_board, state_from
from sequence.tests.support.slow_rules import SlowGame
from tictactoe.contract import IllegalMove
from tictactoe.contract import State as AnyState

TABLES = [
    DRAFT,
    DRAFT.for_players(4),
    *(
        OFFICIAL.for_players(*table)
        for table in ((2,), (3,), (4,), (6, 2), (6, 3), (8,), (9,), (10,), (12, 2), (12, 3))
    ),
]
FULL_BOARD = """
*xxooxxoo*
xxooxxooxx
ooxxooxxoo
xxooxxooxx
ooxxooxxoo
xxooxxooxx
ooxxooxxoo
xxooxxooxx
ooxxooxxoo
*xooxxoox*"""


def slow_and_fast(rules, seed, longest=400):
    """Play a random game in both implementations and compare them after every action."""
    state, chance = State.deal(rules, seed), random.Random(seed)
    slow = SlowGame(rules, [CARDS[k] for k in state.deck])
    steps = 0
    while True:
        legal = list(state.legal_actions())
        assert {as_tuple(action) for action in legal} == slow.legal()
        assert len(legal) == len(set(legal))
        assert (state.to_move, state.traded, state.passes) == (
            slow.set_option,
            slow.traded,
            slow.passes,
        )
        assert state.is_terminal() == slow.over()
        assert state.sequences == tuple(slow.scores)
        assert slow_board(state) == slow.board
        assert list(state.draw_pile) == slow.deck
        assert sorted(state.draft_row) == sorted(slow.row)
        for player in range(rules.players):
            assert sorted(state.hand(player)) == sorted(slow.hands[player])
        assert sorted(state.discards) == sorted(slow.discards)
        if state.is_terminal() or steps == longest:
            break
        action = chance.choice(legal)
        before, state = state, state.after(action)
        slow.play(as_tuple(action), state.draw_pile)
        assert before.legal_actions()[0] == legal[0]
        steps += 1
    if state.is_terminal():
        assert state.winner == slow.winner()
    return steps


@pytest.mark.slow
@pytest.mark.parametrize("rules", TABLES, ids=str)
def test_random_games_beside_the_slow_rules(rules):
    """In 12 random games per table, actions, cards, chips, scores, turns and endings agree."""
    assert sum(slow_and_fast(rules, seed) for seed in range(12)) > 200


@pytest.mark.content(inputs=["common", "sequence", "tictactoe"])
@pytest.mark.slow
@pytest.mark.parametrize("rules", TABLES, ids=str)
def test_many_random_games_beside_the_slow_rules(rules):
    """The same holds in 2,400 games: 800 for each `draft` table and 80 for each `official` table."""
    for seed in range(800 if rules.row else 80):
        slow_and_fast(rules, 1_000 + seed)


def check_invariants(state):
    """Check the invariants that hold in all states."""
    rules, chips, full = state.rules, state.chip_masks, Counter(DECK)
    taken = 0
    for mask in chips:
        assert not mask & taken, "two sides share a cell"
        taken |= mask
    assert taken ^ state.empty_mask == PLAYABLE
    assert state.locked_mask & ~taken == 0
    assert all(pile.bit_count() == rules.hand for pile in state.hand_piles)
    cards = Counter(state.deck[state.dealt :])
    for pile in (*state.hand_piles, state.row_pile):
        cards.update(numbers(pile))
    cards.update(
        NUMBER[action.play_card] for action in state.history[state.reshuffled :] if action.play_card
    )
    assert cards == full, "104 cards, each twice"
    assert bool(state.legal_actions()) != state.is_terminal()
    assert state.row_pile.bit_count() <= rules.row
    assert state.is_terminal() == (
        max(state.sequences) >= rules.sequences
        or (rules.row > 0 and not state.row_pile)
        or state.passes == rules.players
    )
    assert 0 <= state.to_move < rules.players


def play_checked(rules, seed):
    """Play a random game and check the last and every tenth state, or all for one seed in ten."""
    state, chance = State.deal(rules, seed), random.Random(seed)
    step = 10 if seed // 12 % 10 else 1  # 12 consecutive seeds, so that every table gets some
    while not state.is_terminal():
        if len(state.history) % step == 0:
            check_invariants(state)
        state = state.after(state.legal_actions().choose(chance))
    check_invariants(state)
    total = sum(state.utility(player) for player in range(rules.teams))
    assert total == (0 if state.winner is None else 2 - rules.teams)
    return state


@pytest.mark.parametrize("rules", TABLES, ids=str)
def test_invariants(rules):
    """In 30 random games per table, the cards, chips and legal actions are consistent."""
    for seed in range(30):
        play_checked(rules, seed)


@pytest.mark.content(inputs=["common", "sequence", "tictactoe"])
@pytest.mark.slow
@pytest.mark.parametrize("tables", [TABLES[:2], TABLES[2:]], ids=["draft", "official"])
def test_invariants_of_ten_thousand_games(tables):
    """The invariants hold in 10,000 random games for each rule set (see `play_checked`)."""
    for seed in range(10_000):
        play_checked(tables[seed % len(tables)], seed)


def test_deal():
    """The draft row comes from the top of the deck, followed by six cards per player."""
    deck = [CARDS[k] for k in DECK]
    random.Random(3).shuffle(deck)
    state = State.from_deck(DRAFT.for_players(4), deck)
    assert sorted(state.draft_row) == sorted(deck[:5])
    assert [sorted(state.hand(p)) for p in range(4)] == [
        sorted(deck[5 + 6 * p : 11 + 6 * p]) for p in range(4)
    ]
    assert list(state.draw_pile) == deck[29:]
    assert state.to_move == 0
    assert State.deal(seed=4) == State.deal(seed=4) != State.deal(seed=5)


@pytest.mark.parametrize("deck", [[], DECK[:-1], (*DECK[:-1], 0), (*DECK[:-1], "1d")])
def test_wrong_decks_are_errors(deck):
    """A deck that is not 52 cards, each twice, raises ValueError."""
    with pytest.raises(ValueError, match=r"104 cards|two copies|not a card"):
        State.from_deck(DRAFT, deck)


ROW = ["2s", "2s", "3s", "4s", "jh"]
DEAD_2D = {(2, 2): "0", (5, 9): "1"}


def dead_card_state(**changes):
    """Player 0 holds 2d twice, whose cells are both taken, and 3d, which is not dead."""
    board = board_of("*........* " + ".......... " * 8 + "*........*") | DEAD_2D
    hands = [["2d", "2d", "3d", "4d", "5d", "6d"], ["kc", "kc", "qc", "qc", "tc", "tc"]]
    return state_from(board, hands, ROW, **changes)


def test_dead_card_first():
    """A player with dead cards can only trade any of them for any card of the row, or forgo this."""
    legal = list(dead_card_state().legal_actions())
    assert legal == [*(Action("trade", "2d", take) for take in ("2s", "3s", "4s", "jh")), FORGO]


def test_trade_then_play():
    """After a trade, the same player moves, with the card taken, and may not trade again."""
    state = dead_card_state()
    after = state.after(Action("trade", "2d", "4s"))
    assert (after.to_move, after.traded) == (0, True)
    assert after.hand(0) == ("2d", "3d", "4d", "5d", "6d", "4s")
    assert after.discards == ("2d",)
    assert len(after.draft_row) == 5
    assert {action.kind for action in after.legal_actions()} == {"place"}
    done = after.after(after.legal_actions()[0])
    assert (done.to_move, done.traded) == (1, False)


def test_forgo_then_play():
    """After forgoing, the cards are unchanged and the same player moves."""
    state = dead_card_state()
    after = state.after(FORGO)
    assert (after.to_move, after.hand(0), after.draw_pile) == (0, state.hand(0), state.draw_pile)
    assert FORGO not in after.legal_actions()
    with pytest.raises(IllegalAction):
        after.after(FORGO)


def test_official_dead_card():
    """Under `official`, a dead card may be traded blind, and plays are legal as well."""
    board = board_of("*........* " + ".......... " * 8 + "*........*") | DEAD_2D
    hands = [["2d", "2d", "3d", "4d", "5d", "6d", "7d"], ["kc", "kc", "qc", "qc", "tc", "tc", "9c"]]
    state = state_from(board, hands, rules=OFFICIAL, deck=["as", "ks", "qs"])
    legal = list(state.legal_actions())
    assert legal[-1] == Action("trade", "2d")
    assert [action.kind for action in legal[:-1]] == ["place"] * 10
    after = state.after(legal[-1])
    assert (after.to_move, "as" in after.hand(0), after.draw_pile) == (0, True, ("ks", "qs"))
    assert Action("trade", "2d") not in after.legal_actions()


def test_official_reshuffles_when_the_deck_runs_out():
    """When the last card has been drawn, the discards become the deck, shuffled by the seed."""

    def drawn_out(seed):
        chance = random.Random(1)
        while True:
            deck = list(DECK)
            chance.shuffle(deck)
            state = State.from_deck(OFFICIAL, deck, seed)
            while not state.is_terminal():
                before, state = state, state.after(state.legal_actions().choose(chance))
                if state.reshuffled:
                    return before, state

    before, state = drawn_out(7)
    assert len(before.draw_pile) == 1
    assert len(state.draw_pile) == 90
    assert state.discards == ()
    assert state == drawn_out(7)[1] != drawn_out(8)[1]
    check_invariants(state)


def test_jacks():
    """A two-eyed jack can be played on any empty cell, a one-eyed jack only on others' free chips."""
    board = board_of("*.x..O.o.* " + ".......... " * 8 + "*........*")
    hands = [["jd", "js", "js", "jd", "jc", "jc"], ["kc", "kc", "qc", "qc", "tc", "tc"]]
    state = state_from(board, hands, ["jh", "2s", "3s", "4s", "5s"])
    legal = list(state.legal_actions())
    assert Counter((action.kind, action.play_card) for action in legal) == {
        ("place", "jd"): 5 * 93,
        ("place", "jc"): 5 * 93,
        ("remove", "js"): 5,
    }
    assert {action.coords for action in legal if action.kind == "remove"} == {(0, 7)}
    after = state.after(Action("remove", "js", "2s", (0, 7)))
    assert after[0, 7] == ""
    assert after.to_move == 1


def test_heart_ends_the_game():
    """The fourth cell of the heart completes two sequences and ends the game."""
    board = board_of("*........* " + ".......... " * 8 + "*........*")
    board |= dict.fromkeys([(4, 4), (4, 5), (5, 4)], "0")
    hands = [["3h", "2d", "3d", "4d", "5d", "6d"], ["kc", "kc", "qc", "qc", "tc", "tc"]]
    state = state_from(board, hands, ROW).after(Action("place", "3h", "2s", (5, 5)))
    assert state.is_terminal()
    assert (state.sequences, state.winner) == ((2, 0), 0)
    assert (state.utility(0), state.utility(1)) == (1, -1)
    assert len(state.legal_actions()) == 0
    assert state.locked_mask == mask_of([(4, 4), (4, 5), (5, 4), (5, 5)])


def test_three_teams_need_one_sequence():
    """Three teams need one sequence, two teams two; all other teams lose."""
    rules = OFFICIAL.for_players(3)
    board = board_of("*xxx.....* " + ".......... " * 8 + "*........*")
    hands = [
        ["5s", "2d", "3d", "4d", "5d", "6d"],
        ["kc"] * 2 + ["qc"] * 2 + ["tc"] * 2,
        ["ks"] * 2 + ["qs"] * 2 + ["ts"] * 2,
    ]
    state = state_from(board, hands, rules=rules).after(Action("place", "5s", "", (0, 4)))
    assert state.is_terminal()
    assert [state.utility(player) for player in range(3)] == [1, -1, -1]


def test_four_players_in_two_sides():
    """Players 0 and 2 play against 1 and 3, win together and share their chips."""
    state = State.deal(DRAFT.for_players(4), 1)
    chance = random.Random(2)
    while not state.is_terminal() or state.winner is None:
        state = State.deal(DRAFT.for_players(4), chance.randrange(99)) if state.is_over else state
        state = state.after(state.legal_actions().choose(chance))
    assert state.utility(0) == state.utility(2) == -state.utility(1) == -state.utility(3)


def test_empty_row_ends_the_game_even_after_a_trade():
    """A trade that takes the last draft card ends the game before the play; equal scores are a tie."""
    state = dead_card_state(deck=[])
    rest = state_from(slow_board(state), [state.hand(0), state.hand(1)], ["2s"], deck=[])
    after = rest.after(Action("trade", "2d", "2s"))
    assert after.is_terminal()
    assert (after.winner, after.utility(0), len(after.legal_actions())) == (None, 0, 0)


def test_pass():
    """A player without another action can pass, and the next player is to move."""
    board = board_of(FULL_BOARD)
    hands = [["2d", "2d", "3d", "3d", "4d", "4d"], ["jh", "kc", "qc", "qc", "tc", "tc"]]
    state = state_from(board, hands, ROW).after(FORGO)
    assert list(state.legal_actions()) == [PASS]
    assert state.legal_actions()[-1] == PASS
    after = state.after(PASS)
    assert (after.to_move, after.passes, after.is_terminal()) == (1, 1, False)
    assert FORGO in after.legal_actions()
    played = after.after(FORGO).after(Action("remove", "jh", "2s", (0, 1)))
    assert played.passes == 0


def test_nobody_can_move():
    """The game ends when every player in turn has passed, even if they forwent trades."""
    board = board_of(FULL_BOARD)
    hands = [["2d", "2d", "3d", "3d", "4d", "4d"], ["kc", "kc", "qc", "qc", "jd", "tc"]]
    state = state_from(board, hands, ROW, sequences=(1, 0))
    for action in (FORGO, PASS, FORGO, PASS):
        assert not state.is_terminal()
        state = state.after(action)
    assert state.is_terminal()
    assert state.winner == 0


def test_an_illegal_action_names_state_and_action():
    """The error is also an IllegalMove, and names the action, the player and the state."""
    state, action = State.deal(seed=1), Action("place", "2s", "6d", (0, 1))
    with pytest.raises(IllegalAction) as caught:
        state.after(action)
    assert isinstance(caught.value, IllegalMove)
    assert repr(action) in str(caught.value)
    assert repr(state) in str(caught.value)
    assert "60 legal actions" in str(caught.value)


def test_no_action_after_the_end():
    """A finished game accepts no action, and an unfinished one has no utility."""
    state = play_checked(DRAFT, 1)
    with pytest.raises(IllegalAction, match="the game is over"):
        state.after(PASS)
    with pytest.raises(ValueError, match="not terminal"):
        State.deal().utility(0)


def test_a_given_draw():
    """`draw` makes the named card the next one and keeps the order of the others."""
    state = State.deal(seed=1)
    action = state.legal_actions()[0]
    wanted = state.draw_pile[40]
    after = state.after(action, draw=wanted)
    assert sorted(after.draft_row) == sorted(
        [card for card in state.draft_row if card != action.draft_card] + [wanted]
    )
    rest = list(state.draw_pile)
    rest.remove(wanted)
    assert list(after.draw_pile) == rest
    assert state.after(action, draw=state.draw_pile[0]) == state.after(action)


def test_impossible_draws_are_errors():
    """A card that has been dealt, or any card if none is drawn, raises ValueError."""
    state = State.deal(seed=1)
    gone = next(card for card in CARDS if card not in state.draw_pile)
    for draw in (gone, "1d", 7):
        with pytest.raises(ValueError, match="cannot be drawn"):
            state.after(state.legal_actions()[0], draw=draw)
    with pytest.raises(ValueError, match="draws no card"):
        dead_card_state().after(FORGO, draw="as")


def test_draws():
    """The probabilities of the next draw are proportional to the undealt copies, and add up to one."""
    state = State.deal(seed=1)
    draws = dict(state.draws())
    assert sum(draws.values()) == 1
    assert all(share == Fraction(state.draw_pile.count(card), 87) for card, share in draws.items())


def test_equality_and_hash():
    """States are equal if their possible futures are, however they were reached."""
    state = State.deal(seed=1)
    twin = State.deal(seed=1)
    assert state == twin
    assert hash(state) == hash(twin)
    assert state != "a state"
    again = pickle.loads(pickle.dumps(state.after(state.legal_actions()[3])))
    assert again == state.after(state.legal_actions()[3])
    assert again.history == state.after(state.legal_actions()[3]).history
    swapped = State.from_deck(DRAFT, state.deck[:-2] + state.deck[:-3:-1])
    assert (swapped == state) == (state.deck[-1] == state.deck[-2])
    assert swapped.observation() == state.observation()


def test_states_are_immutable():
    """Attributes of a state can be neither set nor deleted; a copy is the state itself."""
    state = State.deal(seed=1)
    for name in ("to_move", "_legal", "new"):
        with pytest.raises(AttributeError, match="immutable"):
            setattr(state, name, 1)
        with pytest.raises(AttributeError, match="immutable"):
            delattr(state, name)
    assert copy.copy(state) is copy.deepcopy(state) is state
    with pytest.raises(TypeError, match=r"State\.deal"):
        State()


def test_a_state_fits_the_searches():
    """A state also works in the searches for tic-tac-toe, which call `legal_moves`."""
    state = State.deal(seed=1)
    assert isinstance(state, AnyState)
    assert state.legal_moves() is state.legal_actions()


def test_text():
    """The text shows cards and chips, hands, row, score and the player to move."""
    state = State.deal(seed=1).after(Action("place", "4d", "6d", (2, 4)))
    lines = str(state).splitlines()
    assert lines[3] == "2  7c as 2d 3d x  5d 6d 7d 9h qs"
    assert lines[-1] == "player 1 to move"
    assert "player 0: 6d kd 6c 8c 4h 8s" in lines
    assert "undealt: 86" in lines
    with pytest.raises(KeyError):
        state[10, 0]


@pytest.mark.parametrize(
    ("players", "teams"), [(1, None), (5, None), (7, None), (13, None), (4, 3), (6, 4)]
)
def test_wrong_tables_are_errors(players, teams):
    """Numbers of players and teams that the rule set does not allow raise ValueError."""
    with pytest.raises(ValueError, match="official"):
        OFFICIAL.for_players(players, teams)
    with pytest.raises(ValueError, match="draft"):
        DRAFT.for_players(3)


def test_tables():
    """The tables contain the hand size, teams and sequences to win for each number of players."""
    found = {(rules.players, rules.teams): (rules.hand, rules.sequences) for rules in TABLES[2:]}
    assert found == {
        (2, 2): (7, 2),
        (3, 3): (6, 1),
        (4, 2): (6, 2),
        (6, 2): (5, 2),
        (6, 3): (5, 1),
        (8, 2): (4, 2),
        (9, 3): (4, 1),
        (10, 2): (3, 2),
        (12, 2): (3, 2),
        (12, 3): (3, 1),
    }
    assert DRAFT.for_players(4).members(0) == (0, 2)
    assert DRAFT.for_players(4).members(1) == (1, 3)
