"""The given players and what they use: beliefs about hidden cards, estimates of worth.

May import `sequence.board`, `sequence.engine` and `sequence.pictures`.
"""
