"""A whole fleet in one process."""
