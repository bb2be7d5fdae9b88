"""Presents marks to people in feedback pages, the report and exports.

May import `grading` and the layers below it. This package never decides or changes a mark.
"""
