"""The table of causes, the most telling first: of two in the same moments, the first is named.

The words are those of Kafka 3.9.1, 4.3.1 and 4.4.0, taken from logs of nodes that were brought into
each state (fixtures/stuck_quorums; excerpts are in tests/quorum_story/logs). A fix is
written without the options that name the cluster.
"""

from __future__ import annotations

from kwire.doctor.finding import fix
from kwire.quorum_story.cause import Cause, CauseRole

ENDS, BEGINS = CauseRole.ENDS_LEADERSHIP, CauseRole.BEGINS_ELECTION
HINDERS, STOPS, REMARK = CauseRole.HINDERS, CauseRole.STOPS, CauseRole.REMARK

_RAFT = ("[RaftManager ",)
_START = "start controller {node} again"
_CHECK = "kwire quorum check"
_LOST = fix("kwire storage recover", when="if the disks of most voters are lost")

DISK = (
    Cause(
        id="disk.full",
        role=STOPS,
        meaning="The disk of controller {node} is full, so that it cannot write the metadata log.",
        words=("No space left on device",),
        fixes=(fix("free space on the disk of controller {node}", _START, _CHECK),),
    ),
    Cause(
        id="disk.read-only",
        role=STOPS,
        meaning="Controller {node} may not write into its metadata directory.",
        words=("Read-only file system", "Permission denied", "AccessDeniedException"),
        among=("Exception", "Failed to", "Error"),
        fixes=(fix("give Kafka's user the right to write into the directory", _START, _CHECK),),
    ),
    Cause(
        id="disk.directory-gone",
        role=STOPS,
        meaning="Controller {node} could not write quorum-state: its metadata directory is gone.",
        words=("Error while writing the Quorum status",),
        among=("No such file or directory", "NoSuchFileException"),
        fixes=(
            fix("put the directory back, or mount its disk", _START, _CHECK),
            fix(
                "format it as for a new node",
                "kwire quorum replace {node}",
                when="if its data are lost",
            ),
        ),
    ),
    Cause(
        id="disk.io-error",
        role=STOPS,
        meaning="The disk of controller {node} failed under the metadata log.",
        words=(
            "Input/output error",
            "Encountered I/O error in metadata log directory",
            "KafkaStorageException",
        ),
        fixes=(
            fix(
                "replace the disk of controller {node} and format it as for a new node",
                "kwire quorum replace {node}",
            ),
        ),
    ),
    Cause(
        id="disk.log-cut",
        role=REMARK,
        meaning="The log of controller {node} had damaged records, and Kafka cut it off there. The"
        " node fetches the rest from the leader again.",
        words=("Found invalid messages in log segment", "Corruption found in segment"),
        fixes=(fix("kwire quorum replication", "look for errors of its disk"),),
    ),
    Cause(
        id="disk.torn-snapshot",
        role=STOPS,
        meaning="Controller {node} cannot use its snapshot: it is torn, and records are missing.",
        words=("Error while loading snapshot", "Unknown metadata version for FeaturesImage"),
        fixes=(
            fix(
                "move the directory away and format it as for a new node",
                "kwire quorum replace {node}",
            ),
        ),
    ),
    Cause(
        id="disk.corrupt",
        role=STOPS,
        meaning="The metadata log of controller {node} has damaged records.",
        words=("CorruptRecordException", "CorruptIndexException", "InvalidRecordException"),
        fixes=(
            fix(
                "kwire log dump __cluster_metadata-0",
                "move the directory away and format it as for a new node",
                "kwire quorum replace {node}",
            ),
        ),
    ),
)

