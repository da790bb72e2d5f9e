"""The committed declarations are what the generator makes of Kafka's jars."""

import pytest

from declarations.__main__ import committed, declarations


@pytest.mark.java
def test_the_committed_declarations_are_those_of_kafkas_schemas() -> None:
    assert committed() == declarations()
