"""Transcripts: what the user types, run as typed on a running demo fleet."""
