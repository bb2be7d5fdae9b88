"""Tests of the commands and benchmarks."""
