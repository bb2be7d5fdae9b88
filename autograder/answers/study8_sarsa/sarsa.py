"""Study 8: SARSA and Q-learning for Sequence: pattern scores, features, a table of action values.

You fill in this module. Notebooks 14 and 15 explain every part; hand in this file with them.
"""

import json
import random
import re
from functools import cache
from math import isfinite
from typing import NamedTuple

from sequence import State, cells_with
from sequence.board.cards import ONE_EYED, TWO_EYED
from sequence.pictures.text import SIDES

# What a cell shows to the side that looks: "M" and "T" are chips of completed sequences.
MINE, THEIRS, EMPTY, WALL = "m", "t", "_", "#"
SIZE, FIVE = 10, 5
DIRECTIONS = ((1, 0), (0, 1), (1, 1), (1, -1))  # down, right and both diagonals
MAX_GAPS = 2  # between the chips of one pattern, front and back together

# What a pattern is worth to the side that makes it.
PATTERN_VALUES = {
    "NONE": 0,
    "LIVE_ONE": 1,
    "SLEEP_TWO": 2,
    "LIVE_TWO": 30,
    "SLEEP_THREE": 40,
    "LIVE_THREE": 9_000,
    "CHONG_FOUR": 9_000,  # a four that one chip can stop
    "LIVE_FOUR": 10_000,  # two ways to finish it
    "LIVE_FIVE": 15_000,
}
# And what it is worth to take a pattern from the opponent; other patterns are worth nothing.
BLOCKING_VALUES = {"LIVE_THREE": 1_000, "LIVE_FOUR": 12_000, "LIVE_FIVE": 13_000}
DRAW_WEIGHT = 0.5  # of the card that is taken, added to the effect on the board; our choice

# The patterns that are counted on the board: regular expressions over one line of cells, as seen by
# the side that makes them. A match takes up only the chips, and none of the cells beside them.
_ENDS = r"(?<=_){0}(?=[^_m])|(?<=[^_m]){0}(?=_)"  # one end open, the other one not
PATTERNS = {
    "SLEEP_TWO": _ENDS.format("mm") + r"|(?<!m)m_m(?!m)",
    "LIVE_TWO": r"(?<=_)mm(?=_)",
    "SLEEP_THREE": _ENDS.format("mmm") + r"|(?<!m)(?:mm_m|m_mm)(?!m)",
    "LIVE_THREE": r"(?<=_)mmm(?=_)",
    "CHONG_FOUR": _ENDS.format("mmmm") + r"|(?<!m)(?:mmm_m|mm_mm|m_mmm)(?!m)",
    "LIVE_FOUR": r"(?<=_)mmmm(?=_)",
    "LIVE_FIVE": r"m{5}|M{5}",
}
OPPONENT_PATTERNS = ("LIVE_FOUR", "CHONG_FOUR", "LIVE_THREE", "LIVE_FIVE")
FEATURES = (*PATTERNS, *(f"OPP_{name}" for name in OPPONENT_PATTERNS))  # eleven
ACTION_FEATURES = (*FEATURES, "TRADE")

Q_WEIGHT, REWARD_WEIGHT = 0.6, 0.4  # of the table and of the heuristic reward
ALPHA, GAMMA, EPSILON = 0.3, 0.9, 0.2  # those of study 5
TRAINING_GAMES = 50


# ---- The board as text: given


def views(observation, corner=MINE):
    """The board as the observing player's side sees it, and as the others do.

    Each is a text of 100 cells, row by row: the side's own chips are "m", the others' "t", capital
    letters stand in completed sequences, "_" is empty. `corner` is what the corners show to both:
    by the rules they are everybody's own chips; with `WALL` they are walls.
    """
    chips = [observation[row, col] for row in range(SIZE) for col in range(SIZE)]
    own = SIDES[observation.side]

    def seen(mine, theirs):
        return "".join(
            corner
            if chip == "*"
            else EMPTY
            if not chip
            else (mine if chip.lower() == own else theirs)[chip.isupper()]
            for chip in chips
        )

    return seen("mM", "tT"), seen("tT", "mM")


