"""The answers to those who may do nothing, something and everything are those of Kafka."""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import UUID

import pytest

from kwire.codec.declaration import Group, Request
from kwire.controller.authorization.standard_authorizer import CLASS_NAME
from kwire.errors import AnswerLost, KwireError
from kwire.messages.a29_describe_acls import DescribeAclsResponse
from kwire.messages.a30_create_acls import AclCreationResult
from kwire.messages.a31_delete_acls import DeleteAclsFilterResult
from kwire.net.connection import Connection
from kwire.testing.quorum import Quorum
from real_kafka import Cluster, Launcher, Layout
from tests.support.controller.live.admin_session import Session, leader_of
from tests.support.controller.live.answer_differences import MEASURES, TEXTS
from tests.support.controller.live.broker_traffic import until_broker
from tests.support.controller.live.java_nodes import JavaNodes
from tests.support.controller.live.session.acls import (
    ALICE,
    DISTANT,
    FORWARDED,
    GRANTS,
    MALLORY,
    OF_ACLS,
    described,
    every_request,
)
from tests.support.controller.live.session.envelopes import send_enveloped
from tests.support.eventually import eventually
from tests.support.real_kafka.own_cluster import OwnCluster

NOBODY = {"authorizer.class.name": CLASS_NAME, "super.users": "User:nobody"}
ANONYMOUS = {
    "authorizer.class.name": CLASS_NAME,
    "super.users": "User:ANONYMOUS",
    "broker.session.timeout.ms": "600000",
}

REFUSED = {"entries": None, "error_code": 31, "error_message": "a text"}
DESCRIPTIONS = {
    **{f"DescribeClientQuotas v{version}": (REFUSED, "AnswerLost") for version in (0, 1)},
    **{f"DescribeDelegationToken v{version}.error_code": (64, -1) for version in (1, 3)},
    "DescribeUserScramCredentials v0.error_code": (31, -1),
}
"""KIP-919 lists them for controllers, and none of Kafka's carries them out."""

LISTED: dict[str, dict[str, tuple[Any, Any]]] = {
    "4.3.1": {
        **DESCRIPTIONS,
        "CreateAcls with no host.results[0].error_code": (42, 0),
        "CreateAcls with a range.results[0].error_code": (35, 0),
        **{
            f"{name}.results[0].error_code": (35, 0)
            for name in OF_ACLS
            if name.startswith("CreateAcls with the range")
        },
        "UnregisterController v0": (
            {"error_code": 31, "error_message": "a text"},
            "AnswerLost",
        ),
    },
    "4.4.0": DESCRIPTIONS,
}
"""Every difference by its path: 4.3.1 does not look at hosts, and has no UnregisterController."""

Address = tuple[str, int]


def plain(part: Any, name: str = "") -> Any:
    """Return a response as values that do not depend on the run.

    Lists are sorted, but for the results that have no names of their own.
    """
    if isinstance(part, Group):
        return {
            field: plain(getattr(part, field), field)
            for field in type(part).fields
            if field != "throttle_time_ms"
        }
    if name == "configs":
        return "some" if part else "none"
    if isinstance(part, (list, tuple)):
        values = [plain(element) for element in part]
        is_ordered = part and isinstance(part[0], (AclCreationResult, DeleteAclsFilterResult))
        return values if is_ordered else sorted(values, key=repr)
    if isinstance(part, UUID):
        return "an id" if part.int else "no id"
    if name in TEXTS:
        return "a text" if part else "no text"
    if name in MEASURES:
        return part if part in (-1, 0) else "a number"
    return part


async def send(address: Address, request: Request, version: int | None = None) -> Any:
    """Return the plain answer on a connection of its own, or how the connection ended."""
    async with await Connection.open(*address) as connection:
        try:
            return plain(await connection.send(request, version, timeout=60))
        except KwireError as error:
            # Without a login a first request that ends the connection is a class of its own.
            return "AnswerLost" if isinstance(error, AnswerLost) else type(error).__name__


async def denied_everything(address: Address) -> dict[str, Any]:
    """The answers to every request of somebody who may do nothing."""
    topics, version = every_request()["CreateTopics v7"]

    async def leads() -> bool:
        refused = await send(address, topics, version)
        return {topic["error_code"] for topic in refused["topics"]} == {29, 42}

    await eventually(leads, pause=0.3)  # before: not loaded, or not active
    return {
        name: await send(address, request, version)
        for name, (request, version) in every_request().items()
    }


async def forwarded(address: Address, request: Request, principal: str, host: str) -> Any:
    """The answer to a request in an Envelope, or the error of the Envelope itself."""
    async with await Connection.open(*address) as connection:
        answer = await send_enveloped(connection, request, principal, host)
    return answer if isinstance(answer, int) else plain(answer)


