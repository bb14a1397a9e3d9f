"""A simulated cluster: nodes, pods, controllers, a scheduler and the eviction API, in virtual or real time."""
