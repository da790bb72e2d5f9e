"""Clusters for tests: quorums of kwire's controllers with Kafka's brokers, and faults.

async with Quorum(3) as quorum:
    admin = AdminClient(bootstrap_controllers=quorum.bootstrap_controllers)
"""

from typing import TYPE_CHECKING

from kwire.lazy_names import lazy_names

if TYPE_CHECKING:
    from kwire.testing.background import BackgroundQuorum
    from kwire.testing.fault_proxy import FaultProxy
    from kwire.testing.local_brokers import LocalBrokers
    from kwire.testing.message_faults import MessageFault, MessageFaults
    from kwire.testing.quorum import Quorum
    from kwire.testing.quorum_members import QuorumMember
    from kwire.testing.recording import Recording

__all__ = [
    "BackgroundQuorum",
    "FaultProxy",
    "LocalBrokers",
    "MessageFault",
    "MessageFaults",
    "Quorum",
    "QuorumMember",
    "Recording",
]

if not TYPE_CHECKING:  # a type checker would take any name for one of these
    __getattr__, __dir__ = lazy_names(
        "kwire.testing",
        {
            "BackgroundQuorum": "background",
            "FaultProxy": "fault_proxy",
            "LocalBrokers": "local_brokers",
            "MessageFault": "message_faults",
            "MessageFaults": "message_faults",
            "Quorum": "quorum",
            "QuorumMember": "quorum_members",
            "Recording": "recording",
        },
    )
