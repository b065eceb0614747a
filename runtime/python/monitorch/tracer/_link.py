"""Connects ranks: short notes in the process group's store, messages over the backend.

A rank puts a note into the store and continues. The root polls for notes, so it can name the ranks
that are missing. Content that is longer than a note is sent by isend and irecv.
"""

from __future__ import annotations

import collections
import contextlib
import json
import struct
import time
import zlib
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from monitorch.tracer import _message

DEFAULT_TIMEOUT = 1800.0  # torch's default for process groups
INLINE_MOST = 4096  # bytes of the largest message that is sent as a note
PENDING_MOST = 1 << 30  # sent and not yet received bytes above which a sender waits
_TAG = 29117  # the first of monitorch's tags, which identify messages
_TAG_COUNT = 1024
_NOTE = struct.Struct("<BQ")  # flags, the message's size
_IS_LAST, _IS_INLINE = 1, 2
_SHORTEST_SLEEP, _LONGEST_SLEEP = 0.0001, 0.01

_begun: dict[tuple[int, ...], int] = {}  # number of links so far, by the group's ranks


class RankError(TimeoutError):
    """Raised if a rank does not reach a gathering, or is lost.

    Attributes:
        ranks (tuple[int, ...]): the missing ranks.
    """

    def __init__(self, message: str, ranks: tuple[int, ...]) -> None:
        super().__init__(message)
        self.ranks = ranks


def name_ranks(ranks: tuple[int, ...]) -> str:
    """`rank 2`, or `ranks 1, 2 and 5`."""
    words = [str(rank) for rank in ranks]
    if len(words) == 1:
        return f"rank {words[0]}"
    return f"ranks {', '.join(words[:-1])} and {words[-1]}"


def _as_seconds(timeout: Any) -> float:
    if timeout is None:
        return DEFAULT_TIMEOUT
    if isinstance(timeout, timedelta):
        return timeout.total_seconds()
    return float(timeout)


def find_ranks(group: Any) -> tuple[int, ...] | None:
    """The ranks of a group, in order. None if there is no process group; () for a process that is
    not in that group."""
    import torch.distributed as dist

    if not dist.is_available() or not dist.is_initialized():
        if group is not None:
            raise ValueError(
                "group= was passed, but torch.distributed has no process group; "
                "call init_process_group() first"
            )
        return None
    if group is dist.GroupMember.NON_GROUP_MEMBER:
        return ()
    return tuple(dist.get_process_group_ranks(group))


