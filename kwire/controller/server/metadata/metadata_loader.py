"""The metadata of a node that follows: its log replayed, and published as far as it is committed.

As in Java's MetadataLoader, readers see nothing before it is committed; and as with its publisher
SnapshotGenerator, a snapshot is written when the log has grown.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from kwire.controller.raft import OffsetAndEpoch
from kwire.controller.server.config.node_config import NodeConfig
from kwire.controller.server.directory_log import DirectoryLog
from kwire.controller.server.metadata.replay import Replay, Replayed
from kwire.controller.server.metadata.replay_task import ReplayTask
from kwire.controller.server.metadata.snapshotter import Snapshotter
from kwire.controller.server.raft_runtime import RaftRuntime
from kwire.controller.state_machine.quorum_controller import QuorumController
from kwire.image import MetadataImage, apply_all

logger = logging.getLogger(__name__)


class MetadataLoader:
    """Gives committed records to a QuorumController, in slices, while its node does not lead.

    A leader applies its own records when it writes them: the replay stands still meanwhile.

    offset: everything below it is committed and applied. published: called whenever it may have
    risen while the node follows.
    """

    def __init__(
        self,
        config: NodeConfig,
        log: DirectoryLog,
        runtime: RaftRuntime,
        controller: QuorumController,
        published: Callable[[], None],
    ) -> None:
        self.offset = 0
        self._high_watermark = 0
        self._log = log
        self._runtime = runtime
        self._controller = controller
        self._published = published
        self._bootstrap: MetadataImage | None = None
        self._loaded = asyncio.Event()
        self._has_told_unknown = False
        self._snapshotter = Snapshotter(
            log,
            runtime.raft,
            feed=runtime.feed,
            fail=runtime.fail,
            after_bytes=config.snapshot_after_bytes,
            retention_bytes=config.retention_bytes,
        )
        self._replay = Replay(log)
        self._task = ReplayTask(
            self._replay, runtime, publish=self._publish, read=self._check_leadable
        )

    def image_of_credentials(self) -> MetadataImage:
        """Return the committed metadata, or before the first leader those of the bootstrap file.

        Controllers may have to log in to each other to elect that leader (KIP-900).
        """
        image = self._controller.image
        if image.features.has_metadata_version:
            return image
        if self._bootstrap is None:
            self._bootstrap = apply_all(image, self._log.bootstrap)
        return self._bootstrap

    @property
    def is_loaded(self) -> bool:
        """True once everything up to the high watermark that was learned first is applied."""
        return self._loaded.is_set()

    async def until_loaded(self) -> None:
        """Wait for `is_loaded`."""
        await self._loaded.wait()

    @property
    def is_replaying(self) -> bool:
        """True while the log has records that are still to be applied."""
        return self._task.is_running

    def start(self) -> None:
        """Begin to replay the log. Raises CannotLead if kwire must not lead this cluster.

        A long log is checked after it was read, which is before the node stands for election.
        """
        self._task.start()
        if not self.is_replaying:
            self._check_leadable()

    def _check_leadable(self) -> None:
        """Raise CannotLead for features of the log, committed or not, or of the bootstrap file."""
        image = self._replay.last.view.image.published
        is_empty = not image.features.has_metadata_version
        if is_empty and not self._runtime.raft.is_voter:
            return
        if is_empty:
            image = apply_all(image, self._log.bootstrap)
        self._controller.config.rules.check_can_lead(image.features, is_empty=is_empty)

    def committed(self, high_watermark: int) -> None:
        """Apply what is committed, at once or, if it is much, in later turns of the loop."""
        self._high_watermark = high_watermark
        self._replay.commit(high_watermark)
        self._task.resume()

    def committed_own(self, high_watermark: int) -> None:
        """Take note of a commit of the node's own records, which it applied as it led."""
        self._high_watermark = self.offset = high_watermark
        self._after_apply()

    def truncated(self, offset: int) -> None:
        """Forget uncommitted records from the offset on, which were read when the node started."""
        self._replay.truncate(offset)

    def snapshot_installed(self, id: OffsetAndEpoch) -> None:
        """Replay a downloaded snapshot, which has taken the place of the log before it."""
        self._replay.load(id)
        self._task.resume()

    def resume(self) -> None:
        """Go on from the committed metadata of a leadership that is over."""
        view = self._controller.committed
        self._replay.follow(Replayed(offset=self.offset, view=view))

    async def stop(self) -> None:
        """Give up replay and snapshots; return when no task is left."""
        await self._task.stop()
        await self._snapshotter.stop()

    def _publish(self) -> None:
        """Show the committed part of what the replay has applied."""
        unknown = self._replay.last.view.image.unknown
        if unknown and not self._has_told_unknown:
            self._has_told_unknown = True
            first = next(iter(unknown))
            logger.warning(
                "the metadata have records that kwire does not know, the first of type %d, version"
                " %d: they change nothing here, and snapshots of this node leave them out",
                first.type,
                first.version,
            )
        committed = self._replay.committed
        if committed.offset != self.offset:
            self.offset = committed.offset
            self._controller.follow(committed.view)
        self._after_apply()
        self._published()

    def _after_apply(self) -> None:
        # As in Java's MetadataLoader, which shows its publishers nothing before that.
        if 0 < self._high_watermark <= self.offset:
            self._loaded.set()
        # A replay of old records need not be written down again on the way.
        if not self._replay.is_behind:
            image = self._controller.committed.image
            self._snapshotter.consider(image, self.offset, self._runtime.now)
