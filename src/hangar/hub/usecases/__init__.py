"""What the hub does, one verb a file."""
