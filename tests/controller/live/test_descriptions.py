"""A controller of kwire's describes quotas, SCRAM users and tokens as a broker of Kafka's does.

Both read the same log. Kafka's own controllers serve none of the three requests.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from kwire.codec.declaration import Group, Request
from kwire.controller.authorization.standard_authorizer import CLASS_NAME
from kwire.messages.a30_create_acls import CreateAclsRequest
from kwire.messages.a38_create_delegation_token import (
    CreatableRenewers,
    CreateDelegationTokenRequest,
)
from kwire.messages.a41_describe_delegation_token import (
    DescribeDelegationTokenOwner,
    DescribeDelegationTokenRequest,
)
from kwire.messages.a48_describe_client_quotas import ComponentData, DescribeClientQuotasRequest
from kwire.messages.a49_alter_client_quotas import AlterClientQuotasRequest
from kwire.messages.a50_describe_user_scram_credentials import (
    DescribeUserScramCredentialsRequest,
    UserName,
)
from kwire.messages.access_control import AclOperation, AclResourceType
from kwire.net.connection import Connection
from kwire.net.sasl import Credentials
from kwire.testing.quorum import Quorum
from real_kafka import Launcher, RunningNode, free_port
from tests.support.controller.handlers.acl_requests import creation as acl
from tests.support.controller.handlers.acl_requests import on_cluster
from tests.support.controller.handlers.client_quotas import quota_entry
from tests.support.controller.live.broker_traffic import until_broker
from tests.support.controller.live.java_nodes import JavaNodes
from tests.support.controller.sasl_listeners import (
    ADMIN,
    ADMIN_PASSWORD,
    ALICE,
    FIRST_CREDENTIALS,
    jaas,
    plain,
    sasl_listener,
)
from tests.support.eventually import eventually

PROPERTIES = {
    **sasl_listener("PLAIN"),
    "authorizer.class.name": CLASS_NAME,
    "super.users": f"User:{ADMIN};User:ANONYMOUS",
    "delegation.token.secret.key": "a-key",
}
ROOT = plain(ADMIN, ADMIN_PASSWORD)
EXACT, DEFAULT, ANY = range(3)

QUOTAS = [
    quota_entry({"user": ALICE}, ("producer_byte_rate", 1000.0)),
    quota_entry({"user": None}, ("consumer_byte_rate", 2000.0), ("request_percentage", 12.5)),
    quota_entry({"user": ALICE, "client-id": "app"}, ("consumer_byte_rate", 3000.0)),
    quota_entry({"user": ALICE, "client-id": None}, ("consumer_byte_rate", 3500.0)),
    quota_entry({"client-id": "app"}, ("request_percentage", 40.0)),
    quota_entry({"ip": "10.0.0.1"}, ("connection_creation_rate", 5.0)),
    quota_entry({"ip": None}, ("connection_creation_rate", 50.0)),
]

Component = tuple[str, int, str | None]
FILTERS: Mapping[str, tuple[Component, ...]] = {
    "all": (),
    "a user": (("user", EXACT, ALICE),),
    "an unknown user": (("user", EXACT, "nobody"),),
    "the default of users": (("user", DEFAULT, None),),
    "any user": (("user", ANY, None),),
    "a user with a client": (("user", EXACT, ALICE), ("client-id", EXACT, "app")),
    "a user with any client": (("user", EXACT, ALICE), ("client-id", ANY, None)),
    "a user with the default": (("user", EXACT, ALICE), ("client-id", DEFAULT, None)),
    "any client": (("client-id", ANY, None),),
    "an address": (("ip", EXACT, "10.0.0.1"),),
    "any address": (("ip", ANY, None),),
    "an address and a user": (("ip", ANY, None), ("user", ANY, None)),
    "a type twice": (("user", ANY, None), ("user", EXACT, ALICE)),
    "a type that is none": (("group", ANY, None),),
    "a type without a name": (("", ANY, None),),
    "an exact match of nothing": (("user", EXACT, None),),
    "a default with a name": (("user", DEFAULT, ALICE),),
    "any with a name": (("user", ANY, ALICE),),
    "a match that is none": (("user", 3, None),),
}

USERS: Mapping[str, list[str] | None] = {
    "all": None,
    "no list": [],
    "one": [ALICE],
    "an unknown one": ["nobody"],
    "several": ["nobody", ALICE, ADMIN],
    "one twice": [ALICE, "nobody", ALICE, "nobody", ADMIN],
}

OWNERS: Mapping[str, list[str] | None] = {
    "all": None,
    "no list": [],
    "alice": [ALICE],
    "the renewer": ["bob"],
    "the admin": [ADMIN],
    "a stranger": ["nobody"],
    "several": ["nobody", ALICE, "bob"],
}


def questions() -> dict[str, tuple[Request, int]]:
    """Every question with the version to ask it in."""
    quotas = {
        f"quotas of {name}, {'strict' * strict}, v{version}": (_quotas(parts, strict), version)
        for name, parts in FILTERS.items()
        for strict in (False, True)
        for version in (0, 1)
    }
    scram = {
        f"users: {name}": (
            DescribeUserScramCredentialsRequest(
                users=None if names is None else [UserName(name=user) for user in names]
            ),
            0,
        )
        for name, names in USERS.items()
    }
    tokens = {
        f"tokens of {name}, v{version}": (_tokens(names), version)
        for name, names in OWNERS.items()
        for version in (1, 3)
    }
    return {**quotas, **scram, **tokens}


def _quotas(parts: tuple[Component, ...], strict: bool) -> DescribeClientQuotasRequest:
    components = [
        ComponentData(entity_type=type, match_type=match, match=name) for type, match, name in parts
    ]
    return DescribeClientQuotasRequest(components=components, strict=strict)


def _tokens(names: list[str] | None) -> DescribeDelegationTokenRequest:
    if names is None:
        return DescribeDelegationTokenRequest(owners=None)
    owners = [DescribeDelegationTokenOwner(principal_type="User", principal_name=n) for n in names]
    return DescribeDelegationTokenRequest(owners=owners)


def plain_values(part: Any) -> Any:
    """Return a response without its texts, its lists sorted."""
    if isinstance(part, Group):
        return {
            field: plain_values(getattr(part, field))
            for field in type(part).fields
            if field not in ("throttle_time_ms", "error_message")
        }
    if isinstance(part, (list, tuple)):
        return sorted((plain_values(element) for element in part), key=repr)
    return part


REFUSED_OTHERWISE, UNANSWERED = "users", "users: all"
"""A broker refuses without the names of users, and throws instead of refusing to describe all
(Java: DescribeUserScramCredentialsRequest.getErrorResponse)."""


async def answers(port: int, login: Credentials, without: str = "nothing") -> dict[str, Any]:
    """Return what a node answers to every question, but for those about a subject."""
    found = {}
    async with await Connection.open("127.0.0.1", port, sasl=login) as connection:
        for name, (request, version) in questions().items():
            if not name.startswith(without):
                found[name] = plain_values(await connection.send(request, version))
    return found


async def agree(ports: tuple[int, int], login: Credentials, without: str = "nothing") -> None:
    """Wait until two nodes answer alike: a broker follows the log."""

    async def differing() -> dict[str, tuple[Any, Any]]:
        ours, theirs = [await answers(port, login, without) for port in ports]
        return {name: (ours[name], theirs[name]) for name in ours if ours[name] != theirs[name]}

    await eventually(differing, lambda found: not found, pause=0.2)


async def fill(port: int) -> None:
    """Give the cluster quotas and tokens, and alice a token of the admin's to see."""
    async with await Connection.open("127.0.0.1", port, sasl=ROOT) as connection:
        answer: Any = await connection.send(AlterClientQuotasRequest(entries=QUOTAS))
        assert {entry.error_code for entry in answer.entries} == {0}
        ids = [(await _token(connection, owner)) for owner in (ADMIN, "bob", "carol")]
        access = [
            acl(AclOperation.DESCRIBE, ids[0], resource_type=AclResourceType.DELEGATION_TOKEN),
            acl(AclOperation.DESCRIBE_TOKENS, "User:bob", resource_type=AclResourceType.USER),
        ]
        answer = await connection.send(CreateAclsRequest(creations=access))
        assert {result.error_code for result in answer.results} == {0}
    async with await Connection.open("127.0.0.1", port, sasl=plain()) as connection:
        await _token(connection, None, "bob")


