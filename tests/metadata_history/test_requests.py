"""Changes joined with recorded requests: by leader, time and content, and what is a guess."""

from typing import Any
from uuid import UUID

import pytest
from msgspec.structs import replace

from kwire.capture import CaptureRecord
from kwire.messages.a20_delete_topics import (
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)
from kwire.messages.a31_delete_acls import (
    DeleteAclsFilterResult,
    DeleteAclsMatchingAcl,
    DeleteAclsRequest,
    DeleteAclsResponse,
)
from kwire.messages.a44_incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from kwire.messages.a45_alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ReassignablePartition,
    ReassignableTopic,
)
from kwire.messages.a56_alter_partition import (
    AlterPartitionRequest,
    AlterPartitionResponse,
    BrokerState,
    PartitionData,
    TopicData,
)
from kwire.metadata_history.entries import Entry
from kwire.metadata_history.history import LoggedChange, Place
from kwire.metadata_history.requests import CausingRequest, Match, RecordedRequests
from kwire.text.ids import uuid_text
from tests.support.metadata_history.logs import NOON
from tests.support.metadata_history.recordings import forwarded, in_one_capture, recorded

ID = UUID(int=7)
RETENTION = "/configs/TOPIC:orders/retention.ms"


def changed(
    path: str,
    before: Any,
    after: Any,
    *,
    field: str | None = None,
    leader: int = 1,
    at: float = NOON,
) -> LoggedChange:
    place = Place(offset=5, epoch=1, timestamp=int(at), leader_id=leader)
    return LoggedChange(
        place=place, entry=Entry(path=path, field=field, before=before, after=after)
    )


def asks(value: str | None, operation: int = 0) -> IncrementalAlterConfigsRequest:
    config = AlterableConfig(name="retention.ms", config_operation=operation, value=value)
    resource = AlterConfigsResource(resource_type=2, resource_name="orders", configs=[config])
    return IncrementalAlterConfigsRequest(resources=[resource])


DONE = IncrementalAlterConfigsResponse()


def cause(change: LoggedChange, *flows: list[CaptureRecord]) -> CausingRequest | None:
    return RecordedRequests.of(in_one_capture(*flows)).cause(change)


def test_the_value_the_leader_and_the_time_make_it_certain() -> None:
    flows = [
        recorded(asks("1"), DONE, at=NOON - 50, client_id="alice"),
        recorded(asks("2"), DONE, at=NOON - 40, client_id="bob"),
        recorded(asks("2"), DONE, at=NOON - 60_000, client_id="carol"),
    ]
    found = cause(changed(RETENTION, "1", "2"), *flows)
    assert found is not None
    assert (found.request, found.client_id, found.match) == (
        "IncrementalAlterConfigs v1",
        "bob",
        Match.CONTENT,
    )
    assert found.principal is None  # nobody told it to the proxy
    assert cause(changed(RETENTION, "2", "3"), *flows) is None
    assert cause(changed(RETENTION, "1", "2", at=NOON + 10_000), *flows) is None


def test_an_envelope_has_the_principal_and_the_address() -> None:
    envelope, answer = forwarded(asks("2"), DONE, "alice")
    flow = recorded(envelope, answer, at=NOON - 50, version=0, client_id="broker-2")
    found = cause(changed(RETENTION, "1", "2"), flow)
    assert found is not None
    assert (found.principal, found.client_id, found.client) == ("User:alice", "tool", "10.0.0.7")
    assert (found.request, found.match) == ("IncrementalAlterConfigs v1", Match.CONTENT)


@pytest.mark.parametrize(
    ("flows", "match"),
    [
        ([recorded(asks("2"), DONE, at=NOON, node_id=4)], Match.ELSEWHERE),
        ([recorded(asks("2"), DONE, at=NOON)] * 2, Match.SEVERAL),
        ([recorded(asks("2", operation=2), DONE, at=NOON)], Match.NAME),
        ([recorded(asks("2", operation=1), DONE, at=NOON)], None),
    ],
)
def test_what_does_not_decide_is_a_guess(
    flows: list[list[CaptureRecord]], match: Match | None
) -> None:
    found = cause(changed(RETENTION, "1", "2"), *flows)
    assert (None if found is None else found.match) == match
    assert match is None or match.value.startswith("guess: ")


