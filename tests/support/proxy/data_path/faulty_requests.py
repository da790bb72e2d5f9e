"""Malformed requests that a Kafka node meets."""

from kwire.messages.a01_fetch import FetchRequest
from kwire.messages.a03_metadata import MetadataRequest
from kwire.messages.a60_describe_cluster import DescribeClusterRequest
from tests.support.proxy.dialogue import asked

LIMIT = 100 * 1024 * 1024


def size(number: int) -> bytes:
    return number.to_bytes(4, "big", signed=True)


def framed(frame: str | bytes) -> bytes:
    data = bytes.fromhex(frame) if isinstance(frame, str) else frame
    return size(len(data)) + data


def cut(frame: bytes, count: int) -> bytes:
    """A whole frame whose body lacks its last bytes."""
    return framed(frame[4:-count])


def head(key: int, version: int, rest: str) -> bytes:
    """A request header up to and without the client id, and what follows it."""
    return framed(
        key.to_bytes(2, "big", signed=True)
        + version.to_bytes(2, "big", signed=True)
        + bytes.fromhex("00000001" + rest)
    )


CONTROL = asked(DescribeClusterRequest(), 1, 7, "me")

SOFTWARE = "0261026100"

TAGS = "".join(f"{tag:02x}00" for tag in range(3, 0, -1))

FAULTS = {
    "frame size 0": (size(0), "a frame of 0 bytes"),
    "frame size -1": (size(-1), "a frame of -1 bytes"),
    "frame size -2^31": (size(-(2**31)), "a frame of -2147483648 bytes"),
    "frame size 2^31-1": (size(2**31 - 1), "a frame of 2147483647 bytes"),
    "frame size 100 MiB + 1": (size(LIMIT + 1), "a frame of 104857601 bytes"),
    "TLS ClientHello": (bytes.fromhex("16030100c5010000c10303") + bytes(190), "a TLS record"),
    "HTTP GET": (b"GET / HTTP/1.1\r\nHost: kafka\r\n\r\n", "text, 'GET '"),
    "frame of 2 bytes": (framed("0012"), "a request of 2 bytes, 8 needed"),
    "frame of 7 bytes": (framed("00120004000000"), "a request of 7 bytes, 8 needed"),
    "api key 9999": (head(9999, 0, "ffff"), "no API has key 9999"),
    "api key -1": (head(-1, 0, "ffff"), "no API has key -1"),
    "Metadata v99": (head(3, 99, "ffff00"), "MetadataRequest has versions 0-13, not 99"),
    "client id longer than the frame": (head(18, 0, "7fff6162"), "the client id needs"),
    "header tag count 2^32-1": (head(18, 3, "ffffffffffff0f"), "not decoded"),
    "header tag length 2^31-1": (head(18, 3, "ffff0101ffffffff07"), "not decoded"),
    "6-byte varint": (head(18, 3, "ffff808080808000"), "not decoded"),
    "truncated body": (cut(asked(MetadataRequest(topics=None), 9, 1), 2), "not decoded"),
    "array claim 2^31-1, Metadata v9": (head(3, 9, "ffff00ffffffff07"), "elements claimed"),
    "array claim 2^31-1, Vote v1": (head(52, 1, "ffff000000000001ffffffff07"), "elements claimed"),
    "truncated Fetch v12": (cut(asked(FetchRequest(), 12, 1), 3), "not decoded"),
    "ApiVersions v99": (head(18, 99, "ffff00"), "ApiVersionsRequest has versions 0-5, not 99"),
    "ApiVersions v-1": (head(18, -1, "ffff"), "ApiVersionsRequest has versions 0-5, not -1"),
    "client id length -2": (head(18, 0, "fffe"), ""),
    "invalid UTF-8 client id": (head(18, 0, "0002fffe"), ""),
    "one header tag 100,000 times": (
        head(18, 3, "ffffa08d06" + "0000" * 100_000 + "020161020161" + "00"),
        "not decoded",
    ),
    "duplicate tags": (head(60, 0, "ffff02" + "6300" * 2 + "0000"), ""),
    "descending tags": (head(60, 0, "ffff03" + TAGS + "0000"), ""),
    "5 trailing bytes": (framed(CONTROL[4:] + bytes(5)), "5 bytes behind the request"),
    "size 100 MiB, then nothing": (size(LIMIT), None),
    "1 byte of the size": (b"\0", None),
}
