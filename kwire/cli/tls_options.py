"""The options of `kwire proxy` that give listeners TLS, with clients and with nodes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kwire.cli.errors import WrongUsage

if TYPE_CHECKING:
    from kwire.net.security import Security
    from kwire.net.tls import ClientTls, ServerTls
    from kwire.proxy import Listener

ListenTls = Annotated[
    list[str] | None,
    typer.Option(
        metavar="[ID@]CERT,KEY[,CA]",
        help="Speak TLS with clients, who need a certificate of CA where one is given; repeatable.",
    ),
]
UpstreamTls = Annotated[
    list[str] | None,
    typer.Option(
        metavar="[ID@]CA[,CERT,KEY]",
        help="Speak TLS with nodes, whose certificates are of CA, or of `system`; repeatable.",
    ),
]
UpstreamName = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="The name in nodes' certificates, where it is not the host; `any` checks none.",
    ),
]

_FORM = re.compile(r"(?:(?P<id>\d{1,10})@)?(?P<files>.+)")


def with_tls(
    listeners: Sequence[Listener],
    listen: list[str] | None,
    upstream: list[str] | None,
    upstream_name: str | None,
) -> list[Listener]:
    """The listeners as the options say: those of their id, else those without one."""
    if upstream_name and not upstream:
        raise WrongUsage("--upstream-name is for --upstream-tls: give that as well.")
    servers = {node: server_tls(files) for node, files in _by_node(listen)}
    clients = {node: client_tls(files, upstream_name) for node, files in _by_node(upstream)}
    ids = {one.node_id for one in listeners} | {None}
    for node in (*servers, *clients):
        if node not in ids:
            raise WrongUsage(f"there is TLS for node {node}, and no --listen {node}@….")
    return [
        replace(
            one,
            tls=servers.get(one.node_id, servers.get(None)),
            upstream_tls=clients.get(one.node_id, clients.get(None)),
        )
        for one in listeners
    ]


def _by_node(texts: list[str] | None) -> list[tuple[int | None, list[str]]]:
    matches = [match for text in texts or () if (match := _FORM.fullmatch(text))]
    return [
        (None if match["id"] is None else int(match["id"]), match["files"].split(","))
        for match in matches
    ]


def client_security(config: Path) -> Security:
    """What a file of Kafka's client properties says. Raises WrongUsage."""
    from kwire.errors import InvalidValue
    from kwire.net.security import read_security

    try:
        return read_security(config)
    except InvalidValue as error:
        raise WrongUsage(f"{error}.") from error


def server_tls(files: list[str]) -> ServerTls:
    """The files of --listen-tls. Raises WrongUsage."""
    from kwire.net.tls import ServerTls

    if len(files) not in (2, 3):
        raise WrongUsage("--listen-tls takes CERT,KEY or CERT,KEY,CA: files in PEM.")
    certificate, key, *clients = map(Path, files)
    return ServerTls(certificate=certificate, key=key, clients=clients[0] if clients else None)


def client_tls(files: list[str], name: str | None) -> ClientTls:
    """The files of --upstream-tls. Raises WrongUsage."""
    from kwire.net.tls import ClientTls

    if len(files) not in (1, 3):
        raise WrongUsage("--upstream-tls takes CA or CA,CERT,KEY: files in PEM, or `system` as CA.")
    authorities = None if files[0] == "system" else Path(files[0])
    certificate, key = map(Path, files[1:]) if len(files) == 3 else (None, None)
    return ClientTls(
        authorities=authorities,
        certificate=certificate,
        key=key,
        name=None if name == "any" else name,
        check_name=name != "any",
    )
