"""The checks of a study before its release."""
