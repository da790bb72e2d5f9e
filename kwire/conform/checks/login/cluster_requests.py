"""Effective requests about the cluster: ACLs, users, quotas, tokens and voters.

What a server does not describe, as a controller its quotas, is looked up in the metadata log.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from random import randrange
from typing import Any

from kwire.codec.declaration import Request
from kwire.conform.checks.login.effective_request import EffectiveRequest, Prepare, visible_error
from kwire.conform.checks.quorum.requests import add_voter
from kwire.conform.metadata_log import read_log
from kwire.conform.quorum import NOBODY, describe_quorum
from kwire.conform.server import Server
from kwire.conform.stub_voter import StubVoter
from kwire.conform.vocabulary import Deviation, ServerRole, Skipped
from kwire.conform.whole_answer import filled
from kwire.image import MetadataImage
from kwire.messages import (
    AlterClientQuotasRequest,
    AlterUserScramCredentialsRequest,
    CreateAclsRequest,
    CreateDelegationTokenRequest,
    CreateDelegationTokenResponse,
    DeleteAclsRequest,
    DescribeAclsRequest,
    DescribeClientQuotasRequest,
    DescribeDelegationTokenRequest,
    ExpireDelegationTokenRequest,
)
from kwire.messages.a80_add_raft_voter import Listener
from kwire.messages.access_control import AclOperation, AclPermission, AclResourceType, PatternType
from kwire.messages.forwarding import envelope
from kwire.net.frames import encode_request
from kwire.net.service import ANONYMOUS

_RATE, _SHA_256 = "producer_byte_rate", 1
_MINUTE_MS = 60_000
_NO_KRAFT_VERSION = (0, 0)


async def _create_acls(server: Server) -> EffectiveRequest:
    name = server.name()
    _delete_acl_afterwards(server, name)
    return EffectiveRequest(request=_new_acl(name), happened=partial(_has_acl, server, name))


async def _delete_acls(server: Server) -> EffectiveRequest:
    name = server.name()
    _delete_acl_afterwards(server, name)
    if visible_error(await server.ask_controller(_new_acl(name))):
        raise Skipped("the cluster takes no ACL of the check's own")
    await server.wait_for("the ACL", partial(_has_acl, server, name))

    async def is_gone() -> bool:
        return not await _has_acl(server, name)

    return EffectiveRequest(request=_no_acl(name), happened=is_gone)


async def _envelope(server: Server) -> EffectiveRequest:
    """Return a request of a broker's in the name of the user: to create an ACL."""
    inner = await _create_acls(server)
    connection = await server.connection()
    data = encode_request(
        inner.request, connection.version_for(inner.request), correlation_id=1, client_id=""
    )
    sasl = server.target.security.sasl
    principal = f"User:{sasl.username}" if sasl else ANONYMOUS
    request = envelope(data[4:], principal, "127.0.0.1")
    return EffectiveRequest(request=request, happened=inner.happened)


async def _alter_client_quotas(server: Server) -> EffectiveRequest:
    user = server.name()

    def alter(*, remove: bool) -> AlterClientQuotasRequest:
        entity = {"entity_type": "user", "entity_name": user}
        quota = {"key": _RATE, "value": 0.0 if remove else 1e9, "remove": remove}
        return filled(AlterClientQuotasRequest, entries=[{"entity": [entity], "ops": [quota]}])

    async def remove() -> None:
        visible_error(await server.ask_controller(alter(remove=True)))

    async def is_there() -> bool:
        if not _offers(server, DescribeClientQuotasRequest):
            image = await _image(server)
            return any(user in str(entity) for entity in image.client_quotas.entities)
        part = {"entity_type": "user", "match": user}
        answer = await server.ask(
            filled(DescribeClientQuotasRequest, components=[part], strict=True)
        )
        return not visible_error(answer) and bool(answer.entries)

    server.remove_afterwards(f"quota of {user}", remove)
    return EffectiveRequest(request=alter(remove=False), happened=is_there)


async def _alter_user_scram_credentials(server: Server) -> EffectiveRequest:
    user = server.name()
    own = {"name": user, "mechanism": _SHA_256}
    key = {"iterations": 4096, "salt": b"kwire", "salted_password": bytes(32)}
    request = filled(AlterUserScramCredentialsRequest, upsertions=[own | key])

    async def was_there() -> bool:
        # Controllers do not describe users; a user that there is not cannot be deleted.
        deletion = filled(AlterUserScramCredentialsRequest, deletions=[own])
        return visible_error(await server.ask_controller(deletion)) == 0

    async def remove() -> None:
        await was_there()

    server.remove_afterwards(f"SCRAM credential of {user}", remove)
    return EffectiveRequest(request=request, happened=was_there)


