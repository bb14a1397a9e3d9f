"""Acceptance: each promise of a release, shown on the real thing."""
