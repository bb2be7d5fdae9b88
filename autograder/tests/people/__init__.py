"""What students use in a notebook."""
