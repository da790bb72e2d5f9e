"""The error of a recovery that the directories do not allow."""

from kwire.errors import LocalError


class RecoveryRefused(LocalError):
    """The directories make no quorum, are in use, or one can be had without; nothing was written.

    What a directory holds is no wrong value of the caller's, unlike an address that he gives.
    """
