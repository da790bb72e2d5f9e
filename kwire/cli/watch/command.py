"""`kwire watch`: show the traffic of a proxy with a feed, and hold messages there."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from kwire.cli.errors import WrongUsage
from kwire.cli.flows.options import AS_JSON, VERBOSE, VIEW, ApiChoice
from kwire.cli.options import argument, flag, option, reads_options
from kwire.cli.packet_input import NODE_PORT, TLS_KEYS, key_log
from kwire.cli.proxy.feeding import feed_address, feed_token
from kwire.cli.unpack_limit import UNPACK_LIMIT

if TYPE_CHECKING:
    from kwire.cli.flows.display import Display
    from kwire.net.address import Address
    from kwire.proxy.capture.packets.key_log import KeyLog

DEFAULT = "127.0.0.1:9900"


@reads_options
def watch(
    *,
    address: str = argument(
        default=DEFAULT,
        metavar="HOST:PORT|-",
        help="What `kwire proxy --feed` was given; - for packets that come by stdin.",
    ),
    view: str | None = VIEW,
    plain: bool = flag("--plain", help="Print a line a flow, as in a pipe, and no screen."),
    as_json: bool = AS_JSON,
    verbose: bool = VERBOSE,
    apis: ApiChoice,
    backlog: int = option(default=200, min=0, max=1000, help="Show so many earlier events first."),
    web: int | None = option(
        metavar="PORT", min=1, max=65535, help="Serve the screen to browsers of this machine."
    ),
    token: Path | None = option(
        "--token", metavar="FILE", help="The token that `--feed-token` was given."
    ),
    node_port: list[int] = NODE_PORT,
    tls_keys: Path | None = TLS_KEYS,
    unpack_limit: int = UNPACK_LIMIT,
) -> None:
    """Show the traffic of a proxy that has a --feed, or of packets without a proxy.

    On the screen / filters, h holds requests and responses, and r, d, x and e resume, drop, kill
    and edit those that are held. A viewer never slows the proxy: what it has no time for is lost,
    and counted. Packets that tcpdump writes can be watched alike, but not held.

    \b
    kwire proxy --listen 3000@127.0.0.1:19093=127.0.0.1:9093 --feed 127.0.0.1:9900
    kwire watch
    kwire watch 127.0.0.1:9900 --view "~api Vote,BeginQuorumEpoch"
    kwire watch --plain --json | jq .api
    kwire watch --web 8080
    ssh broker tcpdump -i any -U -w - port 9092 | kwire watch -
    """
    from kwire.cli.flows.display import Display
    from kwire.proxy.service.feed import importing_watch

    output = Display(apis.selection(view), verbose=verbose, as_json=as_json)
    lines = plain or as_json or verbose or bool(apis.api or apis.no_api)
    if address == "-":
        if web is not None or token is not None:
            raise WrongUsage("--web and --token are for a proxy's feed, not for packets.")
        ports, keys = frozenset(node_port), key_log(tls_keys)
        _watch_packets(output, view, ports, keys, lines=lines or not _is_screen())
        return
    if node_port or tls_keys:
        raise WrongUsage("--node-port and --tls-keys are for packets: `kwire watch -` reads them.")
    proxy, secret = feed_address(address), feed_token(token)
    if web is not None and lines:
        raise WrongUsage(
            "--web serves the screen: it allows --view, but no options of printed lines."
        )
    with importing_watch():
        if web is not None:
            from kwire.cli.watch.web import serve

            limit = ["--unpack-limit", str(unpack_limit)]
            serve(web, [*_own_arguments(proxy, view, backlog, token), *limit])
        elif lines or not _is_screen():
            from kwire.cli.watch.plain import run

            run(proxy, output, token=secret, backlog=backlog)
        else:
            from kwire.cli.watch.screen.app import WatchApp

            WatchApp(proxy, token=secret, view=view or "", backlog=backlog).run()


def _watch_packets(
    output: Display, view: str | None, ports: frozenset[int], keys: KeyLog | None, *, lines: bool
) -> None:
    """Watch what comes by stdin. lines: print a line a flow."""
    from kwire.cli.watch.packets import PacketThread, run_plain, take_keys_from_terminal
    from kwire.proxy.service.feed import importing_watch

    if lines:
        run_plain(output, ports, keys)
        return
    with importing_watch():
        from kwire.cli.watch.screen.packets import PacketsApp

    packets = PacketThread(ports, keys)
    take_keys_from_terminal()
    PacketsApp(packets, view=view or "").run()


def _is_screen() -> bool:
    """True if the output is a terminal, or the browser that textual-serve draws in."""
    return sys.stdout.isatty() or "TEXTUAL_DRIVER" in os.environ


def _own_arguments(
    address: Address, view: str | None, backlog: int, token: Path | None
) -> list[str]:
    """Return the arguments of the `kwire` that runs for each browser."""
    view_option = ["--view", view] if view else []
    token_option = ["--token", str(token)] if token else []
    return ["watch", str(address), "--backlog", str(backlog), *view_option, *token_option]
