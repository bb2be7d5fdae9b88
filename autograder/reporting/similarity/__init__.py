"""Finds submissions that resemble each other, last year's submissions or the staff's answers.

A finding is a reason to read two submissions side by side. It never changes a mark.

May import the rest of `reporting` and the layers below it.
"""
