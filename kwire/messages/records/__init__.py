"""Records of the cluster metadata log and of the remote log metadata topic."""
