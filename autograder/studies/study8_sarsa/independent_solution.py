"""Study 8: a second answer, written only from the students' text: SARSA and Q-learning for
Sequence.

Rays are read with one regular expression, and patterns are counted by name in a Counter.
"""

import json
import random
import re
from collections import Counter
from functools import cache
from math import exp, isfinite
from operator import add, attrgetter, mul, sub
from statistics import fmean, pstdev
from typing import NamedTuple

from sequence import State, cells_with
from sequence.board.cards import ONE_EYED, TWO_EYED
from sequence.pictures.text import SIDES

# The contents of a cell from one side's view; "M" and "T" are chips of completed sequences.
MINE, THEIRS, EMPTY, WALL = "m", "t", "_", "#"
SIZE, FIVE = 10, 5
DIRECTIONS = ((1, 0), (0, 1), (1, 1), (1, -1))  # down, right and both diagonals
MAX_GAPS = 2  # maximum between the chips of a pattern, front and back together

# The value of a pattern for the side that makes it.
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
# The value of taking a pattern from the opponent; other patterns have no value.
BLOCKING_VALUES = {"LIVE_THREE": 1_000, "LIVE_FOUR": 12_000, "LIVE_FIVE": 13_000}
DRAW_WEIGHT = 0.5  # weight of the card taken, in addition to the effect on the board; our choice

# The patterns that are counted on the board: regular expressions for a line of cells, from the view
# of the side that makes them. A match consumes only the chips, not the cells next to them.
_ENDS = r"(?<=_){0}(?=[^_m])|(?<=[^_m]){0}(?=_)"  # one end is open, the other is not
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

Q_WEIGHT, REWARD_WEIGHT = 0.6, 0.4  # of the table's value and the heuristic reward
ALPHA, GAMMA, EPSILON = 0.3, 0.9, 0.2  # the values of study 5
TRAINING_GAMES = 50


# ---- The board as text: given


def views(observation, corner=MINE):
    """The board from the view of the observing player's side, and from the others' view.

    Each is a text of 100 cells, row by row: the side's own chips are "m", those of the others are
    "t", capital letters are in completed sequences, and "_" is empty. `corner` is the text of
    corners for both: by the rules, they count as own chips for all sides; with `WALL`, they are
    walls.
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

    These are all 42 lines, or only the three or four that pass through `cell`.
    """
    return [f"#{''.join([board[place] for place in line])}#" for line in _lines()[cell]]


def with_chip(board, cell, chip):
    """The board with another character in a cell."""
    place = SIZE * cell[0] + cell[1]
    return board[:place] + chip + board[place + 1 :]


def uses(board, card):
    """The uses of a card: pairs of "place" or "remove" and a cell, row by row."""
    if not card:  # an action that takes no card
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
    """The pattern that a chip on a cell is part of, in one direction."""

    connect_count: int = 1  # own chips in an unbroken run through the cell, including the new one
    mid_gap_count: int = 0  # single empty cells with own chips on both sides, at most `MAX_GAPS`
    discrete_count_front: int = 0  # own chips beyond a gap
    discrete_count_back: int = 0
    open_front: bool = False  # whether the cell beyond the last chip counted is empty
    open_back: bool = False


class _Side(NamedTuple):
    """The result of `one_side`, with names for its parts."""

    connected: int
    gaps: int
    discrete: int
    is_open: bool


def _runs(text, gaps):
    """The lengths of runs of own chips that are separated by at most `gaps` single empty cells."""
    chips = re.match(f"({MINE}*)((?:{EMPTY}{MINE}+){{0,{gaps}}})", text)
    return [len(chips[1]), *map(len, chips[2].split(EMPTY)[1:])]


def _patterns_at(board, cell):
    """The number of patterns of each name that a chip on the cell makes, over the four directions."""
    return Counter(pattern(direction_info(board, cell, step)) for step in DIRECTIONS)


_EXPRESSIONS = [re.compile(expression) for expression in PATTERNS.values()]


