"""What the recorder says of every kind of tensor and array, and that asking changes nothing."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import weakref

import pytest

from tests.support import paths, recording, warm

torch = pytest.importorskip("torch")
recorder = pytest.importorskip("monitorch._recorder", reason="the recorder is not built (make)")

from tests.python.tensor import tensor_child, tensor_kinds  # noqa: E402

pytestmark = pytest.mark.torch

KINDS = tensor_kinds.KINDS


def by_name(name):
    return next(kind for kind in KINDS if kind.name == name)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_kind(kind):
    tensor = kind.make()
    assert not tensor_kinds.differences(kind, tensor, recorder.measure(tensor))


def state_of(tensor):
    """What a tensor's own words for itself are, and how many keep it."""
    if type(tensor) not in (torch.Tensor, torch.nn.Parameter):
        return sys.getrefcount(tensor)
    version = None if tensor.is_inference() else tensor._version
    return sys.getrefcount(tensor), version, tensor.requires_grad, tensor.grad_fn


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_nothing_changes(kind):
    tensor = kind.make()
    recorder.measure(tensor)
    random, grad = torch.get_rng_state(), torch.is_grad_enabled()
    before = state_of(tensor)
    for _ in range(3):
        recorder.measure(tensor)
    assert state_of(tensor) == before
    assert torch.equal(torch.get_rng_state(), random) and torch.is_grad_enabled() == grad
    if isinstance(tensor, torch.Tensor):
        reference = weakref.ref(tensor)
        del tensor
        gc.collect()
        assert reference() is None


def test_first_tensor_leaves_the_random_state_and_no_tensor():
    program = """
import gc, torch
from monitorch import _recorder
torch.manual_seed(3)
x = torch.ones(3)
state, threads = torch.get_rng_state(), torch.get_num_threads()
_recorder.measure(x)
assert torch.equal(torch.get_rng_state(), state) and torch.get_num_threads() == threads
assert torch.is_grad_enabled() and not torch.is_inference_mode_enabled()
tensors = [o for o in gc.get_objects() if type(o) is torch.Tensor and o is not x and o is not state]
assert not tensors, tensors
"""
    subprocess.run([warm.python(), "-c", program], check=True)


def test_a_set_exception_stays():
    class Raises:
        def __del__(self):
            for name in ("sparse coo", "contiguous", "nested"):
                recorder.measure(by_name(name).make())

    with pytest.raises(KeyError, match="kept"):
        holder = Raises()
        try:
            raise KeyError("kept")
        finally:
            del holder


def test_copy_on_write_is_not_copied():
    if not hasattr(torch, "_lazy_clone") or not hasattr(torch._C, "_is_cow_tensor"):
        pytest.skip("this torch has no such tensors")
    tensor = torch._lazy_clone(torch.ones(3))
    assert recorder.measure(tensor)["max"] == 1.0
    assert torch._C._is_cow_tensor(tensor)


def test_a_huge_tensor_is_described():
    huge = torch.empty(1, dtype=torch.float64).expand(2**34, 3)
    measured = recorder.measure(huge, stats=False, hash=False)
    assert measured["shape"] == (2**34, 3) and measured["strides"] == (0, 0)


def test_a_tensor_that_grows_and_moves():
    tensor = torch.ones(4)
    first = recorder.measure(tensor)
    tensor.resize_(50_000).fill_(2)
    second = recorder.measure(tensor)
    tensor.set_(torch.full((3, 3), 5.0))
    third = recorder.measure(tensor)
    assert (first["shape"], second["shape"], third["shape"]) == ((4,), (50_000,), (3, 3))
    assert (first["max"], second["max"], third["max"]) == (1.0, 2.0, 5.0)
    assert first["version"] < second["version"] == tensor._version - 1


@pytest.mark.parametrize(
    "value", [None, 3, "x", [torch.ones(1)], torch.float32, torch.Size([1]), object]
)
def test_what_is_no_tensor(value):
    assert recorder.measure(value) is None


