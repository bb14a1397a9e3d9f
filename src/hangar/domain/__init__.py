"""What is true of clusters and operations, as plain values: no I/O, no clock, no randomness."""
