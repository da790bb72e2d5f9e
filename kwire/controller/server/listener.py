"""A listening socket of a controller: frames in, frames out, one request of a connection at a time.

Like Kafka it reads the next request of a connection when the last one is answered, so that answers
keep the order of their requests. A malformed frame closes its own connection and no other.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from socket import socket

from kwire.controller.authentication.sasl_authenticator import ListenerMechanism, SaslFailure
from kwire.controller.server import large_messages
from kwire.controller.server.client_session import ClientSession
from kwire.controller.server.config.listener_config import ListenerConfig
from kwire.controller.server.config.tls import TlsConfig, check_same_owner
from kwire.controller.server.environment import Environment
from kwire.error_codes import ErrorCode
from kwire.errors import KwireError, UnsupportedVersion
from kwire.messages.a18_api_versions import ApiVersion, ApiVersionsResponse
from kwire.messages.registry import api_key, api_name
from kwire.net.accepting import run_pending_callbacks, stop_accepting
from kwire.net.distinguished_name import distinguished_name
from kwire.net.frames import FrameSplitter, encode_response, request_head
from kwire.net.service import ANONYMOUS, RequestContext, Service
from kwire.net.tasks import cancel_and_wait
from kwire.text.untrusted import harmless

log = logging.getLogger(__name__)

API_VERSIONS = api_key("ApiVersions")
CHUNK = 64 * 1024
PROGRESS = 30.0
"""Seconds within which more bytes of an incomplete frame must come; Kafka waits for ever."""

HANDSHAKE = 30.0
"""Seconds for a client's part of TLS; Kafka gives it connections.max.idle.ms."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    """A response frame. throttle_time_ms: how long no other request of the client is read."""

    frame: bytes
    throttle_time_ms: int = 0


