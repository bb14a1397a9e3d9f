"""The tests; their folders mirror src/hangar, and some are of the whole."""
