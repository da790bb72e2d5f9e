"""`kwire configs`, `acls`, `quotas`, `scram` and `tokens` on a real node, beside Kafka's tools."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kwire.net.address import Address
from kwire.net.connection import Connection
from kwire.net.security import read_security
from tests.support.cli.command import Command, Run
from tests.support.eventually import eventually_blocking
from tests.support.proxy.secure_cluster import PLAIN_PASSWORD, SecureCluster

CONFIGS = "kafka.admin.ConfigCommand"
ACLS = "org.apache.kafka.tools.AclCommand"
TOKENS = "org.apache.kafka.tools.DelegationTokenCommand"
NEW_PASSWORD = "new-w0rd ünd mehr"

Kwire = Callable[..., Run]
Tool = Callable[..., str]


@pytest.fixture
def options(secure: SecureCluster, tmp_path: Path) -> list[str]:
    """Of the broker's listener on which alice authenticates by PLAIN."""
    file = secure.client_properties(tmp_path / "alice", "PLAIN", "alice", PLAIN_PASSWORD)
    return ["--bootstrap-server", secure.node("DIRECT_SASL"), "--command-config", str(file)]


@pytest.fixture
def ours(kwire: Command, options: list[str]) -> Kwire:
    """kwire's commands, which succeed and print JSON."""

    def run(*words: str, stdin: bytes = b"") -> Run:
        done = kwire(*words, *options, "--json", stdin=stdin)
        assert done.code == 0, done.out + done.err
        return done

    return run


@pytest.fixture
def theirs(secure: SecureCluster, options: list[str]) -> Tool:
    """Kafka's tools, and what they print."""

    def run(tool: str, *words: str) -> str:
        done = secure.cluster.tool(tool, *options, *words)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run


def test_values_sources_and_synonyms_are_those_of_kafka_configs(ours: Kwire, theirs: Tool) -> None:
    text = theirs(CONFIGS, "--describe", "--all", "--entity-type", "brokers", "--entity-name", "1")
    lines = re.findall(
        r"^  (\S+?)=(.*) sensitive=(true|false) synonyms=\{(.*)\}$", text, re.MULTILINE
    )
    rows = ours("configs", "describe", "broker", "1", "--all", "--synonyms").json["configs"]
    assert len(lines) > 300
    assert {name: (value, sensitive) for name, value, sensitive, _ in lines} == {
        row["name"]: (row["value"] or ("" if row["value"] == "" else "null"), _bool(row))
        for row in rows
    }
    assert {name: synonyms for name, _, _, synonyms in lines} == {
        row["name"]: ", ".join(
            f"{each['source']}:{each['name']}={'null' if each['value'] is None else each['value']}"
            for each in row["synonyms"]
        )
        for row in rows
    }


def _bool(row: dict[str, object]) -> str:
    return str(row["isSensitive"]).lower()


def test_acls_are_those_of_kafka_acls(ours: Kwire, theirs: Tool) -> None:
    resources = ["--topic", "kwire-t", "--group", "kwire-g", "--transactional-id", "kwire-x"]
    bob = ["--allow-principal", "User:bob", "--producer", "--consumer"]
    added = ours("acls", "add", *resources, *bob, "--allow-host", "10.1.2.3").json["acls"]
    rows = eventually_blocking(
        lambda: ours("acls", "list", "--principal", "User:bob").json["acls"],
        lambda found: len(found) == len(added),
    )
    text = theirs(ACLS, "--list", "--principal", "User:bob")
    assert _tool_acls(text) == {tuple(row.values()) for row in rows}
    assert theirs(ACLS, "--add", *resources, *bob, "--allow-host", "10.1.2.3")
    assert ours("acls", "list", "--principal", "User:bob").json["acls"] == rows
    ours("acls", "remove", "--principal", "User:bob", "--resource-pattern-type", "any", "--yes")
    eventually_blocking(
        lambda: ours("acls", "list", "--principal", "User:bob").json["acls"],
        lambda found: not found,
    )


def _tool_acls(text: str) -> set[tuple[str, ...]]:
    acls = set()
    resource: tuple[str, ...] = ()
    for line in text.splitlines():
        if found := re.search(r"resourceType=(\w+), name=(.*), patternType=(\w+)\)", line):
            resource = found.groups()
        elif found := re.search(
            r"principal=(.*), host=(.*), operation=(\w+), permissionType=(\w+)", line
        ):
            acls.add((*resource, *found.groups()))
    return acls


