"""The frames of a login, what they cost, and what is kept from those who look."""

from __future__ import annotations

import json
import sys
from base64 import urlsafe_b64encode
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from secrets import token_bytes

import pytest

from kwire.batches.metadata_records import VersionedRecord
from kwire.controller.authentication import image_logins, scram
from kwire.controller.authentication.exchanges import AuthenticationFailed, ServerMechanism
from kwire.controller.authentication.image_logins import ImageLogins
from kwire.controller.authentication.oauth_bearer import PAIRS_LIMIT, OAuthBearerMechanism
from kwire.controller.authentication.plain import PlainMechanism
from kwire.controller.authentication.sasl_authenticator import (
    ListenerMechanism,
    SaslAuthenticator,
    SaslFailure,
)
from kwire.controller.authentication.scram import ScramLogin, ScramServerMechanism
from kwire.controller.authentication.token_claims import ClaimRules
from kwire.controller.authentication.token_validators import TOKEN_LIMIT, UnsignedTokens
from kwire.image import MetadataImage, apply_all
from kwire.image.scram import ScramCredential
from kwire.logdir.scram import FirstCredential
from kwire.messages.a00_produce import ProduceRequest, TopicProduceData
from kwire.messages.a16_list_groups import ListGroupsRequest
from kwire.messages.a17_sasl_handshake import SaslHandshakeRequest
from kwire.messages.a36_sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from kwire.messages.headers import RequestHeader
from kwire.messages.records.delegation_token import DelegationTokenRecord
from kwire.net.frames import decode_response, encode_request
from kwire.net.sasl import Credentials, Login, Mechanism
from kwire.net.scram_keys import salted_password, scram_keys

NOW = 1_800_000_000_000
SECRET = "a-key"
ALICE = FirstCredential.of_password("SCRAM-SHA-512", "alice", "tr0ub4dor")
TOKEN = DelegationTokenRecord(
    owner="User:alice",
    requester="User:alice",
    renewers=(),
    issue_timestamp=NOW,
    max_timestamp=NOW + 9000,
    expiration_timestamp=NOW + 5000,
    token_id="t0ken",
)
IMAGE = apply_all(MetadataImage(), [ALICE.record(), VersionedRecord(record=TOKEN, version=0)])
LOGINS = ImageLogins(lambda: IMAGE, token_bytes, SECRET)


def mechanisms() -> dict[str, ServerMechanism]:
    return {
        "PLAIN": PlainMechanism({"alice": "tr0ub4dor"}),
        "SCRAM-SHA-256": ScramServerMechanism("SCRAM-SHA-256", LOGINS, token_bytes),
        "SCRAM-SHA-512": ScramServerMechanism("SCRAM-SHA-512", LOGINS, token_bytes),
        "OAUTHBEARER": OAuthBearerMechanism(UnsignedTokens(ClaimRules())),
    }


def login(credentials: Credentials) -> SaslAuthenticator:
    """Log in with kwire's client side. Raises SaslFailure."""
    server = SaslAuthenticator(
        {name: ListenerMechanism(server=one) for name, one in mechanisms().items()}
    )
    client = Login(credentials)
    while client.request is not None:
        version = type(client.request).versions.last
        frame = encode_request(client.request, version, correlation_id=1)
        step = server.receive(frame[4:], NOW)
        key = type(client.request).key
        assert key is not None
        client.receive(decode_response(step.answer[4:], key, version).body)
    return server


