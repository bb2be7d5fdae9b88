"""The staff's side: reference answers, verdicts, release, grading. Never given out.

What staff edit is in `answers/`, `mutants/` and `verdicts/`; each other folder is a step in the way
of a submission. May import the three public packages; none of them imports this one.
"""
