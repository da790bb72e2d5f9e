"""`kwire export`: a cluster's metadata as a document to keep, to read and to compare."""

from __future__ import annotations

import sys
from enum import StrEnum

from kwire.cli.errors import WrongUsage
from kwire.cli.event_loop import run
from kwire.cli.metadata_sources import ContentOptions, FileSource, SourceOptions
from kwire.cli.options import argument, flag, option, reads_options
from kwire.cli.output import error_document
from kwire.cli.screen import print_json
from kwire.errors import KwireError


class DocumentForm(StrEnum):
    """The forms of an exported document."""

    YAML = "yaml"
    JSON = "json"


@reads_options
def export(
    *,
    source: str | None = argument(
        default=None,
        metavar="[SOURCE]",
        help="A .checkpoint file, a folder __cluster_metadata-0, controllers:HOST:PORT,... or"
        " profile:NAME. Without it the cluster of the options.",
    ),
    sources: SourceOptions,
    output_form: DocumentForm = option(
        "--output", "-o", default=DocumentForm.YAML, help="The form of the document."
    ),
    as_json: bool = flag("--json", help="Print JSON, as -o json does."),
    content: ContentOptions,
) -> None:
    """Print a cluster's topics, configs, ACLs, quotas and features.

    The metadata log of the controllers has all of it, at one offset; brokers do not give it. The
    same metadata gives the same text. Passwords and keys of credentials are left out: null stands
    for a value that is set and not shown. `kwire diff` reads it back.

    \b
    kwire export --bootstrap-controller localhost:9093 > nightly.yaml
    kwire export --only topics,acls /var/lib/kafka/__cluster_metadata-0
    """
    chosen = content.sections()
    if source is not None and sources.names_cluster:
        raise WrongUsage("give a SOURCE or the options of a cluster, not both.")
    origin = sources.cluster() if source is None else sources.source(source)
    is_json = as_json or output_form is DocumentForm.JSON
    try:
        metadata = run(origin.read())
    except (KwireError, OSError) as error:
        if is_json:
            print_json(error_document(error))
        raise
    from kwire.cluster_document.document import ClusterDocument
    from kwire.cluster_document.from_image import document_of
    from kwire.cluster_document.writing import FORMS

    if isinstance(metadata, ClusterDocument):
        assert isinstance(origin, FileSource), "controllers give no document"
        raise WrongUsage(f"{origin} is an exported document already.")
    document = document_of(metadata, chosen, assignments=content.assignments)
    sys.stdout.write(FORMS["json" if is_json else output_form](document))
