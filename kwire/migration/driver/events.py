"""The events of the migration's driver: the input of `MigrationDriver.step`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kwire.errors import KwireError
from kwire.image import MetadataImage
from kwire.image.changes import MetadataChanges
from kwire.logdir.names import OffsetAndEpoch


@dataclass(frozen=True, slots=True, kw_only=True)
class StartDriver:
    """The first event of a driver's life."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PollDriver:
    """Time has passed: due when `MigrationDriver.deadline` is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerChanged:
    """The quorum has another leader, or epoch (Java: MetadataPublisher.onControllerChange).

    leader_id: None while there is none. A controller hears of its own leadership when it has
    applied everything before it.
    """

    leader_id: int | None
    epoch: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MetadataPublished:
    """Another committed image (Java: MetadataPublisher.onMetadataUpdate).

    A metadata transaction is published when it has ended. at: the last record in the image.
    changes: since the image before; None for an image that was loaded whole, from a snapshot.
    """

    image: MetadataImage
    at: OffsetAndEpoch
    changes: MetadataChanges | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Performed:
    """The answer to the Perform of this token."""

    token: int
    answer: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class NotPerformed:
    """The error that the Perform of this token ended with."""

    token: int
    error: KwireError


DriverEvent = (
    StartDriver | PollDriver | ControllerChanged | MetadataPublished | Performed | NotPerformed
)
