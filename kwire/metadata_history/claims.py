"""The changes that a request asks for, by paths of the tree: what a recorded request explains."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from kwire.codec.declaration import Request, Response
from kwire.configs.hidden_values import is_hidden
from kwire.image.acls import StandardAcl
from kwire.image.scram import MECHANISMS
from kwire.messages.a19_create_topics import CreateTopicsRequest
from kwire.messages.a20_delete_topics import DeleteTopicsRequest
from kwire.messages.a30_create_acls import CreateAclsRequest
from kwire.messages.a31_delete_acls import DeleteAclsResponse
from kwire.messages.a33_alter_configs import AlterConfigsRequest
from kwire.messages.a37_create_partitions import CreatePartitionsRequest
from kwire.messages.a38_create_delegation_token import CreateDelegationTokenResponse
from kwire.messages.a43_elect_leaders import ElectLeadersRequest
from kwire.messages.a44_incremental_alter_configs import IncrementalAlterConfigsRequest
from kwire.messages.a45_alter_partition_reassignments import AlterPartitionReassignmentsRequest
from kwire.messages.a49_alter_client_quotas import AlterClientQuotasRequest
from kwire.messages.a51_alter_user_scram_credentials import AlterUserScramCredentialsRequest
from kwire.messages.a56_alter_partition import AlterPartitionRequest
from kwire.messages.a57_update_features import UpdateFeaturesRequest
from kwire.messages.a62_broker_registration import BrokerRegistrationRequest
from kwire.messages.a64_unregister_broker import UnregisterBrokerRequest
from kwire.messages.a67_allocate_producer_ids import AllocateProducerIdsRequest
from kwire.messages.a70_controller_registration import ControllerRegistrationRequest
from kwire.messages.a73_assign_replicas_to_dirs import AssignReplicasToDirsRequest
from kwire.messages.a80_add_raft_voter import AddRaftVoterRequest
from kwire.messages.a81_remove_raft_voter import RemoveRaftVoterRequest
from kwire.messages.a82_update_raft_voter import UpdateRaftVoterRequest
from kwire.messages.a94_unregister_controller import UnregisterControllerRequest
from kwire.messages.config_resource import ConfigResource, ResourceType
from kwire.messages.metadata_versions import KRAFT_VERSION
from kwire.metadata_history.entries import Entry
from kwire.shell import values as render
from kwire.text.ids import uuid_text

ANY = object()
"""The request does not tell the value."""

_SET, _DELETE = 0, 1  # AlterConfigOp
_NO_ID = UUID(int=0)
_BY_NAME, _BY_ID = "/image/topics/byName", "/image/topics/byId"


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A change that a request asks for, at a whole path or below.

    before, after: of the value at the path itself; ANY where the request does not tell it. field:
    the only one that the request changes. named: the request names the thing and what becomes of
    it, so that the values need not be compared: a topic that is created.
    """

    path: str
    field: str | None = None
    before: Any = ANY
    after: Any = ANY
    named: bool = False

    def explains(self, entry: Entry) -> bool:
        """True if nothing in the entry contradicts the request; its path is known to fit."""
        return (
            (self.field is None or entry.field == self.field)
            and self.before in (ANY, entry.before)
            and self.after in (ANY, entry.after)
        )

    @property
    def is_exact(self) -> bool:
        """True if a change that it explains has the content of the request."""
        return self.named or self.before is not ANY or self.after is not ANY


Claims = Callable[[Any, Any], Iterator[Claim]]


def claims(request: Request, response: Response | None) -> list[Claim] | None:
    """Return the changes that a request asks for; None for an API that asks for none.

    response: has the rules that DeleteAcls removed, and the id of a token.
    """
    read = CLAIMS.get(type(request).key or 0)
    if read is None or getattr(request, "validate_only", False):
        return None
    return list(read(request, response))


def _create_topics(request: CreateTopicsRequest, _: Any) -> Iterator[Claim]:
    for topic in request.topics:
        yield Claim(path=f"{_BY_NAME}/{topic.name}", before=None)
        resource = ConfigResource(ResourceType.TOPIC, topic.name)
        for config in topic.configs:
            yield _config(resource, config.name, config.value)


