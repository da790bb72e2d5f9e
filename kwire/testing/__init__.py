"""Clusters for tests: quorums of kwire's controllers, Kafka's brokers beside, faults.

async with Quorum(3) as quorum:
    admin = AdminClient(bootstrap_controllers=quorum.bootstrap_controllers)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kwire.testing.background import BackgroundQuorum
    from kwire.testing.local_brokers import LocalBrokers
    from kwire.testing.quorum import Quorum
    from kwire.testing.quorum_members import QuorumMember

__all__ = ["BackgroundQuorum", "LocalBrokers", "Quorum", "QuorumMember"]

_MODULES = {
    "BackgroundQuorum": "background",
    "LocalBrokers": "local_brokers",
    "Quorum": "quorum",
    "QuorumMember": "quorum_members",
}


def __getattr__(name: str) -> Any:
    # Imported on first use (PEP 562): who needs a local Kafka loads no controller.
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"kwire.testing.{_MODULES[name]}"), name)
