"""A ZooKeeper session by kazoo, for asyncio (kwire.zookeeper.client.ZooKeeper)."""

from __future__ import annotations

import asyncio
import logging
import sys
import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Self

from kazoo.client import KazooClient
from kazoo.exceptions import AuthFailedError, SessionClosedRequireSaslError
from kazoo.protocol.serialization import SASL
from kazoo.protocol.states import EventType, KazooState, KeeperState
from kazoo.retry import KazooRetry

from kwire.zookeeper.client import SessionEvent, SessionListener, Watch, WatchEvent, ZnodeChange
from kwire.zookeeper.errors import (
    ChrootMissing,
    ConnectionLost,
    SessionExpired,
    ZooKeeperAuthenticationFailed,
    ZooKeeperUnreachable,
)
from kwire.zookeeper.kazoo_handler import HAS_POLL, KazooHandler
from kwire.zookeeper.kazoo_requests import (
    connection_lost,
    first_failure,
    multi_results,
    request_of,
    stat_of,
    translated,
    znode_of,
)
from kwire.zookeeper.operations import Create, Znode, ZnodeOperation, ZnodeResult, ZnodeStat
from kwire.zookeeper.paths import check_path, join
from kwire.zookeeper.reachability import FailedAttempt, ServerReachability
from kwire.zookeeper.settings import ZooKeeperSettings
from kwire.zookeeper.silence_limit import SilenceLimit


def is_login_refused(error: BaseException | None) -> bool:
    """True for the refusal of a server that wants SASL of every session.

    kazoo ends its thread by it, where it has a state for the refusal of other servers.
    """
    return isinstance(error, SessionClosedRequireSaslError)


def end_logins_without_sasl(client: KazooClient) -> None:
    """Refuse the second empty token of a login.

    A server without SASL answers the first one by nothing, and kazoo would answer that without end.
    """
    connection = client._connection
    submit = connection._submit

    def submit_token(request: Any, timeout: float, xid: int | None = None) -> None:
        if isinstance(request, SASL) and not request.challenge and xid != 1:
            raise AuthFailedError
        submit(request, timeout, xid)

    connection._submit = submit_token


IN_FLIGHT = 1000 if HAS_POLL else 128
"""Requests that are given to kazoo at once. Its way to wake its thread is a byte in a socket for
each, which would block the event loop if a few hundred of them were not read."""

CLOSE_SECONDS = 2.0
"""Seconds that `close` waits for a server that does not answer."""

RESTART_SECONDS = 0.5

_QUIET = logging.getLogger("kwire.zookeeper.kazoo")
# kazoo logs requests with their data, which may be secrets.
_QUIET.setLevel(logging.CRITICAL + 1)
_QUIET.propagate = False

_CHANGES = {
    EventType.CREATED: ZnodeChange.CREATED,
    EventType.DELETED: ZnodeChange.DELETED,
    EventType.CHANGED: ZnodeChange.DATA,
    EventType.CHILD: ZnodeChange.CHILDREN,
    EventType.NONE: ZnodeChange.LOST,
}


