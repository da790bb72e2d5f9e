"""The values of the tree: fields for JSON, and the texts that Kafka's shell prints for them.

The texts follow the `toString` of Kafka 4.3's registrations, so that the outputs of both shells can
be compared. Keys of SCRAM credentials and passwords in configuration are never shown: Kafka's own
shell prints them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from kwire.configs.hidden_values import is_hidden
from kwire.image.acls import StandardAcl
from kwire.image.broker import BrokerRegistration
from kwire.image.client_quotas import Entity
from kwire.image.controller import ControllerRegistration
from kwire.image.delegation_tokens import DelegationToken
from kwire.image.endpoint import Endpoint
from kwire.image.features import ZkMigrationState
from kwire.image.partition import PartitionRegistration
from kwire.image.scram import ScramCredential
from kwire.messages.access_control import (
    AclOperation,
    AclPermission,
    AclResourceType,
    PatternType,
)
from kwire.messages.config_resource import ConfigResource, ResourceType
from kwire.messages.data.voters_record import Voter
from kwire.messages.metadata_versions import METADATA_VERSION, NAMES
from kwire.net.negotiation import VersionRange
from kwire.observer.raft_state import LeaderChange, RaftState
from kwire.text.ids import uuid_text
from kwire.text.times import moment

REDACTED = "[redacted]"

RESOURCE_TYPES = tuple(AclResourceType.__members__)
PATTERN_TYPES = tuple(PatternType.__members__)
OPERATIONS = tuple(AclOperation.__members__)
PERMISSION_TYPES = tuple(AclPermission.__members__)
SECURITY_PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
RECOVERY_STATES = ("RECOVERED", "RECOVERING")


@dataclass(frozen=True, slots=True)
class Structure:
    """A value with named fields. kind: Kafka's class; brackets: those around the fields."""

    kind: str
    fields: Mapping[str, Any]
    brackets: str = "()"


@dataclass(frozen=True, slots=True)
class OptionalText:
    """A text that may be missing, which Java prints as `Optional.empty`."""

    text: str | None


@dataclass(frozen=True, slots=True)
class OptionalNumber:
    """A number that Kafka writes as -1 where there is none."""

    number: int


def json_of(value: Any) -> Any:
    """Return a value as JSON has it."""
    match value:
        case Structure():
            return {name: json_of(field) for name, field in value.fields.items()}
        case OptionalText():
            return value.text
        case OptionalNumber():
            return None if value.number < 0 else value.number
        case VersionRange():
            return {"min": value.min_version, "max": value.max_version}
        case dict():
            return {name: json_of(item) for name, item in value.items()}
        case list() | tuple():
            return [json_of(item) for item in value]
    return value


def text_of(value: Any) -> str:
    """Return a value as Kafka's shell prints it; `-` for none."""
    match value:
        case Structure():
            texts = {
                name: "null" if item is None else text_of(item)
                for name, item in value.fields.items()
            }
            inner = ", ".join(f"{name}={text}" for name, text in texts.items())
            return f"{value.kind}{value.brackets[0]}{inner}{value.brackets[1]}"
        case OptionalText():
            return "Optional.empty" if value.text is None else f"Optional[{value.text}]"
        case OptionalNumber():
            return str(value.number)
        case VersionRange():
            return _range(value)
        case dict():
            return "{" + ", ".join(f"{name}: {text_of(item)}" for name, item in value.items()) + "}"
        case list() | tuple():
            return "[" + ", ".join(map(text_of, value)) + "]"
        case bool():
            return "true" if value else "false"
    return "-" if value is None else str(value)


def broker_value(broker: BrokerRegistration) -> Structure:
    """Return a broker's registration."""
    fields = {
        "id": broker.id,
        "epoch": broker.epoch,
        "incarnationId": uuid_text(broker.incarnation_id),
        "listeners": _listeners(broker.endpoints),
        "supportedFeatures": dict(sorted(broker.features.items())),
        "rack": OptionalText(broker.rack),
        "fenced": broker.fenced,
        "inControlledShutdown": broker.in_controlled_shutdown,
        "isMigratingZkBroker": broker.is_migrating_zk_broker,
        "directories": list(map(uuid_text, broker.directories)),
        "cordonedDirectories": (
            None
            if broker.cordoned_directories is None
            else list(map(uuid_text, broker.cordoned_directories))
        ),
    }
    return Structure("BrokerRegistration", fields)


def controller_value(controller: ControllerRegistration) -> Structure:
    """Return a controller's registration."""
    fields = {
        "id": controller.id,
        "incarnationId": uuid_text(controller.incarnation_id),
        "zkMigrationReady": controller.zk_migration_ready,
        "listeners": _listeners(controller.endpoints),
        "supportedFeatures": dict(sorted(controller.features.items())),
    }
    return Structure("ControllerRegistration", fields)


def partition_value(partition: PartitionRegistration) -> Structure:
    """Return a partition's registration."""
    fields = {
        "replicas": list(partition.replicas),
        "directories": list(map(uuid_text, partition.directories)),
        "isr": list(partition.isr),
        "removingReplicas": list(partition.removing_replicas),
        "addingReplicas": list(partition.adding_replicas),
        "elr": list(partition.elr),
        "lastKnownElr": list(partition.last_known_elr),
        "leader": OptionalNumber(partition.leader),
        "leaderRecoveryState": _name(RECOVERY_STATES, partition.leader_recovery_state),
        "leaderEpoch": partition.leader_epoch,
        "partitionEpoch": partition.partition_epoch,
    }
    return Structure("PartitionRegistration", fields)


