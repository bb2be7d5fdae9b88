"""From submitted files to the modules that are graded."""
