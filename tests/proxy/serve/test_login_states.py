"""Only whom the node has let in, by SASL and until the session ends, is answered or routed here."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from kwire.codec.declaration import Request, Response
from kwire.error_codes import ErrorCode
from kwire.image import MetadataImage
from kwire.messages.a00_produce import (
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)
from kwire.messages.a17_sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse
from kwire.messages.a18_api_versions import ApiVersionsRequest
from kwire.messages.a36_sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from kwire.messages.registry import request, response
from kwire.net.address import Address
from kwire.net.connection import Connection
from kwire.net.frames import RequestFrame
from kwire.net.service import RequestContext
from kwire.proxy import Filters, Listener, Proxy
from kwire.proxy.flows.flow import ClientConnection
from kwire.proxy.flows.login import Identity
from kwire.proxy.serve import Dispatch, RoutedResponse
from kwire.proxy.serve.callers import Caller, logged_in
from kwire.proxy.serve.cluster_view import ClusterView
from kwire.proxy.serve.image_service import ANSWERED, ImageService
from kwire.proxy.serve.modes import start_task
from kwire.proxy.serve.router import ACTIVE_CONTROLLER_APIS, READ_APIS
from scripted_node import Script, ScriptedNode, api_versions
from tests.support.proxy.dialogue import answered, asked
from tests.support.proxy.filter_dialogue import through

PATIENCE = 60.0
ROUTED = {**ACTIVE_CONTROLLER_APIS, 32: request(32).versions}
FIRST = b"n,,n=alice,r=rOprNGfwEbeRWgbNEkqO"
CHALLENGE = b"r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj,s=W22ZaJ0SNY7soEsUEjb6,i=4096"
LAST = b"c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj,p=dHzbZapWIk4jUhN"
PROOF = b"v=6rriTRBi23WpRJL/4vhHrhA="
REFUSED = int(ErrorCode.SASL_AUTHENTICATION_FAILED)


@dataclass(frozen=True)
class Step:
    """A request of the client's login, and the node's response."""

    request: Request
    response: Response
    version: int = 1


def handshake(mechanism: str, version: int = 1, code: int = 0) -> Step:
    answer = SaslHandshakeResponse(error_code=code, mechanisms=(mechanism,))
    return Step(SaslHandshakeRequest(mechanism=mechanism), answer, version)


def token(
    sent: bytes, answer: bytes = b"", *, code: int = 0, lifetime: int = 0, version: int = 2
) -> Step:
    done = SaslAuthenticateResponse(
        error_code=code, auth_bytes=answer, session_lifetime_ms=lifetime if version else 0
    )
    return Step(SaslAuthenticateRequest(auth_bytes=sent), done, version)


PASSWORD = token(b"\0alice\0secret")
PLAIN = (handshake("PLAIN"), PASSWORD)
SCRAM = (handshake("SCRAM-SHA-256"), token(FIRST, CHALLENGE), token(LAST, PROOF))
BEARER = b"n,,\x01auth=Bearer eyJ\x01\x01"
WAIT = Step(ApiVersionsRequest(), api_versions())

STATES: dict[str, tuple[tuple[Step, ...], str | None]] = {
    "nothing": ((), None),
    "handshake v0": ((handshake("PLAIN", 0),), None),
    "handshake v1": ((handshake("PLAIN"),), None),
    "mechanism refused": ((handshake("PLAIN", code=ErrorCode.UNSUPPORTED_SASL_MECHANISM),), None),
    "mechanism refused, then a token": (
        (handshake("PLAIN", code=ErrorCode.UNSUPPORTED_SASL_MECHANISM), PASSWORD),
        None,
    ),
    "token without a handshake": ((PASSWORD,), None),
    "token refused": ((handshake("PLAIN"), token(b"\0alice\0x", code=REFUSED)), None),
    "token refused, then sent again": (
        (handshake("PLAIN"), token(b"\0alice\0x", code=REFUSED), PASSWORD),
        None,
    ),
    "half a SCRAM": (SCRAM[:2], None),
    "half a SCRAM, then an answer that proves nothing": ((*SCRAM[:2], token(LAST)), None),
    "SCRAM refused": ((*SCRAM[:2], token(LAST, code=REFUSED)), None),
    "SCRAM that began anew": ((*SCRAM[:2], *SCRAM[:2]), None),
    "SCRAM answered at once": ((SCRAM[0], token(FIRST, PROOF)), None),
    "bearer refused": (
        (handshake("OAUTHBEARER"), token(BEARER, b'{"status":"invalid_token"}')),
        None,
    ),
    "bearer refused, then its end": (
        (handshake("OAUTHBEARER"), token(BEARER, b"{}"), token(b"\x01")),
        None,
    ),
    "bearer whose token is over": ((handshake("OAUTHBEARER"), token(BEARER)), None),
    "a mechanism whose end is not seen": ((handshake("GSSAPI"), token(b"`\x82", b"")), None),
    "without the lifetime": ((handshake("PLAIN"), token(b"\0alice\0secret", version=0)), None),
    "a token that names nobody": ((handshake("PLAIN"), token(b"alice")), None),
    "an identity to act for": ((handshake("PLAIN"), token(b"root\0alice\0secret")), None),
    "expired": ((handshake("PLAIN"), token(b"\0alice\0secret", lifetime=1), WAIT), None),
    "authenticating again": ((*PLAIN, handshake("PLAIN")), None),
    "authenticating again, v0": ((*PLAIN, handshake("PLAIN", 0)), None),
    "authenticating again, half a SCRAM": ((*SCRAM, *SCRAM[:2]), None),
    "authenticated again, refused": (
        (*PLAIN, handshake("PLAIN"), token(b"\0alice\0x", code=REFUSED)),
        None,
    ),
    "a token after the login": ((*PLAIN, token(b"x", code=ErrorCode.ILLEGAL_SASL_STATE)), None),
    "done": (PLAIN, "User:alice"),
    "done for herself": ((handshake("PLAIN"), token(b"alice\0alice\0secret")), "User:alice"),
    "done, with a lifetime": (
        (handshake("PLAIN"), token(b"\0alice\0secret", lifetime=3_600_000)),
        "User:alice",
    ),
    "SCRAM done": (SCRAM, "User:alice"),
    "SCRAM with an odd name": (
        (SCRAM[0], token(b"n,,n=a=2Cb=3Dc,r=x", CHALLENGE), SCRAM[2]),
        "User:a,b=c",
    ),
    "SCRAM of somebody else": (
        (SCRAM[0], token(b"n,a=root,n=alice,r=x", CHALLENGE), SCRAM[2]),
        None,
    ),
    "delegation token that nobody knows": (
        (
            SCRAM[0],
            token(FIRST + b",tokenauth=true", CHALLENGE),
            token(LAST, PROOF, lifetime=60_000),
        ),
        "",
    ),
    "delegation token that is over": (
        (SCRAM[0], token(FIRST + b",tokenauth=true", CHALLENGE), SCRAM[2]),
        None,
    ),
    "bearer done": ((handshake("OAUTHBEARER"), token(BEARER, lifetime=60_000)), ""),
    "authenticated again": ((*PLAIN, *PLAIN), "User:alice"),
}
"""Name, steps, and the principal that is let in; None for nobody, "" if only the node knows it."""


class Service:
    """A service that writes down what reaches it: API key and principal."""

    apis = ANSWERED

    def __init__(self, reached: list[tuple[int, str]]) -> None:
        self.reached = reached

    async def answer(self, body: Request, context: RequestContext) -> Response:
        self.reached.append((type(body).key or 0, context.principal))
        return response(type(body).key or 0)()


class Router:
    """A router that does."""

    apis = ROUTED
    reads = READ_APIS
    lends_rights = False

    def __init__(self, reached: list[tuple[int, str]]) -> None:
        self.reached = reached

    def may_route(self, key: int, caller: Caller) -> bool:
        return True

    async def route(self, body: Request, context: RequestContext, caller: Caller) -> RoutedResponse:
        self.reached.append((type(body).key or 0, caller.principal or ""))
        return RoutedResponse(response=response(type(body).key or 0)(), node="node 7")


def find_caller(connection: ClientConnection, now: float) -> Caller | None:
    return logged_in(connection, now, MetadataImage)


async def reached(steps: tuple[Step, ...]) -> tuple[list[tuple[int, str]], int]:
    """Log in by these steps, then send every API once.

    Return what was answered or routed, by API key and principal, and how many reached the node.
    """
    here: list[tuple[int, str]] = []
    dispatch = Dispatch(
        Service(here), start_task, name="scripted", router=Router(here), find_caller=find_caller
    )
    answers: Iterator[Step] = iter(steps)

    def login(frame: RequestFrame) -> Response:
        return next(answers).response

    apis = {**ROUTED, **ANSWERED}
    scripts: dict[type[Request], Script] = {
        request(key): lambda frame: response(type(frame.body).key or 0)() for key in apis
    }
    scripts |= {SaslHandshakeRequest: login, SaslAuthenticateRequest: login}
    async with asyncio.timeout(PATIENCE), ScriptedNode(scripts) as node:
        listener = Listener(node_id=1, upstream=Address("127.0.0.1", node.port))
        async with Proxy([listener], filters=Filters([dispatch])) as proxy:
            at = proxy.addresses[listener]
            async with await Connection.open(at.host, at.port, client_id="me") as connection:
                for step in steps:
                    if step is WAIT:
                        next(answers)
                        await asyncio.sleep(0.01)
                    else:
                        await connection.send(step.request, step.version)
                before = len(node.asked)
                for key, versions in apis.items():
                    await connection.send(request(key)(), versions.last)
                passed = len(node.asked) - before
    return here, passed


@pytest.mark.parametrize("state", STATES)
async def test_nothing_is_answered_or_routed_before_a_login_is_complete(state: str) -> None:
    steps, principal = STATES[state]
    here, passed = await reached(steps)
    if principal is None:
        assert (here, passed) == ([], len(ROUTED) + len(ANSWERED))
    else:
        anonymous = "User:ANONYMOUS"
        assert passed == 0
        assert here == [
            *((key, principal) for key in ROUTED),
            *((key, principal or anonymous) for key in ANSWERED),
        ]


def test_a_response_that_nobody_asked_for_lets_nobody_in() -> None:
    """A node refuses a Produce within a login, though that asks for no response."""
    dispatch = Dispatch(ImageService(_no_view), start_task, name="metadata")
    dialogue = through(dispatch)
    topic = TopicProduceData(name="\0\0\x10".ljust(0x100, "\0"))
    dialogue.ask(
        asked(SaslHandshakeRequest(mechanism="PLAIN"), 1, 1),
        asked(ProduceRequest(acks=0, topic_data=[topic]), 3, 2),
        asked(SaslAuthenticateRequest(auth_bytes=b"\0admin\0?"), 1, 2),
    )
    refusal = ProduceResponse(responses=[TopicProduceResponse(name=topic.name)])
    dialogue.answer(answered(SaslHandshakeResponse(), 1, 1), answered(refusal, 3, 2))
    connection = dialogue.connection
    assert connection.login is not None
    assert connection.login.identity == Identity(user="admin")
    assert logged_in(connection, 0.0, MetadataImage) is None


async def _no_view() -> ClusterView:
    raise AssertionError("nothing is answered here")
