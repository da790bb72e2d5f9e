"""`kwire decode`: decode bytes from the wire, from a log or from a bug report."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import replace
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from kwire.cli.errors import CommandFailed, WrongUsage
from kwire.cli.options import argument, flag, option, reads_options
from kwire.cli.unpack_limit import UNPACK_LIMIT

if TYPE_CHECKING:
    from kwire.codec.declaration import Message
    from kwire.net.frames import RequestFrame, ResponseFrame
    from kwire.proxy.flows.tree import Tree


REQUEST_NAME = re.compile(r"(?P<api>\d{1,5}|\w*[^\W\d]\w*):(?P<version>\d{1,5})", re.ASCII)


class Form(Enum):
    """The form of output: for people, Kafka's own JSON, or JSON that loses nothing."""

    TREE = "tree"
    KAFKA = "kafka"
    EXACT = "exact"


@reads_options
def decode(
    source: list[str] = argument(
        metavar="HEX|FILE|-",
        help="Hex in any usual form, a file of hex, of a hex dump or of raw bytes, or stdin.",
    ),
    message: str | None = option(
        metavar="NAME", help="The bytes are this message alone, without a header."
    ),
    version: int | None = option(metavar="N", help="The version of --message."),
    response_to: str | None = option(
        metavar="API:VERSION",
        help="The bytes are the response to this request; API is a key or a name.",
    ),
    as_json: bool = flag("--json", help="Print the JSON that Kafka's own tools print."),
    exact: bool = flag(
        "--exact", help="Add what that JSON loses: unknown tagged fields, bytes of records."
    ),
    unpack_limit: int = UNPACK_LIMIT,
) -> None:
    """Decode requests, responses and all other Kafka messages.

    Without options the bytes are whole requests: key and version stand in their headers, and the
    4-byte size before a frame may be there or not. Secrets are hidden, but for --json.

    \b
    kwire decode 0012 0004 00000001 0005 6b77697265 00 066b77697265 04302e31 00
    kwire decode --response-to DescribeQuorum:2 answer.bin
    xxd record.bin | kwire decode --message VotersRecord --version 0 -
    """
    if message and response_to:
        raise WrongUsage("--message and --response-to exclude each other.")
    if version is not None and not message:
        raise WrongUsage("--version is for --message: a header names its own version.")
    if exact and not as_json:
        raise WrongUsage("--exact belongs to --json.")
    form = (Form.EXACT if exact else Form.KAFKA) if as_json else Form.TREE
    data = _read(source)
    if message:
        _decode_message(data, message, version, form)
    elif response_to:
        _decode_responses(data, *_parse_request(response_to), form)
    else:
        _decode_requests(data, form)


def _read(source: list[str]) -> bytes:
    """Return the bytes to decode: of stdin, of a file, or of the arguments themselves."""
    from kwire.cli.decode_hex import looks_like_hex, parse_hex

    if source == ["-"]:
        data = _limited(sys.stdin.buffer)
    elif len(source) == 1 and os.path.exists(source[0]):
        with Path(source[0]).open("rb") as file:
            data = _limited(file)
    else:
        return _some(_spelled(" ".join(source)))
    return _some(parse_hex(data.decode("ascii")) if looks_like_hex(data) else data)


def _limited(file: BinaryIO) -> bytes:
    """Read a file. Raises CommandFailed if it is larger than the largest frame and its size."""
    from kwire.net import frames

    limit = frames.FRAME_LIMIT + 4
    data = file.read(limit + 1)
    if len(data) > limit:
        raise CommandFailed(
            f"there are more than {limit} bytes, and no frame has more: cut one out."
        )
    return data


def _spelled(text: str) -> bytes:
    from kwire.cli.decode_hex import parse_hex

    try:
        return parse_hex(text)
    except CommandFailed as error:
        excerpt = text if len(text) <= 40 else f"{text[:37]}..."
        raise CommandFailed(f"{excerpt!r} is no file, and as hex: {error}") from error


def _some(data: bytes) -> bytes:
    if not data:
        raise CommandFailed("there are no bytes to decode.")
    return data


def _parse_request(response_to: str) -> tuple[int, int]:
    """Parse `DescribeQuorum:2` or `55:2`; return API key and version. Raises WrongUsage."""
    from kwire.messages import registry
    from kwire.text.untrusted import whole_number

    match = REQUEST_NAME.fullmatch(response_to)
    if match is None:
        excerpt = response_to if len(response_to) <= 40 else f"{response_to[:37]}..."
        raise WrongUsage(f"{excerpt!r} is not API:VERSION, such as DescribeQuorum:2.")
    api, version = match["api"], int(match["version"])
    key = whole_number(api, bits=31)
    if key is not None:
        request: type[Message] = registry.request(key)
    else:
        request = registry.message(f"{api.removesuffix('Request')}Request")
    assert request.key is not None
    # A node that lacks the version of an ApiVersions answers it all the same (KIP-511).
    if request.key != registry.api_key("ApiVersions"):
        request.at(version)
    return request.key, version


