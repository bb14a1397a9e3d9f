"""The hub: the API, the console and the store of record."""
