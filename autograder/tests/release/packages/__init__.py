"""Packages: the student kit, the wheel, the worker kit and the container."""
