"""Consumers of visits: each gets those of the sites that it has chosen, whoever else begins or ends."""

from __future__ import annotations

import gc

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("monitorch.spy", reason="the package is not built (make)")

from monitorch import _recorder  # noqa: E402
from monitorch._record import hooks  # noqa: E402

from tests.python.spy.watched import X  # noqa: E402

pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("compiler_module")]


class Consumer:
    """Notes the names that it is called with."""

    def __init__(self, *names, act=None):
        self.seen = []
        self.act = act
        self.watcher = _recorder.make_watcher(tuple(name.encode() for name in names), ())

    def visit(self, name, value, may_be_unchanged, module):
        self.seen.append((name, type(module).__name__))
        if self.act is not None:
            self.act()

    def __enter__(self):
        hooks.learn_layout()
        hooks.begin_watching(self.watcher, self.visit)
        return self

    def __exit__(self, *error):
        hooks.end_watching(self.watcher)


def names(consumer):
    return sorted({name for name, _ in consumer.seen})


def test_each_gets_its_own_sites(model):
    with Consumer("q") as one, Consumer("k", "self.last") as two, Consumer("none") as nobody:
        model(X)
    assert names(one) == ["q"]
    assert names(two) == ["k", "self.last"]
    assert nobody.seen == []


def test_one_that_begins_later_gets_what_comes_then(model):
    with Consumer("q") as first:
        model(X)
        before = len(first.seen)
        with Consumer("q") as second:
            model(X)
        model(X)
    assert len(first.seen) == 3 * before
    assert names(second) == ["q"]
    assert len(second.seen) == before


def test_more_than_have_a_bit_of_their_own(model):
    consumers = [Consumer("q" if i % 2 else "k") for i in range(50)]
    for consumer in consumers:
        consumer.__enter__()
    try:
        model(X)
    finally:
        for consumer in consumers:
            consumer.__exit__()
    assert {tuple(names(consumer)) for consumer in consumers[::2]} == {("k",)}
    assert {tuple(names(consumer)) for consumer in consumers[1::2]} == {("q",)}
    assert len({len(consumer.seen) for consumer in consumers}) == 1


def test_one_that_ends_while_it_is_visited(model):
    second = Consumer("q")
    ended = []

    def end():
        if not ended:
            ended.append(True)
            second.__exit__()
            gc.collect()

    with Consumer("q", act=end) as first:
        second.__enter__()
        model(X)
    assert len(second.seen) == 1  # the visit that was under way
    assert len(first.seen) > 1


def test_a_module_is_named_once_for_all(model):
    with Consumer("attn_s") as one, Consumer("attn_*") as two:
        model(X)
    assert {kind for _, kind in one.seen} == {"Attention"}  # a function that the method calls
    assert [kind for name, kind in two.seen if name == "attn_s"] == [kind for _, kind in one.seen]
