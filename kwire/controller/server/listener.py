"""A listening socket of a controller: frames in, frames out, one request of a connection at a time.

Like Kafka it reads the next request of a connection when the last one is answered, so that answers
keep the order of their requests. A malformed frame closes its own connection and no other. A large
request is decoded only if its sender may use its API at all, and if there is memory for it.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from socket import socket

from kwire.codec.declaration import Request
from kwire.controller.authentication.sasl_authenticator import ListenerMechanism, SaslFailure
from kwire.controller.quotas.connection_quotas import ConnectionQuotas, CountedConnection
from kwire.controller.server import large_messages
from kwire.controller.server.acceptor import Acceptor
from kwire.controller.server.client_session import ClientSession
from kwire.controller.server.config.listener_config import ListenerConfig
from kwire.controller.server.config.tls import TlsConfig, check_same_owner
from kwire.controller.server.environment import Environment
from kwire.controller.server.frame_reader import CHUNK, PROGRESS, FrameReader
from kwire.controller.server.request_memory import RequestMemory
from kwire.error_codes import ErrorCode
from kwire.errors import ApiError, EncodeError, InvalidValue, KwireError, UnsupportedVersion
from kwire.messages.a18_api_versions import ApiVersion, ApiVersionsResponse
from kwire.messages.error_response import error_response
from kwire.messages.registry import api_key, api_name, request
from kwire.net.accepting import run_pending_callbacks
from kwire.net.distinguished_name import distinguished_name
from kwire.net.frames import RequestHead, encode_response, request_head
from kwire.net.service import ANONYMOUS, RequestContext, Service
from kwire.net.tasks import cancel_and_wait
from kwire.text.untrusted import harmless

log = logging.getLogger(__name__)

API_VERSIONS = api_key("ApiVersions")
HANDSHAKE = 30.0
"""Seconds for a client's part of TLS; Kafka gives it connections.max.idle.ms."""

CheckAccess = Callable[[int, RequestContext], Awaitable[None]]
"""Raises ApiError if the sender may not use the API of this key, whatever the request says."""


