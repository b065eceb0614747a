"""The refined coordinate check: what part of an activation's change is due to the weights.

With W_t the module now and x_t its input, W_0 and x_0 the same of the reference module:

    W_t x_t - W_0 x_0 = (W_t - W_0) x_t + W_0 (x_t - x_0)
"""

from __future__ import annotations

import weakref
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, NamedTuple

from monitorch._models import find_torch, is_tensor
from monitorch.monitor._names import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from contextlib import AbstractContextManager

    from monitorch.monitor._monitor import ModuleMonitor



def l2_norm(tensor: Any) -> Any:
    """Returns the L2 norm over the last dimension.

    Args:
        tensor (Tensor): the input.

    Example::

        >>> l2_norm(torch.tensor([[3.0, 4.0]]))
        tensor([5.])
    """
    return find_torch().linalg.vector_norm(tensor, ord=2, dim=-1)


class _Call(NamedTuple):
    """One call of a module, with copies of values that may change later."""

    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    output: Any
    bias: Any
    device: Any
    autocast: tuple[str, Any] | None

    def first_input(self) -> Any:
        """The first argument, if it is a tensor that has a norm."""
        given = self.args[0] if self.args else next(iter(self.kwargs.values()), None)
        return given if _has_norm(given) else None


class RefinedCoordinateCheck:
    """Splits each module's change of output into a part of its weights and a part of its input.

    In each step, run the reference module, then the module, on the same input, and call
    `refined_coordinate_check()`. If a module runs several times in a step, its n-th call is
    compared with the n-th call of the reference module.

    Args:
        monitor (ModuleMonitor): the monitor, with a module and a reference module.

    Raises:
        ValueError: if one of the two is not set.

    Example::

        >>> rcc = RefinedCoordinateCheck(monitor)
        >>> monitor.begin_step(step)
        >>> with monitor.no_monitor():
        ...     reference(inputs)
        >>> model(inputs)
        >>> rcc.refined_coordinate_check()      # logs "RCC (W_t-W_0)x_t/encoder/l2norm", ...
        >>> monitor.end_step()
    """

    def __init__(self, monitor: ModuleMonitor) -> None:
        if monitor.module is None:
            raise ValueError(
                "Set the module to monitor before setting up the refined coordinate check."
            )
        if monitor.reference_module is None:
            raise ValueError(
                "Set the reference module before setting up the refined coordinate check."
            )
        self.monitor = monitor
        self._modules: dict[str, Any] = {}
        self._reference_modules: dict[str, Any] = {}
        self._calls: dict[str, list[_Call]] = {}
        self._reference_calls: dict[str, list[_Call]] = {}
        self._copies = _Copies(monitor.cpu_offload)
        monitor.add_forward_hooks(self._make_hook)
        monitor.add_forward_hooks(self._make_reference_hook, is_reference=True)
        monitor.add_step_end(self._forget)

    @property
    def module(self) -> Any:
        """The monitored module."""
        return self.monitor.module

    @property
    def reference_module(self) -> Any:
        """The reference module; ``None`` after it was removed from the monitor."""
        return self.monitor.reference_module

    # ---- keeping ----

    def _make_hook(self, name: str, module: Any) -> Callable[..., None] | None:
        self._modules[name] = module
        return None if name == ROOT else self._make_keeper(name, self._calls)

    def _make_reference_hook(self, name: str, module: Any) -> Callable[..., None] | None:
        self._reference_modules[name] = module
        return None if name == ROOT else self._make_keeper(name, self._reference_calls)

    def _make_keeper(self, name: str, calls: dict[str, list[_Call]]) -> Callable[..., None]:
        def keep(module: Any, args: Any, output: Any, kwargs: Any) -> None:
            if _has_norm(output):
                calls.setdefault(name, []).append(self._keep(module, args, kwargs, output))

        return keep

    def _keep(
        self, module: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], output: Any
    ) -> _Call:
        copy = self._copies.make
        return _Call(
            tuple(self._copies.make_input(value, output) for value in args),
            {name: copy(value) for name, value in kwargs.items()},
            copy(output),
            copy(module.bias) if _is_weighted(module) else None,
            output.device,
            _find_autocast(output.device.type),
        )

    def _forget(self) -> None:
        self._calls.clear()
        self._reference_calls.clear()
        self._copies.clear()

    # ---- checking ----

    def refined_coordinate_check(self) -> None:
        """Logs the two parts for each module. Does nothing on steps that are not monitored.

        The modules of the reference module run once more. Random numbers and buffers are restored
        afterwards.

        Raises:
            RuntimeError: if the two modules had inputs of different shapes.
            ValueError: if one of the two did not run in this step.
        """
        if not self.monitor.is_monitoring():
            return
        if not self._calls:
            raise ValueError(
                "No inputs found for the monitored module: call it in this step, before "
                "refined_coordinate_check()."
            )
        if not self._reference_calls:
            raise ValueError(
                "No inputs found for the reference module: call it in each step, before the "
                "monitored module."
            )
        torch = find_torch()
        devices = {call.device for calls in self._calls.values() for call in calls}
        try:
            with torch.no_grad(), _same_random_numbers(devices):
                for name, now, then in self._pairs():
                    self._check(name, now, then)
        finally:
            self._forget()

    def _pairs(self) -> Iterator[tuple[str, _Call, _Call]]:
        for name, calls in self._calls.items():
            for now, then in zip(calls, self._reference_calls.get(name, ())):
                yield name, now, then

    def _check(self, name: str, now: _Call, then: _Call) -> None:
        now, then = _move(now, now.device), _move(then, now.device)
        if now.output.shape != then.output.shape:
            raise RuntimeError(
                f"Failed to check module {name}: its output has the shape "
                f"{tuple(now.output.shape)}, and that of the reference module has "
                f"{tuple(then.output.shape)}. Call both with the same input."
            )
        again = self._run_reference(name, now)
        if again is None:
            return
        module = self._modules[name]
        parts = _Parts(*map(_exact, (now.output, then.output, again)))
        self._log(f"RCC (W_t-W_0)x_t/{name}", parts.now - parts.again)
        if isinstance(module, find_torch().nn.Embedding):
            return
        self._log(f"RCC W_0(x_t-x_0)/{name}", parts.again - parts.then)
        x_t, x_0 = now.first_input(), then.first_input()
        if x_t is not None:
            self._log(f"RCC x_t/{name}", _exact(x_t))
            if x_0 is not None and x_0.shape == x_t.shape:
                self._log(f"RCC (x_t-x_0)/{name}", _exact(x_t) - _exact(x_0))
        if _is_weighted(module):
            self._log_weight(name, parts.without(now.bias, then.bias))
        if isinstance(module, find_torch().nn.LayerNorm) and x_t is not None and x_0 is not None:
            self._log_normalized(name, module, _exact(x_t), _exact(x_0))

    def _log(self, key: str, difference: Any) -> None:
        self.monitor.log_tensor(key + "/l2norm", l2_norm(difference))

    def _log_weight(self, name: str, parts: _Parts) -> None:
        """Logs the parts without the bias: the effect of the weight alone."""
        self._log(f"RCC (W_t-W_0)x_t/{name}.weight", parts.now - parts.again)
        self._log(f"RCC W_0(x_t-x_0)/{name}.weight", parts.again - parts.then)
        self._log(f"RCC (W_t-W_0)x_t/{name}.weight/W_t x_t", parts.now)
        self._log(f"RCC W_0(x_t-x_0)/{name}.weight/W_0 x_0", parts.then)

    def _log_normalized(self, name: str, module: Any, x_t: Any, x_0: Any) -> None:
        """Logs the input of a LayerNorm's weight: the module's input after it is normalised."""
        normalize = find_torch().nn.functional.layer_norm
        reference = self._reference_modules[name]
        x_t = normalize(x_t, module.normalized_shape, None, None, module.eps)
        x_0 = normalize(x_0, reference.normalized_shape, None, None, reference.eps)
        self._log(f"RCC (W_t-W_0)x_t/{name}.weight/x_t", x_t)
        self._log(f"RCC W_0(x_t-x_0)/{name}.weight/x_t-x_0", x_t - x_0)

    def _run_reference(self, name: str, now: _Call) -> Any:
        """Returns W_0 x_t; None, with a warning, if the reference module cannot run with that
        input."""
        reference = self._reference_modules[name]
        # The module may write to its inputs, which are outputs of other modules: it gets copies.
        args = [_clone(value) for value in now.args]
        kwargs = {key: _clone(value) for key, value in now.kwargs.items()}
        try:
            with _same_buffers(reference), self.monitor.no_reference(), _autocast(now.autocast):
                output = reference(*args, **kwargs)
        except Exception as error:
            self._warn(name, f"{type(error).__name__}: {error}")
            return None
        if not _has_norm(output) or output.shape != now.output.shape:
            self._warn(name, "its output has another type")
            return None
        return output

    def _warn(self, name: str, text: str) -> None:
        self.monitor.logger.warning(
            "Step %s: the refined coordinate check leaves out module %s, whose reference does not "
            "run with its input: %s",
            self.monitor.current_step,
            name,
            text,
        )


