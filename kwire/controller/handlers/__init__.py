"""What the active controller answers, one file an API.

A handler is a function of the state, the request and the time: it changes nothing, it gives back
records and a response.
"""