class KazooZooKeeper:
    """One client; open it with `connect`, and close it."""

    def __init__(self, settings: ZooKeeperSettings) -> None:
        self.settings = settings
        self.session_id = 0
        self._loop = asyncio.get_running_loop()
        tls = None if settings.tls is None else settings.tls.context()
        self._handler = KazooHandler(self._loop, tls)
        self._client = KazooClient(
            hosts=settings.connect,
            timeout=settings.session_seconds,
            handler=self._handler,
            sasl_options=settings.sasl.kazoo_options if settings.sasl else None,
            auth_data=[("digest", ":".join(settings.digest))] if settings.digest else [],
            connection_retry=KazooRetry(
                max_tries=-1, delay=0.1, max_delay=1, sleep_func=self._handler.sleep_func
            ),
            logger=_QUIET,
        )
        end_logins_without_sasl(self._client)
        self._client.add_listener(self._heard)
        self._reachability = ServerReachability(settings.addresses)
        self._handler.on_attempt = self._note_attempt
        self._state: SessionEvent | None = SessionEvent.SUSPENDED
        self._is_refused = False
        self._listeners: list[SessionListener] = []
        self._changed = asyncio.Event()
        self._slots = asyncio.Semaphore(IN_FLIGHT)
        self._under_way: dict[asyncio.Future[Any], bool] = {}
        """The requests that are not answered yet; True for those that only read."""
        # kazoo waits for pings, which a follower answers while requests wait for the disk of its
        # leader.
        self._silence = SilenceLimit(settings.session_seconds, self._handler.drop_connection)

    @classmethod
    async def connect(cls, settings: ZooKeeperSettings, *, create_chroot: bool = False) -> Self:
        """Open a session.

        create_chroot: create the znode of the chroot if it does not exist, as brokers do. Raises
        ZooKeeperUnreachable, also without that znode, and ZooKeeperAuthenticationFailed.
        """
        client = cls(settings)
        try:
            client._client.start_async()
            await client._wait_for_session()
            if settings.chroot:
                await client._require_chroot(create_chroot)
        except BaseException:
            await client.close()
            raise
        return client

    @property
    def is_connected(self) -> bool:
        """True if operations can be sent now."""
        return self._state is SessionEvent.CONNECTED

    async def get(self, path: str, *, watch: Watch | None = None) -> Znode:
        """Return a znode. Raises NoNode."""
        check_path(path)
        fire = self._fire(path, watch)
        return znode_of(await self._read(lambda: self._client.get_async(path, fire), path))

    async def exists(self, path: str, *, watch: Watch | None = None) -> ZnodeStat | None:
        """Return a znode's state, None if there is no such znode."""
        check_path(path)
        fire = self._fire(path, watch)
        found = await self._read(lambda: self._client.exists_async(path, fire), path)
        return None if found is None else stat_of(found)

    async def children(self, path: str, *, watch: Watch | None = None) -> list[str]:
        """Return the names of a znode's children, sorted. Raises NoNode."""
        check_path(path)
        fire = self._fire(path, watch)
        names: list[str] = await self._read(
            lambda: self._client.get_children_async(path, fire), path
        )
        return sorted(names)

    async def multi(self, operations: Sequence[ZnodeOperation]) -> list[ZnodeResult]:
        """Carry out all operations, or none. Raises MultiFailed."""
        for operation in operations:
            sequential = isinstance(operation, Create) and operation.sequential
            check_path(operation.path, sequential=sequential)
        transaction = self._client.transaction()
        transaction.operations += [
            request_of(operation, self._client.chroot, set_acl=self.settings.set_acl)
            for operation in operations
        ]
        path = operations[0].path if operations else "/"
        results = await self._ask(transaction.commit_async, path, reads=False)
        if failure := first_failure(operations, results):
            raise failure
        return multi_results(operations, results, self._client.unchroot)

    def add_listener(self, listener: SessionListener) -> None:
        """Call the listener for each event of the session from now on."""
        self._listeners.append(listener)

    async def close(self) -> None:
        """End the session. A server that does not answer is given two seconds."""
        if self._state is None:
            return
        if not self.is_connected:
            self._handler.abort()  # nobody is there to be told of the end
        self._state = None
        self._listeners.clear()
        self._silence.stop()
        stopped = asyncio.Event()
        thread = threading.Thread(target=self._stop, args=[stopped], name="kwire-zookeeper-end")
        thread.daemon = True
        thread.start()
        try:
            await asyncio.wait_for(stopped.wait(), CLOSE_SECONDS)
        except TimeoutError:
            self._handler.abort()
            await stopped.wait()
        thread.join()
        self._fail_unanswered()

    def _stop(self, stopped: asyncio.Event) -> None:
        """Stop kazoo; called in a thread of its own, because kazoo waits for its connection."""
        try:
            self._client.stop()
            self._client.close()
        except Exception as error:  # it could not end in time, and its thread is a daemon
            self._handler.thread_failure = error
        self._handler.deliveries.put(stopped.set)

    async def _wait_for_session(self) -> None:
        """Wait until requests are answered.

        Raises ZooKeeperUnreachable, without `retries_refused` as soon as no address is left that
        could still accept a connection.
        """
        lookup = asyncio.ensure_future(self._reachability.look_up(self._changed.set))
        try:
            async with asyncio.timeout(self.settings.connection_seconds):
                while not self.is_connected:
                    self._raise_refusal()
                    if self._reachability.is_hopeless and not self.settings.retries_refused:
                        raise ZooKeeperUnreachable(self._why_unreachable())
                    await self._changed.wait()
                    self._changed.clear()
                # kazoo authenticates after it tells of the connection: an answer shows how it went.
                await self._read(lambda: self._client.exists_async("/"), "/")
        except (TimeoutError, ConnectionLost) as error:
            self._raise_refusal()
            raise ZooKeeperUnreachable(self._why_unreachable()) from error
        finally:
            lookup.cancel()

    def _note_attempt(self, address: tuple[str, int], failure: FailedAttempt | None) -> None:
        """Learn how an attempt to connect ended; called in kazoo's thread."""

        def note() -> None:
            self._reachability.attempted(address, failure)
            self._changed.set()

        self._handler.deliveries.put(note)

    def _raise_refusal(self) -> None:
        if self._is_refused:
            raise ZooKeeperAuthenticationFailed(
                f"ZooKeeper at {self.settings.servers} does not accept the credentials"
            )

    def _why_unreachable(self) -> str:
        sentence = f"no session with ZooKeeper at {self.settings.servers}"
        if not self._reachability.is_hopeless:
            sentence += f" in {self.settings.connection_seconds:g} s"
        failures = self._reachability.failures
        reason = "; ".join(failures) or "no answer; see if these ports want TLS"
        return f"{sentence}: {reason}"

    async def _require_chroot(self, create: bool) -> None:
        if await self.exists("/") is not None:
            return
        if not create:
            raise ChrootMissing(
                f"ZooKeeper at {self.settings.servers} has no znode {self.settings.chroot}:"
                " correct the path in zookeeper.connect"
            )
        bare = ZooKeeperSettings(**_without_chroot(self.settings))
        above = await KazooZooKeeper.connect(bare)
        try:
            path = "/"
            for name in self.settings.chroot[1:].split("/"):
                path = join(path, name)
                if await above.exists(path) is None:
                    await above.multi([Create(path)])
        finally:
            await above.close()

    async def _read(self, send: Callable[[], Any], path: str) -> Any:
        """Send a request that changes nothing; return its answer."""
        return await self._ask(send, path, reads=True)

    async def _ask(self, send: Callable[[], Any], path: str, *, reads: bool) -> Any:
        """Send a request when few enough are under way; return its answer."""
        self._require_connection()
        await self._slots.acquire()
        try:
            self._require_connection()
            future = self._loop.create_future()
            answer = send()
        except BaseException:
            self._slots.release()
            raise
        self._under_way[future] = reads
        self._silence.sent()
        # Completed on the loop, also if the caller is cancelled: only then is the slot free.
        answer.rawlink(partial(self._answered, future, path))
        return await future

    def _answered(self, future: asyncio.Future[Any], path: str, answer: Any) -> None:
        reads = self._under_way.pop(future, None)
        if reads is None:
            return
        self._slots.release()
        self._silence.ended()
        if future.done():
            return
        if answer.successful():
            future.set_result(answer.value)
        else:
            servers = self.settings.servers
            future.set_exception(translated(answer.exception, path, servers, reads=reads))

    def _require_connection(self) -> None:
        if self._state is None:
            raise ConnectionLost("the session with ZooKeeper is closed")
        self._raise_refusal()
        if self._state is SessionEvent.EXPIRED:
            raise SessionExpired("the session with ZooKeeper expired: nothing was carried out")
        if self._state is SessionEvent.SUSPENDED:
            failure = self._handler.failure or "it is being opened again"
            raise ConnectionLost(
                f"there is no connection to ZooKeeper at {self.settings.servers} at the moment:"
                f" {failure}"
            )

    def _fire(self, path: str, watch: Watch | None) -> Callable[[Any], None] | None:
        if watch is None:
            return None
        chosen = watch

        def fire(event: Any) -> None:
            if self._state is not None:
                chosen(WatchEvent(_CHANGES[event.type], path))

        return fire

    def _heard(self, state: str) -> None:
        """Learn of a change of the session; called in kazoo's thread."""
        keeper_state = self._client.client_state
        if is_login_refused(sys.exception()):
            keeper_state = KeeperState.AUTH_FAILED
        session_id = (self._client.client_id or (0,))[0]
        self._handler.deliveries.put(partial(self._become, state, keeper_state, session_id))

    def _become(self, state: str, keeper_state: str, session_id: int) -> None:
        self._changed.set()
        if self._state is None:
            return
        if keeper_state == KeeperState.AUTH_FAILED:
            self._is_refused = True
        if state == KazooState.CONNECTED:
            self.session_id = session_id
            self._tell(SessionEvent.CONNECTED)
        elif state == KazooState.SUSPENDED:
            self._tell(SessionEvent.SUSPENDED)
        else:
            self._tell(SessionEvent.EXPIRED)
        if keeper_state == KeeperState.CLOSED:
            # Something that kazoo does not understand has ended its thread.
            self._loop.call_later(RESTART_SECONDS, self._start_again)

    def _start_again(self) -> None:
        if self._state is not None:
            self._fail_unanswered()
            self._client.start_async()

    def _fail_unanswered(self) -> None:
        """Fail the requests that kazoo has forgotten: it drops one whose error code is unknown."""
        while self._under_way:
            future, reads = self._under_way.popitem()
            self._slots.release()
            self._silence.ended()
            if not future.done():
                future.set_exception(connection_lost(self.settings.servers, reads=reads))

    def _tell(self, event: SessionEvent) -> None:
        self._state = event
        for listener in list(self._listeners):
            listener(event)


def _without_chroot(settings: ZooKeeperSettings) -> dict[str, Any]:
    return {
        name: getattr(settings, name) for name in ZooKeeperSettings.__slots__ if name != "chroot"
    }