def _tally(board, cell):
    """The number of times that each pattern occurs in the lines of a board, by name."""
    columns = zip(*map(pattern_counts, lines_of(board, cell)), strict=True)
    return dict(zip(PATTERNS, map(sum, columns), strict=True))


@cache  # the same texts recur often
def one_side(text, gaps=MAX_GAPS):
    """Read a ray: `(connected, gaps, discrete, is_open)`.

    `connected` is the number of our own chips at its beginning. A single empty cell followed by one
    of our chips is a gap, and reading continues after it, across at most `gaps` gaps; `discrete` is
    the number of our chips found there. `is_open` states whether the cell at which reading ends is
    empty.

    Only "m" counts as an own chip: an "M" is used up, so reading ends before it.

    >>> one_side("m_mm_t#")
    (1, 1, 2, True)

    Hint: `text.lstrip(MINE)` is the text without its leading own chips.
    """
    runs = _runs(text, gaps)
    end = text[sum(runs) + len(runs) - 1 :][:1]
    return runs[0], len(runs) - 1, sum(runs[1:]), end == EMPTY


def direction_info(board, cell, direction):
    """The `DirectionInfo` of our chip on `cell`, whether it is already there or would be placed.

    The front, which is the ray in this direction, is read first; the back may cross the gaps of
    `MAX_GAPS` that the front has not used.

    Hint: the back is the ray of the opposite step.
    """
    down, right = direction
    front = _Side(*one_side(ray(board, cell, (down, right))))
    back = _Side(*one_side(ray(board, cell, (-down, -right)), MAX_GAPS - front.gaps))
    return DirectionInfo(
        connect_count=1 + front.connected + back.connected,
        mid_gap_count=front.gaps + back.gaps,
        discrete_count_front=front.discrete,
        discrete_count_back=back.discrete,
        open_front=front.is_open,
        open_back=back.is_open,
    )


def pattern(info):
    """The name of the pattern that `info` describes, a key of `PATTERN_VALUES`.

    Five or more connected chips are a LIVE_FIVE, open or not. Otherwise, without an open end, the
    pattern is NONE. With one, count all chips, connected and discrete. LIVE_n has both ends open
    and no gap; a pattern that is not live is CHONG_FOUR for four or more chips, SLEEP_THREE for
    three, SLEEP_TWO for two and NONE for one.
    """
    if info.connect_count >= FIVE:
        return "LIVE_FIVE"
    ends = info.open_front + info.open_back
    if ends == 0:
        return "NONE"
    chips = info.connect_count + info.discrete_count_front + info.discrete_count_back
    if ends == 2 and info.mid_gap_count == 0:
        return ("LIVE_ONE", "LIVE_TWO", "LIVE_THREE", "LIVE_FOUR")[min(chips, 4) - 1]
    return ("NONE", "SLEEP_TWO", "SLEEP_THREE", "CHONG_FOUR")[min(chips, 4) - 1]


# ---- The scores: the immediate value of an action


def place_score(mine, theirs, cell):
    """The value of a chip on an empty cell: own patterns made and opponent's patterns prevented.

    It is the sum over the four directions of the `PATTERN_VALUES` of our pattern and the
    `BLOCKING_VALUES` of the pattern that the opponent would make on the same cell.

    Hint: the second board, `theirs`, is the first one from the opponent's view.
    """
    made = _patterns_at(mine, cell)
    prevented = _patterns_at(theirs, cell)
    return sum(count * PATTERN_VALUES[name] for name, count in made.items()) + sum(
        count * BLOCKING_VALUES.get(name, 0) for name, count in prevented.items()
    )


def remove_score(theirs, cell):
    """The value of removing the opponent's chip on a cell.

    It is the blocking value of a LIVE_FOUR for each direction in which the chip is part of one; no
    other pattern is worth a jack.
    """
    return BLOCKING_VALUES["LIVE_FOUR"] * _patterns_at(theirs, cell)["LIVE_FOUR"]


