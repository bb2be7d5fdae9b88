"""The rules, the given players and playing: tic-tac-toe, Qubic, and how their boards look.

May import `tictactoe.contract` and nothing else of ours.
"""
