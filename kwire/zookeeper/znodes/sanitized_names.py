"""Names as parts of paths (org.apache.kafka.common.utils.Sanitizer): URL-quoted, spaces as %20."""

from __future__ import annotations

import re
from urllib.parse import quote, unquote_plus

from kwire.zookeeper.errors import InvalidZnode

DEFAULT_ENTITY = "<default>"
"""The name of the defaults of a kind of configs; no sanitized name can be so."""

_BROKEN = re.compile("%(?![0-9a-fA-F]{2})")


def sanitize(name: str) -> str:
    """Return a name as it stands in a path."""
    # quote() keeps the tilde, which Java's URLEncoder does not; Sanitizer leaves its %7E alone.
    return quote(name, safe="", errors="replace").replace("~", "%7E")


def desanitize(name: str, path: str) -> str:
    """Return the name that was sanitized. Raises InvalidZnode with the path."""
    if _BROKEN.search(name):
        raise InvalidZnode(path, "its name has a percent sign without two hexadecimal digits")
    return unquote_plus(name)
