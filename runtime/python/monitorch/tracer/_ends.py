"""The two ends of a gathering: the root, which receives the values, and the senders."""

from __future__ import annotations

import collections
import json
import logging
import time
from typing import Any, NamedTuple

from monitorch._models import is_tensor
from monitorch.tracer import _message
from monitorch.tracer._link import PENDING_MOST, Link, Note, RankError, name_ranks

Pending = _message.Pending
Gathered = dict[str, tuple[list[Any], list[int], list[int]]]

GRACE = 3.0  # seconds to wait for the others after an exception
LINGER = 10.0  # seconds for the others to read the outcome, if a rank is missing
_KEPT = 1 << 26  # sent bytes above which the sender checks whether they were received
_END, _RECEIVED, _JOINED = "end", "received", "joined"

logger = logging.getLogger("monitorch.tracer")


class Step(NamedTuple):
    """A gathering of one rank: its traced values, or the message that holds them."""

    pending: Pending
    message: Any
    is_last: bool


class End(NamedTuple):
    """The outcome of the root's block."""

    message: str  # empty on success
    ranks: tuple[int, ...]
    is_failure: bool  # for all ranks, not only for the root

    def to_bytes(self) -> bytes:
        return json.dumps(self).encode()

    @classmethod
    def from_bytes(cls, content: bytes) -> End:
        message, ranks, is_failure = json.loads(content)
        return cls(message, tuple(ranks), is_failure)


class Root:
    """Receives the step of each other rank, in the order of the ranks."""

    def __init__(self, link: Link, allow_pickle: bool) -> None:
        self._link = link
        self._allow_pickle = allow_pickle
        self._step = 0
        self._others = list(link.ranks[1:])  # ranks that have further steps
        self._missing: tuple[int, ...] = ()
        self._failure: RankError | None = None
        self._complete: collections.deque[Gathered] = collections.deque()

    def join(self) -> None:
        """Waits until all ranks have entered their blocks."""
        link = self._link
        if not link.wait(lambda: link.have_come(0, self._others)):
            missing = self._find_missing(0)
            raise self._fail(f"{name_ranks(missing)} did not enter its `with` block", missing)
        link.read_notes(0, self._others)
        link.note(_JOINED, b"1")

    def prepare(self, pending: Pending, is_last: bool) -> Step:
        return Step(pending, None, is_last)

    def go(self, step: Step) -> None:
        if self._failure is not None:
            self.keep(step)
            raise self._failure
        self._add(step.pending)
        while step.is_last and self._others:
            self._add({})
        if step.is_last and self._missing:
            raise RankError(self._describe_missing(), self._missing)

    def keep(self, step: Step) -> None:
        """Keeps the root's own values of a step that is not completed."""
        self._merge([(self._link.rank, step.pending)])

    def drain(self) -> list[Gathered]:
        """The gatherings that are complete, or that cannot become more complete."""
        complete = []
        while self._complete:
            complete.append(self._complete.popleft())
        return complete

    def hurry(self) -> None:
        """Limits all waiting, since an exception is leaving the block."""
        self._link.leave_at = time.monotonic() + min(self._link.timeout, GRACE)

    def is_late(self) -> bool:
        leave_at = self._link.leave_at
        return leave_at is not None and time.monotonic() > leave_at + 1.0

    def close(self, error: BaseException | None) -> None:
        """Notifies the others of the outcome, and waits until they have read it."""
        link = self._link
        limit = min(link.timeout, LINGER if self._failure is not None else GRACE)
        message = self._describe_missing() if self._missing else ""
        link.leave_at = time.monotonic() + limit
        try:
            if self._failure is not None:
                pass  # they have been notified
            elif self._missing:
                link.note(_END, End(message, self._missing, True).to_bytes())
            elif error is not None:
                text = f"rank {link.rank} left its `with` block with {type(error).__name__}"
                link.note(_END, End(text, (link.rank,), False).to_bytes())
            else:
                link.note(_END, End("", (), False).to_bytes())
            acks = [f"ack/{rank}" for rank in link.ranks[1:] if rank not in self._missing]
            if link.wait(lambda: link.has(acks)):
                link.forget(_END, _RECEIVED, _JOINED, *acks)
        except RankError as gone:
            logger.warning("%s", gone)
        link.close()

    def _add(self, pending: Pending) -> None:
        link = self._link
        self._step += 1
        is_whole = link.wait(lambda: link.have_come(self._step, self._others))
        missing = () if is_whole else self._find_missing(self._step)
        present = [rank for rank in self._others if rank not in missing]
        parts = [(link.rank, pending)]
        lost: RankError | None = None
        notes = link.read_notes(self._step, present)
        try:
            parts += zip(present, self._receive(notes))
        except RankError as error:
            lost = error
        self._merge(parts)
        if lost is not None:
            raise self._fail(str(lost), lost.ranks)
        self._others = [note.rank for note in notes if not note.is_last]
        if missing:
            self._miss(missing)
        link.note(_RECEIVED, str(self._step).encode())

    def _receive(self, notes: list[Note]) -> list[Pending]:
        messages = self._link.receive(notes)
        return [
            _message.unpack(message, note.rank, self._allow_pickle)
            for message, note in zip(messages, notes)
        ]

    def _miss(self, missing: tuple[int, ...]) -> None:
        self._missing += missing
        if self._link.leave_at is None:
            raise self._fail(self._describe_missing(), missing)

    def _describe_missing(self) -> str:
        limit = self._link.timeout
        if self._link.leave_at is not None:
            limit = min(limit, GRACE)
        before = f"the last complete one is {self._step - 1}" if self._step > 1 else "none is complete"
        return (
            f"{name_ranks(self._missing)} did not reach gathering {self._step} within {limit:g} s "
            f"({before})"
        )

    def _find_missing(self, step: int) -> tuple[int, ...]:
        return tuple(rank for rank in self._others if not self._link.have_come(step, [rank]))

    def _fail(self, text: str, ranks: tuple[int, ...]) -> RankError:
        """Notifies the others at once, since they may be waiting."""
        self._missing = tuple(sorted({*self._missing, *ranks}))
        self._failure = RankError(text, self._missing)
        logger.error("%s", text)
        try:
            self._link.note(_END, End(text, self._missing, True).to_bytes())
        except RankError as gone:
            logger.warning("%s", gone)
        return self._failure

    def _merge(self, parts: list[tuple[int, Pending]]) -> None:
        gathered: Gathered = {}
        for rank, pending in parts:
            for path, (values, iterations) in pending.items():
                lists = gathered.setdefault(path, ([], [], []))
                lists[0].extend(_to_cpu(values))
                lists[1].extend(iterations)
                lists[2].extend([rank] * len(iterations))
        if gathered:
            self._complete.append(gathered)


