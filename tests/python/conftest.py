"""What pictures of a flow are drawn in: the package, in a folder of the test's own, and a notebook."""

import pytest

from tests.support import recording


@pytest.fixture
def monitorch(tmp_path, monkeypatch):
    package = recording.package()
    package.reset()
    monkeypatch.chdir(tmp_path)
    yield package
    package.reset()
    assert package.stop() is None


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    from tests.support.notebook import Notebook

    kernel = Notebook(tmp_path_factory.mktemp("notebook"))
    yield kernel
    kernel.stop()
