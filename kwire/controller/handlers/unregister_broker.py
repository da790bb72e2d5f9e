"""UnregisterBroker (KIP-631)."""

from __future__ import annotations

from kwire.controller.handlers.limits import check_records
from kwire.controller.handlers.placement import replication_control
from kwire.controller.handlers.result import ControllerContext, ControllerResult
from kwire.error_codes import ErrorCode
from kwire.errors import ApiError
from kwire.messages.a64_unregister_broker import UnregisterBrokerRequest, UnregisterBrokerResponse


def handle(request: UnregisterBrokerRequest, context: ControllerContext) -> ControllerResult:
    """Forget a broker that will not come back.

    1. No such broker: BROKER_ID_NOT_REGISTERED.
    2. It leaves every ISR, then its registration is removed. A broker that runs registers again.
    3. It has more partitions than one request may change: POLICY_VIOLATION.
    """
    # 1.
    broker = context.image.cluster.brokers.get(request.broker_id)
    if broker is None:
        text = f"Broker {request.broker_id} is not registered."
        raise ApiError(ErrorCode.BROKER_ID_NOT_REGISTERED, text)
    # 2.
    records = replication_control(context).unregistered(broker)
    # 3.
    check_records(records)
    return ControllerResult(records=tuple(records), response=UnregisterBrokerResponse())
