"""Ids of the cluster of now take the places of recorded ones."""

from uuid import UUID

from kwire.messages.a01_fetch import FetchRequest, FetchResponse
from kwire.messages.a03_metadata import MetadataResponse, MetadataResponseTopic
from kwire.messages.a11_join_group import JoinGroupRequest, JoinGroupResponse
from kwire.messages.a20_delete_topics import DeleteTopicsRequest, DeleteTopicState
from kwire.proxy.capture.replay.cluster_ids import ClusterIds


def topic(number: int) -> MetadataResponse:
    return MetadataResponse(topics=[MetadataResponseTopic(name="t", topic_id=UUID(int=number))])


def test_a_topic_id_is_carried_to_every_connection() -> None:
    carried = ClusterIds()
    carried.learn(topic(5), topic(9), 12, "one")
    request = DeleteTopicsRequest(topics=[DeleteTopicState(topic_id=UUID(int=5))])
    carried.put_into(request, "another")
    assert request.topics[0].topic_id == UUID(int=9)


def test_a_member_id_is_carried_and_the_empty_one_stays() -> None:
    carried = ClusterIds()
    carried.learn(JoinGroupResponse(member_id="old"), JoinGroupResponse(member_id="new"), 5, "one")
    first, second = JoinGroupRequest(member_id=""), JoinGroupRequest(member_id="old")
    for request in (first, second):
        carried.put_into(request, "one")
    assert (first.member_id, second.member_id) == ("", "new")


def test_a_fetch_session_belongs_to_its_connection() -> None:
    carried = ClusterIds()
    carried.learn(FetchResponse(session_id=3), FetchResponse(session_id=8), 12, "one")
    own, foreign = FetchRequest(session_id=3), FetchRequest(session_id=3)
    carried.put_into(own, "one")
    carried.put_into(foreign, "another")
    assert (own.session_id, foreign.session_id) == (8, 3)
