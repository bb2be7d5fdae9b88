"""Benchmarks of games and agents: the speed of searches and games, the strength of agents.

May import whatever `autograder.benchmarks` may import.
"""
