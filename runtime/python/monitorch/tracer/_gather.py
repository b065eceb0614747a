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
there is one gathering; with `overlap` none at first, and more than one at the end.

Without a process group, `rank` is 0 and each gathering is given back as it came, with zeros as
its ranks.
"""

from __future__ import annotations

from typing import Any

Pending = dict[str, tuple[list[Any], list[int]]]
Gathered = dict[str, tuple[list[Any], list[int], list[int]]]


class Gatherer:
    """Gathers over the processes of torch.distributed, where there are any.

    `group` is the process group, None for the default one. With `overlap` a gathering goes on
    while the training does, where the backend can. `timeout` is how many seconds the others are
    waited for; who has not come then is named by a TimeoutError.
    """

    def __init__(
        self, group: Any = None, *, overlap: bool = False, timeout: float | None = None
    ) -> None:
        self.group = group
        self.overlap = overlap
        self.timeout = timeout
        self.rank = 0  # of this process in the group; known from begin() on
        self.world_size = 1

    def begin(self) -> None:
        """The `with` block is entered."""

    def gather(self, pending: Pending) -> list[Gathered]:
        """What was traced since the last gathering; gives what is complete by now."""
        return [_alone(pending)]

    def finish(self, pending: Pending, error: BaseException | None) -> list[Gathered]:
        """The last gathering; nothing is under way afterwards."""
        return [_alone(pending)]


def _alone(pending: Pending) -> Gathered:
    return {
        path: (values, iterations, [0] * len(iterations))
        for path, (values, iterations) in pending.items()
    }