class Scores:
    """The scores of one position, each computed only once: given, and built on `place_score`."""

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
        """The value of taking a card: that of its best use on this board.

        It is 0 if the card cannot be used now.
        """
        if card not in self._drafts:
            self._drafts[card] = max((self.use(*use) for use in uses(self.mine, card)), default=0)
        return self._drafts[card]

    def best_draft(self):
        """The card of the draft row with the highest value; of equal ones, the first in card order.

        It is "" if the row is empty.
        """
        return max(self.draft_row, key=self.draft, default="")

    def reward(self, action):
        """The effect of an action on the board: the score of its placement or removal, else 0.

        The card taken does not count; otherwise, an action without any effect would be rewarded for
        possible later actions.
        """
        return self.use(action.kind, action.coords) if action.coords else 0

    def score(self, action):
        """The immediate value of an action: its reward plus `DRAW_WEIGHT` times the card's draft."""
        return self.reward(action) + DRAW_WEIGHT * self.draft(action.draft_card)

    def candidates(self, legal):
        """The actions of `legal` that are worth considering, as a list in the order of `legal`.

        If some actions take the best draft card *and* trade a card, these trades are the only
        candidates. If there are none, the candidates are all actions that take the best draft card
        or, if no action takes it, all of `legal`. `legal` itself is not changed.
        """
        legal = list(legal)
        best = self.best_draft()
        taking = [action for action in legal if action.draft_card == best]
        trades = [action for action in taking if action.kind == "trade"]
        return trades or taking or legal


# ---- The features: what the table knows about a state and an action


@cache
def pattern_counts(line):
    """How often each of `PATTERNS` occurs in a line of cells, in their order.

    Matches that overlap count once, as for `re.findall`.
    """
    return tuple(sum(1 for _ in expression.finditer(line)) for expression in _EXPRESSIONS)


def state_features(mine, theirs, cell=None):
    """The eleven `FEATURES` as a tuple of counts, over all lines or over those through `cell`.

    They are the counts of all `PATTERNS` in `mine`, then of the `OPPONENT_PATTERNS` in `theirs`.
    """
    own, other = _tally(mine, cell), _tally(theirs, cell)
    return (*(own[name] for name in PATTERNS), *(other[name] for name in OPPONENT_PATTERNS))


def action_features(mine, theirs, action):
    """`ACTION_FEATURES`: how an action changes the eleven features; 1 for a trade of cards, or 0.

    Forgoing a trade is not a trade. Chips of a sequence that the action completes stay "m".

    Hint: only the lines through the action's cell change. `with_chip` makes the boards after it:
    a chip that is "m" to one side is "t" to the other.
    """
    trade = int(action.kind == "trade" and bool(action.play_card))
    if not action.coords:
        return (0,) * len(FEATURES) + (trade,)
    chips = (MINE, THEIRS) if action.kind == "place" else (EMPTY, EMPTY)
    boards = [
        with_chip(board, action.coords, chip)
        for board, chip in zip((mine, theirs), chips, strict=True)
    ]
    before = state_features(mine, theirs, action.coords)
    after = state_features(*boards, action.coords)
    return (*map(sub, after, before), trade)


def discard_features(observation):
    """An optional part of the state: the number of jacks on the discard pile.

    Returns the pair `(two_eyed, one_eyed)`; two copies of a card count as two.
    """
    gone = Counter(observation.discards)
    return (sum(gone[card] for card in TWO_EYED), sum(gone[card] for card in ONE_EYED))


# ---- The table


