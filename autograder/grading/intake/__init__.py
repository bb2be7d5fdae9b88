"""Reads what students submitted, in bounded time, and repairs notebooks.

Imports nothing else of `autograder.grading`.
"""
