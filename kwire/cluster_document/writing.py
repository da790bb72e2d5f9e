"""Writes a document as YAML or JSON, in ASCII: the same metadata gives the same bytes."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import yaml

from kwire.cluster_document.document import ClusterDocument

_DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
_WIDTH = 100


def plain_data(document: ClusterDocument) -> dict[str, Any]:
    """Return the document as mappings, lists, texts and numbers; what is absent is left out."""
    return document.model_dump(by_alias=True, exclude_unset=True, mode="json")


def json_text(document: ClusterDocument) -> str:
    """Return the document as one JSON object."""
    return json.dumps(plain_data(document), indent=2) + "\n"


def yaml_text(document: ClusterDocument) -> str:
    """Return the document as YAML, replicas and entities in one line each."""
    return yaml.dump(
        _with_lines(plain_data(document)), Dumper=_Dumper, sort_keys=False, width=_WIDTH
    )


FORMS: Mapping[str, Callable[[ClusterDocument], str]] = MappingProxyType(
    {"yaml": yaml_text, "json": json_text}
)
"""Writers by the name of their form."""


class _OneLine(list[Any]):
    """A list that is written in one line."""


class _Dumper(_DUMPER):  # type: ignore[misc, valid-type]
    """Python's safe dumper, which also knows lists of one line."""

    def ignore_aliases(self, data: object) -> bool:
        """Write equal parts out each time: readers take no anchors."""
        return True


_Dumper.add_representer(
    _OneLine,
    lambda dumper, data: dumper.represent_sequence("tag:yaml.org,2002:seq", data, flow_style=True),
)


def _with_lines(data: dict[str, Any]) -> dict[str, Any]:
    for topic in data.get("topics", ()):
        if "assignments" in topic:
            topic["assignments"] = [_OneLine(replicas) for replicas in topic["assignments"]]
    return data
