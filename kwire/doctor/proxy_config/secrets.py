"""Check tokens that can be guessed, and secrets that are written down."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from shlex import quote

from kwire.doctor.finding import FindingKind, FindingVerdict
from kwire.doctor.proxy_config.weakness import Weakness, clusters, listeners, weakness
from kwire.proxy.feed.datagrams import SHORTEST_TOKEN
from kwire.proxy.service.config import ProxyConfig

ENOUGH = 32.0
"""Bits that a token must have by the frequency of its bytes. Of 100,000 tokens of sixteen random
hex digits one has fewer."""

WORDS = (b"password", b"passw0rd", b"secret", b"token", b"changeme", b"change-me", b"example")
"""Words of tokens that people have made up."""

_NEW_TOKEN = "run `(umask 077; openssl rand -hex 16 > FILE)`, and give viewers the new one"

SHORT = FindingKind(
    id="secrets/short-token",
    verdict=FindingVerdict.PROBLEM,
    meaning="The token of a feed has fewer than 16 bytes: whoever has seen one datagram can try"
    " tokens until one fits.",
    advice=_NEW_TOKEN,
    source="docs/debuggers/watch.md",
)
GUESSABLE = FindingKind(
    id="secrets/guessable-token",
    verdict=FindingVerdict.PROBLEM,
    meaning="The token of a feed is a word, a sequence, or a repetition, and can be guessed.",
    advice=_NEW_TOKEN,
    source="docs/debuggers/watch.md",
)
RECORDED = FindingKind(
    id="secrets/recorded",
    verdict=FindingVerdict.PROBLEM,
    meaning="A recording has unmasked secrets: tokens of logins, keys, values of sensitive"
    " configurations.",
    advice="remove `show_secrets`",
    source="docs/reference/capture-format.md",
)
SHOWN = FindingKind(
    id="secrets/shown",
    verdict=FindingVerdict.WARNING,
    meaning="Flows are printed with their secrets, which end in the log of the supervisor.",
    advice="remove `show_secrets`",
    source="docs/debuggers/tls.md",
)
KEYS = FindingKind(
    id="secrets/tls-keys",
    verdict=FindingVerdict.WARNING,
    meaning="The secrets of TLS connections are written to a file: whoever reads it can decrypt"
    " what was captured of them.",
    advice="remove `keys_out`, and the file, when you have looked",
    source="docs/debuggers/packets.md",
)
KINDS = (SHORT, GUESSABLE, RECORDED, SHOWN, KEYS)


def check(config: ProxyConfig) -> Iterator[Weakness]:
    """Report weak tokens, and secrets in recordings, in what is printed, and of TLS."""
    for keyed in listeners(config):
        for side, tls in (
            ("tls", keyed.listener.tls),
            ("upstream_tls", keyed.listener.upstream_tls),
        ):
            if tls is not None and tls.keys_out is not None:
                sentence = f"the secrets of TLS connections are written to {tls.keys_out}"
                yield weakness(KEYS, f"{keyed.key}.{side}.keys_out", tls.keys_out, sentence)
    for key, cluster in clusters(config):
        if cluster.feed is not None and cluster.feed.token is not None:
            path = cluster.feed.token
            try:
                token = path.read_bytes().strip()
            except OSError:
                token = b""  # `files` reports it
            if token and (kind := _weak(token)):
                how = f"has {len(token)} bytes" if kind is SHORT else "can be guessed"
                sentence = f"the token in {path} {how}"
                yield weakness(kind, f"{key}.feed.token", path, sentence, FILE=quote(str(path)))
        if cluster.record is not None and cluster.record.show_secrets:
            sentence = "secrets are recorded unmasked"
            yield weakness(RECORDED, f"{key}.record.show_secrets", "true", sentence)
    if config.show is not None and config.show.show_secrets:
        yield weakness(SHOWN, "show.show_secrets", "true", "secrets are printed unmasked")


def _weak(token: bytes) -> FindingKind | None:
    if len(token) < SHORTEST_TOKEN:
        return SHORT
    return GUESSABLE if _is_guessable(token) else None


def _is_guessable(token: bytes) -> bool:
    """Return True for made-up words, sequences, repetitions, and few different bytes."""
    if any(word in token.lower() for word in WORDS):
        return True
    steps = sum(abs(after - before) <= 1 for before, after in pairwise(token))
    if 4 * steps >= 3 * len(token):  # 0123456789abcdef, aaaa…
        return True
    # Of a repetition only one unit counts.
    unit = next(
        n for n in range(1, len(token) + 1) if token == (token[:n] * len(token))[: len(token)]
    )
    once = token[:unit]
    bits = -sum(n * math.log2(n / len(once)) for n in Counter(once).values())
    return bits < ENOUGH