START = (
    Cause(
        id="start.port-in-use",
        role=STOPS,
        meaning="Another process has the port of controller {node}.",
        words=("Address already in use", "Socket server failed to bind"),
        fixes=(fix("end the process that listens there, or take another port", _START, _CHECK),),
    ),
    Cause(
        id="start.locked",
        role=STOPS,
        meaning="Another process uses the directory of controller {node}; its .lock is held.",
        words=("Failed to acquire lock on file .lock",),
        fixes=(fix("stop the other process, mostly the same node started twice", _CHECK),),
    ),
    Cause(
        id="start.not-formatted",
        role=STOPS,
        meaning="The directory of controller {node} is not formatted.",
        words=("No `meta.properties` found", "No readable meta.properties files found"),
        fixes=(
            fix(
                "kwire storage format --no-initial-controllers -c server.properties -t CLUSTER",
                _START,
                when="if the node is new, with the id that kwire cluster id prints",
            ),
            fix("mount the directory that it had", _START, when="if it ran before"),
        ),
    ),
    Cause(
        id="start.node-id-mismatch",
        role=STOPS,
        meaning="The directory of controller {node} belongs to another node id.",
        words=("Stored node id ", "Stored broker id "),
        fixes=(fix("give the node the directory of its own id", _START, _CHECK),),
    ),
    Cause(
        id="start.cluster-id-mismatch",
        role=STOPS,
        meaning="The directories of controller {node} belong to different clusters.",
        words=("Invalid cluster.id in", "InconsistentClusterIdException"),
        fixes=(fix("give the node the directories of this cluster", _START, _CHECK),),
    ),
    Cause(
        id="start.newer-release",
        role=STOPS,
        meaning="Controller {node} runs a release that is older than the metadata: it does not know"
        " metadata.version {level}.",
        words=("No MetadataVersion with feature level",),
        detail=r"feature level (?P<level>\d+)",
        fixes=(fix("start controller {node} with the release that the others run", _CHECK),),
    ),
    Cause(
        id="start.configuration",
        role=STOPS,
        meaning="Controller {node} refuses its configuration: {reason}",
        words=("ConfigException", "requirement failed:"),
        detail=r"(?:ConfigException: |requirement failed: )(?P<reason>[^\n]{1,300})",
        fixes=(
            fix("correct server.properties", "kwire storage info -c server.properties", _START),
        ),
    ),
)

STOP = (
    Cause(
        id="stop.out-of-memory",
        role=STOPS,
        meaning="Controller {node} had no memory left.",
        words=("OutOfMemoryError",),
        fixes=(fix("give its JVM more memory by KAFKA_HEAP_OPTS", _START, _CHECK),),
    ),
    Cause(
        id="stop.fatal-fault",
        role=STOPS,
        meaning="Controller {node} ended itself by a fatal fault: {reason}",
        words=("Encountered fatal fault:", "Exiting Kafka due to fatal exception"),
        detail=r"(?:fatal fault: |fatal exception)(?P<reason>[^\n]{0,200}(?:\n[^\n\t]{1,200})?)",
        fixes=(fix(_START, "kwire doctor"),),
    ),
    Cause(
        id="stop.unclean",
        role=STOPS,
        meaning="Controller {node} started anew, and its log has no end of the run before: it was"
        " killed (SIGKILL, out of memory), or lost power.",
        fixes=(fix("look into the system's log for an end by the kernel", _CHECK),),
    ),
    Cause(
        id="stop.signal",
        role=STOPS,
        meaning="Somebody stopped controller {node} by {signal}.",
        words=("Terminating process due to signal",),
        detail=r"signal (?P<signal>\w+)",
        fixes=(fix("kwire quorum check --without {node}", when="before it is stopped again"),),
    ),
    Cause(
        id="stop.orderly",
        role=STOPS,
        meaning="Controller {node} was stopped in an orderly way.",
        words=("Beginning graceful shutdown",),
        among=_RAFT,
        fixes=(fix("kwire quorum check --without {node}", when="before it is stopped again"),),
    ),
)

CLUSTER = (
    Cause(
        id="cluster.id-mismatch",
        role=HINDERS,
        meaning="Controller {node} speaks with nodes of another cluster.",
        words=("INCONSISTENT_CLUSTER_ID",),
        codes=("INCONSISTENT_CLUSTER_ID",),
        fixes=(
            fix(
                "kwire cluster id",
                "correct its controller.quorum.bootstrap.servers, or format it with this id",
                _START,
            ),
        ),
    ),
    Cause(
        id="voters.inconsistent",
        role=HINDERS,
        meaning="Controller {node} and the others name different voters.",
        words=("INCONSISTENT_VOTER_SET",),
        codes=("INCONSISTENT_VOTER_SET",),
        fixes=(
            fix(
                "kwire quorum status",
                "make controller.quorum.voters the same on every node",
                _START,
            ),
        ),
    ),
    Cause(
        id="voters.other-directory",
        role=HINDERS,
        meaning="Others know controller {voter} with another directory id: its disk was replaced or"
        " formatted anew, so that it votes no more.",
        words=("match the local key",),
        detail=r"ReplicaKey\(id=(?P<voter>\d+).*match the local key \(OptionalInt\[(?P=voter)\]",
        fixes=(fix("kwire quorum replace {voter}", _CHECK),),
    ),
    Cause(
        id="voters.other-id",
        role=HINDERS,
        meaning="Another node takes controller {local} for voter {voter}: their lists of voters"
        " differ.",
        words=("match the local key",),
        detail=r"ReplicaKey\(id=(?P<voter>\d+).*the local key \(OptionalInt\[(?P<local>\d+)\]",
        fixes=(fix("make controller.quorum.voters the same on every node", _START),),
    ),
    Cause(
        id="voters.refused-key",
        role=HINDERS,
        meaning="The node at {address} refuses to be voter {voter} as controller {node} knows it:"
        " its disk was formatted anew, or the lists of voters differ.",
        words=("match the receiver's replica key",),
        detail=r"replica key: (?P<address>\S{1,255}) \(id: (?P<voter>\d+)",
        codes=("INVALID_VOTER_KEY",),
        fixes=(
            fix("kwire quorum replace {voter}", _CHECK, when="if its disk was formatted anew"),
            fix(
                "make controller.quorum.voters the same on every node",
                _START,
                when="if the voters are static",
            ),
        ),
    ),
    Cause(
        id="voters.forgotten",
        role=HINDERS,
        meaning="Node {node} cannot reach the leader that it follows: it truncated its log in the"
        " first elections and forgot the voters' addresses (decision 50; Kafka 3.9.1 to 4.4.0).",
        words=("channel manager timed out before sending the request",),
        after=("Truncated to offset 0 from ",),
        fixes=(fix("start node {node} again: its log is then read anew", _CHECK),),
    ),
    Cause(
        id="join.by-itself",
        role=REMARK,
        meaning="Controller {voter} left the voters and was one again {seconds} s later, with the"
        " same directory id: it joins by itself, or somebody added it.",
        fixes=(
            fix(
                "stop controller {voter}, or set controller.quorum.auto.join.enable to false there",
                "kwire quorum remove-controller {voter}",
                when="if it is to stay away",
            ),
        ),
    ),
    Cause(
        id="join.lagging",
        role=HINDERS,
        meaning="The leader did not take a new voter: it was too far behind, or did not answer.",
        words=("Aborting add voter operation", "Aborted add voter operation"),
        fixes=(fix("kwire quorum replication", "kwire quorum add-controller {voter}"),),
        detail=r"(?:ReplicaKey\(id=(?P<voter>\d+))?",
    ),
)

