"""Study 10: your own agent for the Sequence league.

You fill in this module. Notebook 19 explains the league; hand in this file with the notebook. The
agent may be anything that plays by the rules and the clock: what you learned in studies 6 to 9, a
search, or an idea of your own. It must not need files of other studies: copy what you want to use.

Everything in `sequence` may be used except for the given players. `Greedy`, `ISMCTS` and
`FittedLookAhead` are opponents: in the ladder they cannot be imported, and an agent that plays as a
given player does, or that holds its code, earns only the point for legal play.
"""


class MyAgent:
    """Your agent: the league makes one for every game, and asks it for every action."""

    def choose(self, observation):
        """The action to play, one of `observation.legal_actions()`, within a second of computing.

        If you want random numbers, define `reset(self, seed)`: it is called before the first
        action, so that a game can be played again.

        Hint: begin with something that works, such as the legal action that one of your
        evaluations of studies 6 to 8 likes best, and play it in a league of your own. Then change
        one thing at a time and measure it.
        """
        raise NotImplementedError("MyAgent.choose: write this method")
