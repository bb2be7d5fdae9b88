"""The given players, and what they reckon with: beliefs about hidden cards, the worth of cells.

May import `sequence.board`, `sequence.engine` and `sequence.pictures`.
"""
