"""Style as a test: rules with a reason each, and a ratchet of today's exceptions that may only shrink."""
