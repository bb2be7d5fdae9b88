"""Questions about Monte Carlo tree search: bounds, the four steps, complete trees, hidden cards."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from random import Random
from typing import Any

from common.messages import english
from course.checks.positions import read_position
from course.checks.question import BadReply, Part, Question, call, each, get
from sequence.agents.beliefs import sample

DIGITS = 6  # digits of a total, so that the order of a sum does not matter
GAMES = 3  # number of games simulated one after another
DRAW_RANGE = 10**6  # range of the integer that is drawn to compare generators
OPTIONS = ("iterations", "playouts", "worlds", "c", "seed")  # options of an agent
PLAYERS = ("x", "o")
OPEN_AGENTS = ("FlatMonteCarlo", "UCT")  # they search full states


# ---- Functions


def _rewards(module, on: list[str]) -> Iterator[Part]:
    yield (
        ("value",),
        lambda: [
            [
                [get(module, "reward")(read_position(text), player) for player in PLAYERS]
                for text in on
            ]
        ],
    )


def _ucb(module, arguments: list[list]) -> Iterator[Part]:
    yield ("value",), lambda: [[_rounded(get(module, "ucb")(*four)) for four in arguments]]
    yield (
        ("unvisited",),
        lambda: [[str(get(module, "ucb")(mean, 0, parent, c)) for mean, _, parent, c in arguments]],
    )


def _choices(module, tables: list[list]) -> Iterator[Part]:
    def chosen(name: str) -> list[list]:
        row = get(module, "Row")
        return [[get(module, name)(tuple(row(*numbers) for numbers in table)) for table in tables]]

    for name in ("best_mean", "most_visited"):
        yield (name,), partial(chosen, name)


# ---- The steps


def _simulate(module, on: str, seed: int) -> Iterator[Part]:
    """Several games in a row, and the generator's next draw."""

    def ends():
        agent, state = get(module, "MonteCarlo")(seed=seed), _state(on, seed)
        ends = [_state_text(agent.simulate(state)) for _ in range(GAMES)]
        ends.append(_state_text(agent.simulate(_end_of(state))))  # at the end, nothing is drawn
        return ends, agent.rng.randrange(DRAW_RANGE)

    yield ("ends", "next"), ends


def _backup(
    module, on: str, path: list[int], others: list[str], movers: list[str] | None = None
) -> Iterator[Part]:
    """`path` contains the moves from the root to the node, and `others` the last states of games.

    `movers` are the players who make these moves, by default in turn.
    """

    def counted():
        nodes = _path(module, read_position(on), path)
        for node, mover in zip(nodes[1:], movers or (), strict=bool(movers)):
            node.mover = mover
        agent = get(module, "MonteCarlo")(seed=0)
        sibling = nodes[0].children["beside"] = get(module, "Node")("beside", "x", nodes[0])
        for text in others:
            agent.backup(nodes[-1], read_position(text))
        if len(nodes) > 2:  # a backup from a node in the middle must not change the nodes below
            agent.backup(nodes[-2], read_position(others[0]))
        every = [*nodes, sibling]
        # Leaving the rest unchanged earns no points if the function does nothing.
        rest = (
            [_rounded(nodes[0].total), _rounded(sibling.total)]
            if any(node.visits for node in nodes)
            else "no visit was counted"
        )
        return (
            [node.visits for node in every],
            [_rounded(node.total) for node in every[1:-1]],
            rest,
        )

    yield ("visits", "totals", "rest"), counted


def _select(module, on: str, tree: list, c: float) -> Iterator[Part]:
    """`tree` contains the root's visits and children; a child is a list: move, visits, total,
    children.
    """

    def stops():
        state, agent = read_position(on), get(module, "UCT")(c=c, seed=0)
        root = get(module, "Node")()
        root.visits = tree[0]
        _grow(module, root, state, tree[1])
        node, after = _pair(agent.select(root, state), "select")
        return _line(node), _state_text(after)

    yield ("path", "state"), stops


