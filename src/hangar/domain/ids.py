"""Names of things, each its own type, so that one cannot be passed for another."""

from typing import NewType

OperationId = NewType("OperationId", str)
ClusterName = NewType("ClusterName", str)
WorkloadName = NewType("WorkloadName", str)
NodeName = NewType("NodeName", str)
NodeUid = NewType("NodeUid", str)
PodUid = NewType("PodUid", str)
OwnerUid = NewType("OwnerUid", str)
BudgetUid = NewType("BudgetUid", str)

OPERATION_ID_PREFIX = "op_"
