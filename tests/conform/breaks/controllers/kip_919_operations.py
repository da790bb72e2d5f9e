"""Breaks of `controllers/kip-919/operations`."""

from breaking import Break, changes, gives_error, sets
from kwire.conform.vocabulary import ConformanceVerdict
from kwire.messages.a19_create_topics import CreateTopicsRequest
from kwire.messages.a20_delete_topics import DeleteTopicsRequest
from kwire.messages.a29_describe_acls import DescribeAclsRequest
from kwire.messages.a32_describe_configs import DescribeConfigsRequest
from kwire.messages.a33_alter_configs import AlterConfigsRequest
from kwire.messages.a37_create_partitions import CreatePartitionsRequest
from kwire.messages.a41_describe_delegation_token import DescribeDelegationTokenRequest
from kwire.messages.a43_elect_leaders import ElectLeadersRequest
from kwire.messages.a44_incremental_alter_configs import IncrementalAlterConfigsRequest
from kwire.messages.a45_alter_partition_reassignments import AlterPartitionReassignmentsRequest
from kwire.messages.a46_list_partition_reassignments import ListPartitionReassignmentsRequest
from kwire.messages.a49_alter_client_quotas import AlterClientQuotasRequest
from kwire.messages.a51_alter_user_scram_credentials import AlterUserScramCredentialsRequest
from kwire.messages.a64_unregister_broker import UnregisterBrokerRequest
from kwire.messages.a94_unregister_controller import UnregisterControllerRequest

_CONFIGS = gives_error(DescribeConfigsRequest, 0)

BREAKS: dict[int, Break] = {
    1: gives_error(CreateTopicsRequest, 0),
    2: gives_error(DeleteTopicsRequest, 0),
    3: gives_error(CreatePartitionsRequest, 0),
    4: gives_error(IncrementalAlterConfigsRequest, 0),
    5: gives_error(AlterConfigsRequest, 0),
    6: gives_error(ElectLeadersRequest, 0),
    7: gives_error(AlterPartitionReassignmentsRequest, 0),
    8: gives_error(ListPartitionReassignmentsRequest, 41),
    9: gives_error(UnregisterBrokerRequest, 0),
    10: gives_error(AlterClientQuotasRequest, 0),
    11: gives_error(AlterUserScramCredentialsRequest, 0),
    12: changes(DescribeConfigsRequest, sets("results[0].configs", [])),
    13: _CONFIGS,
    14: _CONFIGS,
    16: gives_error(DescribeAclsRequest, 35),
    # Kafka's controllers offer it, and answer UNKNOWN_SERVER_ERROR.
    17: gives_error(DescribeDelegationTokenRequest, 0, verdict=ConformanceVerdict.PASS),
    18: gives_error(UnregisterControllerRequest, 0),
}
