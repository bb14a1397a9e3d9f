"""Tests of hangar.hub.api."""
