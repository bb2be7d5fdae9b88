"""The course: a folder per study to read and fill in, and `check`, which tells how far one is."""
