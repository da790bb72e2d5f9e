"""The RPCs of KRaft, one file each: how a request is made, answered, and its answer taken.

`handle(replica, received, request, now)` gives the response, or None where it comes later.
`answered(replica, node, response, now)` is true where the next request may follow at once, false
where the peer shall have a pause. `request(...)` makes the request.
"""
