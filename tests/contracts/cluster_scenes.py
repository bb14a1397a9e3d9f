"""The contract of the Cluster port: every scene that an adapter must pass, simulated or real."""

from tests.contracts import cordon_scenes, eviction_scenes, sight_scenes
from tests.contracts.cluster_stage import SCENES

PARTS = (sight_scenes, cordon_scenes, eviction_scenes)
"""Importing a part adds its scenes."""

ALL_SCENES = tuple(SCENES)
