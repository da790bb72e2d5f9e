"""Reads of the log of Kafka's controllers, compared with what a broker and Kafka's tool say."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from kwire.admin import AdminClient
from kwire.admin.configs import AlterConfigOperation, ConfigChange
from kwire.admin.quotas import QuotaEntity, QuotaFilter, QuotaFilterComponent, QuotaMatch
from kwire.admin.scram import ScramDeletion, ScramMechanism, ScramUpsertion, mechanism_text
from kwire.errors import BrokerError, KwireError
from kwire.messages.config_resource import ConfigResource, ResourceType
from kwire.net.security import read_security
from kwire.text.properties import properties_text
from real_kafka import Cluster
from tests.support.eventually import eventually
from tests.support.proxy.secure_cluster import (
    MODULES,
    PLAIN_PASSWORD,
    SCRAM_PASSWORD,
    SecureCluster,
)
from tests.support.real_kafka.own_names import OwnNames

SHA_256, SHA_512 = ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512
EXACT, DEFAULT, ANY = QuotaMatch
TIMEOUT = 60.0


def component(type: str, match: QuotaMatch, name: str | None = None) -> QuotaFilterComponent:
    return QuotaFilterComponent(entity_type=type, match=match, name=name)


def filters(user: str, client: str) -> Iterator[QuotaFilter]:
    """Yield filters of every kind; the last three are refused."""
    for strict in (False, True):
        for parts in (
            (),
            (component("user", EXACT, user),),
            (component("user", DEFAULT),),
            (component("user", ANY),),
            (component("user", EXACT, user), component("client-id", EXACT, client)),
            (component("user", EXACT, user), component("client-id", DEFAULT)),
            (component("client-id", ANY),),
            (component("client-id", EXACT, "nobody"),),
            (component("ip", ANY),),
        ):
            yield QuotaFilter(components=parts, strict=strict)
    yield QuotaFilter(components=(component("ip", ANY), component("user", ANY)))
    yield QuotaFilter(components=(component("user", ANY), component("user", DEFAULT)))
    yield QuotaFilter(components=(component("group", ANY),))


def code(error: KwireError) -> int:
    assert isinstance(error, BrokerError)
    return error.code


async def answered(admin: AdminClient, user: str, client: str) -> list[Any]:
    """Return what a node answers to every question, an error as its code."""
    found: list[Any] = []
    for asked in filters(user, client):
        try:
            found.append(await admin.describe_client_quotas(asked))
        except BrokerError as error:
            found.append(error.code)
    by_user = await admin.describe_user_scram_credentials([user, "nobody", f"{user}-no"])
    users = await admin.describe_user_scram_credentials()
    for outcomes in (by_user, users):
        found.append({**outcomes, **{key: code(error) for key, error in outcomes.failed.items()}})
    for types in ((), (ResourceType.GROUP,), (ResourceType.TOPIC, ResourceType.BROKER)):
        listed = await admin.list_config_resources(types)
        found.append(sorted((it.type, it.name) for it in listed))
    return found


def told_by_kafkas_tool(cluster: Cluster, user: str) -> dict[str, dict[str, str]]:
    """Return what kafka-configs.sh prints of a user: its quotas and its credentials."""
    run = cluster.nodes[1].tool(
        "kafka.admin.ConfigCommand",
        *("--bootstrap-server", cluster.bootstrap_servers, "--describe"),
        *("--entity-type", "users", "--entity-name", user),
    )
    pattern = r"(Quota|SCRAM credential) configs for user-principal '.*?' are (.*)"
    return {
        kind: dict(pair.split("=", 1) for pair in text.split(", "))
        for kind, text in re.findall(pattern, run.stdout)
    }


def changes(user: str, client: str) -> Mapping[QuotaEntity, Mapping[str, float | None]]:
    return {
        QuotaEntity.of(user=user): {"producer_byte_rate": 1000.0, "request_percentage": 12.5},
        QuotaEntity.of(user=user, client_id=client): {"consumer_byte_rate": 2000.0},
        QuotaEntity.of(user=user, client_id=None): {"consumer_byte_rate": 2500.0},
        QuotaEntity.of(client_id=client): {"producer_byte_rate": 3000.0},
        QuotaEntity.of(ip="10.0.0.1"): {"connection_creation_rate": 4.0},
    }


def credential(user: str, mechanism: ScramMechanism, iterations: int) -> ScramUpsertion:
    return ScramUpsertion(
        user=user, mechanism=mechanism, iterations=iterations, password=SCRAM_PASSWORD
    )


@asynccontextmanager
async def filled(broker: AdminClient, user: str, client: str, group: str) -> AsyncIterator[None]:
    """Give the cluster quotas, credentials and a group's configuration, and take them back."""
    quotas = changes(user, client)
    config, key = ConfigResource(ResourceType.GROUP, group), "consumer.session.timeout.ms"
    try:
        (await broker.alter_client_quotas(quotas)).all()
        credentials = [credential(user, SHA_256, 4096), credential(user, SHA_512, 5000)]
        (await broker.alter_user_scram_credentials(credentials)).all()
        setting = ConfigChange(name=key, value="50000")
        (await broker.incremental_alter_configs({config: [setting]})).all()
        yield
    finally:
        removed = {entity: dict.fromkeys(values) for entity, values in quotas.items()}
        await broker.alter_client_quotas(removed)
        deletions = [ScramDeletion(user=user, mechanism=m) for m in (SHA_256, SHA_512)]
        await broker.alter_user_scram_credentials(deletions)
        deletion = ConfigChange(name=key, operation=AlterConfigOperation.DELETE)
        await broker.incremental_alter_configs({config: [deletion]})


