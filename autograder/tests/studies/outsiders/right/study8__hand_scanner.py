"""Study 8 without the module re: lines are cut into runs of chips by hand and the patterns counted in
them, rays are read by a recursive function; early returns, explicit loops, no comprehension tricks.
"""

import json
import random
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
            corner if chip == "*" else EMPTY if not chip else
            (mine if chip.lower() == own else theirs)[chip.isupper()] for chip in chips)

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
    return board[:place] + chip + board[place + 1:]


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
    return {((row, col), step): tuple(walk(row, col, *step))
            for row in range(SIZE) for col in range(SIZE) for step in steps}


@cache
def _lines():
    lines = []
    for step in DIRECTIONS:
        back = (-step[0], -step[1])
        lines += [(SIZE * row + col, *_rays()[(row, col), step])
                  for row in range(SIZE) for col in range(SIZE) if not _rays()[(row, col), back]]
    lines = [line for line in lines if len(line) >= FIVE]
    return {None: lines} | {cell: [line for line in lines if SIZE * cell[0] + cell[1] in line]
                            for cell in _cells()}


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
    """Read a ray: `(connected, gaps, discrete, is_open)`."""
    connected = 0
    while text[connected:connected + 1] == MINE:
        connected += 1
    rest = text[connected:]
    if gaps > 0 and rest.startswith(EMPTY + MINE):
        # Behind the gap stands a ray of its own, with one gap less to go.
        more, crossed, beyond, is_open = one_side(rest[1:], gaps - 1)
        return connected, crossed + 1, more + beyond, is_open
    return connected, 0, 0, rest.startswith(EMPTY)


def direction_info(board, cell, direction):
    """The `DirectionInfo` of an own chip on `cell`."""
    down, right = direction
    gaps_left = MAX_GAPS
    connected, crossed = 1, 0
    discrete, ends = [], []
    for sign in (1, -1):
        run, gaps, chips, is_open = one_side(ray(board, cell, (sign * down, sign * right)),
                                             gaps_left)
        gaps_left -= gaps
        crossed += gaps
        connected += run
        discrete.append(chips)
        ends.append(is_open)
    return DirectionInfo(connect_count=connected, mid_gap_count=crossed,
                         discrete_count_front=discrete[0], discrete_count_back=discrete[1],
                         open_front=ends[0], open_back=ends[1])


def pattern(info):
    """The name of the pattern that `info` describes."""
    connected, gaps, front, back, open_front, open_back = info
    if connected >= 5:
        return "LIVE_FIVE"
    if not (open_front or open_back):
        return "NONE"
    chips = connected + front + back
    if open_front and open_back and gaps == 0:
        if chips == 1:
            return "LIVE_ONE"
        if chips == 2:
            return "LIVE_TWO"
        if chips == 3:
            return "LIVE_THREE"
        return "LIVE_FOUR"
    if chips >= 4:
        return "CHONG_FOUR"
    if chips == 3:
        return "SLEEP_THREE"
    if chips == 2:
        return "SLEEP_TWO"
    return "NONE"


# ---- The scores: what an action is worth at once


def place_score(mine, theirs, cell):
    """What a chip on an empty cell is worth."""
    score = 0
    for direction in DIRECTIONS:
        made = pattern(direction_info(mine, cell, direction))
        prevented = pattern(direction_info(theirs, cell, direction))
        score += PATTERN_VALUES[made]
        if prevented in BLOCKING_VALUES:
            score += BLOCKING_VALUES[prevented]
    return score


def remove_score(theirs, cell):
    """What it is worth to take away the opponent's chip on a cell."""
    score = 0
    for direction in DIRECTIONS:
        if pattern(direction_info(theirs, cell, direction)) == "LIVE_FOUR":
            score += BLOCKING_VALUES["LIVE_FOUR"]
    return score


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
            self._uses[kind, cell] = (place_score(self.mine, self.theirs, cell) if kind == "place"
                                      else remove_score(self.theirs, cell))
        return self._uses[kind, cell]

    def draft(self, card):
        """What it is worth to take a card."""
        best = None
        for kind, cell in uses(self.mine, card):
            worth = self.use(kind, cell)
            if best is None or worth > best:
                best = worth
        return 0 if best is None else best

    def best_draft(self):
        """The card of the draft row that is worth most, the first one in card order among equals."""
        best, most = "", None
        for card in self.draft_row:
            if card not in self._drafts:
                self._drafts[card] = self.draft(card)
            if most is None or self._drafts[card] > most:
                best, most = card, self._drafts[card]
        return best

    def reward(self, action):
        """The effect of an action on the board."""
        if action.kind in ("place", "remove"):
            return self.use(action.kind, action.coords)
        return 0

    def score(self, action):
        """What an action is worth at once."""
        card = action.draft_card
        if not card:
            return self.reward(action)
        if card not in self._drafts:
            self._drafts[card] = self.draft(card)
        return self.reward(action) + DRAW_WEIGHT * self._drafts[card]

    def candidates(self, legal):
        """The legal actions that are worth considering, in their order."""
        best = self.best_draft()
        good, trades = [], []
        for action in legal:
            if action.draft_card != best:
                continue
            good.append(action)
            if action.kind == "trade" and action.play_card != "":
                trades.append(action)
        if trades:
            return trades
        if good:
            return good
        return legal


# ---- The features: what the table knows of a state and of an action


