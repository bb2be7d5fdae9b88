"""Runs nbgrader's steps on the submissions of an assignment, in several processes.

May import the rest of `autograder.grading`.
"""
