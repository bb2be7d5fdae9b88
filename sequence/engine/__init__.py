"""The game engine: states, observations, playing games, and replays.

May import `sequence.board` and `sequence.pictures`.
"""
