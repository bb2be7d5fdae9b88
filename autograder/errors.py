"""The exception `Refused`, in a module of its own so that importing it imports nothing else."""


class Refused(Exception):
    """A command cannot or will not do what it was asked; the message says why in one sentence."""
