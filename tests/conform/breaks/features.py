"""Breaks of `features/kip-584`."""

from breaking import Break, gives_error
from kwire.messages.a57_update_features import UpdateFeaturesRequest

_UPDATED = gives_error(UpdateFeaturesRequest, 0)


BREAKS: dict[int, Break] = {
    **dict.fromkeys(range(5, 13), _UPDATED),
    13: gives_error(UpdateFeaturesRequest, 95),
}
