"""AdminClient on real listeners with TLS and every mechanism, of a broker and of a controller.

One file of properties is for Kafka's tools and for kwire.
"""

from __future__ import annotations

import asyncio
import sys
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

import kwire.net.connection
from kwire.admin import AdminClient
from kwire.errors import BrokerError, ConnectionFailed, FrameError, KwireError
from kwire.messages.a38_create_delegation_token import (
    CreateDelegationTokenRequest,
    CreateDelegationTokenResponse,
)
from kwire.messages.a40_expire_delegation_token import (
    ExpireDelegationTokenRequest,
    ExpireDelegationTokenResponse,
)
from kwire.messages.a60_describe_cluster import DescribeClusterRequest
from kwire.net.bearer_token import TokenUnavailable
from kwire.net.connection import Connection
from kwire.net.security import read_security
from kwire.text.properties import properties_text
from tests.support.eventually import TOO_LONG, eventually
from tests.support.proxy.secure_cluster import (
    MODULES,
    PASSWORD,
    PATIENCE,
    PLAIN_PASSWORD,
    USER,
    Client,
    SecureCluster,
)
from tests.support.tokens import CLIENT, CLIENT_SECRET, TokenIssuer, token_endpoint

TOOL = ("org.apache.kafka.tools.ClusterTool", "cluster-id")
URL = "sasl.oauthbearer.token.endpoint.url"
BEARER = f"{MODULES}.oauthbearer.OAuthBearerLoginModule required"

Properties = dict[str, str]


@pytest.fixture(scope="module")
def endpoint(secure: SecureCluster) -> Iterator[str]:
    """The URL of an authorization server whose tokens the cluster accepts."""
    with token_endpoint(secure.issuer) as url:
        yield url


def login(module: str, user: str, password: str, more: str = "") -> str:
    return f'{MODULES}.{module} required username="{user}" password="{password}"{more};'


def plain(password: str = PLAIN_PASSWORD) -> Properties:
    jaas = login("plain.PlainLoginModule", "alice", password)
    return {"sasl.mechanism": "PLAIN", "sasl.jaas.config": jaas}


def scram(bits: int, user: str = USER, password: str = PASSWORD, more: str = "") -> Properties:
    jaas = login("scram.ScramLoginModule", user, password, more)
    return {"sasl.mechanism": f"SCRAM-SHA-{bits}", "sasl.jaas.config": jaas}


def bearer(url: str, secret: str = CLIENT_SECRET) -> Properties:
    """Client credentials by KIP-768, as options of the login module."""
    return {
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.jaas.config": f'{BEARER} clientId="{CLIENT}" clientSecret="{secret}" scope="x";',
        "sasl.login.callback.handler.class": f"{MODULES}.oauthbearer"
        ".OAuthBearerLoginCallbackHandler",
        URL: url,
    }


def token_file(path: Path, token: str) -> Properties:
    path.write_text(token)
    return {"sasl.mechanism": "OAUTHBEARER", URL: f"file://{path}"}


def token_command(token: str) -> Properties:
    command = f"{sys.executable} -c \"print('{token}')\""
    return {"sasl.mechanism": "OAUTHBEARER", "kwire.oauthbearer.token.command": command}


def written(secure: SecureCluster, path: Path, listener: str, pairs: Properties) -> Path:
    """The file of a client of a listener: the mechanism of `pairs`, and TLS where it is wanted."""
    with_tls = listener.endswith("TLS")
    tls = {
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(secure.authority.path),
    }
    with_sasl = "SASL" in listener
    protocol = f"{'SASL_' if with_sasl else ''}{'SSL' if with_tls else 'PLAINTEXT'}"
    everything = {"security.protocol": protocol, **pairs, **(tls if with_tls else {})}
    path.write_text(properties_text(everything))
    return path


def client(secure: SecureCluster, listener: str, file: Path, timeout: float = 60.0) -> AdminClient:
    """A client that bootstraps by a name; the node's own address is another one."""
    at = f"localhost:{secure.behind[listener]}"
    is_controller = listener.startswith("CONTROLLER")
    return AdminClient(
        None if is_controller else at,
        at if is_controller else None,
        security=read_security(file),
        timeout=timeout,
        connect_timeout=timeout,
        request_timeout=timeout,
    )


