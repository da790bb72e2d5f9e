"""Java: the second Produce is refused, and the client sends it again. So for any language.

CLASSPATH=$KAFKA_HOME/libs/*:docs/examples pytest docs/examples/test_java.py

It needs a compiled client: javac docs/examples/TwoRecords.java.
"""

import subprocess

import pytest

from kwire.testing import FaultProxy

RULE = {"match": "~api Produce", "error": "NOT_LEADER_OR_FOLLOWER", "nth": 2}


@pytest.mark.kwire_rules([RULE])
def test_a_java_client_sends_again(kwire_proxy: FaultProxy) -> None:
    client = ["java", "TwoRecords", kwire_proxy.bootstrap_servers]
    subprocess.run(client, check=True, timeout=120)
    assert kwire_proxy.seen("Produce") == 3
