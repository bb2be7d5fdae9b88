"""Pictures and widgets that explain a search: trees, counts and weights.

May import everything else in `tictactoe`.
"""
