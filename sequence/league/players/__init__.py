"""How a league reaches its agents: by name, in this process or in a separate process for each.

May import `sequence.league.game`, `sequence.league.protocol` and the engine.
"""
