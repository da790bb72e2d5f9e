"""Batches of the metadata log: records with addresses are changed, batches stay what they were."""

from collections.abc import Iterable
from uuid import UUID

import pytest
from msgspec.structs import replace

from kwire.batches import Budget, Compression, RecordBatch, build_batch, read_batches
from kwire.batches.control_records import quorum_record, read_control_record
from kwire.batches.metadata_records import read_metadata_record
from kwire.errors import BatchError
from kwire.messages.a01_fetch import (
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    PartitionData,
    ReplicaState,
)
from kwire.messages.data.leader_change_message import LeaderChangeMessage
from kwire.messages.data.voters_record import Endpoint, Voter, VotersRecord
from kwire.messages.metadata_topic import METADATA_TOPIC_ID
from kwire.messages.records.feature_level import FeatureLevelRecord
from kwire.messages.records.register_broker import BrokerEndpoint, RegisterBrokerRecord
from kwire.messages.records.register_controller import ControllerEndpoint, RegisterControllerRecord
from kwire.net.address import Address
from kwire.net.frames import decode_response
from kwire.proxy import Filters
from kwire.proxy.addresses.log_records import read_log
from kwire.proxy.addresses.rewrite_endpoints import RewriteEndpoints
from kwire.proxy.addresses.rewriter import TOO_MUCH
from tests.support.bombs import count_records, record_bomb
from tests.support.proxy.addresses.address_books import InstantListeners
from tests.support.proxy.addresses.metadata_batches import batch
from tests.support.proxy.dialogue import answered, asked
from tests.support.proxy.filter_dialogue import HeldDialogue

VOTERS = VotersRecord(
    voters=[
        Voter(voter_id=3000, endpoints=[Endpoint(name="CONTROLLER", host="a", port=9093)]),
        Voter(voter_id=3001, endpoints=[Endpoint(name="CONTROLLER", host="b", port=9093)]),
    ]
)
CONTROL = build_batch(
    [quorum_record(LeaderChangeMessage(leader_id=3000), timestamp=7), quorum_record(VOTERS)],
    base_offset=100,
    partition_leader_epoch=5,
    is_control=True,
)


REGISTERED = (
    FeatureLevelRecord(name="metadata.version", feature_level=29),
    RegisterBrokerRecord(
        broker_id=1, end_points=[BrokerEndpoint(name="PLAINTEXT", host="c", port=9092)]
    ),
    RegisterControllerRecord(
        controller_id=3000, end_points=[ControllerEndpoint(name="CONTROLLER", host="a", port=9093)]
    ),
)


def fetched(
    data: bytes, openings: InstantListeners, *, topic: UUID = METADATA_TOPIC_ID, replica: int = 3001
) -> bytes:
    """The records that a replica gets for these of the node's."""
    dialogue = HeldDialogue(filters=Filters([RewriteEndpoints(openings.book)]))
    replica_state = ReplicaState(replica_id=replica)
    request = FetchRequest(replica_state=replica_state)
    dialogue.ask(asked(request, 17, 1, client_id=f"raft-client-{replica}"))
    partition = PartitionData(records=data)
    response = FetchResponse(
        responses=[FetchableTopicResponse(topic_id=topic, partitions=[partition])]
    )
    sent = answered(response, 17, 1)
    came = dialogue.answer(sent)
    body = decode_response(came[4:], 1, 17).body
    assert isinstance(body, FetchResponse)
    (found,) = body.responses[0].partitions
    assert found.records != data or came == sent
    return found.records or b""


def headers(batches: Iterable[object]) -> list[RecordBatch]:
    """Return batches with the fields that must stay: all but bytes and CRC."""
    found = [log_batch for log_batch in batches if isinstance(log_batch, RecordBatch)]
    return [replace(item, data=b"", crc=0) for item in found]


def endpoints(data: bytes) -> list[tuple[str, int]]:
    """The hosts and ports in all records, in order."""
    found: list[tuple[str, int]] = []
    for log_batch in read_batches(data):
        assert isinstance(log_batch, RecordBatch)
        for record in log_batch.records():
            if log_batch.is_control:
                message = read_control_record(record).message
                voters = message.voters if isinstance(message, VotersRecord) else []
                ends: list[Endpoint] = [end for voter in voters for end in voter.endpoints]
                found += [(end.host, end.port) for end in ends]
            else:
                said = read_metadata_record(record.value or b"").record
                if isinstance(said, RegisterBrokerRecord | RegisterControllerRecord):
                    found += [(end.host, end.port) for end in said.end_points]
    return found


