"""The user interface: the `autograder` command and the demo.

May import everything except `dashboard`, which is the only package that imports this one.
"""
