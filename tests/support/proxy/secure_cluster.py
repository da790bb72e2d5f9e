"""A real node whose listeners want SASL, TLS or both, and clients' files for it."""

from __future__ import annotations

import asyncio
import hashlib
import socket
import struct
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from kwire.codec.declaration import Request, Response
from kwire.errors import BrokerError
from kwire.messages.a17_sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse
from kwire.messages.a36_sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from kwire.messages.a51_alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from kwire.net.connection import Connection
from kwire.net.frames import decode_response, encode_request
from kwire.net.sasl import Credentials, Mechanism
from kwire.text.properties import properties_text
from real_kafka import Cluster, Layout, free_port
from tests.support.certificates import Authority, Pem
from tests.support.tokens import AUDIENCE, ISSUER, TokenIssuer

PLAIN_PASSWORD = "correct-horse-battery-staple"
SCRAM_PASSWORD = "scram-tr0ub4dor-and-3"
USER, PASSWORD = "o=kwire,1", "tr0ub4dor ünd \N{CYRILLIC CAPITAL LETTER ZHE}; 3"
"""Of SCRAM-SHA-512, with what has to be escaped somewhere."""
ALICE_LOGIN = Credentials(mechanism=Mechanism.PLAIN, username="alice", password=PLAIN_PASSWORD)
USER_LOGIN = Credentials(mechanism=Mechanism.SCRAM_SHA_512, username=USER, password=PASSWORD)

SALT = b"a-salt-that-nobody-should-see"
SALTED = hashlib.pbkdf2_hmac("sha256", SCRAM_PASSWORD.encode(), SALT, 4096)
PLAIN_TOKEN = f"\0alice\0{PLAIN_PASSWORD}".encode()

MODULES = "org.apache.kafka.common.security"
PROXIED = ("PLAINTEXT", "SASL", "TLS")
DIRECT = {
    "DIRECT_SASL": "SASL_PLAINTEXT",
    "DIRECT_TLS": "SSL",
    "SASL_TLS": "SASL_SSL",
    "CONTROLLER_SASL": "SASL_PLAINTEXT",
    "CONTROLLER_TLS": "SSL",
    "CONTROLLER_SASL_TLS": "SASL_SSL",
}
"""Listeners without a proxy, and their security.protocol."""

MUTUAL = ("TLS", "DIRECT_TLS", "CONTROLLER_TLS")
"""Listeners that want a client's certificate."""

SHORT_SESSIONS = {"DIRECT_SASL": "PLAIN", "CONTROLLER_SASL": "PLAIN"}
"""Listeners and the mechanism whose sessions last SHORT_SESSION_MS, and not a minute."""
SHORT_SESSION_MS = 6_000

JWKS = "jwks.json"
PATIENCE = 120.0


@dataclass(frozen=True, slots=True)
class SecureCluster:
    """A node that is broker and controller.

    behind: where it listens, by the listener's name. ports: at which the proxy stands in front of
    PROXIED, as the node advertises it. All other listeners are advertised as they are: those of
    DIRECT, of the broker and of the controller, want TLS with a client's certificate, or any
    mechanism with and without TLS. Sessions last a minute, or less (SHORT_SESSIONS). issuer: whose
    tokens are accepted.
    """

    cluster: Cluster
    authority: Authority
    pem: Pem
    keystore: Path
    ports: dict[str, int]
    behind: dict[str, int]
    issuer: TokenIssuer

    @property
    def arguments(self) -> list[str]:
        """Of `kwire proxy`: node 1 is SASL, 2 TLS on both sides, 3 neither."""
        listens = zip(("SASL", "TLS", "PLAINTEXT"), (1, 2, 3), strict=True)
        pem = self.pem
        files = f"{pem.certificate},{pem.key}"
        return [
            *(
                f"--listen={node}@127.0.0.1:{self.ports[name]}={self.node(name)}"
                for name, node in listens
            ),
            f"--listen-tls=2@{files},{self.authority.path}",
            f"--upstream-tls=2@{self.authority.path},{files}",
        ]

    def at(self, name: str) -> str:
        """The proxy's address in front of a listener."""
        return f"127.0.0.1:{self.ports[name]}"

    def node(self, name: str) -> str:
        """The node's own address."""
        return f"127.0.0.1:{self.behind[name]}"

    def add_user(self) -> None:
        """USER; return when broker and controller know of it."""
        with closing(Client(("127.0.0.1", self.behind["PLAINTEXT"]))) as client:
            add_scram_user(client, USER, 1, PASSWORD)
            add_scram_user(client, USER, 2, PASSWORD)
        for name in ("SASL_TLS", "CONTROLLER_SASL"):
            asyncio.run(self._known(name))

    async def _known(self, name: str) -> None:
        sasl = Credentials(mechanism=Mechanism.SCRAM_SHA_512, username=USER, password=PASSWORD)
        tls = self.authority.client() if name == "SASL_TLS" else None
        async with asyncio.timeout(PATIENCE):
            while True:
                try:
                    async with await Connection.open(
                        "127.0.0.1", self.behind[name], ssl=tls, sasl=sasl, connect_timeout=PATIENCE
                    ):
                        return
                except BrokerError:
                    await asyncio.sleep(0.1)

    def client_properties(
        self, path: Path, mechanism: str, user: str, password: str, *, tls: bool = False
    ) -> Path:
        """A file for Kafka's own clients."""
        kind = "plain.PlainLoginModule" if mechanism == "PLAIN" else "scram.ScramLoginModule"
        login = f'username="{user}" password="{password}"'
        pairs = {
            "security.protocol": "SASL_SSL" if tls else "SASL_PLAINTEXT",
            "sasl.mechanism": mechanism,
            "sasl.jaas.config": f"{MODULES}.{kind} required {login};",
        }
        if tls:
            authority = str(self.authority.path)
            pairs |= {"ssl.truststore.type": "PEM", "ssl.truststore.location": authority}
        path.write_text(properties_text(pairs))
        return path


