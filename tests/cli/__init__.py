"""Tests of hgr: against a scripted hub on a real socket, or pure."""