def acl_value(acl: StandardAcl) -> Structure:
    """Return a rule; Kafka's class is a Java record, which prints brackets."""
    fields = {
        "resourceType": _name(RESOURCE_TYPES, acl.resource_type),
        "resourceName": acl.resource_name,
        "patternType": _name(PATTERN_TYPES, acl.pattern_type),
        "principal": acl.principal,
        "host": acl.host,
        "operation": _name(OPERATIONS, acl.operation),
        "permissionType": _name(PERMISSION_TYPES, acl.permission_type),
    }
    return Structure("StandardAcl", fields, brackets="[]")


def scram_value(credential: ScramCredential) -> Structure:
    """Return a credential without salt and keys, from which passwords can be guessed offline."""
    fields = {
        "salt": REDACTED,
        "storedKey": REDACTED,
        "serverKey": REDACTED,
        "iterations": credential.iterations,
    }
    return Structure("ScramCredentialData", fields)


def token_value(id: str, token: DelegationToken) -> Structure:
    """Return a delegation token; its HMAC, which is the password, is not in the log."""
    fields = {
        "tokenId": id,
        "owner": token.owner,
        "tokenRequester": token.requester,
        "renewers": list(token.renewers),
        "issueTimestamp": token.issue_timestamp,
        "maxTimestamp": token.max_timestamp,
        "expiryTimestamp": token.expiration_timestamp,
    }
    return Structure("DelegationTokenData", fields)


def voters_of(state: RaftState) -> Mapping[int, Voter | None]:
    """Return the voters by their ids.

    A log without records of voters (controller.quorum.voters) has the ids that the last leader
    wrote, and None of each.
    """
    if state.voters is not None:
        return {voter.voter_id: voter for voter in state.voters.voters}
    last = state.leader_change
    return {} if last is None else {voter.voter_id: None for voter in last.message.voters}


def voter_value(voter: Voter | None) -> Structure:
    """Return a voter; its fields are empty where only controller.quorum.voters has them."""
    fields = {
        "directoryId": OptionalText(None if voter is None else uuid_text(voter.voter_directory_id)),
        "endpoints": None
        if voter is None
        else [f"{item.name}://{item.host}:{item.port}" for item in voter.endpoints],
    }
    return Structure("Voter", fields)


def leader_change_value(change: LeaderChange) -> Structure:
    """Return the record with which a leader began its epoch."""
    time = moment(change.timestamp / 1000)
    fields = {
        "leaderId": change.message.leader_id,
        "offset": change.offset,
        "time": time and time.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "voters": [voter.voter_id for voter in change.message.voters],
        "grantingVoters": [voter.voter_id for voter in change.message.granting_voters],
    }
    return Structure("LeaderChange", fields)


def feature_name(name: str) -> str:
    """Return the node of a feature: `metadataVersion`, `finalized_transaction.version`."""
    return "metadataVersion" if name == METADATA_VERSION else f"finalized_{name}"


def feature_value(name: str, level: int) -> str | int:
    """Return a level; that of metadata.version by its name, `4.3-IV0`."""
    return NAMES.get(level, f"level {level}") if name == METADATA_VERSION else level


def resource_name(resource: ConfigResource) -> str:
    """Return the node of a resource's configuration, `TOPIC:orders`."""
    kind = enum_name(ResourceType, resource.type)
    return f"{kind}:{resource.name}" if resource.name else kind


def entity_name(entity: Entity) -> str:
    """Return `clientId(c1)_user(alice)`; the default of a type has no parentheses, `clientId_user`.

    Kafka's shell leaves defaults out of the name, and does not find the node then.
    """
    names = {"client-id": "clientId"}
    parts = sorted((names.get(type, type), name) for type, name in entity)
    return "_".join(type if name is None else f"{type}({_escaped(name)})" for type, name in parts)


def enum_name(kind: type[ResourceType] | type[ZkMigrationState], number: int) -> str:
    """Return the name of a number; the number itself where a newer Kafka has more."""
    return kind(number).name if number in set(kind) else str(number)


def config_value(resource: ConfigResource, key: str, value: str) -> str:
    """Return the value of a configuration key, or that it is not shown."""
    return REDACTED if is_hidden(resource, key) else value


def _escaped(name: str) -> str:
    return name.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")


def _listeners(endpoints: Iterable[Endpoint]) -> list[Structure]:
    return [
        Structure(
            "Endpoint",
            {
                "listenerName": _Quoted(endpoint.name),
                "securityProtocol": _name(SECURITY_PROTOCOLS, endpoint.security_protocol),
                "host": _Quoted(endpoint.host),
                "port": endpoint.port,
            },
        )
        for endpoint in sorted(endpoints, key=lambda endpoint: endpoint.name)
    ]


class _Quoted(str):
    """A text that Java prints in quotation marks; JSON has it as it is."""

    __slots__ = ()

    def __str__(self) -> str:
        return f"'{super().__str__()}'"


def _range(versions: VersionRange) -> str:
    if versions.min_version == versions.max_version:
        return str(versions.min_version)
    if versions.max_version == (1 << 15) - 1:
        return f"{versions.min_version}+"
    return f"{versions.min_version}-{versions.max_version}"


def _name(names: tuple[str, ...], number: int) -> str:
    """Return the name of a number; the number itself where a newer Kafka has more."""
    return names[number] if 0 <= number < len(names) else f"UNKNOWN({number})"