def ray(board, cell, step):
    """The cells beyond `cell` to the edge in the direction `step`, then a wall, as text.

    >>> ray("m_mt" + 96 * "_", (0, 0), (0, 1))
    '_mt______#'
    """
    return "".join([board[place] for place in _rays()[cell, step]]) + WALL


def lines_of(board, cell=None):
    """The rows, columns and diagonals of five cells or more, as text between walls.

    All 42, or the three or four that pass through `cell`.
    """
    return [f"#{''.join([board[place] for place in line])}#" for line in _lines()[cell]]


def with_chip(board, cell, chip):
    """The board with another character on a cell."""
    place = SIZE * cell[0] + cell[1]
    return board[:place] + chip + board[place + 1 :]


def uses(board, card):
    """What a card can be used for: pairs of "place" or "remove" and a cell, row by row."""
    if not card:  # an action that takes none
        return []
    kind, wanted = ("remove", THEIRS) if card in ONE_EYED else ("place", EMPTY)
    cells = _cells() if card in ONE_EYED + TWO_EYED else cells_with(card)
    return [(kind, cell) for cell in cells if board[SIZE * cell[0] + cell[1]] == wanted]


@cache
def _cells():
    corners = {(row, col) for row in (0, SIZE - 1) for col in (0, SIZE - 1)}
    return [(row, col) for row in range(SIZE) for col in range(SIZE) if (row, col) not in corners]


@cache
def _rays():
    def walk(row, col, down, right):
        while 0 <= row + down < SIZE and 0 <= col + right < SIZE:
            row, col = row + down, col + right
            yield SIZE * row + col

    steps = [(sign * down, sign * right) for down, right in DIRECTIONS for sign in (1, -1)]
    return {
        ((row, col), step): tuple(walk(row, col, *step))
        for row in range(SIZE)
        for col in range(SIZE)
        for step in steps
    }


@cache
def _lines():
    lines = []
    for step in DIRECTIONS:
        back = (-step[0], -step[1])
        lines += [
            (SIZE * row + col, *_rays()[(row, col), step])
            for row in range(SIZE)
            for col in range(SIZE)
            if not _rays()[(row, col), back]
        ]
    lines = [line for line in lines if len(line) >= FIVE]
    return {None: lines} | {
        cell: [line for line in lines if SIZE * cell[0] + cell[1] in line] for cell in _cells()
    }


# ---- One direction


class DirectionInfo(NamedTuple):
    """What a chip on a cell is part of, in one direction."""

    connect_count: int = 1  # own chips in an unbroken run through the cell, the new one included
    mid_gap_count: int = 0  # single empty cells with own chips on both sides, `MAX_GAPS` at most
    discrete_count_front: int = 0  # own chips beyond a gap
    discrete_count_back: int = 0
    open_front: bool = False  # whether the cell beyond the last chip counted is empty
    open_back: bool = False


@cache  # the same texts come up again and again
def one_side(text, gaps=MAX_GAPS):
    """Read a ray: `(connected, gaps, discrete, is_open)`.

    `connected` are the own chips at its beginning. A single empty cell with an own chip behind it
    is a gap, and reading continues behind it, over at most `gaps` gaps: `discrete` are the own
    chips found there. `is_open` says whether the cell where the reading ends is empty.

    Only "m" is an own chip here: an "M" is used up, and reading ends in front of it.

    >>> one_side("m_mm_t#")
    (1, 1, 2, True)

    Hint: `text.lstrip(MINE)` is a text without its first own chips.
    """
    ### BEGIN SOLUTION
    rest = text.lstrip(MINE)
    connected = len(text) - len(rest)
    crossed = discrete = 0
    while crossed < gaps and rest.startswith(EMPTY + MINE):
        beyond = rest[1:].lstrip(MINE)
        discrete += len(rest) - 1 - len(beyond)
        crossed += 1
        rest = beyond
    return connected, crossed, discrete, rest.startswith(EMPTY)
    ### END SOLUTION


