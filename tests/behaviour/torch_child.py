"""Trains and evaluates torch's own modules in this process, and writes hashes of all results.

python torch_child.py plain|instrumented RESULT.json

`instrumented`: torch.nn and torch.optim are compiled by monitorch's compile_source as they are
imported. Every kind of module, loss and optimiser runs from the same seed; the hashes cover
outputs, gradients, parameters, buffers, optimiser state and the random state.
"""

import hashlib
import json
import sys
import warnings

from child_imports import compile_packages, instrumenter

PACKAGES = ("torch.nn", "torch.optim")


def module_kinds(torch):
    """{name: (make the module, make its inputs)}"""
    nn = torch.nn
    r = torch.randn
    image = lambda: (r(2, 4, 8, 8),)  # noqa: E731
    flat = lambda: (r(5, 8),)  # noqa: E731
    sequence = lambda: (r(6, 3, 8),)  # noqa: E731
    line = lambda: (r(2, 4, 9),)  # noqa: E731
    return {
        "Linear": (lambda: nn.Linear(8, 5), flat),
        "Bilinear": (lambda: nn.Bilinear(8, 4, 3), lambda: (r(5, 8), r(5, 4))),
        "Conv1d": (lambda: nn.Conv1d(4, 6, 3, padding=1), line),
        "Conv2d": (lambda: nn.Conv2d(4, 6, 3, padding="same", padding_mode="reflect"), image),
        "Conv3d": (lambda: nn.Conv3d(2, 3, 2), lambda: (r(2, 2, 4, 4, 4),)),
        "ConvTranspose1d": (lambda: nn.ConvTranspose1d(4, 2, 3, stride=2), line),
        "ConvTranspose2d": (lambda: nn.ConvTranspose2d(4, 2, 3, stride=2), image),
        "BatchNorm1d": (lambda: nn.BatchNorm1d(8), flat),
        "BatchNorm2d": (lambda: nn.BatchNorm2d(4, momentum=None), image),
        "SyncBatchNorm in evaluation": (lambda: nn.SyncBatchNorm(4).eval(), image),
        "LayerNorm": (lambda: nn.LayerNorm(8), flat),
        "RMSNorm": (lambda: nn.RMSNorm(8), flat),
        "GroupNorm": (lambda: nn.GroupNorm(2, 4), image),
        "InstanceNorm2d": (
            lambda: nn.InstanceNorm2d(4, affine=True, track_running_stats=True),
            image,
        ),
        "LocalResponseNorm": (lambda: nn.LocalResponseNorm(2), image),
        "Dropout": (lambda: nn.Dropout(0.4), flat),
        "Dropout2d": (lambda: nn.Dropout2d(0.4), image),
        "AlphaDropout": (lambda: nn.AlphaDropout(0.4), flat),
        "RReLU": (lambda: nn.RReLU(), flat),
        "PReLU": (lambda: nn.PReLU(4), image),
        "GELU": (lambda: nn.GELU(), flat),
        "GLU": (lambda: nn.GLU(), flat),
        "SiLU": (lambda: nn.SiLU(inplace=True), lambda: (r(5, 8) * 1,)),
        "Softmax": (lambda: nn.Softmax(dim=-1), flat),
        "MaxPool2d": (lambda: nn.MaxPool2d(2, return_indices=True), image),
        "AvgPool2d": (lambda: nn.AvgPool2d(3, 2, 1), image),
        "AdaptiveAvgPool2d": (lambda: nn.AdaptiveAvgPool2d((3, None)), image),
        "FractionalMaxPool2d": (lambda: nn.FractionalMaxPool2d(2, output_ratio=0.5), image),
        "LPPool2d": (lambda: nn.LPPool2d(2, 2), image),
        "Upsample": (lambda: nn.Upsample(scale_factor=2, mode="bilinear"), image),
        "PixelShuffle": (lambda: nn.PixelShuffle(2), image),
        "Fold and Unfold": (
            lambda: nn.Sequential(nn.Unfold(2), nn.Fold((8, 8), 2)),
            image,
        ),
        "Embedding": (
            lambda: nn.Embedding(10, 4, padding_idx=0, max_norm=1.0),
            lambda: (torch.randint(10, (3, 5)),),
        ),
        "EmbeddingBag": (
            lambda: nn.EmbeddingBag(10, 4, mode="mean"),
            lambda: (torch.randint(10, (3, 5)),),
        ),
        "RNN": (lambda: nn.RNN(8, 5, 2, dropout=0.3), sequence),
        "LSTM": (lambda: nn.LSTM(8, 5, bidirectional=True, proj_size=3), sequence),
        "GRU": (lambda: nn.GRU(8, 5, batch_first=True), sequence),
        "LSTMCell": (lambda: nn.LSTMCell(8, 5), flat),
        "MultiheadAttention": (
            lambda: nn.MultiheadAttention(8, 2, dropout=0.2),
            lambda: (r(6, 3, 8), r(6, 3, 8), r(6, 3, 8)),
        ),
        "TransformerEncoder": (
            lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, 0.2), 2),
            sequence,
        ),
        "TransformerDecoder": (
            lambda: nn.TransformerDecoder(nn.TransformerDecoderLayer(8, 2, 16, 0.2), 2),
            lambda: (r(6, 3, 8), r(4, 3, 8)),
        ),
        "Transformer": (
            lambda: nn.Transformer(8, 2, 1, 1, 16, batch_first=True),
            lambda: (r(3, 5, 8), r(3, 4, 8)),
        ),
        "Sequential, ModuleList and ModuleDict": (
            lambda: nn.Sequential(
                nn.ModuleList([nn.Linear(8, 8)])[0], nn.ModuleDict({"a": nn.Tanh()})["a"]
            ),
            flat,
        ),
        "spectral_norm": (
            lambda: nn.utils.parametrizations.spectral_norm(nn.Linear(8, 5)),
            flat,
        ),
        "weight_norm": (
            lambda: nn.utils.parametrizations.weight_norm(nn.Linear(8, 5)),
            flat,
        ),
        "orthogonal": (
            lambda: nn.utils.parametrizations.orthogonal(nn.Linear(8, 5)),
            flat,
        ),
    }


