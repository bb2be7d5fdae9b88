"""Signals, and the processes that other processes have started.

Imports nothing else from the kit.
"""
