"""The doctor's checks of a study before its release."""
