"""A real Kubernetes without containers, started on this machine in seconds, for tests and benches."""
