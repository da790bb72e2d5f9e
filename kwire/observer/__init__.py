"""Metadata observer: follow a quorum's log into an image, without a vote.

async with LiveImage(["localhost:9093"]) as live:
    await live.until(lambda image: image.topics.topic("orders") is not None)

`Observer` is the same without IO: it says what to ask the leader, and is given what it answers.
"""

from kwire.observer.live_image import LiveImage
from kwire.observer.observer import NextStep, Observer

__all__ = ["LiveImage", "NextStep", "Observer"]
