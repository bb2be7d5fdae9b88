"""The staff's side: reference answers, verdicts, release, grading. Never given out."""