async def _create_delegation_token(server: Server) -> EffectiveRequest:
    """Return a request for a token of a minute. Who is not told its HMAC cannot end it before."""
    renewer = server.name()
    request = filled(
        CreateDelegationTokenRequest,
        owner_principal_type=None,
        owner_principal_name=None,
        renewers=[{"principal_type": "User", "principal_name": renewer}],
        max_lifetime_ms=_MINUTE_MS,
    )

    async def is_there() -> bool:
        if _describes_tokens(server):
            return bool(await _hmacs(server, renewer))
        tokens = (await _image(server)).delegation_tokens.by_id.values()
        return any(f"User:{renewer}" in token.renewers for token in tokens)

    ended: list[bytes] = []

    async def is_gone() -> bool:
        return not await is_there()

    async def remove() -> None:
        if not _describes_tokens(server):
            if await is_there():
                text = "its HMAC is not told; it ends within a minute"
                raise Deviation("the token ended", text)
            return
        for hmac in await _hmacs(server, renewer):
            if hmac not in ended:
                await _expire(server, hmac)
        await server.wait_for("the end of the token", is_gone)

    async def undo(answer: CreateDelegationTokenResponse) -> None:
        # Kafka's controller finds a token a moment after it has created it.
        await server.wait_for("the end of the token", partial(_expire, server, answer.hmac))
        ended.append(answer.hmac)

    server.remove_afterwards(f"token for {renewer}", remove)
    return EffectiveRequest(request=request, happened=is_there, undo=undo)


async def _add_raft_voter(server: Server) -> EffectiveRequest:
    """Return a request to add a stub, which the leader asks first, and then refuses."""
    quorum = await describe_quorum(server)
    await quorum.demand_kraft_version(1)
    stub = StubVoter(quorum.connection.own_host, _NO_KRAFT_VERSION)
    await stub.__aenter__()
    server.remove_afterwards("the stub of a voter", partial(stub.__aexit__, None, None, None))
    # Another id each time: to one that it could not reach a leader sends nothing for a while.
    request = add_voter(quorum, randrange(NOBODY, 1 << 31))
    # All names that the leader has: which of them is the quorum's own, nobody tells.
    names = [at.name for at in quorum.listeners.get(quorum.leader_id, request.listeners)]
    listeners = [Listener(name=name, host=stub.host, port=stub.port) for name in names]

    async def is_asked() -> bool:
        return stub.asked.is_set()

    return EffectiveRequest(request=request.replace(listeners=listeners), happened=is_asked)


def _new_acl(name: str) -> CreateAclsRequest:
    """Return a request for the right of a user that there is not to read a topic that is not."""
    creation = {
        "resource_type": AclResourceType.TOPIC,
        "resource_name": name,
        "resource_pattern_type": PatternType.LITERAL,
        "principal": f"User:{name}",
        "host": "*",
        "operation": AclOperation.READ,
        "permission_type": AclPermission.ALLOW,
    }
    return filled(CreateAclsRequest, creations=[creation])


def _no_acl(name: str) -> DeleteAclsRequest:
    return filled(DeleteAclsRequest, filters=[_acls(name)])


def _acls(name: str) -> dict[str, Any]:
    return {
        "resource_type_filter": AclResourceType.TOPIC,
        "resource_name_filter": name,
        "pattern_type_filter": PatternType.LITERAL,
        "principal_filter": None,
        "host_filter": None,
        "operation": AclOperation.ANY,
        "permission_type": AclPermission.ANY,
    }


async def _has_acl(server: Server, name: str) -> bool:
    answer = await server.ask(DescribeAclsRequest(**_acls(name)))
    return not visible_error(answer) and bool(answer.resources)


def _delete_acl_afterwards(server: Server, name: str) -> None:
    async def remove() -> None:
        visible_error(await server.ask_controller(_no_acl(name)))

    server.remove_afterwards(f"ACL of {name}", remove)


def _offers(server: Server, kind: type[Request]) -> bool:
    return kind.key in server.target.versions.api_versions


def _describes_tokens(server: Server) -> bool:
    """True for a broker: a controller lists DescribeDelegationToken and does not answer it."""
    is_broker = server.target.role is ServerRole.BROKER
    return is_broker and _offers(server, DescribeDelegationTokenRequest)


async def _hmacs(server: Server, renewer: str) -> list[bytes]:
    """Return the HMACs of the tokens that this user may renew."""
    answer = await server.ask(DescribeDelegationTokenRequest(owners=None))
    visible_error(answer)
    return [
        token.hmac
        for token in answer.tokens
        if any(item.principal_name == renewer for item in token.renewers)
    ]


async def _expire(server: Server, hmac: bytes) -> bool:
    """End a token; return True if it was known."""
    request = ExpireDelegationTokenRequest(hmac=hmac, expiry_time_period_ms=-1)
    return visible_error(await server.ask_controller(request)) == 0


async def _image(server: Server) -> MetadataImage:
    return (await read_log(server)).image


CLUSTER_REQUESTS: Mapping[str, Prepare] = {
    "CreateAcls": _create_acls,
    "DeleteAcls": _delete_acls,
    "CreateDelegationToken": _create_delegation_token,
    "AlterClientQuotas": _alter_client_quotas,
    "AlterUserScramCredentials": _alter_user_scram_credentials,
    "Envelope": _envelope,
    "AddRaftVoter": _add_raft_voter,
}
"""By the name of their API."""
