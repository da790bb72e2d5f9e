"""The failures of one round over the nodes, and the error they amount to."""

from __future__ import annotations

from collections.abc import Sequence

from kwire.admin.bootstrap import Bootstrap
from kwire.admin.cluster_description import ClusterDescription
from kwire.admin.controller_state import ControllerState
from kwire.admin.errors import MetadataNotRead, NoReachableLeader
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


RECOVER = "if their disks are lost for good: kwire storage recover"

DENIED = (
    "the addresses of the other controllers were not told ({reason}): give all of them as bootstrap"
)


class NotDescribed(KwireError):
    """Controllers answer, and none of them describes the cluster. `reason` is the first one's."""

    def __init__(self, reason: KwireError) -> None:
        self.reason = reason
        super().__init__(str(reason))


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
        answers = [self._by_address[address] for address in self.alive]
        return bool(answers) and all(_does_not_lead(answer) for answer in answers)

    @property
    def undescribed(self) -> NotDescribed | None:
        """The first answer of a controller that does not describe the cluster, if any."""
        reasons = self._by_address.values()
        return next((reason for reason in reasons if isinstance(reason, NotDescribed)), None)

    @property
    def unread(self) -> bool:
        """True if a controller has read no metadata since it started."""
        return any(isinstance(why, MetadataNotRead) for why in self._by_address.values())

    def too_few(self, cluster: ClusterDescription | None) -> bool:
        """Return True if fewer controllers answer than a majority of those registered.

        Of those given, if no node has told which are registered.

        A node may be reached by another address than it advertises, so that neither the advertised
        nor the bootstrap addresses alone count every node: the higher count holds.
        """
        advertised = {node.address for node in cluster.nodes.values()} if cluster else set()
        alive = set(self.alive)
        reached = max(len(alive & advertised), len(alive & set(self._bootstrap.addresses)))
        return reached < (len(advertised) or len(self._bootstrap.addresses)) // 2 + 1

    def unreachable(self) -> KwireError:
        """Return an error that names every address; for a single node its own error."""
        if len(self._by_address) == 1:
            return self.last()
        noun = self._bootstrap.endpoint_type.noun
        reasons = "; ".join(examples(map(str, self._by_address.values()), SHOWN))
        kind = ConnectTimedOut if self.timed_out else ConnectionFailed
        return kind(f"no {noun} answers: {reasons}")

    def no_leader(
        self,
        cluster: ClusterDescription | None,
        states: Sequence[ControllerState] = (),
        reason: KwireError | None = None,
    ) -> NoReachableLeader:
        """Return an error that says which controllers answer, whom they name, and what to do.

        states: what they tell of themselves, if none described the cluster, for this reason.
        """
        if cluster is None or states:
            return NoReachableLeader(f"no reachable leader: {self._of_states(states, reason)}")
        last = cluster.controller
        why = self._by_address.get(last.address) if last else None
        known = "none known" if last is None else f"last known {last.node_id} at {last.address}"
        detail = f" ({why})" if why is not None and _not_connected(why) else ""
        alive = ", ".join(examples(map(str, self.alive), SHOWN))
        return NoReachableLeader(
            f"no reachable leader; {known}{detail}. {len(cluster.nodes)} controllers are"
            f" registered, answers come from {alive}: {self._advice(cluster)}"
        )

    def _of_states(self, states: Sequence[ControllerState], reason: KwireError | None) -> str:
        told = "; ".join(examples(map(str, states), SHOWN)) or ", ".join(map(str, self.alive))
        given, alive = len(self._bootstrap.addresses), len(self.alive)
        answers = f"{alive} of {given} addresses answer{'s' if alive == 1 else ''}"
        unread = any(state.lacks_metadata for state in states)
        lasting = reason is not None and not unread and not self.too_few(None)
        advice = DENIED.format(reason=reason) if lasting else self._advice(None)
        return f"{told}; {answers}: {advice}"

    def _advice(self, cluster: ClusterDescription | None) -> str:
        addresses = ",".join(map(str, self._bootstrap.addresses))
        ask = f"run kwire doctor --bootstrap-controller {addresses}"
        if self.too_few(cluster):
            return f"start enough of the others for a majority ({RECOVER}), and {ask}"
        return f"they may be electing one, try again, or {ask}"

    def last(self) -> KwireError:
        """Return the failure of the node asked last."""
        return explained(list(self._by_address.values())[-1], self._bootstrap)

    @property
    def alive(self) -> list[Address]:
        """The nodes that answered, if only with an error."""
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
