"""The user interface: the `autograder` command, the overview page, the demo.

May import everything; nothing imports this package.
"""
