"""Responses of Sequence agents, without information about the cards that they hold."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from common.errors import describe
from sequence.board.actions import Action, IllegalAction
from sequence.engine.observation import Observation
from sequence.engine.play import Agent
from sequence.engine.state import State


class AgentResponse(NamedTuple):
    """An agent's action and the state after it, or a description of its error."""

    agent: Agent
    action: Action | None
    state: State | None
    error_text: str = ""


def request_action(
    agent: Agent, state: State, choose: Callable[[Observation], Action]
) -> AgentResponse:
    """Let an agent choose; if it fails, the description does not reveal its hand."""
    try:
        action = choose(state.observation())
        if action in state.legal_actions():
            return AgentResponse(agent, action, state.after(action))
        wrong = f"played {action!r:.120}, which is not legal."
    except KeyboardInterrupt:  # the kernel's Interrupt button
        wrong = "was interrupted."
    except IllegalAction:  # in a state that the agent made up, so the message may reveal the hand
        wrong = "raised IllegalAction."
    except BaseException as error:  # show any error of the agent
        wrong = f"raised {describe(error)}"
    return AgentResponse(
        agent, None, None, f"{type(agent).__name__}, player {state.to_move}, {wrong}"
    )


def rate_actions(
    rate: Callable[[Observation], Mapping[Action, float]], state: State
) -> Mapping[Action, float] | str:
    """The value of each legal action, or the reason why there are no values."""
    try:
        observation = state.observation()
        values = rate(observation)
        return {action: values[action] for action in observation.legal_actions()}
    except BaseException as error:  # show any error of the evaluator
        return f"No values: {describe(error)} "
