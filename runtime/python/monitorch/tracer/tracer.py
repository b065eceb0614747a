"""ModelTracer: traces variables of a model by their paths, inside a `with` block."""

from __future__ import annotations

import contextlib
import logging
import threading
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from monitorch import _recorder
from monitorch._models import unwrap_model
from monitorch._record import hooks as _hooks
from monitorch.tracer import _keep
from monitorch.tracer._gather import Gatherer
from monitorch.tracer._link import RankError
from monitorch.tracer._memory import Memory, make_tensor
from monitorch.tracer._resolve import Resolver
from monitorch.tracer.results import Results

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import TracebackType

    from monitorch.tracer._gather import Gathered, Pending
    from monitorch.tracer._install import Installation

    PreSave = Callable[[str, Any, int], Any]
    PreGather = Callable[[str, list[Any], list[int]], Any]
    PostGather = Callable[[str, list[Any], list[int], list[int]], Any]

logger = logging.getLogger("monitorch.tracer")


class ModelTracer:
    """Traces variables of a model while its ``with`` block runs.

    Calls of the model are iterations, counted from 1. A value is kept when it changes.
    DistributedDataParallel, DataParallel, FSDP and torch.compile are unwrapped, so paths need no
    ``module.``.

    Args:
        model (Module): the model.
        variables (str or iterable of str): paths. ``"encoder.1"`` is the output of a module,
            ``"forward"`` that of the model, ``"encoder.1.forward.x"`` a parameter or local
            variable of a method; ``*`` matches one segment. A path that can match nothing raises
            a warning with the nearest name.
        trace_interval (int, optional): traces every n-th iteration. Default: 1
        gathering_interval (int, optional): gathers the values of all ranks after every n-th
            iteration. Default: 1
        pre_save_callbacks (iterable of callables, optional): called with (name, value,
            iteration) for each change; the returned value is kept.
        pre_gather_callbacks (iterable of callables, optional): called with (name, values,
            iterations) in each process before a gathering.
        post_gather_callbacks (iterable of callables, optional): called with (name, values,
            iterations, ranks) on rank 0 after a gathering.
        post_trace_callbacks (iterable of callables, optional): called with (name, values,
            iterations, ranks) on rank 0 at the end of the block.
        eval_only, train_only (bool, optional): traces only calls in that mode.
            Default: ``False``
        group (ProcessGroup, optional): gathers over this group. Default: the default group
        overlap (bool, optional): if ``True``, a thread gathers while training continues.
            Default: ``False``
        timeout (float, optional): seconds to wait for other ranks. Default: 1800
        memory_limit (int, optional): bytes of copies beyond which values are kept in a temporary
            file. Default: no limit
        allow_pickle (bool, optional): if ``True``, pickles objects that cannot be sent otherwise.
            Whoever controls one rank can then run code on rank 0. Default: ``False``

    Callbacks change their lists in place.

    Attributes:
        results (dict[str, TracedValues]): the values, by the full paths that matched.
        iteration (int): the number of calls of the model in the block.

    Raises:
        ValueError: if both `eval_only` and `train_only` are set, or an interval is below 1.
        RankError: if another rank does not reach a gathering within `timeout`.

    Example::

        >>> tracer = ModelTracer(model, ["forward", "encoder.*.forward.x"])
        >>> with tracer:
        ...     train(model)
        >>> tracer.results["encoder.1.forward.x"].values
    """

    def __init__(
        self,
        model: Any,
        variables: str | Iterable[str],
        trace_interval: int = 1,
        gathering_interval: int = 1,
        pre_save_callbacks: Iterable[PreSave] = (),
        pre_gather_callbacks: Iterable[PreGather] = (),
        post_gather_callbacks: Iterable[PostGather] = (),
        post_trace_callbacks: Iterable[PostGather] = (),
        eval_only: bool = False,
        train_only: bool = False,
        *,
        group: Any = None,
        overlap: bool = False,
        timeout: float | None = None,
        memory_limit: int | None = None,
        allow_pickle: bool = False,
    ) -> None:
        if eval_only and train_only:
            raise ValueError("eval_only and train_only cannot both be True: nothing would be traced")
        self.model = unwrap_model(model)
        self.variables = (variables,) if isinstance(variables, str) else tuple(variables)
        self.trace_interval = _read_interval("trace_interval", trace_interval)
        self.gathering_interval = _read_interval("gathering_interval", gathering_interval)
        self.pre_save_callbacks = list(pre_save_callbacks)
        self.pre_gather_callbacks = list(pre_gather_callbacks)
        self.post_gather_callbacks = list(post_gather_callbacks)
        self.post_trace_callbacks = list(post_trace_callbacks)
        self.eval_only = eval_only
        self.train_only = train_only
        self.memory_limit = memory_limit
        self._gathering: dict[str, Any] = {
            "group": group,
            "overlap": overlap,
            "timeout": timeout,
            "allow_pickle": allow_pickle,
        }
        self._warned: set[str] = set()
        self._results = Results()
        self._lock = threading.RLock()
        self._installation: Installation | None = None
        self._prepare()
        self._find_targets()  # warns of paths that can match nothing

    # ---- the user's interface ----

    @property
    def results(self) -> Results:
        """The traced values by path. On ranks other than 0 it is empty after a gathering."""
        if not self._must_gather():
            with self._lock:
                self._receive(_alone(self._tracing.detach()))
        return self._results

    @property
    def iteration(self) -> int:
        """The number of calls of the model in the block."""
        return self._tracing.iteration

    @property
    def spilled_bytes(self) -> int:
        """The number of bytes in the temporary file, because of `memory_limit`."""
        return self._memory.spilled

    def __repr__(self) -> str:
        state = "not tracing" if self._installation is None else "tracing"
        return (
            f"<monitorch ModelTracer of {type(self.model).__name__}, {state}, variables: "
            f"{', '.join(self.variables)}; {self.iteration:,} iterations>"
        )

    # ---- the block ----

    def __enter__(self) -> ModelTracer:
        """Starts tracing. The results of an earlier block are discarded."""
        from monitorch.tracer._install import Installation

        if self._installation is not None:
            raise RuntimeError("this ModelTracer is already tracing: a block cannot be entered twice")
        self._prepare()
        self._gatherer.begin()
        installation = Installation(self._tracing)
        try:
            for target in self._find_targets():
                installation.add(target)
            _hooks.learn_layout()
            _hooks.begin_watching(self._tracing, None)
        except BaseException:
            installation.remove()
            raise
        self._installation = installation
        if self._must_gather():
            self._tracing.gather = self._gather
        self._tracing.open(True)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._leave()
        try:
            with self._lock:
                self._gather_last(error)
        except Exception as failure:
            if error is None:
                raise
            # The exception that leaves the block is the one to report.
            logger.warning("the last values were not gathered: %s", failure)

    def _leave(self) -> None:
        installation, self._installation = self._installation, None
        if installation is None:
            raise RuntimeError("this ModelTracer is not tracing")
        installation.remove()
        _hooks.end_watching(self._tracing)
        self._tracing.open(False)

    # ---- inside the block ----

    def _prepare(self) -> None:
        """Creates the state of one block."""
        keeper = _keep.Keeper(self.pre_save_callbacks)
        self._memory = Memory(self.memory_limit)
        self._results = Results()
        self._gatherer = Gatherer(**self._gathering)
        self._tracing = _recorder.Tracing(
            self.model,
            tuple(_encode(path) for path in self.variables),
            1 if self.train_only else 2 if self.eval_only else 0,
            self.trace_interval,
            self.gathering_interval,
            chunk=self._memory.chunk,
            make=make_tensor,
            keep=keeper.keep,
            save=keeper.save if self.pre_save_callbacks else None,
            compare=_keep.compare,
            is_backward=_is_backward,
        )

    def _find_targets(self) -> list[Any]:
        resolver = Resolver(self._tracing, self.model, self.variables)
        targets = resolver.find_targets()
        for text in resolver.find_unmatched():
            if text not in self._warned:
                self._warned.add(text)
                warnings.warn(text, stacklevel=3)
        return targets

    def _must_gather(self) -> bool:
        """Whether there are other ranks or callbacks; else values are gathered when read."""
        return (
            self._gatherer.world_size > 1
            or bool(self.pre_gather_callbacks)
            or bool(self.post_gather_callbacks)
        )

    def _detach(self) -> Pending:
        pending: Pending = self._tracing.detach()
        for name, (values, iterations) in pending.items():
            for callback in self.pre_gather_callbacks:
                callback(name, values, iterations)
        return pending

    def _gather(self, iteration: int) -> None:
        """Gathers at the end of an interval."""
        with self._lock:
            for gathered in self._gatherer.gather(self._detach()):
                self._receive(gathered)

    def _gather_last(self, error: BaseException | None) -> None:
        """Gathers the rest. If a rank is missing, the results hold what arrived."""
        complete: list[Gathered] = []
        try:
            pending = self._detach()
        except BaseException as failure:  # a callback's; the other ranks must not wait
            self._gatherer.finish({}, error or failure)
            raise
        try:
            complete = self._gatherer.finish(pending, error)
        except RankError:
            complete = self._gatherer.left
            raise
        finally:
            for gathered in complete:
                self._receive(gathered)
            self._finish()

    def _receive(self, gathered: Gathered) -> None:
        with _one_gathering(self.post_gather_callbacks):
            for name, (values, iterations, ranks) in gathered.items():
                for callback in self.post_gather_callbacks:
                    callback(name, values, iterations, ranks)
                if self._must_gather():
                    self._memory.settle(values)
                self._results.add(name, values, iterations, ranks)

    def _finish(self) -> None:
        if self._gatherer.rank != 0:
            return
        with _one_gathering(self.post_trace_callbacks):
            for name, traced in self._results.items():
                for callback in self.post_trace_callbacks:
                    callback(name, traced.values, traced.iterations, traced.ranks)


@contextlib.contextmanager
def _one_gathering(callbacks: list[PostGather]) -> Iterator[None]:
    """Calls begin_gathering and end_gathering of the callbacks that have them."""
    for callback in callbacks:
        getattr(callback, "begin_gathering", _do_nothing)()
    try:
        yield
    finally:
        for callback in callbacks:
            getattr(callback, "end_gathering", _do_nothing)()


def _do_nothing() -> None:
    pass


def _read_interval(name: str, value: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError(f"{name} must be an integer of 1 or more, not {value!r}")
    return value


def _encode(path: object) -> bytes:
    if not isinstance(path, str):
        raise TypeError(f"a path must be a str, not {path!r}")
    return path.encode("utf-8", "surrogateescape")


def _alone(pending: Pending) -> Gathered:
    return {
        path: (values, iterations, [0] * len(iterations))
        for path, (values, iterations) in pending.items()
    }


def _is_backward() -> bool:
    """Whether autograd runs in this thread, so that the call of a module is a repeated one."""
    import torch

    return torch._C._current_graph_task_id() != -1
