"""The mutation quota in requests about topics, after Kafka's ControllerMutationQuotaTest."""

from collections.abc import Callable
from typing import Any

import pytest

from kwire.error_codes import ErrorCode
from kwire.messages.a19_create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from kwire.messages.a20_delete_topics import DeleteTopicsRequest, DeleteTopicState
from kwire.messages.a37_create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from kwire.messages.a49_alter_client_quotas import (
    AlterClientQuotasRequest,
    EntityData,
    EntryData,
    OpData,
)
from tests.support.controller.handlers.lab import Lab

OK, EXCEEDED = ErrorCode.NONE, ErrorCode.THROTTLING_QUOTA_EXCEEDED
THROTTLED, UNBOUNDED = "User:ThrottledPrincipal", "User:UnboundedPrincipal"
ANSWER = tuple[int, list[int]]


def set_quota(lab: Lab, rate: float | None, **entity: str | None) -> None:
    parts = [
        EntityData(entity_type=type.replace("_", "-"), entity_name=name)
        for type, name in entity.items()
    ]
    op = OpData(key="controller_mutation_rate", value=rate or 0.0, remove=rate is None)
    lab.ask(AlterClientQuotasRequest(entries=[EntryData(entity=parts, ops=[op])]))


@pytest.fixture
def quota(make_lab: Callable[..., Lab]) -> Lab:
    """A broker, and 2 partitions a second, 20 at once, for THROTTLED."""
    lab = make_lab(quota_window_num=10)
    lab.start(1)
    set_quota(lab, 2.0, user="ThrottledPrincipal")
    return lab


def create(
    lab: Lab, counts: dict[str, int], *, version: int = 7, by: str = THROTTLED, **more: Any
) -> ANSWER:
    topics = [
        CreatableTopic(name=n, num_partitions=c, replication_factor=1) for n, c in counts.items()
    ]
    client_id = more.pop("client_id", None)
    request = CreateTopicsRequest(topics=topics).replace(**more)
    answer = lab.ask(request, version, principal=by, client_id=client_id)
    return answer.throttle_time_ms, [topic.error_code for topic in answer.topics]


def delete(lab: Lab, *names: str, version: int = 6, by: str = THROTTLED) -> ANSWER:
    if version < 6:
        request = DeleteTopicsRequest(timeout_ms=9000, topic_names=names)
    else:
        request = DeleteTopicsRequest(
            timeout_ms=9000, topics=[DeleteTopicState(name=name) for name in names]
        )
    answer = lab.ask(request, version, principal=by)
    return answer.throttle_time_ms, [topic.error_code for topic in answer.responses]


def grow(
    lab: Lab, counts: dict[str, int], *, version: int = 3, by: str = THROTTLED, **more: Any
) -> ANSWER:
    topics = [CreatePartitionsTopic(name=n, count=c, assignments=None) for n, c in counts.items()]
    request = CreatePartitionsRequest(timeout_ms=9000, topics=topics).replace(**more)
    answer = lab.ask(request, version, principal=by)
    return answer.throttle_time_ms, [topic.error_code for topic in answer.results]


THIRTY = {"topic-1": 30, "topic-2": 30}
ONE = {"topic-1": 1, "topic-2": 1}
MORE = {"topic-1": 31, "topic-2": 31}


@pytest.mark.parametrize("version", [6, 7])
def test_a_topic_is_refused_when_the_quota_is_used_up_and_created_later(
    quota: Lab, version: int
) -> None:
    assert create(quota, THIRTY, version=version) == (5000, [OK, EXCEEDED])
    assert set(quota.image.topics.ids) == {"topic-1"}
    quota.now += 5000
    assert create(quota, {"topic-2": 30}, version=version) == (0, [OK])


