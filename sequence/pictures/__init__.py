"""Positions as text, as words and as SVG: what a state shows of itself at the end of a cell.

May import `sequence.board`; it takes states and observations, and knows only their fields.
"""
