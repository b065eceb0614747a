"""Programs that look at what a recorder could disturb, and tell what they saw.

Each is a function of no arguments that returns plain data. The file is run as it is, and
instrumented, with recording off and on: what the functions return must be equal, bit by bit.
"""

import gc
import random
import sys
import weakref

import numpy
import torch
from torch import nn
from torch.nn import functional as F


def bits(tensor):
    return tensor.detach().contiguous().view(-1).view(torch.uint8).tolist()


def versions():
    told = []
    x = torch.zeros(4)
    told.append(x._version)
    x.add_(1)
    told.append(x._version)
    x[0] = 5
    told.append(x._version)
    y = x.view(2, 2)
    y.mul_(2)
    told.append((x._version, y._version))
    z = x.detach()
    z += 1
    told.append((x._version, z._version))
    with torch.inference_mode():
        w = torch.ones(3)
        w.add_(1)
    told.append(w.is_inference())
    p = nn.Parameter(torch.ones(3))
    with torch.no_grad():
        p.mul_(3)
    told.append(p._version)
    x.data = torch.ones(2)
    told.append((x._version, tuple(x.shape)))
    return told


def random_states():
    torch.manual_seed(5)
    random.seed(5)
    numpy.random.seed(5)
    told = []
    for _ in range(3):
        x = torch.randn(7)
        y = F.dropout(x, 0.5)
        n = random.random()
        a = numpy.random.rand(3)
        g = torch.Generator().manual_seed(3)
        u = torch.rand(2, generator=g)
        told += [bits(x), bits(y), n, a.tolist(), u.tolist()]
    told.append(torch.get_rng_state().tolist()[:64])
    told.append(repr(random.getstate())[:200])
    return told


def reference_counts():
    told = []
    x = torch.zeros(3)
    told.append(sys.getrefcount(x))
    y = x
    told.append(sys.getrefcount(x))
    held = [x, (x, {"k": x})]
    told.append(sys.getrefcount(x))
    held[1][1]["k"] = None
    told.append(sys.getrefcount(x))
    del y
    told.append(sys.getrefcount(x))
    marker = object()
    told.append(sys.getrefcount(marker))
    kept = marker
    told.append(sys.getrefcount(marker))
    kept = None
    told.append((sys.getrefcount(marker), kept))
    a = numpy.ones(3)
    b = a[1:]
    told.append((sys.getrefcount(a), sys.getrefcount(b)))
    layer = nn.Linear(2, 2)
    weight = layer.weight
    told.append((sys.getrefcount(weight), sys.getrefcount(layer)))
    text = "a text of its own %d" % len(told)
    told.append(sys.getrefcount(text))
    return told


class Node:
    def __init__(self, value):
        self.value = value


def deaths():
    """Weak references die where the last name goes, not later."""
    told = []

    def note(what):
        return lambda _: told.append(what)

    x = torch.zeros(3)
    references = [weakref.ref(x, note("tensor"))]
    x = torch.ones(3)
    told.append("after tensor")
    a = numpy.zeros(3)
    references.append(weakref.ref(a, note("array")))
    a = None
    told.append("after array")
    n = Node(torch.zeros(2))
    references.append(weakref.ref(n, note("node")))
    references.append(weakref.ref(n.value, note("value")))
    n.value = None
    told.append("after value")
    n = [Node(1)]
    references.append(weakref.ref(n[0], note("item")))
    n = {"k": n}
    n["k"] = 0
    told.append("after item")

    def inner():
        local = torch.zeros(5)
        references.append(weakref.ref(local, note("local")))
        return local.sum()

    s = inner()
    told.append("after call")

    def generate():
        kept = torch.zeros(1)
        references.append(weakref.ref(kept, note("kept")))
        yield 1
        yield kept

    g = generate()
    next(g)
    told.append("before close")
    g.close()
    told.append("after close")

    def fails():
        doomed = torch.zeros(1)
        references.append(weakref.ref(doomed, note("doomed")))
        raise ValueError(doomed.numel())

    try:
        fails()
    except ValueError as error:
        told.append(str(error))
    told.append("after error")
    return told, float(s), [reference() is None for reference in references], a


class Loud:
    """Everything that a recorder might ask an object tells that it was asked."""

    told = []

    def __getattr__(self, name):
        Loud.told.append(name)
        raise AttributeError(name)

    def __repr__(self):
        Loud.told.append("repr")
        return "Loud()"

    def __eq__(self, other):
        Loud.told.append("eq")
        return True

    def __hash__(self):
        Loud.told.append("hash")
        return 1

    def __bool__(self):
        Loud.told.append("bool")
        return True

    def __len__(self):
        Loud.told.append("len")
        return 3

    def __iter__(self):
        Loud.told.append("iter")
        return iter(())

    def __getitem__(self, index):
        Loud.told.append("getitem")
        raise IndexError

    def __float__(self):
        Loud.told.append("float")
        return 0.0

    def __index__(self):
        Loud.told.append("index")
        return 0


class LoudList(list, Loud):
    __getattr__ = Loud.__getattr__
    __len__ = Loud.__len__
    __iter__ = Loud.__iter__


class LoudDict(dict):
    def __getitem__(self, key):
        Loud.told.append("getitem")
        return 0

    def items(self):
        Loud.told.append("items")
        return ()

    def __iter__(self):
        Loud.told.append("iter")
        return iter(())


