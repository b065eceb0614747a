"""A saver; and an instrumented model that a saver watches."""

import pytest


@pytest.fixture
def saver(tmp_path):
    from monitorch.spy import TensorSaver

    return TensorSaver(tmp_path)


@pytest.fixture(scope="module")
def program(compiler_module):
    from tests.python.spy.watched import MODEL, load_module

    return load_module(MODEL)


@pytest.fixture
def model(program):
    import torch

    torch.manual_seed(0)
    return program.Model()
