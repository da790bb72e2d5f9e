"""SASL of a client: what it says and believes, with a node whose answers a test writes."""

import asyncio
import hashlib
import hmac
from base64 import b64decode
from collections.abc import Callable

import pytest
from scramp import ScramMechanism

from kwire.errors import AnswerLost, BrokerError, ConnectionFailed, InvalidValue
from kwire.messages.a17_sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse
from kwire.messages.a36_sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from kwire.messages.a60_describe_cluster import DescribeClusterRequest, DescribeClusterResponse
from kwire.net import scram as scram_exchange
from kwire.net.address import Address
from kwire.net.bearer_token import BearerToken, BearerTokens, TokenUnavailable
from kwire.net.connection import Connection
from kwire.net.frames import RequestFrame
from kwire.net.sasl import Credentials, Login, Mechanism
from kwire.net.secure_connect import SecureConnect
from kwire.net.security import Security
from scripted_node import HANG_UP, SILENCE, Raw, Script, ScriptedNode
from tests.support.virtual_time import in_virtual_time
from virtual_nodes.virtual_network import LinkFaults, NetworkLoop

TAKEN = SaslHandshakeResponse(mechanisms=("PLAIN", "SCRAM-SHA-256"))
PATIENCE = 60.0


def credentials(mechanism: str = "PLAIN", name: str = "alice", password: str = "pw") -> Credentials:
    return Credentials(mechanism=Mechanism(mechanism), username=name, password=password)


def said(login: Login) -> bytes:
    """The token that it is about to send."""
    assert isinstance(login.request, SaslAuthenticateRequest)
    return login.request.auth_bytes


def heard(login: Login, token: str = "", code: int = 0, lifetime: int = 0) -> None:
    login.receive(
        SaslAuthenticateResponse(
            error_code=code, auth_bytes=token.encode(), session_lifetime_ms=lifetime
        )
    )


def test_plain_is_one_token() -> None:
    """The message of RFC 4616, without an authorization id."""
    login = Login(credentials())
    assert login.request == SaslHandshakeRequest(mechanism="PLAIN")
    login.receive(TAKEN)
    assert said(login) == b"\0alice\0pw"
    heard(login, lifetime=1500)
    assert login.request is None
    assert login.lifetime == 1.5


def scram() -> Login:
    """About to be given a challenge."""
    login = Login(credentials("SCRAM-SHA-256", "user", "pencil"), "a:9092")
    login.receive(TAKEN)
    name, _, drawn = said(login).decode().partition(",r=")
    assert name == "n,,n=user"
    assert drawn
    return login


SALT = "s=W22ZaJ0SNY7soEsUEjb6gQ=="


def challenged(login: Login, challenge: str) -> None:
    """With the nonce that the client drew, and more."""
    drawn = said(login).decode().rpartition("r=")[2]
    heard(login, f"r={drawn}more,{challenge}")