class GuardedMeta(type(torch.Tensor)):
    """A metaclass that lets nobody look at its classes, once it is armed."""

    is_armed = False

    def __getattribute__(cls, name):
        if GuardedMeta.is_armed:
            raise tensor_kinds.CalledByRecorder(name)
        return super().__getattribute__(name)


class Guarded(torch.Tensor, metaclass=GuardedMeta):
    def __getattribute__(self, name):
        raise tensor_kinds.CalledByRecorder(name)

    __getattr__ = __getattribute__
    __eq__ = __hash__ = None


def test_no_code_of_a_type_is_run():
    tensor = torch.Tensor._make_subclass(Guarded, torch.ones(2))
    GuardedMeta.is_armed = True
    try:
        measured = recorder.measure(tensor)
    finally:
        GuardedMeta.is_armed = False
    assert (measured["type"], measured["mean"]) == ("Guarded", 1.0)


def test_tensors_that_are_being_destroyed():
    answers = []

    class Dying(torch.Tensor):
        def __del__(self):
            answers.append(recorder.measure(self)["mean"])

    tensor = torch.Tensor._make_subclass(Dying, torch.ones(2))
    del tensor
    tensor = torch.Tensor._make_subclass(Dying, torch.zeros(2))
    tensor.itself = tensor
    del tensor
    gc.collect()
    assert answers == [1.0, 0.0]


def test_tensors_whose_data_is_replaced():
    tensor = torch.ones(3)
    recorder.measure(tensor)
    tensor.data = torch.full((2, 2), 3, dtype=torch.int8)
    measured = recorder.measure(tensor)
    assert (measured["dtype"], measured["shape"], measured["max"]) == ("int8", (2, 2), 3)


def test_many_threads_meet_the_first_tensor():
    program = """
import threading, torch
from monitorch import _recorder
tensors = [torch.full((number,), float(number)) for number in range(1, 9)]
answers, start = [], threading.Barrier(len(tensors))
def work(tensor):
    start.wait()
    answers.extend((tensor[0].item(), _recorder.measure(tensor)["max"]) for _ in range(200))
threads = [threading.Thread(target=work, args=(tensor,)) for tensor in tensors]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
assert len(answers) == 1600 and all(value == got for value, got in answers)
"""
    subprocess.run([warm.python(), "-c", program], check=True)


def asked_inside(transform, *inputs):
    answers = []

    def function(x):
        answers.append(recorder.measure(x))
        return (x * x).sum()

    transform(function)(*inputs)
    return answers


def test_vmap():
    (answer,) = asked_inside(torch.func.vmap, torch.ones(5, 3))
    assert answer["shape"] == (3,) and answer["note"] == "batched"
    assert not answer["is_readable"] and "mean" not in answer


def test_nested_transforms():
    (answer,) = asked_inside(lambda f: torch.func.vmap(torch.func.grad(f)), torch.ones(5, 3))
    assert answer["shape"] == (3,) and not answer["is_readable"] and answer["note"]
    (answer,) = asked_inside(
        lambda f: torch.func.grad(lambda x: torch.func.vmap(f)(x).sum()), torch.ones(5, 3)
    )
    assert answer["shape"] == (3,) and not answer["is_readable"] and answer["note"]


@pytest.mark.parametrize(
    "transform",
    [
        torch.func.grad,
        lambda f: torch.func.grad(lambda x: torch.func.grad(f)(x).sum()),
        torch.func.jacrev,
    ],
    ids=["grad", "grad of grad", "jacrev"],
)
def test_values_under_grad_are_reached(transform):
    (answer,) = asked_inside(transform, torch.arange(3.0))
    assert answer["shape"] == (3,) and answer["max"] == 2.0 and answer["count"] == 3


def test_functionalize():
    (answer,) = asked_inside(torch.func.functionalize, torch.ones(5, 3))
    assert answer["note"] == "functional" and not answer["is_readable"]


