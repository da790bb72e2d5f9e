"""Steps by Kafka's tools that are about SCRAM credentials and delegation tokens.

The files {admin}, {alice}, {bob} and so on are clients' properties; of these users only admin may
everything, by PLAIN.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from tests.support.controller.live.tool_step import CONFIGS, SASL, ToolStep, step, step_at
from tests.support.controller.sasl_listeners import ADMIN, ADMIN_PASSWORD, MODULES

TOKEN_COMMAND = "DelegationTokenCommand"
PASSWORDS: Mapping[str, str] = {"alice": "alice-1", "alice_again": "alice-2", "bob": "bob-1"}
"""By the name of the file: the second is what alice's becomes."""

BROKER_LOGINS: Mapping[str, str] = {
    "listener.name.sasl.sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512",
    "listener.name.sasl.plain.sasl.jaas.config": f"{MODULES}.plain.PlainLoginModule required"
    f' user_{ADMIN}="{ADMIN_PASSWORD}";',
    "listener.name.sasl.scram-sha-256.sasl.jaas.config": f"{MODULES}.scram.ScramLoginModule"
    " required;",
    "listener.name.sasl.scram-sha-512.sasl.jaas.config": f"{MODULES}.scram.ScramLoginModule"
    " required;",
}
"""Properties of the brokers' listener SASL."""


def client_properties(mechanism: str, user: str, password: str, more: str = "") -> str:
    """Return the text of a client's file."""
    kind = "plain.PlainLoginModule" if mechanism == "PLAIN" else "scram.ScramLoginModule"
    return (
        "security.protocol=SASL_PLAINTEXT\n"
        f"sasl.mechanism={mechanism}\n"
        f"sasl.jaas.config={MODULES}.{kind} required"
        f' username="{user}" password="{password}"{more};\n'
    )


CLIENT_FILES: Mapping[str, str] = {
    "admin": client_properties("PLAIN", ADMIN, ADMIN_PASSWORD),
    "bob": client_properties("SCRAM-SHA-512", "bob", PASSWORDS["bob"]),
    **{
        name: client_properties("SCRAM-SHA-256", "alice", PASSWORDS[name])
        for name in ("alice", "alice_again")
    },
}
"""Texts of the clients' files by name."""

BY_TOKEN = client_properties("SCRAM-SHA-256", "{id}", "{hmac}", ' tokenauth="true"')
"""The file of one who logs in with the token of alice."""


def _by(user: str, tool: str, words: str, *, until: str = "") -> ToolStep:
    """Make a step whose client logs in with the file of a user."""
    made = step_at(SASL, tool, words, until=until)
    words_ = (*made.words, "--command-config", f"{{{user}}}")
    return replace(made, name=f"{made.name} as {user}", words=words_)


def _password(user: str, mechanism: str, password: str) -> str:
    return (
        f"--alter --entity-type users --entity-name {user} --add-config"
        f" {mechanism}=[iterations=4096,password={password}]"
    )


def credentials() -> Iterator[ToolStep]:
    """Users come, log in, change their passwords and go."""
    yield _by("alice", "TopicCommand", "--list")
    yield _by("admin", CONFIGS, _password("alice", "SCRAM-SHA-256", PASSWORDS["alice_again"]))
    # The brokers follow the log: they know of a password soon after.
    yield _by("alice_again", "TopicCommand", "--describe --topic secret", until="not exist")
    yield _by("alice", "TopicCommand", "--list")
    yield _by("admin", CONFIGS, _password("alice", "SCRAM-SHA-256", PASSWORDS["alice"]))
    yield _by("alice", "TopicCommand", "--describe --topic secret", until="not exist")
    yield _by("admin", CONFIGS, _password("bob", "SCRAM-SHA-512", PASSWORDS["bob"]))
    yield _by("bob", "TopicCommand", "--describe --topic secret", until="not exist")
    for words in (
        "--describe --entity-type users",
        "--describe --entity-type users --entity-name alice",
        _password("alice", "SCRAM-SHA-1024", "x"),
        _password("alice", "SCRAM-SHA-512", ""),
        "--alter --entity-type users --entity-name bob --delete-config SCRAM-SHA-256",
        _password("carol", "SCRAM-SHA-256", "x"),
        "--alter --entity-type users --entity-name carol --delete-config SCRAM-SHA-256",
        "--describe --entity-type users --entity-name carol",
        "--alter --entity-type users --entity-default --add-config SCRAM-SHA-256=[password=x]",
        "--alter --entity-type users --entity-name bob --add-config producer_byte_rate=1024",
        "--describe --entity-type users --entity-name bob",
        "--alter --entity-type users --entity-name bob --delete-config producer_byte_rate",
    ):
        yield _by("admin", CONFIGS, words)
    # Who is no super user.
    yield _by("alice", CONFIGS, _password("bob", "SCRAM-SHA-512", "mine"))
    yield _by("alice", CONFIGS, "--describe --entity-type users")
    yield _by("alice", "TopicCommand", "--create --topic mine --partitions 1")


