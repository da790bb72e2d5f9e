"""`kwire proxy-config`: the lines by which nodes advertise the proxy, and the command for it."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from kwire.cli.errors import WrongUsage, usage_errors
from kwire.cli.options import argument, flag, option, reads_options

if TYPE_CHECKING:
    from kwire.proxy.addresses.config_lines import ProxiedNode
    from kwire.proxy.data_path.listener import Listener


@reads_options
def proxy_config(
    files: list[Path] = argument(metavar="FILE...", help="Each node's server.properties."),
    host: str = option(
        default="127.0.0.1",
        metavar="HOST",
        help="The host of the proxy, as nodes and clients reach it.",
    ),
    first_port: int = option(
        default=19092, metavar="PORT", min=1, max=65535, help="Its listeners take ports from here."
    ),
    rewrite_endpoints: bool = flag(
        "--rewrite-endpoints",
        help="The nodes keep their advertised addresses; only their quorum is found at the proxy.",
    ),
    as_json: bool = flag("--json", help="Print JSON for scripts."),
) -> None:
    """Print the nodes' properties for a proxy, and its command.

    Give the files of all nodes, as they are without a proxy. The lines may be put at the end of
    each file, where they count; a running quorum takes them up when its nodes restart, one by one.
    A new one is formatted with the voters that are printed, each with its directory id.

    \b
    kwire proxy-config node-*/server.properties
    kwire proxy-config broker.properties --host proxy.example.org --rewrite-endpoints
    """
    from kwire.net.address import Address
    from kwire.proxy.addresses.config_lines import config_lines, proxied_nodes
    from kwire.text.properties import parse_properties

    ports = count(first_port)
    with usage_errors():
        pairs = [parse_properties(_text(path)) for path in files]
        nodes = proxied_nodes(pairs, lambda: Address(host, next(ports)))
    if next(ports) > 1 << 16:
        raise WrongUsage(f"--first-port {first_port} leaves too few ports for these nodes.")
    lines = [config_lines(node, nodes, advertise=not rewrite_endpoints) for node in nodes]
    options = [_option(listener) for node in nodes for listener in node.listeners.values()]
    if rewrite_endpoints:
        options.append("--rewrite-endpoints")
    if as_json:
        from kwire.cli.screen import print_json

        lines_by_file = {str(path): changed for path, changed in zip(files, lines, strict=True)}
        print_json(
            {"properties": lines_by_file, "proxy": options, "initial_controllers": _voters(nodes)}
        )
        return
    for path, node, changed in zip(files, nodes, lines, strict=True):
        typer.echo(f"# {path}: node {node.node_id}")
        typer.echo("".join(f"{name}={value}\n" for name, value in changed.items()))
    if voters := _voters(nodes):
        typer.echo("# To format a new quorum: --initial-controllers " + ",".join(voters))
    typer.echo("kwire proxy \\\n  " + " \\\n  ".join(options))


def _option(listener: Listener) -> str:
    return f"--listen {listener.node_id}@{listener.listen}={listener.upstream}"


def _voters(nodes: list[ProxiedNode]) -> list[str]:
    return [f"{node.node_id}@{node.voter}:DIRECTORY-ID" for node in nodes if node.voter is not None]


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise WrongUsage(f"{path} is no properties file: {error}.") from error
