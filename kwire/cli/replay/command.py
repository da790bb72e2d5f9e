"""`kwire replay`: recorded requests to a real cluster, or recorded answers to real clients."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from kwire.cli.errors import WrongUsage, usage_errors
from kwire.cli.flows.options import AS_JSON, TimeRange, expression
from kwire.cli.options import flag, option, reads_options, repeated
from kwire.cli.tls_options import client_security, client_tls, server_tls
from kwire.cli.unpack_limit import UNPACK_LIMIT

if TYPE_CHECKING:
    from kwire.net.address import Address
    from kwire.net.security import Security

_NODE_ADDRESS = re.compile(r"(?:(?P<id>\d{1,10})@)?(?P<address>[^@]+)")


@reads_options
def replay(
    *,
    client: list[Path] = repeated(
        metavar="FILE|DIR", help="Send the requests of this capture; repeatable."
    ),
    server: list[Path] = repeated(metavar="FILE|DIR", help="Answer from this capture; repeatable."),
    target: list[str] = repeated(
        metavar="[ID@]HOST:PORT",
        help="Send what was for node ID here, or all that is for no other; repeatable.",
    ),
    listen: list[str] = repeated(
        metavar="[ID@]HOST:PORT", help="Stand here for node ID, or for all others; repeatable."
    ),
    only: str | None = option(
        metavar="EXPRESSION",
        help="Of these flows; without it what nodes asked each other is not sent.",
    ),
    times: TimeRange,
    fast: bool = flag("--fast", help="Send as fast as possible, not at the recorded pace."),
    ignore: list[str] = repeated(
        metavar="PATH", help="No difference: a field, also *_name; repeatable."
    ),
    upstream_tls: str | None = option(
        metavar="CA[,CERT,KEY]", help="Speak TLS there; `system` for the system's authorities."
    ),
    command_config: Path | None = option(
        metavar="FILE", help="TLS and SASL of the connections: a client.properties of Kafka's."
    ),
    listen_tls: str | None = option(
        metavar="CERT,KEY[,CA]", help="Speak TLS with the clients of --server."
    ),
    exact: bool = flag(
        "--exact", help="Differences of times, epochs and ids count, and grown offsets."
    ),
    verbose: bool = flag(
        "--verbose", "-v", help="Show all requests sent; with --server the whole messages."
    ),
    as_json: bool = AS_JSON,
    unpack_limit: int = UNPACK_LIMIT,
) -> None:
    """Send recorded requests again, or answer as recorded.

    --client exits with 1 where an answer differs or is missing. Requests have effects: what was
    recorded on a test cluster does the same to the cluster it is sent to. docs/debuggers/replay.md
    says what is compared and what is left out.

    \b
    kwire replay --client traffic.avro --target localhost:9092
    kwire replay --client traffic.avro --target 1@a:9092 --target 2@b:9092 --fast --json
    kwire replay --client traffic.avro --target localhost:9092 --only "~api Describe*,Metadata"
    kwire replay --client traffic.avro --target localhost:9092 --from +10s --to +20s
    kwire replay --server traffic.avro --listen 127.0.0.1:9092
    """
    if bool(client) == bool(server):
        raise WrongUsage("Give one of --client and --server, with a capture.")
    from kwire.cli.capture.reading import CaptureReading

    selected = expression(only)
    if client:
        if not target or listen or listen_tls:
            raise WrongUsage(
                "--client takes --target HOST:PORT, the cluster to send to; --to is a time."
            )
        from kwire.cli.replay.client import send
        from kwire.proxy.capture.replay.client import Targets

        targets = Targets(
            addresses=addresses_by_node(target), security=_security(upstream_tls, command_config)
        )
        reading = CaptureReading(captures=client, times=times)
        ignored = (tuple(ignore), not exact)
        send(reading, targets, selected, ignored, fast=fast, verbose=verbose, as_json=as_json)
    else:
        if not listen or target or ignore or exact or upstream_tls or command_config:
            raise WrongUsage("--server takes --listen HOST:PORT, and nothing that compares.")
        from kwire.cli.replay.server import serve

        reading = CaptureReading(captures=server, times=times, selected=selected)
        own = None if listen_tls is None else server_tls(listen_tls.split(","))
        serve(reading, addresses_by_node(listen), own, fast=fast, verbose=verbose, as_json=as_json)


def _security(upstream_tls: str | None, command_config: Path | None) -> Security:
    from kwire.net.security import PLAINTEXT, Security

    if upstream_tls and command_config:
        raise WrongUsage("--command-config sets TLS: omit --upstream-tls.")
    if command_config:
        return client_security(command_config)
    if upstream_tls:
        return Security(tls=client_tls(upstream_tls.split(","), None))
    return PLAINTEXT


def addresses_by_node(texts: list[str]) -> dict[int | None, Address]:
    """Parse addresses by the node they stand for, None for all others. Raises WrongUsage."""
    from kwire.net.address import Address

    by_node: dict[int | None, Address] = {}
    for text in texts:
        match = _NODE_ADDRESS.fullmatch(text)
        if match is None:
            raise WrongUsage(f"{text!r} is no address: write 127.0.0.1:9092 or 1@127.0.0.1:9092.")
        node_id = None if match["id"] is None else int(match["id"])
        if node_id in by_node:
            raise WrongUsage(f"{text!r} is a second address for the same nodes.")
        with usage_errors():
            by_node[node_id] = Address.parse(match["address"])
    return by_node
