"""Claims: what the sources say of their agents, put to the test.

Each claim stands in `claims.toml`, with the sentence that says what was found. The numbers in these
sentences are measured here, which takes half an hour, and kept in `claims.json`; the page
docs/teaching/claims.md is made of both. All games are seeded, every deal is played from both seats,
a tie counts half, and intervals are Wilson's at 95 %: all but the times are the same on every
machine. What an interrupted run has measured is not measured again.
"""

import json
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from autograder.benchmarks import Result
from autograder.benchmarks._claims_agents import (
    FIRST_DEAL,
    ByValues,
    Exploiter,
    Layered,
    blocked,
    centre_openings,
    defends,
    forks,
    live_threes,
    rewards_and_results,
    threats_left,
)  # fmt: skip
from autograder.benchmarks._claims_page import NUMBERS, PAGE, page
from autograder.benchmarks._journal import Journal
from autograder.benchmarks.evaluator import SELF_PLAY, Opening, first_seat
from autograder.workspace import answers_folder, load_answer
from course.probes import load_study
from sequence import ISMCTS, Comparison, Greedy, Random, compare
from sequence.engine.compare import Contestant
from sequence.engine.play import Agent
from tictactoe import Qubic, match
from tictactoe import Random as RandomPlayer
from tictactoe.games.play import wilson_interval

DEALS = 500  # 1,000 games, of agents that take a millisecond a move
FEW_DEALS = 50  # of agents that take longer
EPISODES = 5_000  # on the cube
QUBIC_GAMES = 1_000
POSITIONS_OF = 60  # games whose positions are looked at
Numbers = dict[str, float]


def run(size: int = DEALS) -> list[Result]:
    """Measure everything, and write the numbers and the page."""
    journal = Journal(
        "claims",
        [
            Path(__file__),
            Path(__file__).with_name("_claims_agents.py"),
            *(answers_folder(load_study(f"study{n}")) for n in (5, 6, 7, 8)),
        ],
        size,
    )
    numbers: Numbers = {}
    for name, measure in measurements(size).items():
        numbers |= journal.measured((name,), measure)
        print(f"{name} measured", file=sys.stderr)
    if size == DEALS:
        NUMBERS.write_text(json.dumps(numbers, indent=1) + "\n", "utf-8")
        PAGE.write_text(page(numbers), "utf-8")
        print(f"written: {PAGE}", file=sys.stderr)
    journal.close()
    return [Result(name.replace("_", " "), value, "") for name, value in numbers.items()]


