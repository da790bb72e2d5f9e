"""No secret leaves in a recorded frame; whatever is no secret stays as it passed."""

import pytest

from kwire.batches import Compression, Record, build_batch, read_batches
from kwire.batches.metadata_records import VersionedRecord, read_metadata_record
from kwire.capture.record import LEFT_OUT, MASKED_FIELDS
from kwire.codec.declaration import MetadataRecord, Request, Response
from kwire.messages.a01_fetch import (
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    PartitionData,
)
from kwire.messages.a32_describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
    DescribeConfigsSynonym,
)
from kwire.messages.a36_sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from kwire.messages.a38_create_delegation_token import (
    CreateDelegationTokenRequest,
    CreateDelegationTokenResponse,
)
from kwire.messages.a44_incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kwire.messages.a51_alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    ScramCredentialUpsertion,
)
from kwire.messages.a58_envelope import EnvelopeRequest, EnvelopeResponse
from kwire.messages.index import APIS
from kwire.messages.metadata_topic import METADATA_TOPIC, METADATA_TOPIC_ID
from kwire.messages.records.config import ConfigRecord
from kwire.messages.records.topic import TopicRecord
from kwire.messages.records.user_scram_credential import UserScramCredentialRecord
from kwire.messages.registry import request, response
from kwire.proxy import DecodedFlow, Flow
from kwire.proxy.capture.redaction import SECRET_APIS, redacted
from kwire.proxy.flows.masks import may_hold_secrets
from tests.support.bombs import count_records, record_bomb
from tests.support.proxy.dialogue import Dialogue, answered, asked

SECRET = b"hunter2-hunter2"
TEXT = SECRET.decode()


def flow(request: Request, response: Response, version: int) -> Flow:
    """The RPC as the data path hands it out."""
    dialogue = Dialogue()
    dialogue.ask(asked(request, version, 5))
    dialogue.answer(answered(response, version, 5))
    (one,) = dialogue.flows
    return one


def altered() -> IncrementalAlterConfigsRequest:
    configs = [
        AlterableConfig(name="listener.name.x.ssl.key.password", value=TEXT),
        AlterableConfig(name="cleanup.policy", value="compact"),
    ]
    return IncrementalAlterConfigsRequest(resources=[AlterConfigsResource(configs=configs)])


def upserted() -> AlterUserScramCredentialsRequest:
    new = ScramCredentialUpsertion(name="alice", salt=SECRET, salted_password=SECRET)
    return AlterUserScramCredentialsRequest(upsertions=[new])


def described() -> DescribeConfigsResponse:
    config = DescribeConfigsResourceResult(
        name="x",
        value=TEXT,
        is_sensitive=True,
        synonyms=[DescribeConfigsSynonym(name="x", value=TEXT)],
    )
    return DescribeConfigsResponse(results=[DescribeConfigsResult(configs=[config])])


FLOWS = {
    "SASL tokens": flow(
        SaslAuthenticateRequest(auth_bytes=SECRET), SaslAuthenticateResponse(auth_bytes=SECRET), 2
    ),
    "SCRAM secrets": flow(upserted(), AlterUserScramCredentialsResponse(), 0),
    "token HMACs": flow(
        CreateDelegationTokenRequest(), CreateDelegationTokenResponse(hmac=SECRET), 3
    ),
    "sensitive configs": flow(DescribeConfigsRequest(), described(), 4),
    "an envelope": flow(
        EnvelopeRequest(request_data=asked(altered(), 1, 9)[4:]), EnvelopeResponse(), 0
    ),
    "an envelope's answer": flow(
        EnvelopeRequest(request_data=asked(CreateDelegationTokenRequest(), 3, 9)[4:]),
        EnvelopeResponse(
            response_data=answered(CreateDelegationTokenResponse(hmac=SECRET), 3, 9)[4:]
        ),
        0,
    ),
}


@pytest.mark.parametrize("one", FLOWS.values(), ids=list(FLOWS))
def test_secrets_are_masked_at_equal_length(one: Flow) -> None:
    before = (one.request_copy or b"", one.response_copy or b"")
    assert SECRET in b"".join(before)
    done = redacted(one)
    after = (done.request or b"", done.response or b"")
    assert SECRET not in b"".join(after)
    assert [len(frame) for frame in after] == [len(frame) for frame in before]
    reasons = (done.request_redaction, done.response_redaction)
    for frame, masked, reason in zip(before, after, reasons, strict=True):
        assert reason == (MASKED_FIELDS if SECRET in frame else None)
        assert (frame == masked) == (SECRET not in frame)
    one.request_copy, one.response_copy = after
    assert DecodedFlow(one).problems == ()
    one.request_copy, one.response_copy = before


def test_what_is_no_secret_in_such_a_message_stays() -> None:
    done = redacted(FLOWS["an envelope"])
    assert b"compact" in (done.request or b"")


def test_a_cut_or_broken_frame_that_may_hold_secrets_is_left_out() -> None:
    one = flow(SaslAuthenticateRequest(auth_bytes=SECRET), SaslAuthenticateResponse(), 2)
    one.request_copy = (one.request_copy or b"")[:-3]
    done = redacted(one)
    assert (done.request, done.request_redaction) == (None, LEFT_OUT)
    assert (done.response, done.response_redaction) == (one.response_copy, None)
    one.request_copy += b"\xff\xff\xff"
    assert redacted(one).request is None


