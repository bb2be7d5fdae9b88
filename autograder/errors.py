"""What commands refuse; a module of its own, so that naming it imports nothing."""


class Refused(Exception):
    """Bad input or a refusal, told in one sentence."""
