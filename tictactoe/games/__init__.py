"""The games tic-tac-toe and Qubic: rules, pictures, given players, and playing a match.

May import `tictactoe.contract` and nothing else from this repository.
"""