def loss_kinds(torch):
    nn, r = torch.nn, torch.randn
    pair = lambda: (r(5, 4, requires_grad=True), r(5, 4))  # noqa: E731
    classes = lambda: (r(5, 4, requires_grad=True), torch.randint(4, (5,)))  # noqa: E731
    signs = lambda: torch.randint(2, (5,)) * 2 - 1  # noqa: E731
    log_classes = lambda: (r(5, 4, requires_grad=True).log_softmax(1),) + classes()[1:]  # noqa: E731
    return {
        "L1Loss": (nn.L1Loss(), pair),
        "MSELoss": (nn.MSELoss(reduction="sum"), pair),
        "SmoothL1Loss": (nn.SmoothL1Loss(), pair),
        "HuberLoss": (nn.HuberLoss(), pair),
        "CrossEntropyLoss": (nn.CrossEntropyLoss(label_smoothing=0.1), classes),
        "NLLLoss": (nn.NLLLoss(), log_classes),
        "PoissonNLLLoss": (nn.PoissonNLLLoss(full=True), lambda: (pair()[0], r(5, 4).abs())),
        "GaussianNLLLoss": (nn.GaussianNLLLoss(), lambda: (*pair(), r(5, 4).abs() + 0.1)),
        "KLDivLoss": (
            nn.KLDivLoss(reduction="batchmean"),
            lambda: (pair()[0].log_softmax(1), r(5, 4).softmax(1)),
        ),
        "BCELoss": (nn.BCELoss(), lambda: (pair()[0].sigmoid(), torch.rand(5, 4))),
        "BCEWithLogitsLoss": (nn.BCEWithLogitsLoss(), lambda: (pair()[0], torch.rand(5, 4))),
        "HingeEmbeddingLoss": (
            nn.HingeEmbeddingLoss(),
            lambda: (r(5, requires_grad=True), signs()),
        ),
        "SoftMarginLoss": (nn.SoftMarginLoss(), lambda: (r(5, requires_grad=True), signs())),
        "MultiLabelMarginLoss": (
            nn.MultiLabelMarginLoss(),
            lambda: (pair()[0], torch.randint(4, (5, 4))),
        ),
        "MultiLabelSoftMarginLoss": (
            nn.MultiLabelSoftMarginLoss(),
            lambda: (pair()[0], torch.randint(2, (5, 4)).float()),
        ),
        "MultiMarginLoss": (nn.MultiMarginLoss(), classes),
        "MarginRankingLoss": (
            nn.MarginRankingLoss(0.1),
            lambda: (r(5, requires_grad=True), r(5), signs()),
        ),
        "CosineEmbeddingLoss": (
            nn.CosineEmbeddingLoss(),
            lambda: (*pair(), signs()),
        ),
        "TripletMarginLoss": (nn.TripletMarginLoss(), lambda: (*pair(), r(5, 4))),
        "TripletMarginWithDistanceLoss": (
            nn.TripletMarginWithDistanceLoss(swap=True),
            lambda: (*pair(), r(5, 4)),
        ),
        "CTCLoss": (
            nn.CTCLoss(),
            lambda: (
                r(10, 2, 5, requires_grad=True).log_softmax(2),
                torch.randint(1, 5, (2, 3)),
                torch.full((2,), 10),
                torch.full((2,), 3),
            ),
        ),
        "AdaptiveLogSoftmaxWithLoss": (
            nn.AdaptiveLogSoftmaxWithLoss(4, 10, [3, 6]),
            lambda: (r(5, 4, requires_grad=True), torch.randint(10, (5,))),
        ),
    }