@pytest.mark.parametrize("version", [2, 5])
def test_clients_of_old_versions_create_topics_and_are_throttled(quota: Lab, version: int) -> None:
    assert create(quota, THIRTY, version=version) == (20_000, [OK, OK])
    quota.now += 2000
    assert create(quota, {"another": 1}, version=version) == (18_500, [OK])


def test_others_create_as_many_topics_as_they_like(quota: Lab) -> None:
    assert create(quota, THIRTY, by=UNBOUNDED) == (0, [OK, OK])


def test_topics_are_not_deleted_when_the_quota_is_used_up(quota: Lab) -> None:
    create(quota, THIRTY, by=UNBOUNDED)
    assert delete(quota, *THIRTY, version=5) == (5000, [OK, EXCEEDED])
    quota.now += 5000
    assert delete(quota, "topic-2") == (0, [OK])
    assert not quota.image.topics.ids


def test_a_topic_that_is_not_deleted_is_told_by_name_and_id(quota: Lab) -> None:
    create(quota, THIRTY, by=UNBOUNDED)
    kept = quota.image.topics.ids["topic-2"]
    topics = [DeleteTopicState(name="topic-1"), DeleteTopicState(name="topic-2")]
    answer = quota.ask(DeleteTopicsRequest(timeout_ms=9000, topics=topics), principal=THROTTLED)
    refused = answer.responses[1]
    assert (refused.name, refused.topic_id, refused.error_code) == ("topic-2", kept, EXCEEDED)


def test_clients_of_old_versions_delete_topics_and_are_throttled(quota: Lab) -> None:
    create(quota, THIRTY, by=UNBOUNDED)
    assert delete(quota, *THIRTY, version=4) == (20_000, [OK, OK])


def test_others_delete_as_many_topics_as_they_like(quota: Lab) -> None:
    create(quota, THIRTY, by=UNBOUNDED)
    assert delete(quota, *THIRTY, by=UNBOUNDED) == (0, [OK, OK])


def test_partitions_are_not_added_when_the_quota_is_used_up(quota: Lab) -> None:
    create(quota, ONE, by=UNBOUNDED)
    assert grow(quota, MORE) == (5000, [OK, EXCEEDED])
    quota.now += 5000
    assert grow(quota, {"topic-2": 31}) == (0, [OK])


def test_topics_grow_in_the_order_of_the_request(quota: Lab) -> None:
    names = [f"grow-3-{letter}" for letter in "abc"]
    create(quota, dict.fromkeys(names, 1), by=UNBOUNDED)
    topics = [CreatePartitionsTopic(name=name, count=31, assignments=None) for name in names]
    answer = quota.ask(CreatePartitionsRequest(timeout_ms=9000, topics=topics), principal=THROTTLED)
    codes = {topic.name: topic.error_code for topic in answer.results}
    assert codes == {"grow-3-a": OK, "grow-3-b": EXCEEDED, "grow-3-c": EXCEEDED}


def test_clients_of_old_versions_add_partitions_and_are_throttled(quota: Lab) -> None:
    create(quota, ONE, by=UNBOUNDED)
    assert grow(quota, MORE, version=2) == (20_000, [OK, OK])


def test_others_add_as_many_partitions_as_they_like(quota: Lab) -> None:
    create(quota, ONE, by=UNBOUNDED)
    assert grow(quota, MORE, by=UNBOUNDED) == (0, [OK, OK])


def test_a_request_that_only_validates_counts(quota: Lab) -> None:
    assert create(quota, THIRTY, validate_only=True) == (5000, [OK, EXCEEDED])
    assert grow(quota, {"topic-1": 31}, validate_only=True) == (
        0,
        [ErrorCode.UNKNOWN_TOPIC_OR_PARTITION],
    )
    create(quota, ONE, by=UNBOUNDED)
    assert grow(quota, {"topic-1": 2}, validate_only=True) == (5000, [EXCEEDED])