async def test_the_log_says_what_a_broker_answers(quorum: Cluster, own_name: OwnNames) -> None:
    user, client, group = own_name("user"), own_name("client"), own_name("group")
    controllers_at = quorum.bootstrap_controllers
    async with (
        AdminClient(quorum.bootstrap_servers, timeout=TIMEOUT) as broker,
        AdminClient(bootstrap_controllers=controllers_at, timeout=TIMEOUT) as controllers,
        filled(broker, user, client, group),
    ):
        ours = await answered(controllers, user, client)
        await eventually(
            lambda: answered(broker, user, client), lambda theirs: theirs == ours, pause=0.3
        )
        every_quota, users, of_all = ours[0], ours[-5], ours[-4]
        assert len(every_quota) == len(changes(user, client))
        assert ours[-8:-5] == [42, 42, 35]
        assert not await controllers.describe_user_scram_credentials([])
        assert users == {user: of_all[user], "nobody": 91, f"{user}-no": 91}
        assert (ResourceType.GROUP, group) in ours[-2]

        told = await asyncio.to_thread(told_by_kafkas_tool, quorum, user)
        own = every_quota[QuotaEntity.of(user=user)]
        assert told["Quota"] == {key: str(value) for key, value in own.items()}
        assert told["SCRAM credential"] == {
            mechanism_text(info.mechanism): f"iterations={info.iterations}" for info in users[user]
        }


async def test_tokens_in_the_log_have_no_hmac(secure: SecureCluster, tmp_path: Path) -> None:
    login = f'username="alice" password="{PLAIN_PASSWORD}"'
    file = tmp_path / "alice.properties"
    file.write_text(
        properties_text(
            {
                "security.protocol": "SASL_PLAINTEXT",
                "sasl.mechanism": "PLAIN",
                "sasl.jaas.config": f"{MODULES}.plain.PlainLoginModule required {login};",
            }
        )
    )
    security = read_security(file)
    async with (
        AdminClient(secure.node("DIRECT_SASL"), security=security, timeout=TIMEOUT) as broker,
        AdminClient(
            bootstrap_controllers=secure.node("CONTROLLER_SASL"), security=security, timeout=TIMEOUT
        ) as controllers,
    ):
        made = await broker.create_delegation_token(renewers=["User:bob"])
        assert made.hmac is not None
        try:
            await eventually(broker.describe_delegation_token, lambda tokens: made in tokens)
            for owners in (None, ["User:alice"], ["User:bob"], ["User:nobody"], []):
                ours = await controllers.describe_delegation_token(owners)
                theirs = await broker.describe_delegation_token(owners)
                assert {token.hmac for token in ours} <= {None}
                assert {*ours} == {replace(token, hmac=None) for token in theirs}
            assert made.token_id in {
                token.token_id
                for token in await controllers.describe_delegation_token(["User:bob"])
            }
        finally:
            await broker.expire_delegation_token(made.hmac)
