"""The options of `kwire proxy` as the configuration of one cluster.

The configuration checks its values, as it checks those of a file; here its errors are told in words
of the options.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import typer
from pydantic import ValidationError

from kwire.cli.errors import WrongUsage
from kwire.cli.flows.options import expression
from kwire.cli.proxy.options import SETTINGS, ProxyOptions
from kwire.cli.tls_options import client_tls, server_tls
from kwire.proxy.service.config import KeyConflict, ProxyConfig

_LISTEN = re.compile(r"(?:(?P<id>\d{1,10})@)?(?P<listen>[^=@]+)=(?P<upstream>[^=@]+)")
_BY_NODE = re.compile(r"(?:(?P<id>\d{1,10})@)?(?P<files>.+)")


def build_config(options: ProxyOptions, context: typer.Context) -> ProxyConfig:
    """Return the configuration that the options of a command line give. Raises WrongUsage."""
    cluster: dict[str, Any] = {"listeners": _listeners(options)}
    values: dict[str, Any] = {"clusters": cluster, "show": {}, "log": None}
    given_options = [(name, path) for name, path in SETTINGS if _is_given(getattr(options, name))]
    for name, path in given_options:
        *parents, key = path.split(".")
        target = values
        for parent in parents:
            target[parent] = target.get(parent) or {}
            target = target[parent]
        target[key] = getattr(options, name)
    if not {"path", "topic", "client_config", "mode"} & cluster.get("record", {}).keys():
        expression(options.record)  # is refused if it is wrong, though nothing is recorded
        cluster.pop("record", None)
    values["clusters"] = [cluster]
    try:
        return ProxyConfig.model_validate(values)
    except ValidationError as error:
        names = {parameter.name: parameter.opts[0] for parameter in context.command.params}
        raise WrongUsage(_sentence(error.errors()[0], given_options, names)) from error


def _is_given(value: object) -> bool:
    return value is not None and value is not False and value not in ((), [])


def _listeners(options: ProxyOptions) -> list[dict[str, Any]]:
    """Return the values of listeners, with the TLS that is given for their node or for all."""
    name = options.upstream_name
    if name and not options.upstream_tls:
        raise WrongUsage("--upstream-name is for --upstream-tls: give that as well.")
    if options.tls_keys_out and not (options.listen_tls or options.upstream_tls):
        raise WrongUsage("--tls-keys-out is for --listen-tls and --upstream-tls: give one of them.")
    servers = {node: server_tls(files) for node, files in _by_node(options.listen_tls)}
    clients = {node: client_tls(files, name) for node, files in _by_node(options.upstream_tls)}
    listeners = [_listener(text) for text in options.listen]
    nodes = {listener["node"] for listener in listeners} | {None}
    for node in (*servers, *clients):
        if node not in nodes:
            raise WrongUsage(f"there is TLS for node {node}, and no --listen {node}@….")
    for listener in listeners:
        for key, by_node in (("tls", servers), ("upstream_tls", clients)):
            tls = by_node.get(listener["node"], by_node.get(None))
            # Stores and restrictions of client properties are no settings of a listener.
            pairs = {} if tls is None else asdict(tls)
            pairs["keys_out"] = options.tls_keys_out if pairs else None
            settings = {name: value for name, value in pairs.items() if value not in (None, ())}
            listener[key] = settings or None
    return listeners


def _listener(text: str) -> dict[str, Any]:
    match = _LISTEN.fullmatch(text)
    if match is None:
        raise WrongUsage(
            f"{text!r} is no pair of addresses: write 127.0.0.1:19093=127.0.0.1:9093, the proxy's"
            " and the node's."
        )
    node = None if match["id"] is None else int(match["id"])
    return {"listen": match["listen"], "upstream": match["upstream"], "node": node}


def _by_node(texts: list[str]) -> list[tuple[int | None, list[str]]]:
    matches = [match for text in texts if (match := _BY_NODE.fullmatch(text))]
    return [
        (None if match["id"] is None else int(match["id"]), match["files"].split(","))
        for match in matches
    ]


def _sentence(
    mistake: Any, given_options: list[tuple[str, str]], names: Mapping[str | None, str]
) -> str:
    """Return a mistake in words of the options. given_options: with their paths. names: of all."""
    reason = mistake.get("ctx", {}).get("error")
    path = ".".join(key for key in mistake["loc"] if isinstance(key, str))
    options = {path: names[name] for name, path in SETTINGS}
    options |= {f"clusters.listeners.{key}": "--listen" for key in ("listen", "upstream")}
    if isinstance(reason, KeyConflict):
        # A key's name means that of the configuration's part in which the conflict is.
        near_last = sorted(options.items(), key=lambda item: item[0].rpartition(".")[0] == path)
        keys = {path.rpartition(".")[2]: option for path, option in near_last}
        return f"{reason.with_names({**keys, 'serve': '--serve', 'node': 'ID@'})}."
    if mistake["type"] == "missing":
        parent = path.rpartition(".")[0]
        option = next(
            names[name] for name, other in given_options if other.startswith(f"{parent}.")
        )
        return f"{option} is for {options[path]}: give {options[path]} as well."
    text = str(mistake["msg"] if reason is None else reason)
    if "\n" in text:
        return text  # an expression that cannot be read, with a mark below at the column
    option = options.get(path, path if reason is None else "")
    return f"{option}: {text}." if option else f"{text}."
