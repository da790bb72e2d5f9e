"""The plan of `kwire apply`: which steps a difference becomes, which it does not, in what order."""

import re
from base64 import b64encode
from typing import Any

import pytest

from kwire.admin.topic_partition import TopicPartition
from kwire.admin.topics import NewTopic, TopicGrowth
from kwire.cluster_document.apply_plan import ApplyPlan, plan_application
from kwire.cluster_document.apply_step import ORDER
from kwire.cluster_document.document import ClusterDocument, DocumentSection
from kwire.messages.config_resource import ConfigResource

SALTED = {"salt": b64encode(b"salt").decode(), "saltedPassword": b64encode(bytes(32)).decode()}
ALICE = {"user": "alice", "mechanism": "SCRAM-SHA-256", "iterations": 4096}
ACL = {
    "principal": "User:alice",
    "permission": "DENY",
    "operation": "16",
    "resourceType": "TOPIC",
    "resourceName": "orders",
    "patternType": "LITERAL",
    "host": "*",
}


def topic(partitions: int = 2, **more: Any) -> dict[str, Any]:
    return {"topics": [{"name": "orders", "partitions": partitions, **more}]}


def configs(**values: str | None) -> dict[str, Any]:
    return {"configs": [{"type": "brokers", "name": "1", "configs": values}]}


def planned(current: dict[str, Any], wanted: dict[str, Any], **options: Any) -> ApplyPlan:
    """Return the plan; a section that one of the two lacks is empty there."""
    empty: dict[str, Any] = {"features": {}} | {s: [] for s in DocumentSection if s != "features"}
    return plan_application(
        ClusterDocument.model_validate({"version": 1, **empty, **current}),
        ClusterDocument.model_validate({"version": 1, **wanted}),
        **options,
    )


@pytest.mark.parametrize(
    ("current", "wanted", "steps"),
    [
        pytest.param({}, topic(), [("create_topics", "orders")], id="a topic that is not there"),
        pytest.param(topic(2), topic(3), [("create_partitions", "orders")], id="more partitions"),
        pytest.param(
            topic(2, assignments=[[1, 2], [2, 1]]),
            topic(2, assignments=[[1, 2], [1, 2]]),
            [("alter_partition_reassignments", TopicPartition("orders", 1))],
            id="other replicas",
        ),
        pytest.param(
            topic(1, replicationFactor=1, assignments=[[1]]),
            topic(2, replicationFactor=2, assignments=[[1, 2], [2, 1]]),
            [
                ("create_partitions", "orders"),
                ("alter_partition_reassignments", TopicPartition("orders", 0)),
            ],
            id="more of both, partitions first",
        ),
        pytest.param(
            topic(configs={"a": "1", "b": "2"}),
            topic(configs={"a": "1", "b": "3", "c": "4"}),
            [("incremental_alter_configs", ConfigResource(2, "orders"))],
            id="keys of a topic, in one step",
        ),
        pytest.param(
            {},
            {"configs": [{"type": "brokers", "name": None, "configs": {"a": "1"}}]},
            [("incremental_alter_configs", ConfigResource(4, ""))],
            id="the default of all brokers",
        ),
        pytest.param(
            {},
            {"configs": [{"type": "64", "name": "new", "configs": {"a": "1"}}]},
            [("incremental_alter_configs", ConfigResource(64, "new"))],
            id="a type of resource that is newer than kwire",
        ),
        pytest.param({}, topic(configs={}) | {"configs": [], "acls": []}, None, id="nothing else"),
    ],
)
def test_a_difference_becomes_a_step(
    current: dict[str, Any], wanted: dict[str, Any], steps: list[Any] | None
) -> None:
    plan = planned(current, wanted)
    expected = [("create_topics", "orders")] if steps is None else steps
    assert [step.id for step in plan.steps] == expected
    assert plan.differs
    assert not plan.not_applied


