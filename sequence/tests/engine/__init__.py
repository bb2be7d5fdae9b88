"""Tests of states, observations, replays and games."""
