"""From a submission to marks in the gradebook, and attacks on the way."""
