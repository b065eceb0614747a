"""torch-module-monitor 0.1.0 and this package see the same training: the same keys and values.

Runs where the old package is, in this interpreter or among the peers of `make bench`.
"""

import copy
import importlib.util
import math
import sys

import pytest

from tests.support import paths

torch = pytest.importorskip("torch")
pytest.importorskip("monitorch.monitor", reason="the package is not built (make)")

PEERS = paths.BUILD / "peers"
if importlib.util.find_spec("torch_module_monitor") is None and PEERS.is_dir():
    sys.path.append(str(PEERS))
old = pytest.importorskip("torch_module_monitor")

import monitorch.monitor as ours  # noqa: E402
import torch.nn.functional as F  # noqa: E402
from torch import nn  # noqa: E402

pytestmark = pytest.mark.torch


class Block(nn.Module):
    package = None

    def __init__(self, size):
        super().__init__()
        self.norm = nn.LayerNorm(size)
        self.qkv = nn.Linear(size, 3 * size)
        self.out = nn.Linear(size, size, bias=False)
        self.mlp = nn.Sequential(nn.Linear(size, 2 * size), nn.GELU(), nn.Linear(2 * size, size))

    def forward(self, x):
        parts = self.qkv(self.norm(x)).chunk(3, -1)
        q, k, v = (part.unflatten(-1, (2, -1)).transpose(1, 2) for part in parts)
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        if self.is_monitoring and not self.is_reference_module:
            self.package.monitor_scaled_dot_product_attention(
                self.get_module_monitor(), self, q, k, v, is_causal=True, activation=a
            )
        x = x + self.out(a.transpose(1, 2).flatten(2))
        return x + self.mlp(x)


# The mixins of both have an __init__ of no arguments, or none.
class OldBlock(Block, old.monitor.MonitorMixin):
    package = old

    def __init__(self, size):
        Block.__init__(self, size)
        self.module_monitor = None
        self.is_reference_module = False


class OurBlock(Block, ours.MonitorMixin):
    package = ours


class Model(nn.Module):
    def __init__(self, make_block):
        super().__init__()
        self.embedding = nn.Embedding(17, 8)
        self.blocks = nn.ModuleList([make_block(8) for _ in range(2)])
        self.head = nn.Linear(8, 17)

    def forward(self, tokens):
        x = self.embedding(tokens)
        for block in self.blocks:
            x = block(x)
        return self.head(x)


def both(values):
    return {"": values.mean().item(), "/std": values.std().item()}


def train(package, make_block, has_check=True, steps=5):
    torch.manual_seed(0)
    model = Model(make_block)
    reference = copy.deepcopy(model)
    monitor = package.ModuleMonitor(monitor_step_fn=lambda step: step % 2 == 0)
    monitor.set_module(model)
    monitor.add_activation_metric("mean", lambda x: x.mean())
    monitor.add_activation_metric("rms", lambda x: x.pow(2).mean().sqrt())
    monitor.add_activation_metric("row", lambda x: x.norm(dim=-1), metric_aggregation_fn=both)
    monitor.add_activation_metric("max", lambda x: x.max(), metric_regex=r"blocks.*mlp")
    monitor.add_parameter_metric("norm", lambda x: x.norm())
    monitor.add_gradient_metric("norm", lambda x: x.norm())
    monitor.set_reference_module(reference)
    monitor.add_activation_difference_metric("l2", lambda a, b: (a - b).norm(dim=-1))
    monitor.add_parameter_difference_metric("l2", lambda a, b: (a - b).norm())
    check = package.RefinedCoordinateCheck(monitor) if has_check else None
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.02)
    generator = torch.Generator().manual_seed(5)
    for step in range(steps):
        monitor.begin_step(step)
        for _ in range(2):
            tokens = torch.randint(0, 17, (3, 9), generator=generator)
            with torch.no_grad():
                reference(tokens)  # not in no_monitor(): there the old one forgets its inputs
            loss = F.cross_entropy(model(tokens)[:, :-1].flatten(0, 1), tokens[:, 1:].flatten())
            (loss / 2).backward()
            monitor.log_scalar("loss", loss.item(), force=True)
            if has_check:
                check.refined_coordinate_check()
            monitor.after_micro_batch()
        monitor.monitor_parameters()
        monitor.monitor_gradients(before_clip=True)
        nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        monitor.monitor_gradients()
        optimizer.step()
        optimizer.zero_grad()
        monitor.end_step()
    return model, monitor


@pytest.fixture(scope="module")
def runs():
    return train(old, OldBlock), train(ours, OurBlock)


def test_same_weights(runs):
    (left, _), (right, _) = runs
    for name, value in left.state_dict().items():
        assert torch.equal(value, right.state_dict()[name]), name


def test_same_keys_and_values(runs):
    (_, theirs), (_, monitor) = runs
    left, right = theirs.get_all_metrics(), monitor.get_all_metrics()
    monitored = [0, 2, 4]
    assert set(left) == set(right) and set(monitored) <= set(left)
    for step in monitored:
        assert set(left[step]) == set(right[step])
        assert len(left[step]) > 200
        for key, value in left[step].items():
            assert right[step][key] == pytest.approx(value, rel=1e-5, abs=1e-5), key


def test_files_go_both_ways(runs, tmp_path):
    """Ours reads theirs; theirs reads ours, key by key, as its own with a `/` in the key."""
    pytest.importorskip("h5py")
    (_, theirs), (_, monitor) = runs
    theirs.storage.save_hdf5(str(tmp_path / "theirs.h5"))
    monitor.storage.save_hdf5(str(tmp_path / "ours.h5"))
    condensed = monitor.storage.condensed_log_dict()
    loaded = ours.StorageManager.load_hdf5(tmp_path / "theirs.h5")
    for key, entry in theirs.storage.condensed_log_dict().items():
        if any(isinstance(value, list) for value in entry.values()):
            continue  # of steps that are not monitored: the old one does not save the key at all
        if not any(other.startswith(key + "/") for other in condensed):
            assert loaded[key] == pytest.approx(entry, nan_ok=True), key
    for key, entry in condensed.items():
        if any(other.startswith(key + "/") for other in condensed):
            continue  # the old one stumbles over groups in groups
        steps, values = old.StorageManager.read_hdf5_entry(str(tmp_path / "ours.h5"), key)
        assert dict(zip(steps.tolist(), values.tolist())) == pytest.approx(entry), key
    assert math.isfinite(loaded["loss" if "loss" in loaded else next(iter(loaded))].popitem()[1])


def test_plain_keys_are_loaded_whole_by_the_old_package(tmp_path):
    pytest.importorskip("h5py")
    storage = ours.StorageManager()
    storage.load_metrics({0: {"loss": 1.0}, 20: {"loss": 0.5, "accuracy": 0.9}})
    storage.save_hdf5(str(tmp_path / "ours.h5"))
    assert old.StorageManager.load_hdf5(str(tmp_path / "ours.h5")) == {
        "loss": {0.0: 1.0, 20.0: 0.5}, "accuracy": {20.0: 0.9},
    }  # fmt: skip