class _Parts(NamedTuple):
    now: Any  # W_t x_t
    then: Any  # W_0 x_0
    again: Any  # W_0 x_t

    def without(self, bias: Any, reference_bias: Any) -> _Parts:
        """The parts without the share of the biases."""
        now, then, again = self
        if bias is not None:
            now = now - _exact(bias)
        if reference_bias is not None:
            then, again = then - _exact(reference_bias), again - _exact(reference_bias)
        return _Parts(now, then, again)


class _Copies:
    """Copies of tensors. A tensor that is the output of a module and the input of the next has one
    copy."""

    def __init__(self, is_on_cpu: bool) -> None:
        self._is_on_cpu = is_on_cpu
        self._made: dict[int, tuple[weakref.ref[Any], int, Any]] = {}

    def clear(self) -> None:
        self._made.clear()

    def make(self, value: Any) -> Any:
        if not is_tensor(value):
            return value
        if value.is_inference():  # writes to it are not counted
            return self._copy(value)
        found = self._made.get(id(value))
        if found is not None and found[1] == value._version and found[0]() is value:
            return found[2]
        copy = self._copy(value)
        self._made[id(value)] = weakref.ref(value), value._version, copy
        return copy

    def make_input(self, value: Any, output: Any) -> Any:
        """The input as it was before a module that changes it and returns it.

        This is the copy that was made after the module before, unless the tensor has changed
        otherwise since.
        """
        found = self._made.get(id(value)) if value is output else None
        if found is not None and found[1] + 1 == value._version and found[0]() is value:
            return found[2]
        return self.make(value)

    def _copy(self, value: Any) -> Any:
        copy = value.detach().clone()
        return copy.cpu() if self._is_on_cpu else copy


