"""Checks in which the student's agent plays matches against built-in opponents.

May import the modules directly in `course.checks`, and the games.
"""
