"""Tests of workloads, their placement and their shape."""
