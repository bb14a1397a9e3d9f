"""What crosses a process: the operators' protocol, what users see, the codes of problems."""