@pytest.mark.parametrize("compression", list(Compression))
def test_registrations_in_the_log_name_the_proxy(compression: Compression) -> None:
    openings = InstantListeners()
    data = batch(*REGISTERED, compression=compression)
    after = fetched(data, openings)
    assert endpoints(after) == [("proxy.example.org", 20_001), ("proxy.example.org", 20_002)]
    assert openings.sought == [(1, Address("c", 9092)), (3000, Address("a", 9093))]
    assert headers(read_batches(after)) == headers(read_batches(data))
    old, new = (next(read_batches(one)) for one in (data, after))
    kept = [(r.key, r.offset, r.timestamp, r.headers) for r in old.records()]
    assert [(r.key, r.offset, r.timestamp, r.headers) for r in new.records()] == kept
    assert next(iter(new.records())) == next(iter(old.records()))


def test_a_voter_sees_itself_as_it_is_and_the_others_at_the_proxy() -> None:
    openings = InstantListeners()
    proxied = openings.book.add(Address("a", 9093), Address("127.0.0.1", 19093))
    own = openings.book.add(Address("b", 9093), Address("127.0.0.1", 19094))
    after = fetched(CONTROL, openings, replica=3001)
    assert endpoints(after) == [(proxied.host, proxied.port), ("b", 9093)]
    assert headers(read_batches(after)) == headers(read_batches(CONTROL))
    leaders_own_copy = fetched(after, openings, replica=3000)
    assert endpoints(leaders_own_copy) == [("a", 9093), (own.host, own.port)]
    by_a_broker = fetched(CONTROL, openings, replica=1)
    assert endpoints(by_a_broker) == [(proxied.host, proxied.port), (own.host, own.port)]


def test_other_topics_and_batches_without_addresses_pass_as_they_came() -> None:
    plain = batch(REGISTERED[0])
    assert fetched(plain, InstantListeners()) == plain
    assert fetched(batch(*REGISTERED), InstantListeners(), topic=UUID(int=2)) == batch(*REGISTERED)
    assert fetched(b"", InstantListeners()) == b""


def test_a_batch_that_is_cut_off_or_broken_passes_as_it_came() -> None:
    openings = InstantListeners()
    cut, whole = batch(*REGISTERED)[:-1], CONTROL
    after = fetched(whole + cut, openings)
    assert after.endswith(cut)
    assert len(after) > len(whole + cut)
    broken = bytearray(batch(*REGISTERED))
    broken[-1] ^= 1
    assert fetched(bytes(broken), openings) == bytes(broken)
    assert fetched(b"\xff" * 40, openings) == b"\xff" * 40


def test_a_batch_longer_than_any_is_refused_before_memory_is_taken() -> None:
    with pytest.raises(BatchError, match="at most"):
        read_log(bytes(8) + (1 << 30).to_bytes(4, "big") + bytes(5), Budget(size=100))


def test_batches_that_unpack_to_too_much_pass_as_they_came_with_a_note(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counted = count_records(monkeypatch)
    dialogue = HeldDialogue(filters=Filters([RewriteEndpoints(InstantListeners().book)]))
    dialogue.ask(asked(FetchRequest(), 17, 1))
    logs = [PartitionData(records=CONTROL), *[PartitionData(records=record_bomb())] * 8]
    topic = FetchableTopicResponse(topic_id=METADATA_TOPIC_ID, partitions=logs)
    came = dialogue.answer(answered(FetchResponse(responses=[topic]), 17, 1))
    body = decode_response(came[4:], 1, 17).body
    assert isinstance(body, FetchResponse)
    first, *others = (log.records or b"" for log in body.responses[0].partitions)
    assert endpoints(first) != endpoints(CONTROL)
    assert others == [record_bomb()] * 8
    assert counted.count < 10_000
    (ended,) = dialogue.flows
    assert [note for note in ended.notes if "unpack to too much" in note] == [TOO_MUCH]
