"""What torch's compilers and transforms make of a file of models.

python transform_child.py MODELS.py RESULT.json [TRACE [OPTION=VALUE…]]

Runs every scenario and writes what each gave, as numbers. With a trace, while monitorch records.
"""

import contextlib
import copy
import functools
import json
import os
import sys
import threading
import warnings

import torch
from child_imports import load

SCENARIOS = {}


def scenario(function):
    SCENARIOS[function.__name__] = function
    return function


def bits(value):
    if isinstance(value, torch.Tensor):
        if value.is_sparse:
            value = value.to_dense()
        return [str(value.dtype), list(value.shape), value.detach().reshape(-1).tolist()]
    if isinstance(value, dict):
        return {str(key): bits(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [bits(item) for item in value]
    return repr(value)


def inputs(*shape):
    return torch.linspace(-2, 2, torch.Size(shape).numel()).reshape(shape)


def train_once(model, call, x):
    out = call(x)
    loss = out["out"].pow(2).mean() + out["mean"]
    loss.backward()
    return loss, [p.grad for p in model.parameters()]


def names_of_nodes(graph):
    return [f"{n.op} {n.target}" for n in graph.nodes]


# torch.compile ----------------------------------------------------------------------------


def compiled(models, **options):
    torch._dynamo.reset()
    torch.manual_seed(2)
    model = models.Net().eval()
    call = torch.compile(model, **options)
    return [call(inputs(3, 8)), call(inputs(3, 8) + 1), call(inputs(5, 8))]


COMPILED = {
    "compile_eager": {"backend": "eager"},
    "compile_whole_graph": {"backend": "eager", "fullgraph": True},
    "compile_aot": {"backend": "aot_eager"},
    "compile_dynamic": {"backend": "aot_eager", "dynamic": True},
    "compile_inductor": {},
}
for name, options in COMPILED.items():
    SCENARIOS[name] = functools.partial(compiled, **options)


@scenario
def compile_training(models):
    torch._dynamo.reset()
    torch.manual_seed(3)
    model = models.Net()
    call = torch.compile(model, backend="aot_eager")
    optimiser = torch.optim.AdamW(model.parameters(), lr=0.01)
    losses = []
    for _ in range(3):
        optimiser.zero_grad()
        losses.append(train_once(model, call, inputs(3, 8))[0])
        optimiser.step()
    return losses


@scenario
def compile_functions(models):
    results = []
    for is_whole in (False, True):
        torch._dynamo.reset()
        for function, arguments in (
            (models.numbers, (inputs(4), 0.5)),
            (models.numbers, (inputs(4), 0.25, 5)),
            (models.pairwise, (inputs(4, 3), inputs(4, 3).flip(0))),
            (models.with_cubed, (inputs(4),)),
            (models.use_stream, (inputs(4),)),
        ):
            call = torch.compile(function, backend="eager", fullgraph=is_whole)
            results.append(call(*arguments))
    return results


@scenario
def compile_state(models):
    torch._dynamo.reset()
    model = models.Stateful()
    call = torch.compile(model, backend="eager")
    outputs = [call(inputs(2, 4)) for _ in range(4)]
    return outputs, model.total, model.calls, model.last


@scenario
def compile_random(models):
    torch._dynamo.reset()
    torch.manual_seed(4)
    call = torch.compile(models.Noisy(), backend="eager")
    return call(inputs(3, 4)), torch.rand(3)


@scenario
def compile_condition(models):
    torch._dynamo.reset()
    x = inputs(4)
    eager = [models.choose(torch.tensor(flag), x) for flag in (True, False)]
    call = torch.compile(models.choose, backend="eager")
    return eager, [call(torch.tensor(flag), x) for flag in (True, False)]


@scenario
def compile_inside_transforms(models):
    torch._dynamo.reset()

    def each(x):
        return torch.func.vmap(models.pairwise)(x, x.flip(0))

    def slope(x):
        return torch.func.grad(lambda x: models.pairwise(x, 0 * x).sum())(x)

    results = []
    for is_whole in (False, True):
        for call in (each, slope):
            torch._dynamo.reset()
            made = torch.compile(call, backend="eager", fullgraph=is_whole)
            results.append(made(inputs(3, 4)))
    return results


@scenario
def compile_checkpoint(models):
    torch._dynamo.reset()
    torch.manual_seed(5)
    block = models.Block()

    def run(x):
        return torch.utils.checkpoint.checkpoint(block, x, use_reentrant=False).sum()

    results = []
    for is_whole in (False, True):
        block.zero_grad()
        loss = torch.compile(run, backend="aot_eager", fullgraph=is_whole)(inputs(3, 8))
        loss.backward()
        results.append((loss, [p.grad.clone() for p in block.parameters()]))
    return results


@scenario
def compile_error(models):
    torch._dynamo.reset()
    try:
        torch.compile(models.fails, backend="eager")(inputs(3))
    except Exception as error:
        return "RuntimeError" in [kind.__name__ for kind in type(error).__mro__]
    return "no error"


@scenario
def compile_nested_breaks(models):
    with torch._dynamo.config.patch(nested_graph_breaks=True):
        return compiled(models, backend="eager")


@scenario
def explain(models):
    torch._dynamo.reset()
    torch.manual_seed(2)
    model = models.Net().eval()
    torch._dynamo.explain(model)(inputs(3, 8))
    return torch._dynamo.config.recompile_limit


# torch.export and graphs ------------------------------------------------------------------


def exported(models, **options):
    torch.manual_seed(2)
    model = models.Net().eval()
    program = torch.export.export(model, (inputs(3, 8),), **options)
    return names_of_nodes(program.graph), program.module()(inputs(3, 8))


@scenario
def export(models):
    return exported(models, strict=False)


@scenario
def export_strict(models):
    return exported(models, strict=True)


@scenario
def export_dynamic(models):
    shapes = ({0: torch.export.Dim("batch", min=2)},)
    return exported(models, strict=False, dynamic_shapes=shapes)


@scenario
def symbolic_trace(models):
    torch.manual_seed(2)
    model = models.Block()
    traced = torch.fx.symbolic_trace(model)
    return names_of_nodes(traced.graph), traced(inputs(3, 8))


@scenario
def make_fx(models):
    from torch.fx.experimental.proxy_tensor import make_fx as make

    results = []
    for mode in ("real", "fake", "symbolic"):
        graph = make(models.pairwise, tracing_mode=mode)(inputs(4, 3), inputs(4, 3) + 1)
        results.append((names_of_nodes(graph.graph), graph(inputs(4, 3), inputs(4, 3) * 2)))
    return results


@scenario
def jit_trace(models):
    torch.manual_seed(2)
    model = models.Block()
    traced = torch.jit.trace(model, inputs(3, 8))
    kinds = [node.kind() for node in traced.inlined_graph.nodes()]
    return kinds, traced(inputs(3, 8) + 1)


# torch.func -------------------------------------------------------------------------------


def weights():
    return {"w": inputs(3, 5), "v": inputs(5, 2)}


@scenario
def gradients(models):
    func = torch.func
    x = inputs(4, 3)
    return [
        func.grad(models.loss_of)(weights(), x),
        func.grad_and_value(models.loss_of)(weights(), x),
        func.vmap(func.grad(models.loss_of), in_dims=(None, 0))(weights(), x),
        func.jacrev(models.with_cubed)(inputs(3)),
        func.jacfwd(models.pairwise)(inputs(3), inputs(3) + 1),
        func.hessian(models.loss_of, argnums=1)(weights(), inputs(2, 3)),
        func.jvp(models.pairwise, (inputs(3), inputs(3) + 1), (inputs(3), inputs(3))),
        func.vjp(models.pairwise, inputs(4, 3), inputs(4, 3) + 1)[1](inputs(4)),
    ]


@scenario
def batches(models):
    func = torch.func
    pairs = func.vmap(func.vmap(models.pairwise, in_dims=(None, 0)), in_dims=(0, None))
    torch.manual_seed(6)
    noise = func.vmap(models.Noisy(), randomness="different")(inputs(3, 2, 4))
    return pairs(inputs(4, 3), inputs(5, 3)), noise, torch.rand(2)


@scenario
def ensembles(models):
    torch.manual_seed(7)
    nets = [models.Block() for _ in range(3)]
    parameters, buffers = torch.func.stack_module_state(nets)

    def call(parameters, buffers, x):
        return torch.func.functional_call(nets[0], (parameters, buffers), (x,))

    return torch.vmap(call, (0, 0, None))(parameters, buffers, inputs(2, 8))


@scenario
def functionalised(models):
    torch.manual_seed(7)
    model = models.Net().eval()
    return torch.func.functionalize(lambda x: model(x)["out"])(inputs(2, 8))


# Autograd, modes, threads, wrappers -------------------------------------------------------


@scenario
def training(models):
    torch.manual_seed(8)
    model = models.Net()
    results = [train_once(model, model, inputs(3, 8)) for _ in range(2)]
    with torch.autograd.set_detect_anomaly(True):
        results.append(train_once(model, model, inputs(3, 8)))
    return results, torch.get_rng_state().sum()


@scenario
def autocast(models):
    torch.manual_seed(8)
    model = models.Net()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        return train_once(model, model, inputs(3, 8))


@scenario
def checkpointing(models):
    results = []
    for is_reentrant in (True, False):
        torch.manual_seed(9)
        block = models.Block()
        x = inputs(3, 8).requires_grad_()
        y = torch.utils.checkpoint.checkpoint(block, x, use_reentrant=is_reentrant)
        y.sum().backward()
        results.append((y, x.grad, [p.grad for p in block.parameters()]))
    return results


@scenario
def saved_tensors(models):
    seen = []

    def pack(tensor):
        seen.append(list(tensor.shape))
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        y = models.with_cubed(inputs(4).requires_grad_())
        y.backward()
    return seen


@scenario
def double_backward(models):
    x = inputs(4).requires_grad_()
    (first,) = torch.autograd.grad(models.with_cubed(x), x, create_graph=True)
    return torch.autograd.grad(first.sum(), x), torch.autograd.gradcheck(
        models.pairwise, (inputs(2, 3).double().requires_grad_(), inputs(2, 3).double() + 1)
    )


@scenario
def inference(models):
    torch.manual_seed(8)
    model = models.Net().eval()
    with torch.inference_mode():
        out = model(inputs(3, 8))
    return out, out["out"].is_inference()


@scenario
def operations_seen_by_a_mode(models):
    from torch.overrides import TorchFunctionMode
    from torch.utils._python_dispatch import TorchDispatchMode

    seen = []

    class Operations(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, arguments=(), options=None):
            seen.append(str(function))
            return function(*arguments, **(options or {}))

    class Functions(TorchFunctionMode):
        def __torch_function__(self, function, types, arguments=(), options=None):
            seen.append(getattr(function, "__name__", "?"))
            return function(*arguments, **(options or {}))

    torch.manual_seed(8)
    model = models.Net().eval()
    with Operations():
        out = model(inputs(3, 8))
    with Functions():
        model(inputs(3, 8))
    return seen, out


@scenario
def operations_seen_by_a_subclass(models):
    seen = []

    class Counting(torch.Tensor):
        @classmethod
        def __torch_function__(cls, function, types, arguments=(), options=None):
            seen.append(getattr(function, "__name__", "?"))
            return super().__torch_function__(function, types, arguments, options or {})

    y = models.pairwise(inputs(4, 3).as_subclass(Counting), inputs(4, 3) + 1)
    names = list(seen)
    return names, y.as_subclass(torch.Tensor)


@scenario
def fake_and_meta(models):
    from torch._subclasses.fake_tensor import FakeTensorMode

    results = []
    with FakeTensorMode():
        model = models.Net().eval()
        out = model(torch.randn(3, 8))
        results.append((list(out["out"].shape), type(out["out"]).__name__))
    with torch.device("meta"):
        model = models.Net().eval()
        out = model(torch.randn(3, 8))
    results.append((list(out["out"].shape), str(out["out"].device)))
    return results


@scenario
def odd_tensors(models):
    complex_pair = torch.complex(inputs(4, 3), inputs(4, 3).flip(0))
    sparse = inputs(4, 3).to_sparse()
    zero = models.pairwise(torch.zeros(0, 3), torch.zeros(0, 3))
    views = models.pairwise(inputs(6, 6)[::2, 1::2], inputs(3).expand(3, 3))
    added = sparse + sparse
    return [
        models.pairwise(complex_pair.real, complex_pair.conj().imag),
        zero,
        views,
        added,
        models.pairwise(inputs(4, 3).half(), inputs(4, 3).half() + 1),
        models.pairwise(torch.arange(12).view(4, 3).double(), torch.ones(3)),
    ]


@scenario
def threads(models):
    torch.manual_seed(8)
    model = models.Net().eval()
    results = [None] * 4

    def work(index):
        with torch.no_grad():
            for _ in range(5):
                results[index] = model(inputs(2 + index, 8))

    workers = [threading.Thread(target=work, args=(index,)) for index in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return results


# A reducer that goes away holds Python's lock while it joins the thread of its process group,
# which may want that lock: torch then waits for itself. These live to the end of the process.
kept = []


@scenario
def distributed(models):
    import torch.distributed as distributed

    store = distributed.HashStore()
    distributed.init_process_group("gloo", store=store, rank=0, world_size=1)
    try:
        torch.manual_seed(8)
        model = models.Net()
        wrapped = torch.nn.parallel.DistributedDataParallel(model)
        kept.append(wrapped)
        return train_once(model, wrapped, inputs(3, 8))
    finally:
        distributed.destroy_process_group()


@scenario
def modules_with_hooks(models):
    torch.manual_seed(8)
    model = models.Block()
    seen = []
    model.register_forward_hook(lambda module, given, out: seen.append(out.sum()))
    model.up.register_full_backward_hook(lambda module, given, out: seen.append(out[0].sum()))
    torch.nn.utils.parametrizations.spectral_norm(model.down)
    model(inputs(3, 8)).sum().backward()
    copied = copy.deepcopy(model.up)
    return seen, list(copied.parameters()), sorted(model.state_dict())


def main():
    models_path, result_path, *more = sys.argv[1:]
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    results = {}
    recording = contextlib.nullcontext()
    if more:
        import monitorch

        options = dict(word.split("=") for word in more[1:])
        recording = monitorch.record(more[0], **options)
    models = load(models_path)
    with recording:
        for name, run in SCENARIOS.items():
            results[name] = bits(run(models))
    told = {"results": results}
    if more:
        summary = recording.summary
        for name in ("events", "lost", "stopped"):
            told[name] = getattr(summary, name)
    with open(result_path, "w") as file:
        json.dump(told, file)
    os._exit(0)  # see `kept`


if __name__ == "__main__":
    main()
