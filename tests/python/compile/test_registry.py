"""What an instrumented file finds in the package: quick, light, and gone with its module."""

import subprocess
import sys
import textwrap

from tests.support import paths

TABLE = "monitorch1 " + "0" * 32 + " _mt m.py --all 1,0 0,0,<module> ."


def run_python(program, *words):
    """Runs a program in an interpreter of its own, with only the package on its path."""
    prelude = f"import sys; sys.path.insert(0, {str(paths.PYTHON_PATH)!r}); T = {TABLE!r}\n"
    run = subprocess.run(
        [sys.executable, "-I", *words, "-c", prelude + textwrap.dedent(program)],
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


def test_import_loads_only_built_in_modules():
    run_python(
        """
        before = set(sys.modules)
        import monitorch
        new = set(sys.modules) - before - {"monitorch", "monitorch._registry"}
        assert not new, new
        """,
        "-S",
    )


def test_import_is_quick():
    """What it computes: who waits for others has not been slow. The first one writes bytecode."""
    program = """
        import time
        start = time.process_time()
        import monitorch
        print(time.process_time() - start)
        """
    assert min(float(run_python(program)) for _ in range(5)) < 0.015


def test_add_returns_nothing_while_off():
    run_python(
        """
        import builtins, monitorch
        names = {"__name__": "m"}
        assert monitorch._instrumented(names, T) is None
        assert builtins._mt is None
        """
    )


def test_another_prefix_and_a_builtin_that_is_there():
    run_python(
        """
        import builtins, monitorch
        builtins._mu = "mine"
        for prefix in ("_mu", "_mw"):
            monitorch._instrumented({}, T.replace("_mt", prefix))
        assert builtins._mu == "mine" and builtins._mw is None
        assert not hasattr(builtins, "_mt")
        """
    )


def test_hook_reaches_earlier_and_later_modules():
    run_python(
        """
        import monitorch
        from monitorch import _registry
        first, second = {"__name__": "a"}, {"__name__": "b"}
        first["_mt"] = monitorch._instrumented(first, T)
        calls = []
        def factory(table, module_globals):
            calls.append(module_globals["__name__"])
            assert table == T
            return None if module_globals["__name__"] == "c" else print
        _registry.set_hook(factory)
        assert first["_mt"] is print
        second["_mt"] = monitorch._instrumented(second, T)
        assert second["_mt"] is print
        assert monitorch._instrumented({"__name__": "c"}, T) is None
        assert calls == ["a", "b", "c"]
        _registry.set_hook(None)
        assert first["_mt"] is second["_mt"] is None
        """
    )


def test_add_again_keeps_the_hook():
    run_python(
        """
        import monitorch
        from monitorch import _registry
        count = []
        _registry.set_hook(lambda table, names: count.append(table) or (lambda *a: None))
        names = {}
        hook = monitorch._instrumented(names, T)
        assert monitorch._instrumented(names, T) is hook
        assert len(count) == len(_registry.entries()) == 1
        other = T.replace("m.py", "n.py")
        assert monitorch._instrumented(names, other) is not hook
        assert len(_registry.entries()) == 1
        """
    )


def test_a_module_dies_with_its_last_reference():
    run_python(
        """
        import gc, types, weakref, monitorch
        from monitorch import _registry
        class Thing: pass
        module = types.ModuleType("m")
        module.thing = Thing()
        module._mt = monitorch._instrumented(vars(module), T)
        gone = weakref.ref(module.thing)
        assert len(_registry.entries()) == 1
        del module
        gc.collect()
        assert gone() is None and _registry.entries() == []
        _registry.set_hook(lambda table, names: print)
        """
    )


def test_globals_outlive_their_module():
    run_python(
        """
        import gc, types, monitorch
        from monitorch import _registry
        module = types.ModuleType("m")
        module._mt = monitorch._instrumented(vars(module), T)
        exec("def f(): return _mt", vars(module))
        f = module.f
        del module
        gc.collect()
        _registry.set_hook(lambda table, names: print)
        assert f() is print
        """
    )


def test_copies_of_a_namespace():
    run_python(
        """
        import copy, pickle, monitorch
        from monitorch import _registry
        names = {"__name__": "m"}
        names["_mt"] = monitorch._instrumented(names, T)
        for made in (copy.deepcopy(names), pickle.loads(pickle.dumps(names))):
            assert made == {"__name__": "m", "_mt": None, "_mt_entry": None}
        shallow = dict(names)
        shallow["_mt"] = monitorch._instrumented(shallow, T)
        assert len(_registry.entries()) == 2
        _registry.set_hook(lambda table, module_globals: module_globals.get)
        assert names["_mt"].__self__ is names and shallow["_mt"].__self__ is shallow
        """
    )


def test_reload(tmp_path):
    (tmp_path / "traced.py").write_text(
        f"_mt = __import__('monitorch')._instrumented(globals(), {TABLE!r})\n"
    )
    run_python(
        f"""
        sys.path.insert(0, {str(tmp_path)!r})
        import importlib, traced
        from monitorch import _registry
        _registry.set_hook(lambda table, names: print)
        assert importlib.reload(traced)._mt is print
        assert len(_registry.entries()) == 1
        del sys.modules["traced"]
        import traced as again
        assert again is not traced and again._mt is print
        """
    )


def test_cleared_names_find_the_builtin():
    run_python(
        """
        import types, monitorch
        names = {}
        exec("_mt = __import__('monitorch')._instrumented(globals(), %r)\\n"
             "def f(): _mt and _mt(0); return 1" % T, names)
        moved = types.FunctionType(names["f"].__code__, {})
        f = names["f"]
        names.clear()
        assert moved() == 1
        names["__builtins__"] = __builtins__
        assert f() == 1
        from monitorch import _registry
        import gc; gc.collect()
        assert _registry.entries() == []
        """
    )


def test_damaged_tables_are_named():
    run_python(
        """
        import monitorch
        for table in ("", "monitorch1", "monitorch3 0 _mt p", "monitorch1 0 1x p o", T[3:]):
            try:
                monitorch._instrumented({"__file__": "model.py"}, table)
            except ValueError as error:
                assert "model.py" in str(error) and "again" in str(error)
            else:
                raise AssertionError(table)
        """
    )


def test_threads():
    run_python(
        """
        import threading, monitorch
        from monitorch import _registry
        sys.setswitchinterval(1e-6)
        def work():
            for _ in range(2000):
                names = {}
                names["_mt"] = monitorch._instrumented(names, T)
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads: thread.start()
        while any(thread.is_alive() for thread in threads):
            _registry.set_hook(lambda table, names: print)
            _registry.set_hook(None)
        import gc; gc.collect()
        assert _registry.entries() == []
        """
    )


def test_a_factory_is_asked_once_for_a_module():
    run_python(
        """
        import monitorch
        from monitorch import _registry
        asked = []
        def first(table, names):
            asked.append((first, table))
            return lambda *a: None
        def second(table, names):
            asked.append((second, table))
            return lambda *a: None
        names = {}
        names["_mt"] = monitorch._instrumented(names, T)
        seen = []
        for factory in (first, second, first, None, second):
            _registry.set_hook(factory)
            seen.append(names["_mt"])
        assert seen[0] is seen[2] and seen[1] is seen[4] and seen[3] is None
        assert len({id(hook) for hook in seen}) == 3 and len(asked) == 2
        # Another table is other code: it has hooks of its own.
        other = T.replace("m.py", "n.py")
        assert monitorch._instrumented(names, other) not in seen
        _registry.set_hook(first)
        assert names["_mt"] not in seen and asked[2:] == [(second, other), (first, other)]
        """
    )


def test_pieces_of_code_in_one_namespace():
    run_python(
        """
        import builtins, monitorch
        from monitorch import _registry
        names, calls = {"__name__": "notebook"}, []
        _registry.set_hook(lambda table, module_globals: lambda *v: calls.append((table, *v)))
        prefixes = []
        for cell in range(3):
            prefix = _registry.find_prefix(names)
            table = T.replace("_mt", prefix).replace("m.py", f"cell{cell}")
            names[prefix] = monitorch._instrumented(names, table)
            exec(f"def f{cell}(): {prefix} and {prefix}({cell})", names)
            prefixes.append(prefix)
        assert prefixes == ["_mt", "_mt0x", "_mt1x"]
        for cell in range(3):
            names[f"f{cell}"]()
        assert [(t.split()[3], site) for t, site in calls] == [(f"cell{n}", n) for n in range(3)]
        _registry.set_hook(None)
        names["f1"]()
        assert len(calls) == 3 and len(_registry.entries()) == 3
        """
    )


def test_whether_any_module_has_started():
    run_python(
        """
        import monitorch
        from monitorch import _registry
        assert not _registry.has_started()
        monitorch._instrumented({}, T)
        assert _registry.has_started()
        """
    )


def test_switching_while_modules_start():
    """Whatever the order, a module ends with the hook of the factory that was set last."""
    run_python(
        """
        import threading, monitorch
        from monitorch import _registry
        sys.setswitchinterval(1e-6)
        kept = []
        def work():
            for _ in range(1000):
                names = {}
                monitorch._instrumented(names, T)
                kept.append(names)
        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads: thread.start()
        factories = [lambda table, names: print, lambda table, names: abs, None]
        number = 0
        while any(thread.is_alive() for thread in threads):
            _registry.set_hook(factories[number % 3])
            number += 1
        for thread in threads: thread.join()
        _registry.set_hook(factories[1])
        assert all(entry.hook is abs for entry in _registry.entries())
        assert len(kept) == 3000 and all(names["_mt"] is abs for names in kept)
        """
    )