def test_a_refused_request_is_a_guess_and_comes_after_one_that_succeeded() -> None:
    refusal = IncrementalAlterConfigsResponse(
        responses=[
            AlterConfigsResourceResponse(error_code=41, resource_type=2, resource_name="orders")
        ]
    )
    refused = recorded(asks("2"), refusal, at=NOON, client_id="refused")
    found = cause(changed(RETENTION, "1", "2"), refused)
    assert found is not None
    assert found.match is Match.NAME
    done = recorded(asks("2"), DONE, at=NOON - 500, client_id="done")
    found = cause(changed(RETENTION, "1", "2"), refused, done)
    assert found is not None
    assert (found.client_id, found.match) == ("done", Match.CONTENT)


def test_without_its_content_a_request_is_found_by_time_alone() -> None:
    flow = [replace(record, frame=None) for record in recorded(asks("2"), DONE, at=NOON)]
    found = cause(changed(RETENTION, "1", "2"), flow)
    assert found is not None
    assert found.match is Match.TIME
    assert cause(changed("/acls/x", None, {}), flow) is None


def test_topics_are_found_by_their_ids() -> None:
    requests = RecordedRequests.of(
        in_one_capture(
            recorded(
                DeleteTopicsRequest(topics=[DeleteTopicState(topic_id=ID)]),
                DeleteTopicsResponse(responses=[DeletableTopicResult(topic_id=ID)]),
                at=NOON,
                version=6,
            ),
            recorded(
                AlterPartitionRequest(
                    broker_id=2,
                    topics=[
                        TopicData(
                            topic_id=ID,
                            partitions=[
                                PartitionData(
                                    partition_index=3,
                                    new_isr_with_epochs=[BrokerState(broker_id=2)],
                                )
                            ],
                        )
                    ],
                ),
                AlterPartitionResponse(),
                at=NOON,
                version=3,
            ),
        )
    )
    requests.note_topic(changed("/topics/orders", None, {"id": uuid_text(ID), "partitions": 4}))
    gone = requests.cause(changed("/partitions/orders-0", {"isr": [1]}, None))
    assert gone is not None
    assert (gone.request, gone.match) == ("DeleteTopics v6", Match.CONTENT)
    isr = requests.cause(changed("/partitions/orders-3", [1, 2], [2], field="isr"))
    assert isr is not None
    assert (isr.request, isr.match) == ("AlterPartition v3", Match.CONTENT)
    assert requests.cause(changed("/partitions/other-3", [1, 2], [2], field="isr")) is None


def test_rules_are_those_that_the_response_names() -> None:
    removed = DeleteAclsMatchingAcl(
        resource_type=2,
        resource_name="orders",
        pattern_type=3,
        principal="User:alice",
        host="*",
        operation=3,
        permission_type=3,
    )
    response = DeleteAclsResponse(filter_results=[DeleteAclsFilterResult(matching_acls=[removed])])
    flow = recorded(DeleteAclsRequest(), response, at=NOON, version=3)
    rule = {
        "resourceType": "TOPIC",
        "resourceName": "orders",
        "patternType": "LITERAL",
        "principal": "User:alice",
        "host": "*",
        "operation": "READ",
        "permissionType": "ALLOW",
    }
    found = cause(changed("/acls/abc", rule, None), flow)
    assert found is not None
    assert found.match is Match.CONTENT
    assert cause(changed("/acls/abc", rule | {"host": "h"}, None), flow) is None


def test_a_reassignment_names_the_partition_only() -> None:
    partition = ReassignablePartition(partition_index=0, replicas=(2, 3))
    request = AlterPartitionReassignmentsRequest(
        topics=[ReassignableTopic(name="orders", partitions=[partition])]
    )
    flow = recorded(request, AlterPartitionReassignmentsResponse(), at=NOON, version=0)
    found = cause(changed("/partitions/orders-0", [], [3], field="addingReplicas"), flow)
    assert found is not None
    assert found.match is Match.NAME
