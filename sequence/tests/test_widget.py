"""Tests of Sequence's boards: clickable elements, clicks, failing agents, and replays."""

import random
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from sequence import DRAFT, OFFICIAL, PASS, Greedy, Random, ReplayError, State
from sequence import play as play_game
from sequence.agents.beliefs import sample
from sequence.board.actions import FORGO, PLACE, REMOVE
from sequence.board.cards import is_jack
from sequence.engine.replay import read, write
from sequence.pictures.view import picture
from sequence.pictures.words import describe_position
from sequence.tests.support.clicks import play_by_clicks, put
from sequence.tests.support.positions import board_of, state_from
from sequence.widget import Play, play, replay
from tictactoe.tests.support.boards import buttons, click, lit
from tictactoe.tests.support.threads import Held, at_once, beside

REPLAYS = Path(__file__).parent / "engine" / "replays"
FULL = "*xoxoxoxo*\n" + "xoxoxoxoxo\n" * 8 + "*oxoxoxox*"


# The buttons that are always present, on the person's turn and while an agent thinks.
TURN = ["undo", "redo", "hint", "resign", "seat", "new"]
WAIT = ["undo", "redo", "resign", "seat", "new"]


class Broken:
    """Raises an error on the first call, and then plays at random."""

    def __init__(self):
        self.asked = 0

    def choose(self, observation):
        """An error, then a random action."""
        self.asked += 1
        if self.asked == 1:
            raise RuntimeError("out of ideas")
        return Random(1).choose(observation)


class Interrupted:
    """Raises an interrupt on the first call, and then plays at random."""

    def __init__(self, by=KeyboardInterrupt):
        self.errors = [by]

    def choose(self, observation):
        """The exception of the kernel's Interrupt button, then a random action."""
        if self.errors:
            raise self.errors.pop()
        return Random(1).choose(observation)


class Wrong:
    """Passes when it is not allowed to."""

    def choose(self, observation):
        """Always a pass."""
        return PASS


class WrongInSearch:
    """Makes an illegal pass in a state that it makes up."""

    def choose(self, observation):
        """An error."""
        return sample(observation, random.Random(1)).after(PASS)


def pressed(game):
    """The selected elements of the displayed picture."""
    root = ET.fromstring(game.board.content["svg"])
    return {
        element.get("data-move") for element in root.iter() if element.get("data-pressed") == "true"
    }


def cells(actions):
    """The cells of these actions, by their names in the picture."""
    return {f"cell {action.coords[0]},{action.coords[1]}" for action in actions if action.coords}


def lit_cells(game):
    """The cells that can be clicked."""
    return {move for move in lit(game) if move.startswith("cell")}


def test_card_cell_and_draft_card_play_an_action():
    """The three parts of an action are clicked in turn, and the agent answers."""
    game = play(against=Greedy(), seed=1)
    click(game, "card 4d", "cell 2,4")
    assert len(game.states) == 1
    click(game, "take jh")
    assert str(game.states[1].history[-1]) == "place 4d at 2,4 take jh"
    assert len(game.states) == 3
    assert game.state.to_move == 0
    assert "Player 1: place" in game.board.content["status"]


@pytest.mark.parametrize(
    "order",
    [
        ["take jh", "card 4d", "cell 2,4"],
        ["take jh", "cell 2,4"],
        ["cell 2,4", "take jh"],
        ["card 4d", "cell 7,9", "cell 2,4", "take jh"],
        ["cell 7,9", "cell 7,9", "cell 2,4", "take jh"],
        ["take 6d", "take jh", "cell 2,4"],
        ["card kd", "card 4d", "take jh", "cell 2,4"],
        ["card kd", "card kd", "cell 2,4", "take jh"],
        ["cell 7,7", "card 4d", "cell 2,4", "take jh"],
    ],
)
def test_any_order_will_do(order):
    """The order of the parts is free, a cell selects its card, and choices can be changed."""
    game = play(seed=1)
    click(game, *order)
    assert len(game.states) == 3
    assert str(game.states[1].history[-1]) == "place 4d at 2,4 take jh"


