"""What comes of asking an agent for a move on a board, with all that can go wrong, in words."""

from typing import NamedTuple

from tictactoe.contract import Agent, Move, State
from tictactoe.errors import describe
from tictactoe.games.players import Resigned
from tictactoe.nodes import NodeCounter
from tictactoe.show.drawn import move_words


class Answer(NamedTuple):
    """What came of asking an agent: its move and the state after it, None without a legal move."""

    agent: Agent
    news: str
    move: Move = None
    state: State | None = None


def ask(agent: Agent, state: State) -> Answer:
    """Let the agent choose; this takes as long as it takes."""
    name, player = type(agent).__name__, state.to_move
    try:
        with NodeCounter() as nodes:
            move = agent.choose(state)
        after = state.after(move)
    except Resigned:
        return Answer(agent, f"{name}, {player}, resigns. ")
    except KeyboardInterrupt:  # the kernel's Interrupt button
        return Answer(agent, f"{name}, {player}, was interrupted. ")
    except BaseException as error:  # show any mistake of the agent
        return Answer(agent, f"{name}, {player}: {describe(error)}. ")
    count = f" (nodes: {nodes.visited:,})" if nodes.visited else ""
    return Answer(agent, f"{name} plays {move_words(state, move)}{count}. ", move, after)