class Sender:
    """Sends its steps to the root, and waits for the root only at the end."""

    def __init__(self, link: Link, allow_pickle: bool) -> None:
        self._link = link
        self._allow_pickle = allow_pickle
        self._step = 0
        self._received = 0  # the number of steps that the root has received
        self._end: End | None = None

    def join(self) -> None:
        link = self._link
        link.send(0, _message.pack({}), False)
        if not link.wait(lambda: self._has_end() or link.has([_JOINED]), link.timeout + GRACE):
            raise RankError(f"rank {link.root} did not enter its `with` block", (link.root,))
        self._raise_failure()

    def prepare(self, pending: Pending, is_last: bool) -> Step:
        return Step({}, _message.pack(pending, self._link.device, self._allow_pickle), is_last)

    def go(self, step: Step) -> None:
        self._has_end()
        self._raise_failure()
        if self._end is not None:
            return  # the root's block has ended by an exception, and receives nothing
        self._step += 1
        self._link.send(self._step, step.message, step.is_last)
        if self._link.pending_size() > _KEPT:
            self._make_room()
        if step.is_last:
            self._wait_for_end()

    def keep(self, step: Step) -> None:
        """Drops a step that cannot be sent: the root could not use it."""

    def drain(self) -> list[Gathered]:
        return []

    def hurry(self) -> None:
        """Limits all waiting, since an exception is leaving the block. The root has GRACE to find
        missing ranks."""
        self._link.leave_at = time.monotonic() + min(self._link.timeout, GRACE) + GRACE / 2

    def is_late(self) -> bool:
        leave_at = self._link.leave_at
        return leave_at is not None and time.monotonic() > leave_at + 1.0

    def close(self, error: BaseException | None) -> None:
        link = self._link
        try:
            if self._end is not None:
                link.note(f"ack/{link.rank}", b"1")
        except RankError:
            pass  # the root may have ended already
        link.close()

    def _has_end(self) -> bool:
        if self._end is None:
            content = self._link.read(_END)
            if content is not None:
                self._end = End.from_bytes(content)
                if self._end.message and not self._end.is_failure:
                    logger.warning("%s: values are no longer gathered", self._end.message)
        return self._end is not None

    def _raise_failure(self) -> None:
        if self._end is not None and self._end.is_failure:
            raise RankError(self._end.message, self._end.ranks)

    def _make_room(self) -> None:
        """Waits while the messages on their way need too much memory."""
        link = self._link
        self._has_progress()
        while link.pending_size() > PENDING_MOST and self._end is None:
            self._wait_for_news()
        self._raise_failure()

    def _wait_for_end(self) -> None:
        while self._end is None:
            self._wait_for_news()
        self._raise_failure()

    def _wait_for_news(self) -> None:
        """Waits a little longer than the root, which must find the missing ranks first."""
        link = self._link
        if not link.wait(lambda: self._has_end() or self._has_progress(), link.timeout + GRACE):
            raise RankError(
                f"rank {link.root} did not receive gathering {self._received + 1} within "
                f"{link.timeout:g} s",
                (link.root,),
            )

    def _has_progress(self) -> bool:
        content = self._link.read(_RECEIVED)
        received = 0 if content is None else int(content)
        if received <= self._received:
            return False
        self._received = received
        self._link.forget_sent(received)
        return True


def _to_cpu(values: list[Any]) -> list[Any]:
    """Copies received tensors to the CPU."""
    if all(not is_tensor(v) or v.device.type == "cpu" for v in values):
        return values
    with _message.undisturbed():
        return [v.cpu() if is_tensor(v) else v for v in values]
