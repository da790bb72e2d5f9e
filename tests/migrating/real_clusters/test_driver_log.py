"""The states of Java's migration driver in a line of a real log of 3.9.1."""

from migrating.real_clusters.driver_log import driver_states

LOG = """\
18:50:55.882 [controller-3000-migration-driver-event-handler] INFO\
 org.apache.kafka.metadata.migration.KRaftMigrationDriver - [KRaftMigrationDriver id=3000] 3000\
 transitioning from UNINITIALIZED to INACTIVE state
18:50:55.994 [controller-3000-migration-driver-event-handler] INFO\
 org.apache.kafka.metadata.migration.KRaftMigrationDriver - [KRaftMigrationDriver id=3000] 3000\
 transitioning from INACTIVE to WAIT_FOR_CONTROLLER_QUORUM state
"""


def test_the_states_are_told_in_their_order() -> None:
    assert driver_states(LOG) == ["INACTIVE", "WAIT_FOR_CONTROLLER_QUORUM"]
