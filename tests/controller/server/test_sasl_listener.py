"""Controllers that log in to each other, and clients that log in to them."""

from __future__ import annotations

import asyncio
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest

from kwire.admin import AdminClient
from kwire.conform import ConformanceVerdict, SuiteOptions, run_suite
from kwire.error_codes import ErrorCode
from kwire.errors import BrokerError
from kwire.messages.a38_create_delegation_token import (
    CreateDelegationTokenRequest,
    CreateDelegationTokenResponse,
)
from kwire.net.bearer_token import BearerTokens
from kwire.net.connection import Connection
from kwire.net.sasl import Credentials, Mechanism
from kwire.net.security import Security
from kwire.net.token_sources import TokenFile
from kwire.testing.quorum import Quorum
from tests.support.controller.sasl_listeners import (
    ADMIN,
    ADMIN_PASSWORD,
    ALICE,
    FIRST_CREDENTIALS,
    SCRAM,
    plain,
    sasl_listener,
    scram,
    signed_tokens,
)
from tests.support.tokens import TokenIssuer
from tests.support.virtual_time import in_virtual_time


@pytest.mark.parametrize("mechanism", ["PLAIN", *SCRAM])
@in_virtual_time
async def test_controllers_elect_a_leader_over_sasl_and_an_admin_asks_it(mechanism: str) -> None:
    properties = sasl_listener(mechanism)
    async with Quorum(3, properties=properties, scram=FIRST_CREDENTIALS) as quorum:
        leader = await quorum.active_controller()
        login = Credentials(mechanism=Mechanism(mechanism), username=ADMIN, password=ADMIN_PASSWORD)
        async with AdminClient(
            bootstrap_controllers=quorum.bootstrap_controllers, security=Security(sasl=login)
        ) as admin:
            status = await admin.describe_metadata_quorum()
    assert status.leader_id == leader.node_id
    assert len(status.voters) == 3


@pytest.mark.parametrize("mechanism", [Mechanism.SCRAM_SHA_256, Mechanism.SCRAM_SHA_512])
async def test_a_new_delegation_token_logs_in_but_makes_no_other(mechanism: Mechanism) -> None:
    properties = sasl_listener("PLAIN", *SCRAM) | {"delegation.token.secret.key": "s3cret"}
    ask = CreateDelegationTokenRequest(
        owner_principal_type=None, owner_principal_name=None, renewers=[], max_lifetime_ms=-1
    )
    async with Quorum(1, properties=properties, scram=FIRST_CREDENTIALS) as quorum:
        await quorum.wait_for_leader()
        port = quorum.nodes[3000].config.listeners[0].port
        async with await Connection.open("127.0.0.1", port, sasl=plain()) as connection:
            token = await connection.send(ask)
        assert isinstance(token, CreateDelegationTokenResponse)
        assert token.principal_name == ALICE
        login = Credentials(
            mechanism=mechanism,
            username=token.token_id,
            password=b64encode(token.hmac).decode(),
            is_delegation_token=True,
        )
        async with await Connection.open("127.0.0.1", port, sasl=login) as connection:
            refused = await connection.send(ask)
    assert isinstance(refused, CreateDelegationTokenResponse)
    assert refused.error_code == ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED
    assert refused.token_requester_principal_name == ALICE


@pytest.mark.parametrize(
    "wrong",
    [
        plain(password="wrong"),
        plain("nobody"),
        scram(password="wrong"),
        scram(user="nobody"),
        scram(Mechanism.SCRAM_SHA_256, "nobody"),
    ],
)
async def test_wrong_credentials_and_unknown_users_get_the_same_answer(wrong: Credentials) -> None:
    properties = sasl_listener("PLAIN", *SCRAM)
    async with Quorum(1, properties=properties, scram=FIRST_CREDENTIALS) as quorum:
        await quorum.wait_for_leader()
        port = quorum.nodes[3000].config.listeners[0].port
        with pytest.raises(BrokerError, match="wrong credentials for") as caught:
            await Connection.open("127.0.0.1", port, sasl=wrong)
    assert caught.value.code == ErrorCode.SASL_AUTHENTICATION_FAILED


async def test_a_signed_token_logs_in_and_another_issuers_does_not(tmp_path: Path) -> None:
    issuer, other = TokenIssuer(), TokenIssuer()
    issuer.write_jwks(tmp_path / "keys.json")
    properties = sasl_listener("PLAIN", "OAUTHBEARER") | signed_tokens(tmp_path / "keys.json")
    async with Quorum(1, properties=properties) as quorum:
        await quorum.wait_for_leader()
        port = quorum.nodes[3000].config.listeners[0].port

        async def login(token: str) -> None:
            (tmp_path / "token").write_text(token)
            tokens = BearerTokens(TokenFile(tmp_path / "token"))
            sasl = Credentials(mechanism=Mechanism.OAUTHBEARER, tokens=tokens)
            async with await Connection.open("127.0.0.1", port, sasl=sasl):
                pass

        await login(issuer.token(ALICE))
        with pytest.raises(BrokerError, match="invalid_token"):
            await login(other.token(ALICE))
        with pytest.raises(BrokerError, match="invalid_token"):
            await login(issuer.token(ALICE, aud="others"))


@pytest.mark.parametrize("sasl", [plain(), scram()], ids=["PLAIN", "SCRAM"])
def test_the_listener_keeps_every_sentence_of_kafkas_security(sasl: Credentials) -> None:
    async def run() -> None:
        properties = sasl_listener("PLAIN", *SCRAM) | {"connections.max.reauth.ms": "60000"}
        async with Quorum(1, properties=properties, scram=FIRST_CREDENTIALS) as quorum:
            await quorum.wait_for_leader()
            options = SuiteOptions(ids=("security",), security=Security(sasl=sasl))
            run = await run_suite(quorum.bootstrap_controllers, options)
        bad = {result.id: str(result) for result in run if result.verdict.is_bad}
        assert not bad
        assert run.counts[ConformanceVerdict.PASS] > 30

    asyncio.run(run())


@in_virtual_time
async def test_the_quorum_of_the_documents_runs() -> None:
    page = (Path(__file__).parents[3] / "docs/engineers/controller.md").read_text()
    blocks = [part.partition("```")[0] for part in page.split("```python\n")[1:]]
    (example,) = (block for block in blocks if "SASL_PLAINTEXT" in block)
    names: dict[str, Any] = {}
    exec(example, names)
    await names["main"]()
