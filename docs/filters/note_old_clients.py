"""Note requests in a version that Kafka 4 dropped, in the flows that viewers see."""

from kwire.codec.declaration import Request
from kwire.proxy import Call, Filter

OLDEST = {"Produce": 3, "Fetch": 4, "JoinGroup": 2, "OffsetCommit": 2, "CreateTopics": 2}


class NoteOldClients(Filter):
    apis = frozenset(OLDEST)

    def on_request(self, request: Request, call: Call) -> None:
        oldest = OLDEST[call.flow.api]
        if call.version < oldest:
            call.note(f"Kafka 4 takes {call.flow.api} from version {oldest} on")