@pytest.mark.parametrize(
    ("current", "wanted", "fields", "reason"),
    [
        (topic(3), topic(2), ["partitions"], "lose no partitions: write partitions: 3"),
        (
            topic(2, assignments=[[1], [1]]),
            topic(1, assignments=[[1]]),
            ["partitions"],
            "lose no partitions: write partitions: 2",
        ),
        (
            topic(2, replicationFactor=1),
            topic(2, replicationFactor=3),
            ["replicationFactor"],
            "takes a reassignment: .* `kwire partitions reassign plan --rf 3 orders`",
        ),
        ({"features": {"f": 2}}, {"features": {"f": 1}}, ["level"], "no level is lowered"),
        ({}, {"features": {"f": 1}}, ["level"], "only with `set_features=True`"),
        (configs(), configs(password=None), ["password"], "does not show the value"),
        ({}, {"scramCredentials": [ALICE]}, [""], "can be made of the keys that a cluster stores"),
        (
            {"scramCredentials": [ALICE]},
            {"scramCredentials": [{**ALICE, "iterations": 8192}]},
            ["iterations"],
            "can be made of the keys that a cluster stores",
        ),
        (
            {},
            {"scramCredentials": [{**ALICE, "iterations": 100, **SALTED}]},
            [""],
            "Kafka takes 4096 to 16384 iterations",
        ),
    ],
)
def test_what_no_step_can_do_has_its_reason(
    current: dict[str, Any], wanted: dict[str, Any], fields: list[str], reason: str
) -> None:
    plan = planned(current, wanted)
    assert plan.steps == ()
    assert [rest.difference.field for rest in plan.not_applied] == fields
    (sentence,) = {rest.reason for rest in plan.not_applied}
    assert re.search(reason, sentence), sentence
    assert plan.differs


@pytest.mark.parametrize(
    ("current", "wanted", "counts"),
    [
        (topic(), {"topics": []}, {"topics": 1}),
        (topic(configs={"a": "1", "b": "2"}), topic(configs={"a": "1"}), {"keys of topics": 1}),
        (topic(configs={"a": "1"}), topic(), {}),
        (configs(a="1"), {"configs": []}, {"configs": 1}),
        ({"scramCredentials": [ALICE]}, {"scramCredentials": []}, {"scramCredentials": 1}),
        ({"acls": [ACL]}, {"acls": []}, {"acls": 1}),
        ({"acls": [ACL]}, {"topics": []}, {}),
        ({"features": {"f": 1}}, {"features": {}}, {"features": 1}),
        ({"features": {}}, {"features": {"f": 0}}, {}),
    ],
)
def test_what_the_document_lacks_is_counted_and_left_alone(
    current: dict[str, Any], wanted: dict[str, Any], counts: dict[str, int]
) -> None:
    plan = planned(current, wanted)
    assert not plan.differs
    assert plan.not_managed == counts


def test_steps_come_in_the_order_that_is_safe() -> None:
    wanted = {
        "acls": [ACL],
        "scramCredentials": [{**ALICE, **SALTED}],
        "quotas": [{"entity": {"user": None}, "quotas": {"request_percentage": 5}}],
        **configs(a="1"),
        "topics": [
            {"name": "moved", "partitions": 1, "assignments": [[2]]},
            {"name": "grown", "partitions": 2},
            {"name": "new", "partitions": 1},
        ],
        "features": {"metadata.version": 30},
    }
    current = {
        "topics": [
            {"name": "moved", "partitions": 1, "assignments": [[1]]},
            {"name": "grown", "partitions": 1},
        ]
    }
    plan = planned(current, wanted, set_features=True)
    assert [step.operation for step in plan.steps] == list(ORDER)


def test_a_topic_is_created_and_grown_as_the_document_places_it() -> None:
    wanted = topic(
        3, replicationFactor=2, assignments=[[1, 2], [2, 1], [1, 3]], configs={"a": "1", "b": None}
    )
    plan = planned({}, wanted)
    assert [step.argument for step in plan.steps] == [
        NewTopic(
            name="orders",
            partitions=3,
            replication_factor=2,
            assignments=((1, 2), (2, 1), (1, 3)),
            configs={"a": "1"},
        )
    ]
    assert [rest.difference.field for rest in plan.not_applied] == ["configs.b"]
    grown = planned(topic(2, assignments=[[1, 2], [2, 1]]), wanted)
    assert [step.argument for step in grown.steps] == [
        TopicGrowth(partitions=3, assignments=((1, 3),))
    ]


def test_what_the_cluster_does_not_show_is_not_compared_and_said() -> None:
    current = configs(password=None) | {"scramCredentials": [ALICE]}
    wanted = configs(password="x") | {"scramCredentials": [{**ALICE, **SALTED}]}
    plan = planned(current, wanted)
    assert not plan.differs
    assert plan.not_compared == (
        "configs brokers 1 password",
        "scramCredentials alice SCRAM-SHA-256 saltedPassword",
    )


def test_only_some_sections_are_planned() -> None:
    wanted = topic() | {"acls": [ACL]}
    plan = planned({}, wanted, only=[DocumentSection.ACLS])
    assert [step.operation.name for step in plan.steps] == ["create_acls"]
    assert plan.sections == (DocumentSection.ACLS,)
