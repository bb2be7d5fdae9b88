"""How a league reaches its agents: finding them by name, in this process, or in one process each.

May import `sequence.league.game` and `sequence.league.wire`, and the engine.
"""
