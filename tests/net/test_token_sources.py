"""Sources of tokens, good and bad: an endpoint, a file, a command; and tokens used again."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time
from base64 import b64encode
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kwire.errors import InvalidValue
from kwire.net.accepting import stop_accepting
from kwire.net.bearer_token import BearerToken, BearerTokens, TokenUnavailable, token_of_json
from kwire.net.tls import ClientTls
from kwire.net.token_sources import TokenCommand, TokenEndpoint, TokenFile
from tests.support.certificates import Authority
from tests.support.eventually import eventually
from tests.support.tokens import unsigned_token

SECRET = "s3cret"
HANG = b""
OPAQUE = "opaque-token"


class Endpoint:
    """An HTTP server that answers with the bytes a test sets, and hangs for HANG."""

    def __init__(self) -> None:
        self.answer = HANG
        self.requests: list[bytes] = []
        self.port = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            (length,) = (
                int(line.partition(b":")[2])
                for line in head.splitlines()
                if line.lower().startswith(b"content-length")
            )
            self.requests.append(head + await reader.readexactly(length))
            if self.answer == HANG:
                await reader.read()
            writer.write(self.answer)
            await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    def source(self, timeout: float = 60.0, **options: object) -> TokenEndpoint:
        return TokenEndpoint(
            url=f"http://127.0.0.1:{self.port}/token?key={SECRET}",
            client_id="me & you",
            client_secret=SECRET,
            timeout=timeout,
            **options,  # type: ignore[arg-type]
        )


@pytest.fixture(autouse=True)
def no_http_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reach this machine itself, whatever proxies the environment names."""
    monkeypatch.setenv("no_proxy", "*")


@pytest.fixture
async def endpoint() -> AsyncIterator[Endpoint]:
    endpoint = Endpoint()
    server = await asyncio.start_server(endpoint.serve, "127.0.0.1", 0)
    endpoint.port = server.sockets[0].getsockname()[1]
    yield endpoint
    await stop_accepting(server)


def http(body: bytes, status: str = "200 OK", kind: str = "application/json") -> bytes:
    head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


def answered(**answer: object) -> bytes:
    return http(json.dumps(answer).encode())


async def test_an_endpoint_is_asked_as_rfc_6749_says(endpoint: Endpoint) -> None:
    """Section 4.4.2; the client authenticates by Basic (2.3.1), as Kafka's."""
    endpoint.answer = answered(access_token=OPAQUE, token_type="Bearer", expires_in=100)
    url = f"http://127.0.0.1:{endpoint.port}/token"
    source = TokenEndpoint(url=url, client_id="me", client_secret=SECRET, scope="a b&c")
    token = await source.fetch()
    assert token.value == OPAQUE
    assert token.expires is not None
    assert 90 < token.expires - token.acquired <= 100
    head, _, body = endpoint.requests[0].partition(b"\r\n\r\n")
    assert head.startswith(b"POST /token HTTP/1.1\r\n")
    assert b"Authorization: Basic " + b64encode(b"me:s3cret") in head
    assert b"Content-Type: application/x-www-form-urlencoded" in head
    assert body == b"grant_type=client_credentials&scope=a+b%26c"


