"""Positions as text, in words and as SVG: what a notebook shows of a state.

May import `sequence.board`; it takes states and observations, and knows only their fields.
"""