async def _token(connection: Connection, owner: str | None, *renewers: str) -> str:
    request = CreateDelegationTokenRequest(
        owner_principal_type=owner and "User",
        owner_principal_name=owner,
        renewers=[CreatableRenewers(principal_type="User", principal_name=n) for n in renewers],
        max_lifetime_ms=-1,
    )
    answer: Any = await connection.send(request)
    assert answer.error_code == 0
    return str(answer.token_id)


async def grant(port: int) -> None:
    """Let alice describe the cluster and its configuration."""
    rights = [on_cluster(AclOperation.DESCRIBE), on_cluster(AclOperation.DESCRIBE_CONFIGS)]
    async with await Connection.open("127.0.0.1", port, sasl=ROOT) as connection:
        answer: Any = await connection.send(CreateAclsRequest(creations=rights))
    assert {result.error_code for result in answer.results} == {0}


def codes(found: Mapping[str, Any], subject: str) -> set[int]:
    """Return the error codes of the answers about a subject."""
    return {answer["error_code"] for name, answer in found.items() if name.startswith(subject)}


def broker_of(java: JavaNodes, port: int) -> RunningNode:
    """Return a broker with a listener of PLAIN at the port."""
    broker = java.make(1, "broker", PROPERTIES)
    listeners = f"PLAINTEXT://{broker.broker_address},SASL://127.0.0.1:{port}"
    protocols = "CONTROLLER:SASL_PLAINTEXT,PLAINTEXT:PLAINTEXT,SASL:SASL_PLAINTEXT"
    broker.configure(
        {
            "listeners": listeners,
            "advertised.listeners": listeners,
            "listener.security.protocol.map": protocols,
            "listener.name.sasl.sasl.enabled.mechanisms": "PLAIN",
            "listener.name.sasl.plain.sasl.jaas.config": jaas("PLAIN"),
        }
    )
    return broker


