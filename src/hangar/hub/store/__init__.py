"""The store of record, behind SQL."""