def test_graph_of_a_trace_is_not_touched():
    def function(x):
        y = x + 1
        for value in (x, y, y.shape):
            recorder.measure(value)
        return y * 2

    def plain(x):
        y = x + 1
        y.shape
        return y * 2

    def operations(graph):
        return [node.kind() for node in graph.nodes()]

    first = torch.jit.trace(function, torch.ones(3), check_trace=False)
    second = torch.jit.trace(plain, torch.ones(3), check_trace=False)
    assert operations(first.graph) == operations(second.graph)


def test_gradients_are_the_same():
    def gradient(measured):
        x = torch.arange(4.0, requires_grad=True)
        y = (x * x).tanh()
        if measured:
            recorder.measure(y)
            recorder.measure(x)
        y.sum().backward()
        return x.grad

    assert torch.equal(gradient(True), gradient(False))


def child(situation, **environment):
    words = ["-m", "tests.python.tensor.tensor_child", situation]
    environment = os.environ | environment
    run = recording.run_python(*words, python=warm.python(), folder=paths.ROOT, env=environment)
    assert (run.returncode, run.stdout) == (0, ""), run.stdout + run.stderr[-3000:]


SITUATIONS = [*tensor_child.CONTEXTS, *tensor_child.TRANSFORMS, "jit trace", "pre-dispatch trace"]
LESS_TELLING = ("no_grad", "fake mode", "profiler", "grad", "functionalize", "jit trace")


@pytest.mark.parametrize(
    "situation",
    [
        pytest.param(name, marks=[pytest.mark.slow] if name in LESS_TELLING else [])
        for name in SITUATIONS
    ],
)
def test_first_met_in(situation):
    """The first tensor of a process, and all kinds after it, in a situation whose code would see any
    call to torch that is not guarded."""
    environment = {
        "getters": {"MONITORCH_TEST_TENSORS": "getters"},
        "another device": {"MONITORCH_TEST_DEVICE": "1"},
    }
    child(situation, **environment.get(situation, {}))


def test_while_torch_is_being_imported():
    """Tensors and types met while modules of torch are still running."""
    program = """
import sys
from monitorch import _recorder
answers = []
class Watch:
    def find_spec(self, name, path=None, target=None):
        module = sys.modules.get("torch")
        if name.startswith("torch.") and module is not None and "Tensor" in vars(module):
            answers.append(_recorder.measure(vars(module)["Tensor"]()))
        elif module is not None:
            _recorder.measure(module)
sys.meta_path.insert(0, Watch())
import torch
assert answers and answers[-1]["shape"] == (0,), answers[-1:]
assert _recorder.measure(torch.nn.Parameter(torch.ones(2)))["flags"] == 3
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_imports_nothing():
    program = """
import sys
from monitorch import _recorder
assert _recorder.measure(3) is None
assert not {"torch", "numpy"} & set(sys.modules)
class torch: Tensor = 3
sys.modules["torch"] = sys.modules["torch._C"] = sys.modules["numpy"] = torch
assert _recorder.measure(torch()) is None
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_distributed_tensor():
    if not torch.distributed.is_available():
        pytest.skip("torch without torch.distributed")
    program = """
import torch, tempfile, torch.distributed as distributed
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Shard, distribute_tensor
from monitorch import _recorder
with tempfile.NamedTemporaryFile() as file:
    distributed.init_process_group("gloo", init_method="file://" + file.name, rank=0, world_size=1)
    tensor = distribute_tensor(torch.ones(4, 3), init_device_mesh("cpu", (1,)), [Shard(0)])
    answer = _recorder.measure(tensor)
    distributed.destroy_process_group()
assert (answer["type"], answer["shape"], answer["note"]) == ("DTensor", (4, 3), "wrapper"), answer
assert not answer["is_readable"]
"""
    subprocess.run([warm.python(), "-c", program], check=True)
