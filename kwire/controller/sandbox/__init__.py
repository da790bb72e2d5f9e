"""A controller that leads a copy of a cluster's metadata, for tools and brokers under test.

async with SandboxController(ClusterCopy(...)) as service:
    response = await service.answer(request, context)

The handlers are the controller's own, the rules of the voter set those of its raft core. The other
voters are not there: each fetches at once, so that whatever is written is committed. Nothing of it
reaches the cluster that was copied.
"""

from kwire.controller.sandbox.cluster_copy import ClusterCopy
from kwire.controller.sandbox.controller import APIS, SandboxController

__all__ = ["APIS", "ClusterCopy", "SandboxController"]
