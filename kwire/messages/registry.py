"""Finds the class of a message by its schema name, API key or record type, importing on demand."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import cast

from kwire.codec.declaration import Message, MetadataRecord, Request, Response
from kwire.errors import UnsupportedVersion
from kwire.messages.index import APIS, METADATA_RECORDS, MODULES

_KEYS = {name: key for key, name in APIS.items()}
_MODULE_OF = {name: module for module, names in MODULES.items() for name in names}


class UnknownMessage(UnsupportedVersion):
    """No schema has this name, API key or record type."""


@cache
def message(name: str) -> type[Message]:
    """Return the class of a schema: `message("AddRaftVoterRequest")`."""
    module = _MODULE_OF.get(name)
    if module is None:
        raise UnknownMessage(f"no message is called {name!r}{_suggestion(name)}")
    return cast(type[Message], getattr(import_module(f"kwire.messages.{module}"), name))


def all_messages() -> Iterator[type[Message]]:
    """Return every message: requests, responses, headers, records and data types."""
    return map(message, _MODULE_OF)


def names() -> list[str]:
    """Return every schema name, importing nothing."""
    return sorted(_MODULE_OF)


@cache
def request(key: int) -> type[Request]:
    """Return the request of an API key."""
    return cast(type[Request], message(f"{_api(key)}Request"))


@cache
def response(key: int) -> type[Response]:
    """Return the response of an API key."""
    return cast(type[Response], message(f"{_api(key)}Response"))


def metadata_record(key: int) -> type[MetadataRecord]:
    """Return the record of a type of the cluster metadata log."""
    name = METADATA_RECORDS.get(key)
    if name is None:
        raise UnknownMessage(f"no metadata record has type {key}")
    return cast(type[MetadataRecord], message(name))


def api_name(key: int) -> str:
    """Return `Fetch` for 1; `API 9999` for a key that has no schema."""
    return APIS.get(key, f"API {key}")


def api_key(name: str) -> int:
    """Return the key of an API: 1 for `Fetch`. Raises UnknownMessage.

    For the code that only compares keys: it does not import the messages.
    """
    key = _KEYS.get(name)
    if key is None:
        raise UnknownMessage(f"no API is called {name!r}")
    return key


def api_keys(*names: str) -> frozenset[int]:
    """Return the keys of APIs by their names. Raises UnknownMessage."""
    return frozenset(map(api_key, names))


def _api(key: int) -> str:
    name = APIS.get(key)
    if name is None:
        raise UnknownMessage(f"no API has key {key}")
    return name


def _suggestion(name: str) -> str:
    from difflib import get_close_matches

    if f"{name}Request" in _MODULE_OF:
        return f"; an API has two: {f'{name}Request'!r} and {f'{name}Response'!r}"
    close = get_close_matches(name, _MODULE_OF, n=1)
    return f"; did you mean {close[0]!r}?" if close else ""