class QTable:
    """Action values by the features of a state and of an action; a missing entry counts as 0."""

    def __init__(self):
        self.values = {}  # (state, action) -> float
        self.visits = {}  # (state, action) -> number of updates, only to look at

    def value(self, state, action):
        """Q(s, a)."""
        return self.values.get((state, action), 0.0)

    def update(self, state, action, target, alpha=ALPHA):
        """Move Q(s, a) towards the target by the share `alpha`, and count the update in `visits`.

        An action whose features are all zero is ignored: no value is stored for it, and no visit is
        counted. All others are stored, whatever their value, including trades.
        """
        if not any(action):
            return
        key = (state, action)
        old = self.values.get(key, 0.0)
        self.values[key] = old + alpha * (target - old)
        self.visits[key] = self.visits.get(key, 0) + 1

    def to_json(self):
        """The values as JSON text: [state, action, value] for each entry, in the order of the keys."""
        entries = [
            [list(state), list(action), value]
            for (state, action), value in sorted(self.values.items())
        ]
        return json.dumps({"features": ACTION_FEATURES, "entries": entries})

    @classmethod
    def from_json(cls, text):
        """The table from such a text; raises ValueError for any other text.

        JSON contains numbers, texts and lists, but no code, so files from others are safe to read.
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
    """The target towards which Q(s, a) is moved, once the next action is known.

    `taken` is Q(s', a') of the action that the agent now takes, and `values` are the Q(s', a) of
    all its candidates; they are None and empty when the game is over. If `method` is "sarsa"
    (Rummery and Niranjan 1994), the target is the reward plus gamma times the value of the action
    taken; if it is "q_learning" (Watkins 1989), it uses the best value instead.

    Raises ValueError for any other method, even when the game is over.
    """
    later = {"sarsa": lambda: taken, "q_learning": lambda: max(values)}
    if method not in later:
        raise ValueError(f"a method is one of {', '.join(later)}, not {method!r}")
    return reward if taken is None else reward + gamma * later[method]()


# ---- The agent


class Rated(NamedTuple):
    """A candidate action with its features and values."""

    action: object
    features: tuple
    reward: float
    q: float
    score: float  # the number by which the agent chooses


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
    """Plays the action with the best combination of action value and heuristic score, and may
    learn.

    `table` is its `QTable`, which agents may share; `settings` are fields of `Settings`.
    """

    def __init__(self, table=None, seed=None, **settings):
        self.table = QTable() if table is None else table
        self.settings = Settings(**settings)
        self.changes = []  # changes of values, one for each update
        self._last = None  # state, action and reward of the previous turn
        self._random = random.Random(seed)

    def reset(self, seed):
        """Start a game, after learning from the end of the previous one if necessary."""
        if self._last is not None:
            self.finish()
        self._random = random.Random(seed)

    def state(self, scores, observation):
        """The state's part of the table's key."""
        more = discard_features(observation) if self.settings.discards else ()
        return state_features(scores.mine, scores.theirs) + more

    def rate(self, observation):
        """The state, and the candidates as `Rated`, in the order of legal actions.

        The state is that of `self.state`; the corners and both weights are those of
        `self.settings`. An action's score is `q_weight` times its value in the table plus
        `reward_weight` times `Scores.score`.
        """
        settings = self.settings
        scores = Scores(observation, settings.corner)
        state = self.state(scores, observation)

        def rated(action):
            features = action_features(scores.mine, scores.theirs, action)
            q = self.table.value(state, features)
            mix = settings.q_weight * q + settings.reward_weight * scores.score(action)
            return Rated(action, features, scores.reward(action), q, mix)

        return state, [rated(action) for action in scores.candidates(observation.legal_actions())]

    def choose(self, observation):
        """The best candidate, or the first of equal ones; with probability `epsilon`, any
        candidate.

        In the latter case, all candidates have the same probability, including the best. All random
        numbers come from `self._random`, so that the same seed gives the same choices.

        The opponent moves in between, so the value of the *previous* action is updated here, when
        the state to which it led is known.

        Hint: in which order must the agent rate, choose, learn and store its action?
        """
        state, rated = self.rate(observation)
        if self._random.random() < self.settings.epsilon:
            chosen = self._random.choice(rated)
        else:
            chosen = max(rated, key=attrgetter("score"))
        self.learn_from(chosen.q, [candidate.q for candidate in rated])
        self._last = state, chosen.features, chosen.reward
        return chosen.action

    def finish(self, outcome=0.0):
        """End the game: the last action has no successor, and `outcome` is added to its reward."""
        if self._last is not None:
            state, action, reward = self._last
            self._last = state, action, reward + outcome
            self.learn_from(None, [])
            self._last = None

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
    """The table after `games` games of self-play, which both players share and update.

    `outcome` is the reward for a win at the end of a game, and its negative is that for a loss; the
    default is 0. `progress(game, table, changes)` is called after each game with the absolute
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
    """An agent with the default settings after some games of self-play; this takes a few seconds."""
    return SarsaAgent(train(games, seed=seed))


# ---- Weights from games


# Five cells that may become a sequence of "m": only its chips and empty cells, with at most one
# chip of a completed sequence. The look-ahead assertion finds lines that share cells.
_FIVES = re.compile(rf"(?=([{MINE}M{EMPTY}]{{{FIVE}}}))")


def line_counts(board, cell=None):
    """The lines of five that "m" has or can complete, by their chips: with 1, 2, 3, 4 and 5.

    Five neighbouring cells of a row, column or diagonal are a line. Its own chips are "m" and "M". A
    line of five own chips always counts. Any other line counts unless it contains a chip of the
    others, "t" or "T", or two or more chips of completed sequences, "M".

    Returns five numbers as a tuple, for all lines of the board, or for all lines of the row, the
    column and the diagonals through `cell`.

    Hint: `lines_of` returns the rows, columns and diagonals, with a wall at each end.
    """
    tally = Counter()
    for line in lines_of(board, cell):
        for five in _FIVES.findall(line):
            free = five.count(EMPTY)
            if free == 0 or five.count("M") <= 1:
                tally[FIVE - free] += 1
    return tuple(tally[chips] for chips in range(1, FIVE + 1))


def win_probability(weights, counts):
    """The probability of winning in a position with these counts, by logistic regression.

    It is 1 / (1 + e^-z), where z is the constant, `weights[0]`, plus the sum of the counts, each
    times its weight. The weights of the counts follow the constant, in the order of the counts.

    Hint: `exp` is imported.
    """
    z = sum(map(mul, weights, (1, *counts)))
    return exp(z) / (1 + exp(z))


def gradient_step(weights, counts, won, rate, penalty):
    """The weights after one step against the gradient of the loss of one position, as a new list.

    `won` is 1 if the player to move won that game, and 0 if not. With the probability p before the
    step, the gradient is p - won for the constant, and (p - won) * x + penalty * weight for the
    weight of a count x. The step subtracts `rate` times the gradient. The list `weights` itself
    does not change.
    """
    surprise = won - win_probability(weights, counts)
    moved = []
    for place, (weight, x) in enumerate(zip(weights, (1, *counts), strict=True)):
        pull = 0 if place == 0 else penalty * weight
        moved.append(weight + rate * (surprise * x - pull))
    return moved


def fit(rows, won, steps=100_000, rate=0.01, penalty=0.001, seed=0):
    """The weights that minimise the mean loss of the positions, the constant first.

    Each row holds the counts of one position. All counts are standardised; then each step uses one
    random position. Steps for single positions go back and forth, so the result is the mean of the
    weights in the second half of the steps, converted back to weights for the original counts.
    """
    columns = [list(map(float, column)) for column in zip(*rows, strict=True)]
    means = [fmean(column) for column in columns]
    deviations = [pstdev(column, mean) or 1.0 for column, mean in zip(columns, means, strict=True)]
    scaled = [
        [(x - mean) / deviation for x, mean, deviation in zip(row, means, deviations, strict=True)]
        for row in zip(*columns, strict=True)
    ]
    results = list(map(float, won))
    rng = random.Random(seed)
    weights = [0.0] * (len(columns) + 1)
    total = list(weights)
    for step in range(steps):
        number = rng.randrange(len(scaled))
        weights = gradient_step(weights, scaled[number], results[number], rate, penalty)
        if step >= steps // 2:
            total = list(map(add, total, weights))
    constant, *found = [one / (steps - steps // 2) for one in total]
    slopes = [weight / deviation for weight, deviation in zip(found, deviations, strict=True)]
    return [constant - sum(map(mul, slopes, means)), *slopes]
