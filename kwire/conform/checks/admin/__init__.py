"""Checks of what else admins ask: ACLs, quotas, users, tokens, directories, replicas."""
