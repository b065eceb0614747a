"""Traces that several commands are shown."""

import pytest

from tests.trace import scenarios


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("traces")


@pytest.fixture(scope="module")
def nested(folder):
    return scenarios.nested_calls().write(folder / "nested.mtrace")
