"""The page on which written answers are marked.

May import whatever `autograder.dashboard` may import.
"""
