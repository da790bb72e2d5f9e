"""Error responses are those of Kafka's request classes (Java: getErrorResponse)."""

from typing import cast

from kwire.codec.declaration import Group, Request
from kwire.codec.fields import ArrayOf, Nullable, StructOf
from kwire.messages.a01_fetch import FetchPartition, FetchRequest, FetchTopic
from kwire.messages.a03_metadata import MetadataRequest
from kwire.messages.a10_find_coordinator import (
    Coordinator,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from kwire.messages.a19_create_topics import (
    CreatableTopic,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from kwire.messages.a51_alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    AlterUserScramCredentialsResult,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from kwire.messages.error_response import ENTRIES, error_response, visible_error_response
from kwire.messages.index import APIS
from kwire.messages.registry import request, response
from kwire.proxy.flows.walk import failures


def filled(kind: type[Group], version: int) -> Group:
    """A struct with one element in each array."""
    made = kind()
    for name, field in kind.fields.items():
        node = field.type.inner if isinstance(field.type, Nullable) else field.type
        if version not in field.versions:
            continue
        if isinstance(node, ArrayOf):
            element = node.element
            if isinstance(element, StructOf):
                setattr(made, name, [filled(cast(type[Group], element.cls), version)])
            else:
                setattr(made, name, (element.new_default(),))
        elif isinstance(node, StructOf):
            setattr(made, name, filled(cast(type[Group], node.cls), version))
    return made


def test_every_api_and_version_has_a_response_with_the_code() -> None:
    without = set()
    for key, api in APIS.items():
        for version in request(key).versions:
            body = cast(Request, filled(request(key), version))
            answer = visible_error_response(body, version, 41)
            if answer is None:
                without.add((api, version))
                continue
            again = response(key).decode(answer.encode(version), version)
            assert 41 in {failure.code for failure in failures(again)}, (api, version)
    # Kafka cannot say it either: its response names log directories, which the request does not.
    assert without == {("DescribeLogDirs", version) for version in range(3)}


def test_the_table_names_apis() -> None:
    assert ENTRIES.keys() <= set(APIS.values())


def test_each_topic_has_the_error_and_its_message() -> None:
    asked = CreateTopicsRequest(topics=[CreatableTopic(name="a"), CreatableTopic(name="b")])
    results = [
        CreatableTopicResult(name=name, error_code=41, error_message="not here", configs=[])
        for name in ("a", "b")
    ]
    assert error_response(asked, 7, 41, "not here") == CreateTopicsResponse(topics=results)


def test_fetch_has_the_code_twice_until_readers_know_the_one_beside_the_response() -> None:
    topic = FetchTopic(topic="orders", partitions=[FetchPartition(partition=3)])
    for version, partitions in ((12, [(3, 6, -1)]), (13, [])):
        answer = error_response(FetchRequest(session_id=9, topics=[topic]), version, 6)
        assert (answer.error_code, answer.session_id) == (6, 9)  # type: ignore[attr-defined]
        assert partitions == [
            (partition.partition_index, partition.error_code, partition.high_watermark)
            for topic in answer.responses  # type: ignore[attr-defined]
            for partition in topic.partitions
        ]


def test_a_coordinator_that_is_not_known_is_no_node() -> None:
    asked = FindCoordinatorRequest(coordinator_keys=("g",))
    coordinator = Coordinator(
        key="g", node_id=-1, host="", port=-1, error_code=15, error_message=None
    )
    answer = cast(FindCoordinatorResponse, error_response(asked, 4, 15))
    assert answer.coordinators == [coordinator]


def test_two_arrays_of_a_request_may_be_answered_by_one() -> None:
    asked = AlterUserScramCredentialsRequest(
        deletions=[ScramCredentialDeletion(name="a")],
        upsertions=[ScramCredentialUpsertion(name="b")],
    )
    assert error_response(asked, 0, 41) == AlterUserScramCredentialsResponse(
        results=[
            AlterUserScramCredentialsResult(user=user, error_code=41, error_message=None)
            for user in ("a", "b")
        ]
    )


def test_a_request_about_nothing_may_have_no_place_for_the_code() -> None:
    everything = MetadataRequest(topics=None)
    assert visible_error_response(everything, 12, 41) is None
    assert error_response(everything, 12, 41).encode(12)
