"""Workloads: models that are served across clusters, how many replicas each cluster runs, and what a replica is."""
