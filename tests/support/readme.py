"""A README outside its repository."""

import re


def relative_links(text: str) -> list[str]:
    """Return the targets of links and pictures that no reader outside the repository can open."""
    targets = re.findall(r"\]\(\s*<?([^)>\s]+)", text)
    targets += re.findall(r"(?:src|srcset|href)\s*=\s*[\"']?([^\"'\s>]+)", text)
    targets += re.findall(r"(?m)^\s*\[[^\]]+\]:\s*(\S+)", text)
    return [target for target in targets if not re.match(r"(https?|mailto):", target)]
