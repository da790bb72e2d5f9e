"""Times as people read them, whatever number stands in a file or comes from a peer."""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo

UNKNOWN_CLOCK = "--:--:--.---"


def moment(seconds: float, zone: tzinfo | None = UTC) -> datetime | None:
    """Return Unix seconds as a time, None for one that no calendar has. zone: None is local."""
    try:
        return datetime.fromtimestamp(seconds, zone)
    except (ValueError, OverflowError, OSError):
        return None


def known_moment(seconds: float) -> datetime | None:
    """Return the time of an event, None where 0 says that it is not known."""
    return moment(seconds) if seconds else None


def clock_text(seconds: float) -> str:
    """Return the local time of an event as `09:30:00.123`, dashes if it is not known."""
    time = moment(seconds, None) if seconds else None
    return time.strftime("%H:%M:%S.%f")[:12] if time else UNKNOWN_CLOCK
