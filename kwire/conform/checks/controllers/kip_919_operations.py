"""Operations of administration at the active controller (KIP-919)."""

from __future__ import annotations

from typing import Any

from kwire.conform.check import Check, CheckSection
from kwire.conform.checks.controllers.requests import CHANGES, TOPIC, describe_config
from kwire.conform.expectation import Expectation, answers
from kwire.conform.quorum import (
    NOBODY,
    SCRAM,
    demand_metadata_version,
    describe_quorum,
    leader_exchange,
)
from kwire.conform.server import Server
from kwire.conform.vocabulary import SentenceSource, ServerRole, guide, kafka, kip
from kwire.error_codes import ErrorCode
from kwire.messages.a29_describe_acls import DescribeAclsRequest
from kwire.messages.a41_describe_delegation_token import DescribeDelegationTokenRequest
from kwire.messages.a46_list_partition_reassignments import ListPartitionReassignmentsRequest
from kwire.messages.a94_unregister_controller import UnregisterControllerRequest
from kwire.messages.config_resource import ResourceType

SECTION = CheckSection("controllers/kip-919/operations", "Operations at the active controller")

_TABLE = kip(919, "AdminClient Changes")
_CODES = guide("Error Codes")
_ANY, _MATCH = 1, 1


def _refused(
    sentence: str, api: str, expect: Expectation, source: SentenceSource = _CODES
) -> Check:
    return leader_exchange(sentence, source, send=lambda quorum: CHANGES[api], expect=expect)


SECTION[1] = _refused(
    "A topic's name is checked.", "CreateTopics", answers(ErrorCode.INVALID_TOPIC_EXCEPTION)
)
SECTION[2] = _refused(
    "A topic that does not exist cannot be deleted.",
    "DeleteTopics",
    answers(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
)
SECTION[3] = _refused(
    "A topic that does not exist cannot grow.",
    "CreatePartitions",
    answers(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
)
SECTION[4] = _refused(
    "The configuration of a topic that does not exist cannot be changed.",
    "IncrementalAlterConfigs",
    answers(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
)
SECTION[5] = _refused(
    "The configuration of a topic that does not exist cannot be replaced.",
    "AlterConfigs",
    answers(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
)
SECTION[6] = _refused(
    "A partition that does not exist cannot elect a leader.",
    "ElectLeaders",
    answers(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
)
SECTION[7] = _refused(
    "A partition that does not exist cannot be reassigned.",
    "AlterPartitionReassignments",
    answers(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
)
SECTION[8] = leader_exchange(
    "Reassignments under way are listed.",
    _TABLE,
    send=lambda quorum: ListPartitionReassignmentsRequest(),
    expect=answers(ErrorCode.NONE),
)
SECTION[9] = _refused(
    "A broker that is not registered cannot be unregistered.",
    "UnregisterBroker",
    answers(ErrorCode.BROKER_ID_NOT_REGISTERED),
)
SECTION[10] = _refused(
    "A quota for a kind of entity that does not exist gets INVALID_REQUEST.",
    "AlterClientQuotas",
    answers(ErrorCode.INVALID_REQUEST),
    kafka("ClientQuotaControlManager.validateEntity"),
)


@SECTION.refuses(
    11,
    kip(554, "AlterUserScramCredentials"),
    ErrorCode.RESOURCE_NOT_FOUND,
    role=ServerRole.CONTROLLER,
)
async def _(server: Server) -> Any:
    """Deleting credentials that are not there gets"""
    quorum = await describe_quorum(server)
    await demand_metadata_version(quorum.connection, SCRAM)
    return await quorum.connection.ask(CHANGES["AlterUserScramCredentials"])


SECTION[12] = leader_exchange(
    "A controller describes its own configuration.",
    kip(919, "New APIs"),
    send=lambda quorum: describe_config(ResourceType.BROKER, str(quorum.leader_id)),
    expect=answers(
        ErrorCode.NONE,
        text="with keys",
        lacks=lambda response: "" if response.results[0].configs else "without a key",
    ),
)
SECTION[13] = leader_exchange(
    "A controller does not describe another node's configuration.",
    kip(133, "DescribeConfigs"),
    send=lambda quorum: describe_config(ResourceType.BROKER, str(NOBODY)),
    expect=answers(ErrorCode.INVALID_REQUEST),
)
SECTION[14] = leader_exchange(
    "A controller does not describe a topic that does not exist.",
    _CODES,
    send=lambda quorum: describe_config(ResourceType.TOPIC, TOPIC),
    expect=answers(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
)
SECTION[16] = leader_exchange(
    "ACLs are described, or SECURITY_DISABLED without an authorizer.",
    _TABLE,
    send=lambda quorum: DescribeAclsRequest(
        resource_type_filter=_ANY,
        resource_name_filter=None,
        pattern_type_filter=_MATCH,
        principal_filter=None,
        host_filter=None,
        operation=_ANY,
        permission_type=_ANY,
    ),
    expect=answers(ErrorCode.NONE) | answers(ErrorCode.SECURITY_DISABLED),
)
SECTION[17] = leader_exchange(
    "Delegation tokens are described, or refused where they are off.",
    _TABLE,
    send=lambda quorum: DescribeDelegationTokenRequest(owners=None),
    expect=answers(ErrorCode.NONE)
    | answers(ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED)
    | answers(ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED),
)
SECTION[18] = leader_exchange(
    "A controller that is not registered cannot be unregistered, nor any at old levels.",
    kip(1312, "UnregisterController"),
    send=lambda quorum: UnregisterControllerRequest(controller_id=NOBODY),
    expect=answers(ErrorCode.CONTROLLER_ID_NOT_REGISTERED) | answers(ErrorCode.UNSUPPORTED_VERSION),
)