def tokens() -> Iterator[ToolStep]:
    """Tokens are made, shown, used, renewed and ended."""
    yield step(TOKEN_COMMAND, "--create --max-life-time-period -1")
    create = "--create --max-life-time-period"
    made = _by("alice", TOKEN_COMMAND, f"{create} -1 --renewer-principal User:bob")
    yield replace(
        made,
        keep={
            "id": r"(?m)^(\S+) +\S+== +User:alice ",
            "hmac": r"(?m)^\S+ +(\S+==) +User:alice ",
        },
    )
    yield _by("alice", TOKEN_COMMAND, f"{create} 3600000")
    yield _by("alice", TOKEN_COMMAND, f"{create} -1 --renewer-principal Group:g")
    for_bob = f"{create} -1 --owner-principal User:bob"
    yield _by("alice", TOKEN_COMMAND, for_bob)
    grant = "--user-principal User:bob --allow-principal User:alice --operation CreateTokens"
    yield _by("admin", "AclCommand", f"--add {grant}")
    yield _by("alice", TOKEN_COMMAND, for_bob, until="Created")
    yield _by("admin", TOKEN_COMMAND, f"{create} -1")
    yield _by("alice", TOKEN_COMMAND, "--describe")
    yield _by("bob", TOKEN_COMMAND, "--describe")
    yield _by("admin", TOKEN_COMMAND, "--describe")
    for user in ("alice", "bob"):
        yield _by(user, TOKEN_COMMAND, "--describe --owner-principal User:alice")
        yield _by(user, TOKEN_COMMAND, "--describe --owner-principal User:bob")
    yield _by("admin", TOKEN_COMMAND, "--describe --owner-principal User:bob")
    yield _by("admin", TOKEN_COMMAND, "--describe --owner-principal User:nobody")
    used = _by("by_token", "TopicCommand", "--describe --topic secret", until="not exist")
    yield replace(used, files={"by_token": BY_TOKEN})
    yield _by("by_token", TOKEN_COMMAND, f"{create} -1")
    yield _by("by_token", TOKEN_COMMAND, "--describe")
    renew, expire = "--renew --renew-time-period", "--expire --expiry-time-period"
    yield _by("by_token", TOKEN_COMMAND, f"{renew} -1 --hmac {{hmac}}")
    yield _by("bob", TOKEN_COMMAND, f"{renew} 7200000 --hmac {{hmac}}", until="Completed")
    yield _by("alice", TOKEN_COMMAND, f"{renew} -1 --hmac {{hmac}}")
    yield _by("admin", TOKEN_COMMAND, f"{renew} -1 --hmac {{hmac}}")
    yield _by("alice", TOKEN_COMMAND, f"{renew} -1 --hmac abcd")
    yield _by("admin", TOKEN_COMMAND, f"{expire} 3600000 --hmac {{hmac}}")
    yield _by("alice", TOKEN_COMMAND, f"{expire} 3600000 --hmac {{hmac}}")
    yield _by("alice", TOKEN_COMMAND, f"{expire} -1 --hmac abcd")
    yield _by("by_token", TOKEN_COMMAND, f"{expire} -1 --hmac {{hmac}}")
    yield _by("bob", TOKEN_COMMAND, f"{expire} -1 --hmac {{hmac}}")
    yield _by("bob", TOKEN_COMMAND, "--describe ")
    yield _by("alice", TOKEN_COMMAND, f"{renew} -1 --hmac {{hmac}}", until="NotFound")
    yield _by("by_token", "TopicCommand", "--list", until="Authentication")
    yield _by("admin", "AclCommand", f"--remove --force {grant}")
    yield _by("alice", CONFIGS, "--alter --entity-type users --entity-name x --delete-config y")
    gone = "--alter --entity-type users --entity-name bob --delete-config SCRAM-SHA-512"
    yield _by("admin", CONFIGS, gone)
    yield _by("bob", "TopicCommand", "--list", until="Authentication")