async def test_an_id_and_a_secret_are_encoded_where_that_is_asked_for(endpoint: Endpoint) -> None:
    """The property sasl.oauthbearer.header.urlencode; KAFKA-16345."""
    endpoint.answer = answered(access_token=OPAQUE)
    url = f"http://127.0.0.1:{endpoint.port}"
    await TokenEndpoint(url=url, client_id="a:b", client_secret="c d", is_urlencoded=True).fetch()
    assert b"Basic " + b64encode(b"a%3Ab:c+d") in endpoint.requests[0]


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (http(b"<html>", kind="text/html"), "answers something else than JSON"),
        (http(b"[" * 60_000), "answers JSON that is nested too deep"),
        (http(b"\xff\xfe"), "answers something else than JSON"),
        (http(b"[1]"), "answers without an access_token"),
        (answered(access_token=7), "answers without an access_token"),
        (answered(access_token=" "), "answers without an access_token"),
        (answered(access_token="a\1auth=b"), "gives no token: it holds characters no token has"),
        (http(b'{"access_token":"' + b"a" * 70_000 + b'"}'), "answers more than 64 KiB"),
        (http(b"<h1>", "500 Internal Server Error", "text/html"), "answers 500: Internal Server"),
        (
            http(b'{"error":"invalid_client","error_description":"no s3cret\\u001b"}', "401 No"),
            r"answers 401: invalid_client: no \*\*\*\\x1b",
        ),
        (
            b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n",
            "answers 302: Found",
        ),
        (b"\0\0\0\1", "answers no HTTP"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{", "something else than JSON"),
        (answered(access_token=unsigned_token(-60)), r"gives a token that expired on 20\d\d-"),
        (answered(access_token=unsigned_token(-1e11)), "gives a token that expired"),
    ],
    # Without the answers, whose tokens carry the time: both workers must have the same names.
    ids=lambda value: value if isinstance(value, str) else "answer",
)
async def test_an_answer_without_a_token_is_named_without_a_secret(
    endpoint: Endpoint, answer: bytes, why: str
) -> None:
    endpoint.answer = answer
    with pytest.raises(TokenUnavailable, match=why) as caught:
        await endpoint.source().fetch()
    told = str(caught.value)
    at = f"the token endpoint http://127.0.0.1:{endpoint.port}/token "
    assert told.startswith(at)
    assert SECRET not in told + repr(endpoint.source(scope="x"))
    assert len(endpoint.requests) == 1


async def test_an_endpoint_that_hangs_or_is_not_there_is_named(endpoint: Endpoint) -> None:
    with pytest.raises(TokenUnavailable, match=r"gives no token within 0\.2 s"):
        await endpoint.source(timeout=0.2).fetch()
    url = "http://127.0.0.1:1/"
    with pytest.raises(TokenUnavailable, match="refuses the connection: nothing listens there"):
        await TokenEndpoint(url=url, client_id="a", client_secret="b").fetch()


@pytest.mark.parametrize("url", ["http://idp/token", "http://192.0.2.1/", "HTTP://0.0.0.0/"])
def test_a_secret_is_not_sent_to_another_machine_in_the_clear(url: str) -> None:
    with pytest.raises(InvalidValue, match="would get the client's secret unencrypted"):
        TokenEndpoint(url=url, client_id="a", client_secret="b")