def test_quotas_are_those_of_kafka_configs(ours: Kwire, theirs: Tool) -> None:
    carol = ("--user", "carol", "--client-defaults")
    ours("quotas", "set", *carol, "producer_byte_rate=1024", "request_percentage=12.5")
    rows = eventually_blocking(
        lambda: ours("quotas", "list", *carol).json["quotas"], lambda found: len(found) == 2
    )
    text = theirs(CONFIGS, "--describe", *carol)
    assert "'carol'" in text
    told = {key: float(value) for key, value in re.findall(r"(\w+_\w+)=([\d.]+)", text)}
    assert told == {row["key"]: row["value"] for row in rows}
    assert rows[0]["entity"] == [
        {"type": "user", "name": "carol"},
        {"type": "client-id", "name": None},
    ]
    ours("quotas", "unset", *carol, "producer_byte_rate", "request_percentage")


def test_a_password_that_was_set_opens_both_mechanisms(
    ours: Kwire, theirs: Tool, secure: SecureCluster, tmp_path: Path
) -> None:
    mechanisms = ["SCRAM-SHA-256", "SCRAM-SHA-512"]
    chosen = [word for name in mechanisms for word in ("--mechanism", name)]
    secret = f"{NEW_PASSWORD}\n".encode()
    ours("scram", "set", "dave", *chosen, "--password-file", "-", stdin=secret)
    rows = eventually_blocking(
        lambda: ours("scram", "list").json["credentials"],
        lambda found: sum(row["user"] == "dave" for row in found) == 2,
    )
    text = theirs(CONFIGS, "--describe", "--entity-type", "users", "--entity-name", "dave")
    assert {
        (name, int(count)) for name, count in re.findall(r"(SCRAM[-\w]+)=iterations=(\d+)", text)
    } == {(row["mechanism"], row["iterations"]) for row in rows if row["user"] == "dave"}
    for mechanism in mechanisms:
        file = secure.client_properties(tmp_path / mechanism, mechanism, "dave", NEW_PASSWORD)
        asyncio.run(_log_in(secure, file))
    ours("scram", "delete", "dave", "--yes")
    eventually_blocking(
        lambda: ours("scram", "list").json["credentials"],
        lambda found: all(row["user"] != "dave" for row in found),
    )


async def _log_in(secure: SecureCluster, file: Path) -> None:
    address = Address.parse(secure.node("DIRECT_SASL"))
    async with await Connection.open(
        address.host, address.port, sasl=read_security(file).sasl, connect_timeout=60
    ):
        pass


def test_a_token_lives_until_it_is_ended(ours: Kwire, theirs: Tool) -> None:
    def found(token_id: str) -> list[dict[str, Any]]:
        tokens = ours("tokens", "list").json["tokens"]
        return [token for token in tokens if token["tokenId"] == token_id]

    options = ("--max-life-time-period", "2h", "--renewer-principal", "User:bob")
    (made,) = ours("tokens", "create", *options).json["tokens"]
    assert (made["owner"], made["requester"], made["renewers"]) == (
        "User:alice",
        "User:alice",
        ["User:bob"],
    )
    assert made["maxDateMs"] - made["issueDateMs"] == 2 * 3_600_000
    (listed,) = eventually_blocking(lambda: found(made["tokenId"]), bool)
    assert {**listed, "hmac": made["hmac"]} == made
    text = theirs(TOKENS, "--describe", "--owner-principal", "User:alice")
    (line,) = [line for line in text.splitlines() if made["tokenId"] in line]
    assert line.split()[1:4] == [made["hmac"], "User:alice", "User:alice"]
    ours("tokens", "renew", made["tokenId"], "--renew-time-period", "1h")
    eventually_blocking(
        lambda: found(made["tokenId"])[0]["expiryDateMs"],
        lambda end: end < listed["expiryDateMs"],
    )
    hmac = made["hmac"].encode()
    ours("tokens", "expire", "--hmac-file", "-", "--yes", stdin=hmac)
    eventually_blocking(lambda: found(made["tokenId"]), lambda tokens: not tokens)


def test_without_a_login_there_are_no_tokens(kwire: Command, secure: SecureCluster) -> None:
    run = kwire("tokens", "create", "--bootstrap-server", secure.node("PLAINTEXT"))
    assert run.code == 1
    assert "connect by SASL or with a client certificate" in run.error
