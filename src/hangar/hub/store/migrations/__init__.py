"""The migrations of the store, oldest first."""
