"""Which source a trace gets for a module: the original where it can be found, and what else."""

import linecache
import types
import zipfile

import pytest

from tests.support import compiler, paths

SOURCE = b"def f(x):\n    y = x + 1\n    return y\n"


@pytest.fixture
def find(compiler_module):
    import importlib.util

    spec = importlib.util.spec_from_file_location("_source_under_test", paths.PACKAGE / "_record/source.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    def find(table, **module_globals):
        """Hashes are told by the compiler: it puts a source's into its table."""
        return module.find(table, module_globals, hash_of)

    return find


def hash_of(source):
    return table_of(source).split(" ")[1] if not compiler.EXTENSION.is_instrumented(source) else ""


def table_of(source, path="m.py"):
    return compiler.instrument(source, path, all=True).table


def traced(source, path="m.py"):
    return compiler.instrument(source, path, all=True).text


def test_the_file_that_runs_is_the_original(find, tmp_path):
    path = tmp_path / "m.py"
    path.write_bytes(SOURCE)
    assert find(table_of(SOURCE), __file__=str(path)) == (str(path), SOURCE, "original")


def test_the_original_stands_where_the_table_says(find, tmp_path, monkeypatch):
    (tmp_path / "source folder").mkdir()
    (tmp_path / "traced").mkdir()
    (tmp_path / "source folder" / "ü m.py").write_bytes(SOURCE)
    path = tmp_path / "traced" / "m.py"
    path.write_bytes(traced(SOURCE))
    monkeypatch.chdir(tmp_path)
    table = table_of(SOURCE, "source folder/ü m.py")
    assert find(table, __file__=str(path)) == (str(path), SOURCE, "original")


def test_the_original_stands_beside_the_traced_file(find, tmp_path):
    (tmp_path / "m.py").write_bytes(SOURCE)
    path = tmp_path / "m_traced.py"
    path.write_bytes(traced(SOURCE))
    file, source, kind = find(table_of(SOURCE, "elsewhere/m.py"), __file__=str(path))
    assert (source, kind) == (SOURCE, "original")


def test_the_instrumented_text_where_there_is_no_original(find, tmp_path):
    path = tmp_path / "m_traced.py"
    path.write_bytes(traced(SOURCE))
    expected = (str(path), traced(SOURCE), "instrumented")
    assert find(table_of(SOURCE), __file__=str(path)) == expected
    (tmp_path / "m.py").write_bytes(SOURCE + b"# edited since\n")
    assert find(table_of(SOURCE), __file__=str(path)) == expected


def test_a_file_that_was_changed(find, tmp_path):
    path = tmp_path / "m.py"
    path.write_bytes(SOURCE + b"# edited\n")
    assert find(table_of(SOURCE), __file__=str(path)) == (str(path), path.read_bytes(), "other")


def test_no_file_at_all(find, tmp_path):
    assert find(table_of(SOURCE)) == ("m.py", None, "other")
    assert find(table_of(SOURCE), __file__="/gone/m.py") == ("/gone/m.py", None, "other")
    assert find(table_of(SOURCE), __file__=3, __spec__=4) == ("m.py", None, "other")
    (tmp_path / "folder.py").mkdir()
    where = str(tmp_path / "folder.py")
    assert find(table_of(SOURCE), __file__=where) == (where, None, "other")


def test_a_notebook_cell(find, monkeypatch):
    name = "<ipython-input-3-abc>"
    entry = (len(SOURCE), None, SOURCE.decode().splitlines(True), name)
    monkeypatch.setitem(linecache.cache, name, entry)
    assert find(table_of(SOURCE, name), __name__="__main__") == (name, SOURCE, "original")
    monkeypatch.setitem(linecache.cache, name, (lambda: "lazy",))
    assert find(table_of(SOURCE, name)) == (name, None, "other")


def test_a_module_in_an_archive(find, tmp_path):
    archive = tmp_path / "modules.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("m.py", SOURCE)
    import zipimport

    loader = zipimport.zipimporter(str(archive))
    path = f"{archive}/m.py"
    spec = types.SimpleNamespace(loader=loader, origin=path)
    assert find(table_of(SOURCE), __file__=path, __spec__=spec) == (path, SOURCE, "original")


def test_compiled_files_are_not_read(find, tmp_path):
    path = tmp_path / "m.pyc"
    path.write_bytes(SOURCE)
    assert find(table_of(SOURCE), __file__=str(path))[1:] == (None, "other")
