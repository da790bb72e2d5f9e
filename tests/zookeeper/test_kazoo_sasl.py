"""kazoo's login by SASL DIGEST-MD5 with a real ZooKeeper, and the ACLs of what is made then."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from kwire.zookeeper import Create, NotAuthorized, ZooKeeperAuthenticationFailed
from kwire.zookeeper.kazoo_client import KazooZooKeeper
from kwire.zookeeper.sasl_login import SaslLogin
from kwire.zookeeper.settings import ZooKeeperSettings
from kwire.zookeeper.znodes.top_level import with_parents
from migrating.real_clusters.zookeeper_acls import (
    PASSWORD,
    USER,
    acls_by_path,
    kept_acls,
    read_acls,
)
from real_kafka.zookeeper import ZooKeeperServer
from tests.support.eventually import TOO_LONG

pytestmark = [pytest.mark.java, pytest.mark.cluster, pytest.mark.xdist_group("zookeeper")]


@pytest.fixture(scope="module", params=[True, False], ids=["demanded", "optional"])
def guarded(request: pytest.FixtureRequest) -> Iterator[ZooKeeperServer]:
    """A ZooKeeper with SASL, which lets nobody else in, or everybody."""
    with ZooKeeperServer(user=USER, password=PASSWORD, demands_login=request.param) as server:
        yield server


def settings_of(server: ZooKeeperServer, password: str = PASSWORD) -> ZooKeeperSettings:
    """Return the settings of a login."""
    login = SaslLogin(username=USER, password=password, source="section Client of jaas.conf")
    parsed = ZooKeeperSettings.parse(server.connect)
    return replace(parsed, sasl=login, set_acl=True, connection_seconds=TOO_LONG)


async def refusal(settings: ZooKeeperSettings) -> str:
    """Return the sentence of a refused login, which is quick."""
    with pytest.raises(ZooKeeperAuthenticationFailed) as refused:
        await KazooZooKeeper.connect(settings)
    return str(refused.value)


async def test_a_jaas_file_of_kafkas_nodes_opens_a_session(guarded: ZooKeeperServer) -> None:
    settings = ZooKeeperSettings.from_properties(
        {
            "zookeeper.connect": guarded.connect,
            "java.security.auth.login.config": str(guarded.jaas_file),
            "zookeeper.set.acl": "true",
        }
    )
    client = await KazooZooKeeper.connect(settings)
    await client.multi([Create("/config"), Create("/config/users", b"secret")])
    assert (await client.get("/config/users")).data == b"secret"
    await client.close()
    other = replace(settings, sasl=None, digest=("kafka", PASSWORD))
    client = await KazooZooKeeper.connect(other)
    with pytest.raises(NotAuthorized):
        await client.get("/config/users")
    await client.close()


async def test_a_wrong_password_is_one_sentence(guarded: ZooKeeperServer) -> None:
    sentence = await refusal(settings_of(guarded, "not-that-one"))
    expected = f"ZooKeeper at {guarded.connect} does not accept the credentials"
    assert sentence == expected


async def test_a_server_without_sasl_is_one_sentence(server: ZooKeeperServer) -> None:
    assert "does not accept the credentials" in await refusal(settings_of(server))


@pytest.mark.parametrize("password", ["é'=; {t}", "a\\\\b"], ids=["latin-1", "backslash"])
async def test_odd_passwords_are_those_of_java(tmp_path: Path, password: str) -> None:
    """Both sides read one file."""
    with ZooKeeperServer(user=USER, password=password) as server:
        pairs = {
            "zookeeper.connect": server.connect,
            "java.security.auth.login.config": str(server.jaas_file),
        }
        client = await KazooZooKeeper.connect(ZooKeeperSettings.from_properties(pairs))
        await client.close()


async def test_znodes_get_the_acls_that_kafka_gives_them(guarded: ZooKeeperServer) -> None:
    """The paths and ACLs of a migration by Java's controllers."""
    kept = kept_acls()
    client = await KazooZooKeeper.connect(settings_of(guarded))
    for path in dict.fromkeys(part for kept_path in kept for part in with_parents(kept_path)):
        if await client.exists(path) is None:
            await client.multi([Create(path)])
    await client.close()
    assert read_acls(guarded) == acls_by_path(kept)
