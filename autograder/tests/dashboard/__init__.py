"""The overview with its buttons, and the page for marking written answers."""
