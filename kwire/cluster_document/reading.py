"""Reads a document back, in YAML or JSON; errors name the file and the line, or the path in it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic.alias_generators import to_camel

from kwire.cluster_document.document import VERSION, ClusterDocument
from kwire.text.untrusted import CUT, LONGEST, cut_repr, read_text
from kwire.text.yaml_data import BadYaml, Bounds, ValuePath, read_yaml_data, text_or_null
from kwire.text.yaml_file import BadFile

BOUNDS = Bounds(characters=LONGEST, depth=16, values=30_000_000)
"""Of a document in YAML. One of 100,000 topics with every partition's replicas has fewer."""

_REASONS = {
    "extra_forbidden": "there is no such key here",
    "missing": "this key is needed",
    "model_type": "this must be keys with their values",
    "mapping_type": "this must be keys with their values",
    "dict_type": "this must be keys with their values",
    "tuple_type": "this must be a list",
    "int_parsing": "this must be a whole number",
    "int_type": "this must be a whole number",
    "int_parsing_size": "this number is too great",
    "greater_than_equal": "this number must not be negative",
    "less_than_equal": "this number is too great",
    "float_parsing": "this must be a number",
    "string_type": "this must be a text: write it in quotes",
}
"""pydantic's types of errors, in words of the file."""

_SHOWN = 20
"""Mistakes that are told at once."""

_ENTRIES = ("topics", "configs", "quotas", "scram_credentials", "acls")
"""The lists of entries that have a title, which must be there once."""


def read_document(path: Path) -> ClusterDocument:
    """Return the document of a file. Raises BadFile, with file and place of each mistake."""
    return parse_document(read_text(path, BadFile), str(path))


def parse_document(text: str, name: str) -> ClusterDocument:
    """Return the document of a text. Raises BadFile; name: of the file, for errors."""
    try:
        data, lines = _json(text) if text.lstrip().startswith("{") else _yaml(text)
    except (BadFile, BadYaml) as error:
        raise BadFile(f"{name}: {error}") from error
    _check_version(data, name)
    try:
        document = ClusterDocument.model_validate(data)
    except ValidationError as error:
        lines = lines or _lines_of_json(text)
        found = [_mistake(mistake, lines) for mistake in error.errors(include_url=False)]
        raise _bad_file(found, name) from error
    if doubles := [*_doubles(document)]:
        lines = lines or _lines_of_json(text)
        raise _bad_file(
            [
                f"{_place(place, lines)}: {cut_repr(title)} is there twice, keep one of them"
                for place, title in doubles
            ],
            name,
        )
    return document


def _bad_file(mistakes: list[str], name: str) -> BadFile:
    sentences = [f"{name}: {mistake}" for mistake in mistakes[:_SHOWN]]
    if len(mistakes) > _SHOWN:
        sentences.append(f"{name}: {len(mistakes) - _SHOWN} more mistakes")
    return BadFile("\n".join(sentences))


def _doubles(document: ClusterDocument) -> Iterator[tuple[ValuePath, str]]:
    """Yield place and title of each entry that an earlier one names, too."""
    for attribute in _ENTRIES:
        first = dict[str, int]()
        for index, entry in enumerate(getattr(document, attribute) or ()):
            if first.setdefault(entry.title, index) != index:
                yield (to_camel(attribute), index), entry.title


def _check_version(data: Any, name: str) -> None:
    # Before anything else: another version may have other keys.
    if not isinstance(data, dict) or "version" not in data:
        raise BadFile(f"{name}: this is no document of `kwire export`, which begins with version")
    if str(data["version"]) != str(VERSION):
        raise BadFile(
            f"{name}: version {str(data['version'])[:CUT]} of the document is not known, only"
            f" {VERSION}: export it with this kwire"
        )


def _yaml(text: str) -> tuple[Any, Mapping[ValuePath, int]]:
    # Names of topics and users are text whatever they look like (`no`, `1e3`), and so are numbers
    # until the model of the document asks for one.
    return read_yaml_data(text, BOUNDS, text_or_null)


def _json(text: str) -> tuple[Any, Mapping[ValuePath, int]]:
    try:
        return json.loads(text, object_pairs_hook=_unique), {}
    except BadFile:
        raise
    except json.JSONDecodeError as error:
        raise BadFile(f"line {error.lineno}: this is no JSON: {error.msg}") from error
    except RecursionError:
        raise BadFile("the JSON is nested too deep") from None
    except ValueError as error:  # a number of thousands of digits
        raise BadFile(f"this is no JSON: {error}") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) < len(pairs):
        names = [name for name, _ in pairs]
        double = next(name for name in names if names.count(name) > 1)
        raise BadFile(f"{cut_repr(double)} is there twice in one object, keep one of them")
    return data


def _lines_of_json(text: str) -> Mapping[ValuePath, int]:
    """Return the line of each value of a JSON text, which is YAML as well; none if it is not."""
    with suppress(BadYaml):
        return read_yaml_data(text, BOUNDS)[1]
    return {}


def _mistake(mistake: Any, lines: Mapping[ValuePath, int]) -> str:
    reason = _REASONS.get(mistake["type"]) or str(mistake["msg"]).removeprefix("Value error, ")
    return f"{_place(tuple(mistake['loc']), lines)}: {reason}"


def _place(place: ValuePath, lines: Mapping[ValuePath, int]) -> str:
    # A key that is missing has no line, nor has one of a mapping: the nearest above has.
    nearest = (place[:end] for end in range(len(place), 0, -1))
    line = next((lines[above] for above in nearest if above in lines), None)
    path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place)
    where = "" if line is None else f"line {line}: "
    return f"{where}{path.removeprefix('.')[:CUT] or 'the file'}"
