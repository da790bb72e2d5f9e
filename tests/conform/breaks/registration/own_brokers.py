"""Breaks of `registration/own-brokers`."""

from breaking import Break, changes, gives_error, sets
from breaking.metadata_log import changes_records
from kwire.messages.a62_broker_registration import BrokerRegistrationRequest
from kwire.messages.a63_broker_heartbeat import BrokerHeartbeatRequest
from kwire.messages.a64_unregister_broker import UnregisterBrokerRequest
from kwire.messages.a67_allocate_producer_ids import AllocateProducerIdsRequest
from kwire.messages.records.register_broker import RegisterBrokerRecord


def _unfence(record: RegisterBrokerRecord) -> None:
    record.fenced = False


BREAKS: dict[int, Break] = {
    1: changes_records(RegisterBrokerRecord, _unfence),
    2: changes(BrokerHeartbeatRequest, sets("is_fenced", True)),
    3: changes(BrokerHeartbeatRequest, sets("is_fenced", False)),
    4: gives_error(BrokerHeartbeatRequest, 77),
    5: changes(BrokerRegistrationRequest, sets("broker_epoch", 1)),
    6: gives_error(UnregisterBrokerRequest, 102),
    7: changes(AllocateProducerIdsRequest, sets("producer_id_start", 7)),
}
