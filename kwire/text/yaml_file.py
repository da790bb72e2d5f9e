"""Files in YAML that people write: strict models, times, rates, and the place of what is wrong."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from kwire.errors import InvalidValue
from kwire.text.untrusted import CUT, cut_repr
from kwire.text.yaml_data import BadYaml, read_yaml_data

SHOWN = 20
"""Most mistakes in one error."""

_UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_SIZES = {"b": 1, "kb": 1000, "kib": 1024, "mb": 1000**2, "mib": 1024**2}
_REASONS = {
    "extra_forbidden": "there is no such key here",
    "missing": "this key is needed",
    "model_type": "this must be keys with their values, KEY: VALUE",
    "too_short": "at least one is needed",
    "tuple_type": "this must be a list",
}
"""pydantic's types of errors, in words of the file."""

_NUMBER = re.compile(r"(\d+(?:\.\d+)?)\s*([A-Za-z]+)")

M = TypeVar("M", bound="Strict")


class BadFile(InvalidValue):
    """A file that cannot be used; a line for each thing that is wrong, with its place."""


class Strict(BaseModel):
    """A mapping whose keys are all known, and which does not change."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


def _amount(units: dict[str, float] | dict[str, int], what: str) -> Callable[[Any], float]:
    def read(value: Any) -> float:
        match = _NUMBER.fullmatch(value.removesuffix("/s")) if isinstance(value, str) else None
        if match is None or match[2].lower() not in units:
            raise ValueError(f"{cut_repr(value)} is not {what}")
        return float(match[1]) * units[match[2].lower()]

    return read


seconds = _amount(_UNITS, "a time such as 200ms or 3s")
Seconds = Annotated[float, BeforeValidator(seconds)]
Rate = Annotated[float, BeforeValidator(_amount(_SIZES, "a rate such as 100KiB/s")), Field(gt=0)]


def read_yaml(model: type[M], text: str, wrong: type[BadFile], context: object = None) -> M:
    """Read the text of a file. Raises `wrong`, which names the place of each mistake.

    context: what the model's validators get.
    """
    try:
        data, _ = read_yaml_data(text)
    except BadYaml as error:
        raise wrong(str(error)) from error
    return checked(model, data or {}, wrong, context)


def checked(model: type[M], data: object, wrong: type[BadFile], context: object = None) -> M:
    """Return the model of data. Raises `wrong`, with the place of each mistake."""
    try:
        return model.model_validate(data, context=context)
    except ValidationError as error:
        raise wrong("\n".join(_lines(error))) from error


def _lines(error: ValidationError) -> list[str]:
    """Return a line for each mistake, but none for a list that mistakes have left empty."""
    mistakes = error.errors(include_url=False, include_input=False)
    inner = {mistake["loc"][:end] for mistake in mistakes for end in range(len(mistake["loc"]))}
    lines = [
        _line(mistake)
        for mistake in mistakes
        if mistake["type"] != "too_short" or mistake["loc"] not in inner
    ]
    more = len(lines) - SHOWN
    return [*lines[:SHOWN], f"{more} more mistakes"] if more > 0 else lines


def _line(error: Any) -> str:
    path = "".join(
        f"[{part + 1}]" if isinstance(part, int) else f".{part}" for part in error["loc"]
    )
    reason = _REASONS.get(error["type"]) or str(error["msg"]).removeprefix("Value error, ")
    return f"{path.removeprefix('.')[:CUT] or 'the file'}: {reason}"
