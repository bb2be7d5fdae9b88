"""The history of every mark, and the regrade requests of students.

Both are files next to the gradebook, because grading again replaces the marks in it. May import
`autograder.grading.records` and the layers below it.
"""
