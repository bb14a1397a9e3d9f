"""Tests of hangar.telemetry."""
