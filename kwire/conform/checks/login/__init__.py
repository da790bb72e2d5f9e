"""Checks that nothing is answered or carried out before a login is complete, API by API."""
