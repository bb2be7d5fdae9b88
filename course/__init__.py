"""The course: one folder per study, `check` for a student's own module, and the start page."""
