"""The requests that are handled in a thread, since they take too long for the event loop."""

from __future__ import annotations

from kwire.codec.declaration import Request
from kwire.controller.server.large_messages import has_many_elements
from kwire.image import MetadataImage
from kwire.messages.a19_create_topics import CreateTopicsRequest
from kwire.messages.a29_describe_acls import DescribeAclsRequest
from kwire.messages.a31_delete_acls import DeleteAclsRequest
from kwire.messages.a37_create_partitions import CreatePartitionsRequest
from kwire.messages.a43_elect_leaders import ElectLeadersRequest
from kwire.messages.a62_broker_registration import BrokerRegistrationRequest
from kwire.messages.a63_broker_heartbeat import BrokerHeartbeatRequest
from kwire.messages.a64_unregister_broker import UnregisterBrokerRequest

FEW_ELEMENTS = 50
"""Elements of a request up to which it is short; each costs up to half a millisecond."""

FEW_PARTITIONS = 200
"""New partitions up to which a request is short; each costs some 50 microseconds."""

MANY_BYTES = 16 * 1024
"""Bytes of a frame up to which its request is short: a value may be a list of many words."""

MANY_ACLS = 5000
"""ACLs up to which a filter is short; each costs some two microseconds."""


def is_long(request: Request, image: MetadataImage, size: int = 0) -> bool:
    """True if a request may take more than some milliseconds. size: bytes of its frame.

    1. It has many elements, whatever they are, or many bytes.
    2. It creates many partitions.
    3. It looks through many ACLs.
    4. It concerns all partitions of a broker, or of the cluster: the handler looks at each.

    A thread costs a short request more than it saves.
    """
    # 1.
    if size > MANY_BYTES or has_many_elements(request, FEW_ELEMENTS):
        return True
    match request:
        # 2. A topic that leaves the number to num.partitions asks for -1.
        case CreateTopicsRequest(topics=topics):
            return sum(max(topic.num_partitions, 1) for topic in topics) > FEW_PARTITIONS
        case CreatePartitionsRequest(topics=growing):
            return sum(topic.count for topic in growing) > FEW_PARTITIONS
        # 3.
        case DescribeAclsRequest() | DeleteAclsRequest():
            return len(image.acls.by_id) > MANY_ACLS
        # 4.
        case BrokerRegistrationRequest() | UnregisterBrokerRequest():
            return is_large(image)
        case ElectLeadersRequest(topic_partitions=None):
            return is_large(image)
        case BrokerHeartbeatRequest():
            return _changes_broker_state(request, image) and is_large(image)
    return False


def is_large(image: MetadataImage) -> bool:
    """True if it takes long to look at every partition."""
    topics = image.topics.by_id
    return len(topics) > FEW_PARTITIONS or (
        sum(len(topic.partitions) for topic in topics.values()) > FEW_PARTITIONS
    )


def _changes_broker_state(request: BrokerHeartbeatRequest, image: MetadataImage) -> bool:
    broker = image.cluster.brokers.get(request.broker_id)
    if broker is None:
        return False
    return (
        request.want_shut_down
        or bool(request.offline_log_dirs)
        or (request.want_fence != broker.fenced)
    )
