"""Compares errors, features and configurations of two releases: rows with a key and facts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kwire.protocol.differences import ProtocolDifference, ProtocolSection, difference
from kwire.protocol.model import ConfigFact, ErrorFact, FeatureFact
from kwire.protocol.release_facts import facts

Rows = Mapping[tuple[str, str], Mapping[str, str]]
"""The facts of a row as texts, by its name and field; an empty text is left out of sentences."""


def row_differences(section: ProtocolSection, old: str, new: str) -> Iterator[ProtocolDifference]:
    """Yield the differences of one of the sections ERRORS, FEATURES and CONFIGS."""
    before, after, every = (_rows(section, releases) for releases in ([old], [new], [old, new]))
    for name, field in every:
        was, now = before.get((name, field)), after.get((name, field))
        if was is None or now is None:
            lines = [None if side is None else _line(side) for side in (was, now)]
            yield difference(section, name, field, *lines)
            continue
        for fact, text in was.items():
            if text != now[fact]:
                label = f"{field}: {fact}" if field else fact
                yield difference(section, name, label, text or "none", now[fact] or "none")


def _rows(section: ProtocolSection, releases: list[str]) -> Rows:
    """Return the rows of releases; of a row that both have, the later one's facts."""
    wanted = set(releases)
    known = facts()
    if section is ProtocolSection.ERRORS:
        return {
            (str(error.code), ""): _error(error)
            for error in known.errors
            if wanted & set(error.releases)
        }
    if section is ProtocolSection.FEATURES:
        return {
            (level.feature, f"level {level.level}"): _level(level)
            for level in known.features
            if wanted & set(level.releases)
        }
    return {
        (f"{config.owner} {config.name}", ""): _config(config)
        for config in known.configs
        if wanted & set(config.releases)
    }


def _line(texts: Mapping[str, str]) -> str:
    """Return all facts of a row on one line."""
    named = ("name", "type")
    return ", ".join(
        text if fact in named else f"{fact} {text}" for fact, text in texts.items() if text
    )


def _error(error: ErrorFact) -> dict[str, str]:
    return {"name": error.name, "retriable": "yes" if error.retriable else "no"}


def _level(level: FeatureFact) -> dict[str, str]:
    needed = (f"{feature}={number}" for feature, number in level.dependencies.items())
    return {
        "name": level.name or "",
        "with metadata.version": level.since or "",
        "needs": " ".join(needed),
        "production": "yes" if level.production else "no",
    }


def _config(config: ConfigFact) -> dict[str, str]:
    return {
        "type": config.type,
        "default": "" if config.required else default_text(config.default),
        "importance": config.importance,
        "required": "yes" if config.required else "",
        "internal": "yes" if config.internal else "",
    }


def default_text(default: str | None) -> str:
    """Return a default as text that is not empty."""
    return "null" if default is None else default or '""'
