"""Programs that are used on the tree, and shipped with nothing."""
