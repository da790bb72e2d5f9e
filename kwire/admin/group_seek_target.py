"""The places that `groups seek --to` takes: ends, offsets, times, shifts, groups and files."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from difflib import get_close_matches
from pathlib import Path
from typing import cast

from kwire.admin.partitions import OffsetSpec
from kwire.admin.topic_partition import TopicPartition
from kwire.errors import InvalidValue
from kwire.text.untrusted import whole_number

_UNITS = {"ms": "milliseconds", "s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
_SHORT = re.compile(r"(\d{1,15})(ms|s|m|h|d)")
_ISO = re.compile(
    r"P(?:(?P<days>\d+)D)?(?:T(?:(?P<hours>\d+)H)?(?:(?P<minutes>\d+)M)?"
    r"(?:(?P<seconds>\d+(?:\.\d+)?)S)?)?"
)
_LARGEST = 2**63 - 1
ENDS = ("earliest", "latest")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class AtTime:
    """The first record of this time or later, ms since 1970; or an OffsetSpec: an end."""

    time: int


@dataclass(frozen=True, slots=True)
class AtOffset:
    """This offset, in every partition."""

    offset: int


@dataclass(frozen=True, slots=True)
class ShiftedBy:
    """So many records after the group's own offset; before it if negative."""

    records: int


@dataclass(frozen=True, slots=True)
class AsGroup:
    """The offsets of another group."""

    group_id: str


@dataclass(frozen=True, slots=True)
class AsListed:
    """An offset for each partition, as a file names them."""

    offsets: tuple[tuple[TopicPartition, int], ...]


SeekTarget = AtTime | AtOffset | ShiftedBy | AsGroup | AsListed


def parse_seek_target(text: str, group_id: str, now: datetime | None = None) -> SeekTarget:
    """Read a place; raises InvalidValue.

    1. `earliest`, `latest`: the ends of the log.
    2. `1200`: an offset. `+50`, `-50`: so many records from where the group is.
    3. `@2026-11-22T10:00:00`, in UTC if it names no zone, `@1763805600000`: a time.
    4. `-90m`, `-PT1H30M`: so long before now.
    5. `FILE.csv`: TOPIC,PARTITION,OFFSET lines, or GROUP first, as kafka-consumer-groups --export
       writes them.
    6. Any other name, or `group:NAME`: where that group is.
    """
    # 1.
    if text in ENDS:
        return AtTime(int(OffsetSpec[text.upper()]))
    # 2.
    if re.fullmatch(r"\d{1,19}", text):
        return AtOffset(_offset(text))
    if re.fullmatch(r"[+-]\d{1,19}", text):
        return ShiftedBy(int(text))
    # 3.
    if text.startswith("@"):
        return AtTime(_time(text[1:]))
    # 4.
    if text.startswith("-"):
        before = (now or datetime.now(UTC)) - _EPOCH - _duration(text[1:])
        return AtTime(max(0, before // timedelta(milliseconds=1)))
    # 5.
    if text.endswith(".csv"):
        return AsListed(tuple(_listed(Path(text), group_id).items()))
    # 6.
    if re.fullmatch(r"[+-]?\d+", text):
        raise InvalidValue(f"{text} is no offset: the largest is {_LARGEST}; for a group: group:")
    name = text.removeprefix("group:")
    if name == text and (meant := get_close_matches(text.lower(), ENDS, n=1)):
        raise InvalidValue(f"{text!r} is no place: write {meant[0]}; for a group, group:{text}")
    if not name:
        raise InvalidValue(
            "the target is empty: write earliest, latest, an offset, @TIME or a group"
        )
    return AsGroup(name)


def _offset(text: str) -> int:
    offset = whole_number(text, bits=63)
    if offset is None:
        raise InvalidValue(f"{text} is no offset: the largest is {_LARGEST}")
    return offset


def _time(text: str) -> int:
    if re.fullmatch(r"\d{1,18}", text):
        return int(text)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise InvalidValue(
            f"@{text} is no time: write @2026-11-22T10:00:00Z, or ms since 1970"
        ) from None
    zoned = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0, (zoned - _EPOCH) // timedelta(milliseconds=1))


def _duration(text: str) -> timedelta:
    try:
        if match := _SHORT.fullmatch(text):
            return timedelta(**{_UNITS[match[2]]: int(match[1])})
        if (match := _ISO.fullmatch(text)) and any(match.groupdict().values()):
            return timedelta(**{k: float(v) for k, v in match.groupdict().items() if v})
    except OverflowError:
        pass
    raise InvalidValue(f"-{text} is no duration: write -90m, -12h, -7d or -PT1H30M")


def _listed(path: Path, group_id: str) -> dict[TopicPartition, int]:
    offsets: dict[TopicPartition, int] = {}
    try:
        # Spreadsheets begin a file with a byte order mark, which is no part of the first name.
        with path.open(newline="", encoding="utf-8-sig") as lines:
            rows = [*csv.reader(lines)]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InvalidValue(f"{path} cannot be read: {error}") from error
    for number, row in enumerate(rows, 1):
        if not row:
            continue
        group, fields = (row[0], row[1:]) if len(row) == 4 else (group_id, row)
        numbers = [whole_number(f, bits=b) for f, b in zip(fields[1:], (31, 63), strict=False)]
        if len(fields) != 3 or None in numbers:
            raise InvalidValue(f"{path}:{number} is no offset: write TOPIC,PARTITION,OFFSET")
        index, offset = cast(list[int], numbers)
        key = TopicPartition(fields[0], index)
        if group == group_id and offsets.setdefault(key, offset) != offset:
            raise InvalidValue(f"{path}:{number} names another offset for {key} than before")
    if not offsets:
        raise InvalidValue(f"{path} has no offsets of {group_id}")
    return offsets
