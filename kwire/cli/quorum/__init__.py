"""`kwire quorum`: the metadata quorum and its voters."""
