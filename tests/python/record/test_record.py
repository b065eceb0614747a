"""Recording as a program asks for it: its options, its beginnings and ends, its children."""

import json
import os
import signal
import subprocess
import sys
import textwrap

import pytest

from tests.support import compiler, paths, recording, viewer, warm

pytestmark = [
    pytest.mark.usefixtures("compiler_module"),
    pytest.mark.skipif(
        not list(paths.PACKAGE.glob("_recorder*.so")), reason="the recorder is not built (make)"
    ),
]


MODEL = """
import time

def double(x):
    y = x * 2
    return y

def count(n):
    total = 0
    for i in range(n):
        total += i
        yield total

def run(during, x=1):
    a = x + 1
    during()
    b = a + 1
    return b

def forever(flag):
    turns = 0
    while not flag:
        turns = turns + 1
        time.sleep(0.001)
    return turns

class Box:
    def __init__(self, value):
        self.value = value

    def fail(self):
        step = self.value
        raise KeyError(step)
"""


@pytest.fixture
def folder(tmp_path):
    """A folder that holds an instrumented module, `model`, and no source of it."""
    text = compiler.instrument(MODEL.encode(), "model_source.py", all=True).text
    (tmp_path / "model.py").write_bytes(text)
    return tmp_path


def run(folder, program, *, code=0, python=sys.executable, **variables):
    """Runs a program in the folder; what it printed, and what it complained of."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("MONITORCH")}
    environment.update(PYTHONPATH=str(paths.PYTHON_PATH), PYTHONDONTWRITEBYTECODE="1")
    environment.update(variables)
    script = folder / "script.py"
    script.write_text(textwrap.dedent(program))
    done = recording.run_python(script, python=python, folder=folder, env=environment)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout, done.stderr


def show(trace):
    """What `monitorch show --json` tells: one dictionary a line."""
    done = viewer.run("show", "--json", trace)
    assert done.returncode == 0 or "no events" in done.stderr, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def events(trace):
    return [item for item in show(trace) if item["record"] == "event"]


def values(trace, name):
    """The numbers that were recorded for a name, in order."""
    return [item["value"] for item in events(trace) if item["name"] == name]


# In the program ---------------------------------------------------------------------------


def test_context_manager(folder):
    run(
        folder,
        """
        import monitorch, model
        model.double(1)
        with monitorch.record("run.mtrace") as recording:
            assert recording.is_active and recording.summary is None
            model.double(2)
            model.double(3)
        model.double(4)
        summary = recording.summary
        assert not recording.is_active and recording.path == summary.path == "run.mtrace"
        assert summary.paths == ["run.mtrace"] and summary.lost == 0 and summary.stopped is None
        assert summary.events == 6, summary
        import os
        assert summary.size == os.path.getsize("run.mtrace")
        """,
    )
    assert values(folder / "run.mtrace", "y") == [4, 6]


def test_start_and_stop(folder):
    run(
        folder,
        """
        import monitorch, model
        recording = monitorch.record("run.mtrace")
        model.double(1)
        assert recording.start() is recording
        model.double(2)
        summary = recording.stop()
        assert summary is recording.stop() is recording.summary and summary.events == 3
        model.double(3)
        try:
            recording.start()
        except RuntimeError as error:
            assert "run.mtrace" in str(error) and "has ended" in str(error)
        else:
            raise AssertionError
        assert monitorch.stop() is None
        with monitorch.record("other.mtrace") as other:
            model.double(4)
            assert monitorch.stop() is other.summary
            model.double(5)
        assert other.summary.events == 3
        """,
    )
    assert values(folder / "run.mtrace", "y") == [4]
    assert values(folder / "other.mtrace", "y") == [8]


def test_one_recording_at_a_time(folder):
    run(
        folder,
        """
        import monitorch, model
        prepared = monitorch.record("b.mtrace")
        with monitorch.record("a.mtrace"):
            for refused in (prepared.start, lambda: monitorch.record("c.mtrace")):
                try:
                    refused()
                except RuntimeError as error:
                    assert "a.mtrace" in str(error), error
                else:
                    raise AssertionError
            model.double(1)
        with prepared:
            model.double(2)
        """,
    )
    assert values(folder / "a.mtrace", "y") == [2]
    assert values(folder / "b.mtrace", "y") == [4]
    assert not (folder / "c.mtrace").exists()


WRONG_OPTIONS = [
    ("sample=-1", "ValueError", "sample must be at least 0, not -1"),
    ("sample=100_000", "ValueError", "sample must be at most 1024"),
    ("sample=1.5", "TypeError", "sample must be a whole number, not 1.5"),
    ("last=0", "ValueError", "last must be at least 1, not 0"),
    ("last=True", "TypeError", "last must be a whole number, not True"),
    ("every=0", "ValueError", "every must be at least 1"),
    ("stats=1", "TypeError", "stats must be True or False, not 1"),
    ("hash=None", "TypeError", "hash must be True or False, not None"),
    ("values=3", "TypeError", "values must be None, 'all', or names"),
    ("values=['q', 3]", "TypeError", "3 is no name"),
    ("threads='one'", "ValueError", "threads must be 'all' or 'current', not 'one'"),
    ("compile=None", "TypeError", "compile must be 'break' or 'skip', not None"),
    ("size_limit='2 bits'", "ValueError", "size_limit must be a size such as '2G'"),
    ("size_limit=-1", "ValueError", "size_limit must be at least 1"),
    ("size_limit='inf'", "ValueError", "size_limit must be a size"),
    ("max_elements='x'", "TypeError", "max_elements must be a whole number"),
    ("colour=1", "TypeError", "colour"),
]


def test_wrong_options(folder):
    program = "import monitorch\n"
    for options, kind, _ in WRONG_OPTIONS:
        program += (
            f"try: monitorch.record('run.mtrace', {options})\n"
            f"except {kind} as error: print(error)\n"
            f"else: raise AssertionError({options!r})\n"
        )
    out, err = run(folder, program)
    assert not err
    lines = out.splitlines()
    assert len(lines) == len(WRONG_OPTIONS)
    for line, (_, _, expected) in zip(lines, WRONG_OPTIONS):
        assert expected in line
    assert not (folder / "run.mtrace").exists()


def test_right_options(folder):
    run(
        folder,
        """
        import monitorch, model, pathlib
        for number, options in enumerate([
            dict(sample=0), dict(last=1000), dict(stats=False, hash=False), dict(values="all"),
            dict(values="y"), dict(values=("y", "t*")), dict(every=3), dict(threads="current"),
            dict(max_elements=10), dict(size_limit="1.5 MiB"), dict(size_limit=1 << 30),
            dict(size_limit="2gb"), dict(compile="skip"),
        ]):
            with monitorch.record(pathlib.Path(f"{number}.mtrace"), **options) as recording:
                model.double(number)
            assert recording.summary.events == 3, options
        with monitorch.record(b"bytes.mtrace"):
            pass
        """,
    )
    assert (folder / "bytes.mtrace").exists()


def test_paths_that_cannot_be_written(folder):
    (folder / "file").write_text("a program of the user's")
    os.mkfifo(folder / "pipe")
    run(
        folder,
        """
        import monitorch
        for path, kind in {
            "missing/run.mtrace": FileNotFoundError,
            "/nowhere/at/all/run.mtrace": FileNotFoundError,
            ".": IsADirectoryError,
            "file/run.mtrace": NotADirectoryError,
            "x" * 300: OSError,
            "file": FileExistsError,
            "pipe": OSError,
            "/dev/null": OSError,
        }.items():
            try:
                monitorch.record(path)
            except kind as error:
                assert error.filename == path and error.errno, error
            else:
                raise AssertionError(path)
        for path, kind in {"": ValueError, "a\\0b": ValueError, 3: TypeError, None: TypeError}.items():
            try:
                monitorch.record(path)
            except kind:
                pass
            else:
                raise AssertionError(path)
        """,
    )
    assert sorted(os.listdir(folder)) == ["file", "model.py", "pipe", "script.py"]
    assert (folder / "file").read_text() == "a program of the user's"


def test_a_file_that_another_process_writes(folder):
    run(
        folder,
        """
        import monitorch, model, subprocess, sys
        with monitorch.record("run.mtrace"):
            model.double(1)
            other = subprocess.run([sys.executable, "-c", '''
        import monitorch
        try:
            monitorch.record("run.mtrace").start()
        except OSError as error:
            assert "run.mtrace" in str(error), error
            print(error.errno)
        '''.replace("        ", "", 1).replace("\\n        ", "\\n")], capture_output=True, text=True)
            assert other.stdout.strip() == "16", other
            model.double(2)
        """,
    )
    assert values(folder / "run.mtrace", "y") == [2, 4]


def test_not_started(folder):
    _, err = run(folder, "import monitorch\nmonitorch.record('run.mtrace')\n")
    assert "RuntimeWarning" in err and "start()" in err and "script.py:2" in err
    assert not (folder / "run.mtrace").exists()


def test_exceptions_pass_unchanged(folder):
    run(
        folder,
        """
        import monitorch, model
        raised = None
        try:
            with monitorch.record("run.mtrace") as recording:
                try:
                    model.Box(3).fail()
                except KeyError as error:
                    raised = error
                    raise
        except KeyError as error:
            assert error is raised and error.args == (3,)
            assert error.__context__ is None and error.__cause__ is None
            frames = []
            trace = error.__traceback__
            while trace:
                frames.append(trace.tb_frame.f_code.co_name)
                trace = trace.tb_next
            assert frames == ["<module>", "fail"], frames
        assert recording.summary.events > 3
        """,
    )
    assert values(folder / "run.mtrace", "step") == [3]


def test_interrupt(folder):
    run(
        folder,
        """
        import monitorch, model, _thread, threading
        recording = monitorch.record("run.mtrace")
        threading.Timer(0.3, _thread.interrupt_main).start()
        try:
            with recording:
                model.forever([])
        except KeyboardInterrupt:
            pass
        else:
            raise AssertionError
        assert recording.summary.events > 3 and model._mt is None
        """,
    )
    turns = values(folder / "run.mtrace", "turns")
    assert turns == list(range(len(turns)))


def test_begin_and_end_inside_a_running_function(folder):
    run(
        folder,
        """
        import monitorch, model
        recording = monitorch.record("late.mtrace")
        assert model.run(recording.start) == 3
        recording.stop()
        recording = monitorch.record("early.mtrace").start()
        assert model.run(recording.stop) == 3
        steps = model.count(4)
        next(steps)
        with monitorch.record("generator.mtrace"):
            next(steps)
            model.double(5)
            next(steps)
        assert list(steps) == [6]
        """,
    )
    assert [e["name"] for e in events(folder / "late.mtrace")] == ["b", "return"]
    assert [e["name"] for e in events(folder / "early.mtrace")] == ["during", "x", "a"]
    assert values(folder / "generator.mtrace", "i") == [1, 2]
    assert values(folder / "generator.mtrace", "total") == [1, 3]


def test_threads(folder):
    run(
        folder,
        """
        import monitorch, model, threading, time

        class Flag:
            asked, is_set = 0, False

            def __bool__(self):
                self.asked += 1
                return self.is_set

        for which in ("all", "current"):
            flag = Flag()
            early = threading.Thread(target=model.forever, args=(flag,), name="early")
            early.start()
            with monitorch.record(which + ".mtrace", threads=which):
                late = threading.Thread(target=model.double, args=(7,), name="late")
                late.start()
                late.join()
                model.double(8)
                asked = flag.asked
                while flag.asked < asked + 3:
                    time.sleep(0.001)
            flag.is_set = True
            early.join()
        """,
    )
    seen = {
        which: {item["thread_name"] for item in show(folder / f"{which}.mtrace") if "thread_name" in item}
        for which in ("all", "current")
    }
    assert seen == {"all": {"MainThread", "early", "late"}, "current": {"MainThread"}}
    assert sorted(values(folder / "all.mtrace", "y")) == [14, 16]
    assert values(folder / "current.mtrace", "y") == [16]


def test_a_trace_that_is_removed_meanwhile(folder):
    _, told = run(
        folder,
        """
        import monitorch, model, os
        with monitorch.record("run.mtrace") as recording:
            model.double(1)
            os.unlink("run.mtrace")
        assert "removed" in recording.summary.stopped and recording.summary.size == 0
        """,
    )
    assert "run.mtrace ended early: its file was removed" in told


def test_stop_from_another_thread(folder):
    run(
        folder,
        """
        import monitorch, model, threading, sys
        sys.setswitchinterval(1e-5)
        for number in range(20):
            flag = []
            workers = [threading.Thread(target=model.forever, args=(flag,)) for _ in range(3)]
            recording = monitorch.record("run.mtrace").start()
            for worker in workers:
                worker.start()
            stoppers = [threading.Thread(target=monitorch.stop) for _ in range(3)]
            for stopper in stoppers:
                stopper.start()
            for stopper in stoppers:
                stopper.join()
            assert recording.summary is not None and model._mt is None
            flag.append(1)
            for worker in workers:
                worker.join()
        """,
    )


def test_modules_that_start_meanwhile_and_hooks_that_stay(folder):
    run(
        folder,
        """
        import monitorch, sys
        with monitorch.record("first.mtrace"):
            import model
            model.double(1)
            hook = model._mt
            assert hook is not None
        assert model._mt is None
        with monitorch.record("second.mtrace"):
            assert model._mt is hook
            model.double(2)
        # Code that torch.compile made for the one way must not serve the other.
        with monitorch.record("third.mtrace", compile="skip"):
            other = model._mt
            assert other is not hook
            model.double(3)
        with monitorch.record("fourth.mtrace"):
            assert model._mt is hook
        assert hook(0) is None and other(0, 1) is None and hook() is None and hook("x") is None
        """,
    )
    for name, expected in (("first", [2]), ("second", [4]), ("third", [6]), ("fourth", [])):
        assert values(folder / f"{name}.mtrace", "y") == expected


def test_a_recording_that_is_never_stopped(folder):
    out, err = run(
        folder,
        """
        import monitorch, model
        recording = monitorch.record("run.mtrace").start()
        model.double(1)
        """,
    )
    assert not out and not err
    assert values(folder / "run.mtrace", "y") == [2]


def test_hooks_die_with_their_modules(folder):
    run(
        folder,
        """
        import gc, sys, weakref, monitorch
        from monitorch import _registry
        for mode in ("break", "skip"):
            with monitorch.record("run.mtrace", compile=mode):
                import model
                model.double(1)
                hook = weakref.ref(model._mt)
                del sys.modules["model"], model
                gc.collect()
                assert hook() is None and not _registry.entries()
        """,
    )


def test_hooks_are_not_pickled(folder):
    """Functions that are pickled by value, as cloudpickle does, take what they refer to along."""
    out, _ = run(
        folder,
        """
        import copy, pickle, monitorch, model
        with monitorch.record("run.mtrace"):
            data = pickle.dumps({"_mt": model._mt, "_mt_entry": model._mt_entry})
            assert copy.deepcopy(model._mt) is copy.copy(model._mt) is model._mt
        assert pickle.loads(data) == {"_mt": None, "_mt_entry": None}
        print(data.hex())
        """,
    )
    run(
        folder,
        f"""
        import pickle
        assert pickle.loads(bytes.fromhex({out.strip()!r})) == {{"_mt": None, "_mt_entry": None}}
        """,
        PYTHONPATH="",
    )


def test_traces_are_replaced(folder):
    (folder / "empty").touch()
    run(
        folder,
        """
        import monitorch, model
        for path in ("empty", "new", "empty", "new"):
            with monitorch.record(path):
                model.double(len(path))
        """,
    )
    for path in ("empty", "new"):
        assert values(folder / path, "y") == [2 * len(path)]


COMPLAINTS = {
    "nothing instrumented": ("", "{}", "nothing recorded in run.mtrace: no instrumented code"),
    "no line ran": ("import model", "{}", "none of its lines ran between the start and the end"),
    "ended early": (
        "import model",
        "dict(size_limit='300K')",
        "recording to run.mtrace ended early: ",
    ),
}


@pytest.mark.parametrize("case", list(COMPLAINTS))
def test_what_nobody_expects_is_told(folder, case):
    imported, options, expected = COMPLAINTS[case]
    program = f"""
    import monitorch
    {imported}
    with monitorch.record("run.mtrace", **{options}) as recording:
        if {options}:
            for i in range(20_000): model.double(i)
    print(recording.summary)
    """
    _, err = run(folder, program)
    assert err.count("RuntimeWarning: monitorch: ") == 1
    assert expected in err and "script.py:4: " in err
    # Where warnings are errors, the program goes on all the same.
    out, err = run(folder, program, PYTHONWARNINGS="error")
    assert out.startswith("Summary(") and not err


def test_help(folder):
    out, _ = run(
        folder,
        """
        import monitorch
        assert set(monitorch.__all__) <= set(dir(monitorch))
        help(monitorch.record)
        from monitorch import *
        assert record is monitorch.record and stop is monitorch.stop
        try:
            monitorch.recrod
        except AttributeError as error:
            assert "recrod" in str(error)
        """,
    )
    assert "record(path, *, sample=64, last=None, stats=True" in out
    assert "monitorch show run.mtrace" in out


@pytest.mark.torch
def test_what_is_measured(folder):
    run(
        folder,
        """
        import torch, model, monitorch
        small, large = torch.ones(4), torch.ones(100)
        for name, options in {
            "all": {}, "every": dict(every=3), "elements": dict(max_elements=10),
            "shapes": dict(stats=False, hash=False, sample=0), "stats": dict(hash=False),
            "hash": dict(stats=False),
        }.items():
            with monitorch.record(name, **options):
                for x in (small, large) * 3:
                    model.double(x)
        """,
    )
    expected = {
        "all": ([1, 1, 1, 1, 1, 1], [1, 1, 1, 1, 1, 1]),
        "every": ([1, 0, 0, 1, 0, 0], [1, 0, 0, 1, 0, 0]),
        "elements": ([1, 0, 1, 0, 1, 0], [1, 0, 1, 0, 1, 0]),
        "shapes": ([0] * 6, [0] * 6),
        "stats": ([1] * 6, [0] * 6),
        "hash": ([0] * 6, [1] * 6),
    }
    for name, (means, hashes) in expected.items():
        told = [e for e in events(folder / name) if e["name"] == "y"]
        assert [e["shape"] for e in told] == [[4], [100]] * 3
        assert [int("mean" in e) for e in told] == means, name
        assert [int("hash" in e) for e in told] == hashes, name


# Child processes --------------------------------------------------------------------------


def children(folder, stem="run"):
    return sorted(p for p in folder.glob(f"{stem}.*.mtrace"))


def test_a_child_that_lives_on_does_not_hold_the_trace(folder):
    run(
        folder,
        """
        import monitorch, model, os
        read, write = os.pipe()
        with monitorch.record("run.mtrace"):
            model.double(1)
            if (child := os.fork()) == 0:
                os.close(write)
                os.read(read, 1)
                model.double(10)
                os._exit(0)
            os.close(read)
        with monitorch.record("run.mtrace"):
            model.double(2)
        os.close(write)
        assert os.waitpid(child, 0)[1] == 0
        """,
    )
    assert values(folder / "run.mtrace", "y") == [4]


def test_fork(folder):
    run(
        folder,
        """
        import monitorch, model, os
        with monitorch.record("run.mtrace") as recording:
            model.double(1)
            if (child := os.fork()) == 0:
                model.double(10)
                recording.stop()
                os._exit(0)
            if (idle := os.fork()) == 0:
                monitorch.stop()
                os._exit(0)
            os.waitpid(child, 0)
            os.waitpid(idle, 0)
            model.double(2)
        assert recording.summary.paths == ["run.mtrace", f"run.{child}.mtrace"]
        assert recording.summary.events == 6
        """,
    )
    (child,) = children(folder)
    assert values(folder / "run.mtrace", "y") == [2, 4]
    assert values(child, "y") == [20]


def test_a_child_begins_a_recording_of_its_own(folder):
    run(
        folder,
        """
        import monitorch, model, os
        with monitorch.record("run.mtrace"):
            model.double(1)
            if (child := os.fork()) == 0:
                monitorch.stop()
                with monitorch.record("own.mtrace"):
                    model.double(10)
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
            model.double(2)
        """,
    )
    assert values(folder / "run.mtrace", "y") == [2, 4]
    assert values(folder / "own.mtrace", "y") == [20]


def test_a_child_without_a_trace_begins_another_recording(folder):
    run(
        folder,
        """
        import monitorch, model, os
        with monitorch.record("run.mtrace"):
            if (child := os.fork()) == 0:
                os.mkdir(f"run.{os.getpid()}.mtrace")
                model.double(1)
                monitorch.stop()
                with monitorch.record("own.mtrace"):
                    model.double(10)
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
            model.double(2)
        """,
    )
    assert values(folder / "run.mtrace", "y") == [4]
    assert values(folder / "own.mtrace", "y") == [20]


def test_large_integers(folder):
    run(
        folder,
        """
        import monitorch, model
        with monitorch.record("run.mtrace"):
            for number in (2**62, -(2**62) - 1, 2**70, 2**600, -(2**600)):
                model.double(number)
        """,
    )
    assert values(folder / "run.mtrace", "y") == [
        "0x8000000000000000",
        "-0x8000000000000002",
        hex(2**71),
        hex(2**601),
        hex(-(2**601)),
    ]


def test_integers_beyond_every_float(folder):
    run(
        folder,
        """
        import monitorch, model
        with monitorch.record("run.mtrace"):
            model.double(2**5000)
            model.double(-(2**5000))
        """,
    )
    assert values(folder / "run.mtrace", "y") == ["above 2**1023", "below -2**1023"]


def test_what_was_written_into_is_not_told_to_be_the_same(folder):
    """Neither a version nor the number of items tells: nothing is said."""
    source = """
    def change():
        many = [0] * 100
        many[5] = 1
        many.append(2)
        seen = {1}
        seen.add(2)
        raw = bytearray(b"ab")
        raw[0] = 5
        few = [1, 2]
        few[0] = 3
        also = few
        also = few
    """
    (folder / "source.py").write_text(textwrap.dedent(source))
    subprocess.run(
        [paths.COMMAND, "--all", "source.py", "-o", "lists.py", "--quiet"], cwd=folder, check=True
    )
    run(folder, "import lists; lists.change()", MONITORCH="run.mtrace,quiet")
    changes = {}
    for event in events(folder / "run.mtrace"):
        name = event["name"] + event["path"]
        changes.setdefault(name, []).append(event["change"])
    assert changes["many"] == ["new", "", "mutated"]
    assert changes["seen"] == changes["raw"] == changes["few"] == ["new", ""]
    assert changes["few[0]"] == ["new", "rebound"] and changes["few[1]"] == ["new"]
    assert changes["also"] == ["new", "same"]


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_workers_of_a_parent_that_records_nothing(folder, method):
    """Each has a trace of its own, and finishes it."""
    program = f"""
    import multiprocessing

    def work(number):
        import model
        model.double(number)

    if __name__ == "__main__":
        context = multiprocessing.get_context({method!r})
        for number in (1, 2):
            worker = context.Process(target=work, args=(number,))
            worker.start()
            worker.join()
            assert worker.exitcode == 0
    """
    assert run(folder, program, MONITORCH="run.mtrace") == ("", "")
    traces = children(folder)
    assert sorted(values(trace, "y") for trace in traces) == [[2], [4]]
    assert not (folder / "run.mtrace").exists()
    for trace in traces:
        done = viewer.run("show", trace)
        assert done.stderr == "", "its end was not told"


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_multiprocessing(folder, method):
    _, err = run(
        folder,
        f"""
        import multiprocessing, model

        if __name__ == "__main__":
            context = multiprocessing.get_context({method!r})
            model.double(1)
            with context.Pool(2) as pool:
                assert pool.map(model.double, range(10, 14), chunksize=1) == [20, 22, 24, 26]
                pool.close()
                pool.join()
        """,
        MONITORCH="run.mtrace",
    )
    assert err.count("\n") == 1 and "3 events in run.mtrace" in err, err
    found = children(folder)
    assert found and values(folder / "run.mtrace", "y") == [2]
    assert sorted(y for child in found for y in values(child, "y")) == [20, 22, 24, 26]
    assert (f"{len(found)} trace" in err) and "run.*.mtrace" in err


def test_ranks(folder):
    program = """
    import monitorch, model
    with monitorch.record("runs/run.mtrace") as recording:
        model.double(1)
    print(recording.path)
    """
    (folder / "runs").mkdir()
    for rank, world, expected in (("3", "8", "runs/run.rank3.mtrace"), ("0", "1", "runs/run.mtrace")):
        out, _ = run(folder, program, RANK=rank, WORLD_SIZE=world)
        assert out.strip() == expected
        assert values(folder / expected, "y") == [2]


DATA = """
import torch

