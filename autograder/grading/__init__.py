"""Grades submissions: from a submission's folder to the marks in nbgrader's gradebook.

May import `release`, `workspace`, `sandbox` and the files that staff edit, but nothing that
presents marks.
"""
