"""Commands that the dashboard runs in the background, with their progress and messages.

May import the command line.
"""
