"""AlterUserScramCredentials, after Kafka's ScramControlManagerTest."""

from collections.abc import Callable
from typing import Any

import pytest

from kwire.error_codes import ErrorCode
from kwire.image.scram import ScramUser
from kwire.messages.a51_alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from kwire.net.scram_keys import salted_password

SHA_256, SHA_512 = 1, 2
DUPLICATE = ErrorCode.DUPLICATE_RESOURCE
UNACCEPTABLE = ErrorCode.UNACCEPTABLE_CREDENTIAL

RFC_7677_SALT = bytes.fromhex("5b6d99689d12351d8eec3e0841441ddc")


def upsertion(name: str, **changes: Any) -> ScramCredentialUpsertion:
    """Return a credential to store."""
    change = ScramCredentialUpsertion(
        name=name, mechanism=SHA_256, iterations=4096, salt=b"salt", salted_password=b"password"
    )
    return change.replace(**changes)


def deletion(name: str, mechanism: int = SHA_256) -> ScramCredentialDeletion:
    """Return a credential to remove."""
    return ScramCredentialDeletion(name=name, mechanism=mechanism)


def codes(lab: Any, *changes: ScramCredentialDeletion | ScramCredentialUpsertion) -> dict[str, int]:
    """Alter credentials; return the code for each user."""
    request = AlterUserScramCredentialsRequest(
        deletions=[item for item in changes if isinstance(item, ScramCredentialDeletion)],
        upsertions=[item for item in changes if isinstance(item, ScramCredentialUpsertion)],
    )
    return {item.user: item.error_code for item in lab.ask(request).results}


def test_the_keys_of_a_password_are_stored(lab: Any) -> None:
    """The keys are those of org.apache.kafka.common.security.scram.internals.ScramFormatter."""
    salted = salted_password("SCRAM-SHA-256", b"pencil", RFC_7677_SALT, 4096)
    change = upsertion("user", salt=RFC_7677_SALT, salted_password=salted)
    assert codes(lab, change) == {"user": 0}
    credential = lab.image.scram.credentials[ScramUser(SHA_256, "user")]
    assert credential.salt == RFC_7677_SALT
    assert credential.iterations == 4096
    assert credential.server_key.hex() == SERVER_KEY
    assert credential.stored_key.hex() == STORED_KEY
    assert SERVER_KEY not in repr(credential)


SERVER_KEY = "57d22acdfdcc00ab8b6d5d238055116dfbfd71fce5eaec5a3aa4418ad4f0761c"
STORED_KEY = "58e98063f3ff0b880d8349b3619b4e9178bba4401aeb38b1848e19db6a59d8bd"


def test_credentials_are_replaced_and_removed(lab: Any) -> None:
    assert codes(lab, upsertion("a"), upsertion("b", mechanism=SHA_512)) == {"a": 0, "b": 0}
    assert codes(lab, upsertion("a", iterations=8192), deletion("b", SHA_512)) == {"a": 0, "b": 0}
    assert dict.fromkeys(lab.image.scram.credentials) == {ScramUser(SHA_256, "a"): None}
    assert lab.image.scram.credentials[ScramUser(SHA_256, "a")].iterations == 8192


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ([upsertion("")], UNACCEPTABLE),
        ([deletion("")], UNACCEPTABLE),
        ([upsertion("", mechanism=0)], UNACCEPTABLE),
        ([upsertion("u", mechanism=0)], ErrorCode.UNSUPPORTED_SASL_MECHANISM),
        ([upsertion("u", mechanism=3)], ErrorCode.UNSUPPORTED_SASL_MECHANISM),
        ([deletion("u", 0)], ErrorCode.UNSUPPORTED_SASL_MECHANISM),
        ([deletion("u")], ErrorCode.RESOURCE_NOT_FOUND),
        ([deletion("known", SHA_512)], ErrorCode.RESOURCE_NOT_FOUND),
        ([upsertion("u", iterations=4095)], UNACCEPTABLE),
        ([upsertion("u", iterations=16385)], UNACCEPTABLE),
        ([upsertion("u", iterations=-1)], UNACCEPTABLE),
        ([upsertion("u", salted_password=b"")], ErrorCode.UNKNOWN_SERVER_ERROR),
        ([upsertion("u"), upsertion("u", mechanism=SHA_512)], DUPLICATE),
        ([upsertion("u"), upsertion("u"), upsertion("u")], DUPLICATE),
        ([deletion("known"), upsertion("known")], DUPLICATE),
        ([deletion("known"), deletion("known")], DUPLICATE),
        ([deletion("u"), upsertion("u")], ErrorCode.RESOURCE_NOT_FOUND),
    ],
)
def test_refusals(lab: Any, changes: list[Any], code: ErrorCode) -> None:
    codes(lab, upsertion("known"))
    before = lab.end_offset
    assert codes(lab, *changes) == {changes[0].name: code}
    assert lab.end_offset == before


def test_a_refused_user_does_not_keep_others(lab: Any) -> None:
    changes = upsertion("a"), deletion("b"), upsertion("c", iterations=16384)
    assert codes(lab, *changes) == {"a": 0, "b": ErrorCode.RESOURCE_NOT_FOUND, "c": 0}


def test_metadata_versions_before_3_5_have_no_credentials(make_lab: Callable[..., Any]) -> None:
    lab = make_lab(level=10)
    assert codes(lab, upsertion("a"), deletion("b")) == dict.fromkeys(
        "ab", ErrorCode.UNSUPPORTED_VERSION
    )
    assert codes(make_lab(level=11), upsertion("a")) == {"a": 0}
