"""The options of `kwire proxy` as the configuration of one cluster.

Checks that a file needs, too, are those of the configuration; here are those of options alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from kwire.cli.errors import WrongUsage
from kwire.cli.flow_options import expression
from kwire.cli.proxy_options import LogForm, ServeModeName
from kwire.cli.tls_options import client_tls, server_tls
from kwire.proxy.service.config import KeyConflict, ProxyConfig

OPTIONS = {
    "advertised_host": "--advertised-host",
    "api": "--api",
    "no_api": "--no-api",
    "node": "ID@",
    "off_loopback": "--off-loopback",
    "rewrite_endpoints": "--rewrite-endpoints",
    "serve": "--serve",
    "strict": "--strict",
    "token": "--feed-token",
}
"""The option for each key that a conflict of keys names."""

_ADDRESSES = {
    "clusters.feed.listen": "--feed",
    "clusters.listeners.listen": "--listen",
    "clusters.listeners.upstream": "--listen",
    "metrics": "--metrics",
}
"""The option for each place of an address: an address that is wrong does not tell where it is."""

_LISTEN = re.compile(r"(?:(?P<id>\d{1,10})@)?(?P<listen>[^=@]+)=(?P<upstream>[^=@]+)")
_BY_NODE = re.compile(r"(?:(?P<id>\d{1,10})@)?(?P<files>.+)")


def build_config(
    cluster: Mapping[str, Any],
    shown: Mapping[str, Any],
    metrics: str | None,
    log_format: LogForm | None,
) -> ProxyConfig:
    """Return the configuration of a cluster by its values.

    Raises WrongUsage, which speaks of options instead of keys.
    """
    log = None if log_format is None else {"format": log_format.value}
    values = {"clusters": [cluster], "show": shown, "metrics": metrics, "log": log}
    try:
        return ProxyConfig.model_validate(values)
    except ValidationError as error:
        raise WrongUsage(_sentence(error)) from error


def listeners(
    listen: list[str],
    listen_tls: list[str] | None,
    upstream_tls: list[str] | None,
    upstream_name: str | None,
) -> list[dict[str, Any]]:
    """Return the values of listeners, with the TLS that is given for their node or for all.

    Raises WrongUsage.
    """
    if upstream_name and not upstream_tls:
        raise WrongUsage("--upstream-name is for --upstream-tls: give that as well.")
    servers = {node: asdict(server_tls(files)) for node, files in _by_node(listen_tls)}
    clients = {
        node: asdict(client_tls(files, upstream_name)) for node, files in _by_node(upstream_tls)
    }
    found = [_listener(text) for text in listen]
    nodes = {listener["node"] for listener in found} | {None}
    for node in (*servers, *clients):
        if node not in nodes:
            raise WrongUsage(f"there is TLS for node {node}, and no --listen {node}@….")
    return [
        {
            **listener,
            "tls": servers.get(listener["node"], servers.get(None)),
            "upstream_tls": clients.get(listener["node"], clients.get(None)),
        }
        for listener in found
    ]


def feed(listen: str | None, token: Path | None) -> dict[str, Any] | None:
    """Return the values of a feed, None without one. Raises WrongUsage."""
    if listen is None:
        _refuse_without("--feed", "--feed-token", token)
        return None
    return {"listen": listen, "token": token}


def serve(
    mode: ServeModeName | None,
    client_config: Path | None,
    cluster_id: str | None,
    *,
    off_loopback: bool,
) -> dict[str, Any] | None:
    """Return how to serve, None without a mode. Raises WrongUsage."""
    if mode is None:
        _refuse_without("--serve", "--serve-config", client_config)
        return None
    return {
        "mode": mode.value,
        "client_config": client_config,
        "cluster_id": cluster_id,
        "off_loopback": off_loopback,
    }


def record(
    path: Path | None,
    topic: str | None,
    client_config: Path | None,
    only: str | None,
    frame_limit: int | None,
    *,
    show_secrets: bool,
) -> dict[str, Any] | None:
    """Return the values of a recording, None without a path and a topic. Raises WrongUsage."""
    if topic is None:
        _refuse_without("--record-topic", "--topic-config", client_config)
    expression(only)  # an expression that is wrong is refused also without a recording
    if path is None and topic is None:
        return None
    return {
        "path": path,
        "topic": topic,
        "client_config": client_config,
        "only": only,
        "frame_limit": frame_limit,
        "show_secrets": show_secrets,
    }


def show(
    api: list[str] | None,
    no_api: list[str] | None,
    view: str | None,
    *,
    verbose: bool,
    as_json: bool,
    show_secrets: bool,
) -> dict[str, Any]:
    """Return the values of what is shown."""
    return {
        "api": api or (),
        "no_api": no_api or (),
        "view": view,
        "verbose": verbose,
        "json": as_json,
        "show_secrets": show_secrets,
    }


def _refuse_without(needed: str, option: str, value: object) -> None:
    if value is not None:
        raise WrongUsage(f"{option} is for {needed}: give {needed} as well.")


def _listener(text: str) -> dict[str, Any]:
    match = _LISTEN.fullmatch(text)
    if match is None:
        raise WrongUsage(
            f"{text!r} is no pair of addresses: write 127.0.0.1:19093=127.0.0.1:9093, the proxy's"
            " and the node's."
        )
    node = None if match["id"] is None else int(match["id"])
    return {"listen": match["listen"], "upstream": match["upstream"], "node": node}


def _by_node(texts: list[str] | None) -> list[tuple[int | None, list[str]]]:
    matches = [match for text in texts or () if (match := _BY_NODE.fullmatch(text))]
    return [
        (None if match["id"] is None else int(match["id"]), match["files"].split(","))
        for match in matches
    ]


def _sentence(error: ValidationError) -> str:
    """Return the first mistake in words of the options."""
    mistake = error.errors()[0]
    reason = mistake.get("ctx", {}).get("error")
    if isinstance(reason, KeyConflict):
        return f"{reason.with_names(OPTIONS)}."
    place = ".".join(key for key in mistake["loc"] if isinstance(key, str))
    if not isinstance(reason, ValueError):
        return f"{place}: {mistake['msg']}."
    if place in _ADDRESSES:
        return f"{_ADDRESSES[place]}: {reason}."
    text = str(reason)
    # An expression that cannot be read is shown below, with a mark at the column.
    return text if "\n" in text else f"{text}."