async def test_a_secret_for_this_machine_passes_no_proxy(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    """urllib sends a request by the proxy of the environment, whatever its host is."""
    monkeypatch.delenv("no_proxy")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    endpoint.answer = answered(access_token=OPAQUE)
    assert (await endpoint.source().fetch()).value == OPAQUE


async def test_an_endpoint_without_tls_is_named() -> None:
    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(refuse, "127.0.0.1", 0)
    url = f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    with pytest.raises(TokenUnavailable, match="does not speak TLS"):
        await TokenEndpoint(url=url, client_id="a", client_secret="b").fetch()
    await stop_accepting(server)


async def test_the_certificate_of_an_endpoint_is_checked(tmp_path: Path) -> None:
    endpoint, authority = Endpoint(), Authority(tmp_path, "idp")
    endpoint.answer = answered(access_token=OPAQUE)
    context = authority.server("127.0.0.1")
    server = await asyncio.start_server(endpoint.serve, "127.0.0.1", 0, ssl=context)
    url = f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
    trusting = ClientTls(authorities=authority.path)
    source = TokenEndpoint(url=url, client_id="a", client_secret="b", tls=trusting)
    assert (await source.fetch()).value == OPAQUE
    with pytest.raises(TokenUnavailable, match="shows a certificate that is not accepted"):
        await TokenEndpoint(url=url, client_id="a", client_secret="b").fetch()
    await stop_accepting(server)


async def test_a_file_is_read_each_time(tmp_path: Path) -> None:
    file = tmp_path / "token"
    source = TokenFile(file)
    with pytest.raises(TokenUnavailable, match=r"the token file .*token cannot be read: No such"):
        await source.fetch()
    for text, why in (("\n", "is empty"), ("not a token", "no token"), ("é", "no token")):
        file.write_text(text)
        with pytest.raises(TokenUnavailable, match=why) as caught:
            await source.fetch()
        assert "not a token" not in str(caught.value)
    file.write_text("a" * 70_000)
    with pytest.raises(TokenUnavailable, match="no token"):
        await source.fetch()
    file.write_text("first\n")
    tokens = BearerTokens(source)
    assert (await tokens.current()).value == "first"
    file.write_text("second\n")
    assert (await tokens.current()).value == "second"


def python(code: str, timeout: float = 60.0) -> TokenCommand:
    return TokenCommand(arguments=(sys.executable, "-ISc", code), timeout=timeout)


async def test_a_command_prints_a_token_or_the_json_of_an_endpoint() -> None:
    assert (await python("print('abc')").fetch()).value == "abc"
    answer = json.dumps({"access_token": "def", "expires_in": 60})
    token = await python(f"print({answer!r})").fetch()
    assert (token.value, token.is_fresh) == ("def", True)


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("", "prints nothing"),
        ("print('not a token')", "no token"),
        ("print('abc'); raise SystemExit(3)", "ends with exit code 3"),
        ("import os, signal; os.kill(os.getpid(), 9)", "is ended by signal 9"),
        ("print('{')", "answers something else than JSON"),
        ("while True: print('a' * 1000)", "prints more than 64 KiB"),
        ("import sys; sys.exit(sys.stdin.read() == '')", "ends with exit code 1"),
    ],
)
async def test_a_command_that_fails_is_named(code: str, why: str) -> None:
    with pytest.raises(TokenUnavailable, match=why) as caught:
        await python(code).fetch()
    assert str(caught.value).startswith(f"the token command {sys.executable} ")
    assert "not a token" not in str(caught.value)


