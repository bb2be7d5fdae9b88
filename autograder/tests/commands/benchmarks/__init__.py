"""Tests of what the benchmarks measure and print."""