NETWORK = (
    Cause(
        id="network.dns",
        role=HINDERS,
        meaning="Controller {node} cannot resolve {host}.",
        words=("Couldn't resolve server", "UnknownHostException"),
        detail=r"(?:Couldn't resolve server |UnknownHostException: )(?P<host>[^\s,]{0,255}[^\s,:])",
        fixes=(fix("make the name resolve on controller {node}", "kwire doctor --only endpoints"),),
    ),
    Cause(
        id="network.certificate-expired",
        role=HINDERS,
        meaning="A certificate that controller {node} saw or showed is expired.",
        words=("CertificateExpiredException", "NotAfter:", "certificate_expired"),
        fixes=(fix("renew the certificate", "kwire doctor --only security"),),
    ),
    Cause(
        id="network.certificate-refused",
        role=HINDERS,
        meaning="Controller {node} and another one do not trust each other's certificate.",
        words=(
            "PKIX path building failed",
            "certificate_unknown",
            "unknown_ca",
            "No subject alternative",
            "No name matching",
        ),
        fixes=(fix("compare truststore, keystore and host names", "kwire doctor --only security"),),
    ),
    Cause(
        id="network.tls-handshake",
        role=HINDERS,
        meaning="Controller {node} and another one end the TLS handshake without a connection.",
        words=("SSL handshake failed", "Failed to process post-handshake messages"),
        fixes=(
            fix(
                "see if a certificate has expired; compare keystores and truststores",
                "kwire doctor --only security",
            ),
        ),
    ),
    Cause(
        id="network.authentication",
        role=HINDERS,
        meaning="Controller {node} is refused at the login, or refuses another one.",
        words=(
            "failed authentication due to",
            "Failed authentication with",
            "due to authentication error",
        ),
        fixes=(fix("compare the JAAS configuration of both", "kwire doctor --only security"),),
    ),
    Cause(
        id="network.refused",
        role=HINDERS,
        meaning="Controller {node} cannot connect to {peer}: nobody listens there.",
        words=("could not be established. Node may not be available",),
        among=_RAFT,
        detail=r"Connection to node -?\d+ \(/?(?P<peer>[^)]{1,255})\)",
        fixes=(
            fix(
                "start the node at {peer}, or correct its address", "kwire doctor --only endpoints"
            ),
        ),
    ),
    Cause(
        id="network.timeout",
        role=HINDERS,
        meaning="Controller {node} waited in vain for an answer of node {peer_id}.",
        words=("due to request timeout", "due to socket connection setup timeout"),
        among=_RAFT,
        detail=r"node (?P<peer_id>-?\d+)",
        fixes=(fix("kwire doctor --only endpoints,quorum"),),
    ),
    Cause(
        id="network.disconnected",
        role=HINDERS,
        meaning="Controller {node} lost the connection to {peer} before it was answered.",
        words=("Unexpected error NETWORK_EXCEPTION in",),
        detail=r"source=(?P<peer>[^ ,)]{1,255})",
        fixes=(fix("kwire doctor --only endpoints,quorum"),),
    ),
)

