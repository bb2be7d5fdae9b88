"""Helpers shared by several test modules of the autograder."""
