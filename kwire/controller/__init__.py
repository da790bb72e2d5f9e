"""KRaft controller: brokers boot from it, controllers vote with it; for tests and laboratories.

`kwire.testing.Quorum` runs several of them in a program.
"""

from typing import TYPE_CHECKING

from kwire.lazy_names import lazy_names

if TYPE_CHECKING:
    from kwire.controller.server.config.node_config import NodeConfig
    from kwire.controller.server.node import ControllerNode

__all__ = ["ControllerNode", "NodeConfig"]

if not TYPE_CHECKING:  # a type checker would take any name for one of these
    __getattr__, __dir__ = lazy_names(
        "kwire.controller",
        {"ControllerNode": "server.node", "NodeConfig": "server.config.node_config"},
    )
