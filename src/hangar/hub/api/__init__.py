"""The REST API: routes over the use cases."""
