"""Decides and explains the marks of each check.

`reply_collection` queries the module, and `judging` marks its replies.

Imports nothing else of `autograder.grading`.
"""
