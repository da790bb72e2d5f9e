"""Metadata as a value: apply(image, record) gives the next one.

    image = EMPTY
    for record in records:
        image = apply(image, record)
    image.topics.topic("orders").partitions[0].leader

Many records become an image faster together: `apply_all(image, records)`, or a `MetadataDelta`.

Writing an image out again gives the records of a snapshot: image.records().
"""

from kwire.image.delta import MetadataDelta, apply_all
from kwire.image.errors import ReplayError
from kwire.image.metadata import EMPTY, MetadataImage
from kwire.image.replay import apply

__all__ = ["EMPTY", "MetadataDelta", "MetadataImage", "ReplayError", "apply", "apply_all"]
