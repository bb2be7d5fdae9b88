"""Benchmarks of single studies and of the notebooks.

May import whatever `autograder.benchmarks` may import.
"""
