"""The pages of four programs in a real browser: axe-core finds nothing serious, and the console is empty.

axe-core is fetched by `make`, and only where there is a Chromium; without either the tests skip.
"""

import os
import pathlib

import pytest

from tests.support import browser, compiler, warm
from tests.view.page import four_pages

pytestmark = [
    pytest.mark.skipif(compiler.EXTENSION is None, reason="not built (make)"),
    pytest.mark.torch,
]
AXE = pathlib.Path(os.environ.get("MONITORCH_BUILD", "build"), "axe/package/axe.min.js")
RUN = """
axe.run(document, {resultTypes: ["violations"]}).then((found) => found.violations
    .filter((one) => one.impact === "serious" || one.impact === "critical")
    .map((one) => one.id + ": " + one.nodes.map((node) => node.html.slice(0, 200)).join("\\n")))
"""
#: Steps or processes of the quick tests; the pictures under samples/pictures are of 500 steps and 4 processes.
COUNTS = {"training": 20, "ranks": 2}


@pytest.fixture(scope="module")
def window():
    if browser.PROGRAM is None:
        pytest.skip("no chromium")
    if not AXE.exists():
        pytest.skip("no axe-core")
    opened = browser.Browser()
    yield opened
    opened.close()


@pytest.fixture(scope="module", params=list(four_pages.PROGRAMS))
def page(request, window, tmp_path_factory):
    pytest.importorskip("torch")
    folder = tmp_path_factory.mktemp(request.param)
    return four_pages.write(request.param, folder, warm.python(), COUNTS.get(request.param, 0))


@pytest.mark.parametrize("width, is_dark", [(1280, False), (1280, True), (400, True), (2560, False)])
def test_nothing_serious_is_found(window, page, width, is_dark):
    window.errors.clear()
    window.open(page, width=width, dark=is_dark)
    window.press("n")
    window.press("?")
    window.call("Runtime.evaluate", expression=AXE.read_text())
    assert window.do(RUN) == []
    assert window.do("document.documentElement.scrollWidth") <= width
    assert window.errors == []
