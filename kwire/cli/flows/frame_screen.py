"""Frames on a screen: their bytes as xxd prints them, and their trees.

A request names its API and version; an answer is read by the request with its correlation id.
"""

from __future__ import annotations

from collections.abc import Iterator

import typer

from kwire.cli.flows.record_tree import record_trees
from kwire.cli.flows.tree_screen import draw
from kwire.cli.screen import screen
from kwire.errors import KwireError
from kwire.net.frames import decode_request, decode_response
from kwire.proxy.flows.tree import Tree, message_tree
from kwire.text.untrusted import harmless

_ROW = 16
_ROWS_SHOWN = 32
_SHORTEST = 8
"""Bytes of the shortest frame with its size: a correlation id, or an API key and a version."""

RequestIds = dict[int, tuple[int, int]]
"""API key and version by correlation id."""


def dump(data: bytes, *, hint: str = "") -> Iterator[str]:
    """Yield bytes as xxd prints them, the first rows of many; hint: tells where the others are."""
    for start in range(0, min(len(data), _ROWS_SHOWN * _ROW), _ROW):
        row = data[start : start + _ROW]
        pairs = " ".join(row[i : i + 2].hex() for i in range(0, len(row), 2))
        text = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in row)
        yield f"{start:08x}: {pairs:39}  {text}"
    if (more := len(data) - _ROWS_SHOWN * _ROW) > 0:
        yield f"and {more} bytes more{hint}"


def show_frame(data: bytes, requests: RequestIds, *, sent: bool) -> None:
    """Print the tree of a frame, or why it is none; remember a request for its answer."""
    size = int.from_bytes(data[:4], "big", signed=True)
    if len(data) < _SHORTEST or size != len(data) - 4:
        typer.echo("  not one whole frame")
        return
    answered = None
    if sent:
        key, version = (int.from_bytes(data[i : i + 2], "big") for i in (4, 6))
        requests[int.from_bytes(data[8:12], "big")] = key, version
    elif (answered := requests.get(int.from_bytes(data[4:8], "big"))) is None:
        typer.echo("  its correlation id is of no request")
        return
    _show_tree(data[4:], answered)


def _show_tree(frame: bytes, answered: tuple[int, int] | None) -> None:
    try:
        decoded = decode_response(frame, *answered) if answered else decode_request(frame)
    except KwireError as error:
        typer.echo(f"  cannot be read: {harmless(str(error))}")
        return
    name = type(decoded.body).__name__
    tree = message_tree(name, decoded.body, decoded.version, record_trees)
    number = Tree(name="correlation_id", value=str(decoded.header.correlation_id))
    screen().print(draw(Tree(name=name, value=tree.value, children=(number, *tree.children))))
    if decoded.left_over:
        typer.echo(f"  {decoded.left_over} bytes left over")
