"""Reads `releases.json`, the facts that fixtures/protocol_facts took from Kafka's jars."""

from __future__ import annotations

from difflib import get_close_matches
from functools import cache
from importlib.resources import files

import msgspec

from kwire.errors import LocalError
from kwire.messages.registry import UnknownMessage
from kwire.protocol.model import MessageFact, ProtocolFacts

FILE = "releases.json"


class UnknownRelease(LocalError):
    """No facts of this release are known."""


@cache
def facts() -> ProtocolFacts:
    """Return the facts of all known releases."""
    data = files("kwire.protocol").joinpath(FILE).read_bytes()
    return msgspec.json.decode(data, type=ProtocolFacts)


def known_release(name: str) -> str:
    """Return the name of a release, also for one without its last part, `4.4`.

    Raises UnknownRelease, which lists those known.
    """
    releases = facts().releases
    if name in releases:
        return name
    series = [release for release in releases if release.startswith(f"{name}.")]
    if len(series) == 1:
        return series[0]
    raise UnknownRelease(f"no facts of Kafka {name!r} are known, only of {', '.join(releases)}")


def messages_of(release: str) -> dict[str, MessageFact]:
    """Return the messages of a release by name, RPCs first by API key."""
    return {fact.name: fact for fact in facts().messages if release in fact.releases}


def named(name: str) -> tuple[str, ...]:
    """Return the names of the messages that a name means, in any case.

    name: of a message, of an API (`Fetch`: its request and its response), or an API key. Raises
    UnknownMessage, which suggests similar names.
    """
    wanted = name.lower()
    found: dict[str, None] = {}
    for fact in facts().messages:
        key = str(fact.key) if fact.is_rpc else ""
        if wanted in (fact.name.lower(), (fact.api or "").lower() or None, key or None):
            found[fact.name] = None
    if found:
        return tuple(found)
    names = (text for fact in facts().messages for text in (fact.name, fact.api or ""))
    known = {text.lower(): text for text in names}
    close = get_close_matches(wanted, known, n=1)
    hint = f"; did you mean {known[close[0]]!r}?" if close else ""
    raise UnknownMessage(f"no message or API is called {name!r}{hint}")
