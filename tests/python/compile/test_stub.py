"""The type stub tells what the extension module has."""

import ast

import pytest

from tests.support import compiler, paths

extension = compiler.EXTENSION
pytestmark = pytest.mark.skipif(extension is None, reason="the extension is not built (make)")


NOT_OF_SOURCES = ("sites", "map_positions", "make_program")


def stub():
    return ast.parse((paths.PACKAGE / "_instrument.pyi").read_text())


def of_class(name):
    node = next(n for n in stub().body if isinstance(n, ast.ClassDef) and n.name == name)
    return {getattr(n, "name", None) or n.target.id for n in node.body}


def test_names():
    told = {n.name for n in stub().body if isinstance(n, (ast.FunctionDef, ast.ClassDef))}
    there = {n for n in dir(extension) if not n.startswith("_")}
    assert told - {"Site"} == there


def test_results_and_sites():
    assert of_class("Result") == {n for n in dir(extension.Result) if not n.startswith("_")}
    sites = extension.sites(extension.instrument("class A:\n    def forward(self): return self\n").table)
    assert of_class("Site") == set(sites[0])
    assert of_class("InstrumentError") <= set(dir(extension.InstrumentError))


def test_arguments():
    given = {"source": "x = 1", "text": "x = 1", "filename": "a.py", "path": "a.py"}
    for node in stub().body:
        if not isinstance(node, ast.FunctionDef) or node.name in NOT_OF_SOURCES:
            continue
        call = getattr(extension, node.name)
        positional = [given[argument.arg] for argument in node.args.args]
        call(*positional)
        with pytest.raises(TypeError):
            call(*positional, 1)
        for argument, default in zip(node.args.kwonlyargs, node.args.kw_defaults):
            call(*positional, **{argument.arg: ast.literal_eval(default)})