async def test_the_answers_are_those_of_a_broker_of_the_same_cluster(kafka: Launcher) -> None:
    async with Quorum(1, properties=PROPERTIES, scram=FIRST_CREDENTIALS) as quorum:
        await quorum.wait_for_leader()
        java = JavaNodes(kafka, quorum)
        controller, port = ports = quorum.members[3000].port, free_port()
        try:
            await asyncio.to_thread(broker_of(java, port).start)
            await until_broker(quorum, 1, active=True)

            await fill(controller)
            await agree(ports, ROOT)
            root = await answers(controller, ROOT)
            assert codes(root, "quotas") == {0, 35, 42}
            assert len(root["quotas of all, , v1"]["entries"]) == len(QUOTAS)
            assert len(root["tokens of all, v3"]["tokens"]) == 4

            await agree(ports, plain(), REFUSED_OTHERWISE)
            refused = await answers(controller, plain())
            assert codes(refused, "quotas") == codes(refused, "users") == {31}
            assert codes(await answers(port, plain(), UNANSWERED), "users") == {31}
            assert len(refused["tokens of all, v3"]["tokens"]) == 3  # none of carol's

            await grant(controller)
            await agree(ports, plain())
            granted = await answers(controller, plain())
            about_cluster = [name for name in root if not name.startswith("tokens")]
            assert [granted[name] for name in about_cluster] == [
                root[name] for name in about_cluster
            ]
        finally:
            await asyncio.to_thread(java.close)