@pytest.mark.parametrize("rules", [DRAFT, OFFICIAL])
def test_lit_cells_are_the_legal_ones(rules):
    """In all states, the cells of the hand's cards are lit, or those of the selected card."""
    chance = random.Random(5)
    game = play(against=Random(), seed=5, rules=rules)
    while not game.state.is_over:
        legal = tuple(game.state.legal_actions())
        playable = {f"card {action.play_card}" for action in legal if action.play_card}
        row = {f"take {card}" for card in game.state.draft_row} if playable else set()
        plain = [a for a in legal if a.kind == PLACE and not is_jack(a.play_card)]
        assert lit(game) == playable | row | cells(plain)
        action = chance.choice(legal)
        if action.coords:
            click(game, f"card {action.play_card}")
            assert lit_cells(game) == cells(a for a in legal if a.play_card == action.play_card)
        play_by_clicks(game, action, chosen=bool(action.coords))


@pytest.mark.parametrize(
    ("rules", "seat"),
    [
        (DRAFT, 0),
        (DRAFT, 1),
        (DRAFT.for_players(4), 2),
        (OFFICIAL, 0),
        (OFFICIAL.for_players(3), 1),
        (OFFICIAL.for_players(12, 3), 11),
    ],
)
def test_any_clicks_come_to_an_end(rules, seat):
    """Arbitrary clicks on available elements play a legal game to its end."""
    chance = random.Random(7)
    game = play(against=Random(), seat=seat, seed=7, rules=rules)
    for _ in range(5000):
        offered = sorted({*lit(game), *buttons(game)} - {*TURN})
        if not offered:
            break
        click(game, chance.choice(offered))
    assert game.state.is_over
    assert any(word in game.board.content["status"] for word in ("won", "lost", "tie"))
    assert list(read(game.replay)) == game.states


def test_the_same_seed_and_clicks_play_the_same_game():
    """The deal and the agents' choices depend on the seed; a new game has the next seed."""
    first, second = (play(against=Random(), seed=3) for _ in range(2))
    for game in (first, second):
        play_by_clicks(game, game.state.legal_actions()[0])
    assert first.states == second.states
    click(first, "new")
    assert first.states == [State.deal(seed=4)]


def test_a_person_sees_only_their_own_cards():
    """The picture and its description show the person's observation, even in the other seat."""
    game = play(against=Greedy(), seat=1, seed=2)
    seen = game.state.observation(1)
    assert game.board.content["alt"] == describe_position(seen)
    assert f"Hand of player 1: {' '.join(seen.hand)}" in game.board.content["alt"]
    assert "Hand of player 0" not in game.board.content["alt"]


def test_the_other_hand_stays_hidden_while_an_agent_thinks():
    """While an agent thinks, the picture is still the person's, and nothing is clickable."""
    shown = []

    class Looking(Greedy):
        """Looks at the board before it chooses."""

        def choose(self, observation):
            """Greedy's action."""
            shown.append(game.board.content)
            return super().choose(observation)

    game = play(against=Looking(), seed=1)
    click(game, "card 4d", "cell 2,4", "take 6d")
    [seen] = [state.observation(0) for state in game.states if state.to_move == 1]
    assert shown == [
        {
            "svg": picture(seen),
            "compact": picture(seen, compact=True),
            "alt": describe_position(seen),
            "buttons": [
                ["undo", "Undo"],
                ["redo", "Redo"],
                ["resign", "Resign"],
                ["seat", "Change seats"],
                ["new", "New game"],
            ],
            "status": "Looking, player 1, is thinking …",
            "busy": True,
            "moves": ["player 0: place 4♦ at 2,4, take 6♦"],
        }
    ]


def test_another_card_drops_the_cell():
    """A cell on which the newly selected card cannot be played is deselected."""
    game = play(seed=1)
    click(game, "cell 7,7", "card 4d")
    assert pressed(game) == {"card 4d"}
    assert "click a highlighted cell" in game.board.content["status"]
    click(game, "cell 2,4")
    assert pressed(game) == {"card 4d", "cell 2,4"}
    click(game, "card 4d")
    assert "cell 2,4" in pressed(game)
    assert len(game.states) == 1


def test_undo():
    """Undo goes back to the person's previous decision, and reports if there is none."""
    game = play(seed=1)
    start = game.state
    play_by_clicks(game, start.legal_actions()[0])
    click(game, f"card {game.state.hand(0)[0]}", "undo")
    assert game.states == [start]
    click(game, "undo")
    assert game.states == [start]
    assert game.board.content["status"] == "There is nothing to undo."


def test_clicks_on_an_older_picture_are_left_alone():
    """Clicks on unavailable elements or nonsense change nothing."""
    game = play(seed=1)
    click(game, "card 4d")
    before = game.board.content
    click(
        game,
        "cell 0,0",
        "cell 9,1",
        "take 2s",
        "card 2s",
        "forgo",
        "pass",
        "trade 4d",
        "again",
        "nonsense",
        "",
    )
    assert game.board.content == before


