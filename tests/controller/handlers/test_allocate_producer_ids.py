"""AllocateProducerIds, after Kafka's ProducerIdControlManagerTest."""

from typing import Any

from kwire.error_codes import ErrorCode
from kwire.messages.a67_allocate_producer_ids import AllocateProducerIdsRequest


def test_producer_ids_are_given_in_blocks_of_1000(three: Any) -> None:
    epoch = three.image.cluster.brokers[1].epoch
    request = AllocateProducerIdsRequest(broker_id=1, broker_epoch=epoch)

    blocks = [three.ask(request) for _ in range(2)]

    assert [(block.producer_id_start, block.producer_id_len) for block in blocks] == [
        (0, 1000),
        (1000, 1000),
    ]
    stale = three.ask(request.replace(broker_epoch=1))
    assert stale.error_code == ErrorCode.STALE_BROKER_EPOCH
