"""Compares replies with the expected ones and explains the differences.

May import the modules directly in `course.checks`, and `course.checks.questions`.
"""
