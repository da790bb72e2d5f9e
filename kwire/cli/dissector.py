"""`kwire dissector`: Wireshark reads every Kafka API, controllers' traffic included."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import typer

from kwire.cli.errors import WrongUsage
from kwire.cli.options import option, reads_options

_HIGHEST = 65535
_PORTS = re.compile(r"\d{1,5}(-\d{1,5})?(,\d{1,5}(-\d{1,5})?)*", re.ASCII)


@reads_options
def dissector(
    output: Path | None = option(
        "--output", "-o", metavar="FILE", help="Write the file instead of stdout."
    ),
    ports: str | None = option(
        "--ports",
        metavar="LIST",
        help="TCP ports of nodes, as in 9092,9093,19000-19009. Wireshark's preference"
        " kwire.ports changes them later. [default: 9092,9093]",
    ),
) -> None:
    """Print a dissector for Wireshark 4.0 and later, in Lua. See docs/debuggers/wireshark.md.

    It is generated from the declarations: requests and responses of all versions, record batches,
    metadata records and envelopes. The filter of a field is kafka.API.FIELD, with the fields above
    it between them. Connections that begin with ApiVersions are found on every port.

    \b
    kwire dissector > kafka.lua
    tshark -X lua_script:kafka.lua -r quorum.pcapng -Y kafka.add_raft_voter.voter_id==3
    tshark -X lua_script:kafka.lua -d tcp.port==19093,kwire -r quorum.pcapng -V
    kwire dissector --output ~/.local/lib/wireshark/plugins/kafka.lua
    """
    from kwire.dissector import DEFAULT_PORTS, dissector_source

    if ports is not None and not _are_ports(ports):
        raise WrongUsage(f"{ports!r} is no list of ports, such as 9092,9093,19000-19009.")
    source = dissector_source(ports or DEFAULT_PORTS)
    if output is None:
        sys.stdout.write(source)
    else:
        output.write_text(source, "utf-8")
        typer.echo(f"{output} has the dissector.")


def _are_ports(text: str) -> bool:
    """True for a list of ports and ranges up to 65535, each range from its lower end."""
    if not _PORTS.fullmatch(text):
        return False
    ranges = [[int(port) for port in part.split("-")] for part in text.split(",")]
    return all(part == sorted(part) and part[-1] <= _HIGHEST for part in ranges)
