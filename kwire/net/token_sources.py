"""Sources of tokens for OAUTHBEARER: a token endpoint (KIP-768), a file, a command."""

from __future__ import annotations

import asyncio
import os
import signal
import ssl
import threading
from base64 import b64encode
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote_plus, urlsplit

from kwire.errors import InvalidValue
from kwire.net.address import is_loopback
from kwire.net.bearer_token import TOKEN_LIMIT, BearerToken, TokenUnavailable, token_of_json
from kwire.net.tls import ClientTls, handshake_failure
from kwire.permissions import warn_if_readable
from kwire.text.untrusted import harmless

if TYPE_CHECKING:
    from asyncio.subprocess import Process
    from urllib.error import HTTPError

TOKEN_TIMEOUT = 30.0
"""Seconds in which a token must be there."""

REASON_LIMIT = 300
"""Characters of an endpoint's own words in an error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenEndpoint:
    """An authorization server that is asked by client_credentials (RFC 6749, 4.4).

    url: of https (RFC 6749, 2.3.1), or of http on this machine. tls: None for the system's
    authorities. is_urlencoded: True to encode client id and secret, as the RFC says and Kafka does
    not by default. allow_http: True to send the secret unencrypted to other machines, too. Raises
    InvalidValue.
    """

    url: str = field(repr=False)
    client_id: str
    client_secret: str = field(repr=False)
    scope: str | None = None
    tls: ClientTls | None = None
    is_urlencoded: bool = False
    allow_http: bool = False
    timeout: float = TOKEN_TIMEOUT

    def __post_init__(self) -> None:
        if not (self._is_tls or self._is_local or self.allow_http):
            raise InvalidValue(f"{self} would get the client's secret unencrypted")

    async def fetch(self) -> BearerToken:
        """Ask for a token. Raises TokenUnavailable, BadTls."""
        context = (self.tls or ClientTls()).context() if self._is_tls else None
        try:
            async with asyncio.timeout(self.timeout):
                body = await _in_daemon(lambda: self._post(context))
        except TimeoutError:
            raise _late(self, self.timeout) from None
        return token_of_json(body, self)

    def __str__(self) -> str:
        url = urlsplit(self.url)  # without its query, which may be secret
        host = f"{url.hostname}:{url.port}" if url.port else url.hostname
        return f"the token endpoint {url.scheme}://{host}{url.path}"

    @property
    def _is_tls(self) -> bool:
        return urlsplit(self.url).scheme == "https"

    @property
    def _is_local(self) -> bool:
        return is_loopback(urlsplit(self.url).hostname or "")

    def _post(self, context: ssl.SSLContext | None) -> bytes:
        from http.client import HTTPException
        from urllib.error import HTTPError, URLError
        from urllib.request import (
            HTTPRedirectHandler,
            HTTPSHandler,
            ProxyHandler,
            Request,
            build_opener,
        )

        class NoRedirect(HTTPRedirectHandler):
            """Follows nowhere: the secret is for this endpoint alone."""

            def redirect_request(self, *_: Any) -> None:
                """Leave the redirection to be an error."""

        form = "grant_type=client_credentials"
        form += f"&scope={quote_plus(self.scope)}" if self.scope else ""
        request = Request(self.url, form.encode(), self._headers(), method="POST")
        try:
            # $http_proxy is another machine: it must not get what is for this one.
            proxies = [ProxyHandler({})] if self._is_local else []
            opener = build_opener(NoRedirect, HTTPSHandler(context=context), *proxies)
            with opener.open(request, timeout=self.timeout) as response:
                body: bytes = response.read(TOKEN_LIMIT + 1)
        except HTTPError as error:
            with error:
                raise TokenUnavailable(f"{self} answers {self._refusal(error)}") from None
        except URLError as error:
            raise TokenUnavailable(f"{self} {_phrase(error.reason)}") from None
        except (OSError, HTTPException, ValueError) as error:
            raise TokenUnavailable(f"{self} {_phrase(error)}") from None
        if len(body) > TOKEN_LIMIT:
            raise TokenUnavailable(f"{self} answers more than {TOKEN_LIMIT // 1024} KiB")
        return body

    def _headers(self) -> dict[str, str]:
        encode = quote_plus if self.is_urlencoded else str
        login = f"{encode(self.client_id)}:{encode(self.client_secret)}"
        return {
            "Authorization": f"Basic {b64encode(login.encode()).decode()}",
            "Accept": "application/json",
            "Content-Type": "application/x-www-form-urlencoded",
            "Cache-Control": "no-cache",
            "User-Agent": "kwire",
        }

    def _refusal(self, error: HTTPError) -> str:
        """Return the status, and the reason as RFC 6749, 5.2 has it."""
        import json

        reason = ""
        with suppress(Exception):
            answer = json.loads(error.read(TOKEN_LIMIT))
            words = [answer.get("error"), answer.get("error_description")]
            reason = ": ".join(word for word in words if isinstance(word, str) and word)
        # An endpoint might repeat what it was sent.
        reason = reason.replace(self.client_secret, "***")[:REASON_LIMIT]
        return harmless(f"{error.code}: {reason or error.reason}")


@dataclass(frozen=True, slots=True)
class TokenFile:
    """A file that holds a token, written again by somebody else before it is over."""

    path: Path

    async def fetch(self) -> BearerToken:
        """Read the file. Raises TokenUnavailable."""
        warn_if_readable(self.path)
        try:
            with self.path.open("rb") as file:
                text = file.read(TOKEN_LIMIT + 1)
        except OSError as error:
            raise TokenUnavailable(f"{self} cannot be read: {error.strerror}") from error
        if not text.strip():
            raise TokenUnavailable(f"{self} is empty")
        return BearerToken.parse(text.decode("ascii", "replace"), self)

    def __str__(self) -> str:
        return f"the token file {self.path}"


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenCommand:
    """A program that prints a token, or a token endpoint's JSON.

    arguments: the program and its arguments; no shell runs them. It has nothing to read, and its
    standard error is that of kwire.
    """

    arguments: tuple[str, ...] = field(repr=False)
    timeout: float = TOKEN_TIMEOUT

    async def fetch(self) -> BearerToken:
        """Run the program. Raises TokenUnavailable."""
        process = await self._started()
        try:
            async with asyncio.timeout(self.timeout):
                output = await self._output(process)
        except BaseException as error:
            await _end(process)
            if isinstance(error, TimeoutError):
                raise _late(self, self.timeout) from None
            raise
        return token_of_json(output, self) if output[:1] == b"{" else self._plain(output)

    def __str__(self) -> str:
        return f"the token command {self.arguments[0]}"

    async def _started(self) -> Process:
        starting = asyncio.ensure_future(
            asyncio.create_subprocess_exec(
                *self.arguments,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                start_new_session=True,
            )
        )
        try:
            # Cancelled half-way, asyncio would end the program and not what that has started.
            return await asyncio.shield(starting)
        except asyncio.CancelledError:
            with suppress(OSError, ValueError):
                await _end(await starting)
            raise
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or "it cannot be called so"
            raise TokenUnavailable(f"{self} cannot be started: {reason}") from None

    async def _output(self, process: Process) -> bytes:
        assert process.stdout is not None
        output = b""
        while chunk := await process.stdout.read(TOKEN_LIMIT):
            output += chunk
            if len(output) > TOKEN_LIMIT:
                raise TokenUnavailable(f"{self} prints more than {TOKEN_LIMIT // 1024} KiB")
        if code := await process.wait():
            ending = f"is ended by signal {-code}" if code < 0 else f"ends with exit code {code}"
            raise TokenUnavailable(f"{self} {ending}")
        output = output.strip()
        if not output:
            raise TokenUnavailable(f"{self} prints nothing")
        return output

    def _plain(self, output: bytes) -> BearerToken:
        return BearerToken.parse(output.decode("ascii", "replace"), self)


async def _end(process: Process) -> None:
    """End a program that failed and all that it started, if they are still there."""
    with suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        elif process.returncode is None:
            process.kill()
    # `wait` waits for the end of the output too, which a program that left the session may keep
    # open.
    process._transport.close()  # type: ignore[attr-defined]
    await process.wait()


async def _in_daemon(call: Callable[[], bytes]) -> bytes:
    """Return the result of a call in a thread that nothing waits for: neither a loop nor an exit.

    The threads of asyncio.to_thread are joined when a program ends, however long that takes.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[bytes] = loop.create_future()

    def settle(result: bytes | None, error: Exception | None) -> None:
        if future.done():
            return
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(result or b"")

    def run() -> None:
        result, failure = None, None
        try:
            result = call()
        except Exception as error:
            failure = error
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(settle, result, failure)

    threading.Thread(target=run, name="kwire-token", daemon=True).start()
    return await future


def _late(source: object, timeout: float) -> TokenUnavailable:
    return TokenUnavailable(f"{source} gives no token within {timeout:g} s: it is slow, or hangs")


def _phrase(error: object) -> str:
    """Return the cause of a failed exchange as a phrase that follows the endpoint's name."""
    if isinstance(error, ssl.SSLError):
        return handshake_failure(error)
    if isinstance(error, ConnectionRefusedError):
        return "refuses the connection: nothing listens there"
    if isinstance(error, OSError):
        return f"cannot be reached: {error.strerror or error}"
    return "answers no HTTP"
