"""Check what other machines reach: listeners, metrics, feeds; and feeds that all users reach."""

from __future__ import annotations

from collections.abc import Iterator

from kwire.doctor.finding import FindingKind, FindingVerdict
from kwire.doctor.proxy_config.weakness import Weakness, clusters, listeners, weakness
from kwire.net.address import is_loopback
from kwire.proxy.service.config import ProxyConfig

LISTENER = FindingKind(
    id="reach/listener",
    verdict=FindingVerdict.INFO,
    meaning="Other machines reach a listener, and it asks for no certificate: only the node behind"
    " it decides who is let in.",
    advice="write `listen: 127.0.0.1:PORT` if all clients are on this machine; or write `tls:"
    " {certificate: CERT, key: KEY, clients: CA}`",
    source="docs/debuggers/tls.md",
)
METRICS = FindingKind(
    id="reach/metrics",
    verdict=FindingVerdict.WARNING,
    meaning="Other machines reach the metrics, which need no login: client ids, nodes, and how much"
    " passes.",
    advice="write `metrics: 127.0.0.1:PORT`, and let Prometheus, or a server that asks for a login,"
    " fetch them on this machine",
    source="docs/operators/service.md",
)
FEED = FindingKind(
    id="reach/feed",
    verdict=FindingVerdict.WARNING,
    meaning="Other machines reach a feed. Its datagrams are sealed and not encrypted: who reads the"
    " network reads the traffic.",
    advice="write `listen: 127.0.0.1:PORT`, and run `kwire watch` on this machine",
    source="docs/debuggers/watch.md",
)
NO_TOKEN = FindingKind(
    id="reach/feed-for-all-users",
    verdict=FindingVerdict.WARNING,
    meaning="A feed has no token: every user and every process of this machine may watch, hold,"
    " change and drop messages.",
    advice="write `token: FILE`, a file that `(umask 077; openssl rand -hex 16 > FILE)` makes",
    source="docs/debuggers/watch.md",
)
KINDS = (LISTENER, METRICS, FEED, NO_TOKEN)


def check(config: ProxyConfig) -> Iterator[Weakness]:
    """Report what other machines or other users reach."""
    for keyed in listeners(config):
        listen = keyed.listener.listen
        if keyed.is_open and not keyed.listener.knows_clients:
            sentence = f"other machines reach {listen}, and only {keyed.listener.upstream} decides"
            yield weakness(
                LISTENER,
                f"{keyed.key}.listen",
                listen,
                f"{sentence} who is let in",
                PORT=listen.port,
            )
    for key, cluster in clusters(config):
        if cluster.feed is None:
            continue
        listen = cluster.feed.listen
        if not is_loopback(listen.host):
            sentence = f"other machines reach the feed at {listen}, which is not encrypted"
            yield weakness(FEED, f"{key}.feed.listen", listen, sentence, PORT=listen.port)
        elif cluster.feed.token is None:
            sentence = "every user of this machine may watch, hold, change and drop messages"
            yield weakness(NO_TOKEN, f"{key}.feed.token", "none", sentence)
    metrics = config.metrics
    if metrics is not None and not is_loopback(metrics.host):
        sentence = f"other machines read the metrics at {metrics} without a login"
        yield weakness(METRICS, "metrics", metrics, sentence, PORT=metrics.port)
