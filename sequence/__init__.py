"""Sequence, the second game: cards, hidden hands and chance.

This package is not written yet. It will hold the rules of the card board game Sequence as immutable
states (both the face-up draft row and the published game), what a player may observe and infer, a
few players to beat, a league, and a view. Studies 5 to 8 will be taught on it.
"""
