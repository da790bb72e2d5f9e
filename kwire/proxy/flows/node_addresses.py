"""The addresses of nodes in requests, responses and records.

A test compares the table with all declarations, so that no release brings an address unseen.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import Any, NamedTuple, cast

from kwire.codec.declaration import Group, Message
from kwire.codec.fields import ArrayOf, Nullable, StructClass, StructOf
from kwire.errors import KwireError
from kwire.messages.registry import request, response
from kwire.net.address import Address
from kwire.proxy.flows.interest import Direction


class NodeRole(Enum):
    """The kind of listener that an address belongs to. A node may have both roles."""

    BROKER = "broker"
    CONTROLLER = "controller"


class AddressField(NamedTuple):
    """The fields of a message that carry the address of a node.

    path: from the message to the structs with an address, "" if the message itself has it. node_id:
    the field with the node's id, in that struct or in one around it. host, port: the address's
    fields. role: of the node; DescribeCluster and Fetch name the role in the message.
    """

    message: str
    path: str
    node_id: str
    host: str = "host"
    port: str = "port"
    role: NodeRole = NodeRole.BROKER


def _controllers(message: str, path: str, node_id: str) -> AddressField:
    return AddressField(message, path, node_id, role=NodeRole.CONTROLLER)


ADDRESS_FIELDS = (
    # Where clients and brokers look for brokers.
    AddressField("MetadataResponse", "brokers", "node_id"),
    AddressField("DescribeClusterResponse", "brokers", "broker_id"),
    AddressField("FindCoordinatorResponse", "", "node_id"),
    AddressField("FindCoordinatorResponse", "coordinators", "node_id"),
    AddressField("ProduceResponse", "node_endpoints", "node_id"),
    AddressField("FetchResponse", "node_endpoints", "node_id"),
    AddressField("ShareFetchResponse", "node_endpoints", "node_id"),
    AddressField("ShareAcknowledgeResponse", "node_endpoints", "node_id"),
    # The metadata quorum: who leads, who votes.
    _controllers("VoteResponse", "node_endpoints", "node_id"),
    _controllers("BeginQuorumEpochRequest", "leader_endpoints", "leader_id"),
    _controllers("BeginQuorumEpochResponse", "node_endpoints", "node_id"),
    _controllers("EndQuorumEpochRequest", "leader_endpoints", "leader_id"),
    _controllers("EndQuorumEpochResponse", "node_endpoints", "node_id"),
    _controllers("FetchSnapshotResponse", "node_endpoints", "node_id"),
    _controllers("DescribeQuorumResponse", "nodes.listeners", "node_id"),
    _controllers("AddRaftVoterRequest", "listeners", "voter_id"),
    _controllers("UpdateRaftVoterRequest", "listeners", "voter_id"),
    _controllers("UpdateRaftVoterResponse", "current_leader", "leader_id"),
    # What nodes say of themselves.
    AddressField("BrokerRegistrationRequest", "listeners", "broker_id"),
    _controllers("ControllerRegistrationRequest", "listeners", "controller_id"),
    # What a controller told brokers before KRaft.
    AddressField("LeaderAndIsrRequest", "live_leaders", "broker_id", host="host_name"),
    AddressField("UpdateMetadataRequest", "live_brokers", "id", host="v0_host", port="v0_port"),
    AddressField("UpdateMetadataRequest", "live_brokers.endpoints", "id"),
    # The metadata log and its snapshots.
    _controllers("VotersRecord", "voters.endpoints", "voter_id"),
    AddressField("RegisterBrokerRecord", "end_points", "broker_id"),
    _controllers("RegisterControllerRecord", "end_points", "controller_id"),
)


def _by_message() -> Mapping[str, tuple[AddressField, ...]]:
    fields: dict[str, tuple[AddressField, ...]] = defaultdict(tuple)
    for field in ADDRESS_FIELDS:
        fields[field.message] += (field,)
    return dict(fields)


FIELDS_BY_MESSAGE = _by_message()

_PORTS = range(1, 1 << 16)


@dataclass(frozen=True, slots=True)
class NodeAddress:
    """One address in a message. node_id: the node's, None if the message does not name it."""

    group: Group
    field: AddressField
    node_id: int | None

    @property
    def address(self) -> Address:
        """The address in the message as it is now."""
        return Address(getattr(self.group, self.field.host), getattr(self.group, self.field.port))

    @property
    def listener_name(self) -> str:
        """The name of the node's listener; "" if the message does not name it."""
        names = (getattr(self.group, name, "") for name in ("name", "listener"))
        return next(filter(None, names), "")

    def change(self, new: Address) -> None:
        """Write another address into the message."""
        setattr(self.group, self.field.host, new.host)
        setattr(self.group, self.field.port, new.port)


def node_addresses(message: Message) -> Iterator[NodeAddress]:
    """Yield every address of a node in a message.

    An error response has an empty host or port -1 instead (FindCoordinator); those are left out.
    """
    for field in FIELDS_BY_MESSAGE.get(type(message).__name__, ()):
        path = field.path.split(".") if field.path else ()
        for node_address in _addresses_at(message, field, path, None):
            if node_address.address.host and node_address.address.port in _PORTS:
                yield node_address


def may_carry_address(kind: type[Message], version: int) -> bool:
    """True if messages of this class and version have a field for an address."""
    return any(
        _has_field(kind, [*filter(None, field.path.split(".")), field.host], version)
        for field in FIELDS_BY_MESSAGE.get(kind.__name__, ())
    )


# Keys and versions come from peers, which may make up any: the cache has to have a bound.
@lru_cache(10_000)
def frame_may_carry_address(key: int, version: int, direction: Direction) -> bool:
    """True if frames of this kind may carry an address; False if no schema describes them."""
    try:
        kind = request(key) if direction is Direction.REQUEST else response(key)
    except KwireError:
        return False
    return version in kind.versions and may_carry_address(kind, version)


def _addresses_at(
    group: Group, field: AddressField, path: Sequence[str], node_id: int | None
) -> Iterator[NodeAddress]:
    node_id = getattr(group, field.node_id, node_id)
    if not path:
        yield NodeAddress(group, field, node_id)
        return
    value = getattr(group, path[0])
    for element in value if isinstance(value, list) else (value,):
        if element is not None:
            yield from _addresses_at(element, field, path[1:], node_id)


def _has_field(kind: StructClass, path: Sequence[str], version: int) -> bool:
    field = kind.fields[path[0]]
    if version not in field.versions or len(path) == 1:
        return version in field.versions
    node = field.type.inner if isinstance(field.type, Nullable) else field.type
    node = node.element if isinstance(node, ArrayOf) else node
    struct = cast(Any, node).cls if isinstance(node, StructOf) else kind
    return _has_field(struct, path[1:], version)
