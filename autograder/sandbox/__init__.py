"""Runs what was handed in where it can do no harm: see `client.Sandbox`."""
