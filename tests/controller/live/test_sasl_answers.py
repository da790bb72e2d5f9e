"""Every right and wrong order of a login, sent to a controller of kwire's and to one of Kafka's."""

from __future__ import annotations

import asyncio
from pathlib import Path

from kwire.logdir.scram import FirstCredential
from kwire.testing.quorum import Quorum
from tests.support.controller.sasl_listeners import MODULES, sasl_listener, signed_tokens
from tests.support.controller.sasl_sequences import CLOSED, answers, sequences
from tests.support.proxy.secure_cluster import PLAIN_PASSWORD, SecureCluster

MECHANISMS = ("PLAIN", "OAUTHBEARER", "SCRAM-SHA-256", "SCRAM-SHA-512")
PREFIX = "listener.name.controller"

DIFFERENT = {
    "SCRAM, unknown user": "Kafka refuses the first message, and tells so who exists",
    "a token with a number for a scope": "a fault of Kafka's, which closes the connection",
    "a token of Basic": "a fault of Kafka's, which closes the connection",
}


async def both(port: int, folder: Path, secure: SecureCluster) -> dict[str, tuple[object, object]]:
    secure.issuer.write_jwks(folder / "keys.json")
    plain = (
        f'{MODULES}.plain.PlainLoginModule required username="alice" password="{PLAIN_PASSWORD}"'
        f' user_alice="{PLAIN_PASSWORD}";'
    )
    properties = (
        sasl_listener(*MECHANISMS)
        | signed_tokens(folder / "keys.json")
        | {"connections.max.reauth.ms": "60000", f"{PREFIX}.plain.sasl.jaas.config": plain}
    )
    users = [FirstCredential.of_password(name, "alice", PLAIN_PASSWORD) for name in MECHANISMS[2:]]
    async with Quorum(1, properties=properties, scram=users) as quorum:
        await quorum.wait_for_leader()
        own = quorum.nodes[3000].config.listeners[0].port
        table = sequences("alice", PLAIN_PASSWORD, secure.issuer)
        gate = asyncio.Semaphore(8)

        async def one(at: int, name: str) -> list[object]:
            async with gate:
                return await answers(at, table[name])

        pairs = await asyncio.gather(
            *(asyncio.gather(one(own, name), one(port, name)) for name in table)
        )
    return {name: (ours, theirs) for name, (ours, theirs) in zip(table, pairs, strict=True)}


def test_every_login_gets_the_answers_of_kafkas_controller(
    secure: SecureCluster, tmp_path: Path
) -> None:
    results = asyncio.run(both(secure.behind["CONTROLLER_SASL"], tmp_path, secure))
    differences = {name: pair for name, pair in results.items() if pair[0] != pair[1]}
    assert set(differences) == set(DIFFERENT), differences
    assert sum(ours[-1] == CLOSED for ours, _ in results.values() if isinstance(ours, list)) > 40
