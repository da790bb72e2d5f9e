"""`kwire scram` and `kwire tokens` take secrets from files and stdin, and do not show them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from kwire.messages import a39_renew_delegation_token as renewed
from kwire.messages import a41_describe_delegation_token as described
from kwire.messages import a51_alter_user_scram_credentials as altered
from kwire.net.frames import RequestFrame
from tests.support.admin.scripted_brokers import ScriptedBrokers
from tests.support.cli.command import Command
from tests.support.cli.scripted_cluster import at, scripted_cluster

PASSWORD = "kept-in-a-safe"
HMAC = b"a-token's-password"


@pytest.fixture
def cluster() -> Iterator[ScriptedBrokers]:
    def alter(request: RequestFrame) -> altered.AlterUserScramCredentialsResponse:
        result = altered.AlterUserScramCredentialsResult(user="alice")
        return altered.AlterUserScramCredentialsResponse(results=[result])

    def describe(request: RequestFrame) -> described.DescribeDelegationTokenResponse:
        token = described.DescribedDelegationToken(
            principal_type="User", principal_name="alice", token_id="t1", hmac=HMAC
        )
        return described.DescribeDelegationTokenResponse(tokens=[token])

    def renew(request: RequestFrame) -> renewed.RenewDelegationTokenResponse:
        return renewed.RenewDelegationTokenResponse(expiry_timestamp_ms=1_700_000_000_000)

    with scripted_cluster() as brokers:
        brokers.nodes[0].scripts |= {
            altered.AlterUserScramCredentialsRequest: alter,
            described.DescribeDelegationTokenRequest: describe,
            renewed.RenewDelegationTokenRequest: renew,
        }
        yield brokers


@pytest.mark.parametrize("ending", ["", "\n", "\r\n"])
def test_a_password_is_the_line_of_its_file(
    kwire: Command, cluster: ScriptedBrokers, tmp_path: Path, ending: str
) -> None:
    file = tmp_path / "password"
    file.write_bytes(f"{PASSWORD}{ending}".encode())
    run = kwire("scram", "set", "alice", "--password-file", str(file), *at(cluster))
    (request,) = cluster.nodes[0].requests(altered.AlterUserScramCredentialsRequest)
    assert isinstance(request, altered.AlterUserScramCredentialsRequest)
    (upsertion,) = request.upsertions
    import hashlib

    assert upsertion.salted_password == hashlib.pbkdf2_hmac(
        "sha512", PASSWORD.encode(), upsertion.salt, 8192
    )
    assert run.code == 0
    assert PASSWORD not in run.out + run.err


@pytest.mark.parametrize(
    ("words", "stdin", "sentence"),
    [
        (["set", "alice"], b"", "give --password-file FILE, - for stdin."),
        (["set", "alice", "--password-file", "-"], b"\n", "the password in - is empty."),
        (["set", "alice", "--password-file", "-"], b"a\nb\n", "has more than one line."),
        (["set", "alice", "--password-file", "-"], b"\xff\xfe\n", "is no text in UTF-8."),
        (["set", "alice", "--mechanism", "PLAIN"], b"", "'PLAIN' is no mechanism"),
        (["delete", "alice"], b"", "Not a terminal: confirm with --yes."),
    ],
)
def test_wrong_words_are_refused_before_anything_is_sent(
    kwire: Command, cluster: ScriptedBrokers, words: list[str], stdin: bytes, sentence: str
) -> None:
    run = kwire("scram", *words, *at(cluster), stdin=stdin)
    assert (run.code, sentence in run.error) == (2, True)
    assert not cluster.nodes[0].asked


def test_a_list_of_tokens_has_no_hmac(kwire: Command, cluster: ScriptedBrokers) -> None:
    run = kwire("tokens", "list", "--json", *at(cluster))
    (row,) = run.json["tokens"]
    assert (row["tokenId"], row["owner"], row["requester"]) == ("t1", "User:alice", None)
    assert "hmac" not in row


def test_a_token_is_renewed_by_its_id(kwire: Command, cluster: ScriptedBrokers) -> None:
    run = kwire("tokens", "renew", "t1", "--renew-time-period", "24h", "--json", *at(cluster))
    (request,) = cluster.nodes[0].requests(renewed.RenewDelegationTokenRequest)
    assert request == renewed.RenewDelegationTokenRequest(hmac=HMAC, renew_period_ms=86_400_000)
    assert run.json["tokens"] == [
        {
            "tokenId": "t1",
            "expiryDate": "2023-11-14T22:13:20.000+00:00",
            "expiryDateMs": 1_700_000_000_000,
        }
    ]


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (["renew"], 2, "give a token's id, or --hmac-file."),
        (["renew", "t2"], 1, "You may see no token t2"),
        (["renew", "t1", "--renew-time-period", "soon"], 2, "'soon' is no period"),
        (["renew", "t1", "--renew-time-period", "0"], 2, "'0' is no period"),
        (["expire", "--hmac-file", "-", "--yes"], 2, "the HMAC in - is no base64."),
        (["expire", "t1"], 2, "confirm with --yes."),
    ],
)
def test_a_token_that_is_not_there_or_not_meant_is_left_alone(
    kwire: Command, cluster: ScriptedBrokers, words: list[str], code: int, sentence: str
) -> None:
    run = kwire("tokens", *words, *at(cluster), stdin=b"!!!")
    assert (run.code, sentence in run.error) == (code, True)
    assert not cluster.nodes[0].requests(renewed.RenewDelegationTokenRequest)


@pytest.mark.parametrize("key", ["ssl.key.password", "listener.name.x.plain.sasl.jaas.config"])
def test_a_secret_is_no_argument_of_configs(kwire: Command, key: str) -> None:
    words = ("configs", "set", "broker", "1", f"{key}=sesame")
    run = kwire(*words, "--bootstrap-server", "127.0.0.1:1")
    assert (run.code, "sesame" in run.err) == (2, False)
    assert f"{key} is secret, and every user of this machine sees arguments" in run.error
    assert run.error.endswith("give --add-config-file FILE.")
