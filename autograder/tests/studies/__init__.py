"""The content of the studies: numbers, checks, and modules that students might submit."""
