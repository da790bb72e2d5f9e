"""`kwire conform --hex ID`: the bytes of one check in both directions, decoded, and how to resend.

A request names its API and version; an answer is read by the request with its correlation id.
"""

from __future__ import annotations

from collections.abc import Iterator

import typer

from kwire.cli.conform.run import RunUnderWay, run_with_progress
from kwire.cli.flows.record_tree import record_trees
from kwire.cli.flows.tree_screen import draw
from kwire.cli.output import Output, OutputForm
from kwire.cli.screen import screen
from kwire.conform.registry import check_of
from kwire.conform.report.document import BytesPart, CheckPart, check_part
from kwire.conform.report.text import reaction_text
from kwire.conform.suite import SuiteOptions
from kwire.errors import InvalidValue, KwireError
from kwire.messages.registry import api_name
from kwire.net.address import Address
from kwire.net.frames import decode_request, decode_response
from kwire.proxy.flows.tree import Tree, message_tree
from kwire.text.untrusted import harmless

_ROW = 16
_ROWS_SHOWN = 32
_SHORTEST = 8
"""Bytes of the shortest frame with its size: a correlation id, or an API key and a version."""

RequestIds = dict[int, tuple[int, int]]
"""API key and version by correlation id."""


def show(address: Address, options: SuiteOptions, check_id: str, *, as_json: bool) -> None:
    """Run one check and print its bytes. Exit code 1 for FAIL and DIED. Raises InvalidValue."""
    check = check_of(check_id)
    run = run_with_progress(address, options, RunUnderWay())
    result = next((result for result in run if result.id == check.id), run.results[0])
    part = _chosen(check_part(result, check), check_id)
    if as_json:
        import msgspec

        Output(OutputForm.JSON).print_document(msgspec.to_builtins(part))
    else:
        typer.echo(f"{part.id}  {check.sentence}\n{check.source}\n{harmless(reaction_text(part))}")
        _show_chunks(part.bytes)
    if part.verdict.is_bad:
        raise typer.Exit(1)


def _chosen(part: CheckPart, check_id: str) -> CheckPart:
    """Return the member of a family that the id names, else the first of the worst."""
    if not part.members:
        return part
    if check_id == part.id:
        return next(member for member in part.members if member.verdict is part.verdict)
    for member in part.members:
        if member.id == check_id:
            return member
    raise InvalidValue(f"the server offers no {check_id}")


def _show_chunks(chunks: tuple[BytesPart, ...]) -> None:
    requests: RequestIds = {}
    for chunk in chunks:
        if chunk.probe:
            continue  # its result is the state of the connection, which stands above
        if chunk.silent:
            typer.echo(f"\nnothing from {harmless(chunk.peer)} within {chunk.silent:.3g} s")
            continue
        data = bytes.fromhex(chunk.hex)
        way = f"to {harmless(chunk.peer)}" if chunk.sent else f"from {harmless(chunk.peer)}"
        typer.echo(f"\n{typer.style(f'{chunk.size} bytes {way}', bold=True)}")
        for line in dump(data):
            typer.echo(line)
        if chunk.size > len(data):
            typer.echo(f"{chunk.size - len(data)} bytes that are not kept")
            continue
        _show_decoded(data, chunk.sent, requests)
        for line in _again(chunk, requests):
            typer.echo(f"  {line}")


def dump(data: bytes) -> Iterator[str]:
    """Yield bytes as xxd prints them, the first rows of many."""
    for start in range(0, min(len(data), _ROWS_SHOWN * _ROW), _ROW):
        row = data[start : start + _ROW]
        pairs = " ".join(row[i : i + 2].hex() for i in range(0, len(row), 2))
        text = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in row)
        yield f"{start:08x}: {pairs:39}  {text}"
    if (more := len(data) - _ROWS_SHOWN * _ROW) > 0:
        yield f"and {more} bytes more: --json has them all"


def _show_decoded(data: bytes, sent: bool, requests: RequestIds) -> None:
    """Print the tree of a frame, or why it is none."""
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


def _again(chunk: BytesPart, requests: RequestIds) -> Iterator[str]:
    """Yield the commands that send bytes again, or decode them again."""
    if chunk.sent:
        host, _, port = chunk.peer.rpartition(":")
        shell = f"echo {chunk.hex} | xxd -r -p | timeout 2 nc {host.strip('[]')} {port} | xxd"
        yield f"{typer.style('again:', dim=True)} {shell}"
    elif answered := requests.get(int(chunk.hex[8:16] or "0", 16)):
        request = f"{api_name(answered[0])}:{answered[1]}"
        shell = f"kwire decode --response-to {request} {chunk.hex}"
        yield f"{typer.style('again:', dim=True)} {shell}"
