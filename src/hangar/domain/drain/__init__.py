"""How a node is emptied: which pods, at what pace, what it waits for, and when it is over."""
