"""Requests about client quotas."""

from collections.abc import Mapping

from kwire.messages.a49_alter_client_quotas import EntityData, EntryData, OpData


def quota_entry(entity: Mapping[str, str | None], *ops: tuple[str, float | None]) -> EntryData:
    """Return the change of an entity's quotas; None removes one."""
    return EntryData(
        entity=[EntityData(entity_type=type, entity_name=name) for type, name in entity.items()],
        ops=[OpData(key=key, value=value or 0.0, remove=value is None) for key, value in ops],
    )
