"""The types of operations: one file a kind, pure, never importing each other."""
