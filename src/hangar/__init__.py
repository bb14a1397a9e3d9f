"""Wingsmith: recorded, explained, cancellable operations for fleets of GPU inference clusters."""

__version__ = "0.1.0"
