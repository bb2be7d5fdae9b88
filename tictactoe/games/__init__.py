"""The games (tic-tac-toe, Qubic, Connect Four, Kuhn's poker): rules, pictures, players, matches.

May import `tictactoe.contract` and nothing else from this repository.
"""
