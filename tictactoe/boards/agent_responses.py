"""An agent's response to a request for a move, with a message if anything goes wrong."""

from typing import NamedTuple

from common.errors import describe
from tictactoe.boards.rendering import describe_move
from tictactoe.contract import Agent, Move, State
from tictactoe.games.players import Resigned
from tictactoe.nodes import NodeCounter


class AgentResponse(NamedTuple):
    """An agent's move and the state after it; both are None if it made no legal move."""

    agent: Agent
    message: str
    move: Move = None
    state: State | None = None


def request_move(agent: Agent, state: State) -> AgentResponse:
    """Let the agent choose a move, however long it takes."""
    name, player = type(agent).__name__, state.to_move
    try:
        with NodeCounter() as nodes:
            move = agent.choose(state)
        after = state.after(move)
    except Resigned:
        return AgentResponse(agent, f"{name}, {player}, resigns. ")
    except KeyboardInterrupt:  # the kernel's Interrupt button
        return AgentResponse(agent, f"{name}, {player}, was interrupted. ")
    except BaseException as error:  # show any error of the agent
        return AgentResponse(agent, f"{name}, {player}: {describe(error)}. ")
    count = f" (nodes: {nodes.visited:,})" if nodes.visited else ""
    return AgentResponse(agent, f"{name} plays {describe_move(state, move)}{count}. ", move, after)
