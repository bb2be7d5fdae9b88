"""Positions as text, in words and as SVG, for display in notebooks.

May import `sequence.board`; of states and observations, it uses only the fields.
"""