def direction_info(board, cell, direction):
    """The `DirectionInfo` of an own chip on `cell`, whether it stands there or would be placed.

    The front, the ray in this direction, is read first; the back may cross the gaps that the front
    has left of `MAX_GAPS`.

    Hint: the back is the ray of the opposite step. Nothing else changes there, before a gap or
    behind it.
    """
    ### BEGIN SOLUTION
    down, right = direction
    ahead, gaps, front, open_front = one_side(ray(board, cell, direction))
    behind, more, back, open_back = one_side(ray(board, cell, (-down, -right)), MAX_GAPS - gaps)
    return DirectionInfo(ahead + 1 + behind, gaps + more, front, back, open_front, open_back)
    ### END SOLUTION


def pattern(info):
    """The name of the pattern that `info` describes, a key of `PATTERN_VALUES`.

    Five or more connected chips are a LIVE_FIVE, open or not. Without an open end nothing else
    counts: NONE. Otherwise count all chips, connected and discrete. LIVE_n has both ends open and
    no gap; what is not live is CHONG_FOUR for four or more, SLEEP_THREE, SLEEP_TWO, and NONE for
    one.
    """
    ### BEGIN SOLUTION
    if info.connect_count >= FIVE:
        return "LIVE_FIVE"
    if not (info.open_front or info.open_back):
        return "NONE"
    chips = info.connect_count + info.discrete_count_front + info.discrete_count_back
    live = info.open_front and info.open_back and not info.mid_gap_count
    names = (
        ("NONE", "SLEEP_TWO", "SLEEP_THREE", "CHONG_FOUR"),
        ("LIVE_ONE", "LIVE_TWO", "LIVE_THREE", "LIVE_FOUR"),
    )
    return names[live][min(chips, 4) - 1]
    ### END SOLUTION


# ---- The scores: what an action is worth at once


def place_score(mine, theirs, cell):
    """What a chip on an empty cell is worth: own patterns made and the opponent's prevented.

    The sum over the four directions of `PATTERN_VALUES` of the own pattern, and of
    `BLOCKING_VALUES` of the pattern that the opponent would make on the same cell.

    Hint: the second board, `theirs`, is the first one through the opponent's eyes.
    """
    ### BEGIN SOLUTION
    return sum(
        PATTERN_VALUES[pattern(direction_info(mine, cell, direction))]
        + BLOCKING_VALUES.get(pattern(direction_info(theirs, cell, direction)), 0)
        for direction in DIRECTIONS
    )
    ### END SOLUTION


def remove_score(theirs, cell):
    """What it is worth to take away the opponent's chip on a cell.

    The blocking value of a LIVE_FOUR for each direction in which the chip is part of one; any other
    pattern is not worth a jack.
    """
    ### BEGIN SOLUTION
    return sum(
        BLOCKING_VALUES["LIVE_FOUR"]
        for direction in DIRECTIONS
        if pattern(direction_info(theirs, cell, direction)) == "LIVE_FOUR"
    )
    ### END SOLUTION


