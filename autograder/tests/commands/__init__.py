"""Commands and benchmarks."""
