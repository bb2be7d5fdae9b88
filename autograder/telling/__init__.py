"""Presents marks to people: feedback pages, the report, exports.

May import `grading` and what lies below it; never decides or changes a mark.
"""
