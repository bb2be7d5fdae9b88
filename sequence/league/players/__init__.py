"""How a league reaches its agents: by name, in this process, or in a process for each.

May import `sequence.league.game` and `sequence.league.wire`, and the engine.
"""