def test_an_agent_that_raises_is_shown_and_asked_again():
    """An agent's error is shown in the status line, and the game continues from there."""
    game = play(against=Broken(), seed=1)
    click(game, "card 4d", "cell 2,4", "take 6d")
    status = game.board.content["status"]
    assert status.startswith("Broken, player 1, raised RuntimeError: out of ideas (line ")
    assert lit(game) == set()
    assert buttons(game) == ["again", *WAIT]
    click(game, "again")
    assert len(game.states) == 3
    assert game.state.to_move == 0


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_an_interrupted_agent_can_be_asked_again(error):
    """After an interrupt of the kernel, or an exit by the agent, the game can continue."""
    game = play(against=Interrupted(error), seed=1)
    click(game, "card 4d", "cell 2,4", "take 6d")
    assert "Interrupted, player 1, " in game.board.content["status"]
    assert "thinking" not in game.board.content["status"]
    click(game, "again")
    assert game.state.to_move == 0
    assert len(game.states) == 3


def test_an_illegal_action_of_an_agent_is_shown():
    """An agent that plays an illegal action is named, and the move can be undone."""
    game = play(against=Wrong(), seed=1)
    click(game, "card 4d", "cell 2,4", "take 6d")
    status = game.board.content["status"]
    assert status.startswith("Wrong, player 1, played Action(kind='pass'")
    assert status.endswith("which is not legal.")
    click(game, "undo")
    assert game.states == [State.deal(seed=1)]
    assert "card 4d" in lit(game)


@pytest.mark.parametrize("agent", [Wrong, WrongInSearch])
def test_a_wrong_agent_does_not_give_its_hand_away(agent):
    """Neither the status line nor the board's text names a hidden card."""
    game = play(against=agent(), seed=1)
    click(game, "card 4d", "cell 2,4", "take 6d")
    seen = game.state.observation(0)
    hidden = set(game.state.hand(1)) - {*seen.hand, *seen.draft_row}
    assert hidden
    told = re.findall(r"\w+", game.board.content["status"] + repr(game))
    assert not hidden & set(told)


def test_dead_cards_in_the_draft():
    """With a dead card, only trading it and forgoing are legal; neither ends the turn."""
    board = board_of(".........*\n" + "..........\n" * 7 + "......x...\n*........*")
    board[0, 1] = "1"
    state = state_from(board, [["2s", "4d"], ["5d"]], ["3s", "6s"])
    game = put(play(seed=1), state)
    assert lit(game) == {"card 2s", "take 3s", "take 6s"}
    assert buttons(game) == ["trade 2s", "forgo", *TURN]
    assert "dead card" in game.board.content["status"]
    click(game, "take 3s")
    assert len(game.states) == 2
    assert str(game.state.history[-1]) == "trade 2s take 3s"
    assert game.state.to_move == 0
    click(game, "undo", "card 2s", "forgo")
    assert game.state.history[-1] == FORGO
    assert {"card 4d", "cell 2,4"} <= lit(game)


def test_a_dead_card_drawn_blind_is_traded_by_its_button():
    """Without a draft row, a dead card is traded by the button, not by a click on it."""
    board = board_of("*.........\n" + "..........\n" * 7 + "......x...\n*........*")
    board[0, 1] = "1"
    state = state_from(board, [["2s", "4d"], ["5d"]], rules=OFFICIAL)
    game = put(play(seed=1, rules=OFFICIAL), state)
    click(game, "card 2s")
    assert len(game.states) == 1
    assert "Trade button" in game.board.content["status"]
    assert lit_cells(game) == set()
    click(game, "trade 2s")
    assert str(game.state.history[-1]) == "trade 2s"
    assert game.state.to_move == 0


def test_jacks():
    """A two-eyed jack highlights the empty cells, a one-eyed jack the others' free chips."""
    board = board_of("*OOOOO....\n" + "..........\n" * 3 + "...xo.....\n" + "..........\n" * 5)
    state = state_from(board, [["jc", "jh"], ["5d"]], ["3s", "6s"], sequences=(0, 1))
    game = put(play(seed=1), state)
    assert lit_cells(game) == set()
    click(game, "card jc")
    assert len(lit_cells(game)) == 100 - 4 - 7
    click(game, "card jh")
    assert lit_cells(game) == {"cell 4,4"}
    click(game, "take 3s")
    assert state.after(game.states[1].history[-1]) == game.states[1]
    assert game.states[1].history[-1].kind == REMOVE