QUORUM = (
    Cause(
        id="voters.recovered",
        role=ENDS,
        meaning="kwire storage recover made a quorum of {voters}: its record begins an epoch.",
        fixes=(fix(_CHECK, "kwire quorum status"),),
    ),
    Cause(
        id="leader.lost-majority",
        role=ENDS,
        meaning="Leader {node} gave up: no majority of the voters fetched from it within {ms} ms.",
        words=("Did not receive fetch request from the majority of the voters within",),
        detail=r"within (?P<ms>\d+)ms",
        fixes=(fix("kwire quorum check", "kwire doctor --only endpoints,quorum"), _LOST),
    ),
    Cause(
        id="leader.removed",
        role=ENDS,
        meaning="Leader {node} gave up, since it was removed from the voters.",
        words=("Leader is not in the committed voter set",),
        fixes=(fix("kwire quorum status"),),
    ),
    Cause(
        id="leader.asked-to-resign",
        role=ENDS,
        meaning="The controller on leader {node} gave up by itself, mostly after a fault.",
        words=("Received user request to resign from the current epoch",),
        detail=r"current epoch (?P<epoch>\d+)",
        fixes=(fix("kwire doctor"),),
    ),
    Cause(
        id="election.fetch-timeout",
        role=BEGINS,
        meaning="Follower {node} got no answer of the leader within its fetch timeout.",
        words=("state due to fetch timeout", "Become candidate due to fetch timeout"),
        fixes=(fix("kwire quorum replication", "kwire doctor --only endpoints,quorum"),),
    ),
    Cause(
        id="election.no-majority",
        role=HINDERS,
        meaning="Controller {node} asked for votes and got no majority.",
        words=(
            "Insufficient remaining votes to become",
            "Election timed out before receiving sufficient vote responses",
            "Election has timed out",
            "Election was not granted",
        ),
        fixes=(fix("kwire quorum check", "start the voters that are down"), _LOST),
    ),
    Cause(
        id="election.log-behind",
        role=HINDERS,
        meaning="A candidate was refused because its log is behind that of controller {node}.",
        words=("log is not up to date with us",),
        fixes=(fix("kwire quorum replication"),),
    ),
    Cause(
        id="leader.not-reached",
        role=HINDERS,
        meaning="Node {node} could not register: it knew no leader, or could not connect to it.",
        words=("channel manager timed out before sending the request",),
        fixes=(fix(_CHECK, "kwire doctor --only endpoints,quorum"),),
    ),
    Cause(
        id="controller.slow-event",
        role=HINDERS,
        meaning="The active controller {node} took {ms} ms for an event, {event}: its disk or"
        " processor was busy, or it was suspended.",
        words=("Exceptionally slow controller event",),
        detail=r"event (?P<event>\w+)(?:\(\d+\))? took (?P<ms>\d+) ms",
        fixes=(fix("look for a busy disk, long pauses of the JVM, or a suspended machine"),),
    ),
    Cause(
        id="voters.lost-records",
        role=REMARK,
        meaning="The log of controller {voter} is shorter than it was: its disk was replaced, or"
        " lost what was not flushed.",
        words=("Detected non-monotonic update of fetch offset",),
        detail=r"nodeId (?:ReplicaKey\(id=)?(?P<voter>\d+)",
        fixes=(fix("kwire quorum replication"),),
    ),
    Cause(
        id="clock.jump",
        role=REMARK,
        meaning="The clock of controller {node} jumped back by {seconds} s.",
        fixes=(fix("let NTP slew the clock instead of stepping it"),),
    ),
)

CAUSES: tuple[Cause, ...] = (*DISK, *START, *STOP, *CLUSTER, *NETWORK, *QUORUM)

EXPECTED = (
    "Performing controller activation.",
    "Renouncing the leadership due to a metadata log event.",
    "Graceful shutdown timed out",
    "Graceful shutdown of RaftClient failed",
    "Attempting to close NetworkClient that has already been closed",
    "Unexpected error handling request",
    "Updated the log level of ",
)
"""Warnings and errors that an orderly node writes, too: nothing is to be shown of them."""

EARLIER = frozenset(words for cause in CAUSES for words in cause.after)
"""Words that show a cause only together with a later entry."""

WORDS = tuple((word, cause) for cause in CAUSES for word in cause.words)
"""All words with their cause: one pass over them costs a tenth of asking each cause."""

BY_ID = {cause.id: cause for cause in CAUSES}
RANK = {cause.id: number for number, cause in enumerate(CAUSES)}
"""Of two causes, the more telling has the lower number."""
