"""AdminClient at nodes that refuse its login, and without a token to log in with."""

from __future__ import annotations

import pytest

from kwire.admin import AdminClient
from kwire.errors import BrokerError
from kwire.messages.a17_sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse
from kwire.messages.a36_sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from kwire.messages.a55_describe_quorum import DescribeQuorumRequest
from kwire.messages.a60_describe_cluster import DescribeClusterRequest
from kwire.net.bearer_token import BearerToken, BearerTokens, TokenUnavailable
from kwire.net.sasl import Credentials, Mechanism
from kwire.net.security import Security
from scripted_node import ScriptedNode

ALICE = Credentials(mechanism=Mechanism.PLAIN, username="alice", password="pw")


class Refusing(ScriptedNode):
    """A node that refuses whoever logs in."""

    def __init__(self) -> None:
        super().__init__()
        taken = SaslHandshakeResponse(mechanisms=("PLAIN", "OAUTHBEARER"))
        refusal = SaslAuthenticateResponse(error_code=58, error_message="no such user")
        self.scripts = {
            SaslHandshakeRequest: lambda frame: taken,
            SaslAuthenticateRequest: lambda frame: refusal,
            # Offered, so that the client would ask them.
            DescribeClusterRequest: lambda frame: pytest.fail("nobody is let in"),
            DescribeQuorumRequest: lambda frame: pytest.fail("nobody is let in"),
        }


async def test_a_refused_login_is_final_and_no_other_node_is_asked() -> None:
    """Kafka delays each refusal, and a user may be locked out after some."""
    async with Refusing() as first, Refusing() as second:
        async with AdminClient(
            bootstrap_controllers=f"{first.address},{second.address}",
            security=Security(sasl=ALICE),
            timeout=600,
        ) as admin:
            with pytest.raises(BrokerError, match="refuses alice by PLAIN: no such user"):
                await admin.describe_metadata_quorum()
        logins = [node.requests(SaslAuthenticateRequest) for node in (first, second)]
        assert sorted(map(len, logins)) == [0, 1]


async def test_without_a_token_no_node_is_asked() -> None:
    class NoSource:
        """A source that is empty."""

        async def fetch(self) -> BearerToken:
            raise TokenUnavailable("the token file a is empty")

    tokens = BearerTokens(NoSource())
    security = Security(sasl=Credentials(mechanism=Mechanism.OAUTHBEARER, tokens=tokens))
    async with Refusing() as node:
        client = AdminClient(bootstrap_servers=node.address, security=security, timeout=600)
        async with client as admin:
            with pytest.raises(TokenUnavailable, match="the token file a is empty"):
                await admin.describe_cluster()
        assert node.asked == []
