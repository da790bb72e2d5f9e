"""The libraries of the codec benchmark, each through its own public functions.

The work is not all equal. kwire makes `uuid.UUID` objects and plain ints for error codes and
times; kio makes UUIDs, enums and timedeltas; kafka-python and aiokafka make neither; construct's
compiler makes Containers, with UUIDs and unknown tags as bytes.
"""

from __future__ import annotations

import importlib
import io
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import Any

from codec_payloads import Payload, class_of
from kwire.codec import engine_choice
from plain_construct import plain

Call = tuple[Callable[..., Any], tuple[Any, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One contender on one payload: calls that decode and encode it, as function and arguments."""

    decode: Call
    encode: Call | None = None


Contender = Callable[[Payload, bytes], Run | None]


def contenders() -> dict[str, Contender]:
    """By name; a contender gives None for a message that it does not have."""
    made: dict[str, Contender] = {
        f"kwire {name}": partial(_kwire, name) for name in engine_choice.available()
    }
    made |= {"construct compiled": _construct, "kio": _kio, "kafka-python": _kafka_python}
    return made | {"aiokafka": _aiokafka}


def _kwire(name: str, payload: Payload, data: bytes) -> Run:
    engine_choice.use(name)
    try:
        cls = class_of(payload)
        decode, encode = cls.decoder(payload.version), cls.encoder(payload.version)
    finally:
        engine_choice.use(None)
    obj, end = decode(data)
    assert end == len(data)
    assert encode(obj) == data
    return Run(decode=(decode, (data,)), encode=(encode, (obj,)))


def _construct(payload: Payload, data: bytes) -> Run:
    con = plain(class_of(payload).at(payload.version)).compile()
    obj = con.parse(data)
    assert con.build(obj) == data
    return Run(decode=(con.parse, (data,)), encode=(con.build, (obj,)))


def _kio(payload: Payload, data: bytes) -> Run:
    serial = importlib.import_module("kio.serial")
    api = re.sub(r"(Request|Response)$", "", payload.name)
    kind = payload.name.removeprefix(api).lower()
    snake = re.sub(r"(?<!^)([A-Z])", r"_\1", api).lower()
    module = importlib.import_module(f"kio.schema.{snake}.v{payload.version}.{kind}")
    cls = getattr(module, payload.name)
    read, write = serial.entity_reader(cls), serial.entity_writer(cls)
    obj, _ = read(data, 0)

    def encode(obj: Any) -> bytes:
        buffer = io.BytesIO()
        write(buffer, obj)
        return buffer.getvalue()

    assert encode(obj) == data
    return Run(decode=(read, (data, 0)), encode=(encode, (obj,)))


def _kafka_python(payload: Payload, data: bytes) -> Run | None:
    cls = _found(payload.name, "kafka.protocol", "metadata", "consumer", "producer", "admin")
    if cls is None:
        return None
    decode = partial(cls.decode, version=payload.version)
    obj = decode(data)
    assert obj.encode() == data
    return Run(decode=(decode, (data,)), encode=(obj.encode, ()))


def _aiokafka(payload: Payload, data: bytes) -> Run | None:
    name = f"{payload.name}_v{payload.version}"
    cls = _found(name, "aiokafka.protocol", "metadata", "fetch", "produce", "admin")
    if cls is None:
        return None
    obj = cls.decode(data)
    assert obj.encode() == data
    return Run(decode=(cls.decode, (data,)), encode=(obj.encode, ()))


def _found(name: str, package: str, *modules: str) -> Any:
    homes: list[ModuleType] = [importlib.import_module(f"{package}.{module}") for module in modules]
    return next((getattr(home, name) for home in homes if hasattr(home, name)), None)
