"""A controller that leads a copy of a cluster's metadata, for tools and brokers under test.

async with SandboxController(ClusterCopy(...)) as service:
    response = await service.answer(request, context)

The handlers and the raft core are those of a real controller. The other voters do not run: fetches
are made up for each of them at once, so that every write is committed. Nothing reaches the cluster
that was copied.
"""

from kwire.controller.sandbox.cluster_copy import ClusterCopy
from kwire.controller.sandbox.controller import APIS, SandboxController

__all__ = ["APIS", "ClusterCopy", "SandboxController"]