class Scores:
    """The scores of one position, each computed only once."""

    def __init__(self, observation, corner=MINE):
        self.mine, self.theirs = views(observation, corner)
        self.draft_row = observation.draft_row
        self._uses = {}
        self._drafts = {}

    def use(self, kind, cell):
        """The score of a placement or a removal."""
        if (kind, cell) not in self._uses:
            self._uses[kind, cell] = (
                place_score(self.mine, self.theirs, cell)
                if kind == "place"
                else remove_score(self.theirs, cell)
            )
        return self._uses[kind, cell]

    def draft(self, card):
        """What it is worth to take a card: the best that it could be used for on this board.

        0 if it cannot be used now.

        Hint: `uses(self.mine, card)` lists what it can be used for.
        """
        ### BEGIN SOLUTION
        if card not in self._drafts:
            self._drafts[card] = max([self.use(*use) for use in uses(self.mine, card)], default=0)
        return self._drafts[card]
        ### END SOLUTION

    def best_draft(self):
        """The card of the draft row that is worth most, the first one in card order among equals.

        "" if the row is empty.
        """
        ### BEGIN SOLUTION
        return max(dict.fromkeys(self.draft_row), key=self.draft, default="")
        ### END SOLUTION

    def reward(self, action):
        """The effect of an action on the board: its placement's or removal's score, else 0.

        The card that is taken is left out: with it, an action without any effect would be
        rewarded for what may be done later.
        """
        ### BEGIN SOLUTION
        return self.use(action.kind, action.coords) if action.coords else 0
        ### END SOLUTION

    def score(self, action):
        """What an action is worth at once: its reward, and `DRAW_WEIGHT` times the card's draft."""
        ### BEGIN SOLUTION
        return self.reward(action) + DRAW_WEIGHT * self.draft(action.draft_card)
        ### END SOLUTION

    def candidates(self, legal):
        """The actions of `legal` that are worth considering, as a list in the order of `legal`.

        If some actions take the best draft card *and* trade a card, these trades and nothing else.
        If there are none, all actions that take the best draft card; and if no action takes it, all
        of `legal`. `legal` itself stays as it is.
        """
        ### BEGIN SOLUTION
        best = self.best_draft()
        taking = [action for action in legal if action.draft_card == best]
        trades = [action for action in taking if action.kind == "trade" and action.play_card]
        return trades or taking or list(legal)
        ### END SOLUTION


# ---- The features: what the table knows of a state and of an action


@cache
def pattern_counts(line):
    """How often each of `PATTERNS` stands in a line of cells, in their order.

    Matches that overlap count once, as for `re.findall`.
    """
    ### BEGIN SOLUTION
    return tuple(len(re.findall(regex, line)) for regex in PATTERNS.values())
    ### END SOLUTION


def state_features(mine, theirs, cell=None):
    """The eleven `FEATURES` as a tuple of counts, over all lines or over those through `cell`.

    First all `PATTERNS` in `mine`, then the `OPPONENT_PATTERNS` in `theirs`.
    """
    ### BEGIN SOLUTION
    own, other = (
        list(map(sum, zip(*map(pattern_counts, lines_of(board, cell)), strict=True)))
        for board in (mine, theirs)
    )
    names = list(PATTERNS)
    return (*own, *(other[names.index(name)] for name in OPPONENT_PATTERNS))
    ### END SOLUTION


def action_features(mine, theirs, action):
    """`ACTION_FEATURES`: how an action changes the eleven features; 1 for a trade of cards, or 0.

    To forgo a trade is no trade. Chips that the action completes a sequence with stay "m".

    Hint: only the lines through the action's cell change. `with_chip` makes the boards after it:
    a chip that is "m" to one side is "t" to the other.
    """
    ### BEGIN SOLUTION
    trade = int(action.kind == "trade" and action.play_card != "")
    if not action.coords:
        return (0,) * len(FEATURES) + (trade,)
    cell = action.coords
    chips = (MINE, THEIRS) if action.kind == "place" else (EMPTY, EMPTY)
    before = state_features(mine, theirs, cell)
    after = state_features(with_chip(mine, cell, chips[0]), with_chip(theirs, cell, chips[1]), cell)
    return (*(now - then for now, then in zip(after, before, strict=True)), trade)
    ### END SOLUTION


def discard_features(observation):
    """An optional part of the state: how many jacks are on the discard pile.

    Returns the pair `(two_eyed, one_eyed)`; two copies of a card count as two.
    """
    ### BEGIN SOLUTION
    discards = observation.discards
    return tuple(sum(card in jacks for card in discards) for jacks in (TWO_EYED, ONE_EYED))
    ### END SOLUTION


# ---- The table


