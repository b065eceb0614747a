"""Instrumented sources keep their lines, their trees and, stripped, their bytes."""

import random

import pytest

from tests.properties.check_corpus import CORPORA, check_files
from tests.support import paths

pytestmark = pytest.mark.usefixtures("compiler_module")


def sample(files, count, seed=3):
    files = [f for f in files if f.stat().st_size < 200_000]
    return random.Random(seed).sample(files, min(count, len(files)))


def assert_clean(files, jobs=1, elsewhere=None, every_line=False):
    totals, lines = check_files(files, jobs, elsewhere, every_line)
    print(totals.line(), *lines, sep="\n")
    assert not totals.problems, "\n".join(totals.problems[:20])
    assert totals.changed > totals.files * 0.5
    assert totals.skipped <= totals.functions * 0.001


def test_sample_of_standard_library():
    assert_clean(sample(paths.stdlib_files(), 200), elsewhere=40)


def test_sample_of_torch():
    files = paths.package_files("torch")
    if not files:
        pytest.skip("torch is not installed")
    assert_clean(sample(files, 100), elsewhere=20)


def test_sample_with_every_line():
    assert_clean(sample(paths.stdlib_files(), 100, seed=4), elsewhere=40, every_line=True)


@pytest.mark.slow
@pytest.mark.parametrize("every_line", [False, True])
@pytest.mark.parametrize("corpus", CORPORA)
def test_everything(corpus, every_line):
    files = CORPORA[corpus]()
    if not files:
        pytest.skip(f"{corpus} is not installed")
    assert_clean(files, jobs=2, every_line=every_line)
