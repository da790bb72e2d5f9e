"""The configuration whose values are not shown, since they are passwords or may be.

The metadata log has them in plain text.
"""

from __future__ import annotations

import re

from kwire.configs.node_configs import node_key
from kwire.messages.config_resource import ConfigResource, ResourceType

_SECRET = re.compile(r"password|secret|jaas|credential|token|private|\.key$")


def is_hidden(resource: ConfigResource, key: str) -> bool:
    """True for a value that must not be shown.

    Of nodes: passwords, and keys that Kafka has no type for, as its own nodes hide them
    (KafkaConfig.maybeSensitive). Of others, which have no passwords: keys that sound like one.
    """
    if resource.type == ResourceType.BROKER:
        declared = node_key(key)
        return declared is None or declared.is_sensitive
    return bool(_SECRET.search(key.lower()))