class QTable:
    """Action values by the features of a state and of an action; a missing entry is worth 0."""

    def __init__(self):
        self.values = {}  # (state, action) -> float
        self.visits = {}  # (state, action) -> number of updates, only to look at

    def value(self, state, action):
        """Q(s, a)."""
        return self.values.get((state, action), 0.0)

    def update(self, state, action, target, alpha=ALPHA):
        """Move Q(s, a) towards the target by the share `alpha`, and count the update in `visits`.

        An action whose features are all zero is left out: no value is ever stored for it, and no
        visit counted. All others are stored, whatever their value; a trade is among them.
        """
        ### BEGIN SOLUTION
        if any(action):
            old = self.value(state, action)
            self.values[state, action] = old + alpha * (target - old)
            self.visits[state, action] = self.visits.get((state, action), 0) + 1
        ### END SOLUTION

    def to_json(self):
        """The values as JSON text: [state, action, value] for each entry, in the order of keys."""
        entries = [
            [list(state), list(action), value]
            for (state, action), value in sorted(self.values.items())
        ]
        return json.dumps({"features": ACTION_FEATURES, "entries": entries})

    @classmethod
    def from_json(cls, text):
        """The table from such a text; raises ValueError for any other text.

        JSON holds numbers, texts and lists, and nothing that could run, whoever sent the file.
        """
        table = cls()
        try:
            data = json.loads(text)
            if data["features"] != list(ACTION_FEATURES):
                raise ValueError("it has other features")
            for state, action, value in data["entries"]:
                if not all(type(n) is int for n in (*state, *action)) or not isfinite(value):
                    raise ValueError(f"{value!r} is not the value of an entry")
                table.values[tuple(state), tuple(action)] = float(value)
        except (KeyError, TypeError, ValueError, OverflowError, RecursionError) as error:
            raise ValueError(f"this is not a table of action values: {error}") from error
        return table


def td_target(method, reward, taken, values, gamma=GAMMA):
    """What Q(s, a) is moved towards, once the next action is known.

    `taken` is Q(s', a') of the action that the agent now takes, `values` are the Q(s', a) of all
    its candidates; None and empty when the game is over. `method` is "sarsa" (Rummery and Niranjan
    1994): the reward and gamma times the value of the action taken; or "q_learning" (Watkins 1989):
    the best value in its place.

    Raises ValueError for another method, also when the game is over.
    """
    ### BEGIN SOLUTION
    if method not in ("sarsa", "q_learning"):
        raise ValueError(f"the method is 'sarsa' or 'q_learning', not {method!r}")
    if not values:
        return reward
    return reward + gamma * (taken if method == "sarsa" else max(values))
    ### END SOLUTION


# ---- The agent


class Rated(NamedTuple):
    """A candidate action with what is known of it."""

    action: object
    features: tuple
    reward: float
    q: float
    score: float  # what the agent chooses by


class Settings(NamedTuple):
    """How a `SarsaAgent` plays and learns."""

    method: str = "q_learning"  # the target of its updates, or "sarsa"
    learn: bool = False  # whether it updates the table during the game
    epsilon: float = 0.0  # the probability of a random candidate
    alpha: float = ALPHA
    gamma: float = GAMMA
    q_weight: float = Q_WEIGHT
    reward_weight: float = REWARD_WEIGHT
    corner: str = MINE  # what corners show, as in `views`
    discards: bool = False  # whether `discard_features` are part of the state


