"""Frames: a 4-byte size, a header and a body; what is odd about them is kept here.

ApiVersions answers with response header v0 whatever its version, and with a v0 body and error 35
when it does not know the version it was asked in (KIP-511). client_id is never compact.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import lru_cache
from io import BytesIO

import msgspec

from kwire.codec.declaration import Request, Response
from kwire.error_codes import ErrorCode
from kwire.errors import FrameError
from kwire.messages.a18_api_versions import ApiVersionsResponse
from kwire.messages.headers import RequestHeader, ResponseHeader
from kwire.messages.registry import api_key, request, response

FRAME_LIMIT = 100 * 1024 * 1024
"""Largest frame that is accepted, in bytes: Kafka's socket.request.max.bytes."""

_LARGE = 1 << 20
_SIZE = struct.Struct(">i")
_HEAD = struct.Struct(">hhi")
_API_VERSIONS = api_key("ApiVersions")
_CONTROLLED_SHUTDOWN = api_key("ControlledShutdown")


class RequestHead(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The first fields of every request, of known and unknown APIs."""

    key: int
    version: int
    correlation_id: int


class RequestFrame(msgspec.Struct, frozen=True, kw_only=True):
    """A whole request: its header and its body, at `version`.

    left_over: bytes after the body, which Kafka ignores.
    """

    version: int
    header: RequestHeader
    body: Request
    left_over: int = 0


class ResponseFrame(msgspec.Struct, frozen=True, kw_only=True):
    """A whole response; `version` is its body's, 0 where ApiVersions fell back.

    left_over: bytes after the body, which Kafka ignores.
    """

    version: int
    header: ResponseHeader
    body: Response
    left_over: int = 0


@lru_cache(maxsize=4096)
def request_header_version(key: int, version: int) -> int:
    """Return 2 for flexible versions, else 1; ControlledShutdown v0 knows no client id."""
    if key == _CONTROLLED_SHUTDOWN and version == 0:
        return 0
    return 2 if version in request(key).flexible else 1


@lru_cache(maxsize=4096)
def response_header_version(key: int, version: int) -> int:
    """Return 1 for flexible versions, else 0; always 0 for ApiVersions."""
    if key == _API_VERSIONS:
        return 0
    return 1 if version in response(key).flexible else 0


def request_head(frame: bytes | memoryview) -> RequestHead:
    """Return the fixed first 8 bytes of a request, without its size."""
    if len(frame) < _HEAD.size:
        raise FrameError(f"a request needs {_HEAD.size} bytes of header, {len(frame)} are here")
    key, version, correlation_id = _HEAD.unpack_from(frame)
    return RequestHead(key=key, version=version, correlation_id=correlation_id)


def encode_request(
    body: Request, version: int, *, correlation_id: int, client_id: str | None = None
) -> bytes:
    """Return a request frame, size included."""
    key = type(body).key
    assert key is not None, f"{type(body).__name__} has no API key"
    header = RequestHeader(
        request_api_key=key,
        request_api_version=version,
        correlation_id=correlation_id,
        client_id=client_id,
    )
    return _framed(header.encode(request_header_version(key, version)), body.encode(version))


def decode_request(frame: bytes) -> RequestFrame:
    """Return a request frame, without its size.

    Raises UnsupportedVersion if the API or version is unknown.
    """
    head = request_head(frame)
    # First: of a version that is not known, the header is not known either.
    request(head.key).at(head.version)
    header_version = request_header_version(head.key, head.version)
    header, offset = RequestHeader.decode_from(frame, header_version)
    body, end = request(head.key).decode_from(frame, head.version, offset)
    left_over = len(frame) - end
    return RequestFrame(version=head.version, header=header, body=body, left_over=left_over)


def encode_response(body: Response, version: int, *, correlation_id: int) -> bytes:
    """Encode a response as a frame, its size included.

    An ApiVersions that says UNSUPPORTED_VERSION is encoded at version 0 (KIP-511).
    """
    key = type(body).key
    assert key is not None, f"{type(body).__name__} has no API key"
    header = ResponseHeader(correlation_id=correlation_id)
    if isinstance(body, ApiVersionsResponse) and body.error_code == ErrorCode.UNSUPPORTED_VERSION:
        version = 0
    return _framed(header.encode(response_header_version(key, version)), body.encode(version))


def decode_response(frame: bytes, key: int, version: int) -> ResponseFrame:
    """Return the response frame, without its size, to a request of this API and version."""
    header, offset = ResponseHeader.decode_from(frame, response_header_version(key, version))
    version = body_version(frame, offset, key, version)
    body, end = response(key).decode_from(frame, version, offset)
    return ResponseFrame(version=version, header=header, body=body, left_over=len(frame) - end)


def body_version(frame: bytes, offset: int, key: int, version: int) -> int:
    """Return the version of a response's body at `offset`: 0 where ApiVersions falls back."""
    if key == _API_VERSIONS:
        # The error code is the first field in every version, so that it can be read before the
        # version is known (KIP-511).
        error_code = int.from_bytes(frame[offset : offset + 2], "big")
        return 0 if error_code == ErrorCode.UNSUPPORTED_VERSION else version
    return version


class FrameSplitter:
    """Cuts a stream of bytes into frames. Sizes are checked before anything waits for them.

    A frame of more than `_LARGE` bytes gathers in a buffer of its own that is handed on as it is:
    to copy 100 MiB takes the time of thousands of small frames. A buffer that grows is copied, too,
    up to 32 MiB at a time; whoever has no time for that takes the pieces of large frames.

    limit: size of the largest frame that is accepted from now on, in bytes. pieces: takes, in place
    of the sink, a frame of more than `_LARGE` bytes, as a list of pieces to be joined.
    """

    __slots__ = ("_buffer", "_large", "_missing", "_pieces", "limit")

    def __init__(
        self, limit: int = FRAME_LIMIT, pieces: Callable[[list[bytes]], object] | None = None
    ) -> None:
        self._buffer = bytearray()
        self.limit = limit
        self._large: BytesIO | _Pieces | None = None
        self._missing = 0
        self._pieces = pieces

    @property
    def pending(self) -> int:
        """Bytes of a frame that has not arrived whole."""
        return len(self._buffer) + (self._large.tell() if self._large is not None else 0)

    @property
    def begun(self) -> int:
        """Bytes of the frame that has not arrived whole, as its size says; 0 before that is here.

        What came behind the last frame is only measured by the next `feed`.
        """
        if self._large is not None:
            return self._large.tell() + self._missing
        if len(self._buffer) < _SIZE.size:
            return 0
        return int(_SIZE.unpack_from(self._buffer)[0])

    def feed(self, chunk: bytes, sink: Callable[[bytes], object]) -> None:
        """Pass every complete frame to the sink; raise FrameError for a size out of bounds."""
        self._buffer += chunk if self._large is None else self._fill(self._large, chunk, sink)
        start = 0
        while len(self._buffer) - start >= _SIZE.size:
            (size,) = _SIZE.unpack_from(self._buffer, start)
            # Checked before the bytes arrive: a peer that is no Kafka node could make us wait for 2
            # GiB.
            if not 0 < size <= self.limit:
                raise FrameError(f"a frame of {size} bytes, 1 to {self.limit} allowed")
            end = start + _SIZE.size + size
            if end > len(self._buffer):
                if size > _LARGE:
                    start = self._begin_large(start + _SIZE.size, size)
                break
            sink(bytes(memoryview(self._buffer)[start + _SIZE.size : end]))
            start = end
        del self._buffer[:start]

    def _begin_large(self, start: int, size: int) -> int:
        """Move the begun frame to a buffer of its own; return the end of what was moved."""
        self._large = BytesIO() if self._pieces is None else _Pieces()
        self._missing = size - self._large.write(memoryview(self._buffer)[start:])
        return len(self._buffer)

    def _fill(
        self, large: BytesIO | _Pieces, chunk: bytes, sink: Callable[[bytes], object]
    ) -> bytes:
        """Add to the large frame; return what stands after its end."""
        written = large.write(memoryview(chunk)[: self._missing])
        self._missing -= written
        if not self._missing:
            self._large = None
            if isinstance(large, BytesIO):
                sink(large.getvalue())  # no copy: the buffer itself
            elif self._pieces is not None:
                self._pieces(large.taken())
        return chunk[written:]


class _Pieces:
    """A large frame in pieces of about `_LARGE` bytes, however small the chunks that arrived."""

    __slots__ = ("_begun", "_pieces")

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._begun = BytesIO()

    def tell(self) -> int:
        """Return the number of bytes that are here."""
        return sum(map(len, self._pieces)) + self._begun.tell()

    def write(self, view: memoryview) -> int:
        """Add a chunk; return its size in bytes."""
        self._begun.write(view)
        if self._begun.tell() >= _LARGE:
            self._finish_piece()
        return len(view)

    def taken(self) -> list[bytes]:
        """Return the pieces, the last one included."""
        self._finish_piece()
        return self._pieces

    def _finish_piece(self) -> None:
        self._pieces.append(self._begun.getvalue())
        self._begun = BytesIO()


def _framed(header: bytes, body: bytes) -> bytes:
    # join lets other threads run while it copies a large body, which + does not
    return b"".join((_SIZE.pack(len(header) + len(body)), header, body))
