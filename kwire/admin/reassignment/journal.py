"""The throttle that a reassignment has set, on the disk until it is removed.

It is written before the throttle is set. If the process is killed, the next one finds it and
removes what was left over.
"""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path
from typing import Self

from msgspec import DecodeError, Struct
from msgspec.json import decode, encode

from kwire.admin.errors import ReassignmentRefused
from kwire.admin.reassignment.throttle import ThrottleSetting
from kwire.errors import InvalidValue, StorageFailed
from kwire.operating_system import BINARY, lock_file
from kwire.permissions import changeable_by_others, make_private_folder, replace_private

VARIABLE = "KWIRE_STATE"
"""Environment variable with the folder of journals, in place of the user's own."""


class _Journal(Struct, kw_only=True):
    cluster: str
    settings: list[ThrottleSetting]


def state_folder() -> Path:
    """Return the folder for journals, which need not exist."""
    if chosen := os.environ.get(VARIABLE):
        return Path(chosen)
    from platformdirs import user_state_path

    return user_state_path("kwire", appauthor=False)


class ThrottleJournal:
    """The journal of one cluster; locked from its making to `close`.

    Raises ReassignmentRefused if another process has it: it throttles the same cluster.
    """

    def __init__(self, cluster_id: str, folder: Path | None = None) -> None:
        self._cluster_id = cluster_id
        self._folder = state_folder() if folder is None else folder
        self.path = self._folder / f"reassignment-{_file_name(cluster_id)}.json"
        make_private_folder(self._folder)
        lock = self.path.with_suffix(".lock")
        self._lock = os.open(lock, os.O_RDWR | os.O_CREAT | BINARY, 0o600)
        try:
            lock_file(self._lock)
        except OSError:
            os.close(self._lock)
            raise ReassignmentRefused(
                "another kwire applies a reassignment to this cluster: wait for it, or stop it"
                f" (it holds {lock})"
            ) from None

    def read(self) -> list[ThrottleSetting]:
        """Return the settings that are left over; none without a file. Raises InvalidValue.

        A file that another user could change is refused: it says which configs are removed.
        """
        if reason := changeable_by_others(self.path):
            raise InvalidValue(f"the journal of the throttle is not taken: {reason}")
        try:
            text = self.path.read_bytes()
        except FileNotFoundError:
            return []
        try:
            return decode(text, type=_Journal).settings
        except (DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise InvalidValue(
                f"{self.path} says which throttle was left over and cannot be read ({error}):"
                " remove the throttle by `kwire partitions reassign verify --clear-throttles`, then"
                " this file"
            ) from None

    def write(self, settings: list[ThrottleSetting]) -> None:
        """Return when the settings are on the disk; remove the file if there are none.

        Raises StorageFailed; what was written before is then still there.
        """
        if not settings:
            self.path.unlink(missing_ok=True)
            return
        text = encode(_Journal(cluster=self._cluster_id, settings=settings))
        try:
            replace_private(self.path, text)
        except OSError as error:
            # The error of a full disk names no file.
            raise StorageFailed(
                f"the journal of the throttle, {self.path}, cannot be written: {error.strerror};"
                " make room for it, or leave out `throttle`"
            ) from error

    def close(self) -> None:
        """Release the lock."""
        os.close(self._lock)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


def _file_name(cluster_id: str) -> str:
    # The id comes from the wire: only Kafka's own form may become the name of a file.
    if re.fullmatch(r"[A-Za-z0-9_-]{1,64}", cluster_id):
        return cluster_id
    return hashlib.sha256(cluster_id.encode()).hexdigest()
