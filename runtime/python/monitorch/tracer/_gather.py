"""What the ranks have traced, brought together on rank 0.

A ModelTracer calls a Gatherer, in each process:

    begin()                 on entry of the `with` block, on every rank;
    gather(pending)         after each iteration whose number `gathering_interval` divides, on the
                            thread that called the model; never two at once;
    finish(pending, error)  once, when the block is left: with what is left over, and with the
                            exception that leaves the block, or None. It comes also where `begin`
                            or `gather` has raised.

`pending` is what this process has traced since the last time, pre_gather callbacks having been
called: path -> (values, iterations), two lists. They need not be of one length: a callback may
have stacked the values. A path that this process has no value of may be missing; paths differ
between ranks. Values are tensors (detached, nobody else's, on any device) or other objects. The
Gatherer may keep `pending`; the tracer does not look at it again.

Both give a list of gatherings that are complete now, oldest first: path -> (values, iterations,
ranks), three new lists, what rank 0 had first, then rank 1; `ranks` tells for each of the
`iterations` which rank it is of. On other ranks than 0 (of the group) the list is empty. As a rule
there is one gathering; with `overlap` none at first, and more than one at the end. Where `finish`
raises, `left` holds what it would have given.

Without a process group, `rank` is 0 and each gathering is given back as it came, with zeros as
its ranks. A process outside of `group` has the rank -1, and what it traced goes nowhere.

How it is done. Each rank numbers its gatherings: its steps. A rank other than the root sends its step
and goes on; the root's step ends when that step of all others is there, or they have told that an
earlier one was their last. Who has left its block waits until the root has left its own, and is told
how: all is well; or a rank is missing, and then all raise the same error; or the root's block was
left by an exception. So ranks may leave at different times, after different numbers of steps.
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

_QUEUE_MOST = 64  # steps that wait for the thread of `overlap`


class Gatherer:
    """Gathers over the processes of torch.distributed, where there are any.

    `group` is the process group, None for the default one. With `overlap` a gathering goes on
    while the training does, where the backend can. `timeout` is how many seconds the others are
    waited for; who has not come then is named by a RankError, which is a TimeoutError. With
    `allow_pickle`, objects that are neither tensors nor plain are pickled, and loaded on rank 0.
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
        self.rank = 0  # of this process in the group; known from begin() on
        self.world_size = 1
        self.left: list[Gathered] = []
        self._told = 0  # what stands in `ranks` where nobody else is
        self._end: Root | Sender | None = None
        self._worker: _Worker | None = None

    def begin(self) -> None:
        """The `with` block is entered."""
        self.rank, self.world_size, self._told = 0, 1, 0
        self.left = []
        self._end = self._worker = None
        ranks = find_ranks(self.group)
        if ranks is None:
            return
        self.world_size = len(ranks)
        if len(ranks) < 2:
            self.rank, self._told = (0, ranks[0]) if ranks else (-1, -1)
            return
        link = Link(self.group, ranks, self.timeout)
        self.rank = ranks.index(link.rank)
        self._end = (Root if link.is_root else Sender)(link, self.allow_pickle)
        if self.overlap and link.can_overlap():
            try:
                self._end.meet()
                link.use_own_group()
            except BaseException as error:  # the block is not entered, and so not left
                self._end.close(error)
                self._end = None
                raise
            self._worker = _Worker(self._end)

    def gather(self, pending: Pending) -> list[Gathered]:
        """What was traced since the last gathering; gives what is complete by now."""
        if self._end is None:
            return self._alone(pending)
        step = self._end.prepare(pending, False)
        if self._worker is not None:
            self._worker.add(step)
        else:
            self._end.go(step)
        return self._end.drain()

    def finish(self, pending: Pending, error: BaseException | None) -> list[Gathered]:
        """The last gathering; nothing is under way afterwards."""
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
        return [{path: (v, i, [self._told] * len(i)) for path, (v, i) in pending.items()}]


class _Worker:
    """The thread that gathers while the training goes on."""

    def __init__(self, end: Root | Sender) -> None:
        self._end = end
        self._error: BaseException | None = None
        self._steps: queue.Queue[Any] = queue.Queue(_QUEUE_MOST)
        self._thread = threading.Thread(target=self._run, name="monitorch gathering", daemon=True)
        self._thread.start()

    def add(self, step: Any) -> None:
        """Waits where too many steps do already."""
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
            self._thread.join(0.5)  # in pieces, so that Ctrl-C is heard
            if self._end.is_late():
                break  # an operation of the backend's does not end
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
            ) as error:  # raised in the thread that trains, at its next gathering
                self._error = error
                break
            if step.is_last:
                break
        while not self._steps.empty():
            self._end.keep(self._steps.get())


def _add_note(error: BaseException, text: str) -> None:
    """What the user's own exception is not, but belongs to it."""
    if hasattr(error, "add_note"):
        error.add_note(f"monitorch.tracer: {text}")
    else:
        logging.getLogger("monitorch.tracer").error("%s", text)
