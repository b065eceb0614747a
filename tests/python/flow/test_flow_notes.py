"""What the recorder tells beside events for flow pictures: arguments made up, the next event's number."""


import pytest

from tests.support import paths, recording, viewer

pytestmark = [
    pytest.mark.usefixtures("compiler_module"),
    pytest.mark.skipif(
        not list(paths.PACKAGE.glob("_recorder*.so")), reason="the recorder is not built (make)"
    ),
]


@pytest.fixture
def recorder():
    recording.package()
    from monitorch import _recorder

    return _recorder


def test_a_guess_is_noted(recorder, tmp_path):
    path = tmp_path / "run.mtrace"
    with recording.record(path) as running:
        running.is_quiet = True
        recorder.guess("Block.forward", "x", "randn(8, 8)")
        recorder.guess("f\tg", "\x1b[31m\n", "")
    trace = recording.read(path)
    assert [(n.tag, n.function, n.parameter, n.text) for n in trace.notes] == [
        ("guess", "Block.forward", "x", "randn(8, 8)"),
        ("guess", "f g", "\x1b[31m\n", ""),
    ]
    shown = viewer.run("show", path)
    assert shown.stdout.splitlines() == [
        "remark: Block.forward: the argument x was made up: randn(8, 8)",
        "remark: f g: the argument ?[31m? was made up: ",
    ]


def test_a_guess_outside_a_recording_is_nothing(recorder):
    recorder.guess("f", "x", "4")
    with pytest.raises(TypeError):
        recorder.guess("f", "x")


def test_events_are_counted_while_they_are_recorded(recorder, tmp_path):
    from monitorch import _instrument

    code, _ = _instrument.compile_source("a = 1\nb = a + 1\n", "program.py", all=True)
    assert recorder.event_count() == 0
    with recording.record(tmp_path / "run.mtrace"):
        assert recorder.event_count() == 0
        exec(code, {"__name__": "program"})
        assert recorder.event_count() == 2
        exec(code, {"__name__": "program"})
        assert recorder.event_count() == 4
    assert recorder.event_count() == 0
