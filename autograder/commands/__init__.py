"""The user interface: the `autograder` command and the demo.

May import everything but `desk`, which alone imports this package.
"""
