"""The former name of `sequence.agents.evaluation`: earlier stubs of study 9 import it."""

from sequence.agents.evaluation import best_action, chances, ranked

__all__ = ["best_action", "chances", "ranked"]
