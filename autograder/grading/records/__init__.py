"""Stored data about grading: results, marks, and the state that determines them.

May import `intake`.
"""
