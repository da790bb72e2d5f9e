"""Writes layouts as Kafka's protocol guide does, to compare the two.

`org.apache.kafka.common.protocol.Protocol` prints every version of every API as lines such as
`Vote Request (Version: 2) => { cluster_id voter_id (topics) }`: (x) is a compact array, [x] a
classic one, ?x may be null.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator

from kwire.codec.versions import Versions
from kwire.protocol import FieldFact, MessageFact

LAYOUT = re.compile(r"<pre>((\w+) (Request|Response) \(Version: (\d+)\) => .*?)</pre>", re.DOTALL)
SCALARS = {"bool": "BOOLEAN"}


def layouts_of_guide(page: str) -> dict[str, str]:
    """Return the layouts of the guide by the words before the arrow, underscores left out."""
    found = (match[1] for match in LAYOUT.finditer(page))
    plain = (html.unescape(text).replace("_", "").lower().strip() for text in found)
    return {text.partition(" =>")[0]: text for text in plain}


def layout(fact: MessageFact, version: int) -> str:
    """Return one version of a request or a response as the guide has it, in the same form."""
    compact = version in Versions(fact.flexible_versions)
    lines = _struct(fact.fields, version, compact, "")
    heading = f"{fact.api} {fact.kind} (version: {version}) => {next(lines)}"
    return "\n".join([heading, *lines]).lower()


def _struct(fields: Iterable[FieldFact], version: int, compact: bool, indent: str) -> Iterator[str]:
    """Yield the text in braces, then the lines of each field."""
    present = sorted(
        (field for field in fields if version in Versions(field.versions)),
        key=lambda field: (_is_tagged(field, version), field.tag or 0),
    )
    names = (_listed(field, version, compact) for field in present)
    yield " ".join(["{", *names, "}"])
    for field in present:
        lines = _field(field, version, compact, f"{indent}  ")
        yield f"{indent}  {_name(field, version)} => {next(lines)}"
        yield from lines


def _is_tagged(field: FieldFact, version: int) -> bool:
    return version in Versions(field.tagged_versions)


def _name(field: FieldFact, version: int) -> str:
    return f"{field.name}<tag: {field.tag}>" if _is_tagged(field, version) else field.name


def _nullable(field: FieldFact, version: int) -> bool:
    return version in Versions(field.nullable_versions)


def _listed(field: FieldFact, version: int, compact: bool) -> str:
    """Return a field as it stands in the braces of its struct."""
    name = _name(field, version)
    if not field.type.startswith("[]") or _is_tagged(field, version):
        return name
    name = f"({name})" if compact else f"[{name}]"
    return f"?{name}" if _nullable(field, version) else name


def _field(field: FieldFact, version: int, compact: bool, indent: str) -> Iterator[str]:
    is_array = field.type.startswith("[]")
    if field.fields:
        lines = _struct(field.fields, version, compact, indent)
        opening = next(lines)
        yield f"?{opening}" if _nullable(field, version) and not is_array else opening
        yield from lines
        return
    scalar = field.type.removeprefix("[]")
    word = SCALARS.get(scalar, scalar)
    if scalar in ("string", "bytes", "records"):
        word = f"nullable{word}" if _nullable(field, version) and not is_array else word
        word = f"compact{word}" if compact and field.flexible_versions != "none" else word
    yield word
