"""Tests of hangar.hub.usecases."""
