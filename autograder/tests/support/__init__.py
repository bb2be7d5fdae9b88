"""Helpers that several test modules of the autograder share."""