def test_passing():
    """A player without another action has an additional button to pass."""
    state = state_from(board_of(FULL), [["2s"], ["3s"]], ["4s"], traded=True)
    game = put(play(against=Random(), seed=1), state)
    assert lit(game) == set()
    assert buttons(game) == ["pass", *TURN]
    click(game, "pass")
    assert game.states[1].history == (PASS,)


def test_wrong_settings_are_refused():
    """A seat that the rules do not have and a wrong number of agents are errors."""
    with pytest.raises(ValueError, match="no seat 2"):
        play(seat=2)
    with pytest.raises(ValueError, match="need 3 agents in addition to you, not 1"):
        Play([Greedy()], rules=DRAFT.for_players(4))
    for wrong in (Greedy, Random, 3, "Greedy", [Greedy]):
        with pytest.raises(ValueError, match=r"is not an agent: pass an agent, such as Greedy\(\)"):
            play(wrong)
    game = Play([Greedy(), Random(), Greedy()], seat=1, rules=DRAFT.for_players(4))
    assert {seat: type(agent) for seat, agent in game.agents.items()} == {
        0: Greedy,
        2: Random,
        3: Greedy,
    }


def test_what_is_left_without_widgets():
    """An exported board is its picture with its description; a printed one is the position."""
    game = play(seed=1)
    for shown in (game, replay(game.states)):
        data, _ = shown._repr_mimebundle_(include=None, exclude=None)
        assert data["text/html"].startswith('<img alt="Sequence, draft')
        assert data["text/plain"].startswith("Sequence, draft")
        assert data["application/vnd.jupyter.widget-view+json"]["model_id"] == shown.board.model_id
    assert repr(game).startswith("<Play in seat 0: <Observation by player 0 of draft")
    assert repr(replay(game.states)).startswith("<Replay at 0 of 0: <State of draft")


def test_stepping_through_a_replay():
    """Buttons and the slider show every state with open hands and the action in words."""
    text = (REPLAYS / "draft.txt").read_text(encoding="utf-8")
    states = read(text)
    last = len(states) - 1
    viewer = replay(text)
    assert (viewer.step, viewer.board.content["step"], viewer.board.content["last"]) == (0, 0, last)
    click(viewer, "back")
    assert viewer.step == 0
    click(viewer, "next", "next")
    assert viewer.step == 2
    assert viewer.board.content["status"].startswith(f"2 of {last}: player 1: ")
    hands = {player: states[2].hand(player) for player in range(2)}
    assert viewer.board.content["alt"] == describe_position(states[2], hands)
    click(viewer, "step 7", "back")
    assert viewer.step == 6
    click(viewer, "last", "next")
    assert viewer.step == last
    assert "Side 0 has won." in viewer.board.content["status"]
    click(viewer, "first")
    assert viewer.step == 0
    assert buttons(viewer) == ["first", "back", "next", "last", "play", "slower", "faster"]


def test_what_can_be_stepped_through(tmp_path):
    """A game, its states, its text and its file give the same replay; anything else is an error."""
    game = play_game([Random(), Random()], seed=1)
    assert replay(game).states == replay(list(game.states)).states == game.states
    path = tmp_path / "game.txt"
    path.write_text(write(game.states), encoding="utf-8")
    assert replay(path).states == game.states
    with pytest.raises(ReplayError, match="line 1"):
        replay("nonsense")
    with pytest.raises(ValueError, match="at least one state"):
        replay([])


@pytest.mark.parametrize("step", [-1, 1, 1.5, "0"])
def test_steps_that_are_not_there(step):
    """Steps before the first and after the last one are rejected, and the board is unchanged."""
    viewer = replay([State.deal(seed=1)])
    before = viewer.board.content
    with pytest.raises(IndexError, match="the steps are 0 to 0"):
        viewer.go_to(step)
    assert (viewer.step, viewer.board.content) == (0, before)


LATE = [PASS, "nonsense", ValueError("late"), None]


