"""The failures of one round over the nodes, and the error they amount to."""

from __future__ import annotations

from kwire.admin.bootstrap import Bootstrap
from kwire.admin.cluster_description import ClusterDescription
from kwire.admin.errors import NoReachableLeader
from kwire.error_codes import ErrorCode
from kwire.errors import (
    AnswerLost,
    BrokerError,
    ConnectionFailed,
    ConnectTimedOut,
    KwireError,
    LoginWanted,
    WireError,
)
from kwire.messages.endpoint_type import EndpointType
from kwire.net.address import Address
from kwire.text.phrases import examples

NOT_LEADER = frozenset({ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.NOT_CONTROLLER})
"""The codes with which a controller that does not lead answers."""

SHOWN = 8
"""Nodes that one sentence names: a cluster may have 2,000."""


class Failures:
    """The reason of each node that was asked once and failed, by address."""

    def __init__(self, bootstrap: Bootstrap) -> None:
        self._bootstrap = bootstrap
        self._by_address: dict[Address, KwireError] = {}

    def add(self, address: Address, reason: KwireError) -> None:
        """Note why the node at this address failed."""
        self._by_address[address] = reason

    def __bool__(self) -> bool:
        return bool(self._by_address)

    @property
    def nobody_connects(self) -> bool:
        """True if every node refuses connections, or speaks no Kafka: more time would not help."""
        return not self.timed_out and all(map(_not_connected, self._by_address.values()))

    @property
    def timed_out(self) -> bool:
        """True if a node was not connected to in time."""
        return any(isinstance(why, ConnectTimedOut) for why in self._by_address.values())

    @property
    def leaderless(self) -> bool:
        """True if controllers answered, each of them only that it does not lead."""
        answers = [self._by_address[address] for address in self._alive]
        return bool(answers) and all(_does_not_lead(answer) for answer in answers)

    def too_few(self, cluster: ClusterDescription) -> bool:
        """Return True if fewer controllers answer than a majority of those registered.

        A node may be reached by another address than it advertises, so that neither the advertised
        nor the bootstrap addresses alone count every node: the higher count holds.
        """
        advertised = {node.address for node in cluster.nodes.values()}
        alive = set(self._alive)
        reached = max(len(alive & advertised), len(alive & set(self._bootstrap.addresses)))
        return reached < len(cluster.nodes) // 2 + 1

    def unreachable(self) -> KwireError:
        """Return an error that names every address; for a single node its own error."""
        if len(self._by_address) == 1:
            return self.last()
        noun = self._bootstrap.endpoint_type.noun
        reasons = "; ".join(examples(map(str, self._by_address.values()), SHOWN))
        kind = ConnectTimedOut if self.timed_out else ConnectionFailed
        return kind(f"no {noun} answers: {reasons}")

    def no_leader(self, cluster: ClusterDescription) -> NoReachableLeader:
        """Return an error naming the last known leader, the nodes that answer, and what to do."""
        last = cluster.controller
        why = self._by_address.get(last.address) if last else None
        known = "none known" if last is None else f"last known {last.node_id} at {last.address}"
        detail = f" ({why})" if why is not None and _not_connected(why) else ""
        advice = (
            "start enough of the others for a majority"
            if self.too_few(cluster)
            else "they may be electing one, try again"
        )
        alive = ", ".join(examples(map(str, self._alive), SHOWN))
        return NoReachableLeader(
            f"no reachable leader; {known}{detail}. {len(cluster.nodes)} controllers are"
            f" registered, answers come from {alive}: {advice}"
        )

    def last(self) -> KwireError:
        """Return the failure of the node asked last."""
        return explained(list(self._by_address.values())[-1], self._bootstrap)

    @property
    def _alive(self) -> list[Address]:
        return [
            address for address, why in self._by_address.items() if isinstance(why, BrokerError)
        ]


def explained(reason: KwireError, bootstrap: Bootstrap) -> KwireError:
    """Return the failure, with advice added if a broker left a request unanswered."""
    if isinstance(reason, LoginWanted):
        return reason
    if isinstance(reason, AnswerLost) and bootstrap.endpoint_type is EndpointType.BROKER:
        return AnswerLost(
            f"{reason}; brokers forward to the active controller: give the controllers as"
            " bootstrap to see whether there is one"
        )
    return reason


def _does_not_lead(reason: KwireError) -> bool:
    return isinstance(reason, BrokerError) and reason.code in NOT_LEADER


def _not_connected(reason: KwireError) -> bool:
    return isinstance(reason, ConnectionFailed | WireError) and not isinstance(reason, AnswerLost)
