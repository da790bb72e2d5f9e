"""Breaks of `answers/controllers`."""

from breaking import Break, changes, gives_error, sets
from kwire.messages.a56_alter_partition import AlterPartitionRequest
from kwire.messages.a63_broker_heartbeat import BrokerHeartbeatRequest
from kwire.messages.a67_allocate_producer_ids import AllocateProducerIdsRequest
from kwire.messages.a70_controller_registration import ControllerRegistrationRequest
from kwire.messages.a73_assign_replicas_to_dirs import AssignReplicasToDirsRequest

BREAKS: dict[int, Break] = {
    1: changes(AlterPartitionRequest, sets("topics[0].partitions[0].leader_recovery_state", 1)),
    2: changes(BrokerHeartbeatRequest, sets("is_caught_up", True)),
    3: changes(AllocateProducerIdsRequest, sets("producer_id_start", lambda first: first + 1)),
    4: changes(
        AssignReplicasToDirsRequest,
        sets("directories[0].topics[0].partitions[0].partition_index", 0),
    ),
    5: gives_error(ControllerRegistrationRequest, 42),
}