@dataclass
class Client:
    """Speaks frames and bare tokens on one connection, one after the other."""

    address: tuple[str, int]
    sent: int = 0
    socket: socket.socket = field(init=False)

    def __post_init__(self) -> None:
        self.socket = socket.create_connection(self.address, timeout=60)

    def close(self) -> None:
        self.socket.close()

    def ask(self, request: Request, version: int) -> Response:
        self.sent += 1
        self.socket.sendall(encode_request(request, version, correlation_id=self.sent))
        key = type(request).key
        assert key is not None
        return decode_response(self._receive(), key, version).body

    def token(self, data: bytes) -> bytes:
        """Send a token without a frame around it; return the answer."""
        self.socket.sendall(struct.pack(">i", len(data)) + data)
        return self._receive()

    def _receive(self) -> bytes:
        (size,) = struct.unpack(">i", self._exactly(4))
        return self._exactly(size)

    def _exactly(self, size: int) -> bytes:
        return self.socket.recv(size, socket.MSG_WAITALL) if size else b""

    def authenticate(self) -> None:
        """Authenticate as alice, with frames."""
        shaken = self.ask(SaslHandshakeRequest(mechanism="PLAIN"), 1)
        assert isinstance(shaken, SaslHandshakeResponse)
        assert shaken.error_code == 0
        answer = self.ask(SaslAuthenticateRequest(auth_bytes=PLAIN_TOKEN), 2)
        assert isinstance(answer, SaslAuthenticateResponse)
        assert (answer.error_code, answer.session_lifetime_ms > 0) == (0, True)


def layout(folder: Path, version: str = "4.3.1") -> Layout:
    """A node that may read its keys for tokens from the folder: Kafka wants each URL allowed."""
    url = f"-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls=file://{folder / JWKS}"
    return Layout(controllers=(1,), brokers=(1,), version=version, jvm=(url,))


def configured(cluster: Cluster, folder: Path) -> SecureCluster:
    """The node advertises the proxy where it is to stand. folder: of certificates and keys."""
    authority = Authority(folder, "ca")
    pem = authority.issue("127.0.0.1", "localhost")
    issuer = TokenIssuer()
    issuer.write_jwks(folder / JWKS)
    node = cluster.nodes[1]
    names = ("SASL", "TLS", *DIRECT)
    behind = {"PLAINTEXT": node.broker_address.port, **{name: free_port() for name in names}}
    ports = {name: free_port() for name in PROXIED}
    keystore = folder / "keystore.pem"
    keystore.write_bytes(pem.key.read_bytes() + pem.certificate.read_bytes())
    secure = SecureCluster(cluster, authority, pem, keystore, ports, behind, issuer)
    node.configure(_listeners(secure) | _sasl() | _bearer(folder / JWKS) | _tls(secure))
    return secure


