"""Breaks of `registration/brokers`."""

from breaking import Break, gives_error
from kwire.messages.a62_broker_registration import BrokerRegistrationRequest
from kwire.messages.a63_broker_heartbeat import BrokerHeartbeatRequest
from kwire.messages.a67_allocate_producer_ids import AllocateProducerIdsRequest
from kwire.messages.a73_assign_replicas_to_dirs import AssignReplicasToDirsRequest

_REGISTERED = gives_error(BrokerRegistrationRequest, 0)
_ALIVE = gives_error(BrokerHeartbeatRequest, 0)
_ALLOCATED = gives_error(AllocateProducerIdsRequest, 0)

BREAKS: dict[int, Break] = {
    1: _REGISTERED,
    2: gives_error(BrokerRegistrationRequest, 0, only_for=lambda request: request.number > 1),
    **dict.fromkeys(range(3, 8), _REGISTERED),
    8: _ALIVE,
    9: _ALIVE,
    10: _ALLOCATED,
    11: _ALLOCATED,
    12: gives_error(AssignReplicasToDirsRequest, 0),
    13: _REGISTERED,
}
