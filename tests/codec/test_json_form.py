"""Messages as JSON: what Kafka's form cannot say, and what does not fit it."""

import json
from typing import Any
from uuid import UUID

import pytest

import kwire
from kwire.errors import EncodeError, UnsupportedVersion
from kwire.messages.a00_produce import ProduceRequest
from kwire.messages.a48_describe_client_quotas import DescribeClientQuotasResponse
from kwire.messages.a55_describe_quorum import DescribeQuorumResponse
from kwire.messages.a80_add_raft_voter import AddRaftVoterRequest, Listener

REQUEST = AddRaftVoterRequest(
    cluster_id=None,
    voter_directory_id=UUID("1a2b3c4d-0000-4000-8000-00000000ff3e"),
    listeners=[Listener(name="CONTROLLER", host="localhost", port=9093)],
)
FORM = {
    "clusterId": None,
    "timeoutMs": 0,
    "voterId": 0,
    "voterDirectoryId": "Gis8TQAAQACAAAAAAAD_Pg",
    "listeners": [{"name": "CONTROLLER", "host": "localhost", "port": 9093}],
    "ackWhenCommitted": True,
}


def test_a_message_has_kafkas_names_and_kafkas_uuids() -> None:
    assert kwire.to_json(REQUEST, 1) == FORM
    assert kwire.from_json(AddRaftVoterRequest, json.loads(json.dumps(FORM)), 1) == REQUEST


def test_unknown_tags_stand_in_a_member_of_their_struct() -> None:
    tagged = REQUEST.replace(unknown_tags={7: b"\x01\x02"})
    tagged.listeners = [Listener(name="A", host="b", unknown_tags={300: b""})]
    form = kwire.to_json(tagged, 1)
    assert form["_unknownTags"] == {"7": "AQI="}
    assert form["listeners"][0]["_unknownTags"] == {"300": ""}
    assert kwire.from_json(AddRaftVoterRequest, form, 1) == tagged
    assert "_unknownTags" not in kwire.to_json(tagged, 1, exact=False)


def test_record_bytes_stand_beside_the_empty_string_that_kafka_prints() -> None:
    data = {"name": "t", "partitionData": [{"index": 0, "records": "", "_records": "AAECAw=="}]}
    form = {"transactionalId": None, "acks": 1, "timeoutMs": 1, "topicData": [data]}
    request = kwire.from_json(ProduceRequest, form, 9)
    assert request.topic_data[0].partition_data[0].records == b"\x00\x01\x02\x03"
    assert kwire.to_json(request, 9) == form


def test_floats_that_json_cannot_say_are_strings() -> None:
    form: dict[str, Any] = {"throttleTimeMs": 0, "errorCode": 0, "errorMessage": None}
    values = [{"key": key, "value": key} for key in ("NaN", "Infinity", "-Infinity")]
    form["entries"] = [{"entity": [], "values": values}]
    read = kwire.from_json(DescribeClientQuotasResponse, form, 1)
    assert kwire.to_json(read, 1) == form


def test_what_is_no_utf8_keeps_its_bytes_through_json() -> None:
    odd = REQUEST.replace(cluster_id=b"\xff\xfe".decode("utf-8", "surrogateescape"))
    text = json.dumps(kwire.to_json(odd, 1))
    assert kwire.from_json(AddRaftVoterRequest, json.loads(text), 1).encode(1) == odd.encode(1)


@pytest.mark.parametrize(
    ("changes", "path", "reason"),
    [
        ({"voterId": 1 << 31}, "voterId", "is no int32"),
        ({"voterId": True}, "voterId", "not a value of this field"),
        ({"voterId": "1"}, "voterId", "not a value of this field"),
        ({"ackWhenCommitted": 1}, "ackWhenCommitted", "not a value of this field"),
        ({"voterDirectoryId": "zz"}, "voterDirectoryId", "no UUID"),
        ({"voterDirectoryId": "AAAA!" + "A" * 18}, "voterDirectoryId", "no UUID"),
        ({"listeners": None}, "listeners", "not a value of this field"),
        ({"listeners": [{"name": "a", "host": "b"}]}, "listeners[0].port", "is missing"),
        ({"listeners": [3]}, "listeners[0]", "not a value of this field"),
        ({"_unknownTags": {"x": ""}}, "_unknownTags", "base64 by tag"),
        ({"_unknownTags": {"1": "?"}}, "_unknownTags", "no base64"),
    ],
)
def test_a_member_that_does_not_fit_is_named(
    changes: dict[str, Any], path: str, reason: str
) -> None:
    with pytest.raises(EncodeError, match=reason) as caught:
        kwire.from_json(AddRaftVoterRequest, FORM | changes, 1)
    assert (caught.value.path, caught.value.version) == (path, 1)


def test_a_value_that_the_version_cannot_carry_is_refused_as_when_encoding() -> None:
    with pytest.raises(EncodeError, match="ackWhenCommitted: not in this version"):
        kwire.to_json(REQUEST.replace(ack_when_committed=False), 0)
    with pytest.raises(EncodeError, match="topics: 3 is not a value"):
        kwire.to_json(DescribeQuorumResponse(topics=3), 0)  # type: ignore[arg-type]  # on purpose
    with pytest.raises(UnsupportedVersion):
        kwire.to_json(REQUEST, 9)