class ControllerListener:
    """Accepts connections, has their clients log in, and a service answer their requests.

    idle: seconds without a request after which a connection is closed. mechanisms: of SASL, by
    name, if the configuration has it. environment: the time of day, for credentials that end.
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
    ) -> None:
        self.config = config
        self._mechanisms = mechanisms
        self._environment = environment or Environment()
        self._service = service
        self.tls = config.tls
        self._context = config.tls.server_context() if config.tls else None
        self._idle = idle
        self._frame_limit = frame_limit
        self._servers: list[asyncio.Server] = []
        self._serving: dict[asyncio.Task[None], asyncio.StreamWriter] = {}
        self._closed = False

    async def start(self, bound: socket | None = None) -> None:
        """Listen at a bound socket, or at the configured host and port. OSError if it is taken."""
        serve = self._serving_with(self._context)
        if bound is not None:
            server = await serve(sock=bound)
        else:
            server = await serve(host=self.config.host or None, port=self.config.port)
        self._servers = [server]

    def _serving_with(
        self, context: ssl.SSLContext | None
    ) -> Callable[..., Awaitable[asyncio.Server]]:
        """Return a function that listens, with the context of TLS or without TLS."""
        limit = HANDSHAKE if context else None
        return partial(
            asyncio.start_server,
            self._accept,
            ssl=context,
            ssl_handshake_timeout=limit,
            limit=CHUNK,
        )

    @property
    def port(self) -> int:
        """The port of the listening socket."""
        return int(self._servers[0].sockets[0].getsockname()[1])

    async def use_tls(self, tls: TlsConfig) -> None:
        """Take other stores for new connections; those that are open stay as they are.

        Raises InvalidValue, and changes nothing, if ssl cannot use them, or if the certificate is
        for another name than the one before it (`check_same_owner`).
        """
        assert self.tls is not None, "only a listener with TLS has stores"
        check_same_owner(self.tls.keystore, tls.keystore)
        context = tls.server_context()
        # A server keeps the context it began with. Another one takes over the same sockets: what
        # waits in them for a connection goes to either, and nobody is turned away.
        old, new = self._servers, []
        for listening in [listening for server in old for listening in server.sockets]:
            new.append(await self._serving_with(context)(sock=listening.dup()))
        self._servers, self.tls, self._context = new, tls, context
        await stop_accepting(*old)

    async def close(self) -> None:
        """Stop listening and end every connection."""
        if not self._servers:
            return
        self._closed = True
        await stop_accepting(*self._servers)
        serving = dict(self._serving)
        for writer in serving.values():
            writer.transport.abort()
        await cancel_and_wait(serving)
        for server in self._servers:
            await server.wait_closed()
        await run_pending_callbacks()  # sockets of aborted transports are closed

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._closed:  # asyncio may report a connection that it took just before the close
            writer.transport.abort()
            return
        task = asyncio.get_running_loop().create_task(self._guard(reader, writer))
        self._serving[task] = writer
        task.add_done_callback(lambda task: self._serving.pop(task, None))

    async def _guard(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        peer = writer.get_extra_info("peername") or ("unknown", 0)
        try:
            await self._serve(reader, writer, (peer[0], peer[1]))
        except SaslFailure as failure:
            log.info("%s:%d failed to log in: %s", peer[0], peer[1], harmless(str(failure)))
            await self._refuse(writer, failure.answer)
        except KwireError as error:
            log.info("%s:%d is cut off: %s", peer[0], peer[1], error)
        except (OSError, TimeoutError) as error:
            log.debug("%s:%d is gone: %s", peer[0], peer[1], error)
        except Exception:  # a fault of the handler: it must not end the node, nor other connections
            log.exception("%s:%d: a request could not be answered", peer[0], peer[1])
        finally:
            writer.transport.abort()
            with suppress(OSError):
                await writer.wait_closed()

    async def _serve(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, peer: tuple[str, int]
    ) -> None:
        session = self._session(writer)
        frames: deque[bytes | list[bytes]] = deque()
        splitter = FrameSplitter(session.frame_limit, pieces=frames.append)
        while True:
            while not frames:
                # Between requests a client may be idle for long (connections.max.idle.ms); a frame
                # that has begun takes memory and must go on.
                async with asyncio.timeout(PROGRESS if splitter.pending else self._idle):
                    chunk = await reader.read(CHUNK)
                if not chunk:
                    return
                splitter.feed(chunk, frames.append)
            frame = await large_messages.joined(frames.popleft())
            answer = await self._take(frame, peer, session)
            del frame  # or it would stay until the next one comes
            splitter.limit = session.frame_limit
            if answer is None:
                return
            await large_messages.write(writer, answer.frame)
            if answer.throttle_time_ms and not await self._muted(answer.throttle_time_ms / 1000):
                return

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
        """Return the principal of a client's certificate (Java: DefaultKafkaPrincipalBuilder)."""
        connection = writer.get_extra_info("ssl_object")
        certificate = connection.getpeercert(binary_form=True) if connection else None
        # With SASL a certificate counts for nothing.
        if certificate is None or self.config.tls is None or self.config.sasl is not None:
            return ANONYMOUS
        return self.config.tls.principals.principal(distinguished_name(certificate))

    async def _refuse(self, writer: asyncio.StreamWriter, answer: bytes) -> None:
        """Answer a failed login later, so that nobody can try many passwords."""
        assert self.config.sasl is not None, "only logins fail so"
        await asyncio.sleep(self.config.sasl.failure_delay_ms / 1000)
        with suppress(OSError, TimeoutError):
            async with asyncio.timeout(PROGRESS):
                await large_messages.write(writer, answer)

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
        3. Any other request: have the service answer it. What a response in an Envelope says of
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
        # 3.
        async with large_messages.decoded(frame) as request:
            context = RequestContext(
                version=head.version,
                correlation_id=head.correlation_id,
                client_id=request.header.client_id,
                listener=self.config.name,
                peer=peer,
                principal=session.principal,
                by_delegation_token=session.by_delegation_token,
                size=len(frame),
            )
            response = await self._service.answer(request.body, context)
            if response is None:
                return None
            encoded = await large_messages.encoded(
                response, head.version, correlation_id=head.correlation_id
            )
            throttle_time_ms = getattr(response, "throttle_time_ms", 0)
            return _Answer(frame=encoded, throttle_time_ms=throttle_time_ms)
