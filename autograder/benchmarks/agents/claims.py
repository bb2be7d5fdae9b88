"""Claims: tests of what the sources claim about their agents.

Each claim is in `claims.toml`, with sentences about the result. The numbers in these sentences are
measured here, which takes half an hour, and stored in `claims.json`; the page
docs/teaching/claims.md is generated from both. All games are seeded, every deal is played from both
seats, a tie counts half, and intervals are Wilson's at 95 %. All numbers except the times are the
same on every machine. An interrupted run continues with the stored measurements.
"""

import json
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from autograder.benchmarks import Result
from autograder.benchmarks.agents._claims_agents import (
    FIRST_DEAL,
    ByValues,
    Exploiter,
    Layered,
    block_rate,
    centre_openings,
    count_forks,
    defends,
    live_threes,
    rewards_and_results,
    threats_left,
)  # fmt: skip
from autograder.benchmarks.agents._claims_page import NUMBERS, PAGE, page
from autograder.benchmarks.studies.evaluator import SELF_PLAY, Opening, first_seat
from autograder.benchmarks.support.journal import Journal
from autograder.workspace import answers_folder, load_answer
from course.checks import load_study
from sequence import ISMCTS, Comparison, Greedy, Random, compare
from sequence.engine.compare import Contestant
from sequence.engine.play import Agent
from tictactoe import Qubic, match
from tictactoe import Random as RandomPlayer
from tictactoe.games.play import wilson_interval

DEALS = 500  # 1,000 games, for agents that take a millisecond per move
FEW_DEALS = 50  # for slower agents
EPISODES = 5_000  # on the cube
QUBIC_GAMES = 1_000
POSITION_GAMES = 60  # games whose positions are analysed
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
    """Return the measurements by name; the names of a measurement's numbers start with its name."""
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
    games = max(2, POSITION_GAMES * size // DEALS)

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
            ("forks", partial(count_forks, look, games)),
            ("table", partial(_table, sarsa, learned.table)),
            ("threes", partial(live_threes, sarsa, games)),
            ("rewards", partial(rewards_and_results, sarsa, games)),
            ("qubic", partial(_qubic, load_answer("qubic"), size / DEALS)),
        ]
    )


def _played(name: str, agent: Contestant, other: Contestant, deals: int) -> Numbers:
    return _numbers(name, compare(agent, other, deals, FIRST_DEAL))


def _numbers(name: str, result: Comparison) -> Numbers:
    """Return the score, interval and seats of a comparison, and how long the agents think."""
    low, high = result.interval
    own, others = result.seconds
    return {
        name: result.score,
        f"{name}_low": low,
        f"{name}_high": high,
        f"{name}_games": result.games,
        f"{name}_first": result.seats[0].score,
        f"{name}_second": result.seats[1].score,
        f"{name}_times": sum(own) / len(own) / (sum(others) / len(others)),
    }


def _seats(agents: Mapping[str, Callable[[], Agent]], games: int) -> Numbers:
    """Return the first seat's share of the points when two copies of an agent play.

    It is also measured with a random first action.
    """
    numbers: Numbers = {"seats_games": games}
    for name, make in agents.items():
        for how, first in ((name, make()), (f"{name}_random", Opening(make()))):
            share = first_seat(first, make(), games)
            low, high = wilson_interval(share, games)
            numbers |= {f"seats_{how}": share, f"seats_{how}_low": low, f"seats_{how}_high": high}
    return numbers


def _table(sarsa, table) -> Numbers:
    """Return the number of entries after training, and the share of entries that were visited only
    once.
    """
    visits = list(table.visits.values())
    return {
        "table_entries": len(visits),
        "table_once": visits.count(1) / len(visits),
        "table_games": sarsa.TRAINING_GAMES,
    }


def _qubic(study, share: float) -> Numbers:
    """Measure the strength of the Q table and of the lane learner on the cube, and how often they
    block.
    """
    episodes, games = max(1, int(EPISODES * share)), max(2, int(QUBIC_GAMES * share))
    players = {"x": study.QPlayer(seed=1), "o": study.QPlayer(seed=2)}
    study.train(players, episodes, Qubic())
    learner = study.LaneLearner(1)
    study.train_lanes(learner, episodes, Qubic())
    agents = {
        "table": ByValues(lambda state: players[state.to_move].move_values(state)),
        "lanes": ByValues(learner.move_values),
    }
    numbers: Numbers = {"qubic_episodes": episodes}
    for name, agent in agents.items():
        result = match(agent, RandomPlayer(), games, seed=1, start=Qubic())
        numbers |= {
            f"qubic_{name}": result.score,
            f"qubic_{name}_low": result.interval[0],
            f"qubic_{name}_high": result.interval[1],
            f"qubic_{name}_blocks": block_rate(agent, games),
        }
    return numbers