def test_a_topic_that_is_refused_for_another_reason_does_not_count(quota: Lab) -> None:
    wrong = [
        CreatableTopic(name="__cluster_metadata", num_partitions=50, replication_factor=1),
        CreatableTopic(name="a/b", num_partitions=50, replication_factor=1),
        CreatableTopic(name="replicas", num_partitions=50, replication_factor=2),
        CreatableTopic(
            name="config",
            num_partitions=50,
            replication_factor=1,
            configs=[CreatableTopicConfig(name="nonsense", value="1")],
        ),
        CreatableTopic(name="good", num_partitions=1, replication_factor=1),
    ]
    answer = quota.ask(CreateTopicsRequest(topics=wrong), principal=THROTTLED)
    assert EXCEEDED not in {topic.error_code for topic in answer.topics}
    assert create(quota, {"another": 1}) == (0, [OK])


def test_added_partitions_count_before_their_replicas_are_looked_at(quota: Lab) -> None:
    create(quota, ONE, by=UNBOUNDED)
    assigned = [CreatePartitionsAssignment(broker_ids=(77,))] * 30
    topics = [CreatePartitionsTopic(name="topic-1", count=31, assignments=assigned)]
    answer = quota.ask(CreatePartitionsRequest(timeout_ms=9000, topics=topics), principal=THROTTLED)
    assert answer.results[0].error_code == ErrorCode.INVALID_REPLICA_ASSIGNMENT
    assert grow(quota, {"topic-2": 2}) == (5000, [EXCEEDED])


def test_a_wrong_number_of_assignments_does_not_count(quota: Lab) -> None:
    create(quota, ONE, by=UNBOUNDED)
    assigned = [CreatePartitionsAssignment(broker_ids=(1,))] * 29
    topics = [CreatePartitionsTopic(name="topic-1", count=31, assignments=assigned)]
    answer = quota.ask(CreatePartitionsRequest(timeout_ms=9000, topics=topics), principal=THROTTLED)
    assert answer.results[0].error_code == ErrorCode.INVALID_REPLICA_ASSIGNMENT
    assert grow(quota, {"topic-2": 2}) == (0, [OK])


def test_a_request_that_is_refused_as_a_whole_counts_too(quota: Lab) -> None:
    # With its configurations it needs more than 10,000 records.
    configs = [
        CreatableTopicConfig(name=name, value="1") for name in ("retention.ms", "segment.ms")
    ]
    topics = [
        CreatableTopic(name="large", num_partitions=9999, replication_factor=1, configs=configs)
    ]
    answer = quota.ask(CreateTopicsRequest(topics=topics), 5, principal=THROTTLED)
    assert {topic.error_code for topic in answer.topics} == {ErrorCode.POLICY_VIOLATION}
    assert answer.throttle_time_ms > 0
    assert create(quota, {"another": 1})[1] == [EXCEEDED]


def test_a_quota_is_found_by_the_client_id(quota: Lab) -> None:
    set_quota(quota, 1.0, client_id="greedy")
    assert create(quota, THIRTY, by=UNBOUNDED, client_id="greedy")[1] == [OK, EXCEEDED]
    assert create(quota, {"topic-2": 30}, by=UNBOUNDED, client_id="modest")[1] == [OK]


def test_a_changed_quota_counts_at_once(quota: Lab) -> None:
    assert create(quota, THIRTY) == (5000, [OK, EXCEEDED])
    set_quota(quota, 4.0, user="ThrottledPrincipal")
    assert create(quota, {"topic-2": 1}) == (2500, [EXCEEDED])
    set_quota(quota, None, user="ThrottledPrincipal")
    assert create(quota, {"topic-2": 1}) == (0, [OK])


def test_a_quota_outlives_the_leadership_as_a_sensor_does(quota: Lab) -> None:
    assert create(quota, THIRTY) == (5000, [OK, EXCEEDED])
    quota.controller.resign()
    quota.controller.activate(2, quota.now, quota.end_offset)
    assert create(quota, {"topic-2": 1})[1] == [EXCEEDED]
