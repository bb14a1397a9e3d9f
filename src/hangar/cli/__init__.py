"""hgr, the command line."""
