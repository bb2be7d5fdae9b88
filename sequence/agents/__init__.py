"""The kit's players, with beliefs about hidden cards and evaluation functions.

May import `sequence.board`, `sequence.engine` and `sequence.pictures`.
"""