class SarsaAgent:
    """Plays the action with the best mix of action value and heuristic score, and may learn.

    `table` is its `QTable`, which agents may share; `settings` are fields of `Settings`.
    """

    def __init__(self, table=None, seed=None, **settings):
        self.table = QTable() if table is None else table
        self.settings = Settings(**settings)
        self.changes = []  # of the values, one for each update
        self._last = None  # state, action and reward of the turn before
        self._random = random.Random(seed)

    def reset(self, seed):
        """Start a game; first learn what is left to learn from the previous one."""
        if self._last is not None:
            self.finish()
        self._random = random.Random(seed)

    def state(self, scores, observation):
        """The state's part of the table's key."""
        more = discard_features(observation) if self.settings.discards else ()
        return state_features(scores.mine, scores.theirs) + more

    def rate(self, observation):
        """The state, and the candidates as `Rated`, in the order of legal actions.

        `self.state` makes the state, and `self.settings` say how: the corners, and both weights. An
        action's score is `q_weight` times its value in the table plus `reward_weight` times
        `Scores.score`.
        """
        ### BEGIN SOLUTION
        scores = Scores(observation, self.settings.corner)
        state = self.state(scores, observation)
        rated = []
        for action in scores.candidates(observation.legal_actions()):
            features = action_features(scores.mine, scores.theirs, action)
            q = self.table.value(state, features)
            score = self.settings.q_weight * q + self.settings.reward_weight * scores.score(action)
            rated.append(Rated(action, features, scores.reward(action), q, score))
        return state, rated
        ### END SOLUTION

    def choose(self, observation):
        """The best candidate, the first one among equals; or, with probability `epsilon`, any.

        Then each candidate has the same chance, the best one too. All chance comes from
        `self._random`, so that the same seed leads to the same choices.

        The opponent moves in between, so the value of the action *before* is updated here, when
        the state that it led to is known.

        Hint: the order is rate, choose, learn, remember.
        """
        ### BEGIN SOLUTION
        state, rated = self.rate(observation)
        if self.settings.epsilon and self._random.random() < self.settings.epsilon:
            chosen = self._random.choice(rated)
        else:
            chosen = max(rated, key=lambda candidate: candidate.score)
        self.learn_from(chosen.q, [candidate.q for candidate in rated])
        self._last = state, chosen.features, chosen.reward
        return chosen.action
        ### END SOLUTION

    def finish(self, outcome=0.0):
        """The game is over: the last action has no successor. `outcome` is added to its reward.

        Afterwards the agent remembers no last action, so that the next game begins anew; all else,
        the table too, stays. Where no last action is remembered, nothing is learned.
        """
        ### BEGIN SOLUTION
        if self._last is not None:
            state, action, reward = self._last
            self._last = state, action, reward + outcome
        self.learn_from(None, [])
        self._last = None
        ### END SOLUTION

    def learn_from(self, taken, values):
        """Update the value of the last action, if there is one and the agent learns."""
        settings = self.settings
        if settings.learn and self._last is not None:
            state, action, reward = self._last
            before = self.table.value(state, action)
            target = td_target(settings.method, reward, taken, values, settings.gamma)
            self.table.update(state, action, target, settings.alpha)
            self.changes.append(abs(self.table.value(state, action) - before))


def train(
    games,
    method="q_learning",
    seed=0,
    *,
    table=None,
    outcome=0.0,
    progress=lambda game, table, changes: None,
    **settings,
):
    """The table after `games` games of self-play: both players share and update it.

    `outcome` is the reward for a win at the end of a game, and minus that for a loss; the default
    is none. `progress(game, table, changes)` is called after each game with the absolute
    changes of all values updated in it.
    """
    table = QTable() if table is None else table
    settings = {"method": method, "learn": True, "epsilon": EPSILON, **settings}
    agents = [SarsaAgent(table, **settings) for _ in range(2)]
    for game in range(games):
        for agent in agents:
            agent.reset(2 * (seed * games + game) + agents.index(agent))
        state = State.deal(seed=seed * games + game)
        while not state.is_terminal():
            state = state.after(agents[state.to_move].choose(state.observation()))
        for player, agent in enumerate(agents):
            agent.finish(outcome * state.utility(player))
        progress(game, table, [change for agent in agents for change in agent.changes])
        for agent in agents:
            agent.changes.clear()
    return table


def trained(games=TRAINING_GAMES, seed=0):
    """An agent with the default settings, after some games of self-play: takes a few seconds."""
    return SarsaAgent(train(games, seed=seed))
