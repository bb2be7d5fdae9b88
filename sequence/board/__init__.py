"""The board and the cards: cells and lines as bits, chips, actions and the two rule sets.

May import `tictactoe.contract` and nothing else from this repository.
"""
