"""Tests of whether what moves has room elsewhere."""
