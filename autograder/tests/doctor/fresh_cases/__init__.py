"""Fresh cases, which the doctor draws from a seed."""