def _expand(module, on: str, tried: list[int], seed: int) -> Iterator[Part]:
    """Expand a node until every move has been tried, then a node at the end of a game."""

    def grown():
        state, agent = read_position(on), get(module, "UCT")(seed=seed)
        root = get(module, "Node")()
        _grow(module, root, state, [[move, 1, 0.5, []] for move in tried])
        moves, links, states = [], [], []
        for _ in range(len(state.legal_moves()) - len(tried)):
            child, after = _pair(agent.expand(root, state), "expand")
            moves.append(child.move)
            states.append(_state_text(after))
            links.append(
                [
                    child.mover,
                    child.parent is root,
                    root.children[child.move] is child,
                    child.visits,
                    len(child.children),
                ]
            )
        return moves, states, links, agent.rng.randrange(DRAW_RANGE)

    def ended():
        agent, end = get(module, "UCT")(seed=seed), _end_of(read_position(on))
        node = get(module, "Node")()
        child, after = _pair(agent.expand(node, end), "expand")
        return [[child is node, after == end, len(node.children), agent.rng.randrange(DRAW_RANGE)]]

    yield ("moves", "states", "links", "next"), grown
    yield ("end",), ended


# ---- Complete searches


def _flat(module, on: str, **options) -> Iterator[Part]:
    yield from _searched(module, "FlatMonteCarlo", on, options)


def _tree(module, agent: str, on: str, **options) -> Iterator[Part]:
    """The results of a search, the nodes below the best move, and the results of two more searches
    by the same agent, of the same position and, if it searches states, of one after it.
    """
    roots: list[Any] = []
    yield from _searched(module, agent, on, options, roots)

    def deeper():
        (root,) = roots or [_agent(module, agent, options).search(_root(agent, on, options))]
        child = max(_children(root), key=lambda child: child.visits)
        return _table(child), _nodes(root)

    def again():
        searcher, position = _agent(module, agent, options), _root(agent, on, options)
        searcher.search(position)
        roots = [position]
        if agent in OPEN_AGENTS:
            roots.append(position.after(position.legal_moves()[-1]))
        trees = map(searcher.search, roots)
        return [[[tree.visits, *_table(tree)] for tree in trees]]

    yield ("below", "nodes"), deeper
    yield ("again",), again


def _ensemble(module, on: str, **options) -> Iterator[Part]:
    yield from _searched(module, "EnsembleUCT", on, options)

    def worlds():
        agent, position = _agent(module, "EnsembleUCT", options), read_position(on)
        return [[_hidden(agent.world(position)) for _ in range(GAMES)]]

    yield ("worlds",), worlds


def _searched(
    module, agent: str, on: str, options: Mapping[str, Any], roots: list | None = None
) -> Iterator[Part]:
    """Search with a new agent, and append the root of the tree to the list `roots`."""

    def rows():
        root = _agent(module, agent, options).search(_root(agent, on, options))
        if roots is not None:
            roots.append(root)
        children = _children(root)
        return (
            [root.visits, *([str(child.move), child.visits] for child in children)],
            [[str(child.move), _rounded(child.total)] for child in children],
        )

    yield ("visits", "totals"), rows
    yield (
        ("move",),
        lambda: [str(_agent(module, agent, options).choose(_root(agent, on, options)))],
    )


def _info_step(module, on: str, worlds: list[int], c: float, seed: int) -> Iterator[Part]:
    """One step of `ISUCT` below the first legal action, where the legal actions depend on the
    world.

    `worlds` are the seeds of sampled worlds; the step is made in the first one. The moves of all
    worlds have children with artificial statistics; for the expansion, every other move of the
    first world has no child.
    """

    def node_with(states: Sequence[Any], untried: Sequence[Any] = ()) -> Any:
        make = get(module, "Node")
        root = make()
        action = read_position(on).legal_actions()[0]
        node = root.children[action] = make(action, states[0].rules.players - 1, root)
        moves = sorted({move for state in states for move in state.legal_moves()} - {*untried})
        for number, move in enumerate(moves):
            child = node.children[move] = make(move, states[0].to_move, node)
            child.visits, child.available = 1 + number % 3, 3 + number % 7 * 2
            child.total = child.visits * (number * 5 % 8) / 8
        node.visits = sum(child.visits for child in _children(node))
        return node

    def sampled() -> list[Any]:
        position = read_position(on)
        action = position.legal_actions()[0]
        return [sample(position, Random(world)).after(action) for world in worlds]

    def selected():
        states = sampled()
        node, agent = node_with(states), get(module, "ISUCT")(c=c, seed=seed)
        child, after = _pair(agent.select(node, states[0]), "select")
        return [str(child.move), _state_text(after)], _available(node)

    def expanded():
        states = sampled()
        node, agent = (
            node_with(states, states[0].legal_moves()[::2]),
            get(module, "ISUCT")(c=c, seed=seed),
        )
        stays, _ = _pair(agent.select(node, states[0]), "select")
        child, after = _pair(agent.expand(node, states[0]), "expand")
        end = _end_of(states[0])
        last, _ = _pair(agent.expand(child, end), "expand")
        return (
            [stays is node, str(child.move), _state_text(after), last is child],
            _available(node),
            agent.rng.randrange(DRAW_RANGE),
        )

    yield ("selected", "counted"), selected
    yield ("expanded", "counted_too", "next"), expanded