class LoudTensor(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        Loud.told.append(getattr(function, "__name__", "?"))
        return super().__torch_function__(function, types, args, kwargs or {})


class LoudModule(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(2))

    def __getattr__(self, name):
        Loud.told.append("module " + name)
        return super().__getattr__(name)

    def forward(self, x):
        y = x
        self.last = y
        return y


class LoudMeta(type):
    def __getattribute__(cls, name):
        Loud.told.append("meta " + name)
        return super().__getattribute__(name)

    def __instancecheck__(cls, instance):
        Loud.told.append("instancecheck")
        return True


class Measured(metaclass=LoudMeta):
    @property
    def shape(self):
        Loud.told.append("shape")
        return (1,)

    @property
    def __class__(self):
        Loud.told.append("class")
        return torch.Tensor


def questions():
    """No code of the user's runs to find out what a value is."""
    Loud.told.clear()
    a = Loud()
    b = [a, {"k": a}, (a,)]
    c = LoudList([1, 2])
    d = LoudDict(k=1)
    t = torch.zeros(2).as_subclass(LoudTensor)
    m = LoudModule()
    y = m(torch.ones(2))
    e = Measured()
    f = e
    a.x = torch.ones(1)
    a.x = f
    told = list(Loud.told)
    return told, len(b), type(c).__name__, type(d).__name__, type(t).__name__, y.tolist()


def gradients():
    torch.manual_seed(2)
    model = nn.Sequential(nn.Linear(6, 8), nn.Dropout(0.2), nn.ReLU(), nn.Linear(8, 3))
    optimizer = torch.optim.Adam(model.parameters())
    told = []
    for _ in range(3):
        x = torch.randn(5, 6, requires_grad=True)
        x2 = x * 1
        x2[0] = 0
        y = model(x2)
        h = y.register_hook(lambda g: g * 2)
        loss = y.logsumexp(1).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        h.remove()
        told += [bits(loss), bits(x.grad), x2.grad_fn.name(), y.requires_grad]
        told += [bits(p.grad) for p in model.parameters()]
        told += [bits(p) for p in model.parameters()]
    return told


def saved_tensors():
    """A value written in place after it was saved for backward is an error, as before."""
    x = torch.ones(3, requires_grad=True)
    y = x.exp()
    y.add_(1)
    try:
        y.sum().backward()
    except RuntimeError as error:
        return str(error)[:80]
    return None


def memory_is_shared():
    x = torch.arange(6.0)
    a = x.numpy()
    a[0] = 9
    v = x.view(2, 3).t()
    v[1, 1] = 7
    storage = x.untyped_storage()
    told = [x.tolist(), v.is_contiguous(), storage.nbytes(), x.is_shared()]
    grows = torch.arange(3.0)
    grows.resize_(8)
    told.append((tuple(grows.shape), grows.untyped_storage().nbytes()))
    e = torch.zeros(1).expand(5)
    told.append((e.stride(), e.tolist()))
    frozen = numpy.arange(3)
    frozen.setflags(write=False)
    told.append(frozen.flags.writeable)
    grown = numpy.arange(3)
    grown.resize(5)
    told.append(grown.tolist())
    view = memoryview(bytearray(b"abc"))
    view.release()
    buffer = bytearray(b"abc")
    buffer.append(1)
    told.append(bytes(buffer))
    return told


def garbage():
    gc.collect()
    x = torch.zeros(2)
    x.self = x
    r = weakref.ref(x)
    x = None
    before = r() is None
    found = gc.collect()
    return before, r() is None, found > 0


def exceptions():
    told = []
    try:
        x = torch.zeros(2)
        y = x @ torch.zeros(3)
    except RuntimeError as error:
        told.append(type(error).__name__)
        z = sys.exc_info()[0].__name__
        told.append(z)
    try:
        try:
            a = {}["k"]
        finally:
            b = sys.exc_info()[1].args
            told.append(b)
    except KeyError as error:
        told.append((repr(error), error.__context__))
    else:
        told.append((a, y))
    told.append(sys.exc_info())
    return told


def modes():
    """What torch is set to stays so, and is so while sites are visited."""
    told = []
    with torch.no_grad():
        x = torch.ones(2, requires_grad=True) * 2
        told.append((x.requires_grad, torch.is_grad_enabled()))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = torch.ones(2, 2) @ torch.ones(2, 2)
        told.append((str(y.dtype), torch.is_autocast_enabled("cpu")))
    torch.set_default_dtype(torch.float64)
    try:
        z = torch.ones(1) * 0.5
        told.append(str(z.dtype))
    finally:
        torch.set_default_dtype(torch.float32)
    with torch.device("meta"):
        m = torch.ones(3)
        told.append(str(m.device))
    told.append(torch.get_num_threads())
    return told


def functions_of_functions():
    def f(x):
        y = x.sin()
        z = y * 2
        return z.sum()

    x = torch.linspace(0, 1, 4)
    g = torch.func.grad(f)(x)
    v = torch.func.vmap(lambda r: f(r))(x.view(2, 2))
    j = torch.func.jacrev(lambda r: r.sin())(x)
    h = torch.func.hessian(f)(x)
    o, t = torch.func.jvp(f, (x,), (torch.ones(4),))
    return [bits(t) for t in (g, v, j, h, o, t)]


PROGRAMS = [
    versions, random_states, reference_counts, deaths, questions, gradients, saved_tensors,
    memory_is_shared, garbage, exceptions, modes, functions_of_functions,
]
