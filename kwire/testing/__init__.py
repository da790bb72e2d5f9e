"""Clusters for tests: quorums of kwire's controllers, Kafka's brokers beside, faults.

async with Quorum(3) as quorum:
    admin = AdminClient(bootstrap_controllers=quorum.bootstrap_controllers)
"""

from typing import TYPE_CHECKING

from kwire.lazy_names import lazy_names

if TYPE_CHECKING:
    from kwire.testing.background import BackgroundQuorum
    from kwire.testing.local_brokers import LocalBrokers
    from kwire.testing.quorum import Quorum
    from kwire.testing.quorum_members import QuorumMember

__all__ = ["BackgroundQuorum", "LocalBrokers", "Quorum", "QuorumMember"]

if not TYPE_CHECKING:  # a type checker would take any name for one of these
    __getattr__, __dir__ = lazy_names(
        "kwire.testing",
        {
            "BackgroundQuorum": "background",
            "LocalBrokers": "local_brokers",
            "Quorum": "quorum",
            "QuorumMember": "quorum_members",
        },
    )
