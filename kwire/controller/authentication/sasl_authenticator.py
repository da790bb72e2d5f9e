"""One connection's authentication, frame by frame (Java: SaslServerAuthenticator).

KIP-43 has SaslHandshake, KIP-152 SaslAuthenticate, KIP-368 the sessions that end.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto

from kwire.codec.declaration import Response
from kwire.controller.authentication.exchanges import (
    Authenticated,
    AuthenticationFailed,
    LoginExchange,
    ServerMechanism,
)
from kwire.error_codes import ErrorCode
from kwire.errors import EncodeError, UnsupportedVersion, WireError
from kwire.messages.a00_produce import ProduceRequest
from kwire.messages.a17_sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse
from kwire.messages.a36_sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from kwire.messages.error_response import error_response
from kwire.messages.registry import api_key, api_name
from kwire.net.frames import (
    RequestFrame,
    RequestHead,
    decode_request,
    encode_response,
    request_head,
)

API_VERSIONS = api_key("ApiVersions")
HANDSHAKE = api_key("SaslHandshake")
AUTHENTICATE = api_key("SaslAuthenticate")

OTHER_REQUEST_LIMIT = 4096
"""Bytes of a request that is no SaslAuthenticate and yet gets an answer within a login: to read a
larger one, from somebody who is not known, could take long."""

_SIZE = struct.Struct(">i")
_ERROR_OF_VERSIONS = slice(8, 10)  # after size and correlation id, in every version
_FRAMES_SINCE = 1  # version of SaslHandshake; before, tokens come without a header


class SaslState(Enum):
    """The next request of a connection that is to be authenticated."""

    VERSIONS_OR_HANDSHAKE = auto()
    HANDSHAKE = auto()
    TOKEN = auto()
    REFUSED_MECHANISM = auto()
    COMPLETE = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class SaslStep:
    """answer: the frame to send. asks_versions: the request is ApiVersions, for others to answer;
    `versions_answered` takes their answer.
    """

    answer: bytes = b""
    asks_versions: bool = False


class SaslFailure(Exception):
    """The connection ends. answer: the frame to send before; empty for none."""

    def __init__(self, reason: str, answer: bytes = b"") -> None:
        super().__init__(reason)
        self.answer = answer


@dataclass(frozen=True, slots=True, kw_only=True)
class ListenerMechanism:
    """A mechanism of a listener.

    session_limit_ms: connections.max.reauth.ms, in milliseconds; 0 for sessions without an end.
    """

    server: ServerMechanism
    session_limit_ms: int = 0


class SaslAuthenticator:
    """Takes the frames of one connection until it has authenticated.

    mechanisms: those enabled, by name.
    authenticated: who the client is; None before. lifetime_ms: milliseconds for which that is
    true, from the answer on; None for ever.
    """

    def __init__(self, mechanisms: Mapping[str, ListenerMechanism]) -> None:
        self._mechanisms = mechanisms
        self._state = SaslState.VERSIONS_OR_HANDSHAKE
        self._has_frames = False
        self._mechanism = ""
        self._exchange: LoginExchange | None = None
        self.authenticated: Authenticated | None = None
        self.lifetime_ms: int | None = None

    @property
    def is_complete(self) -> bool:
        """True if requests are to be served."""
        return self._state is SaslState.COMPLETE

    def begin_again(self) -> None:
        """Expect another authentication, of the same principal (KIP-368)."""
        self._state = SaslState.HANDSHAKE

    def receive(self, frame: bytes, now: int) -> SaslStep:
        """Take a frame without its size. now: milliseconds since 1970. Raises SaslFailure.

        1. Before a handshake: ApiVersions, once, and SaslHandshake. Anything else ends the
           connection without an answer: its layout is not even looked at.
        2. After a handshake of version 0: tokens without a header, which are answered so.
        3. After a later one: SaslAuthenticate. Other requests get ILLEGAL_SASL_STATE.
        """
        if self._state is SaslState.REFUSED_MECHANISM:
            raise SaslFailure("it changes its mechanism")
        if self._state is SaslState.TOKEN:
            # 2. 3.
            return self._framed_token(frame, now) if self._has_frames else self._token(frame, now)
        # 1.
        head = _head(frame)
        if head.key == API_VERSIONS and self._state is SaslState.VERSIONS_OR_HANDSHAKE:
            return SaslStep(asks_versions=True)
        if head.key != HANDSHAKE or head.version not in SaslHandshakeRequest.versions:
            raise SaslFailure(f"it sends {api_name(head.key)} v{head.version} before its login")
        return SaslStep(answer=self._handshake(_decoded(frame), now))

    def versions_answered(self, answer: bytes) -> None:
        """Expect a handshake, unless ApiVersions was refused and may be asked again (KIP-511)."""
        if not any(answer[_ERROR_OF_VERSIONS]):
            self._state = SaslState.HANDSHAKE

    def _handshake(self, request: RequestFrame, now: int) -> bytes:
        """Take up the mechanism that the client proposes.

        1. A mechanism that is not enabled: UNSUPPORTED_SASL_MECHANISM, with those that are; in a
           later login no answer, as in Kafka.
        2. Another one than before on this connection: taken, and the next request ends it.
        """
        assert isinstance(request.body, SaslHandshakeRequest)
        name, names = request.body.mechanism, tuple(self._mechanisms)
        self._has_frames = self._has_frames or request.version >= _FRAMES_SINCE
        # 1.
        if name not in self._mechanisms:
            refused = SaslHandshakeResponse(
                error_code=ErrorCode.UNSUPPORTED_SASL_MECHANISM, mechanisms=names
            )
            reason = "it proposes a mechanism that is not enabled"
            is_first = self.authenticated is None
            raise SaslFailure(reason, _answer(request, refused) if is_first else b"")
        # 2.
        if self.authenticated is not None and name != self._mechanism:
            self._state = SaslState.REFUSED_MECHANISM
        else:
            self._mechanism = name
            self._exchange = self._mechanisms[name].server.exchange(now)
            next(self._exchange)
            self._state = SaslState.TOKEN
        return _answer(request, SaslHandshakeResponse(mechanisms=names))

    def _token(self, token: bytes, now: int) -> SaslStep:
        try:
            answer = self._evaluate(token, now)
        except AuthenticationFailed as error:
            raise SaslFailure(str(error)) from None
        return SaslStep(answer=_SIZE.pack(len(answer)) + answer)

    def _framed_token(self, frame: bytes, now: int) -> SaslStep:
        head = _head(frame)
        if head.key != AUTHENTICATE:
            reason = f"it sends {api_name(head.key)} within its login"
            is_small = len(frame) <= OTHER_REQUEST_LIMIT
            raise SaslFailure(reason, _refusal(_decoded(frame)) if is_small else b"")
        request = _decoded(frame)
        assert isinstance(request.body, SaslAuthenticateRequest)
        try:
            token = self._evaluate(request.body.auth_bytes, now)
        except AuthenticationFailed as error:
            failed = SaslAuthenticateResponse(
                error_code=ErrorCode.SASL_AUTHENTICATION_FAILED, error_message=str(error)
            )
            raise SaslFailure(str(error), _answer(request, failed)) from None
        lifetime_ms = (self.lifetime_ms or 0) if self.is_complete else 0
        response = SaslAuthenticateResponse(auth_bytes=token, session_lifetime_ms=lifetime_ms)
        return SaslStep(answer=_answer(request, response))

    def _evaluate(self, token: bytes, now: int) -> bytes:
        """Return the mechanism's next token. Raises AuthenticationFailed."""
        assert self._exchange is not None, "a handshake came first"
        try:
            return self._exchange.send(token)
        except StopIteration as end:
            done: Authenticated = end.value
        before = self.authenticated
        if before is not None and before.principal != done.principal:
            text = "The principal of a connection cannot be changed by another authentication"
            raise AuthenticationFailed(text)
        self.authenticated = done
        self.lifetime_ms = self._lifetime_ms(done, now)
        self._exchange = None
        self._state = SaslState.COMPLETE
        return done.last

    def _lifetime_ms(self, done: Authenticated, now: int) -> int | None:
        """Return the shorter of the listener's limit and the life of the credentials."""
        limit = self._mechanisms[self._mechanism].session_limit_ms
        ends = [limit] if limit else []
        ends += [max(0, done.expires_at - now)] if done.expires_at is not None else []
        return min(ends, default=None)


def _head(frame: bytes) -> RequestHead:
    try:
        return request_head(frame)
    except WireError as error:
        raise SaslFailure(str(error)) from None


def _decoded(frame: bytes) -> RequestFrame:
    try:
        return decode_request(frame)
    except (WireError, UnsupportedVersion) as error:
        raise SaslFailure(str(error)) from None


def _answer(request: RequestFrame, response: Response) -> bytes:
    correlation_id = request.header.correlation_id
    return encode_response(response, request.version, correlation_id=correlation_id)


def _refusal(request: RequestFrame) -> bytes:
    """Return ILLEGAL_SASL_STATE in the shape of the request's own response.

    Nothing for a Produce that asks for no response: whoever follows this connection, as a proxy
    does, would take it for the answer to the next request (Java: ProduceRequest.getErrorResponse).
    """
    if isinstance(request.body, ProduceRequest) and not request.body.acks:
        return b""
    code, text = ErrorCode.ILLEGAL_SASL_STATE, "Only SaslAuthenticate is expected here"
    try:
        return _answer(request, error_response(request.body, request.version, code, text))
    except (KeyError, EncodeError):
        return b""
