"""Helpers of the benchmarks: journals, generated classes, clusters, databases and a browser.

May import whatever `autograder.benchmarks` may import.
"""
