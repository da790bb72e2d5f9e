"""AllocateProducerIds (KIP-730)."""

from __future__ import annotations

from kwire.controller.handlers.result import ControllerContext, ControllerResult, versioned
from kwire.error_codes import ErrorCode
from kwire.errors import ApiError
from kwire.image.producer_ids import BLOCK_SIZE
from kwire.messages.a67_allocate_producer_ids import (
    AllocateProducerIdsRequest,
    AllocateProducerIdsResponse,
)
from kwire.messages.records.producer_ids import ProducerIdsRecord

MAX_PRODUCER_ID = (1 << 63) - 1


def handle(request: AllocateProducerIdsRequest, context: ControllerContext) -> ControllerResult:
    """Give a broker the next block of producer ids (Java: ProducerIdControlManager).

    1. Not the broker's latest epoch: STALE_BROKER_EPOCH.
    2. No whole block is left of 64 bits: UNKNOWN_SERVER_ERROR.
    3. The block begins where the last one ended, at 0 for the first.
    """
    # 1.
    context.broker(request.broker_id, request.broker_epoch)
    # 3. Before the first block the next id is unknown: -1.
    first = max(context.image.producer_ids.next_producer_id, 0)
    # 2.
    if first > MAX_PRODUCER_ID - BLOCK_SIZE:
        raise ApiError(ErrorCode.UNKNOWN_SERVER_ERROR, "Every producer id has been given away.")
    record = ProducerIdsRecord(
        broker_id=request.broker_id,
        broker_epoch=request.broker_epoch,
        next_producer_id=first + BLOCK_SIZE,
    )
    response = AllocateProducerIdsResponse(producer_id_start=first, producer_id_len=BLOCK_SIZE)
    return ControllerResult(records=(versioned(record),), response=response)
