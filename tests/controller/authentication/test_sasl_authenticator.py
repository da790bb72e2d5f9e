"""The frames of a login, what they cost, and what is kept from those who look."""

from __future__ import annotations

import time
from contextlib import suppress

import pytest

from kwire.batches.metadata_records import VersionedRecord
from kwire.controller.authentication.exchanges import AuthenticationFailed, ServerMechanism
from kwire.controller.authentication.image_logins import ImageLogins
from kwire.controller.authentication.oauth_bearer import OAuthBearerMechanism
from kwire.controller.authentication.plain import PlainMechanism
from kwire.controller.authentication.sasl_authenticator import (
    ListenerMechanism,
    SaslAuthenticator,
    SaslFailure,
)
from kwire.controller.authentication.scram import ScramServerMechanism
from kwire.controller.authentication.token_claims import ClaimRules
from kwire.controller.authentication.token_validators import UnsignedTokens
from kwire.image import MetadataImage, apply_all
from kwire.logdir.scram import FirstCredential
from kwire.messages.a17_sasl_handshake import SaslHandshakeRequest
from kwire.messages.a36_sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from kwire.messages.records.delegation_token import DelegationTokenRecord
from kwire.net.frames import decode_response, encode_request
from kwire.net.sasl import Credentials, Login, Mechanism

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
LOGINS = ImageLogins(lambda: IMAGE, SECRET)


def mechanisms() -> dict[str, ServerMechanism]:
    return {
        "PLAIN": PlainMechanism({"alice": "tr0ub4dor"}),
        "SCRAM-SHA-256": ScramServerMechanism("SCRAM-SHA-256", LOGINS),
        "SCRAM-SHA-512": ScramServerMechanism("SCRAM-SHA-512", LOGINS),
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


@pytest.mark.parametrize(
    ("name", "token"), [(name, token) for name, tokens in HOSTILE.items() for token in tokens]
)
def test_a_hostile_token_is_refused_within_10_ms(name: str, token: bytes) -> None:
    fastest = 1.0
    for _ in range(5):
        server = SaslAuthenticator({name: ListenerMechanism(server=mechanisms()[name])})
        server.receive(
            encode_request(SaslHandshakeRequest(mechanism=name), 1, correlation_id=1)[4:], NOW
        )
        request = SaslAuthenticateRequest(auth_bytes=token)
        frame = encode_request(request, 2, correlation_id=1)[4:]
        begin = time.perf_counter()
        with suppress(SaslFailure):
            server.receive(frame, NOW)
        fastest = min(fastest, time.perf_counter() - begin)
        assert server.authenticated is None
    assert fastest < 0.01


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