async def acl_answers(addresses: dict[int, Address], cluster_id: str) -> dict[str, Any]:
    """The answers to requests about ACLs, then to alice's, as the brokers forward them."""
    leader_id = await leader_of(addresses)
    address = addresses[leader_id]
    async with await Connection.open(*address) as leader:
        session = Session(
            leader_id=leader_id, cluster_id=cluster_id, leader=leader, follower=leader
        )
        await session.learn_features()
        await session.register(1)
    found = {}
    for name, request in OF_ACLS.items():
        found[name] = await send(address, request)
        if name.startswith(("CreateAcls alice", "DeleteAcls some")):
            # Kafka's authorizer follows the log: an ACL is in force soon after the answer
            await published(address)
    for principal, host in ((ALICE, "127.0.0.1"), (ALICE, DISTANT), (MALLORY, "127.0.0.1")):
        for name, request in FORWARDED.items():
            answer = await forwarded(address, request, principal, host)
            found[f"{principal} at {host}: {name}"] = answer
    return found


async def published(address: Address) -> None:
    """Wait until two answers in a row list the same ACLs, those of alice among them."""
    last: list[Any] = []

    async def same() -> bool:
        async with await Connection.open(*address) as connection:
            answer = await connection.send(described())
        assert isinstance(answer, DescribeAclsResponse)
        last.append(plain(answer))
        count = sum(len(resource.acls) for resource in answer.resources)
        return count >= len(GRANTS) and len(last) > 2 and last[-1] == last[-2] == last[-3]

    await eventually(same, pause=0.3)


def differing(ours: Any, theirs: Any, path: str = "") -> dict[str, tuple[Any, Any]]:
    """Every difference by its path. A text where Kafka has none is no difference."""
    if isinstance(ours, dict) and isinstance(theirs, dict) and ours.keys() == theirs.keys():
        pairs = {f"{path}{'.' * bool(path)}{name}": (ours[name], theirs[name]) for name in ours}
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        pairs = {f"{path}[{i}]": pair for i, pair in enumerate(zip(ours, theirs, strict=True))}
    else:
        is_equal = ours == theirs or (ours, theirs) == ("a text", "no text")
        return {} if is_equal else {path: (ours, theirs)}
    return {
        place: values
        for inner, pair in pairs.items()
        for place, values in differing(*pair, inner).items()
    }


@pytest.mark.parametrize(
    "release",
    [pytest.param(r, marks=pytest.mark.releases if r != "4.3.1" else ()) for r in LISTED],
)
async def test_everybody_gets_the_answers_that_kafka_gives_but_for_the_listed_ones(
    own_cluster: OwnCluster, release: str
) -> None:
    """First with ANONYMOUS for a super user, then as one who may do nothing."""
    level = {"4.3.1": "4.3-IV0", "4.4.0": "4.4-IV2"}[release]
    async with Quorum(1, properties=ANONYMOUS, release=level) as quorum:
        ours = await acl_answers(quorum.addresses, quorum.cluster_id)
        await quorum.nodes[3000].kill()
        quorum.members[3000].properties.update(NOBODY)
        await quorum.start_node(3000)
        ours |= await denied_everything(quorum.addresses[3000])
    cluster = own_cluster(Layout(controllers=(3000,), version=release, properties=ANONYMOUS))
    await asyncio.to_thread(cluster.start)
    theirs = await acl_answers(addresses(cluster), str(cluster.cluster_id))
    node = cluster.controllers[3000]
    await asyncio.to_thread(node.stop)
    node.configure(NOBODY)
    await asyncio.to_thread(node.start)
    theirs |= await denied_everything(addresses(cluster)[3000])

    assert differing(ours, theirs) == LISTED[release]


def addresses(cluster: Cluster) -> dict[int, Address]:
    return {
        id: (node.controller_address.host, node.controller_address.port)
        for id, node in cluster.controllers.items()
    }


@pytest.mark.parametrize("release", ["4.3.1", pytest.param("4.4.0", marks=pytest.mark.releases)])
async def test_kafkas_tool_makes_and_removes_acls_through_a_broker_and_at_a_controller(
    kafka: Launcher, release: str
) -> None:
    topic = ("--topic", "orders", "--allow-principal", ALICE, "--operation", "Read")
    async with Quorum(3, properties=ANONYMOUS) as quorum:
        java = JavaNodes(kafka, quorum, release)
        try:
            broker = java.make(1, "broker", ANONYMOUS)
            await asyncio.to_thread(broker.start)
            await until_broker(quorum, 1, active=True)

            async def acls(*words: str, controller: bool = False) -> str:
                name, place = "--bootstrap-server", str(broker.broker_address)
                if controller:
                    name, place = "--bootstrap-controller", quorum.bootstrap_controllers
                tool = "org.apache.kafka.tools.AclCommand"
                told = await asyncio.to_thread(broker.tool, tool, name, place, *words)
                assert told.returncode == 0, told.stderr
                return told.stdout

            await acls("--add", *topic)
            await acls("--add", *topic, "--resource-pattern-type", "prefixed", controller=True)
            leader = await quorum.active_controller()
            found = leader.metadata.image.acls.by_id.values()
            assert {(acl.principal, acl.pattern_type, acl.operation) for acl in found} == {
                (ALICE, 3, 3),
                (ALICE, 4, 3),
            }
            for listed in (await acls("--list"), await acls("--list", controller=True)):
                assert listed.count("name=orders") == 2
            await acls("--remove", "--force", *topic)
            await acls(
                *("--remove", "--force", *topic, "--resource-pattern-type", "prefixed"),
                controller=True,
            )
            assert "orders" not in await acls("--list", controller=True)
            assert not leader.metadata.image.acls.by_id
        finally:
            await asyncio.to_thread(java.close)
