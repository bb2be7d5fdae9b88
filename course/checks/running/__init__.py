"""Calls a student's module and collects its replies as plain data.

May import the rest of `course.checks`, except `marking`.
"""
