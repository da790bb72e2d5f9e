"""A frame becomes values, whatever is wrong with it."""

import base64
import json

import pytest

from kwire.messages import a01_fetch as fetch
from kwire.messages.a03_metadata import MetadataResponse
from kwire.messages.a18_api_versions import ApiVersionsResponse
from kwire.messages.a51_alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    ScramCredentialUpsertion,
)
from kwire.messages.a52_vote import VoteRequest
from kwire.messages.a56_alter_partition import AlterPartitionResponse
from kwire.messages.a58_envelope import EnvelopeRequest
from kwire.messages.a62_broker_registration import BrokerRegistrationRequest
from kwire.net.frames import encode_request, encode_response
from kwire.pipeline.frame import read_frame
from tests.support.pipeline.captured_rows import DIRECTORY, vote


def test_a_request_is_decoded_and_encodes_to_the_same_bytes() -> None:
    frame = vote()
    found = read_frame(frame, len(frame), 52, 2, True)
    assert (found.status, found.error, found.identical) == ("DECODED", None, True)
    assert (found.wire_correlation_id, found.left_over, found.body_version) == (9, 0, 2)
    body = json.loads(found.body or "")
    assert body["topics"][0]["partitions"][0] | {"replica_epoch": 0} == {
        "partition_index": 0,
        "replica_epoch": 0,
        "replica_id": 3,
        "replica_directory_id": "AAAAAAAAAAAAAAAAAAAAUA",
        "voter_directory_id": "AAAAAAAAAAAAAAAAAAAAAA",
        "last_offset_epoch": 0,
        "last_offset": 0,
        "pre_vote": False,
    }


def test_bytes_behind_the_body_are_counted() -> None:
    frame = vote() + b"more"
    found = read_frame(frame, len(frame), 52, 2, True)
    assert (found.status, found.left_over, found.identical) == ("DECODED", 4, False)


@pytest.mark.parametrize(
    ("frame", "size", "key", "status", "error"),
    [
        (None, 40, 52, "ABSENT", "not in the capture"),
        (vote()[:20], 60, 52, "CUT", "20 of 60 bytes"),
        (vote()[:20], 20, 52, "UNDECODABLE", "VoteRequest v2 topics"),
        (b"", 0, 52, "UNDECODABLE", "8 bytes of header"),
        (b"\x27\x0f" + vote()[2:], None, 9999, "UNDECODABLE", "no API has key 9999"),
        (vote(), None, None, "UNDECODABLE", "not known"),
    ],
)
def test_what_does_not_decode_says_why(
    frame: bytes | None, size: int | None, key: int | None, status: str, error: str
) -> None:
    found = read_frame(frame, size, key, 2, True)
    assert found.status == status
    assert error in (found.error or "")
    assert (found.body, found.identical, found.errors) == (None, None, None)


def test_error_codes_of_every_level_are_found() -> None:
    from kwire.messages import a56_alter_partition as alter

    partition = alter.ResponsePartitionData(partition_index=1, error_code=107)
    topic = alter.ResponseTopicData(partitions=[alter.ResponsePartitionData(), partition])
    response = AlterPartitionResponse(topics=[topic])
    frame = encode_response(response, 3, correlation_id=1)[4:]
    found = read_frame(frame, None, 56, 3, False)
    assert found.errors == [
        {
            "path": "topics[0].partitions[1].error_code",
            "code": 107,
            "name": "INELIGIBLE_REPLICA",
            "message": None,
        }
    ]


def test_record_batches_are_counted_and_left_in_the_capture() -> None:
    data = fetch.PartitionData(records=b"x" * 500)
    response = fetch.FetchResponse(
        responses=[fetch.FetchableTopicResponse(topic_id=DIRECTORY, partitions=[data, data])]
    )
    frame = encode_response(response, 13, correlation_id=1)[4:]
    found = read_frame(frame, None, 1, 13, False)
    assert (found.records_bytes, found.identical) == (1000, True)
    assert "xxx" not in (found.body or "")


