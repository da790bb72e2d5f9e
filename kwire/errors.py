"""Roots of errors: what kwire raises, as one tree; each room has its own below them.

KwireError
├── WireError              the bytes are wrong
│   ├── DecodeError        … as a message: offset, field path, message, version
│   ├── FrameError         … as a frame or a header
│   ├── BatchError         … as a record batch: offset
│   │   └── TooLarge       … which would unpack to more than is allowed
│   └── FileError          … in a file of a log directory: file, offset
├── BrokerError            the peer answered with an error code
├── ApiError               we answer a peer with an error code (Java: ApiException)
└── LocalError             we would have sent nonsense, or could not send at all
    ├── InvalidValue       a value that a caller gave has no meaning: an address, an id
    ├── EncodeError        a value does not fit its field or its version
    ├── UnsupportedVersion no such version of a message, here or at the peer
    ├── UnsupportedEndpointType   the operation is not for this kind of node (KIP-919)
    ├── StorageFailed      the disk did not do what it was asked; nothing may be acknowledged
    └── ConnectionFailed   no answer: refused, closed, timed out
        ├── ConnectTimedOut   … before a request was sent: asked again, it may succeed
        └── AnswerLost     … after the request was sent: it may have been carried out
            └── LoginWanted   … the first request, without a login
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kwire.error_codes import ErrorCode


class KwireError(Exception):
    """Root of every error that kwire raises on purpose. It survives pickling and copying."""

    def __reduce__(self) -> tuple[object, ...]:
        # The default calls the class with the sentence, which many take in parts.
        return _restored, (type(self), self.args, self.__dict__)


def _restored(
    kind: type[KwireError], args: tuple[object, ...], attributes: dict[str, object]
) -> KwireError:
    error = kind.__new__(kind, *args)
    error.__dict__.update(attributes)
    return error


class WireError(KwireError):
    """Bytes that came from outside are not what the protocol says."""


class DecodeError(WireError):
    """A message cannot be read.

    offset: where the offending field begins, in bytes from the start of the input.
    path: the field, as `topics[3].partitions[0].leader_id`; empty for the message itself.
    """

    def __init__(
        self, reason: str, *, message: str, version: int, path: str = "", offset: int = 0
    ) -> None:
        self.reason = reason
        self.message = message
        self.version = version
        self.path = path
        self.offset = offset
        where = f" {path}" if path else ""
        super().__init__(f"{message} v{version}{where} at byte {offset}: {reason}")


class FrameError(WireError):
    """A frame or its header is malformed."""


class BatchError(WireError):
    """A record batch, or a record in it, is malformed or corrupt.

    offset: where the offending part begins, in bytes from the start of the batch.
    """

    def __init__(self, reason: str, *, offset: int = 0) -> None:
        self.reason = reason
        self.offset = offset
        super().__init__(f"record batch, byte {offset}: {reason}")


class TooLarge(BatchError):
    """Compressed records would unpack to more than the limit; raise it where they are trusted."""


class FileError(WireError):
    """A file of a log directory is not what Kafka writes. It was left as it is.

    offset: where the offending part begins, in bytes from the start of the file.
    """

    def __init__(self, reason: str, *, file: object, offset: int = 0) -> None:
        self.reason = reason
        self.file = file
        self.offset = offset
        super().__init__(f"{file}, byte {offset}: {reason}")

    def with_way_on(self, way: str) -> "FileError":
        """Return the same error that also says how to go on."""
        return FileError(f"{self.reason}; {way}", file=self.file, offset=self.offset)


class BrokerError(KwireError):
    """The peer answered with an error code. `name` is Kafka's, `retriable` is its opinion.

    message: of the peer, or None. explanation: that, or without one the meaning of the code.
    """

    def __init__(self, code: int, message: str | None = None) -> None:
        from kwire.error_codes import is_retriable, name
        from kwire.error_meanings import MEANINGS

        self.code = code
        self.name = name(code)
        self.retriable = is_retriable(code)
        self.message = message
        has_message = message and message != self.name
        self.explanation = message if has_message else MEANINGS.get(code, "")
        super().__init__(f"{self.name}: {self.explanation}" if self.explanation else self.name)


class ApiError(KwireError):
    """Raised to answer a request, or a part of one, with an error code; nothing is changed."""

    def __init__(self, code: "ErrorCode", message: str | None = None) -> None:
        self.code = code
        self.message = message
        super().__init__(f"{code.name}: {message}" if message else code.name)


class LocalError(KwireError):
    """The mistake is on this side of the wire."""


class InvalidValue(LocalError, ValueError):
    """A value that a caller gave has no meaning: an address, an id, two options that conflict."""


class EncodeError(LocalError):
    """An object cannot be written at this version; `path` names the field."""

    def __init__(self, reason: str, *, message: str, version: int, path: str = "") -> None:
        self.reason = reason
        self.message = message
        self.version = version
        self.path = path
        where = f" {path}" if path else ""
        super().__init__(f"{message} v{version}{where}: {reason}")


class UnsupportedVersion(LocalError):
    """A message, or the peer, does not have the version that was asked for."""


class UnsupportedEndpointType(LocalError):
    """The operation needs a broker where a controller was given, or the reverse (KIP-919)."""


class StorageFailed(LocalError):
    """A write or a flush failed: what is on the disk is unknown until the log is opened again."""


class ConnectionFailed(LocalError):
    """Nothing usable came back: refused, unresolvable, closed or out of time."""


class ConnectTimedOut(ConnectionFailed):
    """No connection was open in time; the node may be slow, and another attempt may succeed."""


class AnswerLost(ConnectionFailed):
    """A request was sent and its answer did not come: closed or out of time. It may have worked."""


class LoginWanted(AnswerLost):
    """The first request ended the connection, as it does where a login must come before it."""
