"""The parts of an X.509 certificate that kwire reads: subject, validity, names (RFC 5280, 4.1).

OpenSSL judges certificates; this reads those that it has accepted, and those that kwire warns of.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

_SEQUENCE, _VERSION, _EXTENSIONS = 0x30, 0xA0, 0xA3
_UTC_TIME, _GENERALIZED_TIME = 0x17, 0x18
_SUBJECT_ALT_NAME = "2.5.29.17"

_LONGEST_NUMBER = 512
"""Bytes of an object identifier. The time of reading one grows with the square of its bytes."""

_ENCODINGS = {
    0x0C: "utf-8",  # UTF8String
    0x12: "latin-1",  # NumericString
    0x13: "latin-1",  # PrintableString
    0x14: "latin-1",  # TeletexString
    0x16: "latin-1",  # IA5String
    0x1A: "latin-1",  # VisibleString
    0x1C: "utf-32-be",  # UniversalString
    0x1E: "utf-16-be",  # BMPString
}
"""Of the types of text, by their tags."""


@dataclass(frozen=True, slots=True)
class Der:
    """One value in DER. data: the whole of it, content: without its tag and length."""

    tag: int
    content: bytes
    data: bytes

    @classmethod
    def read(cls, data: bytes, start: int = 0) -> Der:
        """Return the value at a position. Raises ValueError if it is not whole."""
        if len(data) < start + 2:
            raise ValueError("a value that is cut")
        tag, size, head = data[start], data[start + 1], start + 2
        if tag & 0x1F == 0x1F:
            raise ValueError("a tag of more than a byte")
        if size & 0x80:
            count = size & 0x7F
            if not 0 < count <= 4 or head + count > len(data):
                raise ValueError("a length that is no length")
            size, head = int.from_bytes(data[head : head + count], "big"), head + count
        end = head + size
        if end > len(data):
            raise ValueError("a value that is cut")
        return cls(tag, data[head:end], data[start:end])

    def parts(self) -> Iterator[Der]:
        """Yield the values inside. Raises ValueError if one is not whole."""
        position = 0
        while position < len(self.content):
            part = Der.read(self.content, position)
            position += len(part.data)
            yield part

    @property
    def number(self) -> str:
        """The dotted form of an object identifier. Raises ValueError if it is cut or too long."""
        if len(self.content) > _LONGEST_NUMBER:
            raise ValueError("an object identifier that is too long")
        numbers, value = [0], 0
        for byte in self.content:
            value = value << 7 | byte & 0x7F
            if not byte & 0x80:
                numbers.append(value)
                value = 0
        if not self.content or self.content[-1] & 0x80:
            raise ValueError("an object identifier that is cut")
        numbers[0] = min(numbers[1] // 40, 2)
        numbers[1] -= 40 * numbers[0]
        return ".".join(map(str, numbers))

    @property
    def text(self) -> str | None:
        """The characters of a text; None for another value. Raises ValueError."""
        encoding = _ENCODINGS.get(self.tag)
        return None if encoding is None else self.content.decode(encoding)

    @property
    def time(self) -> datetime:
        """A UTCTime or GeneralizedTime, whose form RFC 5280 fixes. Raises ValueError."""
        text = self.content.decode("ascii")
        if self.tag == _UTC_TIME:  # two digits of the year, from 1950 to 2049
            text = ("20" if text[:2] < "50" else "19") + text
        elif self.tag != _GENERALIZED_TIME:
            raise ValueError("neither UTCTime nor GeneralizedTime")
        return datetime.strptime(text, "%Y%m%d%H%M%SZ").replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate:
    """subject: a name in DER. hosts: the alternative names of the subject, each in DER."""

    subject: Der
    begin: datetime
    end: datetime
    hosts: frozenset[bytes]

    @classmethod
    def read(cls, data: bytes) -> Certificate:
        """Read a certificate in DER. Raises ValueError if it is none."""
        try:
            signed = next(Der.read(data).parts())
            fields = list(signed.parts())
            if fields[0].tag == _VERSION:
                del fields[0]
            _serial, _algorithm, _issuer, validity, subject, _key, *rest = fields
            begin, end = (moment.time for moment in validity.parts())
            if not all(part.tag == _SEQUENCE for part in (signed, validity, subject)):
                raise ValueError("parts of a certificate are missing")
            return cls(subject=subject, begin=begin, end=end, hosts=_hosts(rest))
        except (IndexError, StopIteration) as error:
            raise ValueError("a certificate that is cut") from error


def _hosts(fields: list[Der]) -> frozenset[bytes]:
    """Return the names of the extension subjectAltName (RFC 5280, 4.2.1.6)."""
    for field in fields:
        for extension in next(field.parts()).parts() if field.tag == _EXTENSIONS else ():
            number, *_critical, value = extension.parts()
            if number.number == _SUBJECT_ALT_NAME:
                return frozenset(name.data for name in Der.read(value.content).parts())
    return frozenset()
