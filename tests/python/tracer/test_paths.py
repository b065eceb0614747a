"""Which path matches what: over modules, methods, variables, and all that can be inside them."""

import pytest
import torch

from tests.support import recording

recording.package()

from monitorch.tracer import ModelTracer  # noqa: E402

from tests.python.tracer.models import Layer, Net  # noqa: E402

LOCALS = {
    "x", "rest", "flag", "more", "h", "number", "n", "count", "pair", "items", "book", "cache",
    "text", "nothing", "real", "out",
}  # fmt: skip


def under(prefix, names):
    return {f"{prefix}.{name}" for name in names}


# path -> what it matches; of values only how many, by name, where that is more than one.
TABLE = [
    # Outputs.
    ("forward", {"forward"}),
    ("head", {"head"}),
    ("layers.0", {"layers.0"}),
    ("layers.*", {"layers.0", "layers.1"}),
    ("named.a", {"named.a"}),
    ("named.*", {"named.a"}),
    ("*", {"bn", "bn2", "head"}),  # layers and named are never called
    ("*.*", {"layers.0", "layers.1", "named.a"} | under("forward", LOCALS)),
    ("bn*", {"bn", "bn2"}),
    ("b*2", {"bn2"}),
    ("layers.0.forward", {"layers.0.forward"}),
    ("layers.*.forward", {"layers.0.forward", "layers.1.forward"}),
    ("*.*.forward", {"layers.0.forward", "layers.1.forward", "named.a.forward"}),
    ("layers.0.scaled", {"layers.0.scaled"}),
    ("*.*.scaled", {"layers.0.scaled", "layers.1.scaled", "named.a.scaled"}),
    # Variables of forward and of other methods.
    ("forward.x", {"forward.x"}),
    ("forward.flag", {"forward.flag"}),
    ("forward.h", {"forward.h"}),
    ("forward.number", {"forward.number"}),
    ("forward.count", {"forward.count"}),
    ("forward.text", {"forward.text"}),
    ("forward.nothing", {"forward.nothing"}),
    ("forward.out", {"forward.out"}),
    ("forward.*", under("forward", LOCALS)),
    ("forward.n*", {"forward.n", "forward.number", "forward.nothing"}),
    ("layers.0.forward.x", {"layers.0.forward.x"}),
    ("layers.0.forward.extra", {"layers.0.forward.extra"}),
    ("layers.*.forward.y", {"layers.0.forward.y", "layers.1.forward.y"}),
    ("*.*.forward.y", {f"{p}.forward.y" for p in ("layers.0", "layers.1", "named.a")}),
    ("layers.1.forward.*", under("layers.1.forward", {"x", "extra", "y"})),
    ("layers.0.scaled.x", {"layers.0.scaled.x"}),
    ("layers.0.scaled.product", {"layers.0.scaled.product"}),
    ("layers.0.*.product", {"layers.0.scaled.product"}),
    ("layers.0.*.x", {"layers.0.scaled.x", "layers.0.forward.x"}),
    ("*.*.*.product", {f"{p}.scaled.product" for p in ("layers.0", "layers.1", "named.a")}),
    ("head.forward.input", {"head.forward.input"}),
    ("*.forward.input", {"bn.forward.input", "bn2.forward.input", "head.forward.input"}),
    # Named tuples, tuples, lists, dicts, dataclasses.
    ("forward.pair", {"forward.pair"}),
    ("forward.pair.first", {"forward.pair.first"}),
    ("forward.pair.1", {"forward.pair.1"}),
    ("forward.pair.*", {"forward.pair.first", "forward.pair.second"}),
    ("forward.items", {"forward.items"}),
    ("forward.items.0", {"forward.items.0"}),
    ("forward.items.*", under("forward.items", "012")),
    ("forward.items.2.deep", {"forward.items.2.deep"}),
    ("forward.items.2.deep.0", {"forward.items.2.deep.0"}),
    ("forward.items.2.deep.1.0", {"forward.items.2.deep.1.0"}),
    ("forward.items.*.deep.0", {"forward.items.2.deep.0"}),
    ("forward.items.*.*.*", {"forward.items.2.deep.0", "forward.items.2.deep.1"}),
    ("forward.book.h", {"forward.book.h"}),
    ("forward.book.7", {"forward.book.7"}),
    ("forward.book.text", {"forward.book.text"}),
    ("forward.book.*", under("forward.book", ["h", "inner", "7", "text"])),
    ("forward.book.inner.n", {"forward.book.inner.n"}),
    ("forward.book.*.n", {"forward.book.inner.n"}),
    ("forward.cache.size", {"forward.cache.size"}),
    ("forward.cache.keys.1", {"forward.cache.keys.1"}),
    ("forward.cache.*", {"forward.cache.keys", "forward.cache.size"}),
    ("forward.cache.keys.*", {"forward.cache.keys.0", "forward.cache.keys.1"}),
    ("forward.*.h", {"forward.book.h"}),
    ("forward.*.0", {"forward.items.0"} | {"forward.pair.0"}),
    # Modules, parameters, buffers, attributes.
    ("forward.self.bn.running_var", {"forward.self.bn.running_var"}),
    ("forward.self.*.running_var", {"forward.self.bn.running_var", "forward.self.bn2.running_var"}),
    ("forward.self.bn.*", under("forward.self.bn", {
        "weight", "bias", "running_mean", "running_var", "num_batches_tracked",
        "num_features", "eps", "momentum", "affine", "track_running_stats"})),
    ("forward.self.head.weight", {"forward.self.head.weight"}),
    ("forward.self.layers.0.weight", {"forward.self.layers.0.weight"}),
    ("forward.self.layers.*.weight", {
        "forward.self.layers.0.weight", "forward.self.layers.1.weight"}),
    ("forward.self.layers.*.shift", {
        "forward.self.layers.0.shift", "forward.self.layers.1.shift"}),
    ("forward.self.layers.0.last", {"forward.self.layers.0.last"}),
    ("forward.self.table.one", {"forward.self.table.one"}),
    ("forward.self.table.2", {"forward.self.table.2"}),
    ("forward.self.table.a\\.b", {"forward.self.table.a\\.b"}),
    ("forward.self.table.*", under("forward.self.table", ["one", "2", "a\\.b"])),
    ("forward.self.training", {"forward.self.training"}),
    ("layers.0.forward.self.last", {"layers.0.forward.self.last"}),
    ("layers.0.forward.self.hint", {"layers.0.forward.self.hint"}),
    ("layers.0.forward.self.*", under("layers.0.forward.self", {"weight", "shift", "last", "hint"})),
    ("layers.*.scaled.self.weight", {
        "layers.0.scaled.self.weight", "layers.1.scaled.self.weight"}),
    # Tensors say of themselves what torch has in C.
    ("forward.x.shape", {"forward.x.shape"}),
    ("forward.x.shape.0", {"forward.x.shape.0"}),
    ("forward.h.requires_grad", {"forward.h.requires_grad"}),
    # Functions, classes and modules are no values for a star, and a module is none at all.
    ("forward.function", {"forward.function"}),
    ("forward.self", set()),
    ("forward.layer", set()),
]  # fmt: skip