# ---- Agents


def _agent(module, name: str, options: Mapping[str, Any]) -> Any:
    """Create an agent. `few` limits it to the last few moves, in reverse order, and `stop` ends its
    simulated games after this number of moves, with artificial values.
    """
    base: Any = get(module, name)
    few, stop = options.get("few"), options.get("stop")

    class Agent(base):
        def moves(self, state):
            return super().moves(state) if few is None else state.legal_moves()[: -few - 1 : -1]

        def simulate(self, state):
            if stop is None:
                return super().simulate(state)
            for _ in range(stop):
                legal = state.legal_moves()
                state = state.after(self.rng.choice(legal)) if legal else state
            return state

        def value(self, state, player):
            if stop is None:
                return super().value(state, player)
            worth = sum(map(ord, _state_text(state))) % 5 / 4
            return worth if player in ("x", 0) else 1 - worth

    return Agent(**{key: value for key, value in options.items() if key in OPTIONS})


# ---- States and trees as plain data


def _state(on: str, seed: int) -> Any:
    """The state that `on` names, or one that is consistent with the observation that it names."""
    position = read_position(on)
    return position if hasattr(position, "after") else sample(position, Random(seed))


def _root(agent: str, on: str, options: Mapping[str, Any]) -> Any:
    """What an agent searches: an observation if it samples states, and otherwise a state."""
    return _state(on, options["seed"]) if agent in OPEN_AGENTS else read_position(on)


def _state_text(state: Any) -> str:
    """A state as text: its board, or the number of actions, the score and the last action."""
    if hasattr(state, "text"):
        return state.text
    last = state.history[-1] if state.history else "no action"
    return f"{len(state.history)} actions, {state.sequences}, {last}"


def _hidden(state: Any) -> str:
    """The hands of a state of Sequence and the next cards."""
    hands = " / ".join(" ".join(state.hand(player)) for player in range(state.rules.players))
    return f"{hands} / {' '.join(state.draw_pile[:5])}"


def _end_of(state: Any) -> Any:
    while not state.is_terminal():
        state = state.after(state.legal_moves()[-1])
    return state


def _children(node: Any) -> list[Any]:
    """The children of a node, in the order of their moves."""
    return [child for _, child in sorted(node.children.items())]


def _table(node: Any) -> list[list]:
    return [
        [str(child.move), child.visits, _rounded(child.total), child.available]
        for child in _children(node)
    ]


def _available(node: Any) -> list[list]:
    return [[str(child.move), child.available] for child in _children(node)]


def _nodes(root: Any) -> int:
    count, left = 0, [root]
    while left:
        node = left.pop()
        left += node.children.values()
        count += 1
    return count


def _line(node: Any) -> list:
    """The moves from the root to a node."""
    moves = []
    while node.parent is not None:
        moves.append(node.move)
        node = node.parent
    return moves[::-1]


def _path(module, state: Any, moves: Sequence[int]) -> list[Any]:
    """A root and a chain of nodes below it, one for each move."""
    make = get(module, "Node")
    nodes = [make()]
    for move in moves:
        child = nodes[-1].children[move] = make(move, state.to_move, nodes[-1])
        nodes.append(child)
        state = state.after(move)
    return nodes


def _grow(module, node: Any, state: Any, children: Sequence[Sequence]) -> None:
    for move, visits, total, below in children:
        child = node.children[move] = get(module, "Node")(move, state.to_move, node)
        child.visits, child.total = visits, total
        _grow(module, child, state.after(move), below)


def _pair(result: Any, name: str) -> tuple:
    if not isinstance(result, (tuple, list)) or len(result) != 2:
        raise BadReply(english(f"{name} must return a pair (node, state), it returned {result!r:.60}"))
    return tuple(result)


def _rounded(number: float) -> float:
    return round(number, DIGITS) + 0.0


# ---- Descriptions


def _described_state(case: Mapping[str, Any]) -> str:
    """The state of a case: of an observation, a world that is drawn."""
    position = call("", {"on": case["on"]})[1:-1]
    is_observation = case["on"].startswith(("sketch", "example"))
    return f"sample({position}, Random({case['seed']}))" if is_observation else position