class Squares(torch.utils.data.Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        item = torch.full((2,), float(index * index))
        return item

class Net(torch.nn.Module):
    def forward(self, x):
        total = x.sum()
        return total
"""


@pytest.mark.torch
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_data_loader(tmp_path, method):
    """Each worker has a trace of its own, and none of them says anything."""
    text = compiler.instrument(DATA.encode(), "data_source.py", all=True).text
    (tmp_path / "data.py").write_bytes(text)
    out, err = run(
        tmp_path,
        f"""
        import torch, data

        if __name__ == "__main__":
            net = data.Net()
            loader = torch.utils.data.DataLoader(
                data.Squares(), batch_size=2, num_workers=2, multiprocessing_context={method!r}
            )
            print(*[net(batch).item() for batch in loader])
        """,
        python=warm.python(),
        MONITORCH="run.mtrace",
    )
    err = recording.without_tracker(err)
    assert out.split() == ["2.0", "26.0", "82.0", "170.0"]
    assert err.count("\n") == 1 and "; 2 traces of child processes: run.*.mtrace:" in err, err
    found = [[e["mean"] for e in events(p) if e["name"] == "item"] for p in children(tmp_path)]
    assert sorted(found) == [[0, 1, 16, 25], [4, 9, 36, 49]]
    totals = [e["mean"] for e in events(tmp_path / "run.mtrace") if e["name"] == "total"]
    assert totals == [2, 26, 82, 170]


# MONITORCH in the environment -------------------------------------------------------------

ENDS = {
    "as usual": ("", 0),
    "by sys.exit": ("import sys; sys.exit(3)", 3),
    "by an exception": ("raise ValueError('mine')", 1),
    "after stop": ("import monitorch; monitorch.stop()", 0),
    "after a change of folder": ("import os; os.chdir('/')", 0),
}


@pytest.mark.parametrize("end", list(ENDS))
def test_one_line_at_exit(folder, end):
    statement, code = ENDS[end]
    out, err = run(
        folder, f"import model\nmodel.double(1)\n{statement}\n", code=code, MONITORCH="run.mtrace"
    )
    lines = err.splitlines()
    ours = [line for line in lines if "monitorch" in line and not line.startswith(" ")]
    assert len(ours) == 1 and not out
    size = (folder / "run.mtrace").stat().st_size
    assert ours[0].startswith("monitorch: 3 events in run.mtrace (") and "\x1b" not in ours[0]
    assert ours[0].endswith("): monitorch show run.mtrace") and f"{size / 1000:.1f} KB" in ours[0]
    assert (lines == ours) == (code != 1)
    assert values(folder / "run.mtrace", "y") == [2]


def test_nothing_recorded(folder):
    _, err = run(folder, "import monitorch", MONITORCH="run.mtrace")
    assert err.startswith("monitorch: nothing recorded in run.mtrace: no instrumented code")
    assert "monitorch run " in err and "script.py" in err and err.count("\n") == 1
    _, err = run(folder, "import json", MONITORCH="run.mtrace")
    assert err == ""
    text = compiler.instrument(MODEL.encode(), "model_source.py", forward=True).text
    assert text == MODEL.encode()
    text = compiler.instrument(MODEL.encode(), "model_source.py", functions=["double"]).text
    (folder / "model.py").write_bytes(text)
    _, err = run(folder, "import model", MONITORCH="run.mtrace")
    assert err == (
        "monitorch: nothing recorded in run.mtrace: instrumented code was imported, but none of its "
        "lines ran\n"
    )


WRONG_VARIABLES = {
    "run.mtrace,frobnicate=1": ["'frobnicate'", "sample, last, stats", "quiet"],
    "run.mtrace,last=0": ["last must be at least 1"],
    "run.mtrace,last": ["last must be a whole number"],
    "run.mtrace,sample=many": ["sample must be a whole number, not 'many'"],
    "run.mtrace,stats=perhaps": ["stats must be yes or no, not 'perhaps'"],
    "run.mtrace,compile=no": ["compile must be 'break' or 'skip'"],
    "run.mtrace,,last=3": ["no option ''"],
    "'a,b'run.mtrace": ["a comma must follow the path 'a,b'"],
    "'a,b.mtrace": ["the path begins with ' and no other ' ends it"],
    ",last=3": ["the path of the trace is missing"],
    "missing/run.mtrace": ["missing/run.mtrace: No such file or directory"],
    "model.py": ["model.py: There is another file, which is no trace: not replaced"],
    ".": [".: Is a directory"],
}


@pytest.mark.parametrize("variable", list(WRONG_VARIABLES))
def test_wrong_variables_leave_the_program_alone(folder, variable):
    out, err = run(folder, "import model\nprint(model.double(1))", MONITORCH=variable)
    assert out == "2\n"
    assert err.startswith("monitorch: MONITORCH: ") and err.count("\n") == 1
    assert err.endswith("; nothing is recorded\n")
    for words in WRONG_VARIABLES[variable]:
        assert words in err
    assert not list(folder.glob("*.mtrace"))


def test_variables(folder):
    program = "import model\nfor i in range(5): model.double(i)\n"
    for variable, path in {
        "plain": "plain",
        "a.mtrace,last=100000,sample=8,stats=no,hash=no,every=10,compile=skip": "a.mtrace",
        "'with,comma.mtrace',values=y:t*,threads=current": "with,comma.mtrace",
        '"quo\'ted.mtrace"': "quo'ted.mtrace",
        "b.mtrace, size_limit=2G, max_elements=100": "b.mtrace",
        "c d.mtrace,quiet=no": "c d.mtrace",
        f"{folder}/absolute.mtrace": "absolute.mtrace",
    }.items():
        _, err = run(folder, program, MONITORCH=variable)
        assert "15 events in " in err and err.count("\n") == 1, variable
        assert values(folder / path, "y") == [0, 2, 4, 6, 8]
    assert "show 'c d.mtrace'" in run(folder, program, MONITORCH="c d.mtrace")[1]


def test_quiet(folder):
    program = "import model\nmodel.double(1)"
    assert run(folder, program, MONITORCH="run.mtrace,quiet") == ("", "")
    assert values(folder / "run.mtrace", "y") == [2]
    assert run(folder, program, MONITORCH="missing/run.mtrace,quiet") == ("", "")


def test_an_empty_variable_is_none(folder):
    assert run(folder, "import model\nmodel.double(1)", MONITORCH="") == ("", "")


def test_recording_that_ended_early_is_told(folder):
    program = """
    import model
    for i in range(20_000):
        model.double(i)
    """
    _, err = run(folder, program, MONITORCH="run.mtrace,size_limit=300K,scalars=all")
    assert err.count("\n") == 1 and "recording ended early" in err and "events were lost" in err
    assert (folder / "run.mtrace").stat().st_size <= 300 * 1024
    seen = values(folder / "run.mtrace", "y")
    assert seen == [2 * i for i in range(len(seen))] and len(seen) > 100
    told = int(err.split(" events in ")[0].split()[-1].replace(",", ""))
    lost = int(err.split(" events were lost")[0].split()[-1].replace(",", ""))
    assert told + lost == 3 * 20_000


def test_a_ring_is_told(folder):
    program = "import model\nfor i in range(1000): model.double(i)"
    _, err = run(folder, program, MONITORCH="run.mtrace,last=50")
    assert err.startswith("monitorch: about the last 50 of 3,000 events in run.mtrace"), err
    _, err = run(folder, program, MONITORCH="run.mtrace,last=5000")
    assert err.startswith("monitorch: 3,000 events in run.mtrace"), err


def test_record_while_the_variable_is_set(folder):
    run(
        folder,
        """
        import monitorch, model
        try:
            monitorch.record("other.mtrace")
        except RuntimeError as error:
            assert "run.mtrace" in str(error)
        assert monitorch.stop().path == "run.mtrace"
        with monitorch.record("other.mtrace"):
            model.double(1)
        """,
        MONITORCH="run.mtrace",
    )
    assert values(folder / "other.mtrace", "y") == [2]


def test_a_second_program_with_the_same_variable(folder):
    """It records into a file of its own, and says so."""
    _, err = run(
        folder,
        """
        import model, os, subprocess, sys
        model.double(1)
        if "again" not in os.environ:
            again = dict(os.environ, again="1")
            subprocess.run([sys.executable, __file__], env=again, check=True)
        """,
        MONITORCH="run.mtrace",
    )
    (child,) = children(folder)
    assert err.count("\n") == 2 and f"in {child.name}" in err and "in run.mtrace" in err
    assert values(child, "y") == values(folder / "run.mtrace", "y") == [2]


def test_killed(folder):
    """What was recorded before is there."""
    run(
        folder,
        "import model, os, signal\nmodel.double(1)\nos.kill(os.getpid(), signal.SIGKILL)",
        code=-signal.SIGKILL,
        MONITORCH="run.mtrace",
    )
    assert values(folder / "run.mtrace", "y") == [2]


# Every CPython ----------------------------------------------------------------------------

PYTHONS = [(sys.version_info[:2], sys.executable), *paths.other_pythons()]
EACH_PYTHON = pytest.mark.parametrize(
    "python", [path for _, path in PYTHONS], ids=["%d.%d" % version for version, _ in PYTHONS]
)


@EACH_PYTHON
def test_versions(python, folder):
    _, err = run(
        folder,
        """
        import model, monitorch
        assert list(model.count(3)) == [0, 1, 3]
        try:
            model.Box(2).fail()
        except KeyError:
            pass
        model.run(lambda: None)
        assert monitorch.stop().events > 10
        with monitorch.record("again.mtrace"):
            model.double(4)
        """,
        python=python,
        MONITORCH="run.mtrace",
    )
    assert err.count("\n") == 1 and "events in run.mtrace" in err, err
    assert values(folder / "run.mtrace", "total") == [0, 0, 1, 3]
    assert values(folder / "again.mtrace", "y") == [8]


def numpy_folder(python):
    """A folder that holds NumPy for this interpreter; made in the build's folder."""
    word = subprocess.run(
        [python, "-c", "import sys; print('numpy-%d.%d' % sys.version_info[:2])"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    folder = paths.scratch(word)
    if not (folder / "numpy").exists():
        pip = [python, "-m", "pip", "install", "--quiet", "--target", str(folder), "numpy"]
        if subprocess.run(pip, capture_output=True).returncode != 0:
            pytest.skip("NumPy cannot be installed")
    return folder


@EACH_PYTHON
def test_arrays(python, folder):
    has_numpy = subprocess.run([python, "-c", "import numpy"], capture_output=True).returncode == 0
    here = [] if has_numpy else [str(numpy_folder(python))]
    run(
        folder,
        """
        import numpy, model, monitorch
        x = numpy.arange(12, dtype="float32").reshape(3, 4)
        with monitorch.record("run.mtrace") as recording:
            model.double(x)
            model.double(x[::2, ::-1])
            model.double(numpy.float64(3))
            model.double(numpy.array([1, numpy.nan, numpy.inf]))
        assert recording.summary.events == 12
        """,
        python=python,
        PYTHONPATH=os.pathsep.join([str(paths.PYTHON_PATH), *here]),
    )
    seen = [e for e in events(folder / "run.mtrace") if e["name"] == "y"]
    assert [e.get("shape") for e in seen] == [[3, 4], [2, 4], [], [3]]
    assert seen[0]["dtype"] == "float32" and seen[0]["mean"] == 11 and seen[0]["max"] == 22
    assert seen[1]["mean"] == 11 and seen[1]["zeros"] == 1
    assert (seen[3]["nan"], seen[3]["posinf"]) == (1, 1)


@pytest.mark.torch
def test_what_is_far_larger_than_memory(folder):
    run(
        folder,
        """
        import monitorch, model, torch
        with monitorch.record("run.mtrace"):
            model.Box(torch.ones(2**20).unfold(0, 2**19, 1))
        """,
    )
    (event,) = [e for e in events(folder / "run.mtrace") if e["name"] == "value"]
    assert event["shape"] == [2**19 + 1, 2**19] and "mean" not in event
    assert event["note"] == "overlapping, not measured"


def test_deques_have_leaves(folder):
    """As lists have; a deque's own functions are asked, whatever a class made of it says."""
    source = """
    from collections import deque
    import numpy
    class Odd(deque):
        def __iter__(self):
            raise SystemExit("asked")
        def __len__(self):
            raise SystemExit("asked")
    def change():
        q = deque([numpy.ones(2)], maxlen=2)
        q.append(numpy.zeros(3))
        q.appendleft([numpy.zeros(4)])
        odd = Odd([numpy.zeros(5), 7])
    """
    (folder / "source.py").write_text(textwrap.dedent(source))
    subprocess.run(
        [paths.COMMAND, "--all", "source.py", "-o", "queues.py", "--quiet"], cwd=folder, check=True
    )
    run(folder, "import queues; queues.change()", MONITORCH="run.mtrace,quiet")
    found = [
        (event["name"] + event["path"], event.get("shape", event.get("length", event.get("value"))))
        for event in events(folder / "run.mtrace")
        if event["name"] in ("q", "odd")
    ]
    assert found[:2] == [("q", 1), ("q[0]", [2])]
    assert found[2] == ("q", 2) and ("q[1]", [3]) in found[3:5]
    assert ("q[0][0]", [4]) in found[5:8]
    assert found[-3:] == [("odd", 2), ("odd[0]", [5]), ("odd[1]", 7)]
