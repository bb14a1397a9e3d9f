"""Tests of how a node is emptied."""