async def use(secure: SecureCluster, listener: str, file: Path) -> None:
    """Ask any node, the active controller, and a node by its id, which is connected to anew."""
    async with client(secure, listener, file) as admin:
        assert (await admin.describe_cluster()).cluster_id == secure.cluster.cluster_id
        assert (await admin.describe_metadata_quorum()).leader_id == 1
        assert (await admin.describe_features(node_id=1)).finalized_features


SASL_LISTENERS = ("DIRECT_SASL", "SASL_TLS", "CONTROLLER_SASL", "CONTROLLER_SASL_TLS")


@pytest.mark.parametrize("listener", SASL_LISTENERS)
async def test_every_mechanism_opens_a_listener(
    secure: SecureCluster, tmp_path: Path, endpoint: str, listener: str
) -> None:
    token = secure.issuer.token("alice")
    ways = [
        plain(),
        scram(256),
        scram(512),
        bearer(endpoint),
        token_file(tmp_path / "token", token),
        token_command(token),
    ]
    for way in ways:
        file = written(secure, tmp_path / "client.properties", listener, way)
        await use(secure, listener, file)


@pytest.mark.parametrize("listener", ["DIRECT_TLS", "CONTROLLER_TLS"])
async def test_mutual_tls_opens_a_listener(
    secure: SecureCluster, tmp_path: Path, listener: str
) -> None:
    """The certificate from PEM; without one the node ends the handshake."""
    keystore = {"ssl.keystore.type": "PEM", "ssl.keystore.location": str(secure.keystore)}
    file = written(secure, tmp_path / "client.properties", listener, keystore)
    await use(secure, listener, file)
    file = written(secure, tmp_path / "client.properties", listener, {})
    async with client(secure, listener, file, timeout=5.0) as admin:
        with pytest.raises(ConnectionFailed):
            await admin.describe_cluster()