@pytest.mark.parametrize("mechanism", ["SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_scram_convinces_both(mechanism: str) -> None:
    known = ScramMechanism(mechanism)
    server = known.make_server(
        lambda name: known.make_auth_info("p=w,d") if name == "a,b" else None
    )
    login = Login(credentials(mechanism, "a,b", "p=w,d"))
    login.receive(TAKEN)
    server.set_client_first(said(login).decode())
    heard(login, server.get_server_first())
    server.set_client_final(said(login).decode())
    heard(login, server.get_server_final(), lifetime=1000)
    assert (login.request, login.lifetime) == (None, 1.0)


@pytest.mark.parametrize(
    ("challenge", "why"),
    [
        (f"{SALT},i=100001", "100001 iterations are too many"),
        (f"{SALT},i=4095", "4095 iterations are too few"),
        (f"{SALT},i=99999999999999", "99999999999999 iterations are too many"),
        ("s=,i=4096", "its challenge is malformed"),
        ("s=!,i=4096", "a part of its token is not base64"),
        ("nonsense", "its challenge is malformed"),
    ],
)
def test_a_challenge_that_is_wrong_is_not_worked_on(challenge: str, why: str) -> None:
    login = scram()
    with pytest.raises(BrokerError, match=f"SASL_AUTHENTICATION_FAILED: a:9092 .*{why}"):
        challenged(login, challenge)


@pytest.mark.parametrize(
    "challenge", [b"\xff\xfe", b"", b"r=another,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"]
)
def test_a_challenge_that_is_no_answer_is_not_either(challenge: bytes) -> None:
    login = scram()
    with pytest.raises(BrokerError, match="does not speak SCRAM-SHA-256 as it should"):
        login.receive(SaslAuthenticateResponse(auth_bytes=challenge))


def test_a_node_that_does_not_know_the_password_is_not_believed() -> None:
    login = scram()
    challenged(login, f"{SALT},i=4096")
    with pytest.raises(BrokerError, match="it does not prove that it knows the password"):
        heard(login, "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=")


def test_refusals_name_node_user_and_reason() -> None:
    login = Login(credentials(), "a:9092")
    with pytest.raises(BrokerError) as caught:
        login.receive(SaslHandshakeResponse(error_code=33, mechanisms=("GSSAPI", "X\x1b")))
    assert str(caught.value) == (
        r"UNSUPPORTED_SASL_MECHANISM: a:9092 has no PLAIN, but GSSAPI, X\x1b"
    )
    with pytest.raises(BrokerError) as caught:
        login.receive(SaslHandshakeResponse(error_code=34))
    assert str(caught.value) == "ILLEGAL_SASL_STATE: a:9092 takes no SASL at this listener"
    login.receive(TAKEN)
    with pytest.raises(BrokerError) as caught:
        heard(login, code=58)
    assert str(caught.value) == (
        "SASL_AUTHENTICATION_FAILED: a:9092 refuses alice by PLAIN: it gives no reason"
    )


@pytest.mark.parametrize(
    ("mechanism", "name", "password"),
    [
        ("PLAIN", "a\0b", "pw"),
        ("PLAIN", "alice", "p\0w"),
        ("SCRAM-SHA-256", "\N{SOFT HYPHEN}alice", "pw"),
        ("SCRAM-SHA-256", "al\0ice", "pw"),
        ("SCRAM-SHA-512", "", "pw"),
    ],
)
def test_a_user_that_a_mechanism_cannot_take_is_told_of(
    mechanism: str, name: str, password: str
) -> None:
    with pytest.raises(InvalidValue, match=mechanism) as caught:
        Login(credentials(mechanism, name, password))
    assert password not in str(caught.value) or password == "pw"


def test_a_password_is_in_no_repr() -> None:
    assert "pw" not in repr(credentials())


class Guarded(ScriptedNode):
    """A node with a listener for SASL. logins: how many were begun."""

    def __init__(self, authenticate: Script) -> None:
        super().__init__()
        self.scripts = {
            SaslHandshakeRequest: lambda frame: TAKEN,
            SaslAuthenticateRequest: authenticate,
            DescribeClusterRequest: lambda frame: DescribeClusterResponse(cluster_id="it"),
        }

    @property
    def logins(self) -> int:
        return len(self.requests(SaslHandshakeRequest))


def content(lifetime: int = 0) -> Script:
    """Take every token."""
    return lambda frame: SaslAuthenticateResponse(session_lifetime_ms=lifetime)


async def open(node: ScriptedNode, within: float = PATIENCE) -> Connection:
    return await Connection.open("127.0.0.1", node.port, sasl=credentials(), connect_timeout=within)


async def test_a_connection_is_authenticated_before_anything_else_is_asked() -> None:
    async with Guarded(content()) as node, await open(node) as connection:
        await asyncio.gather(*(connection.send(DescribeClusterRequest()) for _ in range(3)))
        asked = [type(frame.body).__name__ for frame in node.asked]
        assert asked[1:3] == ["SaslHandshakeRequest", "SaslAuthenticateRequest"]
        assert [frame.version for frame in node.asked[1:3]] == [1, 2]
        assert asked[3:] == ["DescribeClusterRequest"] * 3


@in_virtual_time
async def test_a_slow_login_has_the_time_of_an_operation() -> None:
    """TCP takes 8 s here, and ApiVersions, SaslHandshake and SaslAuthenticate 16 s each."""
    loop = asyncio.get_running_loop()
    assert isinstance(loop, NetworkLoop)
    async with Guarded(content()) as node:
        loop.network.faults = LinkFaults(latency=(8, 8))
        security = Security(sasl=credentials())
        async with await SecureConnect(security)(Address.parse(node.address)):
            assert node.logins == 1
        loop.network.heal()


async def test_a_session_is_renewed_before_it_ends_and_requests_wait_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each is over at once here, so that every request needs one of its own."""
    monkeypatch.setattr("kwire.net.connection.SESSION_SHARE", 0.0)
    async with Guarded(content(lifetime=60_000)) as node, await open(node) as connection:
        await asyncio.gather(*(connection.send(DescribeClusterRequest()) for _ in range(3)))
        names = [type(frame.body).__name__.removesuffix("Request") for frame in node.asked]
        login = ["SaslHandshake", "SaslAuthenticate"]
        assert names[:5] == ["ApiVersions", *login, *login]
        assert node.logins == 4
        for at, name in enumerate(names):
            assert (name == "SaslHandshake") == (names[at + 1 : at + 2] == ["SaslAuthenticate"])


async def test_a_connection_whose_session_cannot_be_renewed_is_closed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("kwire.net.connection.SESSION_SHARE", 0.0)
    async with Guarded(content(lifetime=60_000)) as node, await open(node) as connection:
        refusal = SaslAuthenticateResponse(error_code=58, error_message="gone")
        node.scripts[SaslAuthenticateRequest] = lambda frame: refusal
        with pytest.raises(BrokerError, match="refuses alice by PLAIN: gone"):
            await connection.send(DescribeClusterRequest())
        assert connection.closed
        assert node.requests(DescribeClusterRequest) == []


@pytest.mark.parametrize(
    ("authenticate", "error", "why"),
    [
        (
            lambda frame: SaslAuthenticateResponse(error_code=58, error_message="Invalid\nuser"),
            BrokerError,
            r"refuses alice by PLAIN: Invalid\\nuser",
        ),
        (
            lambda frame: HANG_UP,
            ConnectionFailed,
            "closed the connection before it answered SaslAuthenticate v2",
        ),
        (lambda frame: SILENCE, ConnectionFailed, "within 0.5 s: it is slow, or the service"),
    ],
)
@in_virtual_time
async def test_a_login_that_comes_to_nothing_leaves_nothing(
    authenticate: Callable[[RequestFrame], SaslAuthenticateResponse | Raw],
    error: type[Exception],
    why: str,
) -> None:
    within = 0.5 if authenticate(None) is SILENCE else PATIENCE  # type: ignore[arg-type]
    async with Guarded(authenticate) as node:
        with pytest.raises(error, match=why) as caught:
            await open(node, within)
        assert not isinstance(caught.value, AnswerLost)
        assert "pw" not in str(caught.value)
        await node.deserted()


def test_the_limit_of_iterations_is_above_what_kafka_has() -> None:
    assert scram_exchange.ITERATIONS_LIMIT > 16384


class Source:
    """Gives a token, and counts how often."""

    def __init__(self) -> None:
        self.fetched = 0

    async def fetch(self) -> BearerToken:
        self.fetched += 1
        return BearerToken(value=f"token-{self.fetched}", acquired=0.0)


def bearer(source: Source | None = None, **extensions: str) -> Credentials:
    return Credentials(
        mechanism=Mechanism.OAUTHBEARER,
        tokens=BearerTokens(source or Source()),
        extensions=tuple(extensions.items()),
    )


async def test_oauthbearer_is_one_token_with_its_extensions() -> None:
    """The message of RFC 7628, 3.1; extensions as in KIP-342."""
    login = Login(await bearer(traceId="7").resolved())
    login.receive(SaslHandshakeResponse(mechanisms=("OAUTHBEARER",)))
    assert said(login) == b"n,,\1auth=Bearer token-1\1traceId=7\1\1"
    heard(login, lifetime=2000)
    assert (login.request, login.lifetime) == (None, 2.0)


async def test_a_refused_token_is_acknowledged_before_the_error_comes() -> None:
    """RFC 7628, 3.2.3: the client answers the JSON by one byte."""
    login = Login(await bearer().resolved(), "a:9092")
    login.receive(SaslHandshakeResponse(mechanisms=("OAUTHBEARER",)))
    heard(login, '{"status":"invalid_token"}')
    assert said(login) == b"\1"
    with pytest.raises(BrokerError, match="a:9092 refuses the token by OAUTHBEARER: it gives no"):
        heard(login, code=58)
    with pytest.raises(
        BrokerError, match=r"it refuses the token \(.*invalid_token.*\) and goes on"
    ):
        heard(login)


async def test_each_login_has_a_token_of_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sessions are over at once here; the tokens' lifetime is not known."""
    monkeypatch.setattr("kwire.net.connection.SESSION_SHARE", 0.0)
    source = Source()
    async with (
        Guarded(content(lifetime=60_000)) as node,
        await Connection.open("127.0.0.1", node.port, sasl=bearer(source)) as connection,
    ):
        await connection.send(DescribeClusterRequest())
        tokens = [request.auth_bytes for request in requests(node)]
        assert tokens == [b"n,,\1auth=Bearer token-1\1\1", b"n,,\1auth=Bearer token-2\1\1"]


def requests(node: ScriptedNode) -> list[SaslAuthenticateRequest]:
    found = node.requests(SaslAuthenticateRequest)
    return [request for request in found if isinstance(request, SaslAuthenticateRequest)]


async def test_without_a_token_nobody_is_connected_to() -> None:
    class Broken(Source):
        async def fetch(self) -> BearerToken:
            raise TokenUnavailable("the token file a is empty")

    async with Guarded(content()) as node:
        with pytest.raises(TokenUnavailable, match="the token file a is empty"):
            await Connection.open("127.0.0.1", node.port, sasl=bearer(Broken()))
        assert node.asked == []


def test_a_delegation_token_is_named_in_the_first_message_and_signed() -> None:
    """KIP-48: the extension tokenauth of SCRAM is part of what the proof of RFC 5802, 3 is of."""
    login = Login(
        Credentials(
            mechanism=Mechanism.SCRAM_SHA_256,
            username="id",
            password="mac",
            is_delegation_token=True,
        )
    )
    login.receive(TAKEN)
    first = said(login).decode()
    assert first.endswith(",tokenauth=true")
    nonce = first.removesuffix(",tokenauth=true").partition(",r=")[2]
    challenge = f"r={nonce}more,{SALT},i=4096"
    heard(login, challenge)
    final, _, proof = said(login).decode().partition(",p=")
    salted = hashlib.pbkdf2_hmac("sha256", b"mac", b64decode(SALT[2:]), 4096)
    key = hmac.digest(salted, b"Client Key", "sha256")
    signed = f"{first.removeprefix('n,,')},{challenge},{final}".encode()
    signature = hmac.digest(hashlib.sha256(key).digest(), signed, "sha256")
    assert b64decode(proof) == bytes(a ^ b for a, b in zip(key, signature, strict=True))
