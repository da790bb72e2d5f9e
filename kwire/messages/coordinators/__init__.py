"""Records of the group, share and transaction coordinators' topics."""
