"""`kwire request --raw HEX HOST:PORT`: send bytes as they are, and print what the node sends."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import suppress

import typer

from kwire.cli.cluster_options import ClusterOptions
from kwire.cli.decode_hex import parse_hex
from kwire.cli.errors import CommandFailed, WrongUsage, usage_errors
from kwire.cli.event_loop import run
from kwire.cli.flows.frame_screen import RequestIds, dump, show_frame
from kwire.net.address import Address
from kwire.net.frames import FRAME_LIMIT
from kwire.text.untrusted import harmless

_CHUNK = 65536


def send_raw(cluster: ClusterOptions, text: str, peer: str) -> None:
    """Send bytes, and print what comes; exit with 1 if nothing does.

    Nothing is sent before them: no ApiVersions, no login. Raises WrongUsage, CommandFailed.
    """
    if cluster.read_only:
        raise WrongUsage("the profile is read-only, and raw bytes may change the cluster.")
    with usage_errors():
        address = Address.parse(peer)
    data = parse_hex(text)
    received, end = run(_exchange(address, data, cluster))
    requests: RequestIds = {}
    for piece in pieces(data):
        _show(f"to {peer}", piece, requests, sent=True)
    for piece in pieces(received):
        _show(f"from {peer}", piece, requests, sent=False)
    typer.echo(f"\n{'' if received else 'no answer, '}{end}")
    if not received:
        raise typer.Exit(1)


async def _exchange(address: Address, data: bytes, cluster: ClusterOptions) -> tuple[bytes, str]:
    """Send bytes; return what comes, until there is a frame for each that was sent, and the end."""
    tls, limits = cluster.security.tls, cluster.timeouts
    context = tls.context() if tls else None
    name = (tls.name or address.host) if tls else None
    try:
        async with asyncio.timeout(limits.connect_seconds):
            reader, writer = await asyncio.open_connection(
                address.host, address.port, ssl=context, server_hostname=name
            )
    except OSError as error:  # a time limit, too
        reason = error.strerror or str(error) or "no answer in time"
        raise CommandFailed(f"cannot connect to {address}: {harmless(reason)}") from error
    received = bytearray()
    missing, start = sum(_frame_end(piece, 0) is not None for piece in pieces(data)), 0
    ends_with_answers = missing > 0
    try:
        async with asyncio.timeout(limits.request_seconds):
            writer.write(data)
            while missing > 0 or not ends_with_answers:
                chunk = await reader.read(_CHUNK)
                if not chunk:
                    return bytes(received), "the connection is closed"
                received += chunk
                while (end := _frame_end(received, start)) is not None:
                    missing, start = missing - 1, end
    except TimeoutError:
        return bytes(received), f"nothing more within {limits.request_seconds:g} s"
    except OSError:
        return bytes(received), "the connection is reset"
    finally:
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()
    return bytes(received), "the connection stays open"


def pieces(data: bytes | bytearray) -> Iterator[bytes]:
    """Yield the frames of some bytes with their sizes, and at last what is no whole frame."""
    start = 0
    while start < len(data):
        end = _frame_end(data, start) or len(data)
        yield bytes(data[start:end])
        start = end


def _frame_end(data: bytes | bytearray, start: int) -> int | None:
    """Return the end of the frame that begins at a position; None if no whole one does."""
    size = int.from_bytes(data[start : start + 4], "big", signed=True)
    end = start + 4 + size
    return end if 0 <= size <= FRAME_LIMIT and end <= len(data) else None


def _show(way: str, piece: bytes, requests: RequestIds, *, sent: bool) -> None:
    typer.secho(f"\n{len(piece)} bytes {way}", bold=True)
    for line in dump(piece):
        typer.echo(line)
    show_frame(piece, requests, sent=sent)
