"""Tests of hangar.hub."""
