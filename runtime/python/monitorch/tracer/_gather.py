"""The gathering of all ranks' traced values on rank 0.

A ModelTracer calls a Gatherer, in each process:

    begin()                 on entry of the `with` block, on every rank;
    gather(pending)         after each iteration whose number `gathering_interval` divides, on the
                            thread that called the model; never two at once;
    finish(pending, error)  once, when the block is left: with what remains, and with the exception
                            that leaves the block, or None. It is called even if `begin` or
                            `gather` has raised.

`pending` has the values that this process has traced since the last call, after the pre_gather
callbacks: path -> (values, iterations), two lists. Their lengths may differ, because a callback may have stacked
the values. Paths may differ between ranks. Values are tensors (detached, owned by nobody else, on
any device) or other objects. The Gatherer may keep `pending`; the tracer does not use it again.

`gather` and `finish` return the gatherings that are complete now, oldest first: path -> (values,
iterations, ranks), three new lists, the values of rank 0 first. `ranks` names the rank of each of
the `iterations`. On other ranks than 0 (of the group) the list is empty. Usually there is one
gathering; with `overlap` none at first, and several at the end. If `finish` raises, `left` holds
the result that it would have returned.

Without a process group, `rank` is 0 and each gathering is returned unchanged, with zeros as its
ranks. A process outside of `group` has the rank -1, and its values are discarded.

Method: each rank numbers its gatherings, its steps. A rank other than the root sends its step and
continues. The root's step ends when it has that step of all others, or knows that an earlier one
was their last. A rank that has left its block waits until the root has left its own, and is
notified of the outcome: success; a missing rank, so that all raise the same error; or an exception
in the root's block. So ranks may leave at different times, after different numbers of steps.
"""

from __future__ import annotations

import logging
import queue
import threading
from typing import Any

from monitorch.tracer import _message
from monitorch.tracer._ends import Gathered as Gathered
from monitorch.tracer._ends import Root, Sender
from monitorch.tracer._link import Link, RankError, find_ranks

Pending = _message.Pending

_QUEUE_MOST = 64  # the most steps that wait for the thread of `overlap`


class Gatherer:
    """Gathers over the processes of torch.distributed, if there are any.

    `group` is the process group, None for the default one. With `overlap`, gathering continues
    during the training if the backend can do so. `timeout` is the number of seconds to wait for
    others; a RankError, which is a TimeoutError, names those that are missing then. With
    `allow_pickle`, objects that are neither tensors nor plain are pickled, and unpickled on rank 0.
    """

    def __init__(
        self,
        group: Any = None,
        *,
        overlap: bool = False,
        timeout: float | None = None,
        allow_pickle: bool = False,
    ) -> None:
        self.group = group
        self.overlap = overlap
        self.timeout = timeout
        self.allow_pickle = allow_pickle
        self.rank = 0  # of this process in the group; set by begin()
        self.world_size = 1
        self.left: list[Gathered] = []
        self._own_rank = 0  # this rank in `ranks`, if it is the only one
        self._end: Root | Sender | None = None
        self._worker: _Worker | None = None

    def begin(self) -> None:
        """Called on entry of the `with` block."""
        self.rank, self.world_size, self._own_rank = 0, 1, 0
        self.left = []
        self._end = self._worker = None
        ranks = find_ranks(self.group)
        if ranks is None:
            return
        self.world_size = len(ranks)
        if len(ranks) < 2:
            self.rank, self._own_rank = (0, ranks[0]) if ranks else (-1, -1)
            return
        link = Link(self.group, ranks, self.timeout)
        self.rank = ranks.index(link.rank)
        self._end = (Root if link.is_root else Sender)(link, self.allow_pickle)
        if self.overlap and link.can_overlap():
            try:
                self._end.join()
                link.use_own_group()
            except BaseException as error:  # the block is not entered, and so not left
                self._end.close(error)
                self._end = None
                raise
            self._worker = _Worker(self._end)

    def gather(self, pending: Pending) -> list[Gathered]:
        """Gathers the values since the last gathering. Returns the gatherings that are complete by
        now."""
        if self._end is None:
            return self._alone(pending)
        step = self._end.prepare(pending, False)
        if self._worker is not None:
            self._worker.add(step)
        else:
            self._end.go(step)
        return self._end.drain()

    def finish(self, pending: Pending, error: BaseException | None) -> list[Gathered]:
        """Gathers for the last time. Afterwards no message is on its way."""
        end, worker = self._end, self._worker
        self._end = self._worker = None
        if end is None:
            return self._alone(pending)
        failure: BaseException | None = None
        if error is not None:
            end.hurry()
        try:
            step = end.prepare(pending, True)
            if worker is not None:
                worker.finish(step)
            else:
                end.go(step)
        except BaseException as raised:
            failure = raised
        end.close(error if error is not None else failure)
        complete = end.drain()
        if failure is None or failure is error:
            return complete
        if error is not None and isinstance(failure, RankError):
            if str(failure) != str(error):
                _add_note(error, str(failure))
            return complete
        self.left = complete
        raise failure

    def _alone(self, pending: Pending) -> list[Gathered]:
        if self.rank < 0 or not pending:
            return []
        return [{path: (v, i, [self._own_rank] * len(i)) for path, (v, i) in pending.items()}]


class _Worker:
    """The thread that gathers during the training."""

    def __init__(self, end: Root | Sender) -> None:
        self._end = end
        self._error: BaseException | None = None
        self._steps: queue.Queue[Any] = queue.Queue(_QUEUE_MOST)
        self._thread = threading.Thread(target=self._run, name="monitorch gathering", daemon=True)
        self._thread.start()

    def add(self, step: Any) -> None:
        """Adds a step. Waits if too many steps are waiting."""
        while True:
            if self._error is not None:
                raise self._error
            try:
                return self._steps.put(step, timeout=0.5)
            except queue.Full:
                continue

    def finish(self, step: Any) -> None:
        self._put_last(step)
        while self._thread.is_alive():
            self._thread.join(0.5)  # in short waits, so that Ctrl-C works
            if self._end.is_late():
                break  # an operation of the backend does not end
        if self._error is not None:
            raise self._error

    def _put_last(self, step: Any) -> None:
        while self._thread.is_alive():
            try:
                return self._steps.put(step, timeout=0.5)
            except queue.Full:
                if self._end.is_late():
                    return
        self._end.keep(step)

    def _run(self) -> None:
        while True:
            step = self._steps.get()
            try:
                self._end.go(step)
            except (
                BaseException
            ) as error:  # raised in the training thread, at its next gathering
                self._error = error
                break
            if step.is_last:
                break
        while not self._steps.empty():
            self._end.keep(self._steps.get())


def _add_note(error: BaseException, text: str) -> None:
    """Adds a note to the user's own exception."""
    if hasattr(error, "add_note"):
        error.add_note(f"monitorch.tracer: {text}")
    else:
        logging.getLogger("monitorch.tracer").error("%s", text)
