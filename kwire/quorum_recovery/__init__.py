"""Recovery of lost quorums: when the majority's disks are gone, or nobody finds anybody.

survivors = [read_survivor(Path("/var/lib/kafka/metadata"))]
plan = plan_recovery(survivors)
apply_recovery(plan, now)
"""
