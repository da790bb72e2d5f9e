"""Delay the heartbeats of broker 2 by ten seconds, so that the controller fences it."""

from kwire.messages.a63_broker_heartbeat import BrokerHeartbeatRequest
from kwire.proxy import Call, Delay, Filter


class LateHeartbeats(Filter):
    def on_broker_heartbeat_request(
        self, request: BrokerHeartbeatRequest, call: Call
    ) -> Delay | None:
        return Delay(10.0) if request.broker_id == 2 else None
