"""The rules at work: states, observations, games, replays, positions to think about.

May import `sequence.board` and `sequence.pictures`.
"""
