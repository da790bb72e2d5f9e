"""SCRAM credentials: hashed here, one request for each mechanism of a user, the salt kept."""

from base64 import b64decode

import pytest

from kwire.admin import AdminClient
from kwire.admin.scram import (
    SaltedUpsertion,
    ScramCredentialInfo,
    ScramDeletion,
    ScramKey,
    ScramMechanism,
    ScramUpsertion,
)
from kwire.errors import InvalidValue
from kwire.messages import a50_describe_user_scram_credentials as described
from kwire.messages import a51_alter_user_scram_credentials as altered
from kwire.net.frames import RequestFrame
from scripted_node import HANG_UP, Raw
from tests.support.admin.scripted_brokers import ScriptedBrokers, scripted_brokers

SHA_256, SHA_512 = ScramMechanism


def client(brokers: ScriptedBrokers) -> AdminClient:
    return AdminClient(bootstrap_servers=brokers.addresses, timeout=60)


def upsertion(user: str = "user", mechanism: ScramMechanism = SHA_256) -> ScramUpsertion:
    return ScramUpsertion(user=user, mechanism=mechanism, password="pencil", iterations=4096)


def once_a_user(request: RequestFrame) -> altered.AlterUserScramCredentialsResponse:
    """Answer as controllers do, which refuse a user that a request names twice."""
    assert isinstance(request.body, altered.AlterUserScramCredentialsRequest)
    names = [deletion.name for deletion in request.body.deletions]
    names += [upsertion.name for upsertion in request.body.upsertions]
    return altered.AlterUserScramCredentialsResponse(
        results=[
            altered.AlterUserScramCredentialsResult(
                user=name, error_code=92 if names.count(name) > 1 else 91 if name == "no" else 0
            )
            for name in dict.fromkeys(names)
        ]
    )


def test_the_password_is_salted_as_rfc_7677_says() -> None:
    """Salt, iterations and keys of its example; StoredKey and ServerKey follow from the hash."""
    import hashlib
    import hmac

    salt = b64decode("W22ZaJ0SNY7soEsUEjb6gQ==")
    example = ScramUpsertion(
        user="user", mechanism=SHA_256, password="pencil", iterations=4096, salt=salt
    )
    nonce = "rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
    first = "n=user,r=rOprNGfwEbeRWgbNEkqO"
    messages = f"{first},r={nonce},s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096,c=biws,r={nonce}"
    server_key = hmac.digest(example.salted_password, b"Server Key", hashlib.sha256)
    signature = hmac.digest(server_key, messages.encode(), hashlib.sha256)
    assert signature == b64decode("6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=")


async def test_two_mechanisms_of_a_user_are_two_requests() -> None:
    changes: list[ScramUpsertion | ScramDeletion] = [
        upsertion(),
        upsertion(mechanism=SHA_512),
        upsertion("other"),
        ScramDeletion(user="no", mechanism=SHA_512),
    ]
    async with scripted_brokers(1) as brokers, client(brokers) as admin:
        node = brokers.nodes[0]
        node.scripts[altered.AlterUserScramCredentialsRequest] = once_a_user
        outcomes = await admin.alter_user_scram_credentials(changes)
        requests = node.requests(altered.AlterUserScramCredentialsRequest)
    assert set(outcomes) == {
        ScramKey("user", SHA_256),
        ScramKey("user", SHA_512),
        ScramKey("other", SHA_256),
    }
    assert [str(key) for key in outcomes.failed] == ["SCRAM-SHA-512 of no"]
    assert len(requests) == 2