def _move(call: _Call, device: Any) -> _Call:
    def move(value: Any) -> Any:
        return value.to(device) if is_tensor(value) else value

    return call._replace(
        args=tuple(map(move, call.args)),
        kwargs={name: move(value) for name, value in call.kwargs.items()},
        output=move(call.output),
        bias=move(call.bias),
    )


def _clone(value: Any) -> Any:
    return value.clone() if is_tensor(value) else value


def _has_norm(value: Any) -> bool:
    return is_tensor(value) and (value.is_floating_point() or value.is_complex())


def _is_weighted(module: Any) -> bool:
    nn = find_torch().nn
    return isinstance(module, (nn.Linear, nn.LayerNorm))


def _exact(tensor: Any) -> Any:
    """Converts halves to float32, in which their differences are computed."""
    return tensor.float() if tensor.dtype.itemsize < 4 else tensor


def _find_autocast(device: str) -> tuple[str, Any] | None:
    torch = find_torch()
    try:
        if torch.is_autocast_enabled(device):
            return device, torch.get_autocast_dtype(device)
    except (TypeError, AttributeError, RuntimeError):  # an older torch, or a device without it
        pass
    return None


def _autocast(found: tuple[str, Any] | None) -> AbstractContextManager[Any]:
    if found is None:
        return nullcontext()
    made: AbstractContextManager[Any] = find_torch().autocast(found[0], dtype=found[1])
    return made


def _same_random_numbers(devices: set[Any]) -> AbstractContextManager[Any]:
    """Restores the random state that dropout of the reference module changes."""
    there = [device for device in devices if device.type != "cpu"]
    if not there:
        made: AbstractContextManager[Any] = find_torch().random.fork_rng(devices=[])
    else:
        made = find_torch().random.fork_rng(devices=there, device_type=there[0].type)
    return made


class _same_buffers:
    """Restores the buffers, such as running means, that the modules write inside the block."""

    def __init__(self, module: Any) -> None:
        self._buffers = [
            (buffer, buffer.clone())
            for part in module.modules()
            if part.training
            for buffer in part.buffers(recurse=False)
        ]

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: object) -> None:
        for buffer, value in self._buffers:
            buffer.copy_(value)
