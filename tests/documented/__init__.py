"""The documents are held to what the code says and does."""
