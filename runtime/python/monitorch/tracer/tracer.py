"""ModelTracer: variables of a model by their paths, while a `with` block runs."""

from __future__ import annotations

import contextlib
import logging
import threading
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from monitorch import _hooks, _recorder
from monitorch.spy.base import unwrap_model
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
    """Traces variables of a model while its `with` block runs.

        tracer = ModelTracer(model, ["forward", "encoder.*.forward.x"])
        with tracer:
            train(model)
        tracer.results["encoder.1.forward.x"].values

    The calls of the model are the iterations, counted from 1; those that `trace_interval` divides
    are traced. After each that `gathering_interval` divides, and at the end, what the ranks of
    torch.distributed have traced comes together on rank 0.
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
            raise ValueError("eval_only and train_only: nothing would be traced")
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
        self._find_targets()  # says what can match nothing

    # ---- what a user asks ----

    @property
    def results(self) -> Results:
        """What was traced and, with several ranks or callbacks, gathered: by path."""
        if not self._must_gather():
            with self._lock:
                self._receive(_alone(self._tracing.take()))
        return self._results

    @property
    def iteration(self) -> int:
        """How often the model was called in the block."""
        return self._tracing.iteration

    @property
    def spilled_bytes(self) -> int:
        """How much lies in a file because of `memory_limit`."""
        return self._memory.spilled

    # ---- the block ----

    def __enter__(self) -> ModelTracer:
        """Begins anew: what an earlier block has traced is no longer in `results`."""
        from monitorch.tracer._install import Installation

        if self._installation is not None:
            raise RuntimeError("this ModelTracer traces already")
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
            # What leaves the block is what the user has to see.
            logger.warning("what was traced last is not gathered: %s", failure)

    def _leave(self) -> None:
        installation, self._installation = self._installation, None
        if installation is None:
            raise RuntimeError("this ModelTracer does not trace")
        installation.remove()
        _hooks.end_watching(self._tracing)
        self._tracing.open(False)

    # ---- within ----

    def _prepare(self) -> None:
        """All that a block begins with."""
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
        """Else it makes no difference, and is done when somebody asks."""
        return (
            self._gatherer.world_size > 1
            or bool(self.pre_gather_callbacks)
            or bool(self.post_gather_callbacks)
        )

    def _take(self) -> Pending:
        pending: Pending = self._tracing.take()
        for name, (values, iterations) in pending.items():
            for callback in self.pre_gather_callbacks:
                callback(name, values, iterations)
        return pending

    def _gather(self, iteration: int) -> None:
        """An interval is over."""
        with self._lock:
            for gathered in self._gatherer.gather(self._take()):
                self._receive(gathered)

    def _gather_last(self, error: BaseException | None) -> None:
        """What is left over. Where a rank is missing, what has come is in the results none the less."""
        complete: list[Gathered] = []
        try:
            pending = self._take()
        except BaseException as failure:  # a callback's; the other ranks are not to wait
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
    """Those callbacks that do something for all names together are told of the first and last."""
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
        raise ValueError(f"{name} must be a whole number from 1 on, not {value!r}")
    return value


def _encode(path: object) -> bytes:
    if not isinstance(path, str):
        raise TypeError(f"a path is a str, not {path!r}")
    return path.encode("utf-8", "surrogateescape")


def _alone(pending: Pending) -> Gathered:
    return {
        path: (values, iterations, [0] * len(iterations))
        for path, (values, iterations) in pending.items()
    }


def _is_backward() -> bool:
    """Whether autograd runs in this thread: a module's call is then one that it makes again."""
    import torch

    return torch._C._current_graph_task_id() != -1
