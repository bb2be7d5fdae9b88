"""The files that learning management systems export and import: rosters, grades and submissions.

One module per system: `canvas`, `moodle`, `github` (GitHub Classroom) and `gradescope`. They convert
between a system's files and plain rows; `collect` writes submissions to the course folder.

May import the layers below it.
"""