def _delete_topics(request: DeleteTopicsRequest, _: Any) -> Iterator[Claim]:
    names = [*request.topic_names, *(topic.name for topic in request.topics if topic.name)]
    for name in names:
        yield Claim(path=f"{_BY_NAME}/{name}", after=None)
        yield Claim(path=f"/image/configs/TOPIC:{name}", after=None)
    for topic in request.topics:
        if topic.topic_id != _NO_ID:
            yield Claim(path=f"{_BY_ID}/{uuid_text(topic.topic_id)}", after=None)


def _create_partitions(request: CreatePartitionsRequest, _: Any) -> Iterator[Claim]:
    for topic in request.topics:
        path = f"{_BY_NAME}/{topic.name}"
        yield Claim(path=path, field="partitions", after=topic.count)
        yield Claim(path=path, before=None)


def _create_acls(request: CreateAclsRequest, _: Any) -> Iterator[Claim]:
    for item in request.creations:
        yield Claim(
            path="/image/acls/byId", before=None, after=_acl(item, item.resource_pattern_type)
        )


def _delete_acls(request: object, response: object) -> Iterator[Claim]:
    if isinstance(response, DeleteAclsResponse):
        for result in response.filter_results:
            for item in result.matching_acls:
                removed = _acl(item, item.pattern_type)
                yield Claim(path="/image/acls/byId", before=removed, after=None)


def _acl(item: Any, pattern_type: int) -> Any:
    acl = StandardAcl(
        resource_type=item.resource_type,
        resource_name=item.resource_name,
        pattern_type=pattern_type,
        principal=item.principal,
        host=item.host,
        operation=item.operation,
        permission_type=item.permission_type,
    )
    return render.json_of(render.acl_value(acl))


def _incremental_configs(request: IncrementalAlterConfigsRequest, _: Any) -> Iterator[Claim]:
    for item in request.resources:
        resource = ConfigResource(item.resource_type, item.resource_name)
        for config in item.configs:
            known = {_SET: config.value, _DELETE: None}
            # What is appended or subtracted is a part of the value.
            yield _config(resource, config.name, known.get(config.config_operation, ANY))


def _configs(request: AlterConfigsRequest, _: Any) -> Iterator[Claim]:
    for item in request.resources:
        resource = ConfigResource(item.resource_type, item.resource_name)
        for config in item.configs:
            yield _config(resource, config.name, config.value)
        # Keys that it does not name are deleted (KIP-4).
        yield Claim(path=f"/image/configs/{render.resource_name(resource)}", after=None)


def _config(resource: ConfigResource, key: str, value: object) -> Claim:
    path = f"/image/configs/{render.resource_name(resource)}/{key}"
    return Claim(path=path, after=ANY if is_hidden(resource, key) else value)


def _quotas(request: AlterClientQuotasRequest, _: Any) -> Iterator[Claim]:
    for item in request.entries:
        entity = frozenset((part.entity_type, part.entity_name) for part in item.entity)
        for change in item.ops:
            yield Claim(
                path=f"/image/clientQuotas/{render.entity_name(entity)}/{change.key}",
                after=None if change.remove else change.value,
            )


def _scram(request: AlterUserScramCredentialsRequest, _: Any) -> Iterator[Claim]:
    for gone in request.deletions:
        yield Claim(path=_scram_path(gone), after=None)
    for new in request.upsertions:
        # The password is masked in recordings: the user and the mechanism are the content.
        yield Claim(path=_scram_path(new), named=True)


def _scram_path(item: Any) -> str:
    return f"/image/scram/{MECHANISMS.get(item.mechanism, item.mechanism)}/{item.name}"


def _features(request: UpdateFeaturesRequest, _: Any) -> Iterator[Claim]:
    for item in request.feature_updates:
        level = item.max_version_level
        if item.feature == KRAFT_VERSION:
            yield Claim(path="/raft/kraftVersion", after=level)
            continue
        after = render.feature_value(item.feature, level) if level > 0 else None
        yield Claim(path=f"/image/features/{render.feature_name(item.feature)}", after=after)


