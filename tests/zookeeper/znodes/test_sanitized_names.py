"""Names in paths, by what Kafka 3.9's Sanitizer makes of them (SanitizerTest)."""

import pytest

from kwire.zookeeper.errors import InvalidZnode
from kwire.zookeeper.znodes.sanitized_names import DEFAULT_ENTITY, desanitize, sanitize

NAMES = {
    "alice": "alice",
    "CN=Some characters !@#$%&*()_-+=';:,/~": (
        "CN%3DSome%20characters%20%21%40%23%24%25%26%2A%28%29_-%2B%3D%27%3B%3A%2C%2F%7E"
    ),
    DEFAULT_ENTITY: "%3Cdefault%3E",
    "ü": "%C3%BC",
}


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_quoted_and_read_back(name: str) -> None:
    assert sanitize(name) == NAMES[name]
    assert desanitize(NAMES[name], "/config/users/x") == name


def test_a_percent_sign_without_digits_is_named_with_its_path() -> None:
    with pytest.raises(InvalidZnode, match=r"/config/users/100%: .*percent sign"):
        desanitize("100%", "/config/users/100%")
