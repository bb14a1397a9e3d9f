"""How the operator sees and touches a cluster."""
