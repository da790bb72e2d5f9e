"""TLS between the bytes of a TCP connection and the RPCs in it.

1. A connection whose bytes are no TLS records passes as it is.
2. The hellos say which secrets of a key log are the connection's. Records wait for them, a few
   moments and up to a bound: a key log may be written later than packets are seen.
3. A record that its key does not open is tried with the next one: behind the handshake, and behind
   a KeyUpdate. So no message of the handshake is read but the hellos.
4. Behind a gap, records are found by their heads. Their number is not known, but a wrong one opens
   nothing: those that the gap has room for are tried.
"""

from __future__ import annotations

import re
import ssl
from dataclasses import dataclass, field
from enum import Enum
from struct import unpack_from
from typing import TYPE_CHECKING

from kwire.proxy.capture.packets.conversation import Content, Conversation
from kwire.proxy.capture.packets.tls_handshake import NoKeys, TlsHandshake
from kwire.proxy.flows.flow import NoticeKind

if TYPE_CHECKING:  # of packages that only decryption needs
    from kwire.proxy.capture.packets.key_log import KeyLog
    from kwire.proxy.capture.packets.tls_ciphers import RecordKeys

MOMENTS = 3
"""Moments for which records wait for keys."""

FAILURES = 32
"""Records in a row that no key opens, behind which no more are tried."""

WINDOW = 1024
"""Most numbers that are tried for a record behind a gap."""

_LEAST_RECORD = 40  # bytes; fewer are in no record with a frame
_LONGEST = 16 * 1024 + 2048  # bytes of a record (RFC 5246, 6.2.3)
_HEAD = 5
_CHANGE, _ALERT, _HANDSHAKE, _DATA = 20, 21, 22, 23
_FATAL = 2
_RECORD = re.compile(rb"\x17\x03\x03[\x00-\x48]", re.DOTALL)
_NO_LOG = (
    "TLS: its keys are needed to read it. Have its client or node write a key log (SSLKEYLOGFILE,"
    " `kwire proxy --tls-keys-out`) and give it as --tls-keys"
)
_WRITTEN = "A client or node writes them when it connects (SSLKEYLOGFILE): both need one file"
_JOINED = (
    "TLS that began before the packets: without its handshake no key opens it; have the client"
    " connect anew"
)


