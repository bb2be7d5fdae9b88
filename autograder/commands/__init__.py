"""What somebody types or opens: the `autograder` command, the overview, the demo.

May import everything; nothing imports this room.
"""
