"""Names of topics, groups and principals that no other test uses, and their removal."""

from __future__ import annotations

from collections import defaultdict
from uuid import uuid4

from kwire.admin.sync import AdminClient


class OwnNames:
    """Makes names; what has them on a cluster is removed in the end."""

    def __init__(self) -> None:
        self._at: dict[str, list[str]] = defaultdict(list)

    def __call__(self, prefix: str, *, at: str | None = None) -> str:
        """Return a name that begins with a prefix.

        at: bootstrap servers, where a topic and a group of this name are removed in the end.
        """
        name = f"{prefix}-{uuid4().hex[:12]}"
        if at is not None:
            self._at[at].append(name)
        return name

    def remove(self) -> None:
        """Remove topics and groups; those that are not there are no failure."""
        for servers, names in self._at.items():
            with AdminClient(bootstrap_servers=servers) as admin:
                admin.delete_topics(names)
                admin.delete_groups(names)
