"""The gradebook and the other records of the course folder."""
