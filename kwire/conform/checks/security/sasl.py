"""Steps of a login by SASL, one by one, as no client takes them."""

from __future__ import annotations

from kwire.conform.connection import CheckedConnection
from kwire.conform.expectation import expect, first_error
from kwire.conform.reaction import Reaction, error_text
from kwire.conform.server import Server
from kwire.conform.vocabulary import Deviation, Skipped
from kwire.error_codes import ErrorCode
from kwire.errors import BrokerError
from kwire.messages.a17_sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse
from kwire.messages.a36_sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from kwire.messages.a60_describe_cluster import DescribeClusterRequest
from kwire.messages.endpoint_type import EndpointType
from kwire.net.sasl import Credentials, Login, Mechanism

FAILED = ErrorCode.SASL_AUTHENTICATION_FAILED
ILLEGAL_STATE = ErrorCode.ILLEGAL_SASL_STATE
WRONG_PASSWORD = "kwire-conform: wrong on purpose"
NOBODY = "kwire-conform-nobody"


def credentials(server: Server, *mechanisms: Mechanism) -> Credentials:
    """Return the user's credentials. Raises Skipped unless they are for one of the mechanisms."""
    own = server.target.security.sasl
    if own is None:
        raise Skipped("it needs credentials")
    if mechanisms and own.mechanism not in mechanisms:
        raise Skipped(f"it needs credentials for {' or '.join(mechanisms)}")
    return own


async def handshake(
    connection: CheckedConnection, mechanism: str, version: int | None = None
) -> SaslHandshakeResponse:
    """Name a mechanism; return the answer, whatever its error."""
    request = SaslHandshakeRequest(mechanism=mechanism)
    chosen = connection.version_for(request) if version is None else version
    answer: SaslHandshakeResponse = await connection.ask(request, chosen)
    return answer


async def shaken(server: Server, mechanism: str) -> CheckedConnection:
    """Return a connection whose handshake is over. Raises Skipped without that mechanism."""
    connection = await server.connection_before_login()
    answer = await handshake(connection, mechanism)
    if answer.error_code and mechanism not in answer.mechanisms:
        raise Skipped(f"the listener has no {mechanism}")
    expect(not answer.error_code, "no error", error_text(answer.error_code))
    return connection


async def send_token(
    connection: CheckedConnection, token: bytes, version: int | None = None
) -> Reaction:
    """Send a token of a mechanism."""
    return await connection.exchange(SaslAuthenticateRequest(auth_bytes=token), version)


async def expect_refused(connection: CheckedConnection, token: bytes) -> SaslAuthenticateResponse:
    """Send a token; demand error 58, and that the connection is ended behind it."""
    reaction = await send_token(connection, token)
    body = reaction.body
    if not isinstance(body, SaslAuthenticateResponse) or body.error_code != FAILED:
        raise Deviation(error_text(FAILED), str(reaction))
    await expect_ended(connection)
    return body


async def expect_ended(connection: CheckedConnection) -> None:
    """Demand that the server has ended the connection."""
    state = await connection.probe()
    expect(state.ended, "the connection ended", f"it is {state.value}")


async def expect_served(server: Server, connection: CheckedConnection) -> None:
    """Demand an answer to DescribeCluster, for which a client has to be logged in."""
    is_broker = server.target.role.value == "broker"
    kind = EndpointType.BROKER if is_broker else EndpointType.CONTROLLER
    answer = await connection.ask(DescribeClusterRequest(endpoint_type=kind))
    expect(not first_error(answer), "an answer", error_text(first_error(answer)))


async def log_in(server: Server, connection: CheckedConnection) -> Login:
    """Log in with the user's credentials; return the login. Deviation if they are refused."""
    login = Login(await credentials(server).resolved(), connection.peer)
    try:
        await connection.log_in(login)
    except BrokerError as error:
        raise Deviation("the login accepted", str(error)) from None
    return login


async def logged_in(server: Server) -> CheckedConnection:
    """Return a connection that is logged in with the user's credentials."""
    connection = await server.connection_before_login()
    await log_in(server, connection)
    return connection