@dataclass(slots=True)
class TlsDirection:
    """One direction.

    data: bytes up to the end of a record. hello: handshake messages that are not whole. encrypted:
    records of TLS 1.2 are, from its ChangeCipherSpec on. number: of the next record. window: how
    many numbers are tried. opened: a record was. failures: records in a row that were not.
    searching: it is not known where the next record begins. size: bytes that came.
    """

    size: int = 0
    data: bytearray = field(default_factory=bytearray)
    hello: bytes = b""
    encrypted: bool = False
    keys: RecordKeys | None = None
    following: RecordKeys | None = None
    number: int = 0
    window: int = 1
    opened: bool = False
    failures: int = 0
    searching: bool = False

    def open(self, head: bytes, body: bytes) -> tuple[int, bytes] | None:
        """Return the type and the content of a record, None if no key opens it."""
        tried = ((self.keys, self.number), (self.following, 0))
        for keys, start in ((keys, start) for keys, start in tried if keys is not None):
            for number in range(start, start + self.window):
                if (content := keys.open(number, head, body)) is None:
                    continue
                if keys is self.following:
                    self.keys, self.following = keys, keys.updated()
                self.number, self.window, self.failures = number + 1, 1, 0
                self.opened, self.searching = True, False
                return content
        self.failures += 1
        return None

    def lose(self, size: int) -> None:
        """Take note that bytes are missing: search for the next record."""
        self.data.clear()
        self.searching = self.encrypted = True
        self.window = min(self.window + size // _LEAST_RECORD + 1, WINDOW)


class TlsMode(Enum):
    """The kind of a connection. OFF: TLS that is not decrypted, or not any more."""

    UNDECIDED = "undecided"
    PLAIN = "plain"
    RECORDS = "records"
    OFF = "off"


class TlsStream:
    """Takes the bytes of both sides of a TCP connection; hands on what is in their records."""

    def __init__(self, conversation: Conversation, keys: KeyLog | None) -> None:
        self._conversation = conversation
        self._keys = keys
        self._directions = (TlsDirection(), TlsDirection())
        self._handshake = TlsHandshake()
        self._mode = TlsMode.UNDECIDED
        self._has_keys = self._seen = self._alerted = False
        self._held: list[tuple[int, bytes, float]] = []
        self._held_size = self._moments = 0

    def data(self, side: int, data: bytes, at: float) -> None:
        """Take the next bytes of a side."""
        if self._mode is TlsMode.UNDECIDED:
            # No frame of Kafka's is as long as one that begins like a record.
            self._mode = TlsMode.RECORDS if _CHANGE <= data[0] <= _DATA else TlsMode.PLAIN
        if self._mode is TlsMode.PLAIN:
            if not (self._conversation.has_no_frames and _RECORD.match(data)):
                self._conversation.data(side, data, at)
                return
            self._stop(self._without_handshake, at)
        self._conversation.is_encrypted = not self._has_keys
        direction = self._directions[side]
        direction.size += len(data)
        if self._mode is TlsMode.RECORDS:
            direction.data += data
            while self._search(side, at) if direction.searching else self._take_record(side, at):
                pass

    def gap(self, side: int, size: int, at: float, *, cut: bool) -> None:
        """Take note of bytes that are not in the file. cut: a packet was cut in it."""
        if self._mode in (TlsMode.UNDECIDED, TlsMode.PLAIN):
            self._conversation.gap(side, size, at, cut=cut)
        elif self._mode is TlsMode.RECORDS:
            if not self._has_keys and (self._handshake.suite is None or not self._find_keys(at)):
                self._stop(self._without_handshake, at)
                return
            self._directions[side].lose(size)
            self._conversation.gap(side, size, at, cut=cut, is_exact=False)

    def begin_late(self, side: int, at: float) -> None:
        """Take note that the first bytes of a side are not in the file, nor how many they are."""
        if self._mode in (TlsMode.UNDECIDED, TlsMode.PLAIN):
            self._conversation.begin_late(side, at)
        else:
            self._stop(self._without_handshake, at)

    def pass_moment(self, at: float) -> None:
        """Look for keys again, and stop waiting for them after some moments."""
        if self._held:
            self._moments += 1
            self._find_keys(at, is_last=self._moments >= MOMENTS)

    def end(self, at: float) -> None:
        """Read what waits: no more bytes will come."""
        if self._held:
            self._find_keys(at, is_last=True)
        if any(direction.failures and not direction.opened for direction in self._directions):
            self._stop(self._wrong_keys, at)
        if self._mode is TlsMode.RECORDS and not (self._has_keys or self._alerted):
            self._conversation.tell(NoticeKind.UNREADABLE, "TLS: the handshake did not end", at)
        if self._conversation.content is Content.TLS:
            for side, direction in enumerate(self._directions):
                self._conversation.directions[side].read = direction.size

    def _take_record(self, side: int, at: float) -> bool:
        """Take the next record of a side; return False if it is not whole."""
        data = self._directions[side].data
        if self._mode is not TlsMode.RECORDS or len(data) < _HEAD:
            return False
        kind, version, size = unpack_from(">BBxH", data)
        if not (_CHANGE <= kind <= _DATA and version == 3 and size <= _LONGEST):
            self._take_no_record(at)
            return False
        if len(data) < _HEAD + size:
            return False
        self._seen = True
        record = bytes(data[: _HEAD + size])
        del data[: _HEAD + size]
        self._read(side, record, at)
        return True

    def _take_no_record(self, at: float) -> None:
        """Take bytes that are no record: of another protocol, or damaged."""
        if self._seen:
            self._stop("TLS whose bytes are no records any more: what follows is not read", at)
            return
        self._mode, self._conversation.is_encrypted = TlsMode.PLAIN, False
        for side, direction in enumerate(self._directions):
            if direction.data:
                self._conversation.data(side, bytes(direction.data), at)

    def _read(self, side: int, record: bytes, at: float) -> None:
        """Read a record, of which the head is right."""
        kind, direction, handshake = record[0], self._directions[side], self._handshake
        if kind == _DATA or (direction.encrypted and not handshake.is_13):
            if handshake.suite is not None:
                self._decrypt(side, record, at)
            else:
                self._stop(self._without_handshake, at)
        elif kind == _CHANGE:
            direction.encrypted = handshake.suite is not None
        elif kind == _ALERT:
            self._alert(side, record[_HEAD:], at)
        else:
            direction.hello = handshake.take(side, direction.hello + record[_HEAD:])
            if handshake.suite is not None and self._keys is None:
                self._stop(_NO_LOG, at)

    def _decrypt(self, side: int, record: bytes, at: float) -> None:
        """Open a record, or hold it until its keys are known."""
        assert self._keys is not None
        if self._has_keys or (not self._held and self._find_keys(at)):
            self._open(side, record, at)
        elif self._mode is TlsMode.RECORDS:
            room, size = self._keys.held, len(record)
            if self._held_size + size <= room.copy_limit and room.take(size):
                self._held.append((side, record, at))
                self._held_size += size
            elif self._find_keys(at, is_last=True):
                self._open(side, record, at)

    def _find_keys(self, at: float, *, is_last: bool = False) -> bool:
        """Open what is held; return False if the keys are not known yet, or never will be.

        is_last: they are not waited for any more.
        """
        assert self._keys is not None
        try:
            found = self._keys.keys(self._handshake)
        except NoKeys as reason:
            self._stop(str(reason), at)
            return False
        if found is None:
            if is_last:
                self._stop(f"TLS without its keys: {self._keys.content}. {_WRITTEN}", at)
            return False
        self._has_keys, self._conversation.is_encrypted = True, False
        for side, keys in enumerate(found if self._handshake.client == 0 else found[::-1]):
            self._directions[side].keys, self._directions[side].following = keys
        for held in self._take_held():
            self._open(*held)
        return True

    def _open(self, side: int, record: bytes, at: float) -> bool:
        """Hand on what is in a record; return False if no key opens it."""
        if self._mode is not TlsMode.RECORDS:
            return False
        direction = self._directions[side]
        opened = direction.open(record[:_HEAD], record[_HEAD:])
        if opened is None:
            self._fail(side, len(record), at)
            return False
        kind, content = opened
        if kind == _DATA and content:
            self._conversation.data(side, content, at)
        elif kind == _ALERT:
            self._alert(side, content, at)
        return True

    def _fail(self, side: int, size: int, at: float) -> None:
        """Give up the record that no key opens; of too many, the connection."""
        direction = self._directions[side]
        expected = direction.opened or direction.searching or direction.keys is None
        if direction.failures >= (FAILURES if expected else 1):
            self._stop(self._wrong_keys, at)
        elif direction.opened and not direction.searching:
            direction.window += 1
            self._conversation.gap(side, size, at, cut=False, is_exact=False)

    def _search(self, side: int, at: float) -> bool:
        """Take the next record that a key opens; return False if there is none yet."""
        direction = self._directions[side]
        data = bytes(direction.data)
        for match in _RECORD.finditer(data):
            start, size = match.start(), int.from_bytes(data[match.end() - 1 : match.end() + 1])
            end = start + _HEAD + size
            if end > len(data):
                del direction.data[:start]
                return False
            if self._open(side, data[start:end], at):
                del direction.data[:end]
                return True
        del direction.data[: -_HEAD + 1]
        return False

    def _alert(self, side: int, alert: bytes, at: float) -> None:
        if len(alert) < 2 or alert[0] != _FATAL or self._conversation.has_data:
            return
        try:
            name = ssl.AlertDescription(alert[1]).name.removeprefix("ALERT_DESCRIPTION_")
        except ValueError:
            name = str(alert[1])
        self._alerted = True
        sender = "client" if side == self._handshake.client else "node"
        text = f"the {sender} sent the alert {name.lower().replace('_', ' ')}"
        self._conversation.tell(NoticeKind.HANDSHAKE_FAILED, text, at)

    @property
    def _without_handshake(self) -> str:
        return _JOINED if self._keys is not None else _NO_LOG

    @property
    def _wrong_keys(self) -> str:
        assert self._keys is not None
        content = self._keys.content
        return f"TLS that its keys do not open: not this connection's, or damaged; {content}"

    def _stop(self, reason: str, at: float) -> None:
        """Decrypt nothing more, and tell why, once."""
        if self._mode is TlsMode.OFF:
            return
        self._mode = TlsMode.OFF
        self._take_held()
        for direction in self._directions:
            direction.data.clear()
        self._conversation.tell_unread(reason, at)

    def _take_held(self) -> list[tuple[int, bytes, float]]:
        if self._keys is not None:
            self._keys.held.give_back(self._held_size)
        held, self._held, self._held_size = self._held, [], 0
        return held
