"""Study 10: your own agent for the Sequence league.

You complete this module. Notebook 19 explains the league; submit this file with the notebook. The
agent may be anything that follows the rules and keeps within the time limits: a method from studies
6 to 9, a search, or an idea of your own. It must not need files of other studies, so copy what you
want to use.

You may use everything in `sequence` except the built-in players. `Greedy`, `ISMCTS` and
`FittedLookAhead` are opponents: in the ladder they cannot be imported, and an agent that plays like
a built-in player, or contains its code, earns only the point for legal play.
"""


class MyAgent:
    """Your agent, which the league creates for every game and queries for every action."""

    def choose(self, observation):
        """The action to play, one of `observation.legal_actions()`, within a second of computing
        time.

        If you use random numbers, define `reset(self, seed)`, which is called before the first
        action, so that games can be repeated.

        Hint: start with something that works, such as the legal action with the best evaluation by
        one of your functions from studies 6 to 8, and play it in your own league. Then change one
        thing at a time and measure the effect.
        """
        raise NotImplementedError("MyAgent.choose: write this method")
