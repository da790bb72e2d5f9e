"""The operations that each API needs (Java: ControllerApisTest), and what their lack hides."""

from typing import Any

import pytest

from kwire.controller.handlers.registry import HANDLERS
from kwire.error_codes import ErrorCode
from kwire.messages import a33_alter_configs
from kwire.messages.a19_create_topics import (
    CreatableTopic,
    CreatableTopicResult,
    CreateTopicsRequest,
)
from kwire.messages.a20_delete_topics import DeleteTopicsRequest, DeleteTopicState
from kwire.messages.a30_create_acls import CreateAclsRequest
from kwire.messages.a32_describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from kwire.messages.a37_create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from kwire.messages.a44_incremental_alter_configs import (
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kwire.messages.a60_describe_cluster import DescribeClusterRequest
from kwire.messages.access_control import AclOperation, AclResourceType
from kwire.messages.config_resource import ResourceType
from tests.support.controller.handlers.acl_requests import (
    ALICE,
    allow,
    creation,
    guarded,
    on_cluster,
)
from tests.support.controller.handlers.lab import Lab

ALTER, DESCRIBE, DELETE = AclOperation.ALTER, AclOperation.DESCRIBE, AclOperation.DELETE
CREATE, CLUSTER_ACTION = AclOperation.CREATE, AclOperation.CLUSTER_ACTION
ALTER_CONFIGS, DESCRIBE_CONFIGS = AclOperation.ALTER_CONFIGS, AclOperation.DESCRIBE_CONFIGS

TOPIC_DENIED = ErrorCode.TOPIC_AUTHORIZATION_FAILED
GROUP_DENIED = ErrorCode.GROUP_AUTHORIZATION_FAILED
CLUSTER_DENIED = ErrorCode.CLUSTER_AUTHORIZATION_FAILED

CHECKED_BY_THE_HANDLER = {
    "CreateTopicsRequest",
    "DeleteTopicsRequest",
    "DescribeConfigsRequest",
    "CreatePartitionsRequest",
    "AlterConfigsRequest",
    "IncrementalAlterConfigsRequest",
    "DescribeClusterRequest",
    "CreateDelegationTokenRequest",
    "RenewDelegationTokenRequest",
    "ExpireDelegationTokenRequest",
    "DescribeDelegationTokenRequest",
}


def test_an_api_without_an_operation_of_its_own_is_checked_by_its_handler() -> None:
    without = {item.request.__name__ for item in HANDLERS.values() if item.needs is None}
    assert without <= CHECKED_BY_THE_HANDLER


def test_an_api_states_the_operation_on_the_cluster_that_it_needs(
    subtests: pytest.Subtests,
) -> None:
    for handler in HANDLERS.values():
        if handler.needs is None:
            continue
        with subtests.test(handler.request.__name__):
            lab = guarded()
            log = list(lab.log)

            response = lab.ask(handler.request(), handler.versions.last, principal=ALICE)

            if "error_code" in type(response).fields:
                assert response.error_code == CLUSTER_DENIED
            assert lab.log == log

            allow(lab, on_cluster(handler.needs))
            response = lab.ask(handler.request(), handler.versions.last, principal=ALICE)
            assert getattr(response, "error_code", 0) != CLUSTER_DENIED


def test_access_is_checked_before_a_node_says_that_it_does_not_lead() -> None:
    lab = guarded()
    lab.controller.resign()
    elect = HANDLERS[43]

    assert lab.ask(elect.request(), principal=ALICE).error_code == CLUSTER_DENIED
    everything = elect.request().replace(topic_partitions=None)
    assert lab.ask(everything).error_code == ErrorCode.NOT_CONTROLLER


def test_acls_that_are_not_committed_have_no_effect() -> None:
    lab = guarded()
    create = CreateAclsRequest(creations=[on_cluster(ALTER)])
    answer = lab.answer(create)

    assert lab.ask(HANDLERS[43].request(), principal=ALICE).error_code == CLUSTER_DENIED

    lab.append(answer.records)
    assert lab.ask(HANDLERS[43].request(), principal=ALICE).error_code == 0


def created(lab: Lab, *names: str) -> dict[str, CreatableTopicResult]:
    topics = [CreatableTopic(name=name, num_partitions=1, replication_factor=1) for name in names]
    response = lab.ask(CreateTopicsRequest(topics=topics), principal=ALICE)
    return {result.name: result for result in response.topics}


def test_topics_are_created_where_that_is_allowed() -> None:
    lab = guarded()
    allow(lab, creation(CREATE, "mine"), creation(CREATE, "shown"))
    allow(lab, creation(DESCRIBE_CONFIGS, "shown"))

    results = created(lab, "mine", "shown", "other", "twice", "twice", "__cluster_metadata")

    assert {name: result.error_code for name, result in results.items()} == {
        "mine": 0,
        "shown": 0,
        "other": TOPIC_DENIED,
        "twice": ErrorCode.INVALID_REQUEST,
        "__cluster_metadata": ErrorCode.INVALID_REQUEST,
    }
    assert set(lab.image.topics.ids) == {"mine", "shown"}
    hidden, shown = results["mine"], results["shown"]
    assert hidden.topic_config_error_code == TOPIC_DENIED
    assert (hidden.num_partitions, hidden.replication_factor, hidden.configs) == (-1, -1, [])
    assert shown.topic_config_error_code == 0
    assert (shown.num_partitions, shown.replication_factor) == (1, 1)
    assert shown.configs


def test_create_on_the_cluster_allows_to_create_any_topic() -> None:
    lab = guarded()
    allow(lab, on_cluster(CREATE))

    assert [result.error_code for result in created(lab, "a", "b").values()] == [0, 0]


def test_what_may_not_be_created_does_not_count_for_the_limit() -> None:
    lab = guarded()
    allow(lab, creation(CREATE, "mine"))
    topics = [
        CreatableTopic(name="mine", num_partitions=1, replication_factor=1),
        CreatableTopic(name="huge", num_partitions=20_000, replication_factor=1),
    ]

    response = lab.ask(CreateTopicsRequest(topics=topics), principal=ALICE)

    assert [result.error_code for result in response.topics] == [0, TOPIC_DENIED]


def test_topics_are_deleted_where_that_is_allowed_and_hidden_where_they_may_not_be_seen() -> None:
    lab = guarded()
    names = ("deletable", "describable", "hidden")
    ids = {name: lab.create(name, (1,)) for name in names}
    allow(lab, creation(DELETE, "deletable"), creation(DESCRIBE, "describable"))
    by_name = [DeleteTopicState(name=name) for name in ("describable", "hidden", "unknown")]
    by_id = [DeleteTopicState(topic_id=id) for id in ids.values()]

    response = lab.ask(
        DeleteTopicsRequest(timeout_ms=9000, topics=by_name + by_id), principal=ALICE
    )

    found = [
        (result.name, result.topic_id.int != 0, result.error_code) for result in response.responses
    ]
    assert found == [
        ("describable", False, TOPIC_DENIED),
        ("hidden", False, TOPIC_DENIED),
        ("unknown", False, TOPIC_DENIED),
        ("deletable", True, 0),
        ("describable", True, TOPIC_DENIED),
        (None, True, TOPIC_DENIED),
    ]
    assert set(lab.image.topics.ids) == {"describable", "hidden"}


def test_a_topic_that_may_be_described_is_said_to_be_unknown() -> None:
    lab = guarded()
    allow(lab, creation(DESCRIBE, "unknown"))

    response = lab.ask(
        DeleteTopicsRequest(timeout_ms=9000, topics=[DeleteTopicState(name="unknown")]),
        principal=ALICE,
    )

    assert response.responses[0].error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_delete_on_the_cluster_allows_to_delete_any_topic() -> None:
    lab = guarded()
    lab.create("foo", (1,))
    allow(lab, on_cluster(DELETE))

    response = lab.ask(
        DeleteTopicsRequest(timeout_ms=9000, topics=[DeleteTopicState(name="foo")]), principal=ALICE
    )

    assert response.responses[0].error_code == 0


def test_topics_grow_where_that_is_allowed() -> None:
    lab = guarded()
    for name in ("mine", "other"):
        lab.create(name, (1,))
    allow(lab, creation(ALTER, "mine"))
    names = ("mine", "other", "unknown")
    topics = [CreatePartitionsTopic(name=name, count=2, assignments=None) for name in names]

    response = lab.ask(CreatePartitionsRequest(timeout_ms=9000, topics=topics), principal=ALICE)

    found = {result.name: (result.error_code, result.error_message) for result in response.results}
    assert found["mine"][0] == 0
    assert found["other"] == found["unknown"] == (TOPIC_DENIED, None)


RESOURCES = {
    (ResourceType.TOPIC, "foo"): TOPIC_DENIED,
    (ResourceType.GROUP, "group"): GROUP_DENIED,
    (ResourceType.BROKER, "1"): CLUSTER_DENIED,
    (ResourceType.CLIENT_METRICS, "m"): CLUSTER_DENIED,
    (ResourceType.BROKER_LOGGER, "3000"): CLUSTER_DENIED,
}


def resource_acl(type: ResourceType, name: str, operation: AclOperation) -> Any:
    if type == ResourceType.GROUP:
        return creation(operation, name, resource_type=AclResourceType.GROUP)
    return creation(operation, name) if type == ResourceType.TOPIC else on_cluster(operation)


@pytest.mark.parametrize(("resource", "denied"), RESOURCES.items(), ids=str)
def test_configurations_are_altered_where_that_is_allowed(
    resource: tuple[ResourceType, str], denied: ErrorCode
) -> None:
    lab = guarded()
    lab.create("foo", (1,))
    request = IncrementalAlterConfigsRequest(
        resources=[AlterConfigsResource(resource_type=resource[0], resource_name=resource[1])]
    )

    assert lab.ask(request, principal=ALICE).responses[0].error_code == denied

    is_logger = resource[0] == ResourceType.BROKER_LOGGER
    allow(lab, resource_acl(*resource, CLUSTER_ACTION if is_logger else ALTER_CONFIGS))
    assert lab.ask(request, principal=ALICE).responses[0].error_code == 0


@pytest.mark.parametrize(
    ("resource", "denied"),
    [item for item in RESOURCES.items() if item[0][0] != ResourceType.BROKER_LOGGER],
    ids=str,
)
def test_configurations_are_replaced_where_that_is_allowed(
    resource: tuple[ResourceType, str], denied: ErrorCode
) -> None:
    lab = guarded()
    lab.create("foo", (1,))
    replaced = a33_alter_configs.AlterConfigsResource(
        resource_type=resource[0], resource_name=resource[1]
    )
    request = a33_alter_configs.AlterConfigsRequest(resources=[replaced])

    assert lab.ask(request, principal=ALICE).responses[0].error_code == denied

    allow(lab, resource_acl(*resource, ALTER_CONFIGS))
    assert lab.ask(request, principal=ALICE).responses[0].error_code == 0


@pytest.mark.parametrize(("resource", "denied"), RESOURCES.items(), ids=str)
def test_configurations_are_described_where_that_is_allowed(
    resource: tuple[ResourceType, str], denied: ErrorCode
) -> None:
    lab = guarded()
    lab.create("foo", (1,))
    resource = (resource[0], "3000") if resource[0] == ResourceType.BROKER else resource
    described = DescribeConfigsResource(
        resource_type=resource[0], resource_name=resource[1], configuration_keys=None
    )
    request = DescribeConfigsRequest(resources=[described])

    assert lab.ask(request, principal=ALICE).results[0].error_code == denied

    allow(lab, resource_acl(*resource, ALTER_CONFIGS))
    assert lab.ask(request, principal=ALICE).results[0].error_code == 0


def test_a_controller_is_described_to_those_who_may_alter_the_cluster() -> None:
    lab = guarded()
    request = DescribeClusterRequest(endpoint_type=2, include_cluster_authorized_operations=True)
    assert lab.ask(request, principal=ALICE).error_code == CLUSTER_DENIED

    allow(lab, on_cluster(ALTER), on_cluster(CREATE))

    # ALTER implies DESCRIBE
    operations = lab.ask(request, principal=ALICE).cluster_authorized_operations
    assert operations == 1 << ALTER | 1 << CREATE | 1 << DESCRIBE
    # the operations that Kafka has for the cluster: AclEntry.supportedOperations
    assert lab.ask(request).cluster_authorized_operations == sum(
        1 << number for number in (5, 7, 8, 9, 10, 11, 12)
    )


def test_the_host_of_an_acl_is_that_of_the_client() -> None:
    lab = guarded()
    allow(lab, on_cluster(ALTER, host="127.0.0.1"), on_cluster(DESCRIBE, host="10.0.0.1"))

    assert lab.ask(HANDLERS[43].request(), principal=ALICE).error_code == 0
    assert lab.ask(HANDLERS[46].request(), principal=ALICE).error_code == 0  # ALTER implies it
    assert lab.ask(HANDLERS[56].request(), principal=ALICE).error_code == CLUSTER_DENIED