class Link:
    """One process's end of the links between the ranks of a group. Its root is the first rank."""

    def __init__(self, group: Any, ranks: tuple[int, ...], timeout: Any) -> None:
        import torch.distributed

        dist: Any = torch.distributed
        self._dist = dist
        self.group = group
        self.ranks = ranks
        self.rank: int = dist.get_rank()
        self.root = ranks[0]
        self.is_root = self.rank == self.root
        self.timeout = _as_seconds(timeout)
        self.leave_at: float | None = None  # the end of all waiting, by time.monotonic()
        number = _begun[ranks] = _begun.get(ranks, 0) + 1
        self._tag = _TAG + number % _TAG_COUNT
        prefix = f"monitorch.tracer/{zlib.crc32(repr(ranks).encode()):x}/{number}"
        self._store: Any = dist.PrefixStore(prefix, self._find_store())
        self.device = self._find_device()
        self._own_group: Any = None
        self._sent: collections.deque[tuple[int, Any, Any]] = collections.deque()

    def use_own_group(self) -> None:
        """Separates a thread's messages from those of the program. All ranks must call it at the
        same time."""
        backend = self._dist.get_backend(self.group)
        self.group = self._own_group = self._dist.new_group(
            list(self.ranks),
            timedelta(seconds=self.timeout),
            backend,
            use_local_synchronization=True,
        )

    def can_overlap(self) -> bool:
        return bool(self._dist.get_backend(self.group) != "mpi")  # MPI supports only one thread

    def close(self) -> None:
        """Ends the link. All messages were received, or are given up."""
        self._sent.clear()
        if self._own_group is not None:
            with contextlib.suppress(Exception):
                self._dist.destroy_process_group(self._own_group)

    # ---- notes ----

    def _find_store(self) -> Any:
        """The default store. MPI has none: there the root creates one and announces it."""
        from torch.distributed import distributed_c10d

        try:
            return distributed_c10d._get_default_store()
        except (AttributeError, ValueError, AssertionError):
            return self._make_store()

    def _make_store(self) -> Any:
        import socket

        import torch

        dist = self._dist
        place = [b""]
        if self.is_root:
            store = dist.TCPStore(socket.getfqdn(), 0, None, True, wait_for_workers=False)
            place = [json.dumps([store.host, store.port]).encode()]
        sent = torch.zeros(512, dtype=torch.uint8, device=self._find_device())
        if self.is_root:
            sent[: len(place[0])] = torch.frombuffer(bytearray(place[0]), dtype=torch.uint8)
        dist.broadcast(sent, src=self.root, group=self.group)
        if self.is_root:
            return store
        host, port = json.loads(bytes(sent.tolist()).rstrip(b"\0"))
        return dist.TCPStore(host, port, None, False, timedelta(seconds=self.timeout))

    def _find_device(self) -> Any:
        """The device from which the backend sends: the CPU if possible."""
        import torch

        sent = str(self._dist.get_backend_config(self.group))
        kinds = [part.partition(":")[0] for part in sent.split(",") if ":" in part]
        if not kinds or "cpu" in kinds:
            return torch.device("cpu")
        return torch.device(kinds[0], getattr(torch, kinds[0]).current_device())

    def note(self, key: str, content: bytes) -> None:
        self._ask(self._store.set, key, content)

    def read(self, key: str) -> bytes | None:
        """The content of that key, or None."""
        if not self.has([key]):
            return None
        content: bytes = self._ask(self._store.get, key)
        return content

    def forget(self, *keys: str) -> None:
        for key in keys:
            try:
                self._store.delete_key(key)
            except Exception:  # some stores cannot delete keys
                return

    def _ask(self, function: Callable[..., Any], *arguments: Any) -> Any:
        try:
            return function(*arguments)
        except RuntimeError as error:
            raise RankError(
                f"the store of the process group does not answer: the process that holds it (as a "
                f"rule rank 0) has ended, or the process group was destroyed: {_shorten(error)}",
                (0,),
            ) from error

    # ---- waiting ----

    def wait(self, is_done: Callable[[], bool], limit: float | None = None) -> bool:
        """Polls until `is_done` returns true. Returns False after too long a wait."""
        begin = time.monotonic()
        end = begin + (self.timeout if limit is None else limit)
        sleep = _SHORTEST_SLEEP
        while not is_done():
            now = time.monotonic()
            if now >= end or (self.leave_at is not None and now >= self.leave_at):
                return False
            time.sleep(sleep)
            sleep = min(sleep * 2, _LONGEST_SLEEP)
        return True

    def time_left(self) -> float:
        if self.leave_at is None:
            return self.timeout
        return max(min(self.timeout, self.leave_at - time.monotonic()), 0.001)

    # ---- messages ----

    def send(self, step: int, message: Any, is_last: bool) -> None:
        """Sends to the root, which may receive it later. The link keeps the message until then."""
        size = message.numel()
        key = f"{step}/{self.rank}"
        flags = _IS_LAST if is_last else 0
        if size <= INLINE_MOST:
            content = _message._to_bytes(message)
            self.note(key, _NOTE.pack(flags | _IS_INLINE, size) + content)
            return
        self.note(key, _NOTE.pack(flags, size))
        try:
            work = self._dist.isend(message, self.root, group=self.group, tag=self._tag)
        except RuntimeError as error:
            raise self._lost(self.root, error) from error
        self._sent.append((step, message, work))

    def forget_sent(self, step: int) -> None:
        """Frees the messages up to that step, which the root has received."""
        while self._sent and self._sent[0][0] <= step:
            self._sent.popleft()

    def pending_size(self) -> int:
        return sum(message.numel() for _, message, _ in self._sent)

    def has(self, keys: list[str]) -> bool:
        return not keys or bool(self._ask(self._store.check, keys))

    def have_come(self, step: int, ranks: list[int]) -> bool:
        return self.has([f"{step}/{rank}" for rank in ranks])

    def read_notes(self, step: int, ranks: list[int]) -> list[Note]:
        """Reads and removes the notes of these ranks."""
        keys = [f"{step}/{rank}" for rank in ranks]
        if not keys:
            return []
        if self._store.has_extended_api():
            contents = self._ask(self._store.multi_get, keys)
        else:
            contents = [self._ask(self._store.get, key) for key in keys]
        self.forget(*keys)
        return [Note(rank, content) for rank, content in zip(ranks, contents)]

    def receive(self, notes: list[Note]) -> list[Any]:
        """The messages of these notes, on the CPU, in the same order."""
        import torch

        works = []
        for note in notes:
            if note.message is None:
                note.message = torch.empty(note.size, dtype=torch.uint8, device=self.device)
                works.append((note, self._irecv(note)))
        for note, work in works:
            try:
                work.wait(timedelta(seconds=self.time_left()))
            except RuntimeError as error:
                raise self._lost(note.rank, error) from error
        return [note.message.cpu() for note in notes]

    def _irecv(self, note: Note) -> Any:
        try:
            return self._dist.irecv(note.message, note.rank, group=self.group, tag=self._tag)
        except RuntimeError as error:
            raise self._lost(note.rank, error) from error

    def _lost(self, rank: int, error: Exception) -> RankError:
        return RankError(f"rank {rank} is lost: {_shorten(error)}", (rank,))


class Note:
    """A rank's announcement of its message; a short message is part of it."""

    def __init__(self, rank: int, content: bytes) -> None:
        import torch

        flags, self.size = _NOTE.unpack_from(content)
        self.rank = rank
        self.is_last = bool(flags & _IS_LAST)
        self.message: Any = None
        if flags & _IS_INLINE:
            self.message = torch.frombuffer(bytearray(content[_NOTE.size :]), dtype=torch.uint8)


def _shorten(error: Exception) -> str:
    """The text of torch's error without its trace of C++ calls."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0][:200]