@pytest.mark.parametrize("bodies", [True, False])
def test_record_batches_are_counted_by_topic(bodies: bool) -> None:
    def data(size: int) -> fetch.PartitionData:
        return fetch.PartitionData(records=b"x" * size)

    topics = [
        fetch.FetchableTopicResponse(topic="orders", partitions=[data(5), data(0), data(7)]),
        fetch.FetchableTopicResponse(topic="payments", partitions=[fetch.PartitionData()]),
    ]
    frame = encode_response(fetch.FetchResponse(responses=topics), 12, correlation_id=1)[4:]
    found = read_frame(frame, None, 1, 12, False, bodies=bodies)
    assert found.topics == [{"topic": "orders", "topic_id": None, "records_bytes": 12}]
    by_id = fetch.FetchableTopicResponse(topic_id=DIRECTORY, partitions=[data(9)])
    frame = encode_response(fetch.FetchResponse(responses=[by_id]), 13, correlation_id=1)[4:]
    found = read_frame(frame, None, 1, 13, False, bodies=bodies)
    id_ = "AAAAAAAAAAAAAAAAAAAAUA"
    assert found.topics == [{"topic": None, "topic_id": id_, "records_bytes": 9}]
    assert (found.body is not None) is bodies
    assert read_frame(vote(), None, 52, 2, True, bodies=bodies).topics is None


def test_the_cluster_is_the_one_that_the_message_names() -> None:
    for cluster_id, expected in {"lab": "lab", "": None, None: None}.items():
        frame = encode_request(VoteRequest(cluster_id=cluster_id), 2, correlation_id=1)[4:]
        assert read_frame(frame, None, 52, 2, True).named_cluster == expected
    frame = encode_response(MetadataResponse(cluster_id="lab"), 12, correlation_id=1)[4:]
    assert read_frame(frame, None, 3, 12, False, bodies=False).named_cluster == "lab"
    frame = encode_response(ApiVersionsResponse(), 3, correlation_id=1)[4:]
    assert read_frame(frame, None, 18, 3, False).named_cluster is None


def test_an_api_versions_answer_in_version_0_is_what_it_is() -> None:
    frame = encode_response(ApiVersionsResponse(error_code=35), 0, correlation_id=1)[4:]
    found = read_frame(frame, None, 18, 99, False)
    assert (found.status, found.body_version, found.identical) == ("DECODED", 0, True)


def test_text_that_is_not_utf8_becomes_escapes_in_json() -> None:
    request = BrokerRegistrationRequest(cluster_id=b"a\xff".decode("utf-8", "surrogateescape"))
    frame = encode_request(request, 4, correlation_id=1)[4:]
    found = read_frame(frame, None, 62, 4, True)
    assert found.identical
    assert json.loads(found.body or "")["cluster_id"] == "a\\udcff"


def test_unknown_tags_are_kept() -> None:
    request = VoteRequest(topics=[])
    request.unknown_tags = {77: b"new"}
    frame = encode_request(request, 2, correlation_id=1)[4:]
    found = read_frame(frame, None, 52, 2, True)
    assert found.identical
    assert json.loads(found.body or "")["unknown_tags"] == {"77": "bmV3"}


def test_secrets_are_masked_in_bodies() -> None:
    upsertion = ScramCredentialUpsertion(name="u", salt=b"salty", salted_password=b"hidden")
    asked = AlterUserScramCredentialsRequest(upsertions=[upsertion])
    plain = encode_request(asked, 0, correlation_id=9, client_id="c")[4:]
    carried = EnvelopeRequest(request_data=plain, client_host_address=bytes(4))
    for frame, key in (
        (plain, 51),
        (encode_request(carried, 0, correlation_id=9, client_id="c")[4:], 58),
    ):
        found = read_frame(frame, len(frame), key, 0, True)
        assert (found.status, found.identical) == ("DECODED", True)
        for secret in (b"hidden", b"salty"):
            encoded = base64.b64encode(secret).decode().rstrip("=")
            assert encoded not in (found.body or "")
            assert secret not in base64.b64decode(
                json.loads(found.body or "").get("request_data", "")
            )
