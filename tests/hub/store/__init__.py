"""Tests of hangar.hub.store."""
