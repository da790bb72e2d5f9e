"""Breaks of `answers/admin`."""

from breaking import Break, changes, gives_error, sets
from kwire.messages.a34_alter_replica_log_dirs import AlterReplicaLogDirsRequest
from kwire.messages.a35_describe_log_dirs import DescribeLogDirsRequest
from kwire.messages.a43_elect_leaders import ElectLeadersRequest
from kwire.messages.a45_alter_partition_reassignments import AlterPartitionReassignmentsRequest
from kwire.messages.a46_list_partition_reassignments import ListPartitionReassignmentsRequest
from kwire.messages.a49_alter_client_quotas import AlterClientQuotasRequest
from kwire.messages.a51_alter_user_scram_credentials import AlterUserScramCredentialsRequest
from kwire.messages.a57_update_features import UpdateFeaturesRequest

BREAKS: dict[int, Break] = {
    1: changes(
        DescribeLogDirsRequest,
        sets("results[*].topics[*].partitions[*].offset_lag", 1),
        only_for=lambda request: bool(request.body.topics),
    ),
    2: changes(AlterReplicaLogDirsRequest, sets("results[0].topic_name", "another"), only_for=1),
    3: changes(
        ElectLeadersRequest, sets("replica_election_results[0].topic", "another"), only_for=0
    ),
    4: changes(AlterPartitionReassignmentsRequest, sets("responses[0].name", "another")),
    5: changes(AlterClientQuotasRequest, sets("entries[*].entity[0].entity_name", None)),
    6: changes(AlterUserScramCredentialsRequest, sets("results[*].error_code", 0)),
    7: changes(UpdateFeaturesRequest, sets("results", []), only_for=1),
    8: gives_error(UpdateFeaturesRequest, 95),
    9: changes(ListPartitionReassignmentsRequest, sets("topics[0].partitions[0].replicas", ())),
}
