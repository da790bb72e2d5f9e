"""A line for every command that asks a cluster, for tests that run all of them."""

from command_tree import asking

BROKER_LINES = """
acls add --allow-principal User:u --operation read --topic t
acls list
acls remove --principal User:u --yes
api-versions
brokers list
brokers unregister 1 --yes
cluster describe
cluster endpoints
cluster id
configs append topic t a=b
configs describe topics t
configs list
configs set topic t a=b
configs subtract topic t a=b
configs unset topic t a
features describe
features disable f --yes
features downgrade f=1 --yes
features upgrade f=1
groups delete g --yes
groups describe g
groups evict g --all --yes
groups forget g --topic t --yes
groups lag g
groups list
groups offsets g
groups seek g --to earliest --topic t --yes
logdirs describe
logdirs move t-0@1 --to /d
logdirs replicas t-0@1
partitions elect t-0
partitions offsets t-0
partitions reassign cancel --all --yes
partitions reassign plan t --rf 1
partitions reassignments
partitions trim t-0 --before 1 --yes
quorum add-controller 1
quorum forget 1 --yes
quorum remove-controller 1 --yes
quotas list
quotas set --user u producer_byte_rate=1
quotas unset --user u producer_byte_rate
request DescribeCluster
scram delete u --mechanism SCRAM-SHA-256 --yes
scram list
tokens create
tokens expire 00 --yes
tokens list
tokens renew 00
topics create t
topics delete t --yes
topics describe t
topics grow t --partitions 2
topics list
transactions abort t-0 --producer-id 1 --producer-epoch 0 --coordinator-epoch 0 --yes
transactions describe t
transactions fence t --yes
transactions find-hanging --broker 1
transactions list
transactions producers t-0
transactions terminate t --yes
"""

CONTROLLER_LINES = """
doctor
doctor --only quorum,partitions
export
log blame /
log history /
diff controllers:{at} controllers:{at}
quorum status
quorum replication
quorum check
quorum check --node 3000
quorum explain
quorum upgrade --plan
quorum replace 3000
quorum replace 3000 --dry-run
features describe
brokers list
cluster describe
configs describe brokers 3000
topics list --timeout 120
"""


def command_of(line: str) -> str:
    """Return the command that a line calls."""
    return next(path for path in asking() if f"{line} ".startswith(f"{path} "))
