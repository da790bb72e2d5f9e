"""The golden capture of a migration has the RPCs in the order of 3.9's controller."""

from kwire.capture.reading import Damage, read_capture
from kwire.capture.record import REQUEST
from tests.support.paths import FIXTURES

CAPTURE = FIXTURES / "migrating" / "recordings" / "kafka-3.9.1" / "rpcs.avro"
QUORUM = 3000
LEADERS, STOPPED, LIVE_BROKERS = 4, 5, 6
"""LeaderAndIsr, StopReplica, UpdateMetadata."""


def sent_by_the_quorum() -> list[tuple[int | None, int | None]]:
    """Return the broker and the API of each request of the quorum's controller."""
    return [
        (record.node_id, record.api_key)
        for record in read_capture(CAPTURE)
        if not isinstance(record, Damage)
        and record.kind == REQUEST
        and record.peer_id == QUORUM != record.node_id
    ]


def test_a_broker_first_gets_all_metadata_then_its_partitions_then_all_metadata_again() -> None:
    requests = sent_by_the_quorum()
    for broker in (0, 1):
        first = [api for to, api in requests if to == broker][:3]
        assert first == [LIVE_BROKERS, LEADERS, LIVE_BROKERS]


def test_every_kind_of_request_is_in_it() -> None:
    kinds = {api for _, api in sent_by_the_quorum()}
    assert kinds == {LIVE_BROKERS, LEADERS, STOPPED}
