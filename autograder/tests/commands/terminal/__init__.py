"""Commands run from a terminal: signals, encodings and folders."""
