"""The course: one folder per study, `check` for a student's own module, and the start page.

May import `sequence` and `tictactoe`. `probes/` is what checks ask, and imports nothing beside it.
"""
