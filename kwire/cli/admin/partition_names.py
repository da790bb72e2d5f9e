"""The partitions that arguments name, and the offsets that --at and --before stand for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from kwire.admin.client import AdminClient
from kwire.admin.outcomes import Outcomes
from kwire.admin.partitions import OffsetSpec
from kwire.admin.topic_descriptions import TopicDescription, TopicKey
from kwire.admin.topic_partition import TopicPartition
from kwire.cli.errors import WrongUsage
from kwire.errors import InvalidValue, KwireError

LATEST_OFFSET = 2**63 - 1


async def named_partitions(admin: AdminClient, names: Iterable[str]) -> list[TopicPartition]:
    """Return the partitions of topics and of names like orders-3, sorted.

    A name that is both, a topic called orders-3 and partition 3 of orders, is the topic.
    """
    names = list(dict.fromkeys(names))
    topics: list[TopicKey] = [*names]
    described = (await admin.describe_topics(topics)).entries()
    found: set[TopicPartition] = set()
    for name, result in described.items():
        if isinstance(result, TopicDescription):
            found |= {TopicPartition(result.name, it.partition) for it in result.partitions}
        else:
            found.add(_partition(str(name), result))
    return sorted(found)


def _partition(name: str, error: KwireError) -> TopicPartition:
    try:
        return TopicPartition.parse(name)
    except InvalidValue:
        raise InvalidValue(f"{name}: {error}") from None


def offset_time(text: str) -> int:
    """Read latest, earliest, max-timestamp … or @TIME as ListOffsets has it. Raises WrongUsage."""
    specs = {spec.name.lower().replace("_", "-"): spec for spec in OffsetSpec}
    if text in specs:
        return specs[text]
    if text.startswith("@"):
        return milliseconds(text[1:])
    raise WrongUsage(f"{text!r} is no offset: write {', '.join(specs)} or @TIME.")


def milliseconds(text: str) -> int:
    """Read ISO 8601, in UTC unless it says otherwise, or ms since 1970. Raises WrongUsage."""
    if text.isascii() and text.isdigit() and len(text) <= len(str(LATEST_OFFSET)) - 1:
        return int(text)
    try:
        moment = datetime.fromisoformat(text)
        at = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        time = int(at.timestamp() * 1000)
    except (ValueError, OverflowError):
        time = -1
    if time < 0:
        raise WrongUsage(f"@{text} is no time: write @2026-11-22T17:00:00Z, or ms since 1970.")
    return time


@dataclass(frozen=True, slots=True, kw_only=True)
class TrimOffset:
    """The first offset of a partition now, and the first one to keep."""

    earliest: int
    before: int

    @property
    def records(self) -> int:
        """The offsets in between: at most so many records."""
        return max(0, self.before - self.earliest)


async def trim_offsets(
    admin: AdminClient, names: Iterable[str], before: str
) -> Outcomes[TopicPartition, TrimOffset]:
    """Return what a trim would do to each partition.

    A time stands for the first record since then; where there is none, for the end of the log. So
    does an offset beyond the end: it is refused by the broker.
    """
    keys = await named_partitions(admin, names)
    earliest = await admin.list_offsets(dict.fromkeys(keys, int(OffsetSpec.EARLIEST)))
    latest = await admin.list_offsets(dict.fromkeys(keys, int(OffsetSpec.LATEST)))
    errors = {**latest.failed, **earliest.failed}
    if before.isascii() and before.isdigit() and len(before) < len(str(LATEST_OFFSET)):
        chosen = {key: int(before) for key in keys}
    else:
        found = await admin.list_offsets(dict.fromkeys(keys, offset_time(before)))
        chosen, errors = {}, {**found.failed, **errors}
        for key, result in found.items():
            end = latest[key].offset if key in latest else None
            offset = end if result.offset is None else result.offset
            if offset is not None:
                chosen[key] = offset
    trims: dict[TopicPartition, TrimOffset | KwireError] = {}
    for key in keys:
        if key in errors:
            trims[key] = errors[key]
        elif key in chosen:
            trims[key] = TrimOffset(earliest=earliest[key].offset or 0, before=chosen[key])
    return Outcomes(trims)
