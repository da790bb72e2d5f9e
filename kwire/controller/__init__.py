"""A KRaft controller for tests and laboratories: brokers boot from it, controllers vote with it.

async with Quorum(3) as quorum:
    admin = AdminClient(bootstrap_controllers=quorum.bootstrap_controllers)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kwire.controller.server.background import BackgroundQuorum
    from kwire.controller.server.config.node_config import NodeConfig
    from kwire.controller.server.local_brokers import LocalBrokers
    from kwire.controller.server.node import ControllerNode
    from kwire.controller.server.quorum import Quorum
    from kwire.controller.server.quorum_members import QuorumMember
else:
    # Imported on first use (PEP 562): the raft core and the handlers lie in this package, too, and
    # importing them is not to load asyncio, ssl and what else a running node needs.
    _MODULES = {
        "BackgroundQuorum": "kwire.controller.server.background",
        "ControllerNode": "kwire.controller.server.node",
        "QuorumMember": "kwire.controller.server.quorum_members",
        "LocalBrokers": "kwire.controller.server.local_brokers",
        "NodeConfig": "kwire.controller.server.config.node_config",
        "Quorum": "kwire.controller.server.quorum",
    }

    def __getattr__(name: str) -> Any:
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(_MODULES[name]), name)


__all__ = [
    "BackgroundQuorum",
    "ControllerNode",
    "LocalBrokers",
    "NodeConfig",
    "Quorum",
    "QuorumMember",
]
