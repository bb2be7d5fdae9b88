"""The marks of a submission, and their explanation."""
