"""Which line made a NaN or an infinity of a training: `why` is right in every program, and the table of
docs/explanation/verdicts.md, beside autograd's anomaly mode, is true."""

import re

import pytest

from tests.support import paths
from tests.verdicts import anomaly_table, backward_programs, repro, training_programs

pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("compiler_module")]

PAGE = (paths.ROOT / "docs" / "explanation" / "verdicts.md").read_text()


@pytest.mark.parametrize("name", anomaly_table.PROGRAMS)
def test_the_line(tmp_path, name):
    answer, row = anomaly_table.measure(name, tmp_path)
    assert answer.is_right, answer.text
    assert f"\n{row}\n" in PAGE, row
    if name not in training_programs.BROKEN and name not in training_programs.HELD:
        is_step = "written by the call" in answer.text
        says = "a call that writes to parameters" if is_step else backward_programs.NO_SCRIPT.get(name)
        repro.check(tmp_path / "why", says)


@pytest.mark.parametrize("name", training_programs.OPEN)
@pytest.mark.xfail(reason="a write to an argument of a call whose result is used is not seen", strict=True)
def test_open(tmp_path, name):
    assert anomaly_table.why(tmp_path, training_programs.OPEN[name]).is_right


def test_the_page_counts_its_rows():
    table = PAGE.split(anomaly_table.HEAD)[1].split("\n\n")[0]
    rows = re.findall(r"^\|.*\|$", table, re.MULTILINE)
    assert [row.split("|")[1].strip() for row in rows] == list(anomaly_table.PROGRAMS)
    assert anomaly_table.count(rows) in " ".join(PAGE.split())
    assert len(rows) >= 24
