"""Hide broker 2 from clients, as an address and as a leader."""

from kwire.messages.a03_metadata import MetadataResponse
from kwire.proxy import Call, Filter

HIDDEN = 2


class HideBroker(Filter):
    def on_metadata_response(self, response: MetadataResponse, call: Call) -> None:
        response.brokers = [one for one in response.brokers if one.node_id != HIDDEN]
        for topic in response.topics:
            for partition in topic.partitions:
                if partition.leader_id == HIDDEN:
                    partition.leader_id = -1
                    partition.error_code = 5  # LEADER_NOT_AVAILABLE