async def test_a_command_that_never_ends_is_killed_with_all_it_started(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    code = f"sleep 600 & echo $! > {pids}; wait"
    fetching = asyncio.ensure_future(TokenCommand(arguments=("sh", "-c", code)).fetch())
    pid = int(await eventually(lambda: pids.exists() and pids.read_text()))
    fetching.cancel()
    with pytest.raises(asyncio.CancelledError):
        await fetching
    await eventually(lambda: _is_gone(pid))
    with pytest.raises(TokenUnavailable, match=r"gives no token within 0\.1 s"):
        await python("import time; time.sleep(600)", timeout=0.1).fetch()


def _stand_still(pids: Path) -> str:
    """Keep the event loop from knowing more while a command runs; return what that has written."""
    end = time.monotonic() + 0.3
    while not (pids.exists() and pids.read_text()) and time.monotonic() < end:
        time.sleep(0.001)
    return pids.read_text() if pids.exists() else ""


@pytest.mark.parametrize("turns", [0, 1, 2, 3, 4, 5])
async def test_a_command_that_is_given_up_while_it_starts_leaves_nothing(
    tmp_path: Path, turns: int
) -> None:
    """asyncio learns of a start later than the command runs, and then knows of the shell alone."""
    pids = tmp_path / "pids"
    code = f"sleep 600 & echo $! > {pids}; wait"
    fetching = asyncio.ensure_future(TokenCommand(arguments=("sh", "-c", code)).fetch())
    for _ in range(turns):
        await asyncio.sleep(0)
    pid = _stand_still(pids)
    fetching.cancel()
    with pytest.raises(asyncio.CancelledError):
        await fetching
    if pid:
        await eventually(lambda: _is_gone(int(pid)))


async def test_a_command_is_not_waited_for_by_whoever_keeps_its_output_open(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    child = f"setsid sh -c 'echo $$ > {pids}; exec sleep 600'"
    code = f"{child} & while :; do [ ! -s {pids} ] || yes; done"
    with pytest.raises(TokenUnavailable, match="prints more than 64 KiB"):
        await TokenCommand(arguments=("sh", "-c", code), timeout=60).fetch()
    pid = int(pids.read_text())
    assert not _is_gone(pid)
    os.kill(pid, signal.SIGKILL)


def _is_gone(pid: int) -> bool:
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return True
    return status.rpartition(")")[2].split()[0] == "Z" or not os.path.exists(f"/proc/{pid}")


async def test_a_command_that_is_not_there_is_named() -> None:
    with pytest.raises(TokenUnavailable, match="command /none cannot be started: No such file"):
        await TokenCommand(arguments=("/none",)).fetch()
    with pytest.raises(TokenUnavailable, match="cannot be started"):
        await TokenCommand(arguments=("a\0b",)).fetch()


class Counted:
    """A source whose tokens live so long, or which fails."""

    def __init__(self, lifetime: float | None) -> None:
        self.lifetime = lifetime
        self.fetches = 0
        self.failure: TokenUnavailable | None = None

    async def fetch(self) -> BearerToken:
        self.fetches += 1
        await asyncio.sleep(0)
        if self.failure:
            raise self.failure
        now = time.time()
        expires = None if self.lifetime is None else now + self.lifetime
        return BearerToken(value=str(self.fetches), acquired=now, expires=expires)


async def test_a_token_is_used_for_four_fifths_of_its_life(monkeypatch: pytest.MonkeyPatch) -> None:
    """The share of sasl.login.refresh.window.factor."""
    source = Counted(100)
    tokens = BearerTokens(source)
    first = await tokens.current()
    assert await tokens.current() is first
    monkeypatch.setattr("time.time", lambda: first.acquired + 79)
    assert await tokens.current() is first
    monkeypatch.setattr("time.time", lambda: first.acquired + 81)
    assert (await tokens.current()).value == "2"


async def test_all_that_wait_share_one_fetch_and_one_that_is_cancelled_leaves_it() -> None:
    source = Counted(None)
    tokens = BearerTokens(source)
    first, *others = [asyncio.ensure_future(tokens.current()) for _ in range(5)]
    await asyncio.sleep(0)
    first.cancel()
    assert {token.value for token in await asyncio.gather(*others)} == {"1"}
    assert (await tokens.current()).value == "2"  # its lifetime is not known


async def test_a_token_is_used_to_its_end_where_there_is_no_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    source = Counted(100)
    tokens = BearerTokens(source)
    first = await tokens.current()
    source.failure = TokenUnavailable("it is down")
    monkeypatch.setattr("time.time", lambda: first.acquired + 99)
    assert await tokens.current() is first
    monkeypatch.setattr("time.time", lambda: first.acquired + 101)
    with pytest.raises(TokenUnavailable, match="it is down"):
        await tokens.current()


def test_tokens_of_one_client_serve_several_loops() -> None:
    tokens = BearerTokens(Counted(None))
    assert asyncio.run(tokens.current()).value == "1"
    assert asyncio.run(tokens.current()).value == "2"


def test_a_lifetime_that_is_no_time_is_not_known() -> None:
    for answer in ({"expires_in": "soon"}, {"expires_in": 10**400}, {"expires_in": True}, {}):
        body = json.dumps({"access_token": OPAQUE, **answer}).encode()
        assert token_of_json(body, "it").expires is None
    assert BearerToken.parse("a.b.c", "it").expires is None
    assert BearerToken.parse(unsigned_token(None), "it").expires is None
    assert OPAQUE not in repr(BearerToken.parse(OPAQUE, "it"))
