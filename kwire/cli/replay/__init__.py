"""`kwire replay`: recorded requests to a cluster, or recorded answers to clients."""
