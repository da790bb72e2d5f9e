"""The sources of a cluster's metadata that `kwire export` and `diff` take, and their options.

The metadata log comes from controllers (KIP-919); brokers do not give it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from kwire.cli.cluster_options import TimeLimits
from kwire.cli.errors import WrongUsage, usage_errors
from kwire.cli.options import flag, option
from kwire.cli.profiles import Profile, read_profile
from kwire.cli.unpack_limit import UNPACK_LIMIT

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from kwire.cluster_document.document import ClusterDocument, DocumentSection
    from kwire.net.security import Security
    from kwire.net.timeouts import Timeouts
    from kwire.observer.stored_metadata import StoredMetadata
    from kwire.shell.position import PositionedImage

CONTROLLERS, PROFILE = "controllers:", "profile:"
LATEST = "latest"


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerSource:
    """Controllers to read the log from. name: as the user wrote them.

    offset: to show the metadata as they were there; None for the latest.
    """

    name: str
    controllers: str
    command_config: Path | None
    timeouts: Timeouts
    offset: int | None = None

    def __str__(self) -> str:
        return _at(self.name, self.offset)

    @property
    def security(self) -> Security:
        """TLS and SASL of the command configuration. Raises WrongUsage."""
        from kwire.cli.tls_options import client_security
        from kwire.net.security import PLAINTEXT

        return PLAINTEXT if self.command_config is None else client_security(self.command_config)

    async def read(self) -> StoredMetadata:
        """Read the log of the leader; tell on stderr if that takes long. Raises KwireError."""
        import asyncio

        from kwire.cluster_document.live_metadata import live_metadata

        security = self.security
        async with self.notice():
            if self.offset is not None:
                return await asyncio.to_thread(self._read_at, self.offset)
            return await live_metadata(self.controllers, security=security, timeouts=self.timeouts)

    def notice(self) -> AbstractAsyncContextManager[None]:
        """Tell on stderr, within the context, that the log is waited for, if that takes long."""
        from kwire.cli.waiting_notice import PATIENCE, waiting_notice

        log = f"the metadata log of {self.name}"
        return waiting_notice(lambda: log, self.timeouts.operation, silence=PATIENCE)

    def _read_at(self, offset: int) -> StoredMetadata:
        from kwire.admin.bootstrap import Bootstrap
        from kwire.shell.live import LiveSource

        addresses = Bootstrap.of(None, self.controllers).addresses
        with LiveSource(addresses, self.security, self.timeouts) as live:
            return _stored(live.at(offset))


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSource:
    """A document, a checkpoint, or the folder of a metadata log. offset: as of controllers."""

    path: Path
    offset: int | None = None

    def __str__(self) -> str:
        return _at(str(self.path), self.offset)

    async def read(self) -> StoredMetadata | ClusterDocument:
        """Read it. Raises KwireError, OSError."""
        if self.offset is not None:
            return self._read_at(self.offset)
        from kwire.observer.stored_metadata import (
            is_checkpoint,
            read_checkpoint,
            read_metadata_folder,
        )

        if self.path.is_dir():
            return read_metadata_folder(self.path)
        if is_checkpoint(self.path):
            return read_checkpoint(self.path)
        from kwire.cluster_document.reading import read_document

        return read_document(self.path)

    def _read_at(self, offset: int) -> StoredMetadata:
        from kwire.observer.stored_metadata import is_checkpoint
        from kwire.shell.files import DirectorySource, SingleFileSource

        if self.path.is_dir():
            with DirectorySource(self.path) as log:
                return _stored(log.at(offset))
        if not is_checkpoint(self.path):
            raise WrongUsage(f"{self}: only metadata logs and checkpoints have offsets.")
        with SingleFileSource(self.path) as file:
            return _stored(file.at(offset))


def _at(name: str, offset: int | None) -> str:
    return name if offset is None else f"{name}@{offset}"


def _stored(shown: PositionedImage) -> StoredMetadata:
    from kwire.observer.stored_metadata import StoredMetadata

    return StoredMetadata(
        image=shown.image,
        offset=0 if shown.offset is None else shown.offset + 1,
        kraft_version=shown.raft.kraft_version,
    )


MetadataSource = ControllerSource | FileSource


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceOptions:
    """The options of the controllers whose metadata is read."""

    bootstrap_controller: str | None = option(
        "--bootstrap-controller",
        metavar="HOST:PORT,...",
        help="Read the metadata log of these controllers (KIP-919); brokers do not give it.",
    )
    command_config: Path | None = option(
        metavar="FILE", help="Client properties: TLS and SASL, as for Kafka's tools."
    )
    profile: str | None = option(
        "--profile", "-P", metavar="NAME", help="A cluster of `kwire profiles`, by controllers."
    )
    limits: TimeLimits
    unpack_limit: int = UNPACK_LIMIT

    @property
    def names_cluster(self) -> bool:
        """True if an option names a cluster."""
        return bool(self.bootstrap_controller or self.profile)

    def cluster(self) -> ControllerSource:
        """Return the cluster of the options, or of $KWIRE_PROFILE. Raises WrongUsage for none."""
        if self.bootstrap_controller:
            return self._controllers(self.bootstrap_controller, read_profile(self.profile))
        profile = read_profile(self.profile)
        if not profile.name:
            raise WrongUsage("give --bootstrap-controller, --profile, or a file.")
        return self._of_profile(profile)

    def source(self, text: str) -> MetadataSource:
        """Return the source of an argument: controllers:…, profile:…, or a path.

        Each may have `@OFFSET` or `@latest` behind it.
        """
        name, _, place = text.rpartition("@")
        if not name or Path(text).exists() or not (place == LATEST or place.isdecimal()):
            return self._source(text)
        source = self._source(name)
        return source if place == LATEST else replace(source, offset=int(place))

    def _source(self, text: str) -> MetadataSource:
        if text.startswith(CONTROLLERS):
            return self._controllers(text.removeprefix(CONTROLLERS), Profile())
        if text.startswith(PROFILE):
            return self._of_profile(read_profile(text.removeprefix(PROFILE)))
        if not Path(text).exists() and _names_nodes(text):
            raise WrongUsage(f"there is no file {text}; of controllers write {CONTROLLERS}{text}.")
        return FileSource(path=Path(text))

    def _of_profile(self, profile: Profile) -> ControllerSource:
        if not profile.bootstrap_controllers:
            raise WrongUsage(
                f"profile {profile.name} has no bootstrap_controllers, and brokers do not give the"
                " metadata log: add them, or give --bootstrap-controller."
            )
        return self._controllers(profile.bootstrap_controllers, profile)

    def _controllers(self, addresses: str, profile: Profile) -> ControllerSource:
        from kwire.admin.bootstrap import Bootstrap

        with usage_errors():
            Bootstrap.of(None, addresses)
        config = self.command_config or profile.command_config
        return ControllerSource(
            name=addresses,
            controllers=addresses,
            command_config=config,
            timeouts=self.limits.chosen(profile, config),
        )


def _names_nodes(text: str) -> bool:
    """True for `host:port,host:port`."""
    from kwire.admin.bootstrap import Bootstrap
    from kwire.errors import InvalidValue

    try:
        Bootstrap.of(None, text)
    except InvalidValue:
        return False
    return True


ONLY = option(metavar="SECTION,...", help="Only these: features, topics, configs, quotas, ...")


@dataclass(frozen=True, slots=True, kw_only=True)
class ContentOptions:
    """The options of what is read of the metadata."""

    only: str | None = ONLY
    assignments: bool = flag("--assignments", help="With the replicas of every partition.")

    def sections(self) -> tuple[DocumentSection, ...]:
        """Return the sections of --only; none stands for all. Raises WrongUsage."""
        return sections_named(self.only)


def sections_named(only: str | None) -> tuple[DocumentSection, ...]:
    """Return the sections of a value of --only; none stands for all. Raises WrongUsage."""
    from kwire.cluster_document.document import DocumentSection

    names = {section.value.lower(): section for section in DocumentSection}
    chosen = [name.strip() for name in (only or "").split(",") if name.strip()]
    for name in chosen:
        if name.lower() not in names:
            known = ", ".join(section.value for section in DocumentSection)
            raise WrongUsage(f"--only {name}: there is no such section, only {known}.")
    return tuple(names[name.lower()] for name in chosen)
