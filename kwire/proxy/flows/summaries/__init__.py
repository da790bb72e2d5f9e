"""Summaries of flows by API: each function returns a line, or None to use the fallback."""

from collections.abc import Callable, Mapping

from kwire.proxy.flows.decoded import DecodedFlow
from kwire.proxy.flows.summaries import (
    cluster,
    membership,
    quorum,
    replication,
    sasl,
    zookeeper_brokers,
)

Summarize = Callable[[DecodedFlow], str | None]

SUMMARIES: Mapping[int, Summarize] = {
    1: replication.fetch,
    4: zookeeper_brokers.leader_and_isr,
    5: zookeeper_brokers.stop_replica,
    6: zookeeper_brokers.update_metadata,
    7: zookeeper_brokers.controlled_shutdown,
    17: sasl.sasl_handshake,
    18: cluster.api_versions,
    36: sasl.sasl_authenticate,
    52: quorum.vote,
    53: quorum.begin_quorum_epoch,
    54: quorum.end_quorum_epoch,
    55: quorum.describe_quorum,
    56: cluster.alter_partition,
    59: replication.fetch_snapshot,
    60: cluster.describe_cluster,
    62: membership.broker_registration,
    63: membership.broker_heartbeat,
    64: membership.unregister_broker,
    70: membership.controller_registration,
    80: membership.add_raft_voter,
    81: membership.remove_raft_voter,
    82: membership.update_raft_voter,
    94: membership.unregister_controller,
}
