"""Pictures and widgets: search trees, the tree explorer, boards, node counts, explorables.

May import everything else in `tictactoe`; nothing there imports this package.
"""
