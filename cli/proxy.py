"""`kwire proxy`: stand in front of Kafka's nodes and watch every RPC."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.failure import WrongUsage
from cli.flow_options import AsJson, From, Hidden, Only, To, Verbose, View, display, expression

if TYPE_CHECKING:
    from cli.interference import Interference
    from proxy import Listener

LISTEN = re.compile(r"(?:(?P<id>\d{1,10})@)?(?P<listen>[^=@]+)=(?P<upstream>[^=@]+)")

Script = Annotated[
    list[Path] | None,
    typer.Option(
        metavar="FILE", help="Run the filters of this Python file, anew when it is saved."
    ),
]
RulesFile = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Do what these rules say, anew when they are saved."),
]
Hold = Annotated[
    str | None,
    typer.Option(
        metavar="EXPRESSION",
        help="Hold these requests until a line comes in: Enter, drop, close or all.",
    ),
]


def proxy(
    listen: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[ID@]HOST:PORT=HOST:PORT",
            help="Listen here in front of the node there, whose id is ID; may be repeated.",
        ),
    ] = None,
    read: Annotated[
        list[Path] | None,
        typer.Option(
            "--read",
            "-r",
            metavar="FILE|DIR",
            help="Show what was recorded instead; with -w copy what --view says.",
        ),
    ] = None,
    since: From = None,
    until: To = None,
    api: Only = None,
    no_api: Hidden = None,
    verbose: Verbose = False,
    as_json: AsJson = False,
    write: Annotated[
        Path | None,
        typer.Option(
            "--write",
            "-w",
            metavar="FILE|DIR",
            help="Record all that passes; a folder gets a new file each hour and 256 MiB.",
        ),
    ] = None,
    record: Annotated[
        str | None,
        typer.Option(metavar="EXPRESSION", help="Record this only, and all notices."),
    ] = None,
    show_secrets: Annotated[
        bool, typer.Option("--show-secrets", help="Record passwords and tokens as they are.")
    ] = False,
    view: View = None,
    script: Script = None,
    rules: RulesFile = None,
    hold: Hold = None,
) -> None:
    """Pass traffic through and show each request with its response, untouched unless told to.

    Clients find the nodes by the addresses these advertise: let the nodes advertise the proxy's
    (advertised.listeners), or only the first connection passes here. Ctrl-C ends it.

    \b
    kwire proxy --listen 3000@127.0.0.1:19093=127.0.0.1:9093
    kwire proxy --listen 127.0.0.1:19092=localhost:9092 --api Produce --json
    kwire proxy --listen 127.0.0.1:19092=localhost:9092 -w traffic.avro
    kwire proxy --listen 127.0.0.1:19093=localhost:9093 --view "~api Fetch & ~lat >100ms"
    kwire proxy --listen 3000@127.0.0.1:19093=localhost:9093 --rules slow.yaml
    kwire proxy -r traffic.avro --view "~err *" --from +10s
    """
    how = display(api, no_api, view, verbose=verbose, as_json=as_json)
    if read:
        if listen or script or rules or hold:
            raise WrongUsage("--read shows what was recorded: it takes no --listen and no filters.")
        from cli.capture_reading import Reading

        reading = Reading(captures=read, since=since, until=until)
        return reading.copy(how, write) if write else reading.show(how)
    if since or until:
        raise WrongUsage("--from and --to are for what was recorded: give --read as well.")
    listeners = [_listener(text) for text in listen or ()]
    if not listeners:
        raise WrongUsage("Give --listen to stand in front of a node, or --read to show a capture.")
    from cli.proxy_run import Recording, run

    recording = Recording(write, expression(record), show_secrets=show_secrets) if write else None
    run(listeners, how, recording, _interference(script or [], rules, hold))


def _interference(scripts: list[Path], rules: Path | None, hold: str | None) -> Interference | None:
    if not scripts and rules is None and hold is None:
        return None
    from cli.interference import Interference

    return Interference(scripts=scripts, rules=rules, hold=expression(hold))


def _listener(text: str) -> Listener:
    from kwire.errors import InvalidValue
    from proxy import Address, Listener

    match = LISTEN.fullmatch(text)
    if match is None:
        raise WrongUsage(
            f"{text!r} is no pair of addresses: write 127.0.0.1:19093=127.0.0.1:9093, the proxy's"
            " and the node's."
        )
    try:
        upstream, here = Address.parse(match["upstream"]), Address.parse(match["listen"])
    except InvalidValue as error:
        raise WrongUsage(f"{error}.") from error
    if here.port == upstream.port and _met(here.host) == _met(upstream.host):
        raise WrongUsage(f"{text!r} has the proxy connect to itself: listen at another port.")
    node_id = None if match["id"] is None else int(match["id"])
    return Listener(node_id=node_id, upstream=upstream, listen=here)


def _met(host: str) -> str:
    """The host at which a client on this machine meets one that listens at `host`."""
    return {"localhost": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
