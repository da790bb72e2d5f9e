"""Files in YAML that people write: strict models, times, rates, and the place of what is wrong."""

from __future__ import annotations

import re
from collections.abc import Callable
from difflib import get_close_matches
from pathlib import Path
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

_MISTAKE = re.compile(r"^(?! )", re.MULTILINE)
_NUMBER = re.compile(r"(\d+(?:\.\d+)?)\s*([A-Za-z]+)")

M = TypeVar("M", bound="Strict")

_KeyPath = tuple[int | str, ...]


class BadFile(InvalidValue):
    """A file that cannot be used; a line for each thing that is wrong, with its place.

    Lines that begin with a space show the place of the mistake before them.
    """

    def in_file(self, path: Path) -> str:
        """Return the text with the file's name at each mistake."""
        return _MISTAKE.sub(lambda _: f"{path}: ", str(self))


def mistakes(text: str) -> list[str]:
    """Return the mistakes of the text of a BadFile, without what shows their places."""
    return [line for line in text.splitlines() if not line.startswith(" ")]


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
Size = Annotated[
    int, BeforeValidator(_amount(_SIZES, "a size such as 100MiB")), Field(gt=0, lt=1 << 31)
]
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
    """Return a line for each mistake, but none for a list that mistakes have left empty.

    A key that is unknown where one of nearly its name is missing is one mistake.
    """
    found = error.errors(include_url=False, include_input=False)
    inner = {mistake["loc"][:end] for mistake in found for end in range(len(mistake["loc"]))}
    missing = [mistake["loc"] for mistake in found if mistake["type"] == "missing"]
    unknown = [mistake["loc"] for mistake in found if mistake["type"] == "extra_forbidden"]
    similar = {path: _nearest(path, missing) for path in unknown}
    lines = [
        _line(mistake, similar.get(mistake["loc"]))
        for mistake in found
        if mistake["loc"] not in similar.values()
        and (mistake["type"] != "too_short" or mistake["loc"] not in inner)
    ]
    more = len(lines) - SHOWN
    return [*lines[:SHOWN], f"{more} more mistakes"] if more > 0 else lines


def _nearest(unknown: _KeyPath, missing: list[_KeyPath]) -> _KeyPath | None:
    """Return the missing key of the same mapping whose name is nearly that of an unknown one."""
    *around, name = unknown
    beside = {str(other[-1]): other for other in missing if [*other[:-1]] == around}
    close = get_close_matches(str(name), beside, n=1)
    return beside[close[0]] if close else None


def _line(error: Any, similar: _KeyPath | None) -> str:
    path = "".join(
        f"[{part + 1}]" if isinstance(part, int) else f".{part}" for part in error["loc"]
    )
    reason = _REASONS.get(error["type"]) or str(error["msg"]).removeprefix("Value error, ")
    hint = f"; is {similar[-1]} meant?" if similar else ""
    return f"{path.removeprefix('.')[:CUT] or 'the file'}: {reason}{hint}"