@pytest.mark.parametrize("password", ["\N{GRINNING FACE} =,", "\N{FULLWIDTH LATIN SMALL LETTER A}"])
def test_a_password_is_taken_as_it_is(password: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kafka computes keys of its UTF-8, without SASLprep (Java: ScramFormatter.normalize)."""
    salted = salted_password("SCRAM-SHA-256", password.encode(), b"salt" * 4, 4096)
    keys = scram_keys("SCRAM-SHA-256", salted)
    known = ScramLogin(
        credential=ScramCredential(salt=b"salt" * 4, iterations=4096, **keys._asdict()),
        principal="User:alice",
    )
    monkeypatch.setattr(ImageLogins, "user", lambda self, mechanism, name: known)
    done = login(
        Credentials(mechanism=Mechanism.SCRAM_SHA_256, username="alice", password=password)
    )
    assert done.authenticated is not None


def token_hmac() -> str:
    """The password of TOKEN: HMAC-SHA-512 of its id, in Base64 (KIP-48)."""
    import base64
    import hashlib
    import hmac

    return base64.b64encode(hmac.new(b"a-key", b"t0ken", hashlib.sha512).digest()).decode()


@pytest.mark.parametrize("mechanism", [Mechanism.SCRAM_SHA_256, Mechanism.SCRAM_SHA_512])
def test_a_delegation_token_logs_its_owner_in_until_it_expires(mechanism: Mechanism) -> None:
    sasl = Credentials(
        mechanism=mechanism, username="t0ken", password=token_hmac(), is_delegation_token=True
    )
    done = login(sasl)
    assert done.authenticated is not None
    assert done.authenticated.principal == "User:alice"
    assert done.authenticated.by_delegation_token
    assert done.lifetime_ms == 5000


@pytest.mark.parametrize(("user", "password"), [("t0ken", "wrong"), ("other", token_hmac())])
def test_a_wrong_or_unknown_delegation_token_is_refused(user: str, password: str) -> None:
    sasl = Credentials(
        mechanism=Mechanism.SCRAM_SHA_256,
        username=user,
        password=password,
        is_delegation_token=True,
    )
    with pytest.raises(SaslFailure, match="wrong credentials for SCRAM-SHA-256"):
        login(sasl)


def test_a_token_that_is_over_is_as_good_as_unknown() -> None:
    assert LOGINS.token("SCRAM-SHA-256", "t0ken", NOW + 4999).principal == "User:alice"
    assert LOGINS.token("SCRAM-SHA-256", "t0ken", NOW + 5000).principal is None


def test_nobody_can_tell_an_unknown_user_by_the_challenge() -> None:
    known = LOGINS.user("SCRAM-SHA-512", "alice").credential
    unknown, again = (LOGINS.user("SCRAM-SHA-512", "bob").credential for _ in range(2))
    assert len(unknown.salt) == len(known.salt)
    assert len(unknown.stored_key) == len(known.stored_key)
    assert unknown.iterations == known.iterations
    assert unknown.salt == again.salt
    assert unknown.salt != LOGINS.user("SCRAM-SHA-512", "carol").credential.salt
    assert LOGINS.user("SCRAM-SHA-512", "bob").principal is None


HOSTILE = {
    "PLAIN": [b"\0" * 500_000, b"a\0b\0" + b"c" * 500_000],
    "SCRAM-SHA-256": [b"," * 500_000, b"n,,n=a,r=b" + b",a=b" * 100_000],
    "SCRAM-SHA-512": [b"n,,n=" + b"a" * 500_000],
    "OAUTHBEARER": [
        b"\1" * 500_000,
        b"n,,\1" + b"a=b\1" * 100_000,
        b"n,,\1auth=Bearer " + b"a" * 500_000 + b"\1\1",
        b"n,,\1auth=Bearer " + b"W" * 20_000 + b"." + b"W" * 20_000 + b".\1\1",
    ],
}


MOST_CALLS = 150
"""Of functions, to refuse a hostile token: 52 to 91 have been counted, whatever its length."""


def expecting_token(name: str) -> SaslAuthenticator:
    """A connection that has agreed on a mechanism."""
    server = SaslAuthenticator({name: ListenerMechanism(server=mechanisms()[name])})
    shake = encode_request(SaslHandshakeRequest(mechanism=name), 1, correlation_id=1)
    server.receive(shake[4:], NOW)
    return server


def token_frame(token: bytes) -> bytes:
    request = SaslAuthenticateRequest(auth_bytes=token)
    return encode_request(request, 2, correlation_id=1)[4:]


def calls(act: Callable[[], object]) -> int:
    """Count the functions that it calls, those of C among them."""
    counts = Counter[str]()
    before = sys.getprofile()
    sys.setprofile(lambda frame, event, argument: counts.update([event]))
    try:
        act()
    finally:
        sys.setprofile(before)
    return counts["call"] + counts["c_call"]


@pytest.mark.parametrize(
    ("name", "token"),
    [
        pytest.param(name, token, id=f"{name} {number}")
        for name, tokens in HOSTILE.items()
        for number, token in enumerate(tokens)
    ],
)
def test_a_hostile_token_is_refused_without_a_loop_over_it(name: str, token: bytes) -> None:
    """Its time is measured by benchmarks/controller_hostile.py."""
    frame = token_frame(token)

    def receive(server: SaslAuthenticator) -> None:
        with suppress(SaslFailure):
            server.receive(frame, NOW)

    # The first one may import something, or happen to be called while garbage is collected.
    servers = [expecting_token(name) for _ in range(3)]
    assert min(calls(partial(receive, server)) for server in servers) < MOST_CALLS
    assert [server.authenticated for server in servers] == [None] * 3


def scram_first(length: int) -> bytes:
    """A client's first token of SCRAM, of so many bytes."""
    return b"n,,n=alice,r=nonce,a=".ljust(length, b"x")


def bearer(pairs: int, token: str) -> bytes:
    """A client's token of OAUTHBEARER with so many pairs, that of its JWT among them."""
    extensions = b"\1a=b" * (pairs - 1)
    return b"n,," + extensions + b"\1auth=Bearer " + token.encode() + b"\1\1"


def jwt(length: int) -> str:
    """An unsigned token of alice's, of so many characters."""
    parts = [
        urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode()
        for part in ({"alg": "none"}, {"sub": "alice", "iat": 1, "exp": NOW // 1000 + 60})
    ]
    text = ".".join(parts)
    # Spaces before the claims: JSON may have them, 3 for 4 characters of Base64.
    missing = length - len(text) - 1
    return f"{parts[0]}.{'ICAg' * (missing // 4)}{parts[1]}."


@pytest.mark.parametrize(
    ("name", "at_the_limit", "above"),
    [
        ("SCRAM-SHA-512", scram_first(scram.TOKEN_LIMIT), scram_first(scram.TOKEN_LIMIT + 1)),
        ("OAUTHBEARER", bearer(1, jwt(TOKEN_LIMIT)), bearer(1, jwt(TOKEN_LIMIT + 4))),
        ("OAUTHBEARER", bearer(PAIRS_LIMIT, jwt(200)), bearer(PAIRS_LIMIT + 1, jwt(200))),
    ],
    ids=["SCRAM", "length of a JWT", "pairs"],
)
def test_a_token_is_read_up_to_a_limit(name: str, at_the_limit: bytes, above: bytes) -> None:
    server = expecting_token(name)
    step = server.receive(token_frame(at_the_limit), NOW)
    answer = decode_response(step.answer[4:], 36, 2).body
    assert isinstance(answer, SaslAuthenticateResponse)
    assert answer.error_code == 0
    assert server.is_complete or answer.auth_bytes.startswith(b"r=nonce")
    other = expecting_token(name)
    with suppress(SaslFailure):
        assert not other.receive(token_frame(above), NOW).answer.count(b"r=nonce")
    assert not other.is_complete


@pytest.mark.parametrize(("length", "has_answer"), [(4096, True), (4097, False)])
def test_another_request_within_a_login_is_read_up_to_a_limit(
    length: int, has_answer: bool
) -> None:
    client_id = "c" * (length - len(RequestHeader().encode(1)))
    frame = encode_request(ListGroupsRequest(), 0, correlation_id=1, client_id=client_id)[4:]
    assert len(frame) == length
    with pytest.raises(SaslFailure) as failure:
        expecting_token("PLAIN").receive(frame, NOW)
    assert bool(failure.value.answer) is has_answer


@pytest.mark.parametrize("acks", [0, 1])
def test_a_request_that_asks_for_no_response_gets_none_within_a_login(acks: int) -> None:
    request = ProduceRequest(acks=acks, topic_data=[TopicProduceData(name="a")])
    with pytest.raises(SaslFailure) as failure:
        expecting_token("PLAIN").receive(encode_request(request, 3, correlation_id=1)[4:], NOW)
    assert bool(failure.value.answer) is bool(acks)


def test_iterations_are_run_once_for_a_token_and_never_for_users(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    runs = []

    def counted(mechanism: str, password: bytes, salt: bytes, iterations: int) -> bytes:
        runs.append(iterations)
        return salted_password(mechanism, password, salt, iterations)

    monkeypatch.setattr(image_logins, "salted_password", counted)
    logins = ImageLogins(lambda: IMAGE, token_bytes, SECRET)
    for name in ("alice", "bob", "t0ken"):
        logins.user("SCRAM-SHA-256", name)
    for _ in range(3):
        logins.token("SCRAM-SHA-256", "t0ken", NOW)
        logins.token("SCRAM-SHA-256", "other", NOW)
        logins.token("SCRAM-SHA-256", "t0ken", NOW + 6000)
    assert runs == [4096]


def test_no_secret_is_in_a_repr_or_in_a_failure() -> None:
    exchange = PlainMechanism({"alice": "tr0ub4dor"}).exchange(NOW)
    next(exchange)
    with pytest.raises(AuthenticationFailed) as failed:
        exchange.send(b"\0alice\0tr0ub4dor-2")
    told = [str(failed.value), repr(LOGINS.user("SCRAM-SHA-512", "alice")), repr(ALICE)]
    assert not any("tr0ub4dor" in text or "salt=b" in text or "key=b" in text for text in told)


def test_a_client_that_is_refused_is_told_by_a_code() -> None:
    server = SaslAuthenticator({"PLAIN": ListenerMechanism(server=mechanisms()["PLAIN"])})
    shake = encode_request(SaslHandshakeRequest(mechanism="PLAIN"), 1, correlation_id=1)
    server.receive(shake[4:], NOW)
    request = SaslAuthenticateRequest(auth_bytes=b"\0alice\0wrong")
    with pytest.raises(SaslFailure) as failure:
        server.receive(encode_request(request, 2, correlation_id=1)[4:], NOW)
    body = decode_response(failure.value.answer[4:], 36, 2).body
    assert isinstance(body, SaslAuthenticateResponse)
    assert (body.error_code, body.auth_bytes) == (58, b"")
