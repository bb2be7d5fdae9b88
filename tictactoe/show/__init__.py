"""What people see and click: trees, the explorer of searches, boards to play on, node counts.

May import all else in `tictactoe`; nothing there imports this room.
"""
