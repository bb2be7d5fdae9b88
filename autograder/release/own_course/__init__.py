"""The course in a course folder: its versions of the studies, and what an upgrade changes.

May import the rest of `release` and the layers below it.
"""
