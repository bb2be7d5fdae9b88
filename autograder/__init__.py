"""The staff's side: reference answers, hidden positions, release, grading. Never handed out.

Staff edit `answers/`, `mutants/` and `verdicts/`; every other folder is one step of release or
grading. May import the three public packages; none of them imports this one.
"""
