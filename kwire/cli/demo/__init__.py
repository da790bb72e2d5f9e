"""`kwire demo`: a quorum, administered through kwire's proxy."""
