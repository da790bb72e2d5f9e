"""Breaks of `admin/log-dirs`."""

from breaking import Break, changes, gives_error, repairs, sets
from kwire.messages.a34_alter_replica_log_dirs import AlterReplicaLogDirsRequest
from kwire.messages.a35_describe_log_dirs import DescribeLogDirsRequest
from kwire.messages.a74_list_config_resources import ListConfigResourcesRequest

_API = DescribeLogDirsRequest

BREAKS: dict[int, Break] = {
    1: changes(_API, sets("results[*].topics", [])),
    3: gives_error(_API, 3),
    4: changes(_API, sets("results[*].usable_bytes", -1)),
    5: gives_error(AlterReplicaLogDirsRequest, 0),
    6: gives_error(ListConfigResourcesRequest, 0),
    7: repairs(ListConfigResourcesRequest, sets("resource_types", (4,))),
}