def _reassignments(request: AlterPartitionReassignmentsRequest, _: Any) -> Iterator[Claim]:
    for topic in request.topics:
        for item in topic.partitions:
            yield Claim(path=f"{_BY_NAME}/{topic.name}/{item.partition_index}")


def _elections(request: ElectLeadersRequest, _: Any) -> Iterator[Claim]:
    if request.topic_partitions is None:
        yield Claim(path=_BY_NAME)
    for topic in request.topic_partitions or ():
        for number in topic.partitions:
            yield Claim(path=f"{_BY_NAME}/{topic.topic}/{number}")


def _alter_partition(request: AlterPartitionRequest, _: Any) -> Iterator[Claim]:
    for topic in request.topics:
        folder = f"{_BY_ID}/{uuid_text(topic.topic_id)}"
        if topic.topic_id == _NO_ID:
            folder = f"{_BY_NAME}/{topic.topic_name}"
        for item in topic.partitions:
            isr = [state.broker_id for state in item.new_isr_with_epochs] or list(item.new_isr)
            path = f"{folder}/{item.partition_index}"
            yield Claim(path=path, field="isr", after=isr)
            yield Claim(path=path)


def _assign_directories(request: AssignReplicasToDirsRequest, _: Any) -> Iterator[Claim]:
    for directory in request.directories:
        for topic in directory.topics:
            for item in topic.partitions:
                path = f"{_BY_ID}/{uuid_text(topic.topic_id)}/{item.partition_index}"
                yield Claim(path=path, field="directories")


def _register_broker(request: BrokerRegistrationRequest, _: Any) -> Iterator[Claim]:
    yield Claim(path=f"/image/cluster/brokers/{request.broker_id}", named=True)


def _unregister_broker(request: UnregisterBrokerRequest, _: Any) -> Iterator[Claim]:
    yield Claim(path=f"/image/cluster/brokers/{request.broker_id}", after=None)


def _register_controller(request: ControllerRegistrationRequest, _: Any) -> Iterator[Claim]:
    yield Claim(path=f"/image/cluster/controllers/{request.controller_id}", named=True)


def _unregister_controller(request: UnregisterControllerRequest, _: Any) -> Iterator[Claim]:
    yield Claim(path=f"/image/cluster/controllers/{request.controller_id}", after=None)


def _producer_ids(request: AllocateProducerIdsRequest, _: Any) -> Iterator[Claim]:
    yield Claim(path="/image/producerIds")


def _voter(request: AddRaftVoterRequest | UpdateRaftVoterRequest, _: Any) -> Iterator[Claim]:
    yield Claim(path=f"/raft/voters/{request.voter_id}", named=True)


def _no_voter(request: RemoveRaftVoterRequest, _: Any) -> Iterator[Claim]:
    yield Claim(path=f"/raft/voters/{request.voter_id}", after=None)


def _token(request: object, response: object) -> Iterator[Claim]:
    if isinstance(response, CreateDelegationTokenResponse):
        yield Claim(path=f"/image/delegationToken/{response.token_id}", before=None)


CLAIMS: Mapping[int, Claims] = {
    19: _create_topics,
    20: _delete_topics,
    30: _create_acls,
    31: _delete_acls,
    33: _configs,
    37: _create_partitions,
    38: _token,
    43: _elections,
    44: _incremental_configs,
    45: _reassignments,
    49: _quotas,
    51: _scram,
    56: _alter_partition,
    57: _features,
    62: _register_broker,
    64: _unregister_broker,
    67: _producer_ids,
    70: _register_controller,
    73: _assign_directories,
    80: _voter,
    81: _no_voter,
    82: _voter,
    94: _unregister_controller,
}
"""The changes of each API, by its key."""

ROOTS: Mapping[int, str] = {
    19: "/image/topics",
    20: "/image/topics",
    30: "/image/acls",
    31: "/image/acls",
    33: "/image/configs",
    37: "/image/topics",
    38: "/image/delegationToken",
    43: "/image/topics",
    44: "/image/configs",
    45: "/image/topics",
    49: "/image/clientQuotas",
    51: "/image/scram",
    57: "/image/features",
    80: "/raft/voters",
    81: "/raft/voters",
}
"""The part that an admin's request changes, where its content cannot be read."""
