"""Builds all material for students: stubs, notebooks, assignments, kit, book, site and slides.

May import `workspace` and the files that staff edit, but no code that grades.
"""
