"""Kafka's log levels are those of Python's root logger and of kwire's loggers."""

import asyncio
import logging
from collections.abc import Iterator
from functools import partial

import pytest

from kwire.admin import AdminClient
from kwire.admin.configs import ConfigChange
from kwire.controller.server.metadata.metadata_runtime import MetadataRuntime
from kwire.controller.server.runtime_loggers import RuntimeLoggers
from kwire.messages.config_resource import ConfigResource, ConfigSource, ResourceType
from kwire.testing.quorum import Quorum

NAME = "kwire.controller.server"


@pytest.fixture(autouse=True)
def _levels_stay() -> Iterator[None]:
    loggers = [logging.root, logging.getLogger(NAME)]
    before = [logger.level for logger in loggers]
    yield
    for logger, level in zip(loggers, before, strict=True):
        logger.setLevel(level)


@pytest.mark.parametrize(
    ("level", "word"),
    [
        (1, "TRACE"),
        (5, "TRACE"),
        (logging.DEBUG, "DEBUG"),
        (15, "DEBUG"),
        (logging.INFO, "INFO"),
        (logging.WARNING, "WARN"),
        (logging.ERROR, "ERROR"),
        (logging.CRITICAL, "FATAL"),
        (logging.CRITICAL + 1, "FATAL"),
    ],
)
def test_a_level_has_the_word_of_kafkas_that_lets_as_much_through(level: int, word: str) -> None:
    logging.root.setLevel(level)
    levels = RuntimeLoggers().levels()
    assert (levels["root"], levels[NAME]) == (word, word)
    RuntimeLoggers().set({"root": word})
    assert RuntimeLoggers().levels()["root"] == word


def test_a_logger_has_the_level_of_the_one_above_it_until_it_gets_its_own() -> None:
    logging.root.setLevel(logging.WARNING)
    loggers = RuntimeLoggers()
    loggers.set({NAME: "DEBUG"})
    assert loggers.levels()[f"{NAME}.listener"] == "DEBUG"
    loggers.set({NAME: None})
    assert loggers.levels()[f"{NAME}.listener"] == "WARN"
    names = loggers.levels().keys() - {"root"}
    assert all(name.split(".")[0] == "kwire" for name in names)


def _knows_both(metadata: MetadataRuntime) -> bool:
    return len(metadata.image.cluster.controllers) == 2


async def test_log_levels_are_read_and_set_at_every_controller() -> None:
    """The exception that KIP-919 names."""
    async with Quorum(2) as quorum:
        for node in quorum.nodes.values():
            registered = node.metadata.until(partial(_knows_both, node.metadata))
            await asyncio.wait_for(registered, 60)
        async with AdminClient(bootstrap_controllers=quorum.bootstrap_controllers) as admin:
            for id in quorum.addresses:
                logging.getLogger(NAME).setLevel(logging.NOTSET)
                loggers = ConfigResource(ResourceType.BROKER_LOGGER, str(id))
                change = ConfigChange(name=NAME, value="DEBUG")
                (await admin.incremental_alter_configs({loggers: [change]})).all()
                entry = (await admin.describe_configs([loggers]))[loggers][NAME]
                assert (entry.value, entry.source) == (
                    "DEBUG",
                    ConfigSource.DYNAMIC_BROKER_LOGGER,
                )
                assert logging.getLogger(f"{NAME}.listener").isEnabledFor(logging.DEBUG)