async def admit_all(key: int, context: RequestContext) -> None:
    """Let everybody use every API."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    """A response frame. throttle_time_ms: how long no other request of the client is read."""

    frame: bytes
    throttle_time_ms: int = 0


class ControllerListener:
    """Accepts connections, has their clients log in, and a service answer their requests.

    idle: seconds without a request after which a connection is closed. mechanisms: of SASL, by
    name, if the configuration has it. environment: the time of day, for credentials that end.
    quotas, memory: those of the node. check_access: is asked before a large request is decoded.
    """

    def __init__(
        self,
        config: ListenerConfig,
        service: Service,
        *,
        idle: float = 600.0,
        frame_limit: int = 100 << 20,
        mechanisms: Mapping[str, ListenerMechanism] | None = None,
        environment: Environment | None = None,
        quotas: ConnectionQuotas | None = None,
        memory: RequestMemory | None = None,
        check_access: CheckAccess = admit_all,
    ) -> None:
        self.config = config
        self._mechanisms = mechanisms
        self._environment = environment or Environment()
        self._service = service
        self.tls = config.tls
        self._context = config.tls.server_context() if config.tls else None
        self._idle = idle
        self._frame_limit = frame_limit
        self._quotas = quotas or ConnectionQuotas()
        self._memory = memory or RequestMemory()
        self._check_access = check_access
        self._acceptor = Acceptor(config.name, self._quotas, self._accept)
        self._serving: dict[asyncio.Task[None], asyncio.Transport] = {}

    async def start(self, bound: socket | None = None) -> None:
        """Listen at a bound socket, or at the configured host and port. OSError if it is taken."""
        await self._acceptor.start(self.config.host, self.config.port, bound)

    @property
    def port(self) -> int:
        """The port of the listening socket."""
        return self._acceptor.port

    async def use_tls(self, tls: TlsConfig) -> None:
        """Take other stores for new connections; those that are open stay as they are.

        Raises InvalidValue, and changes nothing, if ssl cannot use them, or if the certificate is
        for another name than the one before it (`check_same_owner`).
        """
        assert self.tls is not None, "only a listener with TLS has stores"
        check_same_owner(self.tls.keystore, tls.keystore)
        self._context, self.tls = tls.server_context(), tls

    async def close(self) -> None:
        """Stop listening and end every connection."""
        await self._acceptor.close()
        serving = dict(self._serving)
        for transport in serving.values():
            transport.abort()
        await cancel_and_wait(serving)
        await run_pending_callbacks()  # sockets of aborted transports are closed

    def _accept(self, transport: asyncio.Transport, counted: CountedConnection) -> None:
        stream = asyncio.StreamReader(limit=CHUNK)
        protocol = asyncio.StreamReaderProtocol(stream)
        if self._context is None:
            _connect(protocol, transport)
        task = asyncio.get_running_loop().create_task(
            self._guard(transport, stream, protocol, counted)
        )
        self._serving[task] = transport
        task.add_done_callback(lambda task: self._ended(task, counted))

    def _ended(self, task: asyncio.Task[None], counted: CountedConnection) -> None:
        self._serving.pop(task, None)
        self._quotas.give_back(counted)

    async def _guard(
        self,
        transport: asyncio.Transport,
        stream: asyncio.StreamReader,
        protocol: asyncio.StreamReaderProtocol,
        counted: CountedConnection,
    ) -> None:
        peer = (transport.get_extra_info("peername") or ("unknown", 0))[:2]
        try:
            if self._context is not None:
                transport = await _with_tls(transport, protocol, self._context)
            writer = asyncio.StreamWriter(transport, protocol, stream, asyncio.get_running_loop())
            try:
                await self._serve(stream, writer, peer, counted)
            except SaslFailure as failure:
                log.info("%s:%d failed to log in: %s", *peer, harmless(str(failure)))
                await self._refuse(writer, failure.answer)
            finally:
                transport.abort()
                with suppress(OSError):
                    await writer.wait_closed()
        except KwireError as error:
            log.info("%s:%d is cut off: %s", *peer, error)
        except (OSError, TimeoutError) as error:
            log.debug("%s:%d is gone: %s", *peer, error)
        except Exception:  # a fault of the handler: it must not end the node, nor other connections
            log.exception("%s:%d: a request could not be answered", *peer)
        finally:
            transport.abort()

    async def _serve(
        self,
        stream: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        peer: tuple[str, int],
        counted: CountedConnection,
    ) -> None:
        session = self._session(writer)
        frames = FrameReader(stream, session, self._memory, idle=self._idle)
        while (answer := await self._next_answer(frames, peer, session)) is not None:
            counted.used = int(asyncio.get_running_loop().time() * 1000)
            await large_messages.write(writer, answer.frame, within=self._idle)
            if answer.throttle_time_ms and not await self._muted(answer.throttle_time_ms / 1000):
                return
            # What came with the last request is here already: others have their turn before it.
            await asyncio.sleep(0)

    async def _next_answer(
        self, frames: FrameReader, peer: tuple[str, int], session: ClientSession
    ) -> _Answer | None:
        """Return the answer to the next request; None to close the connection."""
        # In a method of its own: the frame is freed before the answer is written.
        async with frames.frame() as frame:
            return None if frame is None else await self._take(frame, peer, session)

    async def _muted(self, seconds: float) -> bool:
        """Wait before the next request of a client is read; False if it is idle by then.

        The client has its answer, and is to wait by itself (KIP-219); one that does not is made to.
        """
        await asyncio.sleep(min(seconds, self._idle))
        return seconds <= self._idle

    def _session(self, writer: asyncio.StreamWriter) -> ClientSession:
        """Return the session of a new connection.

        Raises BrokerError if its certificate has a name that no rule is for.
        """
        sasl = self.config.sasl
        return ClientSession(
            self._mechanisms,
            principal=self._principal(writer),
            login_limit=sasl.receive_limit if sasl else self._frame_limit,
            frame_limit=self._frame_limit,
            now=lambda: int(self._environment.wall_clock() * 1000),
        )

    def _principal(self, writer: asyncio.StreamWriter) -> str:
        """Return the principal of a client's certificate (Java: DefaultKafkaPrincipalBuilder).

        Raises InvalidValue for a certificate that ssl has accepted, and kwire cannot read.
        """
        connection = writer.get_extra_info("ssl_object")
        certificate = connection.getpeercert(binary_form=True) if connection else None
        # With SASL a certificate counts for nothing.
        if certificate is None or self.config.tls is None or self.config.sasl is not None:
            return ANONYMOUS
        try:
            name = distinguished_name(certificate)
        except ValueError as error:
            raise InvalidValue(f"its certificate cannot be read: {error}") from None
        return self.config.tls.principals.principal(name)

    async def _refuse(self, writer: asyncio.StreamWriter, answer: bytes) -> None:
        """Answer a failed login later, so that nobody can try many passwords."""
        assert self.config.sasl is not None, "only logins fail so"
        await asyncio.sleep(self.config.sasl.failure_delay_ms / 1000)
        with suppress(OSError, TimeoutError):
            await large_messages.write(writer, answer, within=PROGRESS)

    async def _take(
        self, frame: bytes, peer: tuple[str, int], session: ClientSession
    ) -> _Answer | None:
        """Return the answer of the login or of the service; None to close the connection."""
        step = session.login_step(frame)
        if step is not None and not step.asks_versions:
            return _Answer(frame=step.answer)
        answer = await self._answer(frame, peer, session)
        if step is not None and answer is not None:
            session.versions_answered(answer.frame)
        return answer

    async def _answer(
        self, frame: bytes, peer: tuple[str, int], session: ClientSession
    ) -> _Answer | None:
        """Decode a request frame and return the response frame; None to close the connection.

        1. ApiVersions in an unknown version: answer v0 with UNSUPPORTED_VERSION and the known
           versions, so that the client asks again in the latest of them (KIP-511).
        2. An API or a version that is not served here: raise UnsupportedVersion, which closes the
           connection, as in Kafka.
        3. A large request of somebody who may not use its API: refuse it undecoded.
        4. Any other request: have the service answer it. What a response in an Envelope says of
           throttling is for its client, not for the broker that forwards it.
        """
        head = request_head(frame)
        # 1.
        if head.key == API_VERSIONS and head.version not in self._service.apis[API_VERSIONS]:
            versions = self._service.apis[API_VERSIONS]
            known = ApiVersion(
                api_key=API_VERSIONS, min_version=versions.first, max_version=versions.last
            )
            refused = ApiVersionsResponse(
                error_code=ErrorCode.UNSUPPORTED_VERSION, api_keys=[known]
            )
            return _Answer(frame=encode_response(refused, 0, correlation_id=head.correlation_id))
        # 2. Before the body is decoded: an unknown version has an unknown layout.
        if head.version not in self._service.apis.get(head.key, ()):
            raise UnsupportedVersion(f"{api_name(head.key)} v{head.version} is not served here")
        context = RequestContext(
            version=head.version,
            correlation_id=head.correlation_id,
            listener=self.config.name,
            peer=peer,
            principal=session.principal,
            by_delegation_token=session.by_delegation_token,
            size=len(frame),
        )
        # 3.
        if len(frame) >= large_messages.LARGE_FRAME:
            try:
                await self._check_access(head.key, context)
            except ApiError as error:
                # It has no element for an element of the request: those are not known.
                return _refusal(head, request(head.key)(), error)
        # 4.
        async with large_messages.decoded(frame, self._memory.decoded) as decoded:
            context = replace(context, client_id=decoded.header.client_id)
            response = await self._service.answer(decoded.body, context)
            if response is None:
                return None
            throttle_time_ms = getattr(response, "throttle_time_ms", 0)
            try:
                encoded = await large_messages.encoded(
                    response, head.version, correlation_id=head.correlation_id
                )
            except EncodeError:  # a fault of the service, which has answered all the same
                log.exception("%s:%d: an answer could not be written", *peer)
                return _refusal(head, decoded.body, ApiError(ErrorCode.UNKNOWN_SERVER_ERROR))
            return _Answer(frame=encoded, throttle_time_ms=throttle_time_ms)


def _connect(protocol: asyncio.StreamReaderProtocol, transport: asyncio.Transport) -> None:
    """Have a protocol take what comes over a connection that has been accepted."""
    transport.set_protocol(protocol)
    protocol.connection_made(transport)
    transport.resume_reading()


async def _with_tls(
    transport: asyncio.Transport, protocol: asyncio.StreamReaderProtocol, context: ssl.SSLContext
) -> asyncio.Transport:
    """Return the transport over TLS, for the protocol, after the handshake."""
    over_tls = await asyncio.get_running_loop().start_tls(
        transport, protocol, context, server_side=True, ssl_handshake_timeout=HANDSHAKE
    )
    if over_tls is None:
        raise ConnectionResetError("it left during the handshake")
    protocol.connection_made(over_tls)
    return over_tls


def _refusal(head: RequestHead, body: Request, error: ApiError) -> _Answer:
    """Return the answer that gives one error for a whole request."""
    response = error_response(body, head.version, error.code, error.message)
    return _Answer(
        frame=encode_response(response, head.version, correlation_id=head.correlation_id)
    )