@pytest.mark.parametrize("listener", ["SASL_TLS", "CONTROLLER_SASL"])
def test_kafkas_tool_takes_the_same_files(
    secure: SecureCluster,
    tmp_path: Path,
    endpoint: str,
    listener: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Java allows each URL of a token endpoint by a system property."""
    allowed = f"-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls={endpoint}"
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", allowed)
    bootstrap = "controller" if listener.startswith("CONTROLLER") else "server"
    for way in (plain(), scram(256), bearer(endpoint)):
        file = written(secure, tmp_path / "client.properties", listener, way)
        at = (f"--bootstrap-{bootstrap}", secure.node(listener))
        done = secure.cluster.tool(*TOOL, *at, "--config", str(file))
        assert secure.cluster.cluster_id in done.stdout, done.stdout + done.stderr
        asyncio.run(use(secure, listener, file))


def wrong_user(folder: Path, secure: SecureCluster, url: str) -> Properties:
    return scram(512, "nobody")


def wrong_scram(folder: Path, secure: SecureCluster, url: str) -> Properties:
    return scram(256, password="n0t-it")


def wrong_plain(folder: Path, secure: SecureCluster, url: str) -> Properties:
    return plain("n0t-it")


def forged_token(folder: Path, secure: SecureCluster, url: str) -> Properties:
    return token_command(TokenIssuer().token("alice"))


def token_for_others(folder: Path, secure: SecureCluster, url: str) -> Properties:
    return token_command(secure.issuer.token("alice", aud="others"))


def expired_token(folder: Path, secure: SecureCluster, url: str) -> Properties:
    return token_file(folder / "token", secure.issuer.token("alice", -60))


def wrong_secret(folder: Path, secure: SecureCluster, url: str) -> Properties:
    return bearer(url, "n0t-it")


@pytest.mark.parametrize(
    ("way", "error", "why"),
    [
        (wrong_plain, BrokerError, "SASL_AUTHENTICATION_FAILED: .* refuses alice by PLAIN: "),
        (wrong_user, BrokerError, "refuses nobody by SCRAM-SHA-512: "),
        (wrong_scram, BrokerError, "refuses o=kwire,1 by SCRAM-SHA-256: "),
        (forged_token, BrokerError, "refuses the token by OAUTHBEARER: .*invalid_token"),
        (token_for_others, BrokerError, "refuses the token by OAUTHBEARER: .*invalid_token"),
        (expired_token, TokenUnavailable, "the token file .* gives a token that expired on "),
        (wrong_secret, TokenUnavailable, "the token endpoint .* answers 401: invalid_client"),
    ],
)
async def test_who_is_not_let_in_learns_it_at_once_and_no_secret_is_told(
    secure: SecureCluster,
    tmp_path: Path,
    endpoint: str,
    way: Callable[[Path, SecureCluster, str], Properties],
    error: type[KwireError],
    why: str,
) -> None:
    for listener in ("DIRECT_SASL", "CONTROLLER_SASL_TLS"):
        pairs = way(tmp_path, secure, endpoint)
        file = written(secure, tmp_path / "client.properties", listener, pairs)
        async with client(secure, listener, file, timeout=TOO_LONG) as admin:
            with pytest.raises(error, match=why) as caught:
                await admin.describe_metadata_quorum()
        assert "n0t-it" not in str(caught.value)


async def test_a_listener_is_asked_without_its_security(
    secure: SecureCluster, tmp_path: Path
) -> None:
    """Kafka answers ApiVersions to anybody and closes on the rest; by TLS it sends an alert."""
    file = written(secure, tmp_path / "client.properties", "PLAINTEXT", {})
    for listener, why in (
        ("CONTROLLER_SASL", "before it answered DescribeCluster"),
        ("CONTROLLER_TLS", "whether it wants TLS"),
    ):
        async with client(secure, listener, file, timeout=3.0) as admin:
            with pytest.raises((ConnectionFailed, FrameError), match=why):
                await admin.describe_cluster()


async def test_a_session_of_a_token_is_renewed_with_the_next_token(
    secure: SecureCluster, tmp_path: Path, endpoint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """KIP-368: a session ends with its token; Kafka refuses to renew one not a second old."""
    monkeypatch.setattr(kwire.net.connection, "SESSION_SHARE", 1.2 / 20)
    with token_endpoint(secure.issuer, lifetime=20) as url:
        file = written(secure, tmp_path / "client.properties", "CONTROLLER_SASL", bearer(url))
        sasl = read_security(file).sasl
        assert sasl is not None
        assert sasl.tokens is not None
        monkeypatch.setattr("kwire.net.bearer_token.RENEWAL_SHARE", 0.0)
        fetched = []
        current = sasl.tokens.current

        async def noted() -> object:
            fetched.append((await current()).value)
            return await current()

        monkeypatch.setattr(sasl.tokens, "current", noted)
        port = secure.behind["CONTROLLER_SASL"]
        async with (
            asyncio.timeout(PATIENCE),
            await Connection.open("127.0.0.1", port, sasl=sasl, connect_timeout=60) as connection,
        ):
            while len(fetched) < 2:
                await connection.send(DescribeClusterRequest(endpoint_type=2))
                await asyncio.sleep(0.05)
            await connection.send(DescribeClusterRequest(endpoint_type=2))


async def test_a_delegation_token_opens_a_listener(secure: SecureCluster, tmp_path: Path) -> None:
    """KIP-48: made by alice, used by SCRAM with tokenauth, as Kafka's tools do."""
    with closing(Client(("127.0.0.1", secure.behind["DIRECT_SASL"]))) as alice:
        alice.authenticate()
        made = alice.ask(CreateDelegationTokenRequest(max_lifetime_ms=-1), 3)
    assert isinstance(made, CreateDelegationTokenResponse)
    assert made.error_code == 0
    pairs = scram(256, made.token_id, b64encode(made.hmac).decode(), ' tokenauth="true"')
    file = written(secure, tmp_path / "client.properties", "DIRECT_SASL", pairs)

    async def opens() -> bool:
        try:
            await use(secure, "DIRECT_SASL", file)
        except BrokerError:
            return False  # it is not yet known
        return True

    await eventually(opens)
    with closing(Client(("127.0.0.1", secure.behind["DIRECT_SASL"]))) as alice:
        alice.authenticate()
        ended = alice.ask(ExpireDelegationTokenRequest(hmac=made.hmac, expiry_time_period_ms=-1), 2)
    assert isinstance(ended, ExpireDelegationTokenResponse)
    assert ended.error_code == 0
