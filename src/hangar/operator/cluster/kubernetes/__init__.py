"""A real cluster: the Kubernetes API, mirrored by watches and changed by four kinds of requests."""
