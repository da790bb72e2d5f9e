"""UnregisterBroker."""

from typing import Any

from kwire.error_codes import ErrorCode
from kwire.messages.a64_unregister_broker import UnregisterBrokerRequest


def test_an_unregistered_broker_leaves_every_isr_and_is_gone(three: Any) -> None:
    three.create("foo", (1, 2))

    assert three.ask(UnregisterBrokerRequest(broker_id=1)).error_code == ErrorCode.NONE

    assert (three.partition("foo").leader, three.partition("foo").isr) == (2, (2,))
    assert 1 not in three.image.cluster.brokers
    again = three.ask(UnregisterBrokerRequest(broker_id=1))
    assert again.error_code == ErrorCode.BROKER_ID_NOT_REGISTERED