def measurements(size: int) -> dict[str, Callable[[], Numbers]]:
    """What is measured, by name: each gives numbers whose names begin with it."""
    evaluator, lookahead, sarsa = map(load_answer, ("evaluator", "lookahead", "sarsa"))
    few = max(1, size * FEW_DEALS // DEALS)
    original = evaluator.Evaluator()
    blocking = evaluator.Evaluator(evaluator.BLOCKING)
    layered = Layered(evaluator, original)
    look = lookahead.LookAhead(lookahead.quick_replies)
    without = lookahead.LookAhead(None)
    learned = sarsa.trained()
    reward_only = sarsa.SarsaAgent(q_weight=0.0)
    richer = sarsa.SarsaAgent(sarsa.train(sarsa.TRAINING_GAMES, discards=True), discards=True)
    deep = lookahead.SampledSearch(load_answer("alpha_beta").AlphaBeta(), k=4, depth=3, samples=2)
    games = max(2, POSITIONS_OF * size // DEALS)

    def played(name: str, agent: Contestant, other: Contestant, deals: int = size):
        return name, partial(_played, name, agent, other, deals)

    return dict(
        [
            played("evaluator_random", original, Random()),
            played("evaluator_greedy", original, Greedy()),
            played("layered_greedy", layered, Greedy()),
            played("layered_evaluator", layered, original),
            played("defendfirst_greedy", Layered(evaluator, original, defends), Greedy()),
            played("layeredblocking_greedy", Layered(evaluator, blocking), Greedy()),
            played("blocking_greedy", blocking, Greedy()),
            played("blocking_evaluator", blocking, original),
            played("linecounter_evaluator", evaluator.LineCounter(), original),
            played("linecounter_greedy", evaluator.LineCounter(), Greedy()),
            (
                "seats",
                partial(
                    _seats,
                    {
                        "original": evaluator.Evaluator,
                        "blocking": lambda: evaluator.Evaluator(evaluator.BLOCKING),
                        "linecounter": evaluator.LineCounter,
                        "greedy": Greedy,
                        "random": Random,
                    },
                    SELF_PLAY * size // DEALS,
                ),
            ),
            played("look_random", look, Random(), few),
            played("look_greedy", look, Greedy(), size // 2),
            played("look_without", look, without, size // 2),
            played(
                "known_without",
                lookahead.LookAhead(lookahead.quick_replies, "known"),
                without,
                size // 2,
            ),
            played("deep_look", deep, look, max(1, few // 2)),
            played("exploiter_look", Exploiter(lookahead, look), look, few),
            played("mistaken_look", Exploiter(lookahead, Greedy()), look, few),
            played("ismcts_look", ISMCTS(iterations=10), look, few),
            played("sarsa_random", learned, Random(), few),
            played("sarsa_greedy", learned, Greedy(), size // 2),
            played(
                "neither_random", sarsa.SarsaAgent(q_weight=0.0, reward_weight=0.0), Random(), few
            ),
            played("sarsa_reward", learned, reward_only, size // 2),
            played("richer_reward", richer, reward_only, size // 2),
            played(
                "online_greedy",
                sarsa.SarsaAgent(sarsa.QTable.from_json(learned.table.to_json()), learn=True),
                Greedy(),
                size // 2,
            ),
            played("ismcts_sarsa", ISMCTS(iterations=10), learned, few),
            ("openings", partial(centre_openings, look, games)),
            ("left", partial(threats_left, {"with": look, "without": without}, games)),
            ("forks", partial(forks, look, games)),
            ("table", partial(_table, sarsa, learned.table)),
            ("threes", partial(live_threes, sarsa, games)),
            ("rewards", partial(rewards_and_results, sarsa, games)),
            ("qubic", partial(_qubic, load_answer("qubic"), size / DEALS)),
        ]
    )


def _played(name: str, agent: Contestant, other: Contestant, deals: int) -> Numbers:
    return _numbers(name, compare(agent, other, deals, FIRST_DEAL))


def _numbers(name: str, found: Comparison) -> Numbers:
    """Score, interval and seats of a comparison, and how long the agents think."""
    low, high = found.interval
    own, others = found.seconds
    return {
        name: found.score,
        f"{name}_low": low,
        f"{name}_high": high,
        f"{name}_games": found.games,
        f"{name}_first": found.seats[0].score,
        f"{name}_second": found.seats[1].score,
        f"{name}_times": sum(own) / len(own) / (sum(others) / len(others)),
    }


def _seats(agents: Mapping[str, Callable[[], Agent]], games: int) -> Numbers:
    """What the first seat is worth between two copies of an agent: its share of the points, also
    where the first action of all is a random one."""
    found: Numbers = {"seats_games": games}
    for name, make in agents.items():
        for how, first in ((name, make()), (f"{name}_random", Opening(make()))):
            share = first_seat(first, make(), games)
            low, high = wilson_interval(share, games)
            found |= {f"seats_{how}": share, f"seats_{how}_low": low, f"seats_{how}_high": high}
    return found


def _table(sarsa, table) -> Numbers:
    """What the training leaves: entries, and how many of them were met only once."""
    visits = list(table.visits.values())
    return {
        "table_entries": len(visits),
        "table_once": visits.count(1) / len(visits),
        "table_games": sarsa.TRAINING_GAMES,
    }


def _qubic(study, share: float) -> Numbers:
    """The Q table and the lane learner on the cube: strength, and whether they block a three."""
    episodes, games = max(1, int(EPISODES * share)), max(2, int(QUBIC_GAMES * share))
    players = {"x": study.QPlayer(seed=1), "o": study.QPlayer(seed=2)}
    study.train(players, episodes, Qubic())
    learner = study.LaneLearner(1)
    study.train_lanes(learner, episodes, Qubic())
    agents = {
        "table": ByValues(lambda state: players[state.to_move].move_values(state)),
        "lanes": ByValues(learner.move_values),
    }
    found: Numbers = {"qubic_episodes": episodes}
    for name, agent in agents.items():
        result = match(agent, RandomPlayer(), games, seed=1, start=Qubic())
        found |= {
            f"qubic_{name}": result.score,
            f"qubic_{name}_low": result.interval[0],
            f"qubic_{name}_high": result.interval[1],
            f"qubic_{name}_blocks": blocked(agent, games),
        }
    return found