@pytest.mark.parametrize("late", LATE)
@pytest.mark.parametrize("change", ["new", "undo"])
def test_a_late_answer_is_not_played_in_another_game(change, late):
    """A new game or an undo does not wait for the agent, whose late answer is dropped."""
    agent = Held()
    game = play(against=agent, seed=1)
    with beside(lambda: click(game, "card 4d", "cell 2,4", "take 6d")):
        old = agent.question()
        click(game, change)
        assert len(game.states) == 1
        assert game.seed == (2 if change == "new" else 1)
        assert "Your turn" in game.board.content["status"]
        action = game.state.legal_actions()[-1]
        play_by_clicks(game, action)
        agent.answers.put(old.legal_actions()[0] if late is None else late)
        seen = agent.question()
        assert seen.history == (action,)
        agent.answers.put(seen.legal_actions()[0])
    assert game.state.history == (action, seen.legal_actions()[0])
    assert "Your turn" in game.board.content["status"]


def test_clicks_while_an_agent_thinks_are_refused():
    """Clicks change the line below the board, and the answer still counts."""
    agent = Held()
    game = play(against=agent, seed=1)
    with beside(lambda: click(game, "card 4d", "cell 2,4", "take 6d")):
        seen = agent.question()
        click(game, "card 4d", "cell 2,4")
        assert game.board.content["status"] == (
            "It is not your turn: Held, player 1, is thinking …"
        )
        agent.answers.put(seen.legal_actions()[0])
    assert len(game.states) == 3


@pytest.mark.parametrize("late", [Random(7), Greedy()])
def test_a_new_game_is_the_one_of_its_seed(late):
    """Even if the new game interrupted the agent, it plays as in any game with this seed."""

    class Interrupting:
        """Handles a click during its first call."""

        def __init__(self):
            self.clicks = ["new"]

        def reset(self, seed):
            """Reset the inner agent."""
            if hasattr(late, "reset"):
                late.reset(seed)

        def choose(self, observation):
            """The inner agent's action."""
            if self.clicks:
                click(game, self.clicks.pop())
            return late.choose(observation)

    game = play(against=Interrupting(), seed=3)
    action = game.state.legal_actions()[0]
    click(
        game,
        f"card {action.play_card}",
        "cell {},{}".format(*action.coords),
        f"take {action.draft_card}",
    )
    assert game.states == [State.deal(seed=4)]
    alone = play(against=late, seed=4)
    for other in (game, alone):
        play_by_clicks(other, other.state.legal_actions()[0])
        play_by_clicks(other, other.state.legal_actions()[0])
    assert game.states == alone.states
    assert len(game.states) > 3


def test_another_agent_can_be_chosen_while_one_thinks():
    """The new agent is queried instead, and the old agent's late answer is dropped."""
    old = Held()
    game = play(against=old, seed=1)
    with beside(lambda: click(game, "card 4d", "cell 2,4", "take 6d")):
        old.question()
        game.agents[1] = Greedy()
        old.answers.put(PASS)
    assert len(game.states) == 3
    assert game.states[2] == game.states[1].after(Greedy().choose(game.states[1].observation()))


@pytest.mark.parametrize("seed", range(4))
def test_clicks_from_many_threads_play_a_right_game(seed):
    """With arbitrary concurrent clicks, the game is legal, and in the end it is the person's turn."""
    game = play(against=Random(), seed=seed)

    def clicking(number):
        chance = random.Random(f"{seed}/{number}")
        for _ in range(40):
            offered = sorted({*lit(game), *buttons(game)} - {"new"})
            click(game, chance.choice([*offered, "new"] if chance.random() < 0.1 else offered))

    at_once([lambda number=number: clicking(number) for number in range(3)])
    assert "raised" not in game.board.content["status"]
    assert "not legal" not in game.board.content["status"]
    assert game._is_over or game.state.to_move == game.seat
    assert list(read(game.replay)) == game.states


def test_before_the_next_picture_no_action_is_on_offer(monkeypatch):
    """After an action, and before the board is painted, it is not the person's turn."""
    game = play(against=Random(), seed=1)
    monkeypatch.setattr(game._requests, "run", lambda: None)
    while len(game.states) == 1:
        click(game, *sorted({*lit(game), *buttons(game)} - {*TURN}))
    assert game._legal_clicks() == {}
    assert list(game._buttons()) == WAIT


def test_a_replay_is_stepped_from_many_threads():
    """The final picture is that of the final step, and no step is lost."""
    states = play_game([Random(), Random()], seed=1).states
    viewer = replay(states)
    at_once([lambda: click(viewer, *["next"] * 5)] * 4)
    assert viewer.step == 20
    assert viewer.board.content["status"].startswith("20 of")
    assert viewer.board.content["step"] == 20
