"""Plans of partition reassignments (KIP-455): pure functions from a layout to replica lists.

layout -> drain, replication_factor, spread -> plan -> json_file. Nothing here asks a cluster.
"""