def _runs(line, chip):
    """The unbroken runs of a chip in a line: where each begins, and where it has ended."""
    runs, start = [], None
    for place, here in enumerate(line + WALL):
        if here == chip and start is None:
            start = place
        elif here != chip and start is not None:
            runs.append((start, place))
            start = None
    return runs


def _open_ends(line, start, end):
    """How many ends of a run are open, or -1 if the line has no cell at one of them."""
    if start == 0 or end == len(line):
        return -1
    return (line[start - 1] == EMPTY) + (line[end] == EMPTY)


@cache
def pattern_counts(line):
    """How often each of `PATTERNS` stands in a line of cells, in their order."""
    live = {2: 0, 3: 0, 4: 0}
    asleep = {2: 0, 3: 0, 4: 0}
    fives = 0
    runs = _runs(line, MINE)
    for start, end in runs:
        length = end - start
        fives += length // 5
        if length in live:
            ends = _open_ends(line, start, end)
            if ends == 2:
                live[length] += 1
            elif ends == 1:
                asleep[length] += 1
    for start, end in _runs(line, "M"):
        fives += (end - start) // 5
    # Two runs with one empty cell between them; a run that was used is not used again.
    for chips in asleep:
        last = None
        for (before, gap), (behind, end) in zip(runs, runs[1:]):
            together = (gap - before) + (end - behind)
            if behind - gap == 1 and line[gap] == EMPTY and together == chips and before != last:
                asleep[chips] += 1
                last = behind
    return asleep[2], live[2], asleep[3], live[3], asleep[4], live[4], fives


def state_features(mine, theirs, cell=None):
    """The eleven `FEATURES` as a tuple of counts, over all lines or over those through `cell`."""
    totals = dict.fromkeys(FEATURES, 0)
    for line in lines_of(mine, cell):
        for name, count in zip(PATTERNS, pattern_counts(line)):
            totals[name] += count
    for line in lines_of(theirs, cell):
        for name, count in zip(PATTERNS, pattern_counts(line)):
            if name in OPPONENT_PATTERNS:
                totals["OPP_" + name] += count
    return tuple(totals.values())


def action_features(mine, theirs, action):
    """`ACTION_FEATURES`: how an action changes the eleven features; 1 for a trade of cards, or 0."""
    changes = [0] * len(ACTION_FEATURES)
    if action.kind == "trade" and action.play_card:
        changes[-1] = 1
    if not action.coords:
        return tuple(changes)
    if action.kind == "place":
        mine_after = with_chip(mine, action.coords, MINE)
        theirs_after = with_chip(theirs, action.coords, THEIRS)
    else:
        mine_after = with_chip(mine, action.coords, EMPTY)
        theirs_after = with_chip(theirs, action.coords, EMPTY)
    before = state_features(mine, theirs, action.coords)
    after = state_features(mine_after, theirs_after, action.coords)
    for number in range(len(FEATURES)):
        changes[number] = after[number] - before[number]
    return tuple(changes)


def discard_features(observation):
    """How many jacks are on the discard pile: two-eyed, one-eyed."""
    two = one = 0
    for card in observation.discards:
        if card in TWO_EYED:
            two += 1
        elif card in ONE_EYED:
            one += 1
    return two, one


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
        """Move Q(s, a) towards the target by the share `alpha`."""
        if all(change == 0 for change in action):
            return
        key = (state, action)
        self.values[key] = (1 - alpha) * self.value(state, action) + alpha * target
        if key in self.visits:
            self.visits[key] += 1
        else:
            self.visits[key] = 1

    def to_json(self):
        """The values as JSON text: [state, action, value] for each entry, in the order of keys."""
        entries = [[list(state), list(action), value]
                   for (state, action), value in sorted(self.values.items())]
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
    """What Q(s, a) is moved towards, once the next action is known."""
    if method != "sarsa" and method != "q_learning":
        raise ValueError("the method must be sarsa or q_learning, not " + repr(method))
    if len(values) == 0:
        return reward
    following = taken if method == "sarsa" else sorted(values)[-1]
    return reward + gamma * following


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
        """The state, and the candidates as `Rated`, in the order of legal actions."""
        _, _, _, _, _, q_weight, reward_weight, corner, _ = self.settings
        scores = Scores(observation, corner=corner)
        state = self.state(scores, observation)
        rated = ()
        for action in scores.candidates(observation.legal_actions()):
            features = action_features(scores.mine, scores.theirs, action)
            value = self.table.value(state, features)
            rated += (Rated(action=action, features=features, reward=scores.reward(action), q=value,
                            score=q_weight * value + reward_weight * scores.score(action)),)
        return state, rated

    def choose(self, observation):
        """The best candidate, the first one among equals; or, with probability `epsilon`, any."""
        state, rated = self.rate(observation)
        number = 0
        if self.settings.epsilon > self._random.random():
            number = self._random.randrange(len(rated))
        else:
            for other in range(1, len(rated)):
                if rated[other].score > rated[number].score:
                    number = other
        values = []
        for candidate in rated:
            values.append(candidate.q)
        self.learn_from(rated[number].q, values)
        if self.settings.learn:  # who does not learn need not remember
            self._last = (state, rated[number].features, rated[number].reward)
        return rated[number].action

    def finish(self, outcome=0.0):
        """The game is over: the last action has no successor."""
        if self._last is None:
            return
        state, action, reward = self._last
        self._last = (state, action, reward + outcome)
        self.learn_from(None, ())
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


def train(games, method="q_learning", seed=0, *, table=None, outcome=0.0,
          progress=lambda game, table, changes: None, **settings):
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