def run(paths, model=None, training=True):
    torch.manual_seed(0)
    model = Net() if model is None else model
    model.train(training)
    with ModelTracer(model, paths) as tracer:
        model(torch.arange(6.0).view(2, 3), flag=False)
    return model, tracer


@pytest.mark.parametrize("path, matched", TABLE, ids=[path for path, _ in TABLE])
@pytest.mark.filterwarnings("ignore:path")
def test_matches(path, matched):
    _, tracer = run([path])
    assert set(tracer.results) == matched


def test_the_table_is_long():
    assert len(TABLE) >= 60


@pytest.mark.filterwarnings("ignore:path")
def test_all_at_once():
    _, tracer = run([path for path, _ in TABLE])
    assert set(tracer.results) == set().union(*(matched for _, matched in TABLE))


VALUES = [
    # With x = [[0, 1, 2], [3, 4, 5]]: layer 0 is 2x + 1, layer 1 is 3(2x + 1) + 1, a is 4 times that + 1.
    ("layers.0", lambda x: [2 * x + 1]),
    ("layers.0.scaled.product", lambda x: [2 * x]),
    ("layers.0.forward.y", lambda x: [2 * x, 2 * x + 1]),
    ("layers.1.forward.x", lambda x: [2 * x + 1]),
    ("layers.1", lambda x: [6 * x + 4]),
    ("named.a", lambda x: [24 * x + 17]),
    ("forward.h", lambda x: [x, 2 * x + 1, 6 * x + 4, 24 * x + 17]),
    ("forward.number", lambda x: [0, 1]),
    ("forward.flag", lambda x: [False]),
    ("forward.items.2.deep.0", lambda x: [24 * x + 18]),
    ("forward.items.2.deep.1.0", lambda x: [24 * x + 19]),
    ("forward.book.7", lambda x: [168 * x + 119]),
    ("forward.cache.keys.1", lambda x: [24 * x + 20]),
    ("forward.pair.first", lambda x: [24 * x + 17]),
    ("forward.x.shape", lambda x: [(2, 3)]),
    ("forward.self.layers.0.weight", lambda x: [torch.full((3,), 2.0)]),
    ("layers.0.forward.self.last", lambda x: [2 * x + 1]),
]  # fmt: skip


