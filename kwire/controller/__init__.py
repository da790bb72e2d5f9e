"""KRaft controller: brokers boot from it, controllers vote with it; for tests and laboratories.

`kwire.testing.Quorum` runs several of them in a program.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kwire.controller.server.config.node_config import NodeConfig
    from kwire.controller.server.node import ControllerNode

__all__ = ["ControllerNode", "NodeConfig"]

_MODULES = {
    "ControllerNode": "kwire.controller.server.node",
    "NodeConfig": "kwire.controller.server.config.node_config",
}


def __getattr__(name: str) -> Any:
    # Imported on first use (PEP 562): the raft core and the handlers lie in this package, too, and
    # importing them is not to load asyncio, ssl and what else a running node needs.
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)
