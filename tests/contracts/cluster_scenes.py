"""The contract of the Cluster port: every scene that an adapter must pass, simulated or real."""

from tests.contracts import (
    cordon_scenes,
    demand_scenes,
    ending_scenes,
    eviction_scenes,
    refusal_scenes,
    sight_scenes,
)
from tests.contracts.cluster_stage import SCENES

PARTS = (sight_scenes, demand_scenes, cordon_scenes, eviction_scenes, refusal_scenes, ending_scenes)
"""Importing a part adds its scenes."""

ALL_SCENES = tuple(SCENES)