@pytest.mark.parametrize("path, expected", VALUES, ids=[path for path, _ in VALUES])
def test_values(path, expected):
    _, tracer = run([path])
    x = torch.arange(6.0).view(2, 3)
    traced = tracer.results[path]
    wanted = expected(x)
    assert len(traced.values) == len(wanted)
    for value, other in zip(traced.values, wanted):
        if isinstance(other, torch.Tensor):
            assert torch.equal(value, other) and not value.requires_grad
        else:
            assert value == other
    assert traced.iterations == [1] * len(wanted)
    assert traced.ranks == [0] * len(wanted)


NOTHING = [
    ("forward.tetx", "Net.forward has no 'tetx'; did you mean 'forward.text'?"),
    ("layers.0.forward.z", "layers.0.forward has no 'z'"),
    ("layers.2", "layers has no '2'"),
    ("heda", "Net has no 'heda'; did you mean 'head'?"),
    ("hed.forward.input", "Net has no 'hed'; did you mean 'head.forward.input'?"),
    ("head.frward.input", "head has no 'frward'; did you mean 'head.forward.input'?"),
    ("layers.0.scald.x", "layers.0 has no 'scald'; did you mean 'layers.0.scaled.x'?"),
    ("forward.self.bm.running_var",
     "forward.self has no 'bm'; did you mean 'forward.self.bn.running_var'?"),
    ("forward.self.bn.runing_var",
     "forward.self.bn has no 'runing_var'; did you mean 'forward.self.bn.running_var'?"),
    ("*.forward.inputs", "has no 'inputs'; did you mean '*.forward.input'?"),
]  # fmt: skip


@pytest.mark.parametrize("path, text", NOTHING, ids=[path for path, _ in NOTHING])
def test_nothing_warns_at_once(path, text):
    with pytest.warns(UserWarning) as warned:
        ModelTracer(Net(), ["forward", path])
    assert len(warned) == 1
    message = str(warned[0].message)
    assert message.startswith(f"path {path!r} can match nothing")
    assert text in message
    assert warned[0].filename == __file__


@pytest.mark.parametrize(
    "path, text",
    [
        ("", "path '': segment 1 is empty, expected a name or *"),
        ("forward..x", "path 'forward..x': segment 2 is empty, expected a name or *"),
        ("forward.x.", "path 'forward.x.': segment 3 is empty, expected a name or *"),
    ],
)
def test_no_path(path, text):
    with pytest.raises(ValueError) as raised:
        ModelTracer(Net(), [path])
    assert str(raised.value) == text


def test_a_path_is_a_text():
    with pytest.raises(TypeError, match="a path must be a str, not 3"):
        ModelTracer(Net(), [3])


def test_one_path():
    _, tracer = run("forward.x")
    assert set(tracer.results) == {"forward.x"}


def test_shared_module_has_both_paths():
    layer = Layer(2.0)

    class Twice(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.one = layer
            self.two = layer

        def forward(self, x):
            return self.two(self.one(x))

    model = Twice()
    with ModelTracer(model, ["*.forward.x", "one", "two"]) as tracer:
        model(torch.zeros(3))
    for path in ("one.forward.x", "two.forward.x", "one", "two"):
        first, second = (0.0, 1.0) if "x" in path else (1.0, 3.0)
        assert [value[0].item() for value in tracer.results[path].values] == [first, second]
    assert "forward" not in layer.__dict__
