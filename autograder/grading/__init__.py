"""From a submission's folder to its marks in nbgrader's gradebook.

May import `release`, `workspace`, `sandbox` and what staff edit; nothing that presents marks.
"""
