"""Benchmarks of grading: speed, load, interruptions, scale, and hidden positions and opponents.

May import whatever `autograder.benchmarks` may import.
"""
