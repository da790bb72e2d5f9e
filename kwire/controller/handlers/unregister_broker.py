"""UnregisterBroker (KIP-631)."""

from __future__ import annotations

from kwire.controller.errors import ApiError
from kwire.controller.handlers.limits import check_records
from kwire.controller.handlers.placement import replication
from kwire.controller.handlers.result import ControllerContext, ControllerResult
from kwire.error_codes import ErrorCode
from kwire.messages.a64_unregister_broker import UnregisterBrokerRequest, UnregisterBrokerResponse


def handle(request: UnregisterBrokerRequest, context: ControllerContext) -> ControllerResult:
    """A broker that will not come back is forgotten.

    1. No such broker: BROKER_ID_NOT_REGISTERED.
    2. It leaves every ISR, then its registration goes. A broker that runs registers again.
    3. It has more partitions than one request may change: POLICY_VIOLATION.
    """
    broker = context.image.cluster.brokers.get(request.broker_id)
    if broker is None:
        text = f"Broker {request.broker_id} is not registered."
        raise ApiError(ErrorCode.BROKER_ID_NOT_REGISTERED, text)
    records = replication(context).unregistered(broker)
    check_records(records)
    return ControllerResult(records=tuple(records), response=UnregisterBrokerResponse())