def test_an_api_version_that_is_not_known_is_left_out() -> None:
    one = flow(SaslAuthenticateRequest(auth_bytes=SECRET), SaslAuthenticateResponse(), 2)
    copy = bytearray(one.request_copy or b"")
    copy[3] = one.version = 99
    one.request_copy = bytes(copy)
    done = redacted(one)
    assert (done.request, done.response) == (None, None)


def batch(*records: MetadataRecord, compression: Compression = Compression.NONE) -> bytes:
    values = [VersionedRecord(record=record, version=0).encode() for record in records]
    return build_batch([Record(value=value) for value in values], compression=compression)


def fetched(records: bytes, version: int = 17) -> Flow:
    """A fetch of the metadata log."""
    partition = PartitionData(records=records)
    topic = FetchableTopicResponse(topic_id=METADATA_TOPIC_ID, partitions=[partition])
    if version < 13:
        topic = FetchableTopicResponse(topic="__cluster_metadata", partitions=[partition])
    return flow(FetchRequest(), FetchResponse(responses=[topic]), version)


LOG = (
    TopicRecord(name="orders"),
    UserScramCredentialRecord(name="a", salt=SECRET, stored_key=SECRET, server_key=SECRET),
    ConfigRecord(name="sasl.jaas.config", value=TEXT),
    ConfigRecord(name="cleanup.policy", value="compact"),
)


@pytest.mark.parametrize("version", [11, 17])
def test_secrets_in_the_metadata_log_are_masked_and_the_crc_is_right(version: int) -> None:
    one = fetched(batch(LOG[0]) + batch(*LOG), version)
    done = redacted(one)
    assert SECRET not in (done.response or b"")
    assert len(done.response or b"") == one.response_size
    assert done.response_redaction == MASKED_FIELDS
    one.response_copy = done.response
    response = DecodedFlow(one).response_as(FetchResponse)
    assert response
    batches = list(read_batches(response.responses[0].partitions[0].records or b""))
    records = [read_metadata_record(record.value or b"").record for record in batches[1].records()]
    assert records[0] == LOG[0]
    assert records[2] == ConfigRecord(name="sasl.jaas.config", value="*" * len(TEXT))
    assert records[3] == LOG[3]


@pytest.mark.parametrize("version", FetchResponse.versions)
def test_a_response_of_the_metadata_log_begins_with_its_topic(version: int) -> None:
    topic = FetchableTopicResponse(partitions=[PartitionData()])
    if version < 13:
        topic.topic = METADATA_TOPIC
    else:
        topic.topic_id = METADATA_TOPIC_ID
    mark = METADATA_TOPIC.encode() if version < 13 else METADATA_TOPIC_ID.bytes
    frame = answered(FetchResponse(responses=[topic]), version, 5)
    assert 0 < frame.index(mark) + len(mark) - 4 <= 40


def test_a_metadata_log_without_secrets_is_recorded_byte_for_byte() -> None:
    one = fetched(batch(LOG[0], LOG[3], compression=Compression.ZSTD))
    done = redacted(one)
    assert (done.response, done.response_redaction) == (one.response_copy, None)


@pytest.mark.parametrize(
    "records", [batch(*LOG, compression=Compression.GZIP), batch(*LOG)[:-2]], ids=["gzip", "cut"]
)
def test_a_metadata_log_that_cannot_be_masked_is_left_out(records: bytes) -> None:
    done = redacted(fetched(records))
    assert (done.response, done.response_redaction) == (None, LEFT_OUT)


@pytest.mark.parametrize("partitions", [1, 8])
def test_batches_that_unpack_to_too_much_are_zeros(
    partitions: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = count_records(monkeypatch)
    logs = [PartitionData(records=record_bomb() * (8 // partitions)) for _ in range(partitions)]
    topic = FetchableTopicResponse(topic_id=METADATA_TOPIC_ID, partitions=logs)
    one = flow(FetchRequest(), FetchResponse(responses=[topic]), 17)
    done = redacted(one)
    assert counted.count < 10_000
    assert len(done.response or b"") == one.response_size
    assert done.response_redaction == MASKED_FIELDS
    one.response_copy = done.response
    response = DecodedFlow(one).response_as(FetchResponse)
    assert response
    found = [log.records for log in response.responses[0].partitions]
    assert found == [bytes(len(log.records or b"")) for log in logs]


def test_other_fetches_are_not_even_decoded() -> None:
    one = flow(FetchRequest(), FetchResponse(), 17)
    one.response_copy = b"anything"
    assert redacted(one).response == b"anything"


def test_the_messages_that_may_hold_secrets_are_those_that_are_looked_at() -> None:
    may = {key for key in APIS if may_hold_secrets(request(key)) or may_hold_secrets(response(key))}
    assert may - SECRET_APIS == {74}  # ListConfigResources: names alone
    assert SECRET_APIS - may == {58}  # Envelope: what is in it is looked at