def tensors_in(torch, value):
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, dict):
        for key in value:
            yield from tensors_in(torch, value[key])
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from tensors_in(torch, item)


def digest(torch, *values):
    total = hashlib.sha256()
    for tensor in tensors_in(torch, values):
        tensor = tensor.detach()
        if tensor.is_sparse:
            tensor = tensor.to_dense()
        total.update(f"{tuple(tensor.shape)} {tensor.dtype} {tensor.stride()}".encode())
        data = tensor.contiguous().view(-1)
        total.update(bytes(data.view(torch.uint8).tolist()) if data.numel() else b"")
    total.update(bytes(torch.get_rng_state().tolist()))
    return total.hexdigest()


def run_modules(torch, results):
    for name, (make, inputs) in module_kinds(torch).items():
        for is_training in (True, False):
            torch.manual_seed(7)
            module = make().train(is_training)
            if "SyncBatchNorm" in name:
                module.eval()
            given = [t.requires_grad_() if t.is_floating_point() else t for t in inputs()]
            if "inplace" in repr(module):
                given = [t * 1 for t in given]
            output = module(*given)
            floats = [t for t in tensors_in(torch, output) if t.requires_grad]
            if floats:
                sum((t * t.detach().cos()).sum() for t in floats).backward()
            gradients = [p.grad for p in module.parameters()]
            key = f"module {name}, {'training' if is_training else 'evaluation'}"
            results[key] = digest(
                torch, output, gradients, list(module.state_dict().values())
            )


def run_losses(torch, results):
    for name, (loss, inputs) in loss_kinds(torch).items():
        torch.manual_seed(11)
        given = inputs()
        for tensor in given:
            if tensor.requires_grad:
                tensor.retain_grad()
        output = loss(*given)
        value = output.loss if hasattr(output, "loss") else output
        value.backward()
        results[f"loss {name}"] = digest(torch, value, [t.grad for t in given])


OPTIMISER_OPTIONS = {
    "Adam": {"amsgrad": True, "weight_decay": 0.1},
    "SGD": {"lr": 0.1, "momentum": 0.9, "nesterov": True},
    "LBFGS": {"line_search_fn": "strong_wolfe"},
    "RMSprop": {"momentum": 0.5, "centered": True},
}


def optimiser_names(torch):
    found = []
    for name in sorted(dir(torch.optim)):
        kind = getattr(torch.optim, name)
        if isinstance(kind, type) and issubclass(kind, torch.optim.Optimizer):
            if kind is not torch.optim.Optimizer:
                found.append(name)
    return found


def run_optimiser(torch, name, options):
    torch.manual_seed(13)
    nn = torch.nn
    if name == "SparseAdam":
        model = nn.EmbeddingBag(20, 4, mode="sum", sparse=True)
        inputs, target = torch.randint(20, (6, 3)), torch.randn(6, 4)
    else:
        has_bias = name != "Muon"  # it takes matrices alone
        model = nn.Sequential(
            nn.Linear(6, 8, bias=has_bias), nn.Tanh(), nn.Dropout(0.2),
            nn.Linear(8, 4, bias=has_bias),
        )
        inputs, target = torch.randn(10, 6), torch.randn(10, 4)
    optimiser = getattr(torch.optim, name)(model.parameters(), **options)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, 8)
    losses = []

    def closure():
        optimiser.zero_grad()
        loss = nn.functional.mse_loss(model(inputs), target)
        loss.backward()
        losses.append(loss.detach())
        return loss

    for _ in range(8):
        optimiser.step(closure)
        scheduler.step()
    state = [list(s.values()) for s in optimiser.state_dict()["state"].values()]
    return digest(torch, losses, list(model.state_dict().values()), state,
                  [p.grad for p in model.parameters()])


def run_optimisers(torch, results):
    for name in optimiser_names(torch):
        variants = [{}]
        if name in OPTIMISER_OPTIONS:
            variants.append(OPTIMISER_OPTIONS[name])
        if name in ("Adam", "AdamW", "SGD", "RMSprop", "Adagrad"):
            variants += [{"foreach": True}, {"foreach": False}]
        for options in variants:
            results[f"optimiser {name} {options}"] = run_optimiser(torch, name, options)


def main():
    how, result_path = sys.argv[1:3]
    warnings.simplefilter("ignore")
    if how == "instrumented":
        compile_packages(PACKAGES, instrumenter())
    import torch

    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    results = {}
    run_modules(torch, results)
    run_losses(torch, results)
    run_optimisers(torch, results)
    with open(result_path, "w") as file:
        json.dump({"results": results}, file)


if __name__ == "__main__":
    main()
