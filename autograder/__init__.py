"""The part of the kit for instructors only: reference answers, hidden positions, releases and
grading.

Instructors edit `studies/`; every other folder is one step of releasing or grading. May import the
four public packages; none of them imports this one.
"""
