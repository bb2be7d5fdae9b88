"""Round trips of the files of learning management systems, and archives of submissions."""