async def test_a_password_that_is_salted_already_is_sent_as_it_is() -> None:
    credential = SaltedUpsertion(
        user="user", mechanism=SHA_256, salted_password=bytes(32), salt=b"salt", iterations=4096
    )
    sent: list[altered.ScramCredentialUpsertion] = []

    def answer(request: RequestFrame) -> altered.AlterUserScramCredentialsResponse:
        assert isinstance(request.body, altered.AlterUserScramCredentialsRequest)
        sent.extend(request.body.upsertions)
        return once_a_user(request)

    async with scripted_brokers(1) as brokers, client(brokers) as admin:
        brokers.nodes[0].scripts[altered.AlterUserScramCredentialsRequest] = answer
        outcomes = await admin.alter_user_scram_credentials([credential])
    assert [*outcomes] == [ScramKey("user", SHA_256)]
    assert [(it.salt, it.salted_password, it.iterations) for it in sent] == [
        (b"salt", bytes(32), 4096)
    ]
    assert "salted" not in repr(credential)
    with pytest.raises(InvalidValue, match="100 iterations: Kafka takes 4096 to 16384"):
        SaltedUpsertion(user="u", mechanism=SHA_256, salted_password=b"", salt=b"", iterations=100)


async def test_after_a_lost_answer_the_same_salt_is_sent_again() -> None:
    asked: list[RequestFrame] = []

    def script(request: RequestFrame) -> altered.AlterUserScramCredentialsResponse | Raw:
        asked.append(request)
        return HANG_UP if len(asked) == 1 else once_a_user(request)

    async with scripted_brokers(1) as brokers, client(brokers) as admin:
        node = brokers.nodes[0]
        node.scripts[altered.AlterUserScramCredentialsRequest] = script
        outcomes = await admin.alter_user_scram_credentials([upsertion()])
        first, second = node.requests(altered.AlterUserScramCredentialsRequest)
    assert list(outcomes) == [ScramKey("user", SHA_256)]
    assert first == second


async def test_users_are_described_all_or_each() -> None:
    def script(request: RequestFrame) -> described.DescribeUserScramCredentialsResponse:
        assert isinstance(request.body, described.DescribeUserScramCredentialsRequest)
        users = request.body.users
        names = ["alice"] if users is None else [user.name for user in users]
        # As a Java node may answer, whose order changes from start to start.
        infos = [described.CredentialInfo(mechanism=id, iterations=4096 + id) for id in (9, 2, 1)]
        return described.DescribeUserScramCredentialsResponse(
            results=[
                described.DescribeUserScramCredentialsResult(
                    user=name,
                    error_code=0 if name == "alice" else 91,
                    credential_infos=infos if name == "alice" else [],
                )
                for name in names
            ]
        )

    async with scripted_brokers(1) as brokers, client(brokers) as admin:
        brokers.nodes[0].scripts[described.DescribeUserScramCredentialsRequest] = script
        every = await admin.describe_user_scram_credentials()
        named = await admin.describe_user_scram_credentials(["alice", "bob"])
    infos = (ScramCredentialInfo(mechanism=id, iterations=4096 + id) for id in (1, 2, 9))
    assert dict(every) == {"alice": tuple(infos)}
    assert [str(error) for error in named.failed.values()] == [
        "RESOURCE_NOT_FOUND: it does not exist"
    ]


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"iterations": 4095}, "4095 iterations: Kafka takes 4096 to 16384"),
        ({"iterations": 16385}, "16385 iterations"),
        ({"user": ""}, "needs the name of a user"),
        ({"password": ""}, "a password that is not empty"),
    ],
)
def test_what_kafka_would_refuse_is_refused_here(values: dict[str, object], sentence: str) -> None:
    good: dict[str, object] = {"user": "a", "mechanism": SHA_256, "password": "b"}
    with pytest.raises(InvalidValue, match=sentence):
        ScramUpsertion(**(good | values))  # type: ignore[arg-type]


async def test_a_credential_is_not_changed_twice_at_once() -> None:
    async with scripted_brokers(1) as brokers, client(brokers) as admin:
        with pytest.raises(InvalidValue, match="SCRAM-SHA-256 of user is changed twice"):
            await admin.alter_user_scram_credentials([upsertion(), upsertion()])


def test_a_password_is_not_printed() -> None:
    assert "pencil" not in repr(upsertion())