def add_scram_user(client: Client, user: str, mechanism: int, password: str) -> None:
    """mechanism: 1 for SHA-256, 2 for SHA-512."""
    name = {1: "sha256", 2: "sha512"}[mechanism]
    upsertion = ScramCredentialUpsertion(
        name=user,
        mechanism=mechanism,
        iterations=4096,
        salt=SALT,
        salted_password=hashlib.pbkdf2_hmac(name, password.encode(), SALT, 4096),
    )
    answer = client.ask(AlterUserScramCredentialsRequest(upsertions=[upsertion]), 0)
    assert isinstance(answer, AlterUserScramCredentialsResponse)
    assert answer.results[0].error_code == 0


def remove_scram_user(client: Client, user: str, mechanism: int) -> None:
    """Take back what `add_scram_user` did."""
    deletion = ScramCredentialDeletion(name=user, mechanism=mechanism)
    answer = client.ask(AlterUserScramCredentialsRequest(deletions=[deletion]), 0)
    assert isinstance(answer, AlterUserScramCredentialsResponse)
    assert answer.results[0].error_code == 0


def _listeners(secure: SecureCluster) -> dict[str, str]:
    controller = f"CONTROLLER://{secure.cluster.nodes[1].controller_address}"
    told = {**secure.behind, **secure.ports}

    def listed(ports: dict[str, int]) -> str:
        own = (f"{name}://127.0.0.1:{port}" for name, port in ports.items())
        return ",".join([controller, *own])

    protocols = {"CONTROLLER": "PLAINTEXT", "PLAINTEXT": "PLAINTEXT"}
    protocols |= {"SASL": "SASL_PLAINTEXT", "TLS": "SSL", **DIRECT}
    return {
        "listeners": listed(secure.behind),
        "advertised.listeners": listed(told),
        "controller.listener.names": ",".join(
            name for name in protocols if name.startswith("CONTROLLER")
        ),
        "listener.security.protocol.map": ",".join(
            f"{name}:{protocol}" for name, protocol in protocols.items()
        ),
    }


def _sasl() -> dict[str, str]:
    plain = f'{MODULES}.plain.PlainLoginModule required user_alice="{PLAIN_PASSWORD}";'
    scram = f"{MODULES}.scram.ScramLoginModule required;"
    bearer = f"{MODULES}.oauthbearer.OAuthBearerLoginModule required;"
    modules = {"PLAIN": plain, "OAUTHBEARER": bearer}
    modules |= {"SCRAM-SHA-256": scram, "SCRAM-SHA-512": scram}
    listeners = {name: tuple(modules) for name, kind in DIRECT.items() if "SASL" in kind}
    listeners["SASL"] = ("SCRAM-SHA-256", "PLAIN")
    properties = {"connections.max.reauth.ms": "60000", "delegation.token.secret.key": "a-key"}
    # ACLs can be written, and keep nobody from what has none.
    properties |= {
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "allow.everyone.if.no.acl.found": "true",
        "super.users": "User:ANONYMOUS;User:alice",
    }
    for name, mechanism in SHORT_SESSIONS.items():
        own = f"listener.name.{name.lower()}.{mechanism.lower()}"
        properties[f"{own}.connections.max.reauth.ms"] = str(SHORT_SESSION_MS)
    for name, mechanisms in listeners.items():
        prefix = f"listener.name.{name.lower()}"
        properties[f"{prefix}.sasl.enabled.mechanisms"] = ",".join(mechanisms)
        for mechanism in mechanisms:
            own = f"{prefix}.{mechanism.lower()}.sasl"
            properties[f"{own}.jaas.config"] = modules[mechanism]
            if mechanism == "OAUTHBEARER":
                handler = f"{MODULES}.oauthbearer.OAuthBearerValidatorCallbackHandler"
                properties[f"{own}.server.callback.handler.class"] = handler
    return properties


def _bearer(keys: Path) -> dict[str, str]:
    return {
        "sasl.oauthbearer.jwks.endpoint.url": f"file://{keys}",
        "sasl.oauthbearer.expected.audience": AUDIENCE,
        "sasl.oauthbearer.expected.issuer": ISSUER,
    }


def _tls(secure: SecureCluster) -> dict[str, str]:
    stores = {
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(secure.keystore),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(secure.authority.path),
    }
    names = ["TLS", *(name for name, kind in DIRECT.items() if kind.endswith("SSL"))]
    own = {
        f"listener.name.{name.lower()}.{key}": value
        for name in names
        for key, value in stores.items()
    }
    wanted = {f"listener.name.{name.lower()}.ssl.client.auth": "required" for name in MUTUAL}
    return own | wanted
