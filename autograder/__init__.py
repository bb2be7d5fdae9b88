"""The staff's side: reference answers, verdicts, release, grading, reports. Never given to students."""