def _decode_message(data: bytes, name: str, version: int | None, form: Form) -> None:
    from kwire.messages import registry

    cls = registry.message(name)
    if version is None:
        if len(cls.versions) != 1:
            raise WrongUsage(f"say which --version: {name} has versions {cls.versions}.")
        version = cls.versions.first
    _show_message(cls.decode(data, version), version, form)


def _show_message(body: Message, version: int, form: Form) -> None:
    from kwire.cli.screen import print_json, screen

    if form is not Form.TREE:
        print_json(_json(body, version, form))
        return
    from kwire.cli.flows.tree_screen import draw

    screen().print(draw(_tree(type(body).__name__, body, version)))


def _decode_requests(data: bytes, form: Form) -> None:
    """Decode frames with their sizes, or one without, which then begins with its API key.

    A size that claims more than is there could also be key 0, Produce's, and a version: it is taken
    for a size unless Produce has that version.
    """
    from kwire.messages.registry import UnknownMessage, request
    from kwire.net.frames import decode_request

    frames, rest = _split(data)
    size = int.from_bytes(rest[:4], "big")
    if rest and size < 1 << 16 and (frames or size not in request(0).versions):
        behind = f"behind {len(frames)} whole frame(s), " if frames else ""
        raise CommandFailed(behind + _cut_short(rest))
    for frame in [data] if rest else frames:
        try:
            decoded = decode_request(frame)
        except UnknownMessage as error:
            hint = "if this is no request, say what it is: --response-to or --message"
            raise CommandFailed(f"{error}; {hint}.") from error
        _show_frame(decoded, form)


def _decode_responses(data: bytes, key: int, version: int, form: Form) -> None:
    """Decode frames with their sizes, or one without, which begins with its correlation id."""
    from kwire.errors import WireError
    from kwire.net.frames import decode_response

    frames, rest = _split(data)
    try:
        decoded = [decode_response(frame, key, version) for frame in ([data] if rest else frames)]
    except WireError as error:
        if rest:
            raise CommandFailed(f"{error}. If a size comes first, {_cut_short(rest)}") from error
        raise
    for frame in decoded:
        _show_frame(frame, form)


def _split(data: bytes) -> tuple[list[bytes], bytes]:
    """Return the frames that stand whole behind their sizes, and the bytes after the last one."""
    frames: list[bytes] = []
    start = 0
    while 0 < (size := int.from_bytes(data[start : start + 4], "big")) <= len(data) - start - 4:
        frames.append(data[start + 4 : start + 4 + size])
        start += 4 + size
    return frames, data[start:]


def _cut_short(data: bytes) -> str:
    if len(data) < 4:
        return f"a frame is cut short: its size takes 4 bytes, {len(data)} are here."
    size = int.from_bytes(data[:4], "big")
    return f"a frame is cut short: it claims {size} bytes, {len(data) - 4} are here."


def _show_frame(frame: RequestFrame | ResponseFrame, form: Form) -> None:
    from kwire.cli.screen import print_json, screen
    from kwire.net.frames import RequestFrame, request_header_version, response_header_version

    key = type(frame.body).key
    assert key is not None
    kind = "request" if isinstance(frame, RequestFrame) else "response"
    of_header = request_header_version if kind == "request" else response_header_version
    header_version = of_header(key, frame.version)
    if frame.left_over:
        note = f"{frame.left_over} bytes behind the {kind} are left over; Kafka ignores them."
        screen(stderr=True).print(f"Warning: {note}", style="yellow")
    if form is not Form.TREE:
        header = _json(frame.header, header_version, form)
        print_json({f"{kind}Header": header, kind: _json(frame.body, frame.version, form)})
        return
    from kwire.cli.flows.tree_screen import draw

    header = _tree("header", frame.header, header_version)
    body = _tree(type(frame.body).__name__, frame.body, frame.version)
    frame_tree = replace(
        body, value=f"{body.value}  API key {key}", children=(header, *body.children)
    )
    screen().print(draw(frame_tree))


def _tree(name: str, message: Message, version: int) -> Tree:
    from kwire.cli.flows.record_tree import record_trees
    from kwire.proxy.flows.tree import message_tree

    return message_tree(name, message, version, record_trees)


def _json(body: Message, version: int, form: Form) -> Any:
    from kwire.codec.json_form import to_json

    return to_json(body, version, exact=form is Form.EXACT)
