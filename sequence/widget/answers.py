"""What comes of asking an agent of Sequence, without a word about the cards that it holds."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from sequence.board.actions import Action, IllegalAction
from sequence.engine.observation import Observation
from sequence.engine.play import Agent
from sequence.engine.state import State
from tictactoe.errors import describe


class Answer(NamedTuple):
    """What came of asking an agent: its action and the state after it, or what is wrong with it."""

    agent: Agent
    action: Action | None
    state: State | None
    trouble: str = ""


def ask(agent: Agent, state: State, choose: Callable[[Observation], Action]) -> Answer:
    """Let an agent choose, without a word about its hand if it fails; this may take long."""
    try:
        action = choose(state.observation())
        if action in state.legal_actions():
            return Answer(agent, action, state.after(action))
        wrong = f"played {action!r:.120}, which is not legal."
    except KeyboardInterrupt:  # the kernel's Interrupt button
        wrong = "was interrupted."
    except IllegalAction:  # on a state that it made up: the message has the hand in it
        wrong = "raised IllegalAction."
    except BaseException as error:  # show any mistake of the agent
        wrong = f"raised {describe(error)}"
    return Answer(agent, None, None, f"{type(agent).__name__}, player {state.to_move}, {wrong}")


def rated(
    rate: Callable[[Observation], Mapping[Action, float]], state: State
) -> Mapping[Action, float] | str:
    """What each legal action is worth, or why that is not known."""
    try:
        observation = state.observation()
        found = rate(observation)
        return {action: found[action] for action in observation.legal_actions()}
    except BaseException as error:  # show any mistake of the evaluator
        return f"No values: {describe(error)} "
