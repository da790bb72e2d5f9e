"""`kwire quorum explain`: why a quorum is stuck or changes its leader, as a dated story."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from kwire.cli.errors import WrongUsage, usage_errors
from kwire.cli.metadata_sources import ControllerSource, SourceOptions
from kwire.cli.options import flag, reads_options, repeated
from kwire.cli.output import OutputOptions

if TYPE_CHECKING:
    from kwire.doctor.evidence import Evidence
    from kwire.quorum_story.story import StorySource

PIPE = Path("-")


@dataclass(frozen=True, slots=True, kw_only=True)
class StoryOptions:
    """The options of the sources that are files."""

    logs: list[Path] = repeated(
        "--log", metavar="FILE", help="A controller's log, of any node; - reads a pipe."
    )
    directories: list[Path] = repeated(
        "--directory",
        "-d",
        metavar="DIR",
        help="A node's log directory, its __cluster_metadata-0, or a file of it.",
    )
    recordings: list[Path] = repeated(
        "--recording", metavar="FILE", help="A recording of the proxy, or a folder of them."
    )

    def sources(self) -> Iterator[StorySource]:
        """Yield what each file tells. Raises WrongUsage for one that is not there."""
        from kwire.cli.quorum.log_files import read_log
        from kwire.quorum_story.capture_source import recording
        from kwire.quorum_story.record_source import metadata_folder

        for path in (*self.logs, *self.directories, *self.recordings):
            if path != PIPE and not path.exists():
                raise WrongUsage(f"there is no file {path}.")
        for path in self.logs:
            yield read_log(path)
        yield from map(metadata_folder, self.directories)
        yield from map(recording, self.recordings)


@reads_options
def explain(
    files: StoryOptions,
    follow: bool = flag("--follow", "-f", help="Go on with what is written to the logs."),
    *,
    sources: SourceOptions,
    printed: OutputOptions,
) -> None:
    """Explain why the active controller changes, or why a controller is not ready.

    Give what there is: logs of the controllers, their metadata logs, recordings, the addresses of
    those that run. The first lines answer; then the story, with the line or record that proves each
    event, the causes with their remedies, and what is not known. Nothing is changed. Exit code 1
    if a source could not be read.

    \b
    kwire quorum explain --log server.log
    kwire quorum explain --log c1.log --log c2.log -d /var/lib/kafka/metadata
    kubectl logs kafka-controller-0 | kwire quorum explain --log -
    kwire quorum explain --log server.log --follow
    """
    from kwire.cli.quorum.story_screen import show_story
    from kwire.quorum_story.explain import explain as explained

    output = printed.output()
    if follow:
        return _follow(files, sources, as_json=output.is_document)
    found = [*files.sources()]
    if sources.names_cluster or not found:
        found += _asked(sources)
    story = explained(found)
    show_story(output, story)
    if any(source.problem for source in story.sources):
        raise SystemExit(1)


def _follow(files: StoryOptions, sources: SourceOptions, *, as_json: bool) -> None:
    from kwire.cli.quorum.log_files import follow_logs
    from kwire.cli.quorum.story_screen import print_event

    if not files.logs or files.directories or files.recordings or sources.names_cluster:
        raise WrongUsage("--follow goes on with logs: give --log, and no other source.")
    for event in follow_logs(files.logs):
        print_event(event, as_json=as_json)
        sys.stdout.flush()


def _asked(options: SourceOptions) -> list[StorySource]:
    from kwire.cli.event_loop import run
    from kwire.quorum_story.node_source import asked_nodes

    try:
        cluster = options.cluster()
    except WrongUsage as error:
        if options.names_cluster:
            raise
        raise WrongUsage(
            "give --log, --directory, --recording or --bootstrap-controller."
        ) from error
    evidence = run(_gathered(cluster))
    return asked_nodes(evidence, round(time.time() * 1000))


async def _gathered(cluster: ControllerSource) -> Evidence:
    from kwire.admin.bootstrap import Bootstrap
    from kwire.cli.tls_options import client_security
    from kwire.cli.waiting_notice import nodes_notice
    from kwire.doctor.gather import gather
    from kwire.net.awaited import Awaited
    from kwire.net.security import PLAINTEXT

    config, awaited = cluster.command_config, Awaited()
    with usage_errors():
        addresses = Bootstrap.of(None, cluster.controllers).addresses
    security = PLAINTEXT if config is None else client_security(config)
    async with nodes_notice(awaited, cluster.timeouts.operation):
        return await gather(
            addresses,
            security=security,
            with_image=False,
            timeouts=cluster.timeouts,
            awaited=awaited,
        )