def _described_search(name: str, method: str):
    """The description of a question that creates an agent and searches."""

    def describe(case: Mapping[str, Any]) -> str:
        options = ", ".join(f"{key}={case[key]}" for key in OPTIONS if key in case)
        agent = case.get("agent", name)
        in_world = agent in OPEN_AGENTS
        position = _described_state(case) if in_world else call("", {"on": case["on"]})[1:-1]
        description = f"{agent}({options}).{method}({position})"
        if "few" in case:
            description += f", which considers only the last {case['few']} moves, in reverse order"
        if "stop" in case:
            description += f", whose games stop after {case['stop']} moves, with artificial values"
        return description

    return describe


TOTALS = "the sum of the rewards, by move"
QUESTIONS = {
    "mcts_reward": Question(
        _rewards, ("value",), lambda case: f"reward(state, player) for {call('', case)}",
        {"value": "for x and for o"}, labels={"value": lambda case: [
            list(map(str, case["on"])), ["for x", "for o"]]}),
    "mcts_ucb": Question(
        _ucb, ("value", "unvisited"),
        lambda case: f"ucb(mean, visits, parent_visits, c) for {case['arguments']}",
        {"unvisited": "the same with no visits"}, labels={"value": each("arguments", "ucb")}),
    "mcts_choices": Question(
        _choices, ("best_mean", "most_visited"),
        lambda case: f"best_mean(rows) and most_visited(rows) for {case['tables']}",
        dict.fromkeys(("best_mean", "most_visited"), "the move chosen from each table")),
    "mcts_simulate": Question(
        _simulate, ("ends", "next"), lambda case: f"{GAMES} games in a row by MonteCarlo(seed="
        f"{case['seed']}).simulate({_described_state(case)})", {
            "ends": "the last states; then one simulated from the end of a game",
            "next": "the next draw of agent.rng.randrange"}),
    "mcts_backup": Question(
        _backup, ("visits", "totals", "rest"), lambda case: call("MonteCarlo().backup", case), {
            "visits": "from the root to the node, then of a sibling",
            "totals": "from below the root to the node",
            "rest": "the totals of the root and of a sibling"}),
    "mcts_select": Question(
        _select, ("path", "state"), lambda case: f"UCT(c={case['c']}).select(root, "
        f"{call('', {'on': case['on']})[1:-1]}), where the root has {case['tree']}", {
            "path": "the moves from the root to the node"}),
    "mcts_expand": Question(
        _expand, ("moves", "states", "links", "next", "end"),
        lambda case: f"UCT(seed={case['seed']}).expand(node, "
        f"{call('', {'on': case['on']})[1:-1]}) repeatedly, where {case['tried']} have "
        "children", {
            "moves": "of the new children, in order of creation",
            "links": "of each: its mover, whether its parent is the node, whether it is among the "
                     "node's children, its visits, its children",
            "next": "the next draw of agent.rng.randrange",
            "end": "at the end of a game: whether node and state are the same, the node's "
                   "children, and the next draw"}),
    "mcts_flat": Question(
        _flat, ("visits", "totals", "move"), _described_search("FlatMonteCarlo", "search"),
        {"visits": "of the root, then by move", "totals": TOTALS}),
    "mcts_tree": Question(
        _tree, ("visits", "totals", "move", "below", "nodes", "again"),
        _described_search("", "search"), {
            "visits": "of the root, then by move", "totals": TOTALS,
            "below": "below the most visited move: move, visits, total, available",
            "nodes": "of the complete tree",
            "again": "of another search by the same agent, and of one after the last legal move "
                     "(except for observations): visits, then a row for each move"}),
    "mcts_ensemble": Question(
        _ensemble, ("visits", "totals", "move", "worlds"),
        _described_search("EnsembleUCT", "search"), {
            "visits": "of the root, then by move", "totals": TOTALS,
            "worlds": "the hands and the next cards of three worlds"}),
    "mcts_info_step": Question(
        _info_step, ("selected", "counted", "expanded", "counted_too", "next"),
        lambda case: f"ISUCT(c={case['c']}, seed={case['seed']}).select and .expand below the "
        f"first action of {call('', {'on': case['on']})[1:-1]}, in the world that "
        f"sample(..., Random({case['worlds'][0]})) draws", {
            "counted": "how often each child has been available after the selection",
            "expanded": "whether select stops at a node with an untried move, the new child's move "
                        "and state, whether a terminal state stays unchanged",
            "counted_too": "how often each child has been available after the expansion",
            "next": "the next draw of agent.rng.randrange"}),
}  # fmt: skip
